"""02.3 order: the parts of a system prompt so that the most comes from the cache."""

from course_lib.checks.expectations import Mistake, expect_value
from course_lib.checks.practice_prompt import PROMPT_PARTS, cached_tokens

BEST = ("identity", "tool_guide", "rules", "date", "project_memory", "persistent_memory", "git_status", "clock")


def test_each_part_stands_there_once(answer):
    """The order names every part, and none twice."""
    missing = Mistake(lambda order: len(set(order)) < len(PROMPT_PARTS), "A part is missing; leaving out is no order.")
    twice = Mistake(lambda order: len(order) > len(set(order)), "A part stands there twice.")
    expect_value(
        answer,
        holds=lambda order: sorted(order) == sorted(PROMPT_PARTS),
        says=f"each of the {len(PROMPT_PARTS)} parts once",
        mistakes=(missing, twice),
    )


def test_memory_stands_behind_the_project(answer):
    """What was remembered may not come before the project's rules."""
    mistake = Mistake(
        lambda _: True, "The rule is broken: notes speak of the project's rules, so they come somewhere behind them."
    )
    expect_value(
        answer,
        holds=lambda order: list(order).index("persistent_memory") > list(order).index("project_memory"),
        says="persistent_memory behind project_memory",
        mistakes=(mistake,),
    )


def test_nothing_is_given_away(answer):
    """No other order that keeps the rule takes more from the cache."""

    def before(first, second):
        return lambda order: list(order).index(first) < list(order).index(second)

    mistakes = (
        Mistake(
            before("clock", "git_status"), "The clock changes with every request: nothing behind it is ever reused."
        ),
        Mistake(
            before("git_status", "project_memory"), "Git's state changes more often than the memory files behind it."
        ),
        Mistake(before("git_status", "persistent_memory"), "Git's state changes more often than the memory behind it."),
        Mistake(
            lambda order: max(list(order).index(n) for n in ("identity", "tool_guide", "rules")) > 2,
            "A part that never changes stands behind one that does.",
        ),
        Mistake(before("project_memory", "date"), "The date changes less often than the project's memory before it."),
    )
    expect_value(
        answer,
        holds=lambda order: cached_tokens(tuple(order)) >= cached_tokens(BEST),
        says="an order from which no more can be had",
        mistakes=mistakes,
    )
