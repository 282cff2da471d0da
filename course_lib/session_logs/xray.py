"""An X-ray of a session: where its tokens went (chapter 04).

    report = xray("session.jsonl")
    report.billed, report.threads[0].unlogged_tokens, report.biggest_results[0]

One pass over the file, whatever its length: sums, the biggest few of everything, and rows that are merged when there
are too many. No text is kept, except a tool's name and a few words that say what a call was about.

What this leaves out on purpose: what a rewind took back, and what a program changed in the messages on their way to the
model. Where the visible tokens part from the billed ones, the report shows both.
Source: chapter 04.
"""

from collections.abc import Iterable
from pathlib import Path

from course_lib.messages import Message, ToolResultBlock, ToolUseBlock, Usage
from course_lib.session_logs.labels import short_end, short_label
from course_lib.session_logs.reading import read_session
from course_lib.session_logs.records import (
    CallBilled,
    FixedCostLogged,
    HistoryCompacted,
    HistoryRewound,
    LogEvent,
    MessageLogged,
    Oddity,
    OddityKind,
    Place,
    SessionStarted,
)
from course_lib.session_logs.xray_context import Entry, ResultTokens, counted_blocks, parts_of
from course_lib.session_logs.xray_report import CompactionReport, ModelUse, OddityCount, SessionReport
from course_lib.session_logs.xray_thread import ThreadFold
from course_lib.session_logs.xray_threads import added
from course_lib.session_logs.xray_tools import ToolFold
from course_lib.tokens import MessageCounter, TiktokenCounter, TokenCounter
from course_lib.widgets.prices import Prices

__all__ = ["FURTHER_THREADS", "MAIN_THREAD", "XrayFold", "xray"]

MAIN_THREAD, FURTHER_THREADS = "main", "further threads"
_MOST_THREADS = 64
_MOST_MODELS = 12
_MOST_SESSIONS = 20
_MOST_COMPACTIONS = 100
_MOST_PLACES = 3


def xray(
    source: str | Path | Iterable[LogEvent],
    *,
    counter: MessageCounter | TokenCounter | None = None,
    prices: Prices | None = None,
) -> SessionReport:
    """Return what a session log says about its tokens.

    Args:
        source: the log's path, or the events that a reader gives.
        counter: how visible tokens are counted: messages or texts. By default with the vocabulary of OpenAI's models,
            which is exact for those and a stand-in for all others: compare `ThreadReport.calibration`.
        prices: what tokens cost; round example prices by default.

    Raises:
        SessionLogError: a path that is no readable session log.
    """
    if isinstance(source, str | Path):
        fold, events = XrayFold(Path(source).name, counter, prices), read_session(source)
    else:
        fold, events = XrayFold("", counter, prices), iter(source)
    for event in events:
        fold.add(event)
    return fold.report()


class XrayFold:
    """An X-ray that grows event by event; `report` may be asked for at any time.

    Args:
        file: the file's name in the report; "" takes it from the events.
        counter, prices: see `xray`.
    """

    def __init__(
        self,
        file: str = "",
        counter: MessageCounter | TokenCounter | None = None,
        prices: Prices | None = None,
    ) -> None:
        self.file, self.format = short_end(file, 120), ""
        counter = counter or TiktokenCounter()
        self.counter = counter if isinstance(counter, MessageCounter) else MessageCounter(counter)
        self.prices = prices or Prices()
        self.hidden_messages = 0
        self._sessions: dict[str, str] = {}
        self._session_count = 0
        self._main_threads = {""}
        self._threads: dict[str, ThreadFold] = {}
        self._further = ThreadFold(FURTHER_THREADS)
        self._further_now: str | None = None
        self._further_count = 0
        self._models: dict[str, tuple[int, Usage]] = {}
        self._tools = ToolFold()
        self._compactions: list[CompactionReport] = []
        self._compaction_count = self._compaction_saved = 0
        self._oddities: dict[OddityKind, tuple[int, tuple[Place, ...], str]] = {}

    def add(self, event: LogEvent) -> None:
        """Take in the next event."""
        self.file = self.file or short_end(event.place.file, 120)
        match event:
            case MessageLogged():
                self._message(event)
            case CallBilled():
                self._keep(self._thread(event.thread).bill(event))
                self._bill_model(event)
            case HistoryCompacted():
                self._compacted(event)
            case HistoryRewound():
                self._thread(event.thread).rewind(event.dropped_messages)
            case Oddity():
                self._oddity(event)
            case SessionStarted():
                self._start(event)
            case FixedCostLogged():
                system = self.counter.text(event.system) if event.system else 0
                self._thread(event.thread).set_fixed(system, sum(map(self.counter.tool, event.tools)))

    def _start(self, event: SessionStarted) -> None:
        self.format = self.format or short_label(event.format, 60)
        if event.session_id not in self._sessions:
            self._session_count += 1
            if len(self._sessions) < _MOST_SESSIONS:
                self._sessions[event.session_id] = short_label(event.session_id, 80)
        if len(self._main_threads) < _MOST_THREADS:
            self._main_threads.add(event.thread)

    def _thread(self, name: str) -> ThreadFold:
        thread = self._threads.get(name)
        if thread is not None:
            return thread
        if len(self._threads) < _MOST_THREADS:
            self._threads[name] = ThreadFold(short_label(name, 60) or MAIN_THREAD)
            return self._threads[name]
        if self._further_now != name:
            self._keep(self._further.restart())
            self._further_now = name
            self._further_count += 1
        return self._further

    def _message(self, event: MessageLogged) -> None:
        message = event.message
        if not event.in_context:
            self.hidden_messages += 1
            return
        thread = self._thread(event.thread)
        counted = counted_blocks(message, self.counter)
        entry = Entry(parts_of(message, counted, self.counter))
        for block, tokens in counted:
            if isinstance(block, ToolUseBlock):
                self._tools.called(thread.name, block, tokens)
            elif isinstance(block, ToolResultBlock):
                tool = self._tools.answered(thread.name, block, tokens, event.place, thread.epoch)
                entry.results.append(ResultTokens(block.tool_use_id, tool, tokens))
        thread.add(
            entry,
            event.place.line,
            is_answer=message.role == "assistant" and not event.is_injected,
            is_prompt=self._is_prompt(event) and not entry.results,
            is_injected=event.is_injected,
        )

    def _is_prompt(self, event: MessageLogged) -> bool:
        """Whether a person may have said it: what a sub-agent is told, another model wrote."""
        return event.message.role == "user" and not event.is_injected and event.thread in self._main_threads

    def _bill_model(self, event: CallBilled) -> None:
        name = short_label(event.model, 60)
        if name not in self._models and len(self._models) >= _MOST_MODELS:
            name = "(further models)"
        calls, billed = self._models.get(name, (0, Usage()))
        self._models[name] = (calls + 1, added((billed, event.usage)))

    def _compacted(self, event: HistoryCompacted) -> None:
        thread = self._thread(event.thread)
        finished, cleared = thread.compact(event, [self._entry(message) for message in event.replacement])
        self._tools.cleared(thread.name, cleared)
        self._keep(finished)

    def _entry(self, message: Message) -> Entry:
        return Entry(parts_of(message, counted_blocks(message, self.counter), self.counter))

    def _keep(self, compactions: Iterable[CompactionReport]) -> None:
        for compaction in compactions:
            self._compaction_count += 1
            self._compaction_saved += compaction.saved_tokens
            if len(self._compactions) < _MOST_COMPACTIONS:
                self._compactions.append(compaction)

    def _oddity(self, event: Oddity) -> None:
        times, places, detail = self._oddities.get(event.kind, (0, (), short_label(event.detail, 100)))
        places = (*places, event.place) if len(places) < _MOST_PLACES else places
        self._oddities[event.kind] = (times + 1, places, detail)
        if event.kind == "mid-session start":
            self._thread("").starts_mid_session = True

    def report(self) -> SessionReport:
        """Return what is known so far."""
        threads = list(self._threads.values())
        threads.sort(key=lambda thread: thread.name != MAIN_THREAD)  # the main one first, the others as they came
        threads += [self._further] if self._further_count else []
        open_ = [one for thread in threads for one in thread.pending_compactions]
        all_ = sorted((*self._compactions, *open_), key=lambda one: (one.place, one.thread))
        return SessionReport(
            file=self.file,
            format=self.format,
            counter=_name_of(self.counter.text),
            prices=self.prices,
            sessions=tuple(self._sessions.values()),
            session_count=self._session_count,
            threads=tuple(thread.report() for thread in threads),
            threads_left_out=self._further_count,
            hidden_messages=self.hidden_messages,
            models=tuple(ModelUse(name=n, calls=calls, billed=b) for n, (calls, b) in self._models.items()),
            tools=self._tools.tools,
            biggest_results=self._tools.biggest,
            repeated_reads=self._tools.repeated_reads,
            compactions=tuple(all_[:_MOST_COMPACTIONS]),
            compaction_count=self._compaction_count + len(open_),
            compaction_saved=self._compaction_saved + sum(one.saved_tokens for one in open_),
            oddities=tuple(
                OddityCount(kind=kind, times=times, places=places, detail=detail)
                for kind, (times, places, detail) in self._oddities.items()
            ),
        )


def _name_of(counter: TokenCounter) -> str:
    """What visible tokens were counted with, in a word: the vocabulary's name, else the function's."""
    return str(getattr(counter, "encoding", "") or getattr(counter, "__name__", "") or type(counter).__name__)
