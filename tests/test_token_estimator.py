"""The estimate by classes: its error on texts it was not fitted to, its pieces, and what no text may do to it."""

import math
import re
from pathlib import Path

import pytest
from fit_token_estimator import FEW, fitted
from hypothesis import given
from hypothesis import strategies as st

from course_lib.errors import SettingsError
from course_lib.messages import ToolSpec, user
from course_lib.simulation.token_samples import TUNED_KINDS, UNSEEN_KINDS, all_texts, samples
from course_lib.token_estimator import (
    EXACT_FROM,
    TEXT_CLASSES,
    AdaptiveCount,
    AdaptiveCounter,
    estimate_tokens,
    text_pieces,
)
from course_lib.tokens import MessageCounter, TiktokenCounter, chars_counter

ROOT = Path(__file__).parents[1]
EXACT = TiktokenCounter()


def error(kind, split, counter=estimate_tokens):
    """The error over all samples of a kind in the split: -0.1 sees 90 tokens where 100 are."""
    texts = samples(kind, split)
    return sum(map(counter, texts)) / sum(map(EXACT, texts)) - 1


# --- how wrong it is -------------------------------------------------------------------------------------------------


def test_the_held_out_error_is_small():
    """On samples that nothing was fitted to, the mean absolute error over the kinds is at most 10 %."""
    errors = [abs(error(kind, "held_out")) for kind in TUNED_KINDS]
    assert sum(errors) / len(errors) <= 0.10


@pytest.mark.parametrize("kind", TUNED_KINDS)
def test_no_kind_is_much_too_low(kind):
    """The dangerous side: no kind is estimated more than 15 % too low on its held-out samples."""
    assert error(kind, "held_out") >= -0.15


@pytest.mark.parametrize("kind", UNSEEN_KINDS)
def test_kinds_that_it_was_never_fitted_to(kind):
    """Logs, diffs, another alphabet: not more than 15 % too low there either, and never twice the truth."""
    assert -0.15 <= error(kind, "unseen") <= 0.6


def test_texts_that_nobody_wrote_for_it():
    """The modules of the book and the repository's Markdown: 10 % off on average at most, and never 15 % too low."""
    files = [*sorted((ROOT / "course_lib").glob("*.py")), *sorted(ROOT.glob("*.md"))]
    texts = [file.read_text(encoding="utf-8") for file in files]
    errors = [estimate_tokens(text) / EXACT(text) - 1 for text in texts]
    assert len(errors) > 15
    assert sum(map(abs, errors)) / len(errors) <= 0.10
    assert min(errors) >= -0.15


def test_it_is_better_than_dividing_characters():
    """Its mean absolute error is less than a third of that of characters divided by four."""
    ours = sum(abs(error(kind, "held_out")) for kind in TUNED_KINDS)
    theirs = sum(abs(error(kind, "held_out", chars_counter(4))) for kind in TUNED_KINDS)
    assert ours < theirs / 3


def test_the_constants_are_those_of_the_tuning_half():
    """The script that fits them finds nearly the same tokens for a piece of middle length, where it has enough."""
    lengths = {"word": 6, "name part": 6, "field": 6, "han": 5, "kana": 4, "hangul": 3}
    found = fitted()
    for one in TEXT_CLASSES:
        pieces, per_piece, per_char = found.get(one.name, (0, 0, 0))
        if pieces >= FEW:
            length = lengths.get(one.name, 2)
            expected = per_piece + per_char * length
            assert one.per_piece + one.per_char * length == pytest.approx(expected, rel=0.1), one.name


@pytest.mark.parametrize("kind", TUNED_KINDS)
def test_the_halves_share_no_sample(kind):
    """Each sample is in one half and in one only; both halves have several."""
    tuning, held_out = samples(kind, "tuning"), samples(kind, "held_out")
    assert sorted((*tuning, *held_out)) == sorted(all_texts(kind))
    assert not set(tuning) & set(held_out)
    assert min(len(tuning), len(held_out)) >= 3


def test_there_are_samples_of_every_kind():
    """The kinds that the limits are for are all there, and none of the unseen ones is among them."""
    wanted = "prose python typescript go json hashes listing csv base64 chinese japanese korean emoji table"
    assert set(wanted.split()) == set(TUNED_KINDS)
    assert not set(TUNED_KINDS) & set(UNSEEN_KINDS)
    assert all(samples(kind, "unseen") for kind in UNSEEN_KINDS)


# --- its pieces ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("", []),
        ("hello", ["word"]),
        ("two words", ["word", "word"]),
        ("1234567", ["number", "number", "number"]),
        ("snake_case", ["word", "name part"]),
        ("camelCase", ["word", "word"]),
        ("a,b", ["word", "field"]),
        ("internationalization", ["long word"]),
        ("ninechars", ["word"]),
        ("tencharsxx", ["long word"]),
        ("HTTPServer", ["mixed"]),
        ("x  =  1", ["word", "gap", "sign", "gap", "blank", "number"]),
        ("a\n\n    b", ["word", "line end", "gap", "word"]),
        ("中文", ["han"]),
        ("お誕生日", ["kana", "han"]),
        ("한국어 말", ["hangul", "hangul"]),
        ("привет мир", ["other script", "other script"]),
        ("नमस्ते", ["other script"]),
        ("中。", ["han", "wide sign"]),
        ("😀!", ["symbol", "sign"]),
        ("────", ["line drawing"]),
        ("für", ["word"]),
        ("\ud800", ["symbol"]),
        ("QmFzZTY0IGlzIG5vdCBlbmNyeXB0aW9uIQ==", ["random"]),
        (
            "da39a3ee5e6b4b0d",
            ["word", *["number", "word"] * 6],
        ),
    ],
)
def test_the_class_of_each_piece(text, classes):
    """Words, names, digits by threes, runs of signs and blanks, scripts, and what looks random."""
    assert [name for name, _ in text_pieces(text)] == classes


@pytest.mark.parametrize(
    "text", ["src/components/Button/index", "/Users/jo1/Projects/Harbour2/src", "getHttp2ResponseHeaders", "A" * 40]
)
def test_paths_and_names_are_not_random(text):
    """Sixteen letters and more with capitals and digits in them are still words, if they change case seldom."""
    assert "random" not in {name for name, _ in text_pieces(text)}


@given(st.text() | st.text(alphabet="aA0+/=_ \n\t.,'中あ한😀\u200d\u0301\ud800", max_size=80))
def test_the_pieces_are_the_text(text):
    """Whatever the text, nothing of it is left out or counted twice, and no piece is empty."""
    pieces = [piece for _, piece in text_pieces(text)]
    assert "".join(pieces) == text
    assert all(pieces)
    assert (estimate_tokens(text) > 0) == bool(text)


@given(st.lists(st.sampled_from([text for kind in TUNED_KINDS for text in all_texts(kind)]), min_size=2, max_size=4))
def test_two_texts_together_are_about_as_long_as_both(texts):
    """Joining texts by line ends changes the estimate by a few tokens a seam at most."""
    together, apart = estimate_tokens("\n\n".join(texts)), sum(map(estimate_tokens, texts))
    assert abs(together - apart) <= 3 * len(texts)


MEGABYTES = {
    "blanks": " " * 1_000_000,
    "letters": "a" * 1_000_000,
    "capitals": "A" * 1_000_000,
    "base64": "aB3/" * 250_000,
    "blanks and letters": (" " * 1_000 + "x") * 1_000,
    "blank lines": " \n" * 500_000,
    "special tokens": "<|endoftext|>" * 70_000,
    "half characters": "\ud800" * 300_000,
    "emoji joiners": "👩\u200d" * 150_000,
    "accents": "\u0301" * 300_000,
    "chinese": "中" * 300_000,
}


@pytest.mark.parametrize("text", MEGABYTES.values(), ids=MEGABYTES)
def test_no_text_takes_long(text):
    """A megabyte of one thing is estimated in one pass (the time-out would tell), and the estimate is no nonsense."""
    assert 1 <= estimate_tokens(text) <= 2 * len(text)


def test_every_pattern_gives_nothing_back():
    """Each class matches a long run in one go: twice the text is not more than about twice the pieces."""
    for text in MEGABYTES.values():
        once, twice = (sum(1 for _ in text_pieces(part)) for part in (text[:5_000], text[:10_000]))
        assert twice <= 2 * once + 2


def test_the_classes_are_told_apart():
    """Names are used once, each piece costs something, and no pattern has a group, which would shift the numbers."""
    assert len({one.name for one in TEXT_CLASSES}) == len(TEXT_CLASSES)
    assert all(one.per_piece >= 0 <= one.per_char and one.per_piece + one.per_char > 0 for one in TEXT_CLASSES)
    assert all(re.compile(one.pattern).groups == 0 for one in TEXT_CLASSES)


# --- exact only where it matters -------------------------------------------------------------------------------------


def adaptive(threshold_tokens=100, **more):
    """A counter that estimates one token for two characters, and counts exactly one for each."""
    plain = {"message_overhead_tokens": 0}
    estimate, exact = MessageCounter(lambda text: math.ceil(len(text) / 2), **plain), MessageCounter(len, **plain)
    return AdaptiveCounter(estimate, exact, threshold_tokens=threshold_tokens, **more)


@pytest.mark.parametrize(
    ("chars", "expected"),
    [(0, AdaptiveCount(0, False)), (138, AdaptiveCount(69, False)), (139, AdaptiveCount(139, True))],
)
def test_exact_from_seventy_percent(chars, expected):
    """Estimated below 70 % of the threshold, exact from there on."""
    assert EXACT_FROM == 0.7
    assert adaptive().request([user("x" * chars)]) == expected


def test_the_share_is_a_setting():
    """With a share of 0 everything is exact; with 1 only what is estimated at the threshold or above."""
    assert adaptive(exact_from=0).request([user("x")]) == AdaptiveCount(1, True)
    assert not adaptive(exact_from=1).request([user("x" * 198)]).is_exact
    assert adaptive(exact_from=1).request([user("x" * 199)]).is_exact


def test_the_whole_request_is_estimated_and_counted():
    """System prompt and tools are part of both counts, and messages may come from an iterator."""
    tool = ToolSpec("ls", "lists", {})
    chars = len('["ls", "lists", {}]')
    assert adaptive().request(iter([user("x" * 10)]), system="s" * 10, tools=[tool]).tokens == 5 + 5 + math.ceil(
        chars / 2
    )
    assert adaptive(40).request(iter([user("x" * 100)]), system="s", tools=[tool]) == AdaptiveCount(101 + chars, True)


def test_nothing_is_counted_exactly_far_from_the_threshold():
    """The exact counter is not even asked."""

    def refuse(text):
        raise AssertionError(text)

    counter = AdaptiveCounter(MessageCounter(chars_counter(4)), MessageCounter(refuse), threshold_tokens=1_000)
    assert not counter.request([user("x" * 400)], system="s").is_exact


@pytest.mark.parametrize(("threshold", "share"), [(0, 0.7), (-1, 0.7), (100, -0.1), (100, 1.1)])
def test_a_threshold_and_a_share_that_make_sense(threshold, share):
    """A threshold above 0, a share between 0 and 1; the error names what was given."""
    with pytest.raises(SettingsError, match=f"{threshold} and exact_from {share}"):
        adaptive(threshold, exact_from=share)
