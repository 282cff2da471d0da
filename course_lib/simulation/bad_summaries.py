"""Answers that are no summaries, each with its fault; and a writer who gives such an answer now and then (chapter 07).

    >>> from course_lib.errors import SummaryError
    >>> from course_lib.summary_text import read_response
    >>> try:
    ...     read_response(BAD_SUMMARIES["headings only"].response)
    ... except SummaryError as error:
    ...     error.fault
    'headings only'

All are shapes that models and gateways have really returned; the words are ours.
Source: chapter 07; bug reports on summary calls of the field guide (2026).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from course_lib.client import LLMClient, Response, StopReason
from course_lib.messages import Block, Message, Messages, TextBlock, ToolSpec, ToolUseBlock, Usage, assistant
from course_lib.summary_text import SECTIONS, SummaryFault

__all__ = ["BAD_SUMMARIES", "SKELETON", "BadSummary", "SkeletonWriter"]

_CALL = ToolUseBlock("call_1", "read_file", {"path": "freight/core/money.py"})
_GOOD = "## Goal\nType hints and docstrings in every module; vendor/ is off limits."
SKELETON = "<summary>\n" + "\n".join(f"## {heading}\n- none" for heading, _ in SECTIONS) + "\n</summary>"


@dataclass(frozen=True)
class BadSummary:
    """An answer to a request for a summary, and what is wrong with it."""

    fault: SummaryFault
    response: Response


def _bad(fault: SummaryFault, *content: str | Block, stop: StopReason = "end_turn") -> BadSummary:
    blocks = tuple(TextBlock(block) if isinstance(block, str) else block for block in content)
    return BadSummary(fault, Response(Message("assistant", blocks), stop, Usage()))


BAD_SUMMARIES: dict[str, BadSummary] = {
    "nothing at all": _bad("no text"),
    "blanks": _bad("no text", "  \n\n"),
    "a call": _bad("no text", _CALL, stop="tool_use"),
    "a summary and a call": _bad("no text", f"<summary>{_GOOD}</summary>", _CALL, stop="tool_use"),
    "a refusal, said so": _bad("refused", "I can't help with that.", stop="refusal"),
    "a refusal as a text": _bad("no tags", "I'm sorry, but I cannot summarise this conversation."),
    "an error as a text": _bad("no tags", "Error 529: the service is overloaded, please try again later."),
    "a text without tags": _bad("no tags", _GOOD),
    "the analysis alone": _bad("no tags", f"<analysis>{_GOOD}</analysis>"),
    "never ended": _bad("no tags", f"<summary>{_GOOD}"),
    "never begun": _bad("no tags", f"{_GOOD}</summary>"),
    "cut off, in the summary": _bad("cut off", f"<summary>{_GOOD}", stop="max_tokens"),
    "cut off, right behind it": _bad("cut off", f"<summary>{_GOOD}</summary>", stop="context_window_exceeded"),
    "two summaries": _bad("several summaries", f"<summary>{_GOOD}</summary>\n<summary>{_GOOD}</summary>"),
    "a greeting before": _bad("text outside", f"Sure, here it is:\n<summary>{_GOOD}</summary>"),
    "a question behind": _bad("text outside", f"<summary>{_GOOD}</summary>\nShall I go on with the next module?"),
    "empty": _bad("empty", "<analysis>Much happened.</analysis><summary></summary>"),
    "empty, with line ends": _bad("empty", "<summary>\n\n</summary>"),
    "headings only": _bad("headings only", "<summary>## Goal\n## Done\n## Next</summary>"),
    "headings with 'none' below": _bad("headings only", SKELETON),
}


class SkeletonWriter:
    """Passes everything on to another model; but of every two requests for a summary, the first gets headings only.

    A request without tools is taken for one. That half of all summaries were such skeletons has been counted
    (openclaw/openclaw#120663, August 2026).

    Args:
        client: the model.
    """

    def __init__(self, client: LLMClient) -> None:
        self.client = client
        self.asked = 0

    @property
    def window_tokens(self) -> int:
        """Tokens of the model's window."""
        return self.client.window_tokens

    def complete(
        self, messages: Messages, *, system: str = "", tools: Sequence[ToolSpec] = (), max_tokens: int = 4_096
    ) -> Response:
        """Ask the model; what it says may get lost, what it costs does not."""
        response = self.client.complete(messages, system=system, tools=tools, max_tokens=max_tokens)
        self.asked += not tools
        return response if tools or self.asked % 2 == 0 else replace(response, message=assistant(SKELETON))
