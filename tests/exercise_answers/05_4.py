# %% right: two messages, from 0.4 on
settings = {"strategy": "truncation", "keep_messages": 2, "at_ratio": 0.4, "pin_first": True}

# %% wrong: The order was forgotten
settings = {"strategy": "truncation", "keep_messages": 4, "at_ratio": 0.3, "pin_first": False}

# %% wrong: Keep fewer messages, or begin earlier
settings = {"strategy": "truncation", "keep_messages": 20, "at_ratio": 0.8, "pin_first": True}

# %% wrong: forgets what it has just read
settings = {"strategy": "truncation", "keep_messages": 1, "at_ratio": 0.1, "pin_first": True}

# %% wrong: refused as too long
settings = {"strategy": "selective retention", "keep_messages": 8, "at_ratio": 0.8, "pin_first": True}

# %% wrong: without a model call
settings = {"strategy": "summarisation", "keep_messages": 2, "at_ratio": 0.4, "pin_first": True}

# %% wrong: its error names the setting
settings = {"strategy": "magic", "keep_messages": 2, "at_ratio": 0.4, "pin_first": True}
