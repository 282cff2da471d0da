"""Three layers: micro before every request, auto at a threshold, manual when somebody asks (chapter 07).

    micro    only the newest three tool results stay whole; an older one becomes a line that names its tool
    auto     at 50,000 tokens: the transcript is saved, then a two-stage summary of the older part
    manual   a tool that the model may call, `compact`, and a button that you may press

    >>> from course_lib.client import ScriptedClient
    >>> ladder = three_layers(ScriptedClient([]), MessageCounter(len), available_tokens=100_000)
    >>> [strategy.name for strategy in ladder.always], [(step.at_ratio, step.name) for step in ladder.steps]
    (['clear old results'], [(0.5, 'two-stage summary')])

What this leaves out on purpose: what clearing a result before *every* request does to the prompt cache (chapter 08).
Source: chapter 07; the layers and their numbers are those of published course notes on Claude Code (2026).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from course_lib.agent import Tool
from course_lib.client import LLMClient
from course_lib.compaction import Strategy
from course_lib.errors import SettingsError
from course_lib.ladder import Ladder, Step
from course_lib.manager import ContextManager
from course_lib.messages import Messages, ToolSpec
from course_lib.microcompact import ClearOldResults
from course_lib.summarize import TwoStageSummary
from course_lib.tokens import MessageCounter
from course_lib.transcript import Transcript

__all__ = ["AUTO_TOKENS", "SaveFirst", "compact_tool", "three_layers"]

AUTO_TOKENS = 50_000


def three_layers(
    client: LLMClient,
    counter: MessageCounter,
    *,
    available_tokens: int,
    auto_tokens: int = AUTO_TOKENS,
    keep_results: int = 3,
    target_share: float = 0.6,
    exclude_tools: Iterable[str] = (),
    transcript: Transcript | None = None,
) -> Ladder:
    """Return micro and auto as a ladder; manual is `ContextManager.compact`, and `compact_tool` for the model.

    Args:
        client: writes the summary.
        counter: counts texts and messages.
        available_tokens: what the window has for messages.
        auto_tokens: from so many tokens of messages on, a summary is written; at most 0.9 of what is available.
        keep_results: tool results that stay whole.
        target_share: of the threshold: where a climb ends.
        exclude_tools: tools whose results are never cleared.
        transcript: where everything is saved before a summary is asked for.

    Raises:
        SettingsError: there is no room for messages.
    """
    if available_tokens < 1:
        raise SettingsError(f"available_tokens is {available_tokens}: the window has no room for messages")
    at_ratio = min(0.9, auto_tokens / available_tokens)
    summary: Strategy = TwoStageSummary(client=client, counter=counter)
    if transcript:
        summary = SaveFirst(strategy=summary, transcript=transcript)
    return Ladder(
        name="three layers",
        always=(ClearOldResults(keep_results=keep_results, exclude_tools=frozenset(exclude_tools), counter=counter),),
        steps=(Step(at_ratio, summary),),
        target_ratio=target_share * at_ratio,
        max_passes=1,
    )


@dataclass(frozen=True, kw_only=True)
class SaveFirst:
    """A strategy that saves the conversation before it is made shorter; what cannot be saved is not touched."""

    strategy: Strategy
    transcript: Transcript

    @property
    def name(self) -> str:
        """The strategy's own."""
        return self.strategy.name

    def __call__(self, messages: Messages) -> Messages:
        """Return what the strategy makes of the messages.

        Raises:
            TranscriptError: they could not be saved.
        """
        self.transcript.save(messages)
        return self.strategy(messages)


def compact_tool(manager: ContextManager) -> Tool:
    """Return a tool with which the model asks for a compaction; it comes before the next request, not amid a batch."""
    spec = ToolSpec(
        "compact",
        "Make the conversation shorter when much of it is not needed any more. It happens before your next turn: what "
        "you were asked, decisions and open work are kept in a summary.",
        {"type": "object", "properties": {}, "required": []},
    )

    def run(_: object) -> str:
        manager.request_compaction()
        return "The conversation will be made shorter before your next turn."

    return Tool(spec, run)
