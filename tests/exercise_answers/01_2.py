# %% right: counting orphans
from course_lib.messages import tool_results, tool_uses


def nearest_cut(messages, index):
    def orphans(kept):
        called = set()
        lost = 0
        for message in kept:
            lost += sum(result.tool_use_id not in called for result in tool_results(message))
            called.update(call.id for call in tool_uses(message))
        return lost

    while index and orphans(messages[index:]):
        index -= 1
    return index


# %% wrong: whether the two sets meet
from course_lib.messages import tool_results, tool_uses


def nearest_cut(messages, index):
    for cut in range(index, 0, -1):
        kept = messages[cut:]
        called = {call.id for message in kept for call in tool_uses(message)}
        answered = {result.tool_use_id for message in kept for result in tool_results(message)}
        if not answered or any(id_ in called for id_ in answered):
            return cut
    return 0


# %% wrong: may still be running
from course_lib.messages import tool_results, tool_uses


def nearest_cut(messages, index):
    for cut in range(index, 0, -1):
        kept = messages[cut:]
        called = {call.id for message in kept for call in tool_uses(message)}
        answered = {result.tool_use_id for message in kept for result in tool_results(message)}
        if answered == called:
            return cut
    return 0


# %% wrong: one too low
from course_lib.messages import tool_results, tool_uses


def nearest_cut(messages, index):
    for cut in range(index - 1, 0, -1):
        kept = messages[cut:]
        called = {call.id for message in kept for call in tool_uses(message)}
        answered = {result.tool_use_id for message in kept for result in tool_results(message)}
        if answered <= called:
            return cut
    return 0


# %% wrong: went forward
from course_lib.messages import tool_results, tool_uses


def nearest_cut(messages, index):
    for cut in range(index, len(messages)):
        kept = messages[cut:]
        called = {call.id for message in kept for call in tool_uses(message)}
        answered = {result.tool_use_id for message in kept for result in tool_results(message)}
        if answered <= called:
            return cut
    return len(messages)
