# %% right: with an if
def tokens_left(window_tokens, reserve_tokens, used_tokens):
    left = window_tokens - used_tokens - reserve_tokens
    if left < 0:
        return 0
    return left


# %% wrong: reserve
def tokens_left(window_tokens, reserve_tokens, used_tokens):
    return max(0, window_tokens - used_tokens)


# %% wrong: below 0
def tokens_left(window_tokens, reserve_tokens, used_tokens):
    return window_tokens - reserve_tokens - used_tokens


# %% wrong: added
def tokens_left(window_tokens, reserve_tokens, used_tokens):
    return max(0, window_tokens + reserve_tokens - used_tokens)
