"""01.5 predicted_tokens: what a run of 40 rounds sends."""

from course_lib.checks.expectations import Mistake, expect_value
from course_lib.checks.practice import tokens_sent

FIRST, ADDED, ROUNDS = 1_000, 500, 40


def close(value):
    """Return a test for numbers near the value."""
    return lambda got: abs(got - value) <= value / 10


def test_the_prediction(answer):
    """The prediction is within 10 % of what an agent really sent."""
    last = FIRST + ADDED * (ROUNDS - 1)
    mistakes = (
        Mistake(close(last), "That is the size of the last request. Every request before it was sent as well."),
        Mistake(
            close(FIRST * ROUNDS + ADDED * ROUNDS),
            "Each round's new tokens count once here. They are sent again in every later request.",
        ),
        Mistake(
            close(last * ROUNDS),
            "That would be so if every request were as long as the last. The early ones are short.",
        ),
        Mistake(close(FIRST * ROUNDS), "That is the fixed part only: what the rounds add is missing."),
    )
    expect_value(
        answer, near=(tokens_sent(first_tokens=FIRST, added_tokens=ADDED, rounds=ROUNDS), 0.1), mistakes=mistakes
    )
