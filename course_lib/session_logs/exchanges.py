"""Requests and responses as a log: each request repeats the conversation so far, of which only the end is news.

A request that begins like a known conversation and is longer goes on with it. One that is shorter but repeats its
beginning word for word is a branch (tried again from an earlier point). One that begins alike and then differs is the
same conversation after it was compacted. Anything else is a conversation of its own.

What this leaves out on purpose: guessing that two conversations with different first messages are one.
Source: chapter 04; the shape of proxies that record a program's traffic.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from course_lib.messages import Block, Message, Messages, ToolResultBlock, ToolSpec, Usage
from course_lib.session_logs.records import (
    FixedCostLogged,
    HistoryCompacted,
    LogEvent,
    Oddity,
    Place,
    SessionStarted,
)
from course_lib.session_logs.turns import AnswerPiece, Turns

__all__ = ["Entry", "Exchange", "Exchanges"]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One message of a request, or the response to it.

    Attributes:
        key: pieces of an answer that share a key in a row are one message, as in `AnswerPiece`.
    """

    place: Place
    side: Literal["user", "answer"]
    blocks: tuple[Block, ...] = ()
    is_injected: bool = False
    in_context: bool = True
    usage: Usage | None = None
    call_id: str = ""
    model: str = ""
    is_reliable: bool = True
    key: str = ""


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """A request, with its response if the log has it.

    Attributes:
        is_aside: a small call beside the conversation (a title, a check of the quota).
        continues: the id of the response that the request goes on from, where it does not repeat the conversation.
        compaction: the first blocks of the response are a summary that the provider made of all before it.
    """

    place: Place
    session_id: str = ""
    model: str = ""
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    entries: tuple[Entry, ...] = ()
    response: Entry | None = None
    extra_bills: tuple[tuple[str, Usage], ...] = ()
    is_aside: bool = False
    continues: str = ""
    compaction: Messages = ()


_Print = tuple[str, int]  # side and hash of a message


@dataclass
class _Conversation:
    turns: Turns
    prints: list[_Print] = field(default_factory=list)
    answers: set[int] = field(default_factory=set)  # which of the prints are responses: may come back in another form
    fixed: tuple[str, tuple[str, ...]] = ("", ())


class Exchanges:
    """Follows the conversations of one file.

    Args:
        format_name: for `SessionStarted`.
        main_thread: the name of the first conversation.
        billed: ids of the calls that are billed already, where a file is read in several parts.
    """

    def __init__(self, format_name: str, main_thread: str = "", billed: set[str] | None = None) -> None:
        self._format = format_name
        self._main = main_thread
        self._conversations: dict[str, _Conversation] = {}
        self._by_response: dict[str, _Conversation] = {}
        self._billed = set() if billed is None else billed
        self._said: set[tuple[str, str, int]] = set()
        self._asides = 0

    def take(self, exchange: Exchange) -> Iterator[LogEvent]:
        """Yield what is new in the exchange."""
        prints = [_fingerprint(entry) for entry in exchange.entries]
        found = self._by_response.get(exchange.continues) if exchange.continues else None
        if found is not None:
            conversation, new = found, list(exchange.entries)
            conversation.prints += prints
        else:
            conversation, new, events = self._match(exchange, prints)
            yield from events
        yield from self._fixed_cost(exchange, conversation)
        for entry in new:
            yield from _entry(entry, conversation.turns)
        if exchange.response is not None:
            yield from self._response(exchange, exchange.response, conversation)

    def news(self, faults: Iterable[Oddity], *, is_document: bool) -> list[Oddity]:
        """Return the faults that were not said yet: a request that repeats a message repeats its faults."""
        news = []
        for fault in faults:
            key = (fault.kind, fault.detail, fault.place.line if is_document else 0)
            if key not in self._said:
                self._said.add(key)
                news.append(fault)
        return news

    def append(self, exchange: Exchange) -> Iterator[LogEvent]:
        """Yield the entries as the next ones of the first conversation: for a log of one message a line."""
        conversation = self._conversations.get(self._main)
        if conversation is None:
            conversation, events = self._begin(exchange, is_branch=False)
            yield from events
        yield from self._fixed_cost(exchange, conversation)
        for entry in exchange.entries:
            yield from _entry(entry, conversation.turns)

    def close(self) -> Iterator[LogEvent]:
        """End every conversation."""
        for conversation in self._conversations.values():
            yield from conversation.turns.close()

    def _match(self, exchange: Exchange, prints: list[_Print]) -> tuple[_Conversation, list[Entry], list[LogEvent]]:
        entries = list(exchange.entries)
        best, alike = None, 0
        for conversation in self._conversations.values():
            length = _common(conversation, prints)
            if length and (length > alike or best is None):
                best, alike = conversation, length
        if best is None or alike == len(prints) < len(best.prints):
            conversation, events = self._begin(exchange, is_branch=best is not None)
            conversation.prints = prints
            if exchange.continues:
                detail = f"goes on from response {exchange.continues}, which is not in this file"
                events.append(Oddity(place=exchange.place, kind="mid-session start", detail=detail))
            return conversation, entries, events
        known = len(best.prints)
        events = []
        if len(prints) < known:
            best.prints, best.answers = prints, set()
            event = HistoryCompacted(
                place=exchange.place, thread=best.turns.thread, kind="full", replacement=_messages(entries)
            )
            return best, [], best.turns.compact(event)
        if alike < known:
            detail = f"{known - alike} messages from {alike + 1} on were sent differently: their first form counts"
            events.append(Oddity(place=exchange.place, kind="rewritten history", detail=detail))
        best.prints = prints
        return best, entries[known:], events

    def _begin(self, exchange: Exchange, *, is_branch: bool) -> tuple[_Conversation, list[LogEvent]]:
        if self._main not in self._conversations and not exchange.is_aside:
            thread = self._main
        else:
            self._asides += 1
            kind = "branch" if is_branch else "aside" if exchange.is_aside else "conversation"
            thread = f"{kind} {self._asides + (kind == 'conversation')}"
        conversation = self._conversations[thread] = _Conversation(Turns(thread, self._billed))
        started = SessionStarted(
            place=exchange.place,
            session_id=exchange.session_id,
            format=self._format,
            model=exchange.model,
            thread=thread,
        )
        return conversation, [started]

    def _fixed_cost(self, exchange: Exchange, conversation: _Conversation) -> Iterator[LogEvent]:
        fixed = (exchange.system, tuple(f"{tool.name} {tool.description}" for tool in exchange.tools))
        if fixed not in (conversation.fixed, ("", ())):
            conversation.fixed = fixed
            event = FixedCostLogged(
                place=exchange.place, thread=conversation.turns.thread, system=exchange.system, tools=exchange.tools
            )
            yield from conversation.turns.note(event)

    def _response(self, exchange: Exchange, response: Entry, conversation: _Conversation) -> Iterator[LogEvent]:
        turns = conversation.turns
        for call_id, usage in exchange.extra_bills:
            piece = AnswerPiece(place=response.place, call_id=call_id, model=response.model, usage=usage)
            yield from turns.answer(piece)
        if exchange.compaction:
            event = HistoryCompacted(
                place=response.place, thread=turns.thread, kind="full", replacement=exchange.compaction
            )
            yield from turns.compact(event)
        yield from _entry(response, turns)
        if response.blocks:
            conversation.answers.add(len(conversation.prints))
            conversation.prints.append(_fingerprint(response))
        if response.call_id:
            self._by_response[response.call_id] = conversation


def _common(conversation: _Conversation, prints: Sequence[_Print]) -> int:
    """How many messages from the beginning on are alike; a response may come back in another form."""
    length = 0
    for index, (old, new) in enumerate(zip(conversation.prints, prints, strict=False)):
        if old != new and not (index in conversation.answers and new[0] == "answer"):
            break
        length += 1
    return length


def _fingerprint(entry: Entry) -> _Print:
    return entry.side, hash((repr(entry.blocks), *(len(getattr(block, "data", "")) for block in entry.blocks)))


def _entry(entry: Entry, turns: Turns) -> list[LogEvent]:
    if entry.side == "user":
        return turns.user(entry.place, entry.blocks, is_injected=entry.is_injected, in_context=entry.in_context)
    return turns.answer(
        AnswerPiece(
            place=entry.place,
            key=entry.key,
            call_id=entry.call_id,
            model=entry.model,
            blocks=entry.blocks,
            usage=None if entry.usage == Usage() else entry.usage,
            is_reliable=entry.is_reliable,
            in_context=entry.in_context,
        )
    )


def _messages(entries: Sequence[Entry]) -> Messages:
    """The entries as messages; results of a batch that stand apart come together, as they do on Anthropic's wire."""
    messages: list[Message] = []
    for entry in entries:
        if not entry.blocks:
            continue
        message = Message("assistant" if entry.side == "answer" else "user", entry.blocks)
        is_result = all(isinstance(block, ToolResultBlock) for block in entry.blocks)
        if is_result and messages and all(isinstance(block, ToolResultBlock) for block in messages[-1].content):
            messages[-1] = replace(messages[-1], content=messages[-1].content + entry.blocks)
        else:
            messages.append(message)
    return tuple(messages)
