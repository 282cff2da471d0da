# %% right: the library's own prompt
from course_lib.strategies import SUMMARY_PROMPT

summary_settings = {
    "prompt": f"{SUMMARY_PROMPT} Also what was learned.",
    "keep_messages": 1,
    "max_summary_tokens": 400,
}

# %% wrong: Not even the user's order
summary_settings = {"prompt": "Summarise the conversation briefly.", "keep_messages": 2, "max_summary_tokens": 300}

# %% wrong: Keep fewer
summary_settings = {
    "prompt": "Summarise: the user's rules, files that are done, lessons learned, errors, what is next.",
    "keep_messages": 20,
    "max_summary_tokens": 300,
}

# %% wrong: not enough room
summary_settings = {
    "prompt": "Summarise: the user's rules, files that are done, lessons learned, errors, what is next.",
    "keep_messages": 2,
    "max_summary_tokens": 60,
}

# %% wrong: ask for each by name
summary_settings = {
    "prompt": "Summarise the user's rules and the files that are done.",
    "keep_messages": 2,
    "max_summary_tokens": 300,
}

# %% wrong: its error names the setting
summary_settings = {"prompt": "Summarise the rules.", "keep_messages": 0, "max_summary_tokens": 300}
