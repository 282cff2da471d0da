"""Two ladders of two articles, as data: five levels, and two layers at 70 % (chapter 06).

    >>> [f"{step.at_ratio:.2f} {step.name}" for step in five_levels(MessageCounter(len)).steps]
    ['0.80 halve the reserve', '0.85 snip long results', '0.90 shrink the older half', '0.95 context folding']

Where ours differ from the articles': the climb goes from the gentlest step up, and its target lies below the trigger.
The fifth level, the loop over the first four again, is `max_passes`.

What this leaves out on purpose: the course's other two ladders, three layers (chapter 07) and five tiers (chapter 09).
Source: chapter 06; ratios and sizes are those of two articles on agent context management (2026).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from course_lib.client import LLMClient
from course_lib.compaction import Strategy
from course_lib.history_parts import MAX_RECENT_TOKENS, edit_blocks
from course_lib.ladder import HalveReserve, Ladder, Step
from course_lib.messages import Block, Message, Messages, Role, TextBlock, ToolResultBlock, tool_uses
from course_lib.strategies import ContextFolding, Summarisation, ToolResultCompression
from course_lib.text_cuts import head, snip_middle
from course_lib.tokens import MessageCounter

__all__ = ["ShrinkOlderHalf", "SnipOldResults", "five_levels", "two_layers"]


@dataclass(frozen=True, kw_only=True)
class ShrinkOlderHalf:
    """In the older half of the messages, long results become placeholders and long answers keep their beginning.

    Args:
        max_result_tokens: results with more give way to a placeholder with their size; errors stay.
        max_text_tokens: an assistant's texts with more are cut.
        keep_text_tokens: what is left of those.
        counter: counts them.
    """

    counter: MessageCounter = field(repr=False, compare=False)
    name: str = "shrink the older half"
    max_result_tokens: int = 300
    max_text_tokens: int = 800
    keep_text_tokens: int = 400

    def __call__(self, messages: Messages) -> Messages:
        """Return the messages, those of the older half shorter."""
        middle = len(messages) // 2
        names = {call.id: call.name for message in messages for call in tool_uses(message)}
        return (*(self._shorter(message, names) for message in messages[:middle]), *messages[middle:])

    def _shorter(self, message: Message, names: Mapping[str, str]) -> Message:
        if message.kind != "chat":
            return message
        return edit_blocks(message, lambda block: self._small(block, message.role, names))

    def _small(self, block: Block, role: Role, names: Mapping[str, str]) -> Block:
        tokens = self.counter.block(block)
        match block:
            case ToolResultBlock(is_error=False) if tokens > self.max_result_tokens:
                name = names.get(block.tool_use_id, "a tool")
                short: Block = ToolResultBlock(block.tool_use_id, f"[result of {name} left out: {tokens:,} tokens]")
            case TextBlock(text) if role == "assistant" and tokens > self.max_text_tokens:
                kept = head(text, self.keep_text_tokens, self.counter.text)
                short = TextBlock(f"{kept}\n[… the rest of {tokens:,} tokens left out …]")
            case _:
                return block
        return short if self.counter.block(short) < tokens else block


def five_levels(
    counter: MessageCounter,
    *,
    client: LLMClient | None = None,
    target_ratio: float = 0.7,
    max_passes: int = 2,
    max_recent_tokens: int = MAX_RECENT_TOKENS,
) -> Ladder:
    """Return the ladder of five graded levels.

    Args:
        counter: counts texts and messages.
        client: writes the summary of the fourth level; without one, rules write it.
        target_ratio: where a climb ends; the article's climb ends just below its own trigger.
        max_passes: the fifth level: how often one climb may go over the other four.
        max_recent_tokens: of the messages that the fourth level leaves alone: well below the target, in a small window.
    """
    last: Strategy = ContextFolding(counter=counter, max_recent_tokens=max_recent_tokens)
    if client:
        last = Summarisation(client=client, keep_messages=4, counter=counter, max_recent_tokens=max_recent_tokens)
    return Ladder(
        name="five levels",
        steps=(
            Step(0.80, HalveReserve()),
            Step(0.85, ToolResultCompression(name="snip long results", max_result_tokens=2_000, counter=counter)),
            Step(0.90, ShrinkOlderHalf(counter=counter)),
            Step(0.95, last),
        ),
        target_ratio=target_ratio,
        max_passes=max_passes,
    )


@dataclass(frozen=True, kw_only=True)
class SnipOldResults:
    """Tool results older than the last messages keep the first half and the last quarter of a limit in characters.

    Args:
        keep_messages: this many of the last messages are left as they are.
        max_chars: longer texts inside results are snipped.
    """

    name: str = "snip old results"
    keep_messages: int = 6
    max_chars: int = 2_000

    def __call__(self, messages: Messages) -> Messages:
        """Return the messages with the old results snipped."""
        end = max(0, len(messages) - self.keep_messages)
        return (*map(self._snipped, messages[:end]), *messages[end:])

    def _snipped(self, message: Message) -> Message:
        return edit_blocks(message, lambda block: self._shorter(block) if isinstance(block, ToolResultBlock) else block)

    def _shorter(self, result: ToolResultBlock) -> ToolResultBlock:
        content = tuple(
            TextBlock(snip_middle(b.text, self.max_chars)) if isinstance(b, TextBlock) else b for b in result.content
        )
        return result if content == result.content else replace(result, content=content)


def two_layers(
    client: LLMClient,
    counter: MessageCounter,
    *,
    target_ratio: float = 0.5,
    max_recent_tokens: int = MAX_RECENT_TOKENS,
) -> Ladder:
    """Return the two-layer pipeline: snip old results at 70 % of the window; if that is not enough, a model summary.

    Args:
        client: writes the summary.
        counter: counts texts and messages.
        target_ratio: where a climb ends.
        max_recent_tokens: of the messages that the summary leaves alone.
    """
    summary = Summarisation(client=client, keep_messages=6, counter=counter, max_recent_tokens=max_recent_tokens)
    return Ladder(
        name="two layers",
        steps=(
            Step(0.70, SnipOldResults()),
            Step(0.70, summary),
        ),
        target_ratio=target_ratio,
        max_passes=1,
    )
