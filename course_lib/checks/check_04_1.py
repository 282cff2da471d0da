"""04.1 budget: what is left for the conversation, and how full it is."""

import math

from hypothesis import given
from hypothesis import strategies as st

from course_lib.checks.expectations import Mistake, expect, expect_that
from course_lib.window import Window


def test_the_articles_example(answer):
    """128K of window, 4K of reserve and 10K fixed leave 114K; half of that is a ratio of 0.5."""
    mistakes = (
        Mistake(lambda got: got[0] == 118_000, "The reserve is missing: it is taken from the window as well."),
        Mistake(lambda got: got[0] == 124_000, "The fixed cost is missing: it is spent before the conversation."),
        Mistake(
            lambda got: got[0] == 114_000 and math.isclose(got[1], 57_000 / 128_000),
            "The ratio is history over what is *available*, not over the whole window.",
        ),
    )
    expect(answer, 128_000, 4_000, 10_000, 57_000, returns=(114_000, 0.5), mistakes=mistakes)


def test_an_empty_history(answer):
    """Nothing said yet: the ratio is 0."""
    expect(answer, 1_000, 100, 200, 0, returns=(700, 0.0))


def test_more_than_full(answer):
    """The ratio goes above 1 when the history is too long."""
    mistake = Mistake(lambda got: got[1] == 1, "The ratio was cut at 1. How much too long it is, is worth knowing.")
    expect(answer, 1_000, 0, 0, 1_500, returns=(1_000, 1.5), mistakes=(mistake,))


def test_nothing_is_left(answer):
    """Fixed cost and reserve take the whole window: 0 available, an infinite ratio."""
    mistakes = (
        Mistake(ZeroDivisionError, "Nothing is available, and you divide by it: that case needs an answer of its own."),
        Mistake(lambda got: got[1] in (0, 1), "With nothing available no history fits: the ratio is `float('inf')`."),
    )
    expect(answer, 1_000, 400, 600, 1, returns=(0, math.inf), mistakes=mistakes)


def test_less_than_nothing_is_left(answer):
    """A fixed cost that is larger than the window leaves 0, not a negative number."""
    mistake = Mistake(lambda got: got[0] < 0, "Available tokens are never below 0: `max(0, …)`.")
    expect(answer, 1_000, 400, 900, 50, returns=(0, math.inf), mistakes=(mistake,))


tokens = st.integers(0, 2_000)


@given(st.integers(1, 2_000), st.data(), tokens, tokens)
def test_any_budget(answer, window_tokens, data, fixed_tokens, history_tokens):
    """Budgets of every kind."""
    reserve_tokens = data.draw(st.integers(0, window_tokens - 1))
    window = Window(context_tokens=window_tokens, reserve_tokens=reserve_tokens)
    available = window.available_tokens(fixed_tokens=fixed_tokens)
    ratio = window.usage_ratio(history_tokens, fixed_tokens=fixed_tokens)
    expect_that(
        answer,
        window_tokens,
        reserve_tokens,
        fixed_tokens,
        history_tokens,
        holds=lambda got: got[0] == available and (got[1] == ratio or math.isclose(got[1], ratio)),
        says=f"({available}, {ratio:.4g})",
    )
