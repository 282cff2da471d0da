# %% right: from the right, with a look at the whole past each time
from course_lib.messages import tool_results, tool_uses


def split_point(messages, keep):
    for index in range(max(0, len(messages) - keep), 0, -1):
        called = [call.id for message in messages[:index] for call in tool_uses(message)]
        answered = [result.tool_use_id for message in messages[:index] for result in tool_results(message)]
        if sorted(called) == sorted(answered):
            return index
    return 0


# %% wrong: Which calls are still open there
def split_point(messages, keep):
    return max(0, len(messages) - keep)


# %% wrong: move to the left
from course_lib.messages import tool_results


def split_point(messages, keep):
    index = max(0, len(messages) - keep)
    while index < len(messages) and tool_results(messages[index]):
        index += 1
    return index


# %% wrong: not enough that some results have their call
from course_lib.messages import tool_results


def split_point(messages, keep):
    index = max(0, len(messages) - keep)
    if 0 < index < len(messages) and tool_results(messages[index]):
        index -= 1
    return index


# %% wrong: has no result yet
from course_lib.messages import tool_results, tool_uses


def split_point(messages, keep):
    for index in range(max(0, len(messages) - keep), 0, -1):
        called = {call.id for message in messages[:index] for call in tool_uses(message)}
        later = {result.tool_use_id for message in messages[index:] for result in tool_results(message)}
        if not called & later:
            return index
    return 0


# %% wrong: counted from the end
from course_lib.messages import tool_results, tool_uses


def split_point(messages, keep):
    index = len(messages) - keep
    while index > 0:
        called = [call.id for message in messages[:index] for call in tool_uses(message)]
        answered = [result.tool_use_id for message in messages[:index] for result in tool_results(message)]
        if len(called) == len(answered):
            break
        index -= 1
    return index


# %% wrong: look for the last one, not the first
def split_point(messages, keep):
    return 0
