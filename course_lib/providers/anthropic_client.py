"""A model of Anthropic's, or of a server that speaks its Messages API (chapter 12).

Works on Anthropic's official SDK, which is imported when a client is made. Streamed or not, the same answer becomes the
same response: the SDK puts a stream together, and both ways end in `wire_anthropic`.

    client = AnthropicClient(settings_from_environment())
    client.complete((user("Hello"),)).message

Long answers are always streamed: the SDK refuses to wait for more than 21,333 tokens at once, since a connection on
which nothing happens for minutes is cut by somebody.

Anthropic's server can also edit the context itself: `context_management` is such an instruction
(`microcompact.clearing_instruction`, `tiers.compaction_instruction`), sent with every request through the SDK's beta.

What this leaves out on purpose: cache marks (chapter 08).
Source: chapter 12; Anthropic's API reference and Python SDK 2.14, November 2026.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from course_lib.client import Response, StopReason
from course_lib.errors import BrokenResponseError, EmptyResponseError
from course_lib.messages import Message, Messages, ToolSpec, Usage
from course_lib.providers.error_shapes import error_from_response
from course_lib.providers.sdk_calls import ProviderClient, response_from, whole_characters
from course_lib.providers.settings import ProviderSettings
from course_lib.wire_anthropic import Record, from_anthropic, to_anthropic, tools_to_anthropic

if TYPE_CHECKING:
    import httpx2

__all__ = ["MAX_UNSTREAMED_TOKENS", "AnthropicClient"]

MAX_UNSTREAMED_TOKENS = 21_333  # 128,000 tokens an hour, times the ten minutes that the SDK is ready to wait
_BETAS = {  # the header that each kind of edit needs, by the beginning of its type
    "clear_": "context-management-2025-06-27",
    "compact_": "compact-2026-01-12",
}
_STOP_REASONS: dict[str, StopReason] = {
    "end_turn": "end_turn",
    "stop_sequence": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "model_context_window_exceeded": "context_window_exceeded",
}


class AnthropicClient(ProviderClient):
    """A client for the Messages API.

    Args:
        settings, on_text, http_client: see `ProviderClient`.
        context_management: an instruction for the server to edit the context; it may be changed between requests.
    """

    sdk_name, sdk_client_name = "anthropic", "Anthropic"

    def __init__(
        self,
        settings: ProviderSettings,
        *,
        on_text: Callable[[str], None] | None = None,
        http_client: "httpx2.Client | None" = None,
        context_management: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(settings, on_text=on_text, http_client=http_client)
        self.context_management = context_management

    @property
    def _messages_api(self) -> Any:
        return self._client.beta.messages if self.context_management else self._client.messages

    def complete(
        self, messages: Messages, *, system: str = "", tools: Sequence[ToolSpec] = (), max_tokens: int = 4_096
    ) -> Response:
        """Send one request and return the response.

        Raises:
            ModelError: the refusal, or what went wrong on the way, in the provider's words.
        """
        max_tokens = min(max_tokens, self.settings.max_output_tokens)
        arguments = {"max_tokens": max_tokens, **self._arguments(messages, system, tools)}
        budget = self.settings.thinking_tokens
        if 0 < budget < max_tokens:
            arguments["thinking"] = {"type": "enabled", "budget_tokens": budget}
        streamed = self.settings.stream or self.on_text is not None or max_tokens > MAX_UNSTREAMED_TOKENS
        answer = (
            self._read_stream(arguments) if streamed else self._call(lambda: self._messages_api.create(**arguments))
        )
        return self._response(answer.to_dict() if hasattr(answer, "to_dict") else {}, streamed=streamed)

    def count_tokens(self, messages: Messages, *, system: str = "", tools: Sequence[ToolSpec] = ()) -> int:
        """Return the tokens of a request as the provider counts them. It costs a call, but no tokens.

        Raises:
            ModelError: as `complete`.
        """
        arguments = self._arguments(messages, system, tools)
        return int(self._call(lambda: self._messages_api.count_tokens(**arguments).input_tokens))

    def model_limits(self) -> tuple[int | None, int | None]:
        """Return the tokens of the model's window and of its longest answer, as the provider says them, if it does.

        Raises:
            ModelError: as `complete`; an unknown model too.
        """
        info = self._call(lambda: self._client.models.retrieve(self.settings.model))
        return _as_tokens(getattr(info, "max_input_tokens", None)), _as_tokens(getattr(info, "max_tokens", None))

    def _arguments(self, messages: Messages, system: str, tools: Sequence[ToolSpec]) -> dict[str, Any]:
        arguments: dict[str, Any] = {"model": self.settings.model, "messages": to_anthropic(messages)}
        if system:
            arguments["system"] = system
        if tools:
            arguments["tools"] = tools_to_anthropic(tools)
        if self.context_management:
            arguments["context_management"] = self.context_management
            kinds = [edit["type"] for edit in self.context_management["edits"]]
            arguments["betas"] = [name for kind, name in _BETAS.items() if any(k.startswith(kind) for k in kinds)]
        whole: dict[str, Any] = whole_characters(arguments)
        return whole

    def _read_stream(self, arguments: dict[str, Any]) -> Any:
        """Read a stream to its end and return the message that the SDK made of it."""
        has_begun = False
        manager = self._messages_api.stream(**arguments)
        with closing(self._call(manager.__enter__)) as stream:
            for event in self._events(stream):
                has_begun = has_begun or event.type == "message_start"
                if event.type == "text" and self.on_text is not None:
                    self.on_text(event.text)
            if not has_begun:
                raise EmptyResponseError("the stream ended without a single event: ask again")
            return self._call(stream.get_final_message, begun=True)

    def _response(self, record: Record, *, streamed: bool) -> Response:
        if record.get("error"):  # some gateways say 200 and mean 400
            raise error_from_response(200, record, secrets=(self.settings.api_key.reveal(),))
        if "content" not in record:
            raise EmptyResponseError(f"the answer of {self.settings.address} holds no message: is it the right server?")
        reason = record.get("stop_reason")
        if reason is not None and reason not in _STOP_REASONS:
            raise BrokenResponseError(f"the answer ended for the reason {reason!r}, which the course does not know")
        return response_from(lambda: _message(record), _STOP_REASONS.get(reason or ""), streamed=streamed)


def _as_tokens(value: object) -> int | None:
    """A positive number; the SDK passes on whatever a gateway wrote."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 1 else None


def _message(record: Record) -> Message:
    (message,) = from_anthropic([{"role": "assistant", "content": record.get("content")}])
    return replace(message, usage=_usage(record.get("usage")))


def _usage(record: Record | None) -> Usage | None:
    """The billed tokens: Anthropic's three counts of what was read have no token in common."""
    if not record:
        return None
    return Usage(
        input_tokens=record.get("input_tokens") or 0,
        cache_read_tokens=record.get("cache_read_input_tokens") or 0,
        cache_write_tokens=record.get("cache_creation_input_tokens") or 0,
        output_tokens=record.get("output_tokens") or 0,
    )
