"""Reads Pi's session files: a header, then one message or note a line.

A compaction names the line (from 0) of the first message that it kept, so the conversation after it can be rebuilt
exactly. An answer that was broken off has a usage of zeros.

What this leaves out on purpose: branches (`branchedFrom`): they are files of their own.
Source: chapter 04; a file of December 2025.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from course_lib.messages import Block, TextBlock, ThinkingBlock, Usage, user
from course_lib.session_logs.blocks import Faults, call_block, content_blocks, raw_block, result_block
from course_lib.session_logs.lines import Piece, Record
from course_lib.session_logs.records import HistoryCompacted, LogEvent, Oddity, Place, SessionStarted
from course_lib.session_logs.turns import AnswerPiece, Turns
from course_lib.session_logs.values import as_list, as_mapping, as_text, dump, optional_count, pi_usage

__all__ = ["NAME", "read", "recognises"]

NAME = "Pi"
_BOOKKEEPING = {"model_change", "thinking_level_change", "custom", "label", "session_info"}


def recognises(value: object) -> bool:
    """Whether this is a line of a Pi session."""
    record = as_mapping(value)
    kind = record.get("type")
    if kind == "session":
        return "id" in record and "cwd" in record
    if kind == "message":
        return "role" in as_mapping(record.get("message"))
    return kind == "compaction" and "tokensBefore" in record


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
        self._sessions = 0

    def take(self, record: Record) -> Iterator[LogEvent]:
        raw, place = as_mapping(record.value), record.place
        kind = raw.get("type")
        if kind == "session":
            yield from self._session(raw, place)
        elif kind == "message":
            yield from self._message(as_mapping(raw.get("message")), place)
        elif kind == "compaction":
            yield from self._compaction(raw, place)
        elif not isinstance(kind, str) or kind not in _BOOKKEEPING:
            yield Oddity(place=place, kind="unknown record", detail=f"type {kind!r:.60}")

    def close(self) -> Iterator[LogEvent]:
        yield from self._turns.close()

    def _session(self, raw: Mapping[str, Any], place: Place) -> Iterator[LogEvent]:
        session_id = as_text(raw.get("id"))
        if self._sessions:
            yield from self._turns.close()
            self._turns = Turns(session_id or f"session {self._sessions + 1}")
        self._sessions += 1
        yield SessionStarted(
            place=place,
            session_id=session_id,
            format=NAME,
            model=as_text(raw.get("modelId")),
            thread=self._turns.thread,
        )

    def _message(self, message: Mapping[str, Any], place: Place) -> Iterator[LogEvent]:
        faults: Faults = []
        role = message.get("role")
        if role == "assistant":
            yield from self._answer(message, place, faults)
        elif role == "toolResult":
            content = content_blocks(message.get("content"), faults)
            result = result_block(message.get("toolCallId"), content, message.get("isError"), faults)
            yield from self._turns.user(place, (result,), record_id=str(place.line))
        elif role == "bashExecution":
            text = f"$ {as_text(message.get('command'))}\n{as_text(message.get('output'))}"
            yield from self._turns.user(place, (TextBlock(text),), is_injected=True, record_id=str(place.line))
        else:
            if role != "user":
                faults.append(f"a message of role {dump(role):.40}")
            blocks = content_blocks(message.get("content"), faults)
            yield from self._turns.user(place, blocks, is_injected=role != "user", record_id=str(place.line))
        yield from (Oddity(place=place, kind="wrong type", detail=fault) for fault in faults)

    def _answer(self, message: Mapping[str, Any], place: Place, faults: Faults) -> Iterator[LogEvent]:
        content = message.get("content")
        parts = as_list(content) if isinstance(content, list) else [content]
        blocks = tuple(block for part in parts for block in _blocks(part, faults))
        usage = pi_usage(message.get("usage"))
        yield from self._turns.answer(
            AnswerPiece(
                place=place,
                model=as_text(message.get("model")),
                blocks=blocks,
                usage=None if usage == Usage() else usage,
                is_reliable=message.get("stopReason") not in ("aborted", "error"),
                record_id=str(place.line),
            )
        )

    def _compaction(self, raw: Mapping[str, Any], place: Place) -> Iterator[LogEvent]:
        yield from self._turns.flush()
        first_kept = optional_count(raw.get("firstKeptEntryIndex"))
        kept = 0
        if first_kept is not None:
            # The entry named may be a note: the first message from there on counts.
            kept = self._turns.kept_messages(str(line) for line in range(first_kept + 1, place.line))
            if not kept and first_kept + 1 < place.line:
                yield Oddity(place=place, kind="unreadable part", detail=f"entry {first_kept} to be kept is not there")
        summary = as_text(raw.get("summary"))
        yield from self._turns.compact(
            HistoryCompacted(
                place=place,
                thread=self._turns.thread,
                kind="full",
                tokens_before=optional_count(raw.get("tokensBefore")),
                replacement=(user(summary, kind="summary"),) if summary else (),
                kept_messages=kept,
            )
        )


def _blocks(part: object, faults: Faults) -> tuple[Block, ...]:
    if isinstance(part, dict) and part.get("type") == "toolCall":
        return (call_block(part.get("id"), part.get("name"), part.get("arguments"), faults),)
    if isinstance(part, dict) and part.get("type") == "thinking":
        if isinstance(part.get("thinking"), str):
            return (ThinkingBlock(part["thinking"], as_text(part.get("thinkingSignature"))),)
        faults.append("a thinking block without its text")
        return (raw_block(part),)
    return content_blocks(part, faults)
