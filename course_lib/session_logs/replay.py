"""The conversation of a log as its model would see it now (chapter 04; replays from chapter 13 on).

What this leaves out on purpose: making it valid. A log may end in the middle of a turn; `tool_pairs.repair` makes a
request of it that an API accepts.
Source: chapter 04.
"""

from collections.abc import Iterable
from dataclasses import replace

from course_lib.messages import Block, Message, Messages, TextBlock, ToolResultBlock
from course_lib.session_logs.records import HistoryCompacted, HistoryRewound, LogEvent, MessageLogged

__all__ = ["CLEARED_TEXT", "conversation"]

CLEARED_TEXT = "[old tool result cleared]"


def conversation(events: Iterable[LogEvent], thread: str = "") -> Messages:
    """Return the messages of one thread, after the last compaction and with cleared results cleared.

    Messages that nothing was done to are the very objects of the events.
    """
    messages: list[Message] = []
    for event in events:
        if isinstance(event, MessageLogged) and event.thread == thread and event.in_context:
            messages.append(event.message)
        elif isinstance(event, HistoryRewound) and event.thread == thread:
            messages = messages[: len(messages) - event.dropped_messages]
        elif isinstance(event, HistoryCompacted) and event.thread == thread:
            if event.kind == "micro":
                messages = [_without(message, event.cleared_tool_use_ids) for message in messages]
            else:
                kept = messages[len(messages) - event.kept_messages :]
                messages = [*event.replacement, *kept]
    return tuple(messages)


def _without(message: Message, cleared: frozenset[str]) -> Message:
    content = tuple(_cleared(block, cleared) for block in message.content)
    unchanged = all(new is old for new, old in zip(content, message.content, strict=True))
    return message if unchanged else replace(message, content=content)


def _cleared(block: Block, cleared: frozenset[str]) -> Block:
    if isinstance(block, ToolResultBlock) and block.tool_use_id in cleared:
        return ToolResultBlock(block.tool_use_id, (TextBlock(CLEARED_TEXT),), block.is_error)
    return block
