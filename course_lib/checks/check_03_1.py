"""03.1 estimate: by classes, within an error bound on texts and kinds that the learner has not seen."""

import pytest

from course_lib.checks.expectations import Mistake, expect, expect_that, expect_value
from course_lib.simulation.token_samples import TUNED_KINDS, UNSEEN_KINDS, samples
from course_lib.tokens import TiktokenCounter

HIDDEN = {kind: samples(kind, "held_out") for kind in TUNED_KINDS} | {k: samples(k, "unseen")[:2] for k in UNSEEN_KINDS}
EXACT = TiktokenCounter()
LOWEST, LARGEST_MEAN = -0.25, 0.20
CAUSES = {
    "hashes": "Digits and letters alternate in a hash, and each run of up to three digits is a token.",
    "base64": "A long run of mixed capitals, small letters and digits has a token for less than two characters.",
    "csv": "Count the signs and the digits by threes: they are tokens of their own.",
    "listing": "Count the signs and the digits by threes: they are tokens of their own.",
    "chinese": "A Chinese character is nearly a token by itself.",
    "japanese": "Kana and Chinese characters are nearly a token each.",
    "korean": "A Korean syllable is more than half a token.",
    "emoji": "An emoji is more than a token by itself.",
}


def is_count(got):
    """Whether a result can be a number of tokens."""
    return isinstance(got, int | float) and not isinstance(got, bool) and got >= 0


def error(answer, kind):
    """The error of the answer over the hidden texts of a kind."""
    found = [expect_that(answer, text, holds=is_count, says="a number of tokens, 0 or more") for text in HIDDEN[kind]]
    return sum(found) / sum(map(EXACT, HIDDEN[kind])) - 1


def test_an_empty_text(answer):
    """Nothing is no token."""
    expect(answer, "", returns=0)


@pytest.mark.parametrize("kind", HIDDEN)
def test_no_kind_is_far_too_low(answer, kind):
    """The dangerous side: not more than 25 % too low, for any kind."""
    cause = CAUSES.get(kind, "Which pieces of such a text does your estimate not see?")
    expect_value(
        round(error(answer, kind), 3),
        holds=lambda got: got >= LOWEST,
        says=f"an error of at least {LOWEST} over the hidden texts of the kind {kind!r}",
        mistakes=(Mistake(lambda _: True, cause),),
    )


def test_a_padded_table_is_not_far_too_high(answer):
    """A run of blanks is one token, however long."""
    too_high = Mistake(lambda _: True, "A run of blanks is one token, however long it is.")
    expect_value(
        round(error(answer, "table"), 3),
        holds=lambda got: got <= 0.5,
        says="an error of at most 0.5 over tables that are padded with blanks",
        mistakes=(too_high,),
    )


def test_the_mean_error(answer):
    """Over all hidden kinds the mean absolute error is at most 20 %."""
    mean = sum(abs(error(answer, kind)) for kind in HIDDEN) / len(HIDDEN)
    safe = Mistake(lambda _: True, "No kind is far too low, but the average is far off: too high is an error too.")
    expect_value(
        round(mean, 3),
        holds=lambda got: got <= LARGEST_MEAN,
        says=f"a mean absolute error of at most {LARGEST_MEAN} over all hidden kinds",
        mistakes=(safe,),
    )


def test_half_a_character(answer):
    """Broken text, as a broken tool writes it, is estimated too."""
    expect_that(answer, "a\ud800b", holds=lambda got: is_count(got) and got >= 1, says="at least one token")
