# %% right: with the library's cuts
from course_lib.tool_pairs import safe_cut


def head_and_tail(messages, head, tail):
    if head + tail >= len(messages):
        return messages
    end = safe_cut(messages, head)
    start = safe_cut(messages, len(messages) - tail, keep="less")
    return messages[:end] + messages[start:]


# %% wrong: Only the first of the leading results
from course_lib.messages import tool_results, tool_uses


def head_and_tail(messages, head, tail):
    if head + tail >= len(messages):
        return messages
    first, last = messages[:head], messages[len(messages) - tail :]
    if last and tool_results(last[0]):
        last = last[1:]
    return first + last


# %% wrong: end of the head
from course_lib.messages import tool_results, tool_uses


def head_and_tail(messages, head, tail):
    if head + tail >= len(messages):
        return messages
    start = len(messages) - tail
    while start < len(messages) and tool_results(messages[start]):
        start += 1
    return messages[:head] + messages[start:]


# %% wrong: came twice
from course_lib.messages import tool_results, tool_uses


def head_and_tail(messages, head, tail):
    end, start = head, len(messages) - tail
    while end and (tool_uses(messages[end - 1]) or (end < len(messages) and tool_results(messages[end]))):
        end -= 1
    while start < len(messages) and tool_results(messages[start]):
        start += 1
    return messages[:end] + messages[start:]


# %% wrong: whole conversation, not an empty tail
from course_lib.messages import tool_results, tool_uses


def head_and_tail(messages, head, tail):
    if head + tail >= len(messages):
        return messages
    end, last = head, messages[-tail:]
    while end and (tool_uses(messages[end - 1]) or tool_results(messages[end])):
        end -= 1
    while last and tool_results(last[0]):
        last = last[1:]
    return messages[:end] + last


# %% wrong: It parts nothing
from course_lib.messages import tool_results, tool_uses


def head_and_tail(messages, head, tail):
    if head + tail >= len(messages):
        return messages
    end, start = head, len(messages) - tail
    while end and (tool_uses(messages[end - 1]) or tool_results(messages[end - 1])):
        end -= 1
    while start < len(messages) and tool_results(messages[start]):
        start += 1
    return messages[:end] + messages[start:]
