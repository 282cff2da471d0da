# %% right: another way
limits = {"max_files": 6, "max_file_tokens": 2_500, "max_skills_tokens": 25_000, "max_tokens": 10_000}

# %% wrong: Which limit holds for all of it together
limits = {"max_files": 6, "max_file_tokens": 2_500, "max_skills_tokens": 25_000, "max_tokens": 50_000}

# %% wrong: others were before it
limits = {"max_files": 5, "max_file_tokens": 2_000, "max_skills_tokens": 2_300, "max_tokens": 10_000}

# %% wrong: How long is the largest of them, with its mark
limits = {"max_files": 6, "max_file_tokens": 1_800, "max_skills_tokens": 2_300, "max_tokens": 10_000}

# %% wrong: What takes so much that nobody needs
limits = {"max_files": 6, "max_file_tokens": 3_500, "max_skills_tokens": 25_000, "max_tokens": 10_000}

# %% wrong: its error names the limit
limits = {"max_files": 6, "max_file_tokens": 2_000, "max_tokens": 10_000}
