"""Reads Gemini CLI's chats: the old ones are one JSON document, the new ones one record a line.

A call and its result stand in one message. In the new files a message is written again when its calls are done: the
last writing of an id counts, at the place of the first. Lines with `$set` only change the header.

What this leaves out on purpose: what tools showed on the screen (`resultDisplay`).
Source: chapter 04; files of Gemini CLI of April 2026.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from course_lib.messages import Block, TextBlock, ThinkingBlock, Usage
from course_lib.session_logs.blocks import Faults, call_block, content_blocks, result_block
from course_lib.session_logs.lines import Piece
from course_lib.session_logs.records import LogEvent, Oddity, Place, SessionStarted
from course_lib.session_logs.turns import AnswerPiece, Turns
from course_lib.session_logs.values import as_list, as_mapping, as_text, dump, gemini_usage

__all__ = ["NAME", "read", "recognises"]

NAME = "Gemini CLI"
_NOTES = {"info", "warning", "error"}  # for the person, not for the model


def recognises(value: object) -> bool:
    """Whether this is a chat, a header, a message or a patch of Gemini CLI."""
    record = as_mapping(value)
    if "sessionId" in record and "projectHash" in record:
        return True
    return "id" in record and record.get("type") == "gemini" and "content" in record


def read(pieces: Iterable[Piece]) -> Iterator[LogEvent]:
    """Yield the events of the records."""
    reader = _Reader()
    for piece in pieces:
        if isinstance(piece, Oddity):
            yield piece
            continue
        raw = as_mapping(piece.value)
        if "sessionId" in raw:
            yield from reader.header(raw, piece.place)
            entries = as_list(raw.get("messages"))
        elif "$set" in raw:
            entries = as_list(as_mapping(raw["$set"]).get("messages"))
        else:
            entries = [raw]
        for index, entry in enumerate(entries):
            place = Place(piece.place.file, index + 1) if piece.is_document and "messages" in raw else piece.place
            yield from reader.take(entry, place)
    yield from reader.close()


class _Reader:
    def __init__(self) -> None:
        self._turns = Turns()
        self._session = ""
        self._sessions = 0
        self._held: tuple[Mapping[str, Any], Place] | None = None  # the last message: it may be written again
        self._calls: dict[str, int] = {}  # how many calls each message had when it was read

    def header(self, raw: Mapping[str, Any], place: Place) -> Iterator[LogEvent]:
        session_id = as_text(raw.get("sessionId"))
        if self._sessions and session_id == self._session:
            return
        if self._sessions:
            yield from self.close()
            self._turns = Turns(session_id or f"session {self._sessions + 1}")
        self._session = session_id
        self._sessions += 1
        yield SessionStarted(place=place, session_id=session_id, format=NAME, thread=self._turns.thread)

    def take(self, entry: object, place: Place) -> Iterator[LogEvent]:
        raw = as_mapping(entry)
        if not isinstance(raw.get("type"), str):
            yield Oddity(place=place, kind="unknown record", detail=f"{dump(entry):.60}")
            return
        message_id = as_text(raw.get("id"))
        if self._held and message_id and message_id == as_text(self._held[0].get("id")):
            self._held = (raw, self._held[1])
            return
        yield from self._release()
        if message_id and message_id in self._calls:
            yield Oddity(place=place, kind="duplicate record", detail=f"id {message_id}")
            calls = as_list(raw.get("toolCalls"))[self._calls[message_id] :]
            if not calls:
                return
            # Written again after other messages: only the calls that it has now are news.
            raw = {"id": message_id, "type": raw["type"], "model": raw.get("model"), "toolCalls": calls}
        self._held = (raw, place)

    def close(self) -> Iterator[LogEvent]:
        yield from self._release()
        yield from self._turns.close()

    def _release(self) -> Iterator[LogEvent]:
        held, self._held = self._held, None
        if held is None:
            return
        raw, place = held
        if message_id := as_text(raw.get("id")):
            calls = len(as_list(raw.get("toolCalls")))
            self._calls[message_id] = self._calls.get(message_id, 0) + calls
        faults: Faults = []
        kind = raw["type"]
        if kind == "gemini":
            yield from self._answer(raw, place, faults)
        elif kind == "user" or kind in _NOTES:
            blocks = content_blocks(raw.get("content"), faults)
            yield from self._turns.user(place, blocks, is_injected=kind != "user", in_context=kind == "user")
        else:
            yield Oddity(place=place, kind="unknown record", detail=f"type {kind!r:.60}")
        yield from (Oddity(place=place, kind="wrong type", detail=fault) for fault in faults)

    def _answer(self, raw: Mapping[str, Any], place: Place, faults: Faults) -> Iterator[LogEvent]:
        thoughts = [
            ThinkingBlock("\n".join(filter(None, (as_text(t.get("subject")), as_text(t.get("description"))))))
            for t in map(as_mapping, as_list(raw.get("thoughts")))
        ]
        calls = [as_mapping(call) for call in as_list(raw.get("toolCalls"))]
        blocks: list[Block] = [*thoughts, *content_blocks(raw.get("content"), faults)]
        blocks += [call_block(call.get("id"), call.get("name"), call.get("args"), faults) for call in calls]
        usage = gemini_usage(raw.get("tokens"))
        yield from self._turns.answer(
            AnswerPiece(
                place=place,
                call_id=as_text(raw.get("id")),
                model=as_text(raw.get("model")),
                blocks=tuple(blocks),
                usage=None if usage == Usage() else usage,
            )
        )
        for call in calls:
            has_failed = call.get("status") in ("error", "cancelled")
            if has_failed or call.get("result") is not None:
                yield from self._turns.user(place, (result_block(call.get("id"), _result(call), has_failed, faults),))


def _result(call: Mapping[str, Any]) -> tuple[Block, ...]:
    """What the model was told: the output or the error of each response, and parts beside it (an image)."""
    blocks: list[Block] = []
    result = call.get("result")
    for part in result if isinstance(result, list) else [result]:
        answer = as_mapping(as_mapping(part).get("functionResponse"))
        response = answer.get("response")
        said = as_mapping(response)
        text = next((said[key] for key in ("output", "error") if key in said), response if answer else part)
        if text is not None:
            blocks.append(TextBlock(text if isinstance(text, str) else dump(text)))
    return tuple(blocks)
