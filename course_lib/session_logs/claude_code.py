"""Reads Claude Code's session files: one JSON object a line, sub-agents inline or in files of their own.

An answer is split over several records that repeat its id and its usage, and results stand between them; a second
copy of each result (`toolUseResult`) and the progress records are for the screen. Compaction leaves the old records in
place, and so does a person who goes back to an earlier prompt: there only the chain of parents tells.

What this leaves out on purpose: going back to a point before a compaction.
Source: chapter 04; files of Claude Code 1.0.17 to 2.1.219, 2025 and 2026.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from course_lib.messages import Block, TextBlock, ToolResultBlock, Usage, user
from course_lib.session_logs.blocks import Faults, anthropic_blocks
from course_lib.session_logs.lines import Piece, Record
from course_lib.session_logs.records import HistoryCompacted, LogEvent, MessageLogged, Oddity, Place, SessionStarted
from course_lib.session_logs.turns import AnswerPiece, Turns
from course_lib.session_logs.values import anthropic_usage, as_list, as_mapping, as_text, dump, optional_count

__all__ = ["NAME", "attachment_text", "read", "recognises"]

NAME = "Claude Code"
_CONVERSATION = {"user", "assistant"}
# Notes of the program for itself or the screen: nothing of it is sent to the model.
_BOOKKEEPING = {
    "agent-name",
    "ai-title",
    "custom-title",
    "file-history-delta",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "summary",
}
_UNSENT_ATTACHMENTS = {"hook_success", "command_permissions", "hook_system_message"}
_ATTACHMENT_TEXTS = ("content", "snippet", "prompt", "addedLines", "addedBlocks", "text", "message")
_INTERRUPTED = "[Request interrupted by user"


def recognises(value: object) -> bool:
    """Whether this is a record of Claude Code."""
    record = as_mapping(value)
    kind = as_text(record.get("type"))
    if kind in _CONVERSATION:
        return "message" in record and ("uuid" in record or "parentUuid" in record or "sessionId" in record)
    if kind in ("system", "attachment", "progress"):
        return "uuid" in record and "sessionId" in record
    if kind == "summary":
        return "leafUuid" in record
    return kind in _BOOKKEEPING and ("sessionId" in record or "snapshot" in record or "messageId" in record)


def read(pieces: Iterable[Piece]) -> Iterator[LogEvent]:
    """Yield the events of the records."""
    reader = _Reader()
    for piece in pieces:
        if isinstance(piece, Oddity):
            yield piece
        elif isinstance(piece.value, dict):
            yield from reader.take(piece)
        else:
            yield Oddity(place=piece.place, kind="broken line", detail="no object")
    yield from reader.close()


class _Reader:
    def __init__(self) -> None:
        self._billed: set[str] = set()
        self._turns: dict[str, Turns] = {}
        self._thread_of: dict[str, str] = {}  # by uuid
        self._session_thread: dict[str, str] = {}
        self._boundaries: dict[str, HistoryCompacted] = {}  # compactions whose summary has not come yet
        self._anchor: dict[str, str] = {}  # of a note in the chain of parents: the message above it
        self._sidechains = 0
        self._last_sidechain = ""
        self._unknown: set[str] = set()
        self._is_first = True

    def take(self, record: Record) -> Iterator[LogEvent]:
        raw, place = record.value, record.place
        kind = raw.get("type")
        if not isinstance(kind, str) or kind not in {*_CONVERSATION, "system", "attachment", *_BOOKKEEPING}:
            if str(kind) not in self._unknown:
                self._unknown.add(str(kind))
                yield Oddity(place=place, kind="unknown record", detail=f"type {kind!r:.60} (said once)")
            return
        uuid = as_text(raw.get("uuid"))
        if uuid and uuid in self._thread_of:
            yield Oddity(place=place, kind="duplicate record", detail=f"uuid {uuid}")
            return
        yield from self._place(raw, place, uuid)
        if kind in _BOOKKEEPING:
            return
        turns = self._turns_of(self._thread_of.get(uuid, "") if uuid else self._thread(raw))
        if kind == "system":
            yield from self._system(raw, place, turns)
            return
        if not raw.get("isCompactSummary"):
            yield from self._overdue_boundary(turns)
        if kind == "assistant":
            yield from self._assistant(raw, place, turns)
        elif kind == "user":
            yield from self._user(raw, place, turns)
        else:
            yield from self._attachment(raw, place, turns)

    def close(self) -> Iterator[LogEvent]:
        for turns in self._turns.values():
            yield from self._overdue_boundary(turns)
            yield from turns.close()

    def _place(self, raw: Mapping[str, Any], place: Place, uuid: str) -> Iterator[LogEvent]:
        """Find the record's thread; say when a session begins, and when it began before the file did."""
        session = as_text(raw.get("sessionId"))
        thread = self._thread(raw)
        if session and session not in self._session_thread and uuid:
            self._session_thread[session] = "" if raw.get("isSidechain") is True else thread
            yield SessionStarted(place=place, session_id=session, format=NAME, thread=self._session_thread[session])
        if uuid:
            parent = raw.get("parentUuid")
            if self._is_first and isinstance(parent, str) and not raw.get("agentId"):
                yield Oddity(place=place, kind="mid-session start", detail=f"parent {parent} is not in this file")
            self._is_first = False
            self._thread_of[uuid] = thread
            if raw.get("type") not in _CONVERSATION and isinstance(parent, str):
                self._anchor[uuid] = self._anchor.get(parent, parent)

    def _thread(self, raw: Mapping[str, Any]) -> str:
        if raw.get("isSidechain") is True:
            return self._sidechain(raw)
        for key in ("parentUuid", "logicalParentUuid"):
            parent = raw.get(key)
            if isinstance(parent, str) and parent in self._thread_of:
                return self._thread_of[parent]
        session = as_text(raw.get("sessionId"))
        return self._session_thread.get(session, session if self._session_thread else "")

    def _sidechain(self, raw: Mapping[str, Any]) -> str:
        if agent := as_text(raw.get("agentId")):
            return agent
        parent = raw.get("parentUuid")
        if isinstance(parent, str) and self._thread_of.get(parent):
            return self._thread_of[parent]
        if parent is None or not self._last_sidechain:
            self._sidechains += 1
            self._last_sidechain = f"sidechain {self._sidechains}"
        return self._last_sidechain

    def _turns_of(self, thread: str) -> Turns:
        if thread not in self._turns:
            self._turns[thread] = Turns(thread, self._billed)
        return self._turns[thread]

    def _assistant(self, raw: Mapping[str, Any], place: Place, turns: Turns) -> Iterator[LogEvent]:
        message = as_mapping(raw.get("message"))
        faults: Faults = []
        blocks = anthropic_blocks(message.get("content"), "assistant", faults)
        message_id = as_text(message.get("id"))
        usage = anthropic_usage(message.get("usage"))
        yield from turns.answer(
            AnswerPiece(
                place=place,
                key=message_id,
                call_id=message_id,
                model=as_text(message.get("model")),
                blocks=blocks,
                usage=None if usage == Usage() else usage,
                is_reliable=message.get("stop_reason") is not None,
                in_context=raw.get("isApiErrorMessage") is not True,
                record_id=as_text(raw.get("uuid")),
            )
        )
        yield from _wrong_types(faults, place)

    def _user(self, raw: Mapping[str, Any], place: Place, turns: Turns) -> Iterator[LogEvent]:
        faults: Faults = []
        blocks = anthropic_blocks(as_mapping(raw.get("message")).get("content"), "user", faults)
        if raw.get("isCompactSummary") is True:
            yield from self._summary(blocks, place, turns)
        else:
            text = blocks[0].text if blocks and isinstance(blocks[0], TextBlock) else ""
            is_injected = raw.get("isMeta") is True or text.startswith(_INTERRUPTED)
            parent = as_text(raw.get("parentUuid"))
            if parent and not is_injected and not any(isinstance(block, ToolResultBlock) for block in blocks):
                yield from turns.rewind(self._anchor.get(parent, parent), place)
            yield from turns.user(
                place,
                blocks,
                is_injected=is_injected,
                in_context=raw.get("isVisibleInTranscriptOnly") is not True,
                record_id=as_text(raw.get("uuid")),
            )
        yield from _wrong_types(faults, place)

    def _summary(self, blocks: tuple[Block, ...], place: Place, turns: Turns) -> Iterator[LogEvent]:
        boundary = self._boundaries.pop(turns.thread, None)
        boundary = boundary or HistoryCompacted(place=place, thread=turns.thread, kind="full")
        yield from turns.compact(replace(boundary, replacement=(user(*blocks, kind="summary"),)))

    def _overdue_boundary(self, turns: Turns) -> Iterator[LogEvent]:
        boundary = self._boundaries.pop(turns.thread, None)
        if boundary is not None:
            yield Oddity(place=boundary.place, kind="unreadable part", detail="no summary follows the compaction")
            yield from turns.compact(boundary)

    def _system(self, raw: Mapping[str, Any], place: Place, turns: Turns) -> Iterator[LogEvent]:
        if raw.get("subtype") == "compact_boundary":
            yield from self._overdue_boundary(turns)
            yield from turns.flush()
            data = as_mapping(raw.get("compactMetadata"))
            preserved = as_mapping(data.get("preservedMessages"))
            kept = as_list(preserved.get("allUuids")) or as_list(preserved.get("uuids"))
            kept = kept or [as_mapping(data.get("preservedSegment")).get("headUuid")]
            self._boundaries[turns.thread] = HistoryCompacted(
                place=place,
                thread=turns.thread,
                kind="full",
                trigger=as_text(data.get("trigger")),
                tokens_before=optional_count(data.get("preTokens")),
                tokens_after=optional_count(data.get("postTokens")),
                kept_messages=turns.kept_messages(uuid for uuid in kept if isinstance(uuid, str)),
            )
        elif raw.get("subtype") == "microcompact_boundary":
            yield from self._micro(raw, place, turns)

    def _micro(self, raw: Mapping[str, Any], place: Place, turns: Turns) -> Iterator[LogEvent]:
        data = as_mapping(raw.get("microcompactMetadata"))
        cleared = frozenset(id_ for id_ in as_list(data.get("compactedToolIds")) if isinstance(id_, str))
        absent = sum(not turns.has_answered(id_) for id_ in cleared)
        if absent:
            detail = f"{absent} of {len(cleared)} cleared results are not in this file"
            yield from turns.note(Oddity(place=place, kind="unreadable part", detail=detail))
        yield from turns.note(
            HistoryCompacted(
                place=place,
                thread=turns.thread,
                kind="micro",
                trigger=as_text(data.get("trigger")),
                tokens_before=optional_count(data.get("preTokens")),
                cleared_tool_use_ids=cleared,
                tokens_saved=optional_count(data.get("tokensSaved")),
            )
        )

    def _attachment(self, raw: Mapping[str, Any], place: Place, turns: Turns) -> Iterator[LogEvent]:
        attachment = as_mapping(raw.get("attachment"))
        kind = as_text(attachment.get("type"))
        text = attachment_text(attachment)
        if text:
            message = MessageLogged(
                place=place,
                thread=turns.thread,
                message=user(text),
                is_injected=kind != "queued_command",
                in_context=kind not in _UNSENT_ATTACHMENTS,
            )
            yield from turns.note(message, as_text(raw.get("uuid")))


def attachment_text(attachment: Mapping[str, Any]) -> str:
    """The text that an attachment brings to the model; "" if it brings none."""
    return "\n".join(text for key in _ATTACHMENT_TEXTS for text in _texts(attachment.get(key)))


def _texts(value: object) -> Iterator[str]:
    """Every text in a value: of a file its path and content, of a list each entry."""
    if isinstance(value, str):
        yield from [value] if value else []
    elif isinstance(value, list):
        for entry in value:
            yield from _texts(entry)
    elif isinstance(value, dict):
        inner = {key: value[key] for key in ("filePath", "path", "file", "text", "content") if key in value}
        if inner:
            for entry in inner.values():
                yield from _texts(entry)
        else:
            yield dump(value)


def _wrong_types(faults: Faults, place: Place) -> Iterator[LogEvent]:
    for fault in faults:
        yield Oddity(place=place, kind="wrong type", detail=fault)
