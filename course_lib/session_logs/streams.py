"""A streamed answer of Anthropic's Messages API, put together again from the text of its events.

What this leaves out on purpose: streams of other APIs; logs of those hold whole responses.
Source: chapter 04; Anthropic's documentation of streaming, November 2026.
"""

import json
from collections.abc import Iterator
from typing import Any

from course_lib.session_logs.values import as_list, as_mapping, as_text, count

__all__ = ["message_of_stream"]


def message_of_stream(text: str) -> dict[str, Any]:
    """Return the message that the events add up to; a stream that was cut gives what came before the cut."""
    message: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    for event in _events(text):
        kind = event.get("type")
        index = count(event.get("index"))
        if kind == "message_start":
            message = dict(as_mapping(event.get("message")))
        elif kind == "content_block_start":
            blocks[index] = dict(as_mapping(event.get("content_block")))
        elif kind == "content_block_delta":
            _add(blocks.setdefault(index, {"type": "text", "text": ""}), as_mapping(event.get("delta")))
        elif kind == "message_delta":
            message.update(as_mapping(event.get("delta")))
            message["usage"] = {**as_mapping(message.get("usage")), **as_mapping(event.get("usage"))}
    content = [_finished(blocks[index]) for index in sorted(blocks)]
    return {**message, "content": content} if message or content else {}


def _events(text: str) -> Iterator[dict[str, Any]]:
    for line in text.split("\n"):
        if line.startswith("data:"):
            try:
                event = json.loads(line[5:])
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict):
                yield event


def _add(block: dict[str, Any], delta: Any) -> None:
    fields = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
    kind = as_text(delta.get("type"))
    if kind in fields:
        block[fields[kind]] = as_text(block.get(fields[kind])) + as_text(delta.get(fields[kind]))
    elif kind == "input_json_delta":
        block.setdefault("parts", []).append(as_text(delta.get("partial_json")))


def _finished(block: dict[str, Any]) -> dict[str, Any]:
    """The block with its arguments, which come as pieces of JSON text; broken ones stay text."""
    parts = "".join(as_list(block.pop("parts", None)))
    return {**block, "input": parts} if parts else block
