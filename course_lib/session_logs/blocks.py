"""From a log's content to the course's blocks, whatever state the content is in.

The core's converters do the work; where they refuse (a block without its fields, a block in the wrong role), the block
is kept word for word as a `RawBlock` and the fault is named, so that one broken block never costs a message.

What this leaves out on purpose: the providers' shapes themselves: see `wire_anthropic` and `wire_openai`.
Source: chapter 04.
"""

from collections.abc import Callable
from typing import Any

from course_lib.errors import MessageFormatError
from course_lib.messages import Block, ImageBlock, RawBlock, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock
from course_lib.session_logs.values import as_list, as_mapping, as_text, dump
from course_lib.wire_anthropic import from_anthropic
from course_lib.wire_openai import ERROR_MARK, INVALID_JSON, from_openai, parse_arguments

__all__ = ["Faults", "anthropic_blocks", "call_block", "chat_blocks", "content_blocks", "raw_block", "result_block"]

Faults = list[str]  # what was wrong with the content, in words
_PLAIN_TEXT = {"text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal"}


def raw_block(value: object) -> Block:
    """Anything, word for word."""
    try:
        return RawBlock(value if isinstance(value, dict) else {"type": "unknown", "value": value})
    except MessageFormatError:
        return TextBlock(dump(value))


def call_block(call_id: object, name: object, arguments: object, faults: Faults) -> ToolUseBlock:
    """A call; arguments that are no JSON object are kept under `INVALID_JSON`."""
    if not (isinstance(call_id, str) and isinstance(name, str)):
        faults.append(f"a call with id {call_id!r:.40} and name {name!r:.40}")
    id_, name = as_text(call_id), as_text(name)
    if isinstance(arguments, list):
        arguments = dump(arguments)
    try:
        return ToolUseBlock(id_, name, parse_arguments(arguments))
    except MessageFormatError:
        faults.append(f"the arguments of call {id_!r} are nested too deeply")
        return ToolUseBlock(id_, name, {INVALID_JSON: dump(arguments)})


def result_block(call_id: object, content: tuple[Block, ...], is_error: object, faults: Faults) -> ToolResultBlock:
    """A result; a missing id is said, and stays empty."""
    if not isinstance(call_id, str):
        faults.append(f"a result for call id {call_id!r:.40}")
    return ToolResultBlock(as_text(call_id), content, is_error is True)


def anthropic_blocks(content: object, role: str, faults: Faults) -> tuple[Block, ...]:
    """The blocks of a message in Anthropic's shape."""
    return _each(content, lambda block: _anthropic_block(block, role, faults), faults)


def _anthropic_block(block: dict[str, Any], role: str, faults: Faults) -> Block:
    kind = block.get("type")
    if kind == "tool_use" and role == "assistant":
        return call_block(block.get("id"), block.get("name"), block.get("input"), faults)
    if kind == "tool_result" and role == "user":
        inner = _each(block.get("content"), lambda part: _anthropic_block(part, "result", faults), faults)
        return result_block(block.get("tool_use_id"), inner, block.get("is_error"), faults)
    if kind in ("tool_use", "tool_result"):
        faults.append(f"a {kind} block in role {role!r}")
        return raw_block(block)
    if kind == "text" and isinstance(block.get("text"), str) and not block.get("citations"):
        return TextBlock(block["text"])
    try:
        return from_anthropic([{"role": "user", "content": [block]}])[0].content[0]
    except MessageFormatError as error:
        faults.append(str(error).partition(": ")[2])
        return raw_block(block)


def content_blocks(content: object, faults: Faults) -> tuple[Block, ...]:
    """The blocks of Chat Completions or Responses content: a string or a list of parts."""
    return _each(content, lambda part: _openai_part(part, faults), faults)


def _openai_part(part: dict[str, Any], faults: Faults) -> Block:
    kind = part.get("type")
    if as_text(kind) in _PLAIN_TEXT or (kind is None and isinstance(part.get("text"), str)):
        text = part.get("text", part.get("refusal"))
        if isinstance(text, str):
            return TextBlock(text)
    if kind == "input_image":
        part = {"type": "image_url", "image_url": {"url": part.get("image_url")}}
    if kind == "image" and isinstance(part.get("mimeType"), str):  # Pi
        return ImageBlock(part["mimeType"], as_text(part.get("data")))
    try:
        return from_openai([{"role": "user", "content": [part]}])[1][0].content[0]
    except MessageFormatError as error:
        faults.append(str(error).partition(": ")[2])
        return raw_block(part)


def chat_blocks(record: dict[str, Any], faults: Faults) -> tuple[Block, ...]:
    """The blocks of a Chat Completions message of any role."""
    content = content_blocks(record.get("content"), faults)
    role = record.get("role")
    if role == "tool":
        ids = as_list(record.get("tool_call_ids"))
        is_error = bool(content) and isinstance(content[0], TextBlock) and content[0].text.startswith(ERROR_MARK)
        return (result_block(record.get("tool_call_id") or (ids[0] if ids else None), content, is_error, faults),)
    if role != "assistant":
        return content
    thinking = as_text(record.get("reasoning_content")) or as_text(record.get("reasoning"))
    if not content and as_text(record.get("refusal")):
        content = (TextBlock(record["refusal"]),)
    calls: list[Block] = []
    for call in as_list(record.get("tool_calls")):
        function = as_mapping(as_mapping(call).get("function"))
        if function:
            calls.append(call_block(call.get("id"), function.get("name"), function.get("arguments"), faults))
        else:
            faults.append(f"a tool call without a function: {dump(call):.60}")
            calls.append(raw_block(call))
    return (*([ThinkingBlock(thinking)] if thinking else []), *content, *calls)


def _each(content: object, convert: Callable[[dict[str, Any]], Block], faults: Faults) -> tuple[Block, ...]:
    if content is None or content == "":
        return ()
    if isinstance(content, str):
        return (TextBlock(content),)
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        faults.append(f"content is {dump(content):.40}")
        return (raw_block(content),)
    blocks = []
    for part in content:
        if isinstance(part, dict):
            blocks.append(convert(part))
        elif isinstance(part, str):
            blocks.append(TextBlock(part))
        elif part is not None:
            faults.append(f"a content part is {dump(part):.40}")
            blocks.append(raw_block(part))
    return tuple(blocks)
