"""What an X-ray of a session says, as plain values: every report, picture and test is made from these (chapter 04).

Two kinds of numbers stand side by side and are never mixed. **Billed** tokens are the provider's own figures, as the
log has them. **Visible** tokens are counted here, from the messages in the log, with a counter that may be a stand-in.
What is billed and not visible is the **unlogged** part: a system prompt and tool definitions that most programs do not
log.

Source: chapter 04.
"""

from dataclasses import dataclass, field
from typing import get_args

from course_lib.messages import Usage
from course_lib.session_logs.records import CompactionKind, OddityKind, Place
from course_lib.session_logs.xray_threads import ThreadReport, added
from course_lib.widgets.prices import Prices
from course_lib.window import PARTS, Part

__all__ = [
    "BROKEN_PAIRS",
    "ODDITY_KINDS",
    "BigResult",
    "CompactionReport",
    "ModelUse",
    "OddityCount",
    "RepeatedFile",
    "RepeatedReads",
    "SessionReport",
    "ToolUse",
]

ODDITY_KINDS: tuple[OddityKind, ...] = get_args(OddityKind)
BROKEN_PAIRS: tuple[OddityKind, ...] = ("missing result", "orphan result", "duplicate result")


@dataclass(frozen=True, kw_only=True)
class ModelUse:
    """Calls of one model, and their bill."""

    name: str
    calls: int
    billed: Usage


@dataclass(frozen=True, kw_only=True)
class ToolUse:
    """One tool over the whole session, in visible tokens."""

    name: str
    calls: int = 0
    errors: int = 0
    argument_tokens: int = 0
    result_tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class BigResult:
    """A tool result with many tokens; `label` says in a few words what was asked for."""

    tokens: int
    tool: str
    label: str
    thread: str
    place: Place
    is_error: bool = False


@dataclass(frozen=True, kw_only=True)
class RepeatedFile:
    """A file that was read again although nothing in the answer was new."""

    label: str
    times: int
    tokens: int
    place: Place  # of the first repetition


@dataclass(frozen=True, kw_only=True)
class RepeatedReads:
    """Reads of the same file, with the same arguments and the same result as an earlier read of the same thread.

    Attributes:
        times, tokens: of all repetitions, the first read not counted.
        after_compaction: of these, how many came after a compaction had taken the earlier result away.
        changed: reads of the same file with the same arguments and *another* result: not a repetition.
        files: the most expensive ones.
    """

    times: int = 0
    tokens: int = 0
    after_compaction: int = 0
    changed: int = 0
    files: tuple[RepeatedFile, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CompactionReport:
    """One compaction, before and after: as the log states it, as billed, and as counted here.

    Attributes:
        stated_before, stated_after, stated_saved: what the log says; None where it does not.
        billed_before, billed_after: context of the last call before and the first call after; None without a bill.
        visible_before, visible_after: counted here, right before and right after.
        unlogged_after: the first bill after it minus what was visible then.
        cleared_results: results that were cleared ("micro"); `missing_results` of them are not in this file.
        kept_messages: messages that stayed behind the summary.
    """

    place: Place
    thread: str
    call: int
    kind: CompactionKind
    trigger: str = ""
    stated_before: int | None = None
    stated_after: int | None = None
    stated_saved: int | None = None
    billed_before: int | None = None
    billed_after: int | None = None
    visible_before: int = 0
    visible_after: int = 0
    unlogged_after: int | None = None
    cleared_results: int = 0
    missing_results: int = 0
    kept_messages: int = 0

    @property
    def saved_tokens(self) -> int:
        """Tokens that the compaction took out: as stated, else billed before minus after, else as counted here."""
        if self.stated_saved is not None:
            return self.stated_saved
        before = self.billed_before if self.billed_before is not None else self.stated_before
        after = self.billed_after if self.billed_after is not None else self.stated_after
        if self.kind != "micro" and before is not None and after is not None:
            return before - after
        return self.visible_before - self.visible_after


@dataclass(frozen=True, kw_only=True)
class OddityCount:
    """How often a kind of oddity occurs, with the first places and what the first one was about."""

    kind: OddityKind
    times: int
    places: tuple[Place, ...]
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class SessionReport:
    """Everything that an X-ray says about one file.

    Attributes:
        file: its name, without the folder.
        counter: what the visible tokens were counted with.
        sessions: session ids in the order of the file, at most 20; `session_count` counts all.
        threads: the main conversation first.
        threads_left_out: threads beyond the limit; their calls are in `threads[-1]`, named "further threads".
        hidden_messages: logged, but never shown to the model.
        compaction_count, compaction_saved: of all compactions; `compactions` holds the first ones.
    """

    file: str
    format: str
    counter: str
    prices: Prices = field(default_factory=Prices)
    sessions: tuple[str, ...] = ()
    session_count: int = 0
    threads: tuple[ThreadReport, ...] = ()
    threads_left_out: int = 0
    hidden_messages: int = 0
    models: tuple[ModelUse, ...] = ()
    tools: tuple[ToolUse, ...] = ()
    biggest_results: tuple[BigResult, ...] = ()
    repeated_reads: RepeatedReads = field(default_factory=RepeatedReads)
    compactions: tuple[CompactionReport, ...] = ()
    compaction_count: int = 0
    compaction_saved: int = 0
    oddities: tuple[OddityCount, ...] = ()

    @property
    def billed(self) -> Usage:
        """The sum of all bills."""
        return added(thread.billed for thread in self.threads)

    @property
    def calls(self) -> int:
        """Calls of a model, in all threads."""
        return sum(thread.calls for thread in self.threads)

    @property
    def rounds(self) -> int:
        """Answers of a model, in all threads."""
        return sum(thread.rounds for thread in self.threads)

    @property
    def prompts(self) -> int:
        """What a person said, in all threads."""
        return sum(thread.prompts for thread in self.threads)

    @property
    def added_tokens(self) -> dict[Part, int]:
        """Visible tokens that ever entered the conversations, by part."""
        sums = (sum(column) for column in zip(*(t.added_tokens for t in self.threads), strict=True))
        return dict(zip(PARTS, sums, strict=True)) if self.threads else dict.fromkeys(PARTS, 0)

    @property
    def has_bill(self) -> bool:
        """Whether the log says anything about billed tokens."""
        billed = self.billed
        return billed.context_tokens + billed.output_tokens > 0

    @property
    def cost(self) -> float:
        """What the bills come to at `prices`."""
        return self.prices.cost(self.billed)

    @property
    def cost_without_cache(self) -> float:
        """What the same calls would have cost with every input token at the full price."""
        billed = self.billed
        return self.prices.cost(Usage(input_tokens=billed.context_tokens, output_tokens=billed.output_tokens))

    @property
    def cache_share(self) -> float:
        """Share of the input that was read from a cache, 0 to 1."""
        billed = self.billed
        return billed.cache_read_tokens / billed.context_tokens if billed.context_tokens else 0.0

    @property
    def broken_pairs(self) -> int:
        """Calls without a result, results without a call, and calls with two results."""
        return sum(oddity.times for oddity in self.oddities if oddity.kind in BROKEN_PAIRS)

    def thread(self, name: str) -> ThreadReport | None:
        """Return the thread with this name, or with this number from 1."""
        for place, thread in enumerate(self.threads, 1):
            if name in (thread.name, str(place)):
                return thread
        return None
