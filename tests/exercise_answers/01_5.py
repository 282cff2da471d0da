# %% right: average times rounds
predicted_tokens = (1_000 + 20_500) / 2 * 40

# %% wrong: size of the last request
predicted_tokens = 1_000 + 39 * 500

# %% wrong: count once here
predicted_tokens = 40 * 1_000 + 40 * 500

# %% wrong: as long as the last
predicted_tokens = 40 * 20_500

# %% wrong: fixed part only
predicted_tokens = 40_000
