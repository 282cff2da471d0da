"""How many tokens is a text, a message, a request? (chapter 03).

A `TokenCounter` is any function from a text to a number. Three are here:

    TiktokenCounter()        exact for OpenAI's models, offline: the vocabulary ships with the course
    chars_counter(3.5)       characters divided by a constant: quick, and wrong in ways chapter 03 measures
    cjk_aware_counter()      the same with another constant for Chinese, Japanese and Korean

A `MessageCounter` counts messages with a text counter, each message once: a message is frozen, so its count cannot
change. `rough_estimate` is the block-aware rule of thumb with its safety margin.

    >>> chars_counter(4)("sixteen letters!")
    4
    >>> TiktokenCounter()("sixteen letters!")
    4

What this leaves out on purpose: an estimate that fits all kinds of text (`token_estimator`), and what the provider
*billed* (`usage_count`).
Source: chapter 03; the estimators are those of four articles on context management (2026).
"""

import json
import math
import re
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import tiktoken

from course_lib.errors import SettingsError, TokenizerDataError
from course_lib.messages import (
    Block,
    DocumentBlock,
    ImageBlock,
    Message,
    RawBlock,
    ToolResultBlock,
    ToolSpec,
    ToolUseBlock,
)
from course_lib.vocabularies import VOCABULARIES, prepare_vocabularies

__all__ = [
    "DEFAULT_ENCODING",
    "IMAGE_TOKENS",
    "MESSAGE_OVERHEAD_TOKENS",
    "SAFETY_FACTOR",
    "MessageCounter",
    "TiktokenCounter",
    "TokenCounter",
    "chars_counter",
    "cjk_aware_counter",
    "encoding_name_for_model",
    "rough_estimate",
]

TokenCounter: TypeAlias = Callable[[str], int]

DEFAULT_ENCODING = "o200k_base"  # the stand-in for models whose vocabulary nobody published
IMAGE_TOKENS = 2_000  # an image or a document, whatever is in it
MESSAGE_OVERHEAD_TOKENS = 4  # role and separators around each message
SAFETY_FACTOR = 4 / 3
_PIECE_CHARS = 100_000  # a run of about a million blanks makes tiktoken's regular expressions give up


class TiktokenCounter:
    """Counts exactly, with the vocabulary that ships with the course: no download, ever.

    A text of more than 100,000 characters is counted in pieces, and each seam may cost a token or two.

    Args:
        encoding: "o200k_base" (current OpenAI models) or "cl100k_base" (older ones).

    Raises:
        TokenizerDataError: an encoding that does not ship, or a vocabulary that cannot be unpacked.
    """

    def __init__(self, encoding: str = DEFAULT_ENCODING) -> None:
        if encoding not in VOCABULARIES:
            raise TokenizerDataError(
                f"encoding {encoding!r} does not ship with the course: use one of {', '.join(VOCABULARIES)}"
            )
        prepare_vocabularies()
        self.encoding = encoding
        self._encode = tiktoken.get_encoding(encoding).encode_ordinary

    def __call__(self, text: str) -> int:
        """Return the tokens of the text; text that looks like a special token counts as the plain text it is."""
        if len(text) <= _PIECE_CHARS:
            return len(self._encode(text))
        return sum(len(self._encode(piece)) for piece in _pieces(text))

    def __repr__(self) -> str:
        return f"TiktokenCounter({self.encoding!r})"


def _pieces(text: str) -> Iterable[str]:
    """Cut a long text before line starts, where tokens end too, or after _PIECE_CHARS where a line is longer."""
    start = 0
    while start < len(text):
        end = start + _PIECE_CHARS
        if end < len(text):
            cut = text.rfind("\n", start, end) + 1
            while cut > start and text[cut] in "\r\n/":  # a token may reach into an empty line, or into "//"
                cut = text.rfind("\n", start, cut - 1) + 1
            end = cut if cut > start else end
        yield text[start:end]
        start = end


def encoding_name_for_model(model: str) -> str:
    """Return the encoding of a model; `DEFAULT_ENCODING` where the vocabulary is not public (all of Anthropic's)."""
    try:
        name = tiktoken.encoding_name_for_model(model)
    except KeyError:
        return DEFAULT_ENCODING
    return name if name in VOCABULARIES else DEFAULT_ENCODING


def chars_counter(chars_per_token: float = 3.5) -> TokenCounter:
    """Return a counter that divides the characters by a constant and rounds up (3.5 and 4 are usual)."""
    if chars_per_token <= 0:
        raise SettingsError(f"chars_per_token is {chars_per_token}: expected a number above 0")
    return lambda text: math.ceil(len(text) / chars_per_token)


_CJK = re.compile(r"[　-ヿ㐀-䶿一-鿿가-힯豈-﫿＀-￯\U00020000-\U0003ffff]")


def cjk_aware_counter(cjk_chars_per_token: float = 1.5, other_chars_per_token: float = 4.0) -> TokenCounter:
    """Return a counter that divides Chinese, Japanese and Korean characters by their own constant, and rounds up."""
    if min(cjk_chars_per_token, other_chars_per_token) <= 0:
        raise SettingsError(f"characters a token {cjk_chars_per_token}, {other_chars_per_token}: expected above 0")

    def count(text: str) -> int:
        cjk = len(_CJK.findall(text))
        return math.ceil(cjk / cjk_chars_per_token + (len(text) - cjk) / other_chars_per_token)

    return count


class MessageCounter:
    """Counts messages and whole requests with a text counter; each message object is counted once.

    Args:
        counter: tokens of a text.
        image_tokens: tokens of an image or a document.
        message_overhead_tokens: tokens around each message (role, separators).
    """

    def __init__(
        self,
        counter: TokenCounter,
        *,
        image_tokens: int = IMAGE_TOKENS,
        message_overhead_tokens: int = MESSAGE_OVERHEAD_TOKENS,
    ) -> None:
        self.text = counter
        self.image_tokens = image_tokens
        self.message_overhead_tokens = message_overhead_tokens
        self._counted: dict[int, tuple[weakref.ref[Message], int]] = {}

    def block(self, block: Block) -> int:
        """Return the tokens of one block; what is inside a tool result and a call's arguments count in full."""
        match block:
            case ToolUseBlock():
                return self.text(block.name) + self.text(json.dumps(dict(block.input), ensure_ascii=False))
            case ToolResultBlock():
                return sum(map(self.block, block.content))
            case DocumentBlock(media_type="text/plain", data=data) if data:  # its text is known, so it is counted
                return self.text(block.title) + self.text(data)
            case ImageBlock() | DocumentBlock() | RawBlock({"type": "image" | "document"}):
                return self.image_tokens
            case RawBlock(raw):
                return self.text(json.dumps(dict(raw), ensure_ascii=False))
        return self.text(block.text)

    def message(self, message: Message) -> int:
        """Return the tokens of one message, framing included."""
        known = self._counted.get(id(message))
        if known and known[0]() is message:
            return known[1]
        tokens = self.message_overhead_tokens + sum(map(self.block, message.content))
        key = id(message)
        self._counted[key] = (weakref.ref(message, lambda _: self._counted.pop(key, None)), tokens)
        return tokens

    def messages(self, messages: Iterable[Message]) -> int:
        """Return the tokens of the messages."""
        return sum(map(self.message, messages))

    def tool(self, tool: ToolSpec) -> int:
        """Return the tokens of one tool definition: name, description and schema, as sent."""
        return self.text(json.dumps([tool.name, tool.description, dict(tool.input_schema)], ensure_ascii=False))

    def request(self, messages: Iterable[Message], *, system: str = "", tools: Sequence[ToolSpec] = ()) -> int:
        """Return the tokens of a whole request: system prompt, tool definitions and messages."""
        fixed = (self.text(system) if system else 0) + sum(map(self.tool, tools))
        return fixed + self.messages(messages)


def rough_estimate(messages: Iterable[Message], *, safety_factor: float = SAFETY_FACTOR) -> int:
    """Return the block-aware rule of thumb: four characters a token, images at a fixed size, times a safety factor."""
    counter = MessageCounter(chars_counter(4), message_overhead_tokens=0)
    return math.ceil(counter.messages(messages) * safety_factor)
