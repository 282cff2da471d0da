"""A model of OpenAI's, or of any server that speaks its Chat Completions: Ollama, llama.cpp, vLLM, DeepSeek, Qwen.

Works on OpenAI's official SDK, which is imported when a client is made. Streamed or not, the same answer becomes the
same response: a stream is put together as the record that would have come in one piece, and `wire_openai` reads both.

    client = OpenAIClient(settings_from_environment())
    client.complete((user("Hello"),)).message

What differs between OpenAI and the servers that speak like it:

- OpenAI calls the limit of an answer `max_completion_tokens`, the others know only the older `max_tokens`.
- Ollama numbers all parallel calls of a stream 0: a new id is a new call, whatever its number.
- Some give no id to a call: it gets one here, or else its result would belong to nothing.
- DeepSeek wants every answer back with its `reasoning_content`, an empty one too.
- Chat templates of some models refuse two messages of the user in a row, which a compaction may leave: `join_users`.

What this leaves out on purpose: the Responses API, and reasoning effort.
Source: chapter 12; OpenAI's API reference and Python SDK 3.57, the servers' issue threads of 2025 and 2026.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from course_lib.client import Response, StopReason
from course_lib.errors import BrokenResponseError, EmptyResponseError, OverloadedError
from course_lib.messages import Message, Messages, ToolSpec, Usage
from course_lib.providers.error_shapes import error_from_response
from course_lib.providers.sdk_calls import ProviderClient, response_from, whole_characters
from course_lib.wire_anthropic import Record
from course_lib.wire_openai import from_openai, to_openai, tools_to_openai

__all__ = ["OpenAIClient"]

_STOP_REASONS: dict[str, StopReason] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
    "model_context_window_exceeded": "context_window_exceeded",
}


class OpenAIClient(ProviderClient):
    """A client for Chat Completions, OpenAI's or (by `base_url`) another server's; see `ProviderClient`."""

    sdk_name, sdk_client_name = "openai", "OpenAI"

    def complete(
        self, messages: Messages, *, system: str = "", tools: Sequence[ToolSpec] = (), max_tokens: int = 4_096
    ) -> Response:
        """Send one request and return the response.

        Raises:
            ModelError: the refusal, or what went wrong on the way, in the server's words.
        """
        limit = "max_tokens" if self.settings.base_url else "max_completion_tokens"
        arguments: dict[str, Any] = {
            "model": self.settings.model,
            "messages": self._records(messages, system),
            limit: min(max_tokens, self.settings.max_output_tokens),
        }
        if tools:
            arguments["tools"] = tools_to_openai(tools)
        arguments = whole_characters(arguments)
        if self.settings.stream or self.on_text is not None:
            return self._response(self._read_stream(arguments), streamed=True)
        answer = self._call(lambda: self._client.chat.completions.create(**arguments))
        return self._response(answer.to_dict() if hasattr(answer, "to_dict") else {}, streamed=False)

    def _records(self, messages: Messages, system: str) -> list[Record]:
        reasoning, join_users = self.settings.send_reasoning, self.settings.join_users
        records = to_openai(messages, system=system, reasoning=reasoning, join_users=join_users)
        for record in records:
            if self.settings.send_reasoning and record["role"] == "assistant":
                record.setdefault("reasoning_content", "")
        return records

    def _read_stream(self, arguments: Mapping[str, Any]) -> Record:
        """Read a stream to its end and return the completion that it makes."""
        options = {"stream": True, "stream_options": {"include_usage": True}}
        answer = _StreamedAnswer()
        with closing(self._call(lambda: self._client.chat.completions.create(**arguments, **options))) as stream:
            for chunk in self._events(stream):
                text = answer.add(chunk.to_dict())
                if text and self.on_text is not None:
                    self.on_text(text)
        if answer.is_empty:
            raise EmptyResponseError("the stream ended without a single choice: ask again")
        return answer.completion()

    def _response(self, completion: Record, *, streamed: bool) -> Response:
        if completion.get("error"):  # some servers say 200 and mean 400
            raise error_from_response(200, completion, secrets=(self.settings.api_key.reveal(),))
        choice = next(iter(completion.get("choices") or ()), None)
        if choice is None:
            raise EmptyResponseError(f"the answer of {self.settings.address} holds no choice: is it a chat server?")
        reason = choice.get("finish_reason")
        if reason == "insufficient_system_resource":  # DeepSeek
            raise OverloadedError("the server ran out of resources in the middle of the answer: try later")
        if reason is not None and reason not in _STOP_REASONS:
            raise BrokenResponseError(f"the answer ended for the reason {reason!r}, which the course does not know")
        stop_reason = _STOP_REASONS.get(reason or "")
        record = choice.get("message") or {}
        if record.get("refusal"):
            stop_reason = "refusal"
        return response_from(lambda: _message(record, completion), stop_reason, streamed=streamed)


class _StreamedAnswer:
    """Puts the chunks of a stream together, as the completion that would have come in one piece."""

    def __init__(self) -> None:
        self.is_empty = True
        self._texts: dict[str, list[str]] = {}
        self._calls: list[Record] = []
        self._call_at: dict[int, Record] = {}  # the call that a number stands for at the moment
        self._rest: Record = {}
        self._finish_reason: str | None = None

    def add(self, chunk: Record) -> str:
        """Add a chunk; return the text in it that is for the reader."""
        self._rest |= {key: chunk[key] for key in ("id", "usage") if chunk.get(key)}
        choice = next(iter(chunk.get("choices") or ()), None)
        if choice is None:
            return ""
        self.is_empty = False
        self._finish_reason = choice.get("finish_reason") or self._finish_reason
        delta = choice.get("delta") or {}
        for key in ("content", "reasoning_content", "reasoning", "refusal"):
            if isinstance(delta.get(key), str):
                self._texts.setdefault(key, []).append(delta[key])
        for part in delta.get("tool_calls") or ():
            self._add_call(part)
        return delta.get("content") or ""

    def _add_call(self, part: Record) -> None:
        number, id_, function = part.get("index") or 0, part.get("id"), part.get("function") or {}
        call = self._call_at.get(number)
        if call is None or (id_ and call["id"] and id_ != call["id"]):
            call = {"id": None, "type": "function", "function": {"name": None, "arguments": ""}}
            self._call_at[number] = call
            self._calls.append(call)
        call["id"] = call["id"] or id_
        call["function"]["name"] = call["function"]["name"] or function.get("name")
        call["function"]["arguments"] += function.get("arguments") or ""

    def completion(self) -> Record:
        """Return what has been added so far."""
        message: Record = {"role": "assistant", **{key: "".join(texts) for key, texts in self._texts.items()}}
        if self._calls:
            message["tool_calls"] = self._calls
        return {**self._rest, "choices": [{"message": message, "finish_reason": self._finish_reason}]}


def _message(record: Record, completion: Record) -> Message:
    calls = [
        {**call, "id": call.get("id") or f"{completion.get('id') or 'call'}-{number}"}
        for number, call in enumerate(record.get("tool_calls") or ())
    ]
    _, (message,) = from_openai([{**record, "role": "assistant", "tool_calls": calls}])
    return replace(message, usage=_usage(completion.get("usage")))


def _usage(record: Record | None) -> Usage | None:
    """The billed tokens in buckets that have none in common: OpenAI counts cached tokens among those of the prompt."""
    if not record:
        return None
    details = record.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens") or record.get("prompt_cache_hit_tokens") or 0  # the latter is DeepSeek's
    written = details.get("cache_write_tokens") or 0
    return Usage(
        input_tokens=max(0, (record.get("prompt_tokens") or 0) - cached - written),
        cache_read_tokens=cached,
        cache_write_tokens=written,
        output_tokens=record.get("completion_tokens") or 0,
    )
