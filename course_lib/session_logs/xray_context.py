"""What stands in a conversation's context at a moment, in tokens by part and by tool (chapter 04).

Messages come in, a compaction takes them out again. No text is kept, only numbers, and only for the latest messages one
by one: older ones are in the sums, and can no longer be taken out singly.

Source: chapter 04.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from course_lib.messages import (
    Block,
    DocumentBlock,
    ImageBlock,
    Message,
    ThinkingBlock,
    ToolResultBlock,
)
from course_lib.tokens import MessageCounter
from course_lib.window import PARTS, Part

__all__ = ["MOST_ENTRIES", "ContextFold", "Entry", "ResultTokens", "counted_blocks", "parts_of"]

MOST_ENTRIES = 4_000  # messages that can still be taken out one by one
_PLACE: dict[Part, int] = {part: place for place, part in enumerate(PARTS)}


@dataclass(slots=True)
class ResultTokens:
    """A tool result in the context: which call it answers, which tool it came from (a number), its tokens."""

    tool_use_id: str
    tool: int
    tokens: int


@dataclass(slots=True)
class Entry:
    """One message in the context: its tokens by part, and its tool results."""

    parts: list[int]
    results: list[ResultTokens] = field(default_factory=list)


def counted_blocks(message: Message, counter: MessageCounter) -> list[tuple[Block, int]]:
    """Return the blocks of a message with their tokens, each counted once."""
    return [(block, counter.block(block)) for block in message.content]


def parts_of(message: Message, counted: Iterable[tuple[Block, int]], counter: MessageCounter) -> list[int]:
    """Return the message's tokens by part, framing included: the same as `window.composition` says."""
    speaker: Part = "assistant" if message.role == "assistant" else "user"
    parts = [0] * len(PARTS)
    seen: set[Part] = set()
    for block, tokens in counted:
        part = _part(block, speaker)
        seen.add(part)
        parts[_PLACE[part]] += tokens
    framing: Part = "tool_results" if seen == {"tool_results"} else speaker
    parts[_PLACE[framing]] += counter.message_overhead_tokens
    return parts


def _part(block: Block, speaker: Part) -> Part:
    if isinstance(block, ToolResultBlock):
        return "tool_results"
    if isinstance(block, ThinkingBlock):
        return "thinking"
    return "documents" if isinstance(block, ImageBlock | DocumentBlock) else speaker


class ContextFold:
    """The context of one thread, kept up to date message by message.

    Attributes:
        parts: tokens by part, in the order of `window.PARTS`.
        by_tool: tokens of tool results by the tool's number.
    """

    def __init__(self, most_entries: int = MOST_ENTRIES) -> None:
        self.parts = [0] * len(PARTS)
        self.by_tool: list[int] = []
        self._most_entries = most_entries
        self._entries: deque[Entry] = deque()
        self._by_id: dict[str, ResultTokens] = {}

    @property
    def tokens(self) -> int:
        """All visible tokens."""
        return sum(self.parts)

    def set_fixed(self, system_tokens: int, tools_tokens: int) -> None:
        """Put system prompt and tool definitions in the place of earlier ones."""
        self.parts[_PLACE["system"]] = system_tokens
        self.parts[_PLACE["tools"]] = tools_tokens

    def add(self, entry: Entry) -> None:
        """Take a message in; beyond `most_entries` the oldest is only remembered in the sums."""
        self._entries.append(entry)
        for place, tokens in enumerate(entry.parts):
            self.parts[place] += tokens
        for result in entry.results:
            self._add_to_tool(result.tool, result.tokens)
            self._by_id[result.tool_use_id] = result
        if len(self._entries) > self._most_entries:
            for result in self._entries.popleft().results:
                if self._by_id.get(result.tool_use_id) is result:
                    del self._by_id[result.tool_use_id]

    def compact(self, replacement: Sequence[Entry], kept_messages: int) -> None:
        """Replace everything but the fixed part and the latest messages."""
        kept = list(self._entries)[-kept_messages:] if kept_messages else []
        fixed = (self.parts[_PLACE["system"]], self.parts[_PLACE["tools"]])
        self.parts = [0] * len(PARTS)
        self.by_tool, self._by_id = [], {}
        self._entries.clear()
        self.set_fixed(*fixed)
        for entry in (*replacement, *kept):
            self.add(entry)

    def rewind(self, messages: int) -> None:
        """Take the latest messages out again: somebody went back to an earlier point."""
        for _ in range(min(messages, len(self._entries))):
            entry = self._entries.pop()
            for place, tokens in enumerate(entry.parts):
                self.parts[place] -= tokens
            for result in entry.results:
                self._add_to_tool(result.tool, -result.tokens)
                if self._by_id.get(result.tool_use_id) is result:
                    del self._by_id[result.tool_use_id]

    def clear_results(self, tool_use_ids: Iterable[str]) -> list[str]:
        """Take single results out; return the ids of those that were there."""
        found = []
        for tool_use_id in tool_use_ids:
            result = self._by_id.get(tool_use_id)
            if result is not None and result.tokens:
                found.append(tool_use_id)
                self._take_out(result)
        return found

    def _take_out(self, result: ResultTokens) -> None:
        self.parts[_PLACE["tool_results"]] -= result.tokens
        self._add_to_tool(result.tool, -result.tokens)
        entry = next((e for e in self._entries if any(one is result for one in e.results)), None)
        if entry is not None:
            entry.parts[_PLACE["tool_results"]] -= result.tokens
        result.tokens = 0

    def _add_to_tool(self, tool: int, tokens: int) -> None:
        self.by_tool += [0] * (tool + 1 - len(self.by_tool))
        self.by_tool[tool] += tokens
