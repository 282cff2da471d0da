"""A report without a word of the session: figures stay, names and texts go (chapter 04).

What stays of words is fixed here or in the course: the format's name, parts, kinds, and the names of well-known tools.
Everything else that came from the log (paths, commands, ids, models, other tools' and sub-agents' names, the file's own
name) is left out or becomes a number.
Source: chapter 04.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import get_args

from course_lib.session_logs.detect import FORMATS
from course_lib.session_logs.records import CompactionKind, Place
from course_lib.session_logs.xray import FURTHER_THREADS, MAIN_THREAD
from course_lib.session_logs.xray_report import ODDITY_KINDS, CompactionReport, SessionReport
from course_lib.session_logs.xray_tools import OTHER_TOOLS, UNKNOWN_TOOL

__all__ = ["WELL_KNOWN_TOOLS", "redacted"]

# Names that tell which program wrote the log, and nothing about what it was used for.
_NAMES = """
Agent AskUserQuestion Bash BashOutput Edit EnterPlanMode ExitPlanMode Glob Grep KillShell LS MultiEdit NotebookEdit
NotebookRead Read Skill SlashCommand Task TaskCreate TaskUpdate TodoRead TodoWrite ToolSearch WebFetch WebSearch Write
apply_patch bash browser cat create_file edit edit_file exec exec_command execute_bash file_search find finish glob
google_web_search grep grep_search insert list_dir list_directory list_files local_shell ls open patch read read_file
read_many_files replace run_command run_shell_command save_memory search_file_content shell shell_command
str_replace str_replace_editor submit think todo_write update_plan view view_image web_fetch web_search write
write_file write_stdin write_todos
"""
WELL_KNOWN_TOOLS = frozenset(_NAMES.split())
_TRIGGERS = frozenset({"auto", "manual"})
_FILE = "session"


def redacted(report: SessionReport) -> SessionReport:
    """Return the report with nothing left of the session's own words."""
    fixed_tools = WELL_KNOWN_TOOLS | {OTHER_TOOLS, UNKNOWN_TOOL}
    tool = _numbered((t.name for t in report.tools), "tool", fixed_tools)
    thread = _numbered((t.name for t in report.threads), "thread", {MAIN_THREAD, FURTHER_THREADS})
    model = _numbered((m.name for m in report.models), "model", {""})
    formats = {known.name for known in FORMATS}
    reads = report.repeated_reads
    return replace(
        report,
        file=_FILE,
        format=report.format if report.format in formats else "",
        sessions=(),
        threads=tuple(
            replace(t, name=thread(t.name), unrecorded_drops=tuple(map(_place, t.unrecorded_drops)))
            for t in report.threads
        ),
        models=tuple(replace(m, name=model(m.name)) for m in report.models),
        tools=tuple(replace(t, name=tool(t.name)) for t in report.tools),
        biggest_results=tuple(
            replace(r, tool=tool(r.tool), label="", thread=thread(r.thread), place=_place(r.place))
            for r in report.biggest_results
        ),
        repeated_reads=replace(
            reads,
            files=tuple(replace(f, label=f"file-{n}", place=_place(f.place)) for n, f in enumerate(reads.files, 1)),
        ),
        compactions=tuple(_compaction(c, thread(c.thread)) for c in report.compactions),
        oddities=tuple(
            replace(o, detail="", places=tuple(map(_place, o.places)))
            for o in report.oddities
            if o.kind in ODDITY_KINDS
        ),
    )


def _compaction(one: CompactionReport, thread: str) -> CompactionReport:
    kind = one.kind if one.kind in get_args(CompactionKind) else "full"
    trigger = one.trigger if one.trigger in _TRIGGERS else ""
    return replace(one, thread=thread, place=_place(one.place), kind=kind, trigger=trigger)


def _place(place: Place) -> Place:
    return Place(_FILE, place.line)


def _numbered(names: Iterable[str], word: str, fixed: Iterable[str]) -> Callable[[str], str]:
    """A function that gives every name but the fixed ones a number; a name that is not in the list gets none."""
    known = {name: name for name in fixed}
    count = 0
    for name in names:
        if name not in known:
            count += 1
            known[name] = f"{word}-{count}"
    return lambda name: known.get(name, f"{word}-?")
