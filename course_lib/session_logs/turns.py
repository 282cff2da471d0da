"""Puts the pieces of one thread together: split answers become one message, results find their calls.

Readers hand over what stands in the log, in its order; events come out in the order in which the model met them.

What this leaves out on purpose: times. File order is right even where timestamps are not.
Source: chapter 04; the cases are those of public logs of 2025 and 2026 (pieces of an answer with results between them,
results twice, ids used again, ids that fit no call).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from course_lib.messages import Block, Message, ToolResultBlock, ToolUseBlock, Usage
from course_lib.session_logs.records import (
    CallBilled,
    HistoryCompacted,
    HistoryRewound,
    LogEvent,
    MessageLogged,
    Oddity,
    OddityKind,
    Place,
)

__all__ = ["AnswerPiece", "Turns"]


@dataclass(frozen=True, kw_only=True)
class AnswerPiece:
    """A part of a model's answer, or all of it.

    Attributes:
        key: pieces that share a key in a row are one message; "" if the piece is a message by itself.
        call_id: the provider's id of the call or message.
        usage: as far as this piece knows it; the last piece's word counts. None if the log has none.
    """

    place: Place
    key: str = ""
    call_id: str = ""
    model: str = ""
    blocks: tuple[Block, ...] = ()
    usage: Usage | None = None
    is_reliable: bool = True
    in_context: bool = True
    record_id: str = ""


@dataclass
class _Open:
    """An answer that may get more pieces, and what came after it so far."""

    pieces: list[AnswerPiece]
    results: list[tuple[Place, ToolResultBlock, str]] = field(default_factory=list)
    waiting: list[tuple[LogEvent, str]] = field(default_factory=list)


class Turns:
    """One thread of a log.

    Args:
        thread: its name, "" for the main conversation.
        billed: ids of the calls that are billed already, shared by all threads of a file.
    """

    def __init__(self, thread: str = "", billed: set[str] | None = None) -> None:
        self.thread = thread
        self._billed = set() if billed is None else billed
        self._open: _Open | None = None
        self._unanswered: dict[str, Place] = {}
        self._answered: set[str] = set()
        self._messages = 0
        self._last_said = -1  # number of the last message that the program did not put in by itself
        self._position: dict[str, int] = {}  # number of the message that a record became

    def answer(self, piece: AnswerPiece) -> list[LogEvent]:
        """Take a piece of an answer; a new answer ends the one before."""
        if self._open and piece.key and piece.key == self._open.pieces[0].key:
            self._open.pieces.append(piece)
            return []
        events = self.flush()
        self._open = _Open([piece])
        return events

    def bill(self, usage: Usage, place: Place) -> bool:
        """Set the usage of the open answer, where a log says it apart; False if no answer is open."""
        if self._open is None or any(piece.usage is not None for piece in self._open.pieces):
            return False
        self._open.pieces.append(replace(self._open.pieces[-1], blocks=(), usage=usage, place=place))
        return True

    def user(
        self,
        place: Place,
        blocks: Iterable[Block],
        *,
        is_injected: bool = False,
        in_context: bool = True,
        record_id: str = "",
    ) -> list[LogEvent]:
        """Take what went into the model: results find their calls, the rest is a message."""
        blocks = tuple(blocks)
        results = [block for block in blocks if isinstance(block, ToolResultBlock)]
        others = tuple(block for block in blocks if not isinstance(block, ToolResultBlock))
        events: list[LogEvent] = []
        if results:
            if self._open:
                self._open.results += [(place, result, record_id) for result in results]
            else:
                events += self._pair((), [(place, result, record_id) for result in results])
        if others and not is_injected and not self.is_waiting:
            events += self.flush()  # somebody speaks, and no result is due: the answer has ended
        if others:
            message = Message("user", others)
            events += self.note(
                MessageLogged(
                    place=place, thread=self.thread, message=message, is_injected=is_injected, in_context=in_context
                ),
                record_id,
            )
        return events

    def note(self, event: LogEvent, record_id: str = "") -> list[LogEvent]:
        """Take an event that belongs behind the open answer and its results."""
        if self._open:
            self._open.waiting.append((event, record_id))
            return []
        return self._say(event, record_id)

    def compact(self, event: HistoryCompacted) -> list[LogEvent]:
        """End what is open, and say that the history was replaced; calls cut off by it stay without a result."""
        events = [*self.flush(), *self._missing(), event]
        shift = len(event.replacement) - (self._messages - event.kept_messages)
        self._position = {
            record_id: at + shift for record_id, at in self._position.items() if at + shift >= len(event.replacement)
        }
        self._messages += shift
        self._last_said = max(self._last_said + shift, len(event.replacement) - 1)
        return events

    def rewind(self, parent: str, place: Place) -> list[LogEvent]:
        """Tell whether a new prompt goes on from an earlier point than the end: what came after it is dropped.

        Args:
            parent: the record that the prompt goes on from; one of the open answer, or an unknown one, is the end.
            place: of the prompt.
        """
        if parent not in self._position:
            return []
        events = self.flush()
        keep = self._position[parent] + 1
        if self._last_said < keep:
            return events
        event = HistoryRewound(place=place, thread=self.thread, dropped_messages=self._messages - keep)
        self._messages = keep
        self._last_said = keep - 1
        self._position = {record_id: at for record_id, at in self._position.items() if at < keep}
        return [*events, event]

    def kept_messages(self, record_ids: Iterable[str]) -> int:
        """How many of the latest messages reach back to the first of these records; 0 if none is known."""
        places = [self._position[record_id] for record_id in record_ids if record_id in self._position]
        return self._messages - min(places) if places else 0

    def has_answered(self, tool_use_id: str) -> bool:
        """Whether a result for this call was read, also one that still waits for its message to end."""
        waiting = self._open.results if self._open else ()
        return tool_use_id in self._answered or any(result.tool_use_id == tool_use_id for _, result, _ in waiting)

    @property
    def is_waiting(self) -> bool:
        """Whether the open answer has calls without a result."""
        if self._open is None:
            return False
        calls = sum(isinstance(block, ToolUseBlock) for piece in self._open.pieces for block in piece.blocks)
        return calls > len(self._open.results)

    @property
    def has_results(self) -> bool:
        """Whether the open answer has results already, or something was said after it."""
        return self._open is not None and bool(self._open.results or self._open.waiting)

    def close(self) -> list[LogEvent]:
        """End the thread: what is open, and the calls that nobody answered."""
        return [*self.flush(), *self._missing()]

    def flush(self) -> list[LogEvent]:
        """End the open answer, if there is one: the call, the answer, its results, what was said after them."""
        answer, self._open = self._open, None
        if answer is None:
            return []
        events = self._answer_events(answer.pieces)
        blocks = [block for piece in answer.pieces for block in piece.blocks]
        calls = tuple(block for block in blocks if isinstance(block, ToolUseBlock))
        for call in calls:
            if call.id in self._unanswered:
                events.append(self._oddity(self._unanswered.pop(call.id), "missing result", call.id))
            self._answered.discard(call.id)
        at = next((p.place for p in answer.pieces if any(isinstance(b, ToolUseBlock) for b in p.blocks)), None)
        events += self._pair(calls, answer.results, at)
        for event, record_id in answer.waiting:
            events += self._say(event, record_id)
        return events

    def _answer_events(self, pieces: list[AnswerPiece]) -> list[LogEvent]:
        first, last = pieces[0], pieces[-1]
        usage = next((piece.usage for piece in reversed(pieces) if piece.usage is not None), None)
        events: list[LogEvent] = []
        if usage not in (None, Usage()) and not (first.call_id and first.call_id in self._billed):
            self._billed.add(first.call_id)
            assert usage is not None
            events.append(
                CallBilled(
                    place=first.place,
                    thread=self.thread,
                    call_id=first.call_id,
                    model=first.model,
                    usage=usage,
                    output_is_reliable=last.is_reliable,
                )
            )
        blocks = tuple(block for piece in pieces for block in piece.blocks)
        if blocks:
            message = Message("assistant", blocks, usage=usage, id=first.call_id)
            event = MessageLogged(place=first.place, thread=self.thread, message=message, in_context=first.in_context)
            events += self._say(event, *(piece.record_id for piece in pieces))
        return events

    def _say(self, event: LogEvent, *record_ids: str) -> list[LogEvent]:
        if isinstance(event, MessageLogged) and event.in_context:
            self._position.update((record_id, self._messages) for record_id in record_ids if record_id)
            self._last_said = self._last_said if event.is_injected else self._messages
            self._messages += 1
        return [event]

    def _pair(
        self,
        calls: tuple[ToolUseBlock, ...],
        results: list[tuple[Place, ToolResultBlock, str]],
        called_at: Place | None = None,
    ) -> list[LogEvent]:
        """Give each result its call: by id, the first free one; or by position, where ids fit nothing."""
        events: list[LogEvent] = []
        slots: list[ToolResultBlock | None] = [None] * len(calls)
        strangers: list[tuple[Place, ToolResultBlock]] = []
        for place, result, _ in results:
            free = next((i for i, c in enumerate(calls) if c.id == result.tool_use_id and slots[i] is None), None)
            if free is not None:
                slots[free] = result
            elif result.tool_use_id in self._answered or any(call.id == result.tool_use_id for call in calls):
                events.append(self._oddity(place, "duplicate result", result.tool_use_id))
            else:
                strangers.append((place, result))
        empty = [index for index, slot in enumerate(slots) if slot is None]
        unknown = [(place, result) for place, result in strangers if result.tool_use_id not in self._unanswered]
        if empty and len(unknown) == len(empty):
            for index, (place, result) in zip(empty, unknown, strict=True):
                slots[index] = _under_id(result, calls[index].id)
                events.append(
                    self._oddity(place, "mismatched id", f"{result.tool_use_id}: taken for {calls[index].id}")
                )
            strangers = [stranger for stranger in strangers if stranger not in unknown]
        elif unknown:
            events += [self._oddity(place, "orphan result", result.tool_use_id) for place, result in unknown]
        self._remember(calls, slots, strangers, called_at)
        content = (*(slot for slot in slots if slot is not None), *(result for _, result in strangers))
        if content:
            message = MessageLogged(place=results[0][0], thread=self.thread, message=Message("user", content))
            events += self._say(message, *(record_id for _, _, record_id in results))
        return events

    def _remember(
        self,
        calls: tuple[ToolUseBlock, ...],
        slots: list[ToolResultBlock | None],
        strangers: list[tuple[Place, ToolResultBlock]],
        called_at: Place | None,
    ) -> None:
        for call, slot in zip(calls, slots, strict=True):
            if slot is not None:
                self._answered.add(call.id)
            elif called_at is not None:
                self._unanswered[call.id] = called_at
        for _, result in strangers:
            self._unanswered.pop(result.tool_use_id, None)
            self._answered.add(result.tool_use_id)

    def _missing(self) -> list[LogEvent]:
        events = [self._oddity(place, "missing result", id_) for id_, place in self._unanswered.items()]
        self._unanswered.clear()
        return events

    def _oddity(self, place: Place, kind: OddityKind, detail: str) -> LogEvent:
        return Oddity(place=place, kind=kind, detail=detail)


def _under_id(result: ToolResultBlock, tool_use_id: str) -> ToolResultBlock:
    """The same result under the id of the call that it answers."""
    return ToolResultBlock(tool_use_id, result.content, result.is_error)
