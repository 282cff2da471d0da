"""Reads logs of OpenAI's Chat Completions: lists of messages, requests with their responses, one of them or many.

What this leaves out on purpose: streamed chunks; a log holds whole responses.
Source: chapter 04; OpenAI's API reference, November 2026, and logs of programs that use its shape (LiteLLM, DeepSeek).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from course_lib.messages import TextBlock
from course_lib.session_logs.blocks import Faults, chat_blocks
from course_lib.session_logs.exchanges import Entry, Exchange, Exchanges
from course_lib.session_logs.lines import Piece, Record
from course_lib.session_logs.records import LogEvent, Oddity, Place
from course_lib.session_logs.values import as_list, as_mapping, as_text, dump, openai_usage, tool_specs

__all__ = ["NAME", "chat_exchange", "item_place", "read", "recognises", "split_messages"]

NAME = "OpenAI Chat Completions"
_ROLES = {"system", "developer", "user", "assistant", "tool", "function"}


def recognises(value: object) -> bool:
    """Whether this is a list of messages, a message, a request, a response, or a request with its response."""
    if isinstance(value, list):
        return bool(value) and is_message(value[0])
    record = as_mapping(value)
    inner = as_mapping(record.get("request"))
    request = as_mapping(inner.get("body")) or inner or record
    messages = request.get("messages")
    if isinstance(messages, list):
        return not messages or is_message(messages[0])
    return is_message(record) or isinstance(record.get("choices"), list)


def is_message(value: object) -> bool:
    """Whether this is a message in the shape of Chat Completions (or of Anthropic, which is asked for first)."""
    record = as_mapping(value)
    return as_text(record.get("role")) in _ROLES and bool({"content", "tool_calls"} & set(record))


def read(pieces: Iterable[Piece]) -> Iterator[LogEvent]:
    """Yield the events of the records."""
    exchanges = Exchanges(NAME)
    is_begun = False  # whether a line was one message already
    for piece in pieces:
        if isinstance(piece, Oddity):
            yield piece
        elif is_message(piece.value):
            yield from _loose(piece, exchanges, is_begun)
            is_begun = True
        elif recognises(piece.value):
            yield from take_exchange(piece, exchanges)
        else:
            yield Oddity(place=piece.place, kind="unknown record", detail=f"{dump(piece.value):.60}")
    yield from exchanges.close()


def _loose(record: Record, exchanges: Exchanges, is_begun: bool) -> Iterator[LogEvent]:
    """One message a line; a system prompt that comes late is injected text."""
    faults: list[Oddity] = []
    system, entries = split_messages([(record.place, record.value)], faults)
    if system and is_begun:
        entries = (Entry(place=record.place, side="user", blocks=(TextBlock(system),), is_injected=True),)
        system = ""
    yield from faults
    yield from exchanges.append(Exchange(place=record.place, system=system, entries=entries))


def take_exchange(record: Record, exchanges: Exchanges) -> Iterator[LogEvent]:
    """Yield what is new in one record."""
    faults: list[Oddity] = []
    exchange = chat_exchange(record, faults)
    yield from exchanges.news(faults, is_document=record.is_document)
    yield from exchanges.take(exchange)


def item_place(record: Record, index: int) -> Place:
    """Where message `index` (from 0) stands: its number in a document, its line in a log of lines."""
    return Place(record.place.file, index + 1) if record.is_document else record.place


def chat_exchange(record: Record, faults: list[Oddity]) -> Exchange:
    """The request and the response of one record."""
    raw = as_mapping(record.value)
    inner = as_mapping(raw.get("request"))
    request = as_mapping(inner.get("body")) or inner or raw
    response = as_mapping(raw.get("response")) or (raw if isinstance(raw.get("choices"), list) else {})
    response = as_mapping(response.get("body")) or response
    items = as_list(record.value if isinstance(record.value, list) else request.get("messages"))
    system, entries = split_messages([(item_place(record, i), item) for i, item in enumerate(items)], faults)
    model = as_text(response.get("model")) or as_text(request.get("model"))
    tools = tool_specs(request.get("tools")) or tool_specs(as_mapping(request.get("kwargs")).get("tools"))
    return Exchange(
        place=record.place,
        model=model,
        system=system,
        tools=tools,
        entries=entries,
        response=_response(response, item_place(record, len(items)), model, faults),
    )


def _response(response: Mapping[str, Any], place: Place, model: str, faults: list[Oddity]) -> Entry | None:
    choices = as_list(response.get("choices"))
    if not choices and "usage" not in response:
        return None
    if len(choices) > 1:
        faults.append(Oddity(place=place, kind="duplicate record", detail=f"{len(choices)} choices: the first counts"))
    choice = as_mapping(choices[0]) if choices else {}
    found: Faults = []
    message = {**as_mapping(choice.get("message")), "role": "assistant"}
    entry = Entry(
        place=place,
        side="answer",
        blocks=chat_blocks(message, found),
        usage=openai_usage(response.get("usage")),
        call_id=as_text(response.get("id")),
        model=model,
    )
    faults += [Oddity(place=place, kind="wrong type", detail=fault) for fault in found]
    return entry


def split_messages(items: Iterable[tuple[Place, Any]], faults: list[Oddity]) -> tuple[str, tuple[Entry, ...]]:
    """The system prompt, and the messages after it; what is no message is named among the faults."""
    system: list[str] = []
    entries: list[Entry] = []
    for place, item in items:
        record = as_mapping(item)
        role = record.get("role")
        found: Faults = []
        blocks = chat_blocks({**record}, found)
        faults += [Oddity(place=place, kind="wrong type", detail=fault) for fault in found]
        if not isinstance(role, str) or role not in _ROLES:
            faults.append(Oddity(place=place, kind="wrong type", detail=f"no message: {dump(item):.60}"))
        is_system = role in ("system", "developer")
        if is_system and not entries:
            system += [block.text for block in blocks if isinstance(block, TextBlock)]
        elif role == "assistant":
            response = as_mapping(as_mapping(record.get("extra")).get("response"))
            raw_usage = record.get("usage") or response.get("usage")
            entries.append(
                Entry(
                    place=place,
                    side="answer",
                    blocks=blocks,
                    usage=openai_usage(raw_usage) if raw_usage else None,
                    call_id=as_text(response.get("id")),
                    model=as_text(response.get("model")),
                )
            )
        elif blocks:
            injected = is_system or record.get("is_demo") is True
            entries.append(Entry(place=place, side="user", blocks=blocks, is_injected=injected))
    return "\n".join(system), tuple(entries)
