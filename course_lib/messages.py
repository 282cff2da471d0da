"""The values a conversation is made of (chapter 01).

A conversation is a tuple of messages; a message is a role and a tuple of blocks. All of them are frozen: managing
context means making a *new* tuple, in which every message that was not touched is the very same object. So "what
changed?" is a comparison of identities, and a message needs to be counted only once.

    >>> question = user("What is in a.txt?")
    >>> call = assistant("I look.", ToolUseBlock("c1", "read_file", {"path": "a.txt"}))
    >>> answer = user(ToolResultBlock("c1", "hello"))
    >>> [message.role for message in (question, call, answer)]
    ['user', 'assistant', 'user']
    >>> answer.content[0].text
    'hello'

The shape is the one of Anthropic's Messages API: all results of one batch of calls in one user message, directly
after the calls. `wire_anthropic` and `wire_openai` convert it to and from the providers' records.

What this leaves out on purpose: the system prompt and the tool definitions. They are arguments of a request, not part
of the conversation (chapter 02).
Source: chapter 01; the blocks are those of Anthropic's API reference, November 2026.
"""

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from course_lib.errors import MessageFormatError

__all__ = [
    "Block",
    "DocumentBlock",
    "ImageBlock",
    "Kind",
    "Message",
    "Messages",
    "RawBlock",
    "Role",
    "TextBlock",
    "ThinkingBlock",
    "ToolResultBlock",
    "ToolSpec",
    "ToolUseBlock",
    "Usage",
    "assistant",
    "message_text",
    "tool_results",
    "tool_uses",
    "user",
]

Role = Literal["user", "assistant"]
# What a message is for. Only `chat` was said by somebody; the others are written by a compaction (chapters 07-10).
Kind = Literal["chat", "boundary", "summary", "restored"]


@dataclass(frozen=True)
class TextBlock:
    """Plain text."""

    text: str


@dataclass(frozen=True)
class ThinkingBlock:
    """A model's reasoning. The signature proves to the provider that nobody edited it, so nobody may."""

    thinking: str
    signature: str = ""

    @property
    def text(self) -> str:
        """The reasoning as text."""
        return self.thinking


@dataclass(frozen=True)
class ToolUseBlock:
    """A call: the model asks for tool `name` with `input`; `id` ties the result to it.

    Arguments that are not a JSON object are kept under the one key `INVALID_JSON`, so that nothing is lost.
    """

    id: str
    name: str
    input: Mapping[str, Any] = field(hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "input", _own_copy(self.input, f"input of tool call {self.id!r}"))


@dataclass(frozen=True)
class ImageBlock:
    """An image: base64 `data` of a `media_type`, or a `url`."""

    media_type: str = ""
    data: str = field(default="", repr=False)
    url: str = ""


@dataclass(frozen=True)
class DocumentBlock:
    """A document: base64 `data` of a `media_type` (plain text as it is for text/plain), or a `url`."""

    media_type: str = ""
    data: str = field(default="", repr=False)
    url: str = ""
    title: str = ""


@dataclass(frozen=True)
class RawBlock:
    """A provider's block that the course has no name for, kept word for word (server tools, redacted thinking, …)."""

    raw: Mapping[str, Any] = field(hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "raw", _own_copy(self.raw, "a raw block"))


@dataclass(frozen=True)
class ToolResultBlock:
    """What a tool gave back for the call `tool_use_id`; a string is taken as one text block."""

    tool_use_id: str
    content: "tuple[Block, ...]"
    is_error: bool = False

    def __init__(self, tool_use_id: str, content: "str | Iterable[Block]" = (), is_error: bool = False) -> None:
        object.__setattr__(self, "tool_use_id", tool_use_id)
        object.__setattr__(self, "content", _as_blocks(content))
        object.__setattr__(self, "is_error", is_error)

    @property
    def text(self) -> str:
        """All text inside, nested results included, joined by line ends."""
        return "\n".join(part for part in map(_block_text, self.content) if part)


Block: TypeAlias = TextBlock | ThinkingBlock | ToolUseBlock | ToolResultBlock | ImageBlock | DocumentBlock | RawBlock
_BLOCK_TYPES = (TextBlock, ThinkingBlock, ToolUseBlock, ToolResultBlock, ImageBlock, DocumentBlock, RawBlock)


@dataclass(frozen=True)
class Usage:
    """Tokens of one model call as billed, in disjoint buckets (no token is in two of them).

    Anthropic reports them so; OpenAI's prompt count includes the cached part, which `course_lib.providers` takes out.
    """

    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0

    @property
    def context_tokens(self) -> int:
        """Tokens of the request: everything the model read, cached or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens


@dataclass(frozen=True)
class Message:
    """One turn: who spoke (`role`) and what (`content`).

    `usage` is what the provider reported for the call that produced an assistant message; `id` is its name in a
    transcript. Neither is part of what was said, so neither takes part in equality.
    """

    role: Role
    content: tuple[Block, ...]
    kind: Kind = "chat"
    usage: Usage | None = field(default=None, compare=False)
    id: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.role not in ("user", "assistant"):
            raise MessageFormatError(
                f"role {self.role!r}: expected 'user' or 'assistant' (a system prompt is no message)"
            )
        if self.kind not in get_args(Kind):
            raise MessageFormatError(f"kind {self.kind!r}: expected one of {', '.join(get_args(Kind))}")
        object.__setattr__(self, "content", _as_blocks(self.content))
        stranger = ToolUseBlock if self.role == "user" else ToolResultBlock
        if any(isinstance(block, stranger) for block in self.content):
            raise MessageFormatError(
                f"{stranger.__name__} in a message of role {self.role!r}: calls are the assistant's, results the user's"
            )


@dataclass(frozen=True)
class ToolSpec:
    """What the model is told about a tool: its name, what it does, and a JSON schema of its input.

    Part of every request, so its tokens are paid in every round (chapter 04).
    """

    name: str
    description: str
    input_schema: Mapping[str, Any] = field(hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "input_schema", _own_copy(self.input_schema, f"input schema of tool {self.name!r}"))


Messages: TypeAlias = tuple[Message, ...]


def user(*parts: str | Block, kind: Kind = "chat") -> Message:
    """Return a user message made of the parts, in order; a string becomes a text block."""
    return Message("user", _as_blocks(parts), kind)


def assistant(*parts: str | Block, kind: Kind = "chat", usage: Usage | None = None) -> Message:
    """Return an assistant message made of the parts, in order; a string becomes a text block."""
    return Message("assistant", _as_blocks(parts), kind, usage)


def tool_uses(message: Message) -> tuple[ToolUseBlock, ...]:
    """Return the calls in the message, in order (parallel calls are several)."""
    return tuple(block for block in message.content if isinstance(block, ToolUseBlock))


def tool_results(message: Message) -> tuple[ToolResultBlock, ...]:
    """Return the tool results in the message, in order."""
    return tuple(block for block in message.content if isinstance(block, ToolResultBlock))


def message_text(message: Message) -> str:
    """Return the text of the message's text blocks, joined by line ends (no thinking, calls or results)."""
    return "\n".join(block.text for block in message.content if isinstance(block, TextBlock))


def _as_blocks(parts: "str | Iterable[str | Block]") -> tuple[Block, ...]:
    if isinstance(parts, str):
        parts = (parts,)
    if isinstance(parts, Mapping) or not isinstance(parts, Iterable):
        raise MessageFormatError(f"{parts!r} is no content: expected a string or a sequence of blocks")
    blocks = tuple(TextBlock(part) if isinstance(part, str) else part for part in parts)
    for block in blocks:
        if not isinstance(block, _BLOCK_TYPES):
            raise MessageFormatError(f"{block!r} is no block: expected a string or one of the block classes")
    return blocks


def _own_copy(value: object, what: str) -> dict[str, Any]:
    """A deep copy, so that the caller's mapping stays the caller's and a message never changes."""
    if not isinstance(value, Mapping):
        raise MessageFormatError(f"{what} is {value!r}: expected a mapping")
    try:
        return copy.deepcopy(dict(value))
    except RecursionError:
        raise MessageFormatError(f"{what} is nested too deeply to be copied") from None


def _block_text(block: Block) -> str:
    return block.text if isinstance(block, TextBlock | ToolResultBlock) else ""
