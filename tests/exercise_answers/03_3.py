# %% right: by provider
def window_tokens(usage):
    if "prompt_tokens" in usage:
        return usage["prompt_tokens"] + usage["completion_tokens"]
    total = usage["input_tokens"] + usage["output_tokens"]
    if "input_tokens_details" not in usage:
        total += sum(usage.get(f"cache_{kind}_input_tokens") or 0 for kind in ("read", "creation"))
    return total


# %% wrong: counted twice
def window_tokens(usage):
    if "prompt_tokens" in usage:
        return usage["prompt_tokens"] + usage["completion_tokens"]
    details = usage.get("input_tokens_details") or {}
    read = usage.get("cache_read_input_tokens") or details.get("cached_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    return usage["input_tokens"] + read + written + usage["output_tokens"]


# %% wrong: Cached tokens are cheaper
def window_tokens(usage):
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details") or {}
    sent = (usage.get("prompt_tokens") or usage.get("input_tokens") or 0) - (details.get("cached_tokens") or 0)
    return sent + (usage.get("completion_tokens") or usage.get("output_tokens") or 0)


# %% wrong: what no cache had
def window_tokens(usage):
    sent = usage.get("prompt_tokens") or usage.get("input_tokens") or 0
    return sent + (usage.get("completion_tokens") or usage.get("output_tokens") or 0)


# %% wrong: reasoning tokens are counted twice
def window_tokens(usage):
    sent = usage.get("prompt_tokens") or usage.get("input_tokens") or 0
    cache = (usage.get("cache_read_input_tokens") or 0) + (usage.get("cache_creation_input_tokens") or 0)
    details = usage.get("completion_tokens_details") or {}
    answer = usage.get("completion_tokens") or usage.get("output_tokens") or 0
    return sent + cache + answer + details.get("reasoning_tokens", 0)


# %% wrong: with the value None
def window_tokens(usage):
    if "prompt_tokens" in usage:
        return usage["prompt_tokens"] + usage["completion_tokens"]
    cache = usage.get("cache_read_input_tokens", 0) + usage.get("cache_creation_input_tokens", 0)
    return usage["input_tokens"] + cache + usage["output_tokens"]
