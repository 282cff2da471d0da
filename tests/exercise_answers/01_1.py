# %% right: two passes over neighbours
from itertools import pairwise

from course_lib.messages import tool_results, tool_uses, user


def find_broken_pairs(messages):
    framed = [user("-"), *messages, user("-")]
    broken = set()
    for before, after in pairwise(framed):
        called = {call.id for call in tool_uses(before)}
        answered = {result.tool_use_id for result in tool_results(after)}
        broken.update(called - answered)
        broken.update(answered - called)
    return broken


# %% wrong: ids of the whole conversation
from course_lib.messages import tool_results, tool_uses


def find_broken_pairs(messages):
    called = {call.id for message in messages for call in tool_uses(message)}
    answered = {result.tool_use_id for message in messages for result in tool_results(message)}
    return called ^ answered


# %% wrong: calls only
from course_lib.messages import tool_results, tool_uses


def find_broken_pairs(messages):
    broken, called = set(), set()
    for message in messages:
        broken |= called - {result.tool_use_id for result in tool_results(message)}
        called = {call.id for call in tool_uses(message)}
    return broken | called


# %% wrong: nothing comes after them
from course_lib.messages import tool_results, tool_uses


def find_broken_pairs(messages):
    broken, called = set(), set()
    for message in messages:
        broken |= called ^ {result.tool_use_id for result in tool_results(message)}
        called = {call.id for call in tool_uses(message)}
    return broken


# %% wrong: first result
from course_lib.messages import tool_results, tool_uses


def find_broken_pairs(messages):
    broken, called = set(), set()
    for message in messages:
        answered = {result.tool_use_id for result in tool_results(message)[:1]}
        broken |= answered - called
        broken |= called - {result.tool_use_id for result in tool_results(message)}
        called = {call.id for call in tool_uses(message)}
    return broken | called
