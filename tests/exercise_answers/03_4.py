# %% right: with the library
from course_lib.usage_count import drop_stale_usage


def count_after_edit(versions, estimate):
    after = drop_stale_usage(*versions)
    rest = ()
    for message in reversed(after):
        if message.usage:
            return message.usage.context_tokens + message.usage.output_tokens + estimate(rest)
        rest = (message, *rest)
    return estimate(after)


# %% wrong: a conversation that is no more
def count_after_edit(versions, estimate):
    after = versions[1]
    for place in range(len(after) - 1, -1, -1):
        usage = after[place].usage
        if usage:
            return usage.context_tokens + usage.output_tokens + estimate(after[place + 1 :])
    return estimate(after)


# %% wrong: not in its old place
def count_after_edit(versions, estimate):
    before, after = versions
    old = {id(message) for message in before}
    anchor = -1
    for place, message in enumerate(after):
        if id(message) not in old and place < len(before):
            break
        if message.usage:
            anchor = place
    if anchor < 0:
        return estimate(after)
    usage = after[anchor].usage
    return usage.context_tokens + usage.output_tokens + estimate(after[anchor + 1 :])


# %% wrong: Cached tokens are in the window
def count_after_edit(versions, estimate):
    before, after = versions
    anchor = -1
    for place, message in enumerate(after):
        if place < len(before) and message is not before[place]:
            break
        if message.usage:
            anchor = place
    if anchor < 0:
        return estimate(after)
    usage = after[anchor].usage
    return usage.input_tokens + usage.output_tokens + estimate(after[anchor + 1 :])


# %% wrong: output_tokens are missing
def count_after_edit(versions, estimate):
    before, after = versions
    anchor = -1
    for place, message in enumerate(after):
        if place < len(before) and message is not before[place]:
            break
        if message.usage:
            anchor = place
    if anchor < 0:
        return estimate(after)
    return after[anchor].usage.context_tokens + estimate(after[anchor + 1 :])


# %% wrong: One before the change is still true
def count_after_edit(versions, estimate):
    before, after = versions
    if any(old is not new for old, new in zip(before, after, strict=False)):
        return estimate(after)
    for place in range(len(after) - 1, -1, -1):
        usage = after[place].usage
        if usage:
            return usage.context_tokens + usage.output_tokens + estimate(after[place + 1 :])
    return estimate(after)


# %% wrong: no edit
def count_after_edit(versions, estimate):
    before, after = versions
    anchor = -1
    for place, (old, new) in enumerate(zip(before, after, strict=False)):
        if old is not new:
            break
        if new.usage:
            anchor = place
    if anchor < 0:
        return estimate(after)
    usage = after[anchor].usage
    return usage.context_tokens + usage.output_tokens + estimate(after[anchor + 1 :])
