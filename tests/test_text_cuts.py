"""Cutting a text: never too long, never through a character, and never without saying so."""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from course_lib.errors import SettingsError
from course_lib.text_cuts import fill_level, head, shorten, snip_middle, tail
from course_lib.tokens import TiktokenCounter, chars_counter

EXACT = TiktokenCounter()
COUNTERS = {"letters": len, "chars": chars_counter(4), "words": lambda text: len(text.split()), "exact": EXACT}
FAMILY, FLAG_OF_ENGLAND = "👩\u200d👩\u200d👧", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
# What a reader sees as one character each; some are one code point, one is eight.
CHARACTERS = ["a", " ", "\n", "\r\n", "中", "😀", "e\u0301", "a\u0308\u0301", FAMILY, "👍🏽", "🇩🇪", "🇫🇷", "❤\ufe0f"]
CHARACTERS += ["1\ufe0f\u20e3", FLAG_OF_ENGLAND, "\u0915\u094d\u0937\u093f", "\u1112\u1161\u11ab", "\u0e01\u0e33"]
characters = st.lists(st.sampled_from(CHARACTERS), max_size=25).map("".join)
numbers = st.integers(0, 60)


def boundaries(text):
    """Where Unicode's rules, as another library knows them, allow a cut."""
    places, at = {0}, 0
    for cluster in regex.findall(r"\X", text):
        at += len(cluster)
        places.add(at)
    return places


@given(characters, numbers, st.sampled_from(sorted(COUNTERS)))
def test_a_cut_parts_no_character(text, most, counter):
    """Beginning and end stop where Unicode sees a boundary, and keep to the limit."""
    count = COUNTERS[counter]
    first, last = head(text, most, count), tail(text, most, count)
    assert text.startswith(first)
    assert text.endswith(last)
    assert {len(first), len(text) - len(last)} <= boundaries(text)
    assert max(count(first), count(last)) <= most


@given(characters, numbers)
def test_nothing_more_would_fit(text, most):
    """Counted in letters, one character more at either end would be too long."""
    first, last = head(text, most, len), tail(text, most, len)
    after = min((place for place in boundaries(text) if place > len(first)), default=most + 1)
    before = max((place for place in boundaries(text) if place < len(text) - len(last)), default=-1)
    assert first == text or after > most
    assert last == text or len(text) - before > most


@given(characters | st.text(max_size=300), numbers, st.sampled_from(sorted(COUNTERS)), st.floats(0, 1))
def test_a_shortened_text_keeps_to_the_limit(text, most, counter, head_share):
    """Whatever the counter: at most the limit, never more than before, and once short it stays as it is."""
    count = COUNTERS[counter]
    short = shorten(text, most, count, head_share=head_share)
    assert count(short) <= most
    assert (short == text) == (count(text) <= most)
    assert shorten(short, most, count) == short
    short.encode()


@given(characters.filter(bool), st.integers(50, 60))
def test_a_shortened_text_is_beginning_notice_and_end(part, most):
    """What is left are the text's own beginning and end, with the notice between, and its numbers are right."""
    text = part * 61
    short = shorten(text, most, len)
    first, notice, last = regex.fullmatch(r"(?s)(.*)\n(\[… [\d,]+ of [\d,]+ tokens left out …\])\n(.*)", short).groups()
    assert text.startswith(first)
    assert text.endswith(last)
    assert notice == f"[… {len(text) - len(first) - len(last):,} of {len(text):,} tokens left out …]"


def test_a_text_of_exactly_the_limit_is_not_touched():
    """The limit is a ceiling: a text with so many tokens is whole, one with one more is not."""
    text = "word " * 100
    assert shorten(text, EXACT(text), EXACT) is text
    assert EXACT(shorten(text, EXACT(text) - 1, EXACT)) <= EXACT(text) - 1


@pytest.mark.parametrize(("share", "ends"), [(0, ("\n[…", "zzz")), (1, ("aaa", "…]\n")), (0.5, ("aaa", "zzz"))])
def test_the_share_says_which_end_is_kept(share, ends):
    """All for the end, all for the beginning, or half each."""
    short = shorten("a" * 500 + "z" * 500, 100, len, head_share=share)
    assert short.startswith(ends[0])
    assert short.endswith(ends[1])


@pytest.mark.parametrize(("most", "expected"), [(0, ""), (1, "…"), (2, "a…"), (5, "aaaa…")])
def test_where_no_notice_fits_a_mark_says_that_something_is_missing(most, expected):
    """A few tokens of room never make the text longer than it was."""
    assert shorten("a" * 1_000, most, len) == expected


@pytest.mark.parametrize(("most", "share"), [(-1, 0.5), (5, -0.1), (5, 1.1), (5, float("nan"))])
def test_settings_that_make_no_sense_are_refused(most, share):
    """A negative limit, or a share that is none."""
    with pytest.raises(SettingsError):
        shorten("text", most, len, head_share=share)


def test_the_two_halves_of_an_old_emoji_stay_together():
    """Text from JSON may hold an emoji as two surrogates: no cut leaves one half."""
    text = "x" * 9 + "\ud83d\ude00" + "y" * 9
    for most in range(len(text) + 1):
        assert head(text, most, len).count("\ud83d") == head(text, most, len).count("\ude00")
        assert tail(text, most, len).count("\ud83d") == tail(text, most, len).count("\ude00")


@pytest.mark.parametrize("text", ["a", "e\u0301", "e" + "\u0301" * 99, FAMILY, "🇩🇪", "\u200d"])
def test_a_megabyte_of_anything_is_cut(text):
    """Hostile texts (one letter, one letter with a million accents, flags) are cut by a handful of counts of a part."""
    asked = []

    def count(piece):
        asked.append(len(piece))
        return -(-len(piece) // 4)

    long = text * (300_000 // len(text))
    assert count(shorten(long, 2_000, count)) <= 2_000
    assert len(asked) < 200
    assert sum(asked) < 20 * len(long)


@pytest.mark.parametrize(("length", "is_snipped"), [(1_999, False), (2_000, False), (2_001, True), (50_000, True)])
def test_snipping_keeps_half_and_a_quarter_of_the_limit(length, is_snipped):
    """From one character above the limit on, the first half and the last quarter stay."""
    text = "a" * (length // 2) + "b" * (length - length // 2)
    snipped = snip_middle(text, 2_000)
    if not is_snipped:
        assert snipped is text
    else:
        assert snipped.startswith("a" * 1_000 + "\n[…" if length > 2_001 else "a" * 1_000)
        assert snipped.endswith("…]\n" + "b" * 500)
        assert f"[… {length - 1_500:,} characters snipped …]" in snipped


@given(characters.filter(bool), st.integers(200, 400))
def test_a_snipped_text_is_short_whole_and_stays(characters, most):
    """At most the limit, cut between characters, and the same when it is snipped again."""
    text = characters * 30
    snipped = snip_middle(text, most)
    assert len(snipped) <= most or len(text) <= most
    assert snip_middle(snipped, most) == snipped
    if snipped != text:
        first = len(snipped.split("\n[… ")[0]) if "\n" not in characters else 0
        assert first in boundaries(text)


def test_a_limit_without_room_for_the_mark_is_refused():
    """199 characters are too few, 200 are enough."""
    with pytest.raises(SettingsError, match="199"):
        snip_middle("x" * 1_000, 199)
    assert len(snip_middle("x" * 10**6, 200)) <= 200


@pytest.mark.parametrize(
    ("sizes", "budget", "level"),
    [([], 10, 0), ([5], 10, 5), ([5, 5], 10, 5), ([5, 6], 10, 5), ([10, 20, 500, 900], 330, 150), ([4, 4], 0, 0)],
)
def test_only_the_largest_are_cut(sizes, budget, level):
    """The level is that of the largest where all fit, and else as high as the budget allows."""
    assert fill_level(sizes, budget) == level


@given(st.lists(st.integers(0, 1_000), min_size=1, max_size=30), st.integers(0, 5_000))
def test_the_level_keeps_to_the_budget_and_is_the_highest(sizes, budget):
    """Cut to the level, all fit; one higher and they would not, if anything had to be cut."""
    level = fill_level(sizes, budget)
    assert sum(min(size, level) for size in sizes) <= budget
    assert sum(sizes) <= budget or sum(min(size, level + 1) for size in sizes) > budget
