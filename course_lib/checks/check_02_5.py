"""02.5 resent_tokens: what is read anew in 50 requests with a clock in the system prompt."""

from course_lib.checks.expectations import Mistake, expect_value
from course_lib.checks.practice_prompt import tokens_read_anew

TOOLS, BEFORE, AFTER, ADDED, REQUESTS = 4_000, 1_000, 2_000, 400, 50


def close(value):
    """Return a test for numbers near the value."""
    return lambda got: abs(got - value) <= value / 20


def test_the_prediction(answer):
    """The prediction is within 5 % of what was counted."""
    start = TOOLS + BEFORE + AFTER
    history = ADDED * REQUESTS * (REQUESTS - 1) // 2
    mistakes = (
        Mistake(close(start * REQUESTS + history), "That is all that is sent. What stands before the clock is reused."),
        Mistake(
            close(start + ADDED * (REQUESTS - 1)),
            "That would be so without the clock: each token is read once, and then comes from the cache.",
        ),
        Mistake(
            close(start + (AFTER + ADDED) * (REQUESTS - 1)),
            "Only the newest messages count here. With the clock changed, *all* messages behind it are read anew.",
        ),
        Mistake(
            close(AFTER * REQUESTS),
            "That is the rest of the system prompt only. The conversation stands behind the clock as well.",
        ),
        Mistake(
            close((BEFORE + AFTER) * REQUESTS + history),
            "The part of the system prompt that stands before the clock is reused, too.",
        ),
    )
    right = tokens_read_anew(
        tools_tokens=TOOLS,
        before_clock_tokens=BEFORE,
        after_clock_tokens=AFTER,
        added_tokens=ADDED,
        requests=REQUESTS,
    )
    expect_value(answer, near=(right, 0.05), mistakes=mistakes)
