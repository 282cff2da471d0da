"""An X-ray of a whole folder: file by file, each forgotten once its figures are in the sums (chapter 04).

Source: chapter 04.
"""

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.messages import Usage
from course_lib.session_logs.labels import short_end, short_label
from course_lib.session_logs.reading import read_session
from course_lib.session_logs.records import OddityKind
from course_lib.session_logs.xray import XrayFold
from course_lib.session_logs.xray_report import SessionReport, ToolUse
from course_lib.session_logs.xray_threads import added
from course_lib.session_logs.xray_tools import OTHER_TOOLS
from course_lib.tokens import MessageCounter, TiktokenCounter
from course_lib.widgets.prices import Prices

__all__ = ["MOST_FILES", "FileSummary", "FolderReport", "xray_folder"]

MOST_FILES = 1_000  # that are listed one by one: those with the most tokens
_MOST_TOOLS = 100
_MOST_UNREADABLE = 1_000
_EVENTS_A_TICK = 500


@dataclass(frozen=True, kw_only=True)
class FileSummary:
    """One log of a folder in a line of figures."""

    file: str
    format: str
    calls: int
    billed: Usage
    visible_tokens: int
    peak_context_tokens: int
    unlogged_tokens: int | None
    compactions: int
    compacted_tokens: int
    repeated_tokens: int
    broken_pairs: int


@dataclass(frozen=True, kw_only=True)
class FolderReport:
    """What the logs of a folder say together.

    Attributes:
        folder: its name, without what lies above it.
        files: those with the most tokens, at most `MOST_FILES`; `file_count` counts all that were read.
        unreadable: file and reason, for every log that could not be read.
        oddities: how often each kind occurs.
    """

    folder: str
    prices: Prices = field(default_factory=Prices)
    file_count: int = 0
    files: tuple[FileSummary, ...] = ()
    unreadable: tuple[tuple[str, str], ...] = ()
    calls: int = 0
    billed: Usage = field(default_factory=Usage)
    visible_tokens: int = 0
    compactions: int = 0
    compacted_tokens: int = 0
    repeated_reads: int = 0
    repeated_tokens: int = 0
    broken_pairs: int = 0
    formats: tuple[tuple[str, int], ...] = ()
    tools: tuple[ToolUse, ...] = ()
    oddities: tuple[tuple[OddityKind, int], ...] = ()


def xray_folder(
    folder: Path,
    files: Iterable[Path],
    *,
    unreadable: Iterable[tuple[str, str]] = (),
    counter: MessageCounter | None = None,
    prices: Prices | None = None,
    tick: Callable[[Path, int], None] = lambda _file, _line: None,
) -> FolderReport:
    """Return what the files say together; one that cannot be read is named, and the others go on.

    Args:
        folder: what the files' names are relative to.
        files: the logs.
        unreadable: file and reason, for those that are known not to be readable.
        counter: how visible tokens are counted, as for `xray`.
        prices: what tokens cost.
        tick: called now and then with the file and the line that the reading is at.
    """
    sums = _Sums(prices or Prices(), list(unreadable))
    counter = counter or MessageCounter(TiktokenCounter())
    for file in files:
        name = short_end(file.relative_to(folder).as_posix(), 200)
        try:
            sums.add(name, _one(file, counter, sums.prices, tick))
        except (CourseError, OSError) as error:
            sums.skip(name, str(error))
        except Exception as error:  # a fault of a reader costs one file, not the folder
            sums.skip(name, f"{type(error).__name__}: {error}")
        tick(file, 0)
    return sums.report(short_end(folder.name or str(folder), 120))


def _one(file: Path, counter: MessageCounter, prices: Prices, tick: Callable[[Path, int], None]) -> SessionReport:
    fold = XrayFold(file.name, counter, prices)
    for number, event in enumerate(read_session(file), 1):
        fold.add(event)
        if not number % _EVENTS_A_TICK:
            tick(file, event.place.line)
    return fold.report()


class _Sums:
    def __init__(self, prices: Prices, unreadable: list[tuple[str, str]]) -> None:
        self.prices = prices
        self._unreadable = unreadable
        self._files: list[tuple[int, int, FileSummary]] = []  # a heap: the smallest of them first
        self._count = self._calls = self._visible = self._broken = 0
        self._compactions = self._compacted = self._repeated = self._repeated_tokens = 0
        self._billed = Usage()
        self._formats: dict[str, int] = {}
        self._tools: dict[str, ToolUse] = {}
        self._oddities: dict[OddityKind, int] = {}

    def skip(self, name: str, reason: str) -> None:
        """Note a file that could not be read."""
        if len(self._unreadable) < _MOST_UNREADABLE:
            self._unreadable.append((name, short_label(reason, 200)))

    def add(self, name: str, report: SessionReport) -> None:
        """Take in the report of a file."""
        one = _summary(name, report)
        self._count += 1
        self._calls += one.calls
        self._billed = added((self._billed, one.billed))
        self._visible += one.visible_tokens
        self._compactions += one.compactions
        self._compacted += one.compacted_tokens
        self._repeated += report.repeated_reads.times
        self._repeated_tokens += one.repeated_tokens
        self._broken += one.broken_pairs
        self._formats[report.format] = self._formats.get(report.format, 0) + 1
        for oddity in report.oddities:
            self._oddities[oddity.kind] = self._oddities.get(oddity.kind, 0) + oddity.times
        for tool in report.tools:
            self._add_tool(tool)
        heapq.heappush(self._files, (one.billed.context_tokens or one.visible_tokens, -self._count, one))
        if len(self._files) > MOST_FILES:
            heapq.heappop(self._files)

    def _add_tool(self, tool: ToolUse) -> None:
        is_known = tool.name in self._tools or len(self._tools) < _MOST_TOOLS
        name = tool.name if is_known else OTHER_TOOLS
        so_far = self._tools.get(name, ToolUse(name=name))
        self._tools[name] = ToolUse(
            name=name,
            calls=so_far.calls + tool.calls,
            errors=so_far.errors + tool.errors,
            argument_tokens=so_far.argument_tokens + tool.argument_tokens,
            result_tokens=so_far.result_tokens + tool.result_tokens,
        )

    def report(self, folder: str) -> FolderReport:
        """Return the sums."""
        return FolderReport(
            folder=folder,
            prices=self.prices,
            file_count=self._count,
            files=tuple(one for *_, one in sorted(self._files, key=lambda entry: entry[:2], reverse=True)),
            unreadable=tuple(self._unreadable),
            calls=self._calls,
            billed=self._billed,
            visible_tokens=self._visible,
            compactions=self._compactions,
            compacted_tokens=self._compacted,
            repeated_reads=self._repeated,
            repeated_tokens=self._repeated_tokens,
            broken_pairs=self._broken,
            formats=tuple(sorted(self._formats.items(), key=lambda item: (-item[1], item[0]))),
            tools=tuple(sorted(self._tools.values(), key=lambda t: (-t.result_tokens - t.argument_tokens, t.name))),
            oddities=tuple(sorted(self._oddities.items(), key=lambda item: (-item[1], item[0]))),
        )


def _summary(name: str, report: SessionReport) -> FileSummary:
    return FileSummary(
        file=name,
        format=report.format,
        calls=report.calls,
        billed=report.billed,
        visible_tokens=sum(report.added_tokens.values()),
        peak_context_tokens=max((thread.peak_context_tokens for thread in report.threads), default=0),
        unlogged_tokens=report.threads[0].unlogged_tokens if report.threads else None,
        compactions=report.compaction_count,
        compacted_tokens=report.compaction_saved,
        repeated_tokens=report.repeated_reads.tokens,
        broken_pairs=report.broken_pairs,
    )
