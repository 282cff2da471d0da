# %% right: with floor division of what is left
import math


def tokens_to_free(request_tokens, window_tokens, reserve_tokens, threshold):
    effective = window_tokens - reserve_tokens
    over = request_tokens - math.floor(effective * threshold)
    return over if over > 0 else 0


# %% wrong: not the request's to use
def tokens_to_free(request_tokens, window_tokens, reserve_tokens, threshold):
    return max(0, request_tokens - int(threshold * window_tokens))


# %% wrong: rounded *up*
def tokens_to_free(request_tokens, window_tokens, reserve_tokens, threshold):
    return max(0, request_tokens - round(threshold * (window_tokens - reserve_tokens)))


# %% wrong: cannot be freed
def tokens_to_free(request_tokens, window_tokens, reserve_tokens, threshold):
    return request_tokens - int(threshold * (window_tokens - reserve_tokens))


# %% wrong: 26_652
def tokens_to_free(request_tokens, window_tokens, reserve_tokens, threshold):
    return max(0, request_tokens - (int(threshold * window_tokens) - reserve_tokens))
