"""A client that keeps the bill (chapter 05).

    >>> from course_lib.client import ScriptedClient
    >>> from course_lib.messages import user
    >>> client = MeteredClient(ScriptedClient(["Hello."]))
    >>> _ = client.complete((user("Hi"),))
    >>> len(client.calls), client.calls[0].usage.output_tokens > 0
    (1, True)

Source: chapter 05.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.client import LLMClient, Request, Response
from course_lib.messages import Messages, ToolSpec, Usage

__all__ = ["MeteredCall", "MeteredClient"]


@dataclass(frozen=True)
class MeteredCall:
    """One answered call: what was sent and what it cost in tokens."""

    request: Request
    usage: Usage


class MeteredClient:
    """Passes everything on to another client, and remembers what was billed.

    Args:
        client: the model.
    """

    def __init__(self, client: LLMClient) -> None:
        self.client = client
        self.calls: list[MeteredCall] = []

    @property
    def window_tokens(self) -> int:
        """Tokens of the model's window."""
        return self.client.window_tokens

    def complete(
        self, messages: Messages, *, system: str = "", tools: Sequence[ToolSpec] = (), max_tokens: int = 4_096
    ) -> Response:
        """Ask the model; a call that raises is not billed."""
        response = self.client.complete(messages, system=system, tools=tools, max_tokens=max_tokens)
        request = Request(messages=tuple(messages), system=system, tools=tuple(tools), max_tokens=max_tokens)
        self.calls.append(MeteredCall(request, response.usage))
        return response
