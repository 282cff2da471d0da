"""One request, one response (chapter 01).

A model is anything with a window and `complete`: the offline model, a real provider, or the `ScriptedClient` below.
A request is the *whole* conversation, every time: the model remembers nothing between two calls.

`check_request` refuses what both providers refuse, so that code that works here works there. A test double that is
laxer than the API hides exactly the bugs this course is about.

What this leaves out on purpose: HTTP, keys, retries and streams, which are in `course_lib.providers`.
Source: chapter 01; the refusals are those that both providers' APIs answered with in 2026.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from course_lib.errors import ContextOverflowError, InvalidRequestError
from course_lib.messages import Message, Messages, TextBlock, ToolSpec, Usage, assistant, tool_uses
from course_lib.tokens import MessageCounter, chars_counter
from course_lib.tool_pairs import check_pairs

__all__ = ["LLMClient", "Reply", "Request", "Response", "ScriptedClient", "StopReason", "check_request", "response_for"]

StopReason = Literal["end_turn", "tool_use", "max_tokens", "refusal", "context_window_exceeded"]


@dataclass(frozen=True)
class Response:
    """What came back: the assistant's message, why it stopped, and what was billed."""

    message: Message
    stop_reason: StopReason
    usage: Usage


@dataclass(frozen=True, kw_only=True)
class Request:
    """Everything that one call sends."""

    messages: Messages
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int = 4_096


class LLMClient(Protocol):
    """A language model behind one method."""

    @property
    def window_tokens(self) -> int:
        """Tokens the model can hold, request and answer together."""
        ...

    def complete(
        self, messages: Messages, *, system: str = "", tools: Sequence[ToolSpec] = (), max_tokens: int = 4_096
    ) -> Response:
        """Send one request and return the response, or raise a `ModelError`.

        `max_tokens` is the most the answer may have; it is taken from the same window.
        """
        ...


def check_request(request: Request, *, window_tokens: int, counter: MessageCounter) -> int:
    """Return the request's tokens, or raise as both providers would refuse it.

    Raises:
        PairingError: a broken tool pair.
        ContextOverflowError: request and answer together are longer than the window.
        InvalidRequestError: no message, the wrong one first or last, empty content, or two tools of one name.
    """
    _check_shape(request)
    check_pairs(request.messages)
    tokens = counter.request(request.messages, system=request.system, tools=request.tools)
    if tokens + request.max_tokens > window_tokens:
        raise ContextOverflowError(
            f"the request has {tokens} tokens and reserves {request.max_tokens} for the answer, "
            f"the window has {window_tokens}: shorten the conversation or the reserve",
            request_tokens=tokens,
            limit_tokens=window_tokens - request.max_tokens,
            status=400,
        )
    return tokens


def _check_shape(request: Request) -> None:
    messages = request.messages
    if not messages:
        raise InvalidRequestError("the request has no message: send at least one user message", status=400)
    if messages[0].role != "user" or messages[-1].role != "user":
        raise InvalidRequestError(
            f"the first message is the {messages[0].role}'s and the last the {messages[-1].role}'s: "
            "a request starts and ends with a user message",
            status=400,
        )
    for index, message in enumerate(messages):
        if not message.content or any(isinstance(b, TextBlock) and not b.text.strip() for b in message.content):
            raise InvalidRequestError(f"message {index} has empty content: leave it out or give it text", status=400)
    names = [tool.name for tool in request.tools]
    if len(set(names)) < len(names):
        raise InvalidRequestError(f"two tools have one name: {sorted(names)}", status=400)


Reply = Response | Exception | str | Message


class ScriptedClient:
    """Answers from a script, in order, and is as strict as the real thing.

    Args:
        script: the answers: a string, a message, a whole response, or an exception to raise.
        window_tokens: tokens of the window.
        counter: how requests are counted.

    `requests` keeps every request, refused ones too.
    """

    def __init__(
        self, script: Iterable[Reply], *, window_tokens: int = 128_000, counter: MessageCounter | None = None
    ) -> None:
        self._script = iter(script)
        self.window_tokens = window_tokens
        self.counter = counter or MessageCounter(chars_counter())
        self.requests: list[Request] = []

    def complete(
        self, messages: Messages, *, system: str = "", tools: Sequence[ToolSpec] = (), max_tokens: int = 4_096
    ) -> Response:
        """Check the request, then return (or raise) the next answer of the script."""
        request = Request(messages=tuple(messages), system=system, tools=tuple(tools), max_tokens=max_tokens)
        self.requests.append(request)
        tokens = check_request(request, window_tokens=self.window_tokens, counter=self.counter)
        reply = next(self._script, None)
        if reply is None:
            raise InvalidRequestError(f"the script has no answer for request {len(self.requests)}: add one")
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Response):
            return reply
        message = assistant(reply) if isinstance(reply, str) else reply
        usage = Usage(input_tokens=tokens, output_tokens=self.counter.message(message))
        return response_for(message, usage)


def response_for(message: Message, usage: Usage) -> Response:
    """Return the response that a complete assistant message makes: it stopped for its tools, or for good."""
    return Response(replace(message, usage=usage), "tool_use" if tool_uses(message) else "end_turn", usage)
