# %% right: with conditions instead of max
def budget(window_tokens, reserve_tokens, fixed_tokens, history_tokens):
    free = window_tokens - (reserve_tokens + fixed_tokens)
    if free <= 0:
        return 0, float("inf")
    return free, history_tokens / free


# %% wrong: reserve is missing
def budget(window_tokens, reserve_tokens, fixed_tokens, history_tokens):
    available = max(0, window_tokens - fixed_tokens)
    return available, history_tokens / available if available else float("inf")


# %% wrong: fixed cost is missing
def budget(window_tokens, reserve_tokens, fixed_tokens, history_tokens):
    available = max(0, window_tokens - reserve_tokens)
    return available, history_tokens / available if available else float("inf")


# %% wrong: not over the whole window
def budget(window_tokens, reserve_tokens, fixed_tokens, history_tokens):
    return max(0, window_tokens - reserve_tokens - fixed_tokens), history_tokens / window_tokens


# %% wrong: you divide by it
def budget(window_tokens, reserve_tokens, fixed_tokens, history_tokens):
    available = max(0, window_tokens - reserve_tokens - fixed_tokens)
    return available, history_tokens / available


# %% wrong: cut at 1
def budget(window_tokens, reserve_tokens, fixed_tokens, history_tokens):
    available = max(0, window_tokens - reserve_tokens - fixed_tokens)
    return available, min(1, history_tokens / available) if available else float("inf")


# %% wrong: never below 0
def budget(window_tokens, reserve_tokens, fixed_tokens, history_tokens):
    available = window_tokens - reserve_tokens - fixed_tokens
    return available, history_tokens / available if available > 0 else float("inf")


# %% wrong: no history fits
def budget(window_tokens, reserve_tokens, fixed_tokens, history_tokens):
    available = max(0, window_tokens - reserve_tokens - fixed_tokens)
    return available, history_tokens / available if available else 0
