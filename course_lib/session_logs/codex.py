"""Reads the rollout files of OpenAI's Codex CLI: items of the Responses API, wrapped, with notes for the screen.

What an answer cost stands in a `token_count` event behind its items. Such an event may be empty, repeat the one before,
or say 0 after a compaction; only a new total is a new call. Its input includes the cached part, which is taken out.

What this leaves out on purpose: the events that repeat items for the screen.
Source: chapter 04; files of Codex CLI 0.39 to 0.146, 2025 and 2026.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from course_lib.messages import Message, Messages, Usage, user
from course_lib.session_logs.blocks import Faults
from course_lib.session_logs.items import Item, read_item
from course_lib.session_logs.lines import Piece, Record
from course_lib.session_logs.records import (
    CallBilled,
    FixedCostLogged,
    HistoryCompacted,
    LogEvent,
    Oddity,
    Place,
    SessionStarted,
)
from course_lib.session_logs.turns import AnswerPiece, Turns
from course_lib.session_logs.values import as_list, as_mapping, as_text, openai_usage, tool_specs

__all__ = ["NAME", "read", "recognises"]

NAME = "Codex CLI"
_KNOWN = {"session_meta", "turn_context", "response_item", "event_msg", "compacted"}
_BOOKKEEPING = {"world_state", "inter_agent_communication_metadata"}


def recognises(value: object) -> bool:
    """Whether this is a line of a rollout."""
    record = as_mapping(value)
    return isinstance(record.get("payload"), dict) and as_text(record.get("type")) in (_KNOWN | _BOOKKEEPING)


def read(pieces: Iterable[Piece]) -> Iterator[LogEvent]:
    """Yield the events of the records."""
    reader = _Reader()
    for piece in pieces:
        if isinstance(piece, Oddity):
            yield piece
        else:
            yield from reader.take(piece)
    yield from reader.close()


class _Reader:
    def __init__(self) -> None:
        self._turns = Turns()
        self._sessions: set[str] = set()
        self._model = ""
        self._responses = 0
        self._is_billed = False  # the open answer has its usage: what comes next is another answer
        self._total: Usage | None = None
        self._said: set[str] = set()

    def take(self, record: Record) -> Iterator[LogEvent]:
        raw = as_mapping(record.value)
        payload = as_mapping(raw.get("payload"))
        kind = raw.get("type")
        if kind == "response_item":
            yield from self._item(payload, record.place)
        elif kind == "event_msg":
            if payload.get("type") == "token_count":
                yield from self._token_count(payload, record.place)
        elif kind == "compacted":
            yield from self._compacted(payload, record.place)
        elif kind == "session_meta":
            yield from self._session(payload, record.place)
        elif kind == "turn_context":
            self._model = as_text(payload.get("model")) or self._model
        elif not isinstance(kind, str) or kind not in _BOOKKEEPING:
            yield from self._say_once(record.place, "unknown record", f"type {kind!r:.60}")

    def close(self) -> Iterator[LogEvent]:
        yield from self._turns.close()

    def _session(self, payload: Mapping[str, Any], place: Place) -> Iterator[LogEvent]:
        session_id = as_text(payload.get("id"))
        if session_id in self._sessions:
            return  # resumed: the same session goes on
        self._sessions.add(session_id)
        yield SessionStarted(place=place, session_id=session_id, format=NAME, model=self._model)
        if parent := as_text(payload.get("forked_from_id")):
            detail = f"a fork: the calls of session {parent} are repeated here"
            yield Oddity(place=place, kind="duplicate record", detail=detail)
        instructions = payload.get("base_instructions")
        system = as_text(as_mapping(instructions).get("text")) or as_text(instructions)
        tools = tool_specs(payload.get("dynamic_tools"))
        if system or tools:
            yield FixedCostLogged(place=place, thread="", system=system, tools=tools)

    def _item(self, payload: Mapping[str, Any], place: Place) -> Iterator[LogEvent]:
        faults: Faults = []
        item = read_item(dict(payload), faults)
        if item.is_unknown:
            yield from self._say_once(place, "unknown record", f"item {payload.get('type')!r:.60}")
        if item.is_unreadable:
            yield from self._say_once(place, "unreadable part", f"{payload.get('type')} without readable text")
        if item.side == "answer":
            yield from self._answer(item, place)
        elif item.side == "user":
            yield from self._turns.user(place, item.blocks, is_injected=item.is_injected)
        yield from (Oddity(place=place, kind="wrong type", detail=fault) for fault in faults)

    def _answer(self, item: Item, place: Place) -> Iterator[LogEvent]:
        if self._is_billed or (self._turns.has_results and not self._turns.is_waiting):
            self._responses += 1
            self._is_billed = False
        key = f"response {self._responses}"
        yield from self._turns.answer(AnswerPiece(place=place, key=key, model=self._model, blocks=item.blocks))

    def _token_count(self, payload: Mapping[str, Any], place: Place) -> Iterator[LogEvent]:
        info = as_mapping(payload.get("info"))
        total = openai_usage(info.get("total_token_usage")) if "total_token_usage" in info else None
        last = info.get("last_token_usage")
        usage = openai_usage(last) if isinstance(last, dict) else _difference(total, self._total)
        is_repeated = total is not None and total == self._total
        self._total = total or self._total
        if is_repeated or usage == Usage():
            return
        if not self._turns.bill(usage, place):  # a call whose answer is not in the log
            event = CallBilled(place=place, thread="", call_id="", model=self._model, usage=usage)
            yield from self._turns.note(event)
        self._is_billed = True

    def _compacted(self, payload: Mapping[str, Any], place: Place) -> Iterator[LogEvent]:
        faults: Faults = []
        replacement = _messages(as_list(payload.get("replacement_history")), faults)
        summary = as_text(payload.get("message"))
        if summary:
            replacement = (*replacement, user(summary, kind="summary"))
        else:
            yield Oddity(place=place, kind="unreadable part", detail="the summary of a compaction is not in the log")
        self._is_billed = True
        yield from self._turns.compact(HistoryCompacted(place=place, thread="", kind="full", replacement=replacement))
        yield from (Oddity(place=place, kind="wrong type", detail=fault) for fault in faults)

    def _say_once(self, place: Place, kind: Any, detail: str) -> Iterator[LogEvent]:
        if detail not in self._said:
            self._said.add(detail)
            yield Oddity(place=place, kind=kind, detail=f"{detail} (said once)")


def _difference(total: Usage | None, before: Usage | None) -> Usage:
    """What one call took, from two totals."""
    now, then = total or Usage(), before or Usage()
    names = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
    return Usage(*(max(0, getattr(now, name) - getattr(then, name)) for name in names))


def _messages(items: list[Any], faults: Faults) -> Messages:
    """The messages of a replaced history; nothing in it is paired or billed."""
    messages = []
    for value in items:
        item = read_item(value, faults)
        if item.blocks:
            messages.append(Message("assistant" if item.side == "answer" else "user", item.blocks))
    return tuple(messages)
