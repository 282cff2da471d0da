# %% right: as a tuple
ranking = ("context folding", "selective retention", "summarisation", "truncation", "tool-result compression")

# %% wrong: what stands beside it is not
ranking = ["context folding", "summarisation", "selective retention", "truncation", "tool-result compression"]

# %% wrong: The other way round
ranking = ["tool-result compression", "truncation", "summarisation", "selective retention", "context folding"]

# %% wrong: drops no result
ranking = ["context folding", "tool-result compression", "selective retention", "summarisation", "truncation"]

# %% wrong: keeps twenty messages
ranking = ["context folding", "selective retention", "truncation", "summarisation", "tool-result compression"]

# %% wrong: these five names
ranking = ["folding", "truncation"]
