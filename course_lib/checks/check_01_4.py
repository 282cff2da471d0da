"""01.4 keep_messages: as much as the budget allows."""

from course_lib.checks.expectations import Mistake, expect_value
from course_lib.checks.practice import BUDGET_TOKENS, request_sizes


def test_it_is_a_number_of_messages(answer):
    """The answer is a whole number of at least 1."""
    expect_value(
        answer,
        holds=lambda n: isinstance(n, int) and not isinstance(n, bool) and n >= 1,
        says="a whole number from 1 up",
    )


def test_no_request_is_over_the_budget(answer):
    """The largest request of the run stays within the budget."""
    over = Mistake(
        lambda n: sum(request_sizes(n)) / len(request_sizes(n)) <= BUDGET_TOKENS,
        "The average request fits, the largest does not. One refusal ends the run.",
    )
    too_much = Mistake(lambda _: True, "Requests that keep so many messages do not fit.")
    expect_value(
        answer,
        holds=lambda n: max(request_sizes(n)) <= BUDGET_TOKENS,
        says=f"no request with more than {BUDGET_TOKENS:,} tokens",
        mistakes=(over, too_much),
    )


def test_nothing_is_given_away(answer):
    """One message more would not fit."""
    wasteful = Mistake(
        lambda _: True,
        "It fits, but a larger number fits too: you could keep more. Neighbouring numbers can give the same requests.",
    )
    expect_value(
        answer,
        holds=lambda n: max(request_sizes(n + 1)) > BUDGET_TOKENS,  # keeping more never makes a request smaller
        says="the largest number that fits",
        mistakes=(wasteful,),
    )
