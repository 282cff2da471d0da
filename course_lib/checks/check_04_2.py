"""04.2 tokens_to_free: how much must go, so that the answer fits too."""

from hypothesis import given
from hypothesis import strategies as st

from course_lib.checks.expectations import Mistake, expect, expect_that

WHOLE_WINDOW = "The threshold is taken of the whole window. The reserve is not the request's to use: take it off first."
ROUNDED_UP = "One token too few: the share was rounded *up*. The request may have at most the share, so round down."


def test_the_request_of_the_bug_report(answer):
    """XiaomiMiMo/MiMo-Code#2356: 99,509 tokens do not fit beside a reserve of 32,000 in a window of 131,072."""
    mistakes = (Mistake(0, WHOLE_WINDOW), Mistake(20_251, ROUNDED_UP))
    expect(answer, 99_509, 131_072, 32_000, 0.8, returns=20_252, mistakes=mistakes)


def test_a_request_below_the_threshold(answer):
    """Nothing has to go where nothing is too much."""
    mistake = Mistake(lambda got: got < 0, "A negative number of tokens cannot be freed: `max(0, …)`.")
    expect(answer, 100, 1_000, 200, 0.75, returns=0, mistakes=(mistake,))


def test_exactly_at_the_threshold(answer):
    """Three quarters of an effective window of 800 are 600: that much may stay, one more must go."""
    whole = Mistake(0, WHOLE_WINDOW)
    expect(answer, 600, 1_000, 200, 0.75, returns=0)
    expect(answer, 601, 1_000, 200, 0.75, returns=1, mistakes=(whole,))


def test_a_share_that_is_no_whole_number(answer):
    """Half of 999 is 499.5: 499 tokens may stay, 500 are too many."""
    mistake = Mistake(0, ROUNDED_UP)
    expect(answer, 500, 1_000, 1, 0.5, returns=1, mistakes=(mistake,))
    expect(answer, 503, 1_003, 0, 0.5, returns=2, mistakes=(Mistake(1, ROUNDED_UP),))


def test_a_reserve_of_nothing(answer):
    """Without a reserve the whole window counts."""
    expect(answer, 900, 1_000, 0, 0.5, returns=400)


shares = st.sampled_from([0.25, 0.5, 0.75, 1.0])


@given(st.integers(0, 3_000), st.integers(2, 2_000), st.data(), shares)
def test_just_enough_goes(answer, request_tokens, window_tokens, data, threshold):
    """After it the request is at most the share of the effective window, and one token less freed would not do."""
    reserve_tokens = data.draw(st.integers(0, window_tokens - 1))
    most = threshold * (window_tokens - reserve_tokens)
    expect_that(
        answer,
        request_tokens,
        window_tokens,
        reserve_tokens,
        threshold,
        holds=lambda got: got >= 0 and request_tokens - got <= most and (got == 0 or request_tokens - got + 1 > most),
        says=f"the fewest tokens after which at most {most:g} are left",
    )
