"""10.4 limits: what the work needs comes back whole, in 10,000 tokens."""

from course_lib.checks.expectations import Mistake, expect_value
from course_lib.checks.practice_recovery import BUDGET_TOKENS, NEEDED, try_limits


def test_they_are_limits(answer):
    """A dictionary with the four limits, each a whole number."""

    def is_accepted(limits):
        try_limits(limits)
        return True

    expect_value(
        answer,
        holds=is_accepted,
        says="a dictionary that `try_limits` takes",
        mistakes=(Mistake(lambda _: True, "Call `try_limits(limits)` yourself: its error names the limit."),),
    )


def test_it_stays_within_the_budget(answer):
    """All that comes back has no more tokens than the budget."""
    expect_value(
        answer,
        holds=lambda limits: try_limits(limits).tokens <= BUDGET_TOKENS,
        says=f"at most {BUDGET_TOKENS:,} tokens in all",
        mistakes=(Mistake(lambda _: True, "Too much comes back. Which limit holds for all of it together?"),),
    )


def test_what_is_needed_is_whole(answer):
    """Every file and skill that the next steps need comes back, and not cut."""
    mistakes = (
        Mistake(
            lambda limits: "letters.py" not in (tried := try_limits(limits)).whole + tried.cut,
            "The oldest file that is needed did not come back at all: others were before it.",
        ),
        Mistake(
            lambda limits: set(try_limits(limits).cut) & {name for name in NEEDED if name.endswith(".py")},
            "A file that is needed came back cut. How long is the largest of them, with its mark?",
        ),
        Mistake(
            lambda limits: "how we test" in try_limits(limits).missing and "big.log" in try_limits(limits).cut,
            "There was no room left for the skill. What takes so much that nobody needs?",
        ),
        Mistake(lambda _: True, "The skill that is needed is not there as a whole."),
    )
    expect_value(
        answer,
        holds=lambda limits: not try_limits(limits).missing,
        says=f"back and whole: {', '.join(NEEDED)}",
        mistakes=mistakes,
    )
