# %% right: batches looked for by hand
from course_lib.messages import tool_results, user


def truncate(messages, keep):
    start = max(1, len(messages) - keep)
    while 1 < start < len(messages) and tool_results(messages[start]):
        start -= 1
    left_out = messages[1:start]
    if not left_out:
        return messages
    return (
        messages[0],
        user(f"[{len(left_out)} older messages were left out here.]", kind="boundary"),
        *messages[start:],
    )


# %% wrong: it holds the order
from course_lib.messages import user
from course_lib.tool_pairs import safe_cut


def truncate(messages, keep):
    cut = safe_cut(messages, max(0, len(messages) - keep))
    if cut == 0:
        return messages
    return (user(f"[{cut} older messages were left out here.]", kind="boundary"), *messages[cut:])


# %% wrong: counts the first message too
from course_lib.messages import user
from course_lib.tool_pairs import safe_cut


def truncate(messages, keep):
    cut = safe_cut(messages, max(0, len(messages) - keep))
    if cut <= 1:
        return messages
    return (messages[0], user(f"[{cut} older messages were left out here.]", kind="boundary"), *messages[cut:])


# %% wrong: A result lost its call
from course_lib.messages import user


def truncate(messages, keep):
    cut = max(0, len(messages) - keep)
    if cut <= 1:
        return messages
    return (messages[0], user(f"[{cut - 1} older messages were left out here.]", kind="boundary"), *messages[cut:])


# %% wrong: keep more rather than less
from course_lib.messages import user
from course_lib.tool_pairs import safe_cut


def truncate(messages, keep):
    cut = safe_cut(messages, max(0, len(messages) - keep), keep="less")
    if cut <= 1:
        return messages
    return (messages[0], user(f"[{cut - 1} older messages were left out here.]", kind="boundary"), *messages[cut:])


# %% wrong: there twice
from course_lib.messages import user
from course_lib.tool_pairs import safe_cut


def truncate(messages, keep):
    cut = safe_cut(messages, max(0, len(messages) - keep))
    return (messages[0], user(f"[{cut - 1} older messages were left out here.]", kind="boundary"), *messages[cut:])
