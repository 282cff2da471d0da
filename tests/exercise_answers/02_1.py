# %% right: with a dictionary of what is there
def assemble(texts, order):
    for name in texts:
        if name not in order:
            raise ValueError(f"{name!r} is not one of {order}")
    there = {name: texts[name].strip() for name in order if texts.get(name) and texts[name].strip()}
    return "\n\n".join("# " + name + "\n\n" + text for name, text in there.items()), tuple(
        name for name in order if name not in there
    )


# %% wrong: in the order of `texts`
def assemble(texts, order):
    if set(texts) - set(order):
        raise ValueError("identiti")
    there = {name: text.strip() for name, text in texts.items() if text and text.strip()}
    return "\n\n".join(f"# {name}\n\n{text}" for name, text in there.items()), tuple(n for n in order if n not in there)


# %% wrong: is no error: it is missing
def assemble(texts, order):
    return "\n\n".join(f"# {name}\n\n{texts[name].strip()}" for name in order), ()


# %% wrong: but not named
def assemble(texts, order):
    there = [name for name in order if (texts.get(name) or "").strip()]
    return "\n\n".join(f"# {name}\n\n{texts[name].strip()}" for name in there), ()


# %% wrong: nothing but blanks counts as empty
def assemble(texts, order):
    there = [name for name in order if texts.get(name)]
    return "\n\n".join(f"# {name}\n\n{texts[name]}" for name in there), tuple(n for n in order if n not in there)


# %% wrong: silently dropped
def assemble(texts, order):
    there = [name for name in order if (texts.get(name) or "").strip()]
    return "\n\n".join(f"# {name}\n\n{texts[name].strip()}" for name in there), tuple(
        n for n in order if n not in there
    )


# %% wrong: Return two things
def assemble(texts, order):
    return "\n\n".join(f"# {name}\n\n{texts[name].strip()}" for name in order)
