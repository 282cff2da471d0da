"""What fills the context window (chapter 04).

The window is one budget for everything: what the model reads *and* what it writes. Some of it is spent before anybody
says a word (system prompt, tool definitions: the fixed cost), some is kept free for the answer (the reserve), and the
rest is what the conversation may grow into.

    >>> window = Window(context_tokens=128_000, reserve_tokens=4_000)
    >>> window.input_tokens
    124000
    >>> window.available_tokens(fixed_tokens=10_000)
    114000

A request that fits can still have an answer that does not, and a fixed cost is paid in every round:

    >>> Window(context_tokens=131_072, reserve_tokens=32_000).fits(99_509)
    False
    >>> resent_tokens([300] * 10, rounds=7)
    21000

`composition` says how much of a request each part takes: the picture behind every chart of the course. `task_start`
says where the task in hand begins: results before it may be shortened, those after it are being worked with.

What this leaves out on purpose: what to do when it is full. That is the rest of the course.
Source: chapter 04; the five parts, the two examples with round numbers and the current trajectory are from two articles
on context management (2026), the request that does not fit is from a bug report (XiaomiMiMo/MiMo-Code#2356, 2026).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from course_lib.errors import SettingsError
from course_lib.messages import (
    Block,
    DocumentBlock,
    ImageBlock,
    Message,
    RawBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolSpec,
    ToolUseBlock,
)
from course_lib.tokens import MessageCounter
from course_lib.tool_pairs import safe_cut

__all__ = [
    "FIXED_PARTS",
    "PARTS",
    "Composition",
    "Part",
    "Window",
    "composition",
    "is_typed",
    "resent_tokens",
    "task_start",
]

Part = Literal["system", "tools", "user", "assistant", "thinking", "tool_results", "documents"]
PARTS: tuple[Part, ...] = get_args(Part)
FIXED_PARTS: tuple[Part, ...] = ("system", "tools")  # the same in every request; all others grow


@dataclass(frozen=True, kw_only=True)
class Window:
    """A model's context window and the share of it that is kept free for the answer, in tokens."""

    context_tokens: int
    reserve_tokens: int = 4_096

    def __post_init__(self) -> None:
        if not 0 <= self.reserve_tokens < self.context_tokens:
            raise SettingsError(
                f"a window of {self.context_tokens} tokens with a reserve of {self.reserve_tokens}: "
                "the reserve must be at least 0 and smaller than the window"
            )

    @property
    def input_tokens(self) -> int:
        """Tokens that a request may have, the *effective window*: the window without the reserve."""
        return self.context_tokens - self.reserve_tokens

    def fits(self, request_tokens: int) -> bool:
        """Return whether a request of so many tokens fits together with the answer that the reserve is kept for."""
        return request_tokens <= self.input_tokens

    def available_tokens(self, *, fixed_tokens: int) -> int:
        """Return the tokens left for the conversation after the fixed cost (system prompt, tools); never below 0."""
        return max(0, self.input_tokens - fixed_tokens)

    def usage_ratio(self, history_tokens: int, *, fixed_tokens: int) -> float:
        """Return history over available tokens: 1.0 is full, above is over-full; infinite when nothing is available."""
        available = self.available_tokens(fixed_tokens=fixed_tokens)
        return history_tokens / available if available else float("inf")


@dataclass(frozen=True)
class Composition:
    """Tokens of a request by part, beside the window that it was made for."""

    tokens_by_part: dict[Part, int]
    window: Window

    @property
    def total_tokens(self) -> int:
        """Tokens of the whole request."""
        return sum(self.tokens_by_part.values())

    @property
    def fixed_tokens(self) -> int:
        """Tokens that were there before anybody said a word, and are sent again in every round."""
        return sum(self.tokens_by_part.get(part, 0) for part in FIXED_PARTS)

    @property
    def growing_tokens(self) -> int:
        """Tokens of the conversation: everything that is not fixed."""
        return self.total_tokens - self.fixed_tokens

    @property
    def usage_ratio(self) -> float:
        """Growing tokens over what is available for them: 1.0 is full (see `Window.usage_ratio`)."""
        return self.window.usage_ratio(self.growing_tokens, fixed_tokens=self.fixed_tokens)

    @property
    def free_tokens(self) -> int:
        """Tokens that are neither used nor reserved; negative when the request is too long."""
        return self.window.input_tokens - self.total_tokens

    def share(self, part: Part) -> float:
        """Return the part's share of the request, 0 to 1."""
        return self.tokens_by_part[part] / self.total_tokens if self.total_tokens else 0.0


def composition(
    messages: Sequence[Message],
    *,
    window: Window,
    counter: MessageCounter,
    system: str = "",
    tools: Sequence[ToolSpec] = (),
) -> Composition:
    """Return how many tokens of the request each part takes; the parts add up to `counter.request(…)` exactly."""
    tokens: Counter[Part] = Counter(dict.fromkeys(PARTS, 0))
    tokens["system"] = counter.text(system) if system else 0
    tokens["tools"] = sum(map(counter.tool, tools))
    for message in messages:
        tokens.update(_message_parts(message, counter))
    return Composition(dict(tokens), window)


def resent_tokens(item_tokens: Iterable[int], *, rounds: int) -> int:
    """Return what items of these sizes cost in tokens when each of so many rounds sends them all.

    Raises:
        SettingsError: fewer than 0 rounds.
    """
    if rounds < 0:
        raise SettingsError(f"rounds is {rounds}: expected 0 or more")
    return sum(item_tokens) * rounds


def is_typed(message: Message) -> bool:
    """Return whether a person wrote (at least a part of) the message: not a compaction, and more than tool results."""
    by_user = message.role == "user" and message.kind == "chat"
    return by_user and any(not isinstance(block, ToolResultBlock) for block in message.content)


def task_start(messages: Sequence[Message]) -> int:
    """Return the index at which the task in hand begins: the last message that a person typed; 0 if there is none.

    `messages[task_start(messages):]` is the current trajectory. It parts no call from its results: where the message
    holds results as well, their calls come along. What no rule can see is whether "go on" begins a task or continues
    one: it counts as a beginning.
    """
    typed = next((index for index in range(len(messages) - 1, -1, -1) if is_typed(messages[index])), 0)
    return safe_cut(messages, typed)


def _message_parts(message: Message, counter: MessageCounter) -> Counter[Part]:
    speaker: Part = "assistant" if message.role == "assistant" else "user"
    tokens: Counter[Part] = Counter()
    for block in message.content:
        for part, piece in _parts(block, speaker):
            tokens[part] += counter.block(piece)
    framing: Part = "tool_results" if set(tokens) == {"tool_results"} else speaker
    tokens[framing] += counter.message_overhead_tokens
    return tokens


def _parts(block: Block, speaker: Part) -> Iterator[tuple[Part, Block]]:
    match block:
        case ThinkingBlock():
            yield "thinking", block
        case ToolResultBlock():
            yield "tool_results", block
        case ImageBlock() | DocumentBlock():
            yield "documents", block
        case TextBlock() | ToolUseBlock() | RawBlock():
            yield speaker, block
