# %% right: request by request
resent_tokens = 7_000
for number in range(1, 50):
    resent_tokens += 2_000 + 400 * number

# %% wrong: all that is sent
resent_tokens = 50 * 7_000 + 400 * 49 * 50 / 2

# %% wrong: without the clock
resent_tokens = 7_000 + 49 * 400

# %% wrong: Only the newest messages
resent_tokens = 7_000 + 49 * (2_000 + 400)

# %% wrong: rest of the system prompt only
resent_tokens = 50 * 2_000

# %% wrong: stands before the clock is reused, too
resent_tokens = 50 * 3_000 + 400 * 49 * 50 / 2
