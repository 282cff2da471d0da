# %% right: in another order
steps = dict.fromkeys(("one log", "five of a size"), "shrink")
steps |= dict.fromkeys(("fifty small ones", "a talkative model"), "collapse")
steps |= {"one letter": "give up", "five letters": "summarise"}

# %% wrong: a collapse takes nothing of the user's
steps = {
    "one log": "shrink",
    "fifty small ones": "collapse",
    "five of a size": "shrink",
    "a talkative model": "collapse",
    "five letters": "collapse",
    "one letter": "give up",
}

# %% wrong: nobody has answered it
steps = {
    "one log": "shrink",
    "fifty small ones": "collapse",
    "five of a size": "shrink",
    "a talkative model": "collapse",
    "five letters": "summarise",
    "one letter": "shrink",
}

# %% wrong: cut to one height
steps = {
    "one log": "shrink",
    "fifty small ones": "collapse",
    "five of a size": "collapse",
    "a talkative model": "collapse",
    "five letters": "summarise",
    "one letter": "give up",
}

# %% wrong: and one of shrink, collapse
steps = ["shrink", "collapse", "shrink", "collapse", "summarise", "give up"]
