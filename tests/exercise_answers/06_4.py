# %% right: a gentle step first, which hardly ever finds anything
ladder = {"steps": [(0.5, "snip"), (0.5, "fold")], "target": 0.1}

# %% right: a little earlier
ladder = {"steps": [(0.4, "fold")], "target": 0.2}

# %% wrong: there, it begins too late
ladder = {"steps": [(0.8, "fold")], "target": 0.5}

# %% wrong: Begin later
ladder = {"steps": [(0.2, "fold")], "target": 0.1}

# %% wrong: refused as too long
ladder = {"steps": [(0.5, "snip"), (0.8, "shrink")], "target": 0.3}

# %% wrong: The order was forgotten
ladder = {"steps": [(0.5, "drop")], "target": 0.3}

# %% wrong: Does a gentle step pay here
ladder = {"steps": [(0.8, "shrink"), (0.9, "fold")], "target": 0.79}

# %% wrong: not below the first step
ladder = {"steps": [(0.5, "fold")], "target": 0.5}

# %% wrong: its error says more
ladder = {"steps": [(0.5, "magic")], "target": 0.3}
