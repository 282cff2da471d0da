"""Which part of a conversation is old, and which must stay (chapter 05).

    pinned    what was asked: the first request of the user, and the latest one
    older     everything else before the recent messages: what a strategy may make shorter
    recent    the last messages, whole batches, of a bounded size
    front     everything before the recent messages, as it was: pinned and older in one

    >>> from course_lib.messages import user
    >>> history = (user("the task"), *(user(f"turn {number}") for number in range(9)))
    >>> parts = split_history(history, keep_messages=3, counter=MessageCounter(len))
    >>> [len(part) for part in (parts.pinned, parts.older, parts.recent)]
    [1, 6, 3]

"The last twenty messages" is no bound: one of them may hold a file of a megabyte. So the recent part also has a limit
in tokens. The largest tool results in it are shortened first, those that nobody has read yet last of all, and only then
do its oldest batches go.

What this leaves out on purpose: what becomes of the older part. That is the difference between the five strategies.
Source: chapter 05; the limit answers bug reports CTX-023 and CTX-102 of the field guide.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from operator import is_

from course_lib.errors import SettingsError
from course_lib.messages import Block, Message, Messages, TextBlock, ToolResultBlock, message_text, tool_results
from course_lib.text_cuts import fill_level, shorten
from course_lib.tokens import MessageCounter
from course_lib.tool_pairs import safe_cut
from course_lib.window import is_typed

__all__ = [
    "MAX_RECENT_TOKENS",
    "HistoryParts",
    "edit_blocks",
    "is_request",
    "messages_covered",
    "shorten_results",
    "split_history",
]

MAX_RECENT_TOKENS = 16_000
_LEAST_RESULT_TOKENS = 200  # what the model has read already is shortened no further than this
_COVERS = re.compile(r"\[(?:\w+ of )?(\d{1,9}) older messages\b")  # how every note and summary of a strategy begins


@dataclass(frozen=True)
class HistoryParts:
    """A conversation in its parts; each keeps the order of the messages, and `older` may be empty.

    A pinned request that stands behind tool results is a new message without them; the whole one is then in `older`.
    """

    pinned: Messages
    older: Messages
    recent: Messages
    front: Messages


def is_request(message: Message) -> bool:
    """Whether a user's own words (or images) are in it, also behind results; nothing that a compaction wrote."""
    return is_typed(message)


def messages_covered(messages: Iterable[Message]) -> int:
    """Return how many messages these stand for: each that was said, and as many as an earlier note or summary says."""
    covered = 0
    for message in messages:
        note = _COVERS.match(message_text(message)) if message.kind != "chat" else None
        covered += int(note[1]) if note else message.kind == "chat"
    return covered


def split_history(
    messages: Messages,
    *,
    keep_messages: int,
    counter: MessageCounter,
    pin_first: bool = True,
    pin_latest: bool = True,
    max_recent_tokens: int = MAX_RECENT_TOKENS,
) -> HistoryParts:
    """Return the conversation in its parts.

    Args:
        messages: the conversation.
        keep_messages: how many of the last messages stay; a few more where a batch would be cut.
        counter: counts the recent part.
        pin_first: the user's first request stays.
        pin_latest: the user's latest request stays.
        max_recent_tokens: of the recent part, without pinned requests and notes at its start; its last batch stays in
            any case.

    Raises:
        SettingsError: `keep_messages` below 1, or `max_recent_tokens` below 1.
    """
    if keep_messages < 1 or max_recent_tokens < 1:
        raise SettingsError(f"keep_messages {keep_messages}, max_recent_tokens {max_recent_tokens}: expected 1 or more")
    cut = safe_cut(messages, len(messages) - keep_messages)
    requests = [message for message in messages if is_request(message)]
    asked = [*requests[:1] * pin_first, *requests[-1:] * pin_latest]
    start = cut  # of what the limit is for: what stays in any case, and what a compaction wrote, does not count
    while start < len(messages) and (messages[start].kind != "chat" or _is_in(messages[start], asked)):
        start += 1
    recent = _bounded(messages[start:], max_recent_tokens, counter)
    if len(recent) < len(messages) - start:
        cut = len(messages) - len(recent)
    else:
        recent = (*messages[cut:start], *recent)
    front = messages[:cut]
    pinned = tuple(_words(message) for message in front if _is_in(message, asked))
    older = tuple(message for message in front if not _is_in(message, pinned))
    return HistoryParts(pinned, older, recent, front)


def _is_in(message: Message, messages: Iterable[Message]) -> bool:
    return any(message is one for one in messages)


def _words(message: Message) -> Message:
    """A request without the results in front of it; the same object where there are none."""
    results = tool_results(message)
    return replace(message, content=tuple(b for b in message.content if b not in results)) if results else message


def edit_blocks(message: Message, edit: Callable[[Block], Block]) -> Message:
    """Return the message with every block edited; the same object where every block came back as it was."""
    content = tuple(map(edit, message.content))
    is_untouched = all(map(is_, content, message.content))
    return message if is_untouched else replace(message, content=content)


def shorten_results(message: Message, max_tokens: int, counter: MessageCounter) -> Message:
    """Return the message with every tool result's text cut to `max_tokens`; the same object where none is longer.

    A result keeps its call's id, its images, and whether it was an error.
    """
    return edit_blocks(message, lambda block: _shorten_block(block, max_tokens, counter))


def _shorten_block(block: Block, max_tokens: int, counter: MessageCounter) -> Block:
    if not isinstance(block, ToolResultBlock):
        return block
    texts = _texts(block)
    sizes = [counter.text(text) for text in texts]
    if sum(sizes) <= max_tokens:
        return block
    return _cut_texts(block, fill_level(sizes, max_tokens), counter)


def _cut_texts(block: ToolResultBlock, level: int, counter: MessageCounter) -> ToolResultBlock:
    content: list[Block] = []
    for inner in block.content:
        if isinstance(inner, TextBlock):
            inner = replace(inner, text=shorten(inner.text, level, counter.text))
            if not inner.text:
                continue  # no room for a single token of it, and providers refuse empty texts
        elif isinstance(inner, ToolResultBlock):
            inner = _cut_texts(inner, level, counter)
        content.append(inner)
    return replace(block, content=tuple(content))


def _texts(block: ToolResultBlock) -> list[str]:
    found: list[str] = []
    for inner in block.content:
        if isinstance(inner, TextBlock):
            found.append(inner.text)
        elif isinstance(inner, ToolResultBlock):
            found += _texts(inner)
    return found


def _bounded(recent: Messages, max_tokens: int, counter: MessageCounter) -> Messages:
    """The recent messages with their largest results shortened, and without their oldest batches, as far as needed."""
    for end in (len(recent) - 1, len(recent)):  # the last message holds what the model has not read yet
        if counter.messages(recent) <= max_tokens:
            return recent
        recent = (*_levelled(recent, end, max_tokens, counter), *recent[end:])
    return _last_batches(recent, max_tokens, counter)


def _levelled(recent: Messages, end: int, max_tokens: int, counter: MessageCounter) -> Messages:
    """The messages before `end`, their results cut to one level, so that all recent ones keep to the limit if possible.

    Results that the model has not read yet have half of the limit to themselves.
    """
    sizes = [counter.block(result) for message in recent[:end] for result in tool_results(message)]
    unread = len(tool_results(recent[-1])) if end == len(recent) else 0
    least = max_tokens // (2 * unread) if unread else _LEAST_RESULT_TOKENS
    level = max(least, fill_level(sizes, max_tokens - counter.messages(recent) + sum(sizes)))
    return tuple(shorten_results(message, level, counter) for message in recent[:end])


def _last_batches(recent: Messages, max_tokens: int, counter: MessageCounter) -> Messages:
    """The last messages that keep to the limit, whole batches; the last batch in any case."""
    start, left = len(recent), max_tokens
    while start and counter.message(recent[start - 1]) <= left:
        start -= 1
        left -= counter.message(recent[start])
    cut = safe_cut(recent, start, keep="less")
    return recent[cut if cut < len(recent) else safe_cut(recent, len(recent) - 1) :]
