"""05.3 compress: head, notice and tail within a number of tokens, and no character parted."""

import re
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from course_lib.checks.expectations import Mistake, expect, expect_that
from course_lib.checks.practice_strategies import whole_characters
from course_lib.tokens import TiktokenCounter

count = TiktokenCounter()
NOTICE = re.compile(r"\n\[… (\d+) of (\d+) tokens left out …\]\n")

ENGLISH = "\n".join(f"line {number}: the shipment was weighed and sorted" for number in range(60))
CHINESE = "货物已经称重并按照目的地分拣完毕，请核对运单号码。" * 25
EMOJI = "packed 👩🏽‍🚀 sent 👨‍👩‍👧‍👦 arrived 🇩🇪 paid ✍🏿 " * 25


def parts(got):
    """Return beginning, tokens gone, tokens in all, and end."""
    first, gone, total, last = NOTICE.split(got)
    return first, int(gone), int(total), last


def is_whole(got, text):
    """Whether beginning and end are made of whole characters of the text."""
    first, _, _, last = parts(got)
    pieces = whole_characters(text)
    return first in {"", *accumulate(pieces)} and text[len(text) - len(last) :] == last and _ends_whole(last, pieces)


def _ends_whole(last, pieces):
    return last in {"", *accumulate(reversed(pieces), lambda end, piece: piece + end)}


def is_counted(got, text):
    """Whether the notice says how many tokens are missing, and of how many."""
    first, gone, total, last = parts(got)
    return (gone, total) == (count(text) - count(first) - count(last), count(text))


NO_NOTICE = Mistake(
    lambda got: len(NOTICE.findall(got)) != 1,
    "Just one notice of the form `\\n[… 7 of 9 tokens left out …]\\n` must stand in the middle.",
)
TOO_LONG = Mistake(
    lambda got, _text, most, _count: count(got) > most,
    "The result has too many tokens. Count the whole of it, notice and all; and how many characters a token has "
    "depends on the language.",
)
PARTED = Mistake(
    lambda got, text, *_: not is_whole(got, text),
    "A character was parted: an emoji or a letter is made of several code points. Cut between whole characters.",
)
MISCOUNTED = Mistake(
    lambda got, text, *_: not is_counted(got, text),
    "The notice is wrong: the tokens of the text, less those of the beginning and of the end, are missing.",
)
NO_END = Mistake(lambda got: not parts(got)[3], "The end is missing: totals and errors stand there.")
WASTEFUL = Mistake(
    lambda _: True, "It fits, but more would: beginning and end should take as much as there is room for, half each."
)


def good(got, text, most, _):
    """Whether a result is right."""
    first, _, _, last = parts(got)
    room = most - 20
    is_full = count(first) >= room * 0.3 and count(last) >= room * 0.3 and count(got) >= most * 0.6
    return count(got) <= most and is_whole(got, text) and is_counted(got, text) and is_full


def check_one(answer, text, most):
    """Expect one good result."""
    expect_that(
        answer,
        text,
        most,
        count,
        holds=good,
        says=f"at most {most} tokens: a beginning, the notice, and an end, of whole characters, about half each",
        mistakes=(NO_NOTICE, TOO_LONG, PARTED, MISCOUNTED, NO_END, WASTEFUL),
    )


def test_a_short_text_stays(answer):
    """A text that fits comes back as it is; with just as many tokens as there is room for, too."""
    cut = Mistake(lambda got: "left out" in got, "This text fits: it needs no notice.")
    expect(answer, "all is well", 50, count, returns="all is well", mistakes=(cut,))
    expect(answer, ENGLISH, count(ENGLISH), count, returns=ENGLISH, mistakes=(cut,))


def test_english(answer):
    """A long English text."""
    check_one(answer, ENGLISH, 100)


def test_chinese(answer):
    """Chinese has more tokens a character than English."""
    check_one(answer, CHINESE, 90)


def test_emoji(answer):
    """An emoji may be made of seven code points; it is whole or not there."""
    for most in range(80, 120, 5):
        check_one(answer, EMOJI, most)


@given(st.lists(st.sampled_from(("word ", "货物", "👩🏽‍🚀", "e\u0301", "🇩🇪", "\r\n", "x")), min_size=150, max_size=250))
def test_any_mixture(answer, pieces):
    """Fifty mixtures of words, Chinese, emoji, flags and accents."""
    check_one(answer, "".join(pieces), 100)
