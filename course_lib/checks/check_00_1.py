"""Exercise 00.1: `tokens_left(window_tokens, reserve_tokens, used_tokens)` is what may still be put into the window."""

from hypothesis import given
from hypothesis import strategies as st

from course_lib.checks.expectations import Mistake, expect

TOKENS = st.integers(0, 1_000_000)


def test_an_empty_window(answer):
    """An empty window has everything free but the reserve."""
    expect(
        answer,
        32_000,
        2_000,
        0,
        returns=30_000,
        mistakes=(
            Mistake(32_000, "You forgot the reserve: it is kept free for the answer."),
            Mistake(34_000, "You added the reserve. It makes the window smaller."),
        ),
    )


def test_a_window_in_use(answer):
    """What is used is free no more."""
    mistakes = (Mistake(30_000, "You forgot what is used already."),)
    expect(answer, 32_000, 2_000, 12_500, returns=17_500, mistakes=mistakes)


def test_full_to_the_last_token(answer):
    """A window that is just full has 0 tokens left, and one token less of use leaves 1."""
    expect(answer, 32_000, 2_000, 30_000, returns=0)
    expect(answer, 32_000, 2_000, 29_999, returns=1)


def test_more_than_full(answer):
    """With more in use than fits, nothing is left: 0, not less."""
    below_zero = Mistake(lambda got: got < 0, "It goes below 0. There are no fewer tokens left than none.")
    expect(answer, 32_000, 2_000, 40_000, returns=0, mistakes=(below_zero,))


@given(window_tokens=TOKENS, reserve_tokens=TOKENS, used_tokens=TOKENS)
def test_any_window(answer, window_tokens, reserve_tokens, used_tokens):
    """Whatever the numbers: the rest of the window is left, or nothing."""
    rest = window_tokens - reserve_tokens - used_tokens
    expect(answer, window_tokens, reserve_tokens, used_tokens, returns=max(0, rest))
