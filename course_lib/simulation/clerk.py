"""A clerk with a tool that must not run twice: it books a shipment, and a ledger counts (chapter 10).

    >>> from course_lib.agent import Agent
    >>> from course_lib.events import record_run
    >>> from course_lib.tokens import chars_counter
    >>> ledger = Ledger(receipt_words=10)
    >>> clerk = Clerk(window_tokens=5_000, counter=MessageCounter(chars_counter(4)))
    >>> run = record_run(Agent(clerk, [ledger.tool]).run("Book shipment 17 to Oslo."))
    >>> ledger.bookings, run.error
    (['Book shipment 17 to Oslo.'], None)

Like the offline model, the clerk knows only the request: who says "Book ..." to it last gets a booking, and who shows
it a receipt last gets a word of thanks.

What this leaves out on purpose: everything else that a clerk does.
Source: chapter 10; the double booking is bug report CTX-109 of the field guide.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from course_lib.agent import Tool
from course_lib.client import Request, Response, check_request, response_for
from course_lib.messages import (
    Messages,
    ToolSpec,
    ToolUseBlock,
    Usage,
    assistant,
    message_text,
    tool_results,
    tool_uses,
)
from course_lib.tokens import MessageCounter

__all__ = ["Clerk", "Ledger"]

_SPEC = ToolSpec(
    "book_shipment",
    "Book a shipment and pay for it; returns the receipt.",
    {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
)


class Ledger:
    """What was booked, in order.

    Args:
        receipt_words: how long the receipt of a booking is.
    """

    def __init__(self, receipt_words: int) -> None:
        self.receipt_words = receipt_words
        self.bookings: list[str] = []

    @property
    def tool(self) -> Tool:
        """The tool that books; every call of it is paid for."""
        return Tool(_SPEC, self.book)

    def book(self, given: Mapping[str, Any]) -> str:
        """Book an order, and return the receipt."""
        self.bookings.append(str(given["order"]))
        return f"Booking {len(self.bookings)} is paid. The small print:" + " word" * self.receipt_words


class Clerk:
    """A model that books what it is asked for last, and is as strict as the real ones.

    Args:
        window_tokens: tokens of its window, request and answer together.
        counter: how it counts.

    `sent` counts its requests, refused ones too.
    """

    def __init__(self, *, window_tokens: int, counter: MessageCounter) -> None:
        self.window_tokens, self.counter = window_tokens, counter
        self.sent = 0

    def __repr__(self) -> str:
        return f"{type(self).__name__}(window_tokens={self.window_tokens:_})"

    def complete(
        self, messages: Messages, *, system: str = "", tools: Sequence[ToolSpec] = (), max_tokens: int = 1_000
    ) -> Response:
        """Return a booking, thanks for a receipt, or a question.

        Raises:
            ModelError: as `check_request`.
        """
        self.sent += 1
        request = Request(messages=tuple(messages), system=system, tools=tuple(tools), max_tokens=max_tokens)
        tokens = check_request(request, window_tokens=self.window_tokens, counter=self.counter)
        last, order = messages[-1], message_text(messages[-1])
        if tool_results(last):
            answer = assistant("It is booked, thank you.")
        elif order.startswith("Book "):
            number = sum(len(tool_uses(message)) for message in messages) + 1
            answer = assistant(ToolUseBlock(f"booking_{number}", _SPEC.name, {"order": order}))
        else:
            answer = assistant("Is there anything to book?")
        return response_for(answer, Usage(input_tokens=tokens, output_tokens=self.counter.message(answer)))
