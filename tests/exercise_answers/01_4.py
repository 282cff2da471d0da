# %% right: by trying upwards
from course_lib.checks.practice import BUDGET_TOKENS, request_sizes

keep_messages = 1
while max(request_sizes(keep_messages + 1)) <= BUDGET_TOKENS:
    keep_messages += 1

# %% wrong: average request fits
from course_lib.checks.practice import BUDGET_TOKENS, request_sizes

keep_messages = max(n for n in range(1, 80) if sum(request_sizes(n)) / len(request_sizes(n)) <= BUDGET_TOKENS)

# %% wrong: you could keep more
keep_messages = 10

# %% wrong: do not fit
keep_messages = 80

# %% wrong: whole number
keep_messages = "20"
