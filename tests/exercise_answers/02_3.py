# %% right: stable ones in another order
order = ("rules", "identity", "tool_guide", "date", "project_memory", "persistent_memory", "git_status", "clock")

# %% wrong: The clock changes with every request
from course_lib.checks.practice_prompt import PROMPT_PARTS

order = ("clock", "identity", "tool_guide", "rules", "date", "project_memory", "persistent_memory", "git_status")

# %% wrong: The rule is broken
order = ("identity", "tool_guide", "rules", "date", "persistent_memory", "project_memory", "git_status", "clock")

# %% wrong: never changes stands behind
order = ("identity", "date", "tool_guide", "rules", "project_memory", "persistent_memory", "git_status", "clock")

# %% wrong: Git's state changes more often
order = ("identity", "tool_guide", "rules", "date", "git_status", "project_memory", "persistent_memory", "clock")

# %% wrong: The date changes less often
order = ("identity", "tool_guide", "rules", "project_memory", "persistent_memory", "date", "git_status", "clock")

# %% wrong: A part is missing
order = ("identity", "tool_guide", "rules", "date", "project_memory", "persistent_memory", "git_status")

# %% wrong: stands there twice
order = (
    *("identity", "tool_guide", "rules", "date", "project_memory", "persistent_memory", "git_status", "clock"),
    "identity",
)
