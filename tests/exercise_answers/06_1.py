# %% right: the allowed levels first
from course_lib.errors import CompactionError


def escalate(messages, levels, ratio_of, target):
    ratio = ratio_of(messages)
    allowed = [(number, edit) for number, (at_ratio, edit) in enumerate(levels, 1) if ratio >= at_ratio]
    used = []
    while allowed and ratio >= target:
        number, edit = allowed.pop(0)
        try:
            after = edit(messages)
        except CompactionError:
            continue
        if ratio_of(after) < ratio:
            messages, ratio = after, ratio_of(after)
            used = [*used, number]
    return messages, used


# %% wrong: Begin with the gentlest
def escalate(messages, levels, ratio_of, target):
    start = ratio_of(messages)
    for number in range(len(levels), 0, -1):
        at_ratio, edit = levels[number - 1]
        if start >= at_ratio:
            return edit(messages), [number]
    return messages, []


# %% wrong: Look before each
from course_lib.errors import CompactionError


def escalate(messages, levels, ratio_of, target):
    start, used = ratio_of(messages), []
    for number, (at_ratio, edit) in enumerate(levels, 1):
        if start >= at_ratio:
            try:
                shorter = edit(messages)
            except CompactionError:
                continue
            if ratio_of(shorter) < ratio_of(messages):
                messages, used = shorter, [*used, number]
    return messages, used


# %% wrong: by the ratio at the start
from course_lib.errors import CompactionError


def escalate(messages, levels, ratio_of, target):
    used = []
    for number, (at_ratio, edit) in enumerate(levels, 1):
        if ratio_of(messages) < max(at_ratio, target):
            continue
        try:
            shorter = edit(messages)
        except CompactionError:
            continue
        if ratio_of(shorter) < ratio_of(messages):
            messages, used = shorter, [*used, number]
    return messages, used


# %% wrong: go on until it is *below*
from course_lib.errors import CompactionError


def escalate(messages, levels, ratio_of, target):
    start, used = ratio_of(messages), []
    for number, (at_ratio, edit) in enumerate(levels, 1):
        if start < at_ratio or ratio_of(messages) <= target:
            continue
        try:
            shorter = edit(messages)
        except CompactionError:
            continue
        if ratio_of(shorter) < ratio_of(messages):
            messages, used = shorter, [*used, number]
    return messages, used


# %% wrong: *from* 0.85 on
from course_lib.errors import CompactionError


def escalate(messages, levels, ratio_of, target):
    start, used = ratio_of(messages), []
    for number, (at_ratio, edit) in enumerate(levels, 1):
        if (start <= at_ratio and number > 1 and start < 0.9) or start < at_ratio or ratio_of(messages) < target:
            continue
        try:
            shorter = edit(messages)
        except CompactionError:
            continue
        if ratio_of(shorter) < ratio_of(messages):
            messages, used = shorter, [*used, number]
    return messages, used


# %% wrong: Level 3 ran
def escalate(messages, levels, ratio_of, target):
    used = []
    if not levels or ratio_of(messages) < levels[0][0]:
        return messages, used
    for number, (_, edit) in enumerate(levels, 1):
        if ratio_of(messages) < target:
            break
        messages = edit(messages)
        used.append(number)
    return messages, used


# %% wrong: Measure after each level
def escalate(messages, levels, ratio_of, target):
    start, used = ratio_of(messages), []
    for number, (at_ratio, edit) in enumerate(levels, 1):
        if start < at_ratio or ratio_of(messages) < target:
            continue
        messages = edit(messages)
        used.append(number)
    return messages, used


# %% wrong: Catch the `CompactionError`
def escalate(messages, levels, ratio_of, target):
    start, used = ratio_of(messages), []
    for number, (at_ratio, edit) in enumerate(levels, 1):
        if start < at_ratio or ratio_of(messages) < target:
            continue
        shorter = edit(messages)
        if ratio_of(shorter) < ratio_of(messages):
            messages, used = shorter, [*used, number]
    return messages, used


# %% wrong: It gave up
from course_lib.errors import CompactionError


def escalate(messages, levels, ratio_of, target):
    start, used = ratio_of(messages), []
    for number, (at_ratio, edit) in enumerate(levels, 1):
        if start < at_ratio or ratio_of(messages) < target:
            break
        try:
            shorter = edit(messages)
        except CompactionError:
            break
        if ratio_of(shorter) >= ratio_of(messages):
            break
        messages, used = shorter, [*used, number]
    return messages, used
