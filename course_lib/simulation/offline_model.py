"""A model without weights: it works a real task, and knows only what the request shows it.

`OfflineModel` is an `LLMClient` like any other. It reads the request (`perception`), decides (`policy`), and answers
with text and tool calls; it is as strict as a provider's API and refuses in that provider's words. What a strategy
removes from the context shows in what the model does: a constraint it cannot see is broken, a file it cannot see is
read again. The same on every machine, with no key and no network.

What it can show is whether information is *there*. What it cannot show is how clever a real model is.
Source: chapter 00.
"""

from collections.abc import Sequence
from dataclasses import replace

from course_lib.client import Request, Response, response_for
from course_lib.messages import (
    Block,
    Messages,
    TextBlock,
    ToolSpec,
    ToolUseBlock,
    Usage,
    assistant,
    tool_uses,
)
from course_lib.providers.refusals import Dialect, check_request_as
from course_lib.simulation.perception import read_request
from course_lib.simulation.policy import Step, next_step
from course_lib.simulation.summarising import summary_request, write_summary
from course_lib.text_cuts import head
from course_lib.tokens import MessageCounter, TiktokenCounter

__all__ = ["OfflineModel"]


class OfflineModel:
    """The offline model.

    Args:
        window_tokens: tokens of its window, request and answer together.
        dialect: whose error shapes it refuses with: "anthropic" or "openai".
        counter: how it counts; exact by default.
    """

    def __init__(
        self, *, window_tokens: int = 128_000, dialect: Dialect = "openai", counter: MessageCounter | None = None
    ) -> None:
        self.window_tokens = window_tokens
        self.dialect = dialect
        self.counter = counter or MessageCounter(TiktokenCounter())

    def complete(
        self, messages: Messages, *, system: str = "", tools: Sequence[ToolSpec] = (), max_tokens: int = 4_096
    ) -> Response:
        """Return the next step of the work that the request shows.

        Raises:
            PairingError: a broken tool pair, in the provider's words.
            ContextOverflowError: the request and `max_tokens` are longer than the window, in the provider's words.
            InvalidRequestError: anything else that the provider would refuse.
        """
        request = Request(messages=tuple(messages), system=system, tools=tuple(tools), max_tokens=max_tokens)
        tokens = check_request_as(self.dialect, request, window_tokens=self.window_tokens, counter=self.counter)
        wanted = summary_request(messages)
        if wanted:
            return self._summary(wanted, tokens, max_tokens)
        step = next_step(read_request(messages, system))
        message = assistant(*_blocks(step, _first_free_number(messages)))
        usage = Usage(input_tokens=tokens, output_tokens=self.counter.message(message))
        return response_for(message, usage)

    def _summary(self, request: str, tokens: int, max_tokens: int) -> Response:
        """A summary by extraction; one that is too long is cut off, as any model's answer would be."""
        text = write_summary(request)
        written = head(text, max_tokens - self.counter.message_overhead_tokens, self.counter.text)
        message = assistant(written)
        usage = Usage(input_tokens=tokens, output_tokens=self.counter.message(message))
        response = response_for(message, usage)
        return response if written == text else replace(response, stop_reason="max_tokens")


def _blocks(step: Step, number: int) -> list[Block]:
    calls = [ToolUseBlock(f"call_{number + index}", call.name, call.input) for index, call in enumerate(step.calls)]
    return [TextBlock(step.text), *calls]


def _first_free_number(messages: Messages) -> int:
    """One above the highest call number in sight, so that ids in a request never clash."""
    ids = (call.id.removeprefix("call_") for message in messages for call in tool_uses(message))
    return 1 + max((int(number) for number in ids if number.isdecimal()), default=0)
