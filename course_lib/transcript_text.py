"""A conversation as plain text, for a model that is to summarise it (chapter 05).

    >>> from course_lib.messages import ToolUseBlock, assistant, user
    >>> print(as_text(assistant("I look.", ToolUseBlock("c1", "read_file", {"path": "a.txt"})), 100, len))
    ASSISTANT: I look.
    CALL c1 read_file {"path": "a.txt"}
    >>> print(as_text(user(ToolResultBlock("c1", "no such file", is_error=True)), 100, len))
    ERROR of c1: no such file

Text and not messages: a model that gets messages answers them, and a provider wants the tools that they call.

What this leaves out on purpose: thinking, whose signature is for its own conversation only, and what an image shows.
Source: chapter 05.
"""

import json
from collections.abc import Iterable, Iterator

from course_lib.messages import (
    Block,
    DocumentBlock,
    ImageBlock,
    Message,
    RawBlock,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from course_lib.text_cuts import fill_level, shorten
from course_lib.tokens import TokenCounter

__all__ = ["as_pieces", "as_text"]

_SPEAKERS = {"user": "USER", "assistant": "ASSISTANT"}


def as_text(message: Message, max_tokens: int, count: TokenCounter) -> str:
    """Return the message as lines of text of at most `max_tokens`; a longer one loses the middle of its longest blocks.

    Args:
        message: any message.
        max_tokens: of the text.
        count: tokens of a text.
    """
    lines = [line for block in message.content for line in _lines(block, _SPEAKERS[message.role])]
    text = "\n".join(lines)
    if count(text) <= max_tokens:
        return text
    most = fill_level(map(count, lines), max_tokens - len(lines))  # every block is there, if only in part
    return shorten("\n".join(shorten(line, max(0, most), count) for line in lines), max_tokens, count)


def as_pieces(messages: Iterable[Message], max_tokens: int, count: TokenCounter) -> list[str]:
    """Return the messages as texts of at most `max_tokens` each, for a window that is too small for all of them.

    Every message that has something to show is in one of the texts, and whole, unless it is too long for a text alone.
    """
    pieces: list[list[str]] = []
    left = 0
    for message in messages:
        text = as_text(message, max_tokens - 1, count)
        tokens = count(text) + 1  # the line end behind it
        if text and tokens > left:
            pieces.append([])
            left = max_tokens
        if text:
            pieces[-1].append(text)
            left -= tokens
    return ["\n".join(texts) for texts in pieces]


def _lines(block: Block, speaker: str) -> Iterator[str]:
    match block:
        case TextBlock(text):
            yield f"{speaker}: {text}"
        case ToolUseBlock(id_, name, given):
            yield f"CALL {id_} {name} {json.dumps(dict(given), ensure_ascii=False)}"
        case ToolResultBlock(tool_use_id, content, is_error):
            inner = "\n".join(_inside(part) for part in content)
            yield f"{'ERROR' if is_error else 'RESULT'} of {tool_use_id}: {inner}"
        case ImageBlock() | DocumentBlock() | RawBlock():
            yield f"{speaker}: {_inside(block)}"


def _inside(block: Block) -> str:
    match block:
        case TextBlock(text):
            return text
        case ToolResultBlock():
            return "\n".join(map(_inside, block.content))
        case ImageBlock():
            return "[an image]"
        case DocumentBlock(title=title):
            return f"[a document{': ' + title if title else ''}]"
    return "[a block of another kind]"
