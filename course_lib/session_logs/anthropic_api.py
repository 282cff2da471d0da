"""Reads logs of Anthropic's Messages API: requests with or without responses, single or one a line (claude-trace).

Where the provider itself compacts, an answer begins with a `compaction` block, and the usage lists the pass that made
it: that pass is a call of its own here.

What this leaves out on purpose: headers; they may hold keys.
Source: chapter 04; Anthropic's API reference, November 2026, and traces of Claude Code.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from course_lib.messages import Block, Messages, RawBlock, TextBlock, Usage, user
from course_lib.session_logs.blocks import Faults, anthropic_blocks
from course_lib.session_logs.chat import item_place
from course_lib.session_logs.exchanges import Entry, Exchange, Exchanges
from course_lib.session_logs.lines import Piece, Record
from course_lib.session_logs.records import LogEvent, Oddity, Place
from course_lib.session_logs.streams import message_of_stream
from course_lib.session_logs.values import anthropic_usage, as_list, as_mapping, as_text, dump, tool_specs

__all__ = ["NAME", "read", "recognises"]

NAME = "Anthropic Messages"
_BLOCKS = {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "document", "compaction"}
_FIELDS = {"system", "stop_sequences", "anthropic_version", "mcp_servers", "context_management"}


def recognises(value: object) -> bool:
    """Whether this is a request, a response, both, or a list of messages, in Anthropic's shape and no other's."""
    if isinstance(value, list):
        return any(_has_own_block(item) for item in value[:50])
    raw = as_mapping(value)
    request, response = _sides(raw)
    if "anthropic" in as_text(as_mapping(raw.get("request")).get("url")):
        return isinstance(request.get("messages"), list)
    if response.get("type") == "message" and "content" in response:
        return True
    messages = request.get("messages")
    if not isinstance(messages, list) or "choices" in response:
        return _has_own_block(raw)
    tools = as_list(request.get("tools"))
    has_own_tool = bool(tools) and "input_schema" in as_mapping(tools[0])
    return has_own_tool or bool(_FIELDS & set(request)) or any(_has_own_block(item) for item in messages[:50])


def _has_own_block(message: object) -> bool:
    message = as_mapping(message)
    parts = as_list(message.get("content")) if "role" in message else []
    return any(as_text(as_mapping(part).get("type")) in _BLOCKS for part in parts)


def _sides(raw: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The bodies of request and response, in whatever envelope they stand."""
    inner = as_mapping(raw.get("request"))
    request = as_mapping(inner.get("body")) or inner or raw
    outer = raw if raw.get("type") == "message" and raw.get("role") == "assistant" else {}
    answer = as_mapping(raw.get("response")) or outer
    return request, as_mapping(answer.get("body")) or answer


def read(pieces: Iterable[Piece]) -> Iterator[LogEvent]:
    """Yield the events of the records."""
    exchanges = Exchanges(NAME)
    for piece in pieces:
        if isinstance(piece, Oddity):
            yield piece
            continue
        faults: list[Oddity] = []
        raw = as_mapping(piece.value)
        request, response = _sides(raw)
        is_list = any("role" in as_mapping(item) for item in as_list(piece.value))
        if is_list or isinstance(request.get("messages"), list) or response:
            exchange = _exchange(piece, faults)
            yield from exchanges.news(faults, is_document=piece.is_document)
            yield from exchanges.take(exchange)
        elif "role" in raw:  # one message a line
            entry = _entry(piece.place, raw, faults)
            yield from faults
            yield from exchanges.append(Exchange(place=piece.place, entries=(entry,)))
        else:
            yield Oddity(place=piece.place, kind="unknown record", detail=f"{dump(piece.value):.60}")
    yield from exchanges.close()


def _exchange(record: Record, faults: list[Oddity]) -> Exchange:
    raw = as_mapping(record.value)
    request, response = _sides(raw)
    streamed = as_text(as_mapping(raw.get("response")).get("body_raw"))
    if streamed:
        response = message_of_stream(streamed)
    items = as_list(record.value if isinstance(record.value, list) else request.get("messages"))
    entries = [_entry(item_place(record, index), item, faults) for index, item in enumerate(items)]
    answer, compaction = _response(response, item_place(record, len(items)), faults)
    tools = tool_specs(request.get("tools"))
    return Exchange(
        place=record.place,
        model=as_text(response.get("model")) or as_text(request.get("model")),
        system=_system(request.get("system")),
        tools=tools,
        entries=tuple(entry for entry in entries if entry.blocks),
        response=answer,
        extra_bills=tuple(_compaction_bills(response)),
        # A traced program also asks for titles and the like, without tools.
        is_aside="url" in as_mapping(raw.get("request")) and not tools,
        compaction=compaction,
    )


def _entry(place: Place, item: object, faults: list[Oddity]) -> Entry:
    message = as_mapping(item)
    role = message.get("role")
    found: Faults = []
    if role not in ("user", "assistant"):
        found.append(f"no message: {dump(item):.60}")
    blocks = anthropic_blocks(message.get("content"), as_text(role) or "user", found)
    faults += [Oddity(place=place, kind="wrong type", detail=fault) for fault in found]
    return Entry(place=place, side="answer" if role == "assistant" else "user", blocks=blocks)


def _response(response: Mapping[str, Any], place: Place, faults: list[Oddity]) -> tuple[Entry | None, Messages]:
    """The answer, and the summary that it begins with where the provider compacted."""
    if "content" not in response and "usage" not in response:
        return None, ()
    found: Faults = []
    blocks = anthropic_blocks(response.get("content"), "assistant", found)
    faults += [Oddity(place=place, kind="wrong type", detail=fault) for fault in found]
    compaction: Messages = ()
    if blocks and _is_compaction(blocks[0]):
        compaction = (user(*blocks[:1], kind="summary"),)
        blocks = blocks[1:]
    entry = Entry(
        place=place,
        side="answer",
        blocks=blocks,
        usage=anthropic_usage(response.get("usage")),
        call_id=as_text(response.get("id")),
        model=as_text(response.get("model")),
        is_reliable=response.get("stop_reason") is not None,
    )
    return entry, compaction


def _is_compaction(block: Block) -> bool:
    return isinstance(block, RawBlock) and block.raw.get("type") == "compaction"


def _compaction_bills(response: Mapping[str, Any]) -> Iterator[tuple[str, Usage]]:
    """The passes that made a summary; the usage on top is only that of the last pass."""
    passes = as_list(as_mapping(response.get("usage")).get("iterations"))
    for number, entry in enumerate(passes, 1):
        if as_mapping(entry).get("type") == "compaction":
            yield f"{as_text(response.get('id'))} pass {number}", anthropic_usage(entry)


def _system(raw: object) -> str:
    if isinstance(raw, str):
        return raw
    return "\n".join(b.text for b in anthropic_blocks(raw, "user", []) if isinstance(b, TextBlock))
