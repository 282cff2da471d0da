"""What can be done about a full window, by name, ready to run: for the meter and the scoreboard.

A way is made for a setup and gives hooks; each run gets fresh ones, so a way may have state. A notebook may add the
learner's own beside them.

    >>> from course_lib.simulation.setup import make_setup
    >>> list(STRATEGIES)[:3], STRATEGIES["none"](make_setup(REFACTORING))
    (['none', 'keep the last 20', 'truncation'], {})

Source: chapters 00, 05, 06, 07 and 10.
"""

from collections.abc import Callable
from typing import Any

from course_lib.compaction import Strategy, rewrite_above
from course_lib.ladder import Ladder
from course_lib.layers import three_layers
from course_lib.levels import five_levels, two_layers
from course_lib.manager import ContextManager
from course_lib.messages import Messages, user
from course_lib.recovery import Recovery
from course_lib.restore import RestoreLimits, Restoring
from course_lib.simulation.scenario import REFACTORING, Scenario
from course_lib.simulation.setup import MakeHooks, Setup
from course_lib.strategies import (
    ContextFolding,
    SelectiveRetention,
    Summarisation,
    ToolResultCompression,
    Truncation,
)
from course_lib.summarize import TwoStageSummary
from course_lib.tool_pairs import keep_from

__all__ = [
    "COMPACT_AT_RATIO",
    "SCENARIOS",
    "STRATEGIES",
    "climbing",
    "forget_the_oldest_naive",
    "recovery_for",
    "restoring",
    "when_full",
]

COMPACT_AT_RATIO = 0.8  # of what the window has for messages: where the basic strategies are applied


def forget_the_oldest_naive(messages: Messages) -> Messages:
    """Return the last twenty messages or so, after a note; what was said before is gone, the order as well."""
    if len(messages) <= 20:
        return messages
    return (user("(Older messages were dropped.)"), *keep_from(messages, len(messages) - 20))


def when_full(make_strategy: Callable[[Setup], Strategy], *, at_ratio: float = COMPACT_AT_RATIO) -> MakeHooks:
    """Return the way that applies one strategy whenever the messages reach a usage ratio."""
    return lambda setup: {"rewrite": rewrite_above(setup.tokens_at(at_ratio), make_strategy(setup), setup.counter)}


def climbing(make_ladder: Callable[[Setup], Ladder]) -> MakeHooks:
    """Return the way that keeps a conversation within its window by a ladder."""

    def make_hooks(setup: Setup) -> dict[str, ContextManager]:
        manager = ContextManager(
            setup.window,
            make_ladder(setup),
            counter=setup.counter,
            system=setup.scenario.system,
            tools=setup.tools,
        )
        return {"manager": manager}

    return make_hooks


def recovery_for(setup: Setup) -> Recovery:
    """Return the hook for a refused request, with a two-stage summary as its last resort."""
    return Recovery(counter=setup.counter, summary=TwoStageSummary(client=setup.client, **_counted(setup)))


def restoring(strategy: Strategy, setup: Setup) -> Restoring:
    """Return the strategy with the newest files of the workspace read again after it, as many as suit the window."""
    limits = RestoreLimits.for_window(setup.window)
    return Restoring(strategy=strategy, read_text=setup.read_text, counter=setup.counter, limits=limits)


def _counted(setup: Setup) -> dict[str, Any]:
    """What a strategy has to know of the model and its window."""
    return {"counter": setup.counter, "max_recent_tokens": setup.max_recent_tokens}


STRATEGIES: dict[str, MakeHooks] = {
    "none": lambda _: {},
    "keep the last 20": lambda _: {"project": forget_the_oldest_naive},
    "truncation": when_full(lambda setup: Truncation(**_counted(setup))),
    "summarisation": when_full(lambda setup: Summarisation(client=setup.client, **_counted(setup))),
    "selective retention": when_full(lambda setup: SelectiveRetention(**_counted(setup))),
    "tool-result compression": when_full(lambda setup: ToolResultCompression(counter=setup.counter)),
    "context folding": when_full(lambda setup: ContextFolding(**_counted(setup))),
    "five levels": climbing(lambda setup: five_levels(**_counted(setup))),
    "two layers": climbing(lambda setup: two_layers(setup.client, **_counted(setup))),
    "two-stage summary": when_full(lambda setup: TwoStageSummary(client=setup.client, **_counted(setup))),
    # Without the exception the list of files is cleared as well, and the agent looks at it again for ever.
    "three layers": climbing(
        lambda setup: three_layers(
            setup.client, setup.counter, available_tokens=setup.available_tokens, exclude_tools=["list_files"]
        )
    ),
    "recovery only": lambda setup: {"recover": recovery_for(setup)},
    "folding + restore": when_full(lambda setup: restoring(ContextFolding(**_counted(setup)), setup)),
}

SCENARIOS: dict[str, Scenario] = {"refactoring": REFACTORING}
