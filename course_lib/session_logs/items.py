"""Items of OpenAI's Responses API, of which Codex logs are made as well.

What this leaves out on purpose: streams; a log holds whole items.
Source: chapter 04; OpenAI's API reference, November 2026, and logs of Codex CLI 0.39 to 0.146.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from course_lib.messages import Block, TextBlock, ThinkingBlock
from course_lib.session_logs.blocks import Faults, call_block, content_blocks, raw_block, result_block
from course_lib.session_logs.values import as_list, as_mapping, as_text, dump

__all__ = ["Item", "is_item", "read_item"]

# Calls that our side answers, with the field that holds their input.
_CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "tool_search_call": "arguments",
    "computer_call": "action",
}
_OUTPUTS = {
    "function_call_output",
    "custom_tool_call_output",
    "local_shell_call_output",
    "tool_search_output",
    "tool_search_call_output",
    "computer_call_output",
    "mcp_tool_call_output",
}
# Calls that the provider answers itself.
_SERVER_CALLS = {
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
}
_PARTS = ("input_", "output_")  # how the parts of a message are called, and nowhere else
_TYPES = {"message", "reasoning", "compaction", "ghost_snapshot", *_CALLS, *_OUTPUTS, *_SERVER_CALLS}
# How the texts begin that a program sends in the person's name.
_INJECTED = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions",
    "<turn_aborted>",
    "<user_shell_command>",
    "<skill",
    "# AGENTS.md",
)


@dataclass(frozen=True)
class Item:
    """What one item is.

    Attributes:
        side: "answer" came from the model, "user" went into it; "none" is no part of the conversation.
        is_unreadable: an encrypted or missing text.
    """

    side: Literal["answer", "user", "none"]
    blocks: tuple[Block, ...]
    is_injected: bool = False
    is_system: bool = False
    is_unreadable: bool = False
    is_unknown: bool = False


def is_item(value: object) -> bool:
    """Whether this is an item that only the Responses API has."""
    item = as_mapping(value)
    if item.get("type") == "message":
        content = item.get("content")
        kinds = [as_text(as_mapping(part).get("type")) for part in as_list(content)]
        return "role" in item and (isinstance(content, str) or any(kind.startswith(_PARTS) for kind in kinds))
    return as_text(item.get("type")) in _TYPES and item.get("type") != "compaction"


def read_item(value: object, faults: Faults) -> Item:
    """Return what the item is; one that nobody knows is kept word for word."""
    item = as_mapping(value)
    kind = item.get("type")
    if kind == "message" or (kind is None and "role" in item):
        return _message(item, faults)
    if kind == "reasoning":
        return _reasoning(item)
    if isinstance(kind, str) and kind in _CALLS:
        return Item("answer", (_call(item, kind, faults),))
    if isinstance(kind, str) and kind in _OUTPUTS:
        return Item("user", (_output(item, faults),))
    if kind == "ghost_snapshot":
        return Item("none", ())
    if kind == "compaction":
        return Item("user", (raw_block(value),), is_unreadable=True)
    return Item("answer", (raw_block(value),), is_unknown=as_text(kind) not in _SERVER_CALLS)


def _message(item: Mapping[str, Any], faults: Faults) -> Item:
    blocks = content_blocks(item.get("content"), faults)
    role = item.get("role")
    if role == "assistant":
        return Item("answer", blocks)
    if role not in ("user", "developer", "system"):
        faults.append(f"a message of role {dump(role):.40}")
    is_system = role in ("developer", "system")
    injected = is_system or any(isinstance(b, TextBlock) and b.text.startswith(_INJECTED) for b in blocks)
    return Item("user", blocks, is_injected=injected, is_system=is_system)


def _reasoning(item: Mapping[str, Any]) -> Item:
    parts = [*as_list(item.get("summary")), *as_list(item.get("content"))]
    text = "\n".join(as_text(as_mapping(part).get("text")) for part in parts)
    encrypted = as_text(item.get("encrypted_content"))
    blocks = (ThinkingBlock(text, encrypted),) if text or encrypted else ()
    return Item("answer", blocks, is_unreadable=not text)


def _call(item: Mapping[str, Any], kind: str, faults: Faults) -> Block:
    arguments = item.get(_CALLS[kind])
    if kind == "custom_tool_call":  # its input is plain text, not JSON
        arguments = {"input": arguments}
    name = item.get("name") if kind in ("function_call", "custom_tool_call") else kind.removesuffix("_call")
    return call_block(item.get("call_id") or item.get("id"), name, arguments, faults)


def _output(item: Mapping[str, Any], faults: Faults) -> Block:
    output = item.get("output", item.get("tools"))
    is_error = item.get("status") == "failed"
    if isinstance(output, dict) and "content" in output:
        is_error = is_error or output.get("success") is False
        output = output["content"]
    if isinstance(output, str) or _are_parts(output):
        blocks = content_blocks(output, faults)
    else:
        blocks = (TextBlock(dump(output)),) if output is not None else ()
    return result_block(item.get("call_id"), blocks, is_error, faults)


def _are_parts(output: object) -> bool:
    return isinstance(output, list) and all("type" in as_mapping(part) for part in output)
