"""Practice for chapter 06: a ladder of one's own to run in two windows, and ten states to predict.

    try_ladder({"steps": [(0.8, "fold")], "target": 0.5}, PRACTICE_WINDOWS[0])
    print(states_table())

Source: chapter 06.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.checks.practice_strategies import PRACTICE_COUNTER, TriedSettings, run_small_job
from course_lib.compaction import Strategy
from course_lib.errors import SettingsError
from course_lib.ladder import Ladder, Step
from course_lib.levels import ShrinkOlderHalf, five_levels
from course_lib.manager import ContextManager
from course_lib.measure.metered import MeteredClient
from course_lib.simulation.offline_model import OfflineModel
from course_lib.simulation.scenario import REFACTORING
from course_lib.simulation.tools import tool_specs
from course_lib.strategies import ContextFolding, ToolResultCompression, Truncation
from course_lib.window import Window

__all__ = [
    "LADDER_BUDGETS",
    "PRACTICE_STATES",
    "PRACTICE_STEPS",
    "PRACTICE_WINDOWS",
    "WindowState",
    "levels_allowed",
    "practice_ladder",
    "states_table",
    "try_ladder",
]

PRACTICE_WINDOWS = (
    Window(context_tokens=7_000, reserve_tokens=1_000),
    Window(context_tokens=14_000, reserve_tokens=1_000),
)
LADDER_BUDGETS = (125_000, 130_000)  # tokens that all requests of the small job may have together, by window
_RECENT_RATIO = 0.5
PRACTICE_STEPS: Mapping[str, Callable[[int], Strategy]] = {
    "snip": lambda _: ToolResultCompression(max_result_tokens=300, keep_messages=4, counter=PRACTICE_COUNTER),
    "shrink": lambda _: ShrinkOlderHalf(counter=PRACTICE_COUNTER),
    "fold": lambda recent: ContextFolding(max_recent_tokens=recent, counter=PRACTICE_COUNTER),
    "drop": lambda recent: Truncation(
        keep_messages=6, pin_first=False, pin_latest=False, max_recent_tokens=recent, counter=PRACTICE_COUNTER
    ),
}


# --- a ladder to tune ------------------------------------------------------------------------------------------------


def practice_ladder(settings: Mapping[str, Any], *, max_recent_tokens: int = 16_000) -> Ladder:
    """Return the ladder that the settings describe.

    Args:
        settings: "steps", a list of pairs of a usage ratio and one of PRACTICE_STEPS, the gentlest first; and "target",
            the usage ratio at which a climb may end.
        max_recent_tokens: of the messages that "fold" and "drop" leave alone.

    Raises:
        SettingsError: something is missing, unknown or of another type, or it is no ladder.
    """
    if not isinstance(settings, Mapping) or set(settings) != {"steps", "target"}:
        raise SettingsError(f"settings {settings!r:.200}: expected a dictionary with steps and target")
    steps, target = settings["steps"], settings["target"]
    if not _is_ratio(target):
        raise SettingsError(f"target is {target!r:.80}: expected a number from 0 to 1")
    if not isinstance(steps, Sequence) or isinstance(steps, str):
        raise SettingsError(f"steps is {steps!r:.80}: expected a list of pairs, such as (0.8, 'fold')")
    taken = tuple(_step(pair, max_recent_tokens) for pair in steps)
    return Ladder(name="yours", steps=taken, target_ratio=target, max_passes=1)


def try_ladder(settings: Mapping[str, Any], window: Window) -> TriedSettings:
    """Run chapter 05's small job (twelve modules) with this ladder in this window, and return what came of it.

    Raises:
        SettingsError: the settings are no ladder.
    """
    specs = tool_specs()
    fixed_tokens = PRACTICE_COUNTER.request((), system=REFACTORING.system, tools=specs)
    recent = int(_RECENT_RATIO * window.available_tokens(fixed_tokens=fixed_tokens))
    manager = ContextManager(
        window,
        practice_ladder(settings, max_recent_tokens=recent),
        counter=PRACTICE_COUNTER,
        system=REFACTORING.system,
        tools=specs,
    )
    model = MeteredClient(OfflineModel(window_tokens=window.context_tokens, counter=PRACTICE_COUNTER))
    return run_small_job(window, model, manager.rewrite)


def _step(pair: object, max_recent_tokens: int) -> Step:
    match pair:
        case (int() | float() as ratio, str(name)) if _is_ratio(ratio) and name in PRACTICE_STEPS:
            return Step(ratio, PRACTICE_STEPS[name](max_recent_tokens))
    raise SettingsError(f"step {pair!r:.80}: expected a usage ratio and one of {', '.join(PRACTICE_STEPS)}")


def _is_ratio(value: object) -> bool:
    return type(value) in (int, float) and 0 <= value <= 1  # type: ignore[operator]


# --- states to predict -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class WindowState:
    """How full a window is."""

    context_tokens: int
    reserve_tokens: int
    fixed_tokens: int
    message_tokens: int

    @property
    def usage_ratio(self) -> float:
        """Tokens of the messages over what the window has for them."""
        window = Window(context_tokens=self.context_tokens, reserve_tokens=self.reserve_tokens)
        return window.usage_ratio(self.message_tokens, fixed_tokens=self.fixed_tokens)


def _state(window: int, reserve: int, fixed: int, messages: int) -> WindowState:
    return WindowState(context_tokens=window, reserve_tokens=reserve, fixed_tokens=fixed, message_tokens=messages)


PRACTICE_STATES = (
    _state(100_000, 10_000, 10_000, 40_000),
    _state(100_000, 10_000, 10_000, 63_999),
    _state(100_000, 10_000, 10_000, 64_000),
    _state(100_000, 10_000, 10_000, 70_000),
    _state(100_000, 10_000, 10_000, 75_000),
    _state(100_000, 10_000, 10_000, 76_000),
    _state(200_000, 10_000, 10_000, 150_000),
    _state(200_000, 40_000, 60_000, 92_000),
    _state(32_000, 8_000, 4_000, 21_000),
    _state(32_000, 2_000, 10_000, 17_100),
)


def levels_allowed(usage_ratio: float) -> int:
    """Return the harshest of the five levels' steps that a climb may use from this usage ratio on; 0 for none."""
    return sum(step.at_ratio <= usage_ratio for step in five_levels(PRACTICE_COUNTER).steps)


def states_table() -> str:
    """Return the states as a table in text."""
    lines = ["state   window  reserve   fixed  messages"]
    for number, state in enumerate(PRACTICE_STATES, 1):
        sizes = f"{state.reserve_tokens:7,}  {state.fixed_tokens:6,}  {state.message_tokens:8,}"
        lines.append(f"{number:5}  {state.context_tokens:7,}  {sizes}")
    return "\n".join(lines)
