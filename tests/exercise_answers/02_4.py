# %% right: walking down the path
def memory_parts(user, project, folders, working_folder, remembered):
    parts, path = [user, project], ""
    for name in working_folder.split("/"):
        path = f"{path}/{name}".lstrip("/")
        parts.append(folders.get(path, ""))
    return [part for part in [*parts, remembered] if part and not part.isspace()]


# %% wrong: It comes last
def memory_parts(user, project, folders, working_folder, remembered):
    parts = [user, project, remembered]
    for folder in sorted(folders):
        if (working_folder + "/").startswith(folder + "/"):
            parts.append(folders[folder])
    return [part for part in parts if part.strip()]


# %% wrong: compares characters, not folders
def memory_parts(user, project, folders, working_folder, remembered):
    parts = [user, project]
    for folder in sorted(folders):
        if working_folder.startswith(folder):
            parts.append(folders[folder])
    return [part for part in [*parts, remembered] if part.strip()]


# %% wrong: nothing but blanks was kept
def memory_parts(user, project, folders, working_folder, remembered):
    parts = [user, project]
    for folder in sorted(folders):
        if (working_folder + "/").startswith(folder + "/"):
            parts.append(folders[folder])
    return [part for part in [*parts, remembered] if part]


# %% wrong: working folder itself counts
def memory_parts(user, project, folders, working_folder, remembered):
    parts = [user, project]
    for folder in sorted(folders):
        if (working_folder == "a/b" and folder in ("a", "a/b")) or working_folder.startswith(folder + "/"):
            parts.append(folders[folder])
    return [part for part in [*parts, remembered] if part.strip()]


# %% wrong: The texts were changed
def memory_parts(user, project, folders, working_folder, remembered):
    way = [folder for folder in sorted(folders) if f"{working_folder}/".startswith(f"{folder}/")]
    parts = [user, project, *(folders[folder] for folder in way), remembered]
    return [part.strip() for part in parts if part.strip()]


# %% wrong: The nearest folder comes last
def memory_parts(user, project, folders, working_folder, remembered):
    way = [folder for folder in sorted(folders, reverse=True) if f"{working_folder}/".startswith(f"{folder}/")]
    parts = [user, project, *(folders[folder] for folder in way), remembered]
    return [part for part in parts if part.strip()]
