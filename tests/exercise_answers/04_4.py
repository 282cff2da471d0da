# %% right: some tools more, one change
later = ("read_file", "edit_file", "run_tests", "create_issue")
tools_by_phase = {
    "explore": ("list_files", "grep", "outline", "read_file"),
    "edit": later,
    "test": later,
    "report": later,
}

# %% wrong: changes more than once
tools_by_phase = {
    "explore": ["list_files", "grep", "outline"],
    "edit": ["read_file", "edit_file"],
    "test": ["read_file", "edit_file", "run_tests"],
    "report": ["read_file", "create_issue"],
}

# %% wrong: it comes late
early = ["list_files", "grep", "outline", "read_file", "edit_file"]
late = ["read_file", "edit_file", "run_tests", "create_issue"]
tools_by_phase = {"explore": early, "edit": early, "test": late, "report": late}

# %% wrong: over the cap
everything = ["list_files", "grep", "outline", "read_file", "edit_file", "run_tests", "create_issue"]
tools_by_phase = dict.fromkeys(("explore", "edit", "test", "report"), everything)

# %% wrong: lacks a tool
few = ["read_file", "edit_file", "run_tests", "create_issue"]
tools_by_phase = dict.fromkeys(("explore", "edit", "test", "report"), few)

# %% wrong: for each of the phases
tools_by_phase = {"explore": ["list_files", "grep", "outline"], "edit": ["read_file"]}
