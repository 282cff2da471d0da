"""A ladder of compactions, from the gentlest to the harshest, and one climb (chapter 06).

A `Ladder` is data: each `Step` has a strategy and the usage ratio from which it may run, and the ladder has a target at
which a climb ends. `climb` goes from the first step up, measures after each, and does no more than needed.

    >>> from course_lib.messages import user
    >>> from course_lib.strategies import ToolResultCompression, Truncation
    >>> ladder = Ladder(
    ...     name="two steps",
    ...     steps=(Step(0.6, ToolResultCompression()), Step(0.8, Truncation(keep_messages=5))),
    ...     target_ratio=0.5,
    ... )
    >>> history = tuple(user(f"message number {number}") for number in range(30))
    >>> window, counter = Window(context_tokens=500, reserve_tokens=0), MessageCounter(len, message_overhead_tokens=0)
    >>> shorter, _, report = climb(ladder, history, window, counter)
    >>> [(step.name, step.outcome) for step in report.steps]
    [('tool-result compression', 'skipped'), ('truncation', 'applied')]

What this leaves out on purpose: a conversation to keep. That is the manager's.
Source: chapter 06; ladders with usage ratios are those of two articles on agent context management (2026).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from course_lib.compaction import CompactionEvent, Outcome, Strategy, Trigger, apply
from course_lib.errors import SettingsError
from course_lib.messages import Messages
from course_lib.tokens import MessageCounter
from course_lib.window import Window

__all__ = ["CompactionPass", "HalveReserve", "Ladder", "Step", "StepTaken", "climb", "run_always"]


@dataclass(frozen=True)
class HalveReserve:
    """A step that touches no message: it makes the room kept for the answer half as large, down to a floor."""

    name: str = "halve the reserve"
    floor_tokens: int = 1_024

    def halved(self, window: Window) -> Window:
        """Return the window with the smaller reserve; the same window at the floor."""
        reserve = max(self.floor_tokens, window.reserve_tokens // 2)
        return window if reserve >= window.reserve_tokens else replace(window, reserve_tokens=reserve)


@dataclass(frozen=True)
class Step:
    """One rung: a strategy, and the usage ratio from which it may run."""

    at_ratio: float
    strategy: Strategy | HalveReserve

    @property
    def name(self) -> str:
        """The strategy's name."""
        return self.strategy.name


@dataclass(frozen=True, kw_only=True)
class Ladder:
    """Steps from the gentlest to the harshest, and the usage ratio at which a climb may end.

    Args:
        name: what tables call it.
        steps: level 1 first.
        always: strategies that run before every request, however empty the window; level 0 in reports.
        target_ratio: well below the first step's ratio, or the next message starts the next climb.
        max_passes: how often one climb may go over the steps, once the harshest of them is reached.

    Raises:
        SettingsError: no steps, ratios that fall or are not between 0 and 1, or a target that is not below them.
    """

    name: str
    steps: tuple[Step, ...]
    always: tuple[Strategy, ...] = ()
    target_ratio: float
    max_passes: int = 2

    def __post_init__(self) -> None:
        ratios = [step.at_ratio for step in self.steps]
        if not ratios or ratios != sorted(ratios) or not all(0 < ratio <= 1 for ratio in ratios):
            raise SettingsError(
                f"ladder {self.name!r} has the ratios {ratios}: expected at least one, none falling, from 0 to 1"
            )
        if not 0 < self.target_ratio < ratios[0]:
            raise SettingsError(
                f"ladder {self.name!r}: target_ratio {self.target_ratio} is not between 0 and the first step's "
                f"{ratios[0]}: a climb that ends where it starts begins again with the next message"
            )
        if self.max_passes < 1:
            raise SettingsError(f"ladder {self.name!r}: max_passes is {self.max_passes}: expected at least 1")

    @property
    def trigger_ratio(self) -> float:
        """The usage ratio at which a climb begins."""
        return self.steps[0].at_ratio


@dataclass(frozen=True, kw_only=True)
class StepTaken:
    """One rung of one climb.

    `event` is None for a step that touches no message; `reserve_tokens` is the reserve after it.
    """

    level: int
    name: str
    outcome: Outcome
    ratio_before: float
    ratio_after: float
    reserve_tokens: int
    event: CompactionEvent | None = None

    @property
    def tokens_freed(self) -> int:
        """Tokens that the messages are shorter by."""
        return self.event.tokens_freed if self.event else 0


@dataclass(frozen=True, kw_only=True)
class CompactionPass:
    """One climb: which steps ran, and what came of them.

    `reason` says why it is still too full after the harshest step, "" otherwise.
    """

    trigger: Trigger
    steps: tuple[StepTaken, ...]
    ratio_before: float
    ratio_after: float
    reason: str = ""

    @property
    def outcome(self) -> Outcome:
        """Applied if any step was; failed if one broke, or if no step helps; else skipped.

        What runs before every request (level 0) does not make up for a climb that failed.
        """
        climbed = {step.outcome for step in self.steps if step.level}
        if "applied" not in climbed and (self.reason or "failed" in climbed):
            return "failed"
        return "applied" if any(step.outcome == "applied" for step in self.steps) else "skipped"

    @property
    def name(self) -> str:
        """The steps that made the outcome, for charts."""
        names = dict.fromkeys(step.name for step in self.steps if step.outcome == self.outcome != "skipped")
        return " + ".join(names) or ("no step helps" if self.reason else "nothing to do")

    @property
    def tokens_freed(self) -> int:
        """Tokens that the messages are shorter by."""
        return sum(step.tokens_freed for step in self.steps)


def climb(
    ladder: Ladder,
    messages: Messages,
    window: Window,
    counter: MessageCounter,
    *,
    fixed_tokens: int = 0,
    trigger: Trigger = "auto",
    level: int | None = None,
) -> tuple[Messages, Window, CompactionPass]:
    """Compact with the steps that the usage ratio allows, from the gentlest up, until the target is reached.

    Args:
        ladder: the steps and the target.
        messages: the history.
        window: the window and its reserve, which a step may change.
        counter: counts the messages.
        fixed_tokens: of system prompt and tools.
        trigger: "auto" looks at the ratios; any other runs every step until the target.
        level: only this step (from 1), whatever the target.

    Returns:
        The messages and the window to go on with, and what was done.
    """
    climber = _Climber(messages, window, counter, fixed_tokens, trigger)
    allowed = [
        (number, step)
        for number, step in enumerate(ladder.steps, 1)
        if number == level or (level is None and (trigger != "auto" or step.at_ratio <= climber.start))
    ]
    is_whole = len(allowed) == len(ladder.steps)
    for _ in range(ladder.max_passes if is_whole and level is None else 1):
        if not climber.go_over(allowed, ladder.target_ratio if level is None else 0):
            break
    is_stuck = not climber.has_room or (is_whole and climber.ratio >= ladder.trigger_ratio)
    return climber.messages, climber.window, climber.report(is_stuck=is_stuck)


def run_always(
    ladder: Ladder, messages: Messages, window: Window, counter: MessageCounter, *, fixed_tokens: int = 0
) -> tuple[Messages, tuple[StepTaken, ...]]:
    """Run what the ladder runs before every request; return the messages, and a step for each that changed any."""
    climber = _Climber(messages, window, counter, fixed_tokens, "auto")
    steps = [climber.run(0, strategy) for strategy in ladder.always]
    return climber.messages, tuple(step for step in steps if step.outcome == "applied")


class _Climber:
    """Where a climb stands."""

    def __init__(
        self, messages: Messages, window: Window, counter: MessageCounter, fixed_tokens: int, trigger: Trigger
    ) -> None:
        self.messages, self.window, self.counter = messages, window, counter
        self.fixed_tokens, self.trigger = fixed_tokens, trigger
        self.taken: list[StepTaken] = []
        self.start = self.ratio

    @property
    def ratio(self) -> float:
        return self.window.usage_ratio(self.counter.messages(self.messages), fixed_tokens=self.fixed_tokens)

    @property
    def has_room(self) -> bool:
        """Whether the window has room for any message at all: if not, no strategy can help, and none is paid for."""
        return self.window.available_tokens(fixed_tokens=self.fixed_tokens) > 0

    def go_over(self, steps: Sequence[tuple[int, Step]], target_ratio: float) -> bool:
        """Take the steps until the ratio is below the target; return whether to go over them once more may help."""
        has_helped = False
        for level, step in steps:
            if self.ratio < target_ratio:
                return False
            has_helped |= self._take(level, step)
        return has_helped and self.ratio >= target_ratio

    def _take(self, level: int, step: Step) -> bool:
        """Run one step, note what came of it, and return whether it helped.

        What failed is not tried again in the same climb. In later passes only what helped is noted.
        """
        known = {taken.outcome for taken in self.taken if taken.level == level}
        if "failed" in known or not (self.has_room or isinstance(step.strategy, HalveReserve)):
            return False
        taken = self.run(level, step.strategy)
        if taken.outcome == "applied" or not known:
            self.taken.append(taken)
        return taken.outcome == "applied"

    def run(self, level: int, strategy: Strategy | HalveReserve) -> StepTaken:
        """Run one strategy, whatever was run before."""
        ratio_before, window_before = self.ratio, self.window
        event: CompactionEvent | None = None
        if isinstance(strategy, HalveReserve):
            self.window = strategy.halved(self.window)
            outcome: Outcome = "skipped" if self.window is window_before else "applied"
        else:
            self.messages, event = apply(strategy, self.messages, self.counter, trigger=self.trigger)
            outcome = event.outcome
        return StepTaken(
            level=level,
            name=strategy.name,
            outcome=outcome,
            ratio_before=ratio_before,
            ratio_after=self.ratio,
            event=event,
            reserve_tokens=self.window.reserve_tokens,
        )

    def report(self, *, is_stuck: bool) -> CompactionPass:
        return CompactionPass(
            trigger=self.trigger,
            steps=tuple(self.taken),
            ratio_before=self.start,
            ratio_after=self.ratio,
            reason=self._why_stuck() if is_stuck else "",
        )

    def _why_stuck(self) -> str:
        """What cannot be made shorter, in numbers."""
        return (
            f"no step helps: {self.fixed_tokens:,} tokens are system prompt and tools, "
            f"{self.counter.messages(self.messages):,} are in messages that have to stay, "
            f"the window takes {self.window.input_tokens:,}: use a larger window, fewer tools, or a new conversation"
        )
