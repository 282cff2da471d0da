"""A conversation in the shape of OpenAI's Chat Completions (chapter 01).

Ollama, llama.cpp, vLLM, DeepSeek and Qwen speak this shape too. Each tool result is a message of its own here, so one
of our user messages may become several records; `from_openai` joins them again. What both providers can say survives
the way there and back. What only one can say is handled so:

- There is no error flag on a result: `ERROR_MARK` in front of the text carries it.
- Tool messages hold text only: images and documents of a result follow in a user message.
- Thinking is not taken back: it is left out unless `reasoning=True` (some servers want it as `reasoning_content`).
- A `RawBlock` goes out word for word in a user message; in an assistant's, and in a result, it is left out.
- Texts of one assistant message, and of one result, are joined by line ends.

    >>> from course_lib.messages import ToolUseBlock, assistant
    >>> to_openai((assistant(ToolUseBlock("c1", "ls", {"path": "."})),))[0]["tool_calls"][0]["function"]
    {'name': 'ls', 'arguments': '{"path": "."}'}

What this leaves out on purpose: keys, addresses, models, sampling: `course_lib.providers` adds them.
Source: chapter 01; OpenAI's API reference, as its Python SDK 3.57 of November 2026 types it.
"""

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from types import NoneType
from typing import Any

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
    tool_results,
    tool_uses,
)
from course_lib.wire_anthropic import Record, as_record, record_field

__all__ = ["ERROR_MARK", "INVALID_JSON", "from_openai", "parse_arguments", "to_openai", "tools_to_openai"]

ERROR_MARK = "[tool error] "
INVALID_JSON = "INVALID_JSON"  # the one key of an input whose arguments were no JSON object
_ATTACHMENT_TEXT = "[attached to the next user message]"


def to_openai(
    messages: Sequence[Message], *, system: str = "", reasoning: bool = False, join_users: bool = False
) -> list[Record]:
    """Return the messages as Chat Completions take them, the system prompt first.

    Args:
        messages: the conversation.
        system: the system prompt; none when empty.
        reasoning: send thinking back as `reasoning_content` (DeepSeek and some local servers want it).
        join_users: make one message of several of the user in a row, which the chat templates of some models refuse.
    """
    records: list[Record] = [{"role": "system", "content": system}] if system else []
    for message in messages:
        records += _assistant_to_openai(message, reasoning) if message.role == "assistant" else _user_to_openai(message)
    return _with_joined_users(records) if join_users else records


def _with_joined_users(records: Iterable[Record]) -> list[Record]:
    joined: list[Record] = []
    for record in records:
        if joined and record["role"] == joined[-1]["role"] == "user":
            first, second = joined[-1]["content"], record["content"]
            if isinstance(first, str) and isinstance(second, str):
                both: object = f"{first}\n\n{second}"
            else:
                both = [*_as_parts(first), *_as_parts(second)]
            joined[-1] = {**joined[-1], "content": both}
        else:
            joined.append(record)
    return joined


def _as_parts(content: str | list[Record]) -> list[Record]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _assistant_to_openai(message: Message, reasoning: bool) -> list[Record]:
    texts = [block.text for block in message.content if isinstance(block, TextBlock)]
    calls = [_call_to_openai(call) for call in tool_uses(message)]
    # Only a message with calls may have no content.
    record: Record = {"role": "assistant", "content": "\n".join(texts) if texts or not calls else None}
    thinking = [block.thinking for block in message.content if isinstance(block, ThinkingBlock)]
    if reasoning and thinking:
        record["reasoning_content"] = "\n".join(thinking)
    return [{**record, "tool_calls": calls} if calls else record]


def _call_to_openai(call: ToolUseBlock) -> Record:
    broken = call.input.get(INVALID_JSON) if set(call.input) == {INVALID_JSON} else None
    arguments = broken if isinstance(broken, str) else json.dumps(dict(call.input), ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _user_to_openai(message: Message) -> list[Record]:
    records: list[Record] = []
    attachments: list[Block] = []
    for result in tool_results(message):
        extra = [b for b in result.content if isinstance(b, ImageBlock | DocumentBlock)]
        text = "\n".join(filter(None, [result.text, *[_ATTACHMENT_TEXT for _ in extra[:1]]]))
        mark = ERROR_MARK if result.is_error else ""
        records.append({"role": "tool", "tool_call_id": result.tool_use_id, "content": mark + text})
        attachments += extra
    others = [block for block in message.content if not isinstance(block, ToolResultBlock)]
    parts = [_part_to_openai(block) for block in (*attachments, *others)]
    if len(parts) == 1 and parts[0] == {"type": "text", "text": parts[0].get("text")}:
        records.append({"role": "user", "content": parts[0]["text"]})
    elif parts or not records:
        records.append({"role": "user", "content": parts})
    return records


def _part_to_openai(block: Block) -> Record:
    match block:
        case ImageBlock():
            return {
                "type": "image_url",
                "image_url": {"url": block.url or f"data:{block.media_type};base64,{block.data}"},
            }
        case DocumentBlock(media_type="text/plain"):
            return {"type": "text", "text": "\n".join(filter(None, [block.title, block.data]))}
        case DocumentBlock() if block.url:
            return {"type": "text", "text": " ".join(filter(None, [block.title, block.url]))}
        case DocumentBlock():
            data = f"data:{block.media_type};base64,{block.data}"
            return {"type": "file", "file": {"filename": block.title or "document", "file_data": data}}
        case RawBlock(raw):
            return copy.deepcopy(dict(raw))
        case TextBlock() | ThinkingBlock():
            return {"type": "text", "text": block.text}
    raise MessageFormatError(f"{type(block).__name__} cannot stand in a user message of Chat Completions")


def from_openai(records: Iterable[Mapping[str, Any]]) -> tuple[str, Messages]:
    """Return the system prompt and the messages in Chat Completions records.

    Tool messages in a row become one user message with all results. System or developer records after the first
    message become user messages, since a conversation here has no third role.

    Raises:
        MessageFormatError: a record that is no message, with its index.
    """
    system: list[str] = []
    messages: list[Message] = []
    last_role = "system"
    for index, record in enumerate(records):
        where = f"message {index}"
        role = record_field(record, "role", where, (str,))
        if role in ("system", "developer") and not messages:
            system.append(_plain_text(record, where))
            continue
        message = _from_openai_message(record, role, where)
        if role == last_role == "tool":
            messages[-1] = Message("user", messages[-1].content + message.content)
        else:
            messages.append(message)
        last_role = role
    return "\n".join(system), tuple(messages)


def _from_openai_message(record: Mapping[str, Any], role: str, where: str) -> Message:
    if role == "assistant":
        return Message(
            "assistant", (*_openai_thinking(record), *_openai_parts(record, where), *_openai_calls(record, where))
        )
    if role == "tool":
        return Message("user", (_openai_result(record, where),))
    if role in ("user", "system", "developer"):
        return Message("user", _openai_parts(record, where))
    raise MessageFormatError(f"{where}: role {role!r} is none of system, developer, user, assistant, tool")


def _openai_result(record: Mapping[str, Any], where: str) -> ToolResultBlock:
    ids = record.get("tool_call_ids")
    call_id = record.get("tool_call_id") or (ids[0] if isinstance(ids, list) and ids else None)
    if not isinstance(call_id, str):
        raise MessageFormatError(f"{where}: a tool message without tool_call_id")
    match _openai_parts(record, where):
        case (TextBlock(text), *others) if text.startswith(ERROR_MARK):
            return ToolResultBlock(call_id, (TextBlock(text.removeprefix(ERROR_MARK)), *others), is_error=True)
        case parts:
            return ToolResultBlock(call_id, parts)


def _openai_thinking(record: Mapping[str, Any]) -> tuple[Block, ...]:
    thinking = record.get("reasoning_content") or record.get("reasoning")
    return (ThinkingBlock(thinking),) if isinstance(thinking, str) and thinking else ()


def _openai_calls(record: Mapping[str, Any], where: str) -> tuple[Block, ...]:
    calls = []
    for call in record_field(record, "tool_calls", where, (list, tuple, NoneType)) or ():
        function = record_field(call, "function", where, (Mapping,))
        arguments = parse_arguments(function.get("arguments"))
        calls.append(
            ToolUseBlock(
                record_field(call, "id", where, (str,)), record_field(function, "name", where, (str,)), arguments
            )
        )
    return tuple(calls)


def parse_arguments(arguments: object) -> dict[str, Any]:
    """Return a call's arguments as a dict; text that is no JSON object is kept under the key `INVALID_JSON`."""
    if isinstance(arguments, Mapping):
        return dict(arguments)
    text = "" if arguments is None else str(arguments)
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {INVALID_JSON: text}


def _openai_parts(record: Mapping[str, Any], where: str) -> tuple[Block, ...]:
    content = record_field(record, "content", where, (str, list, tuple, NoneType))
    if record["role"] == "assistant":
        content = content or record_field(record, "refusal", where, (str, NoneType)) or ()  # a refusal is said, too
    if isinstance(content, str):
        return (TextBlock(content),)
    return tuple(_from_openai_part(part, where) for part in content or ())


def _from_openai_part(part: Mapping[str, Any], where: str) -> Block:
    match as_record(part, where).get("type"):
        case "text":
            return TextBlock(record_field(part, "text", where, (str,)))
        case "refusal":
            return TextBlock(record_field(part, "refusal", where, (str,)))
        case "image_url":
            image = record_field(part, "image_url", where, (Mapping,))
            return ImageBlock(*_split_data_url(record_field(image, "url", where, (str,))))
        case "file" if isinstance(part.get("file"), Mapping) and "file_data" in part["file"]:
            source = _split_data_url(record_field(part["file"], "file_data", where, (str,)))
            title = record_field(part["file"], "filename", where, (str, NoneType)) or ""
            return DocumentBlock(*source, "" if title == "document" else title)
        case str():
            return RawBlock(part)
    raise MessageFormatError(f"{where}: a content part without a type: {str(part)[:80]}")


def _split_data_url(url: str) -> tuple[str, str, str]:
    head, separator, data = url.partition(";base64,")
    if separator and head.startswith("data:"):
        return head.removeprefix("data:"), data, ""
    return "", "", url


def tools_to_openai(tools: Iterable[ToolSpec]) -> list[Record]:
    """Return the tool definitions as Chat Completions take them."""
    return [
        {
            "type": "function",
            "function": {"name": t.name, "description": t.description, "parameters": dict(t.input_schema)},
        }
        for t in tools
    ]


def _plain_text(record: Mapping[str, Any], where: str) -> str:
    return "\n".join(part.text for part in _openai_parts(record, where) if isinstance(part, TextBlock))
