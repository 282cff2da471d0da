# %% right: with a plain loop
from course_lib.messages import Message, ToolResultBlock


def shrink_results(messages, keep):
    shorter = []
    for place, message in enumerate(messages):
        content = []
        for block in message.content:
            is_old_result = place < len(messages) - keep and isinstance(block, ToolResultBlock)
            if is_old_result and not block.is_error:
                text = f"[result left out: {len(block.text)} characters]"
                if len(text) < len(block.text):
                    block = ToolResultBlock(block.tool_use_id, text)
            content.append(block)
        shorter.append(Message(message.role, tuple(content), message.kind))
    return tuple(shorter)


# %% wrong: became a success
from dataclasses import replace

from course_lib.messages import ToolResultBlock


def small(block):
    if not isinstance(block, ToolResultBlock):
        return block
    text = f"[result left out: {len(block.text)} characters]"
    return ToolResultBlock(block.tool_use_id, text) if len(text) < len(block.text) else block


def shrink_results(messages, keep):
    end = max(0, len(messages) - keep)
    return (*(replace(m, content=tuple(map(small, m.content))) for m in messages[:end]), *messages[end:])


# %% wrong: its reason is gone
from dataclasses import replace

from course_lib.messages import ToolResultBlock


def small(block):
    if not isinstance(block, ToolResultBlock):
        return block
    text = f"[result left out: {len(block.text)} characters]"
    return ToolResultBlock(block.tool_use_id, text, block.is_error) if len(text) < len(block.text) else block


def shrink_results(messages, keep):
    end = max(0, len(messages) - keep)
    return (*(replace(m, content=tuple(map(small, m.content))) for m in messages[:end]), *messages[end:])


# %% wrong: text behind the result is gone
from course_lib.messages import ToolResultBlock, tool_results, user


def small(block):
    text = f"[result left out: {len(block.text)} characters]"
    return block if block.is_error or len(text) >= len(block.text) else ToolResultBlock(block.tool_use_id, text)


def shrink_results(messages, keep):
    end = max(0, len(messages) - keep)
    older = (user(*map(small, tool_results(m))) if tool_results(m) else m for m in messages[:end])
    return (*older, *messages[end:])


# %% wrong: One error kept the whole message
from dataclasses import replace

from course_lib.messages import ToolResultBlock, tool_results


def small(block):
    if not isinstance(block, ToolResultBlock):
        return block
    text = f"[result left out: {len(block.text)} characters]"
    return ToolResultBlock(block.tool_use_id, text) if len(text) < len(block.text) else block


def shrink_results(messages, keep):
    end = max(0, len(messages) - keep)
    older = []
    for message in messages[:end]:
        has_error = any(result.is_error for result in tool_results(message))
        older.append(message if has_error else replace(message, content=tuple(map(small, message.content))))
    return (*older, *messages[end:])


# %% wrong: counts from the end
from dataclasses import replace

from course_lib.messages import ToolResultBlock


def small(block):
    if not isinstance(block, ToolResultBlock) or block.is_error:
        return block
    text = f"[result left out: {len(block.text)} characters]"
    return ToolResultBlock(block.tool_use_id, text) if len(text) < len(block.text) else block


def shrink_results(messages, keep):
    end = len(messages) - keep
    return (*(replace(m, content=tuple(map(small, m.content))) for m in messages[:end]), *messages[end:])


# %% wrong: longer than what it replaces
from dataclasses import replace

from course_lib.messages import ToolResultBlock


def small(block):
    if not isinstance(block, ToolResultBlock) or block.is_error:
        return block
    return ToolResultBlock(block.tool_use_id, f"[result left out: {len(block.text)} characters]")


def shrink_results(messages, keep):
    end = max(0, len(messages) - keep)
    return (*(replace(m, content=tuple(map(small, m.content))) for m in messages[:end]), *messages[end:])
