"""A conversation in the shape of Anthropic's Messages API (chapter 01).

The course's own values have this shape already, so the way there and back is short and loses nothing: a block that has
no class here is kept word for word in a `RawBlock`.

    >>> from course_lib.messages import ToolUseBlock, assistant
    >>> to_anthropic((assistant(ToolUseBlock("c1", "ls", {"path": "."})),))[0]["content"]
    [{'type': 'tool_use', 'id': 'c1', 'name': 'ls', 'input': {'path': '.'}}]

What this leaves out on purpose: keys, addresses, models, cache marks: `course_lib.providers` adds them.
Source: chapter 01; Anthropic's API reference, as its Python SDK 2.14 of November 2026 types it.
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from types import NoneType
from typing import Any, TypeAlias

from course_lib.errors import MessageFormatError
from course_lib.messages import (
    Block,
    DocumentBlock,
    ImageBlock,
    Message,
    Messages,
    RawBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolSpec,
    ToolUseBlock,
)

__all__ = ["Record", "as_record", "from_anthropic", "record_field", "to_anthropic", "tools_to_anthropic"]

Record: TypeAlias = dict[str, Any]


def to_anthropic(messages: Sequence[Message]) -> list[Record]:
    """Return the messages as the Messages API takes them."""
    return [
        {"role": message.role, "content": [_to_anthropic_block(b) for b in message.content]} for message in messages
    ]


def _to_anthropic_block(block: Block) -> Record:
    match block:
        case TextBlock(text):
            return {"type": "text", "text": text}
        case ThinkingBlock(thinking, signature):
            return {"type": "thinking", "thinking": thinking, "signature": signature}
        case ToolUseBlock(id_, name, input_):
            return {"type": "tool_use", "id": id_, "name": name, "input": copy.deepcopy(dict(input_))}
        case ToolResultBlock(tool_use_id, content, is_error):
            inner = [_to_anthropic_block(b) for b in content]
            record: Record = {"type": "tool_result", "tool_use_id": tool_use_id, "content": inner}
            return {**record, "is_error": True} if is_error else record
        case ImageBlock():
            return {"type": "image", "source": _to_anthropic_source(block)}
        case DocumentBlock():
            record = {"type": "document", "source": _to_anthropic_source(block)}
            return {**record, "title": block.title} if block.title else record
        case RawBlock(raw):
            return copy.deepcopy(dict(raw))


def _to_anthropic_source(block: ImageBlock | DocumentBlock) -> Record:
    if block.url:
        return {"type": "url", "url": block.url}
    kind = "text" if block.media_type == "text/plain" else "base64"
    return {"type": kind, "media_type": block.media_type, "data": block.data}


def from_anthropic(records: Iterable[Mapping[str, Any]]) -> Messages:
    """Return the messages in Messages API records.

    Raises:
        MessageFormatError: a record that is no message, with its index.
    """
    return tuple(_from_anthropic_message(record, f"message {index}") for index, record in enumerate(records))


def _from_anthropic_message(record: Mapping[str, Any], where: str) -> Message:
    role = record_field(record, "role", where, (str,))
    content = _from_anthropic_content(record_field(record, "content", where, (str, list, tuple)), where)
    try:
        return Message(role, content)
    except MessageFormatError as error:
        raise MessageFormatError(f"{where}: {error}") from None


def _from_anthropic_content(content: str | Iterable[str | Mapping[str, Any]], where: str) -> tuple[Block, ...]:
    parts = [content] if isinstance(content, str) else content
    return tuple(_from_anthropic_block(part, where) for part in parts)


def _from_anthropic_block(record: str | Mapping[str, Any], where: str) -> Block:
    if isinstance(record, str):
        return TextBlock(record)
    said = {key for key, value in as_record(record, where).items() if value is not None} - {"cache_control"}
    match record.get("type"):
        case "text" if said <= {"type", "text"}:
            return TextBlock(record_field(record, "text", where, (str,)))
        case "thinking":
            signature = record_field(record, "signature", where, (str, NoneType)) or ""
            return ThinkingBlock(record_field(record, "thinking", where, (str,)), signature)
        case "tool_use":  # never a RawBlock, whatever else it says: its result must find its call
            id_, name = (record_field(record, key, where, (str,)) for key in ("id", "name"))
            return ToolUseBlock(id_, name, record_field(record, "input", where, (Mapping,)))
        case "tool_result":
            content = record_field(record, "content", where, (str, list, tuple, NoneType)) or ()
            inner = _from_anthropic_content(content, where)
            id_ = record_field(record, "tool_use_id", where, (str,))
            return ToolResultBlock(id_, inner, bool(record.get("is_error")))
        case "image" if _plain_source(record):
            return ImageBlock(**_from_anthropic_source(record["source"], where))
        case "document" if _plain_source(record) and said <= {"type", "source", "title"}:
            title = record_field(record, "title", where, (str, NoneType)) or ""
            return DocumentBlock(**_from_anthropic_source(record["source"], where), title=title)
        case str():
            return RawBlock(record)
    raise MessageFormatError(f"{where}: a content block without a type: {str(record)[:80]}")


def _plain_source(record: Mapping[str, Any]) -> bool:
    source = record.get("source")
    return isinstance(source, Mapping) and source.get("type") in ("base64", "url", "text")


def _from_anthropic_source(source: Mapping[str, Any], where: str) -> dict[str, str]:
    return {key: record_field(source, key, where, (str, NoneType)) or "" for key in ("media_type", "data", "url")}


def tools_to_anthropic(tools: Iterable[ToolSpec]) -> list[Record]:
    """Return the tool definitions as the Messages API takes them."""
    return [{"name": t.name, "description": t.description, "input_schema": dict(t.input_schema)} for t in tools]


def as_record(record: object, where: str) -> Mapping[str, Any]:
    """Return the record if it is an object; raise `MessageFormatError` that says where it stands if not."""
    if not isinstance(record, Mapping):
        raise MessageFormatError(f"{where}: expected an object, got {type(record).__name__}: {str(record)[:80]}")
    return record


def record_field(record: object, key: str, where: str, types: tuple[type, ...]) -> Any:
    """Return a field of the record that must have one of the types; raise `MessageFormatError` if it has not."""
    value = as_record(record, where).get(key)
    if not isinstance(value, types):
        expected = " or ".join(t.__name__ for t in types)
        raise MessageFormatError(f"{where}: {key!r} is {str(value)[:80]!r}, expected {expected}")
    return value
