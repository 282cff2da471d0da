"""Keep one conversation within its window (chapter 06).

`ContextManager` has the messages of a conversation and a ladder. Before each request it looks how full the window is,
and climbs when the ladder's first step is reached.

    >>> from course_lib.ladder import Step
    >>> from course_lib.messages import user
    >>> from course_lib.strategies import Truncation
    >>> ladder = Ladder(name="keep five", steps=(Step(0.8, Truncation(keep_messages=5)),), target_ratio=0.5)
    >>> window = Window(context_tokens=1_000, reserve_tokens=200)
    >>> manager = ContextManager(window, ladder, counter=MessageCounter(len, message_overhead_tokens=0))
    >>> for number in range(100):
    ...     manager.add_message(user(f"message number {number}"))
    ...     _ = manager.get_context()
    >>> manager.get_stats().compactions, manager.usage_ratio < ladder.trigger_ratio
    (3, True)

Usage ratio: tokens of the messages over what the window has for them (the window without reserve, system prompt and
tools). It is computed from the messages each time it is asked for, so it cannot be stale.

What this leaves out on purpose: what to do when compacting fails again and again. Chapter 11 puts a breaker in.
Source: chapter 06; the methods are those of an article on agent context management (2026).
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from course_lib.compaction import Trigger, rebase
from course_lib.errors import SettingsError
from course_lib.ladder import CompactionPass, Ladder, StepTaken, climb, run_always
from course_lib.messages import Message, Messages, ToolSpec, tool_results
from course_lib.tokens import MessageCounter, TiktokenCounter
from course_lib.window import Window

__all__ = ["ADVISE_AFTER_COMPACTIONS", "ContextManager", "ManagerStats", "Observer", "Speaker"]

ADVISE_AFTER_COMPACTIONS = 3  # after more than so many, a new conversation is the better idea
# After a climb that ended above the trigger, the next waits until a harsher step may run, or the messages have grown by
_RETRY_GROWTH = 1.05

Observer: TypeAlias = Callable[[CompactionPass], None]
Speaker = Literal["user", "assistant", "tool"]


@dataclass(frozen=True, kw_only=True)
class ManagerStats:
    """How a conversation stands.

    `compactions` counts the climbs that made messages shorter (what a ladder does before every request is no climb);
    `log` has every step that changed anything. Tokens of
    the messages are split by who wrote them.
    """

    messages: int
    tokens: int
    usage_ratio: float
    available_tokens: int
    reserve_tokens: int
    compactions: int
    tokens_by_role: dict[Speaker, int]
    log: tuple[StepTaken, ...]
    advice: str


class ContextManager:
    """Keeps the messages of one conversation within its window.

    Args:
        window: the model's window and the reserve.
        ladder: what to do as it fills.
        counter: how tokens are counted; exactly by default.
        system: the system prompt, which takes room and is never touched.
        tools: the tool definitions, the same.
        observers: called after every climb that did something, for example to show it, or to give an agent the new
            reserve; and once, with the reason, when no step helps any more.
    """

    def __init__(
        self,
        window: Window,
        ladder: Ladder,
        *,
        counter: MessageCounter | None = None,
        system: str = "",
        tools: Sequence[ToolSpec] = (),
        observers: Iterable[Observer] = (),
    ) -> None:
        self.window, self.ladder = window, ladder
        self.counter = counter or MessageCounter(TiktokenCounter())
        self.fixed_tokens = self.counter.request((), system=system, tools=tools)
        self.observers = tuple(observers)
        self.messages: Messages = ()
        self.log: tuple[CompactionPass, ...] = ()
        self._stuck_at_tokens = 0  # where a climb ended above the trigger,
        self._stuck_steps = 0  # and how many of the ladder's steps could run there
        self._is_said = False  # that no step helps
        self._is_requested = False
        self._climbing = threading.RLock()  # one climb at a time, which may take as long as a model does
        self._adding = threading.Lock()

    @property
    def current_tokens(self) -> int:
        """Tokens of the messages, counted now (each message is counted once, whenever that was)."""
        return self.counter.messages(self.messages)

    @property
    def available_tokens(self) -> int:
        """Tokens that the window has for messages: without reserve, system prompt and tools."""
        return self.window.available_tokens(fixed_tokens=self.fixed_tokens)

    @property
    def usage_ratio(self) -> float:
        """How full it is: 1.0 means that nothing more fits."""
        return self.window.usage_ratio(self.current_tokens, fixed_tokens=self.fixed_tokens)

    @property
    def is_due(self) -> bool:
        """Whether the next request has to be preceded by a climb."""
        if self.usage_ratio < self.ladder.trigger_ratio:
            return False
        has_not_grown = self._stuck_at_tokens <= self.current_tokens < self._stuck_at_tokens * _RETRY_GROWTH
        is_stuck = has_not_grown and self._allowed_steps() <= self._stuck_steps
        is_too_long = 0 < self.available_tokens < self.current_tokens  # it would be refused: a last chance
        return is_too_long or not is_stuck

    def add_message(self, message: Message) -> None:
        """Put a message at the end. Nothing is compacted yet: that happens when the next request is made."""
        with self._adding:
            self.messages = (*self.messages, message)

    def request_compaction(self) -> None:
        """Have the next request preceded by a climb, however full the window is: for a tool, or for a button."""
        self._is_requested = True

    def get_context(self) -> Messages:
        """Return the messages to send, after compacting them if that is due."""
        with self._climbing:  # who had to wait looks again: the climb may have been the one that was due
            start = self.usage_ratio
            always = self._run_always()
            if self._is_requested or self.is_due:
                self._climb("manual" if self._is_requested else "auto", always=always)
            elif always:
                report = CompactionPass(trigger="auto", steps=always, ratio_before=start, ratio_after=self.usage_ratio)
                self._tell(report)
            return self.messages

    def rewrite(self, messages: Messages) -> tuple[Messages, CompactionPass | None]:
        """Do the same for an `Agent`, as its hook: it keeps the messages itself, and hears what was done."""
        with self._climbing:
            self.messages = messages
            known = len(self.log)
            return self.get_context(), self.log[-1] if len(self.log) > known else None

    def compact(self, level: int | None = None) -> CompactionPass:
        """Compact now, without waiting for the ladder's first step to be reached.

        Args:
            level: only this step of the ladder (from 1); by default from the first one until below the target, so
                where it is not even as full as that, nothing is done.

        Raises:
            SettingsError: the ladder has no such level.
        """
        if level is not None and not 1 <= level <= len(self.ladder.steps):
            raise SettingsError(f"level {level}: ladder {self.ladder.name!r} has levels 1 to {len(self.ladder.steps)}")
        return self._climb("manual", level)

    def get_stats(self) -> ManagerStats:
        """Return how the conversation stands."""
        roles: dict[Speaker, int] = {"user": 0, "assistant": 0, "tool": 0}
        for message in self.messages:
            roles["tool" if tool_results(message) else message.role] += self.counter.message(message)
        compactions = sum(any(step.level and step.tokens_freed > 0 for step in report.steps) for report in self.log)
        return ManagerStats(
            messages=len(self.messages),
            tokens=self.current_tokens,
            usage_ratio=self.usage_ratio,
            available_tokens=self.available_tokens,
            reserve_tokens=self.window.reserve_tokens,
            compactions=compactions,
            tokens_by_role=roles,
            log=tuple(step for report in self.log for step in report.steps if step.outcome == "applied"),
            advice=_advice(compactions),
        )

    def _run_always(self) -> tuple[StepTaken, ...]:
        history = self.messages
        shorter, steps = run_always(self.ladder, history, self.window, self.counter, fixed_tokens=self.fixed_tokens)
        self._replace(history, shorter)
        return steps

    def _climb(
        self, trigger: Trigger, level: int | None = None, *, always: tuple[StepTaken, ...] = ()
    ) -> CompactionPass:
        with self._climbing:
            self._is_requested = False
            history = self.messages
            shorter, window, report = climb(
                self.ladder,
                history,
                self.window,
                self.counter,
                fixed_tokens=self.fixed_tokens,
                trigger=trigger,
                level=level,
            )
            self._replace(history, shorter)
            self.window = window
            is_stuck = report.ratio_after >= self.ladder.trigger_ratio
            self._stuck_at_tokens = self.current_tokens if is_stuck else 0
            self._stuck_steps = self._allowed_steps()
            if always:
                report = replace(report, steps=(*always, *report.steps), ratio_before=always[0].ratio_before)
            if trigger != "auto" or self._is_news(report):
                self._tell(report)
                self._is_said = bool(report.reason)
            return report

    def _replace(self, before: Messages, after: Messages) -> None:
        """Messages may have come while a model wrote a summary: they stay, behind what was made of the others."""
        with self._adding:
            self.messages = rebase(before, after, self.messages)

    def _tell(self, report: CompactionPass) -> None:
        self.log = (*self.log, report)
        for observer in self.observers:
            observer(report)

    def _allowed_steps(self) -> int:
        return sum(step.at_ratio <= self.usage_ratio for step in self.ladder.steps)

    def _is_news(self, report: CompactionPass) -> bool:
        """Something was done or broke; or no step helps any more, and that was not said just before."""
        if any(step.outcome != "skipped" for step in report.steps):
            return True
        return bool(report.reason) and not self._is_said


def _advice(compactions: int) -> str:
    if compactions <= ADVISE_AFTER_COMPACTIONS:
        return ""
    return f"Compacted {compactions} times: a new conversation with what matters would do better than this one."
