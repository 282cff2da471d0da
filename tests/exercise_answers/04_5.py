# %% right: in the head
predicted_share = 0.8

# %% wrong: 25 % is 0.25
predicted_share = 78

# %% wrong: fixed cost is missing
predicted_share = 34_400 / (34_400 + 4_500 + 100)

# %% wrong: no law
predicted_share = 0.5

# %% wrong: The model writes too
predicted_share = 0.99
