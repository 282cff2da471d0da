# %% right: one account for everything
def share_out(files, skills, limits, shown=()):
    given = {}
    files = [file for file in files if file[0] not in shown][: limits.max_files]
    wanted = [(name, tokens, limits.max_file_tokens) for name, tokens in files]
    wanted += [(name, tokens, None) for name, tokens in skills]
    left, skills_left = limits.max_tokens, limits.max_skills_tokens
    for name, tokens, cap in wanted:
        part = min(tokens, left, skills_left if cap is None else cap)
        left -= part
        if cap is None:
            skills_left -= part
        if part > 0:
            given[name] = part
    return given


# %% wrong: All of it together is more than
def share_out(files, skills, limits, shown=()):
    hidden = [file for file in files if file[0] not in shown][: limits.max_files]
    given = {name: min(tokens, limits.max_file_tokens) for name, tokens in hidden}
    room = limits.max_skills_tokens
    for name, tokens in skills:
        given[name] = min(tokens, room)
        room -= given[name]
    return {name: tokens for name, tokens in given.items() if tokens}


# %% wrong: took one of the three places
def share_out(files, skills, limits, shown=()):
    given, left = {}, limits.max_tokens
    for name, tokens in files[: limits.max_files]:
        if name in shown:
            continue
        given[name] = min(tokens, limits.max_file_tokens, left)
        left -= given[name]
    room = min(limits.max_skills_tokens, left)
    for name, tokens in skills:
        given[name] = min(tokens, room)
        room -= given[name]
    return {name: tokens for name, tokens in given.items() if tokens}


# %% wrong: for all of them together
def share_out(files, skills, limits, shown=()):
    given, left = {}, limits.max_tokens
    hidden = [file for file in files if file[0] not in shown]
    for name, tokens in hidden[: limits.max_files]:
        given[name] = min(tokens, limits.max_file_tokens, left)
        left -= given[name]
    for name, tokens in skills:
        given[name] = min(tokens, limits.max_skills_tokens, left)
        left -= given[name]
    return {name: tokens for name, tokens in given.items() if tokens}


# %% wrong: leave the name out
def share_out(files, skills, limits, shown=()):
    given, left = {}, limits.max_tokens
    hidden = [file for file in files if file[0] not in shown]
    for name, tokens in hidden[: limits.max_files]:
        given[name] = min(tokens, limits.max_file_tokens, left)
        left -= given[name]
    room = min(limits.max_skills_tokens, left)
    for name, tokens in skills:
        if room:
            given[name] = min(tokens, room)
            room -= given[name]
    return given


# %% wrong: is cut, not left out
def share_out(files, skills, limits, shown=()):
    given, left = {}, limits.max_tokens
    hidden = [file for file in files if file[0] not in shown and file[1] <= limits.max_file_tokens]
    for name, tokens in hidden[: limits.max_files]:
        given[name] = min(tokens, left)
        left -= given[name]
    room = min(limits.max_skills_tokens, left)
    for name, tokens in skills:
        given[name] = min(tokens, room)
        room -= given[name]
    return {name: tokens for name, tokens in given.items() if tokens}
