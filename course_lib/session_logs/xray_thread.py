"""One thread of a session while it is read: its context, its bills, its compactions (chapter 04).

Source: chapter 04.
"""

from dataclasses import dataclass, field, replace

from course_lib.messages import Usage
from course_lib.session_logs.labels import short_label
from course_lib.session_logs.records import CallBilled, HistoryCompacted, Place
from course_lib.session_logs.xray_context import ContextFold, Entry
from course_lib.session_logs.xray_report import CompactionReport
from course_lib.session_logs.xray_rows import Rows
from course_lib.session_logs.xray_threads import Row, ThreadReport, added
from course_lib.window import PARTS

__all__ = ["ThreadFold"]

_DROP = 2 / 3  # a context below this share of the one before it was cut by somebody
_SMALLEST_DROP = 5_000  # tokens; below it the counts of two calls differ for other reasons too
_MOST_DROPS = 20
_MOST_PENDING = 50  # compactions in a row without a call between them
_COLD = 0.5  # a call that reads less than this share of the context before it from the cache found it gone


@dataclass
class ThreadFold:
    """Everything about one thread so far; of a bounded size."""

    name: str
    starts_mid_session: bool = False
    context: ContextFold = field(default_factory=ContextFold)
    rows: Rows = field(default_factory=Rows)
    calls: int = 0
    calls_without_bill: int = 0
    rounds: int = 0
    prompts: int = 0
    messages: int = 0
    injected_tokens: int = 0
    added_tokens: list[int] = field(default_factory=lambda: [0] * len(PARTS))
    billed: Usage = field(default_factory=Usage)
    epoch: int = 0  # compactions of the whole history so far
    last_billed: int | None = None  # context of the latest billed call
    first_billed: int | None = None
    first_visible: int | None = None
    unlogged: int | None = None  # None: to be measured at the next bill
    drops: list[Place] = field(default_factory=list)
    unreliable: list[int] = field(default_factory=lambda: [0, 0, 0])  # calls, their billed and their counted output
    cold: list[int] = field(default_factory=lambda: [0, 0])  # calls, tokens
    pending_compactions: list[CompactionReport] = field(default_factory=list)
    _growth: list[int] = field(default_factory=lambda: [0, 0])  # billed, visible: over all stretches that are closed
    _stretch: tuple[int, int] | None = None  # billed, visible at the first call of this stretch
    _latest: tuple[int, int] | None = None  # the same at its latest call
    _has_cache: bool = False
    _awaits_answer: bool = False
    _awaits_output_of: CallBilled | None = None

    def bill(self, event: CallBilled) -> list[CompactionReport]:
        """Take in a call; return the compactions that it completes, with what came after them."""
        usage, context = event.usage, event.usage.context_tokens
        self.calls += 1
        self.billed = added((self.billed, usage))
        self._awaits_answer = True
        self._awaits_output_of = None if event.output_is_reliable else event
        completed: list[CompactionReport] = []
        if context:
            completed = self._measure(event)
        else:
            self.calls_without_bill += 1
        self._add_row(event.place.line, usage if context else None)
        return completed

    def _measure(self, event: CallBilled) -> list[CompactionReport]:
        usage, context, visible = event.usage, event.usage.context_tokens, self.context.tokens
        if self.first_billed is None:
            self.first_billed, self.first_visible = context, visible
        if self.unlogged is None:
            self.unlogged = max(0, context - visible)
        if self.last_billed is not None:
            self._compare(usage, self.last_billed, event.place)
        self._stretch = self._stretch or (context, visible)
        self._latest = (context, visible)
        self._has_cache = self._has_cache or usage.cache_read_tokens > 0
        self.last_billed = context
        completed = [
            replace(one, billed_after=context, unlogged_after=max(0, context - visible))
            for one in self.pending_compactions
        ]
        self.pending_compactions = []
        return completed

    def _compare(self, usage: Usage, before: int, place: Place) -> None:
        """Compare a call with the one before it: was the cache lost, was the context cut?"""
        if self.pending_compactions:
            return
        if usage.context_tokens < _DROP * before and before - usage.context_tokens > _SMALLEST_DROP:
            self._close_stretch()
            self.drops += [place] * (len(self.drops) < _MOST_DROPS)
        elif self._has_cache and usage.cache_read_tokens < _COLD * before:
            self.cold[0] += 1
            self.cold[1] += min(before, usage.context_tokens) - usage.cache_read_tokens

    def add(self, entry: Entry, line: int, *, is_answer: bool, is_prompt: bool, is_injected: bool) -> None:
        """Take in a message that the model saw, or wrote."""
        if is_answer:
            self._answer(entry, line)
        self.context.add(entry)
        self.messages += 1
        self.prompts += is_prompt
        for place, tokens in enumerate(entry.parts):
            self.added_tokens[place] += tokens
        if is_injected:
            self.injected_tokens += sum(entry.parts)

    def _answer(self, entry: Entry, line: int) -> None:
        self.rounds += 1
        if not self._awaits_answer:  # a log without bills, or a bill that is missing
            self.calls += 1
            self.calls_without_bill += 1
            self._add_row(line, None)
        if self._awaits_output_of is not None:
            numbers = (1, self._awaits_output_of.usage.output_tokens, sum(entry.parts))
            self.unreliable = [a + b for a, b in zip(self.unreliable, numbers, strict=True)]
        self._awaits_answer, self._awaits_output_of = False, None

    def set_fixed(self, system_tokens: int, tools_tokens: int) -> None:
        """Take in the system prompt and the tool definitions."""
        self.context.set_fixed(system_tokens, tools_tokens)
        self.added_tokens[:2] = [max(self.added_tokens[0], system_tokens), max(self.added_tokens[1], tools_tokens)]

    def rewind(self, messages: int) -> None:
        """Take the latest messages out of the context; the next bill is compared with none before it."""
        self.context.rewind(messages)
        self._close_stretch()
        self.last_billed = None

    def compact(self, event: HistoryCompacted, replacement: list[Entry]) -> tuple[list[CompactionReport], list[str]]:
        """Make the context shorter.

        Returns:
            compactions that will not learn what came after them, and the ids of the results that were cleared.
        """
        before = self.context.tokens
        found: list[str] = []
        if event.kind == "micro":
            found = self.context.clear_results(sorted(event.cleared_tool_use_ids))
            if len(found) < len(event.cleared_tool_use_ids):  # some of them were in the part that is not in the log
                self.unlogged = None
        else:
            self.context.compact(replacement, event.kept_messages)
            self.epoch += 1
            self.unlogged = None  # measured anew at the next bill: right also for a session that starts in the middle
        for entry in replacement:
            for place, tokens in enumerate(entry.parts):
                self.added_tokens[place] += tokens
        self._close_stretch()
        report = CompactionReport(
            place=event.place,
            thread=self.name,
            call=self.calls,
            kind=event.kind,
            trigger=short_label(event.trigger, 40),
            stated_before=event.tokens_before,
            stated_after=event.tokens_after,
            stated_saved=event.tokens_saved,
            billed_before=self.last_billed,
            visible_before=before,
            visible_after=self.context.tokens,
            cleared_results=len(event.cleared_tool_use_ids),
            missing_results=len(event.cleared_tool_use_ids) - len(found),
            kept_messages=event.kept_messages,
        )
        self.pending_compactions.append(report)
        given_up = self.pending_compactions[:-_MOST_PENDING]
        del self.pending_compactions[:-_MOST_PENDING]
        return given_up, found

    def restart(self) -> list[CompactionReport]:
        """Begin with an empty context, as another conversation; return the compactions that are still open."""
        self._close_stretch()
        self.context = ContextFold()
        self.last_billed = self.unlogged = self._awaits_output_of = None
        self._awaits_answer = False
        given_up, self.pending_compactions = self.pending_compactions, []
        return given_up

    def _close_stretch(self) -> None:
        self._growth = self._growth_so_far()
        self._stretch = self._latest = None

    def _growth_so_far(self) -> list[int]:
        """Growth from call to call, billed and visible, the present stretch included."""
        if self._stretch is None or self._latest is None:
            return self._growth
        return [g + b - a for g, a, b in zip(self._growth, self._stretch, self._latest, strict=True)]

    def _add_row(self, line: int, usage: Usage | None) -> None:
        row = Row(
            first=self.calls,
            last=self.calls,
            line=line,
            usage=usage,
            billed_so_far=self.billed,
            parts=tuple(self.context.parts),
            by_tool=tuple(self.context.by_tool),
            unlogged_tokens=self.unlogged or 0,
        )
        self.rows.add(row)

    def report(self) -> ThreadReport:
        """Return what is known of the thread."""
        billed, visible = self._growth_so_far()
        rows = tuple(self.rows.all)
        return ThreadReport(
            name=self.name,
            calls=self.calls,
            calls_without_bill=self.calls_without_bill,
            rounds=self.rounds,
            prompts=self.prompts,
            messages=self.messages,
            injected_tokens=self.injected_tokens,
            added_tokens=tuple(self.added_tokens),
            billed=self.billed,
            peak_context_tokens=max((row.context_tokens for row in rows), default=0),
            first_billed_tokens=self.first_billed,
            first_visible_tokens=self.first_visible,
            starts_mid_session=self.starts_mid_session,
            calibration=billed / visible if billed > 0 and visible > 0 else None,
            unreliable_outputs=self.unreliable[0],
            unreliable_output_tokens=self.unreliable[1],
            counted_output_tokens=self.unreliable[2],
            cold_calls=self.cold[0],
            cold_tokens=self.cold[1],
            unrecorded_drops=tuple(self.drops),
            rows=rows,
            calls_per_row=self.rows.calls_per_row,
        )
