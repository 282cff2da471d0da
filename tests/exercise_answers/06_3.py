# %% right: one decision after the other
def maintain(messages, notes, count, fixed_tokens, limit_tokens, summarise):
    recent = messages[-2:]
    whole, least = fixed_tokens + count(messages), fixed_tokens + count(recent)
    if whole >= limit_tokens and least < limit_tokens and 10 * (whole - least) >= count(messages):
        return (summarise(messages[: len(messages) - len(recent)]), *recent), notes
    if least >= limit_tokens and not notes:
        notes = (f"The limit is {limit_tokens:,} tokens, and {fixed_tokens:,} are system prompt and tools.",)
    return messages, notes


# %% wrong: A model was paid
def maintain(messages, notes, count, fixed_tokens, limit_tokens, summarise):
    if fixed_tokens + count(messages) < limit_tokens:
        return messages, notes
    shorter = (summarise(messages[:-2]), *messages[-2:])
    if fixed_tokens + count(shorter) >= limit_tokens:
        return messages, notes or (f"{fixed_tokens} fixed, {limit_tokens} allowed",)
    return shorter, notes


# %% wrong: Say it once
def maintain(messages, notes, count, fixed_tokens, limit_tokens, summarise):
    if fixed_tokens + count(messages) < limit_tokens:
        return messages, notes
    older, recent = messages[:-2], messages[-2:]
    if fixed_tokens + count(recent) >= limit_tokens:
        return messages, (*notes, f"{fixed_tokens} fixed, {limit_tokens} allowed")
    if count(older) < count(messages) / 10:
        return messages, notes
    return (summarise(older), *recent), notes


# %% wrong: Nobody was told
def maintain(messages, notes, count, fixed_tokens, limit_tokens, summarise):
    older, recent = messages[:-2], messages[-2:]
    if fixed_tokens + count(messages) < limit_tokens or fixed_tokens + count(recent) >= limit_tokens:
        return messages, notes
    if count(older) < count(messages) / 10:
        return messages, notes
    return (summarise(older), *recent), notes


# %% wrong: name both numbers
def maintain(messages, notes, count, fixed_tokens, limit_tokens, summarise):
    if fixed_tokens + count(messages) < limit_tokens:
        return messages, notes
    older, recent = messages[:-2], messages[-2:]
    if fixed_tokens + count(recent) >= limit_tokens:
        return messages, notes or ("the context is full",)
    if count(older) < count(messages) / 10:
        return messages, notes
    return (summarise(older), *recent), notes


# %% wrong: the last two messages stay, and they are too long
def maintain(messages, notes, count, fixed_tokens, limit_tokens, summarise):
    if fixed_tokens + count(messages) < limit_tokens:
        return messages, notes
    older, recent = messages[:-2], messages[-2:]
    if fixed_tokens >= limit_tokens:
        return messages, notes or (f"{fixed_tokens} fixed, {limit_tokens} allowed",)
    if count(older) < count(messages) / 10:
        return messages, notes
    return (summarise(older), *recent), notes


# %% wrong: less than a tenth
def maintain(messages, notes, count, fixed_tokens, limit_tokens, summarise):
    if fixed_tokens + count(messages) < limit_tokens:
        return messages, notes
    older, recent = messages[:-2], messages[-2:]
    if fixed_tokens + count(recent) >= limit_tokens:
        return messages, notes or (f"{fixed_tokens} fixed, {limit_tokens} allowed",)
    return (summarise(older), *recent), notes


# %% wrong: It never compacts
def maintain(messages, notes, count, fixed_tokens, limit_tokens, summarise):
    if fixed_tokens + count(messages) >= limit_tokens:
        return messages, notes or (f"{fixed_tokens} fixed, {limit_tokens} allowed",)
    return messages, notes
