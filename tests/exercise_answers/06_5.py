# %% right: computed
from course_lib.checks.practice_ladders import PRACTICE_STATES

levels = []
for state in PRACTICE_STATES:
    available = state.context_tokens - state.reserve_tokens - state.fixed_tokens
    levels.append(sum(state.message_tokens >= at * available for at in (0.8, 0.85, 0.9, 0.95)))

# %% wrong: share of the whole window
levels = [0, 0, 0, 1, 2, 2, 1, 0, 0, 1]

# %% wrong: forgot the reserve
levels = [0, 0, 0, 0, 1, 1, 0, 0, 0, 0]

# %% wrong: forgot what is fixed
levels = [0, 0, 0, 0, 1, 1, 0, 0, 2, 0]

# %% wrong: *from* its ratio on
levels = [0, 0, 0, 2, 3, 3, 1, 3, 4, 2]

# %% wrong: not 80 % yet
levels = [0, 1, 1, 2, 3, 4, 1, 3, 4, 2]

# %% wrong: the harshest step is 4
levels = [0, 0, 1, 2, 3, 4, 1, 3, 5, 2]

# %% wrong: state 8
levels = [0, 0, 1, 2, 3, 4, 1, 1, 4, 2]
