"""What can be done about a full window, so far: nothing, or something naive.

A strategy is made for a scenario and gives the hooks of `build_agent`; each run gets fresh ones, so a strategy may have
state. Later chapters add theirs to the table, and a notebook may add the learner's own.

    >>> sorted(STRATEGIES), STRATEGIES["none"](REFACTORING)
    (['keep the last 20', 'none'], {})

Source: chapter 00.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from course_lib.messages import Messages, user
from course_lib.simulation.scenario import REFACTORING, Scenario
from course_lib.tool_pairs import keep_from

__all__ = ["SCENARIOS", "STRATEGIES", "MakeHooks", "forget_the_oldest_naive"]

MakeHooks: TypeAlias = Callable[[Scenario], Mapping[str, Any]]


def forget_the_oldest_naive(messages: Messages) -> Messages:
    """Return the last twenty messages or so, after a note; what was said before is gone, the order as well."""
    if len(messages) <= 20:
        return messages
    return (user("(Older messages were dropped.)"), *keep_from(messages, len(messages) - 20))


STRATEGIES: dict[str, MakeHooks] = {
    "none": lambda _: {},
    "keep the last 20": lambda _: {"project": forget_the_oldest_naive},
}

SCENARIOS: dict[str, Scenario] = {"refactoring": REFACTORING}
