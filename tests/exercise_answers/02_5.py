# %% right: request by request
predicted_tokens = 7_000
for number in range(1, 50):
    predicted_tokens += 2_000 + 400 * number

# %% wrong: all that is sent
predicted_tokens = 50 * 7_000 + 400 * 49 * 50 / 2

# %% wrong: without the clock
predicted_tokens = 7_000 + 49 * 400

# %% wrong: Only the newest messages
predicted_tokens = 7_000 + 49 * (2_000 + 400)

# %% wrong: rest of the system prompt only
predicted_tokens = 50 * 2_000

# %% wrong: stands before the clock is reused, too
predicted_tokens = 50 * 3_000 + 400 * 49 * 50 / 2
