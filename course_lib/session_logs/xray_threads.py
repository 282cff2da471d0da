"""One conversation of a session as an X-ray sees it: its calls one after the other (chapter 04).

Source: chapter 04.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from course_lib.messages import Usage
from course_lib.session_logs.records import Place
from course_lib.window import PARTS, Part

__all__ = ["Row", "ThreadReport", "added"]


def added(bills: Iterable[Usage]) -> Usage:
    """Return the sum of bills, bucket by bucket."""
    sums = [0, 0, 0, 0]
    for bill in bills:
        for place, tokens in enumerate(
            (bill.input_tokens, bill.cache_read_tokens, bill.cache_write_tokens, bill.output_tokens)
        ):
            sums[place] += tokens
    return Usage(*sums)


@dataclass(frozen=True, kw_only=True)
class Row:
    """The context at one call, or the fullest of a few neighbouring calls of a long session.

    Attributes:
        first, last: the calls that the row stands for, from 1, within its thread.
        line: where the fullest of them stands in the file.
        usage: its bill; None where the log has none.
        billed_so_far: all bills of the thread up to `last`.
        parts: visible tokens before the call, in the order of `window.PARTS`.
        by_tool: visible tokens of tool results, in the order of the report's `tools`; missing ends are zeros.
        unlogged_tokens: billed but not in the log, as measured at the first call since the last compaction.
    """

    first: int
    last: int
    line: int
    usage: Usage | None
    billed_so_far: Usage
    parts: tuple[int, ...]
    by_tool: tuple[int, ...]
    unlogged_tokens: int = 0

    @property
    def visible_tokens(self) -> int:
        """Tokens of all messages in the log that the call could see, as counted here."""
        return sum(self.parts)

    @property
    def context_tokens(self) -> int:
        """Tokens of the call's request: as billed, or as counted here where there is no bill."""
        billed = self.usage.context_tokens if self.usage else 0
        return billed or self.visible_tokens + self.unlogged_tokens

    @property
    def is_billed(self) -> bool:
        """Whether the provider said how long the request was."""
        return self.usage is not None and self.usage.context_tokens > 0


@dataclass(frozen=True, kw_only=True)
class ThreadReport:
    """One conversation of a session: the main one, or one of a sub-agent.

    Attributes:
        name: "main", or the sub-agent's name.
        calls: calls of a model; where a log has no bills, its answers.
        calls_without_bill: of these, the ones with no figures.
        rounds: answers of the model.
        prompts: what a person said.
        injected_tokens: of messages that the program itself put in (reminders, project memory), over the session.
        added_tokens: visible tokens that ever entered the conversation, in the order of `window.PARTS`.
        first_billed_tokens, first_visible_tokens: the first billed call's context, and what the log shows of it.
        starts_mid_session: the file begins in the middle, so the unlogged part holds earlier history too.
        calibration: billed tokens a visible token, from the growth between calls; None where nothing can be compared.
        unreliable_outputs: calls whose output was logged before the answer had ended.
        unreliable_output_tokens: what their bills say; `counted_output_tokens` is what their answers hold.
        cold_calls: calls that read less than half of the call before them from the cache, though nothing was compacted.
        cold_tokens: what these had to read again at a higher price.
        unrecorded_drops: places where the billed context fell by more than a third without a record of a compaction.
        rows: the context over time; `calls_per_row` calls each (neighbours are merged in long sessions, the fullest
            call stands for them).
    """

    name: str
    calls: int = 0
    calls_without_bill: int = 0
    rounds: int = 0
    prompts: int = 0
    messages: int = 0
    injected_tokens: int = 0
    added_tokens: tuple[int, ...] = (0,) * len(PARTS)
    billed: Usage = field(default_factory=Usage)
    peak_context_tokens: int = 0
    first_billed_tokens: int | None = None
    first_visible_tokens: int | None = None
    starts_mid_session: bool = False
    calibration: float | None = None
    unreliable_outputs: int = 0
    unreliable_output_tokens: int = 0
    counted_output_tokens: int = 0
    cold_calls: int = 0
    cold_tokens: int = 0
    unrecorded_drops: tuple[Place, ...] = ()
    rows: tuple[Row, ...] = ()
    calls_per_row: int = 1

    @property
    def unlogged_tokens(self) -> int | None:
        """First billed context minus what the log shows of it, never below 0; None without a bill."""
        if self.first_billed_tokens is None or self.first_visible_tokens is None:
            return None
        return max(0, self.first_billed_tokens - self.first_visible_tokens)

    def peak_parts(self) -> dict[Part, int]:
        """Return the visible tokens by part at the fullest call."""
        fullest = max(self.rows, key=lambda row: row.context_tokens, default=None)
        return dict(zip(PARTS, fullest.parts if fullest else (0,) * len(PARTS), strict=True))
