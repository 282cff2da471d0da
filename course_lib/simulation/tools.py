r"""Six real tools for an agent that works on a project: list, read, write, edit, grep, run (chapter 01).

`workspace_tools` binds them to one `Workspace`. Their results are plain text in fixed forms:

    list_files    a path a line, then `31 files`
    read_file     `freight/core/money.py (62 lines)`, then the text exactly as it is (line ends as `\n`)
    write_file    `created notes.md: 3 lines` or `overwrote notes.md: 5 lines`
    edit_file     `edited freight/core/money.py: 1 replacement, 62 -> 64 lines`
    grep          `path:line: text` a match, then `4 matches in 2 of 31 files`
    run_command   the output, then `exit code 0`

Whatever goes wrong is a `ToolError`, which the agent turns into an error result: it names the value and the way out,
and never a path outside the workspace. A command that ends with another exit code than 0 is not an error of the tool.

What this leaves out on purpose: patches, moves, deletions. Every definition is paid for in every request (chapter 04).
Source: chapter 01.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import accumulate
from pathlib import Path
from typing import Any

from course_lib.agent import Tool
from course_lib.errors import SettingsError, ToolError
from course_lib.messages import ToolSpec
from course_lib.own_marks import refusing_marks
from course_lib.simulation.commands import run_program, search_texts, split_command
from course_lib.simulation.workspace import MAX_FILE_BYTES, Workspace

__all__ = ["ToolLimits", "tool_specs", "workspace_tools"]

_MAX_LINE_CHARS = 300  # of a line that grep shows
_MAX_SEARCH_CHARS = 20_000_000  # of all files that one grep searches, which are held in memory


@dataclass(frozen=True, kw_only=True)
class ToolLimits:
    """What one call may read, show and use.

    Raises:
        SettingsError: a limit that is not above 0, or no program.
    """

    max_read_chars: int = 20_000  # characters of a file that `read_file` shows at once, in whole lines
    max_output_chars: int = 10_000  # characters that `run_command`, `list_files` and `grep` show
    max_matches: int = 100  # lines that `grep` shows
    max_file_bytes: int = MAX_FILE_BYTES  # bytes of a file that can be read or written
    command_timeout_seconds: float = 30.0  # seconds until a command is stopped; a call may ask for less, not for more
    search_timeout_seconds: float = 5.0  # seconds until `grep` gives up on a pattern
    allowed_programs: tuple[str, ...] = ("python",)  # "python" is the interpreter that runs the course

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value or (name != "allowed_programs" and value < 0):
                raise SettingsError(f"{name} is {value!r}: a tool needs more than that to work")


# What a model is told: a tool's description, then its inputs, each with JSON type and meaning; "?": it may be left out.
_DEFINITIONS: dict[str, tuple[str, *tuple[tuple[str, str, str], ...]]] = {
    "list_files": (
        "List files recursively, sorted, one path per line. Hidden files are left out.",
        ("path?", "string", "Folder to list. Default: the whole workspace."),
        ("pattern?", "string", "Only paths or names that match this glob, such as '*.py'; '*' also matches '/'."),
    ),
    "read_file": (
        "Read a text file: a header line 'path (N lines)', then the exact text. At most {limits.max_read_chars} "
        "characters: if that is not all, the header says 'lines A-B of N'.",
        ("path", "string", "File, relative to the workspace, with '/'."),
        ("offset?", "integer", "First line to show, from 1."),
        ("limit?", "integer", "Most lines to show. Default: all that fit."),
    ),
    "write_file": (
        "Create a file, or replace its whole content; missing folders are made. To change a part, use edit_file.",
        ("path", "string", "File, relative to the workspace."),
        ("content", "string", "The whole new text."),
    ),
    "edit_file": (
        "Replace one passage of a text file. Fails unless old_text occurs exactly once.",
        ("path", "string", "File, relative to the workspace."),
        ("old_text", "string", "Text to replace, exactly as in the file, with enough around it to be unique."),
        ("new_text", "string", "Text to put in its place."),
    ),
    "grep": (
        "Search files line by line with a Python regular expression. Shows 'path:line: text' for each match.",
        ("pattern", "string", "Regular expression, case-sensitive unless it starts with '(?i)'."),
        ("path?", "string", "File or folder to search. Default: the whole workspace."),
        ("max_matches?", "integer", "Most matches to show, at most {limits.max_matches}, the default."),
    ),
    "run_command": (
        "Run a program in the workspace, without a shell (no pipes, no redirection) and without input; programs: "
        "{programs}. Returns its output and exit code.",
        ("command", "string", "Such as 'python -m tests'."),
        ("timeout_seconds?", "integer", "At most {limits.command_timeout_seconds:g}, the default."),
    ),
}


def workspace_tools(workspace: Workspace, limits: ToolLimits | None = None) -> tuple[Tool, ...]:
    """Return the six tools, all working in `workspace` and keeping to `limits` (the defaults without).

    Those that write refuse the marks that a compaction leaves: a model may have copied one out of an old message.
    """
    limits = limits or ToolLimits()
    box = _Toolbox(workspace, limits)
    return tuple(refusing_marks(Tool(_spec(name, limits), getattr(box, name))) for name in _DEFINITIONS)


def tool_specs(limits: ToolLimits | None = None) -> tuple[ToolSpec, ...]:
    """Return what a model is told about the six tools: the same for every workspace."""
    return tuple(_spec(name, limits or ToolLimits()) for name in _DEFINITIONS)


def _spec(name: str, limits: ToolLimits) -> ToolSpec:
    def told(text: str) -> str:
        return text.format(limits=limits, programs=", ".join(limits.allowed_programs))

    description, *inputs = _DEFINITIONS[name]
    properties = {key.strip("?"): {"type": kind, "description": told(meaning)} for key, kind, meaning in inputs}
    required = [key for key, _, _ in inputs if not key.endswith("?")]
    return ToolSpec(name, told(description), {"type": "object", "properties": properties, "required": required})


@dataclass(frozen=True)
class _Toolbox:
    """The six functions; each takes a call's input and returns the result's text."""

    workspace: Workspace
    limits: ToolLimits

    def list_files(self, given: Mapping[str, Any]) -> str:
        found, pattern = self.workspace.files(_string(given, "path", ".")), _string(given, "pattern", "")
        if pattern:
            glob = pattern.replace("**/", "*")
            found = tuple(path for path in found if fnmatchcase(path, glob) or fnmatchcase(Path(path).name, glob))
        return self._listing(found, len(found), "file", "give a folder or a pattern") + _count(len(found), "file")

    def read_file(self, given: Mapping[str, Any]) -> str:
        path, offset = _string(given, "path"), _integer(given, "offset", 1)
        lines = _lines(self._read(path))
        name, total = self._name(path), len(lines)
        if offset > max(1, total):
            raise ToolError(f"offset {offset} is past the end: {name} has {_count(total, 'line')}")
        wanted = lines[offset - 1 :][: _integer(given, "limit", max(1, total))]
        part, chars = _fitting(wanted, self.limits.max_read_chars), self.limits.max_read_chars
        where = f"lines {offset}-{offset + max(1, len(part)) - 1} of {total}"
        if len(part) == total:
            where = _count(total, "line")
        elif not part:  # one line that alone is too long
            part, where = [wanted[0][:chars]], f"{where}, cut after {chars} of {len(wanted[0])} characters"
        return f"{name} ({where})\n{''.join(part)}"

    def write_file(self, given: Mapping[str, Any]) -> str:
        path, content = _string(given, "path"), _string(given, "content")
        replaces = self.workspace.write_text(path, content, self.limits.max_file_bytes)
        return f"{'overwrote' if replaces else 'created'} {self._name(path)}: {_count_lines(content)}"

    def edit_file(self, given: Mapping[str, Any]) -> str:
        path, old, new = _string(given, "path"), _string(given, "old_text"), _string(given, "new_text")
        before = self.workspace.read_text(path, self.limits.max_file_bytes)
        after = _replace_once(before, _unix(old), _unix(new), path)
        self.workspace.write_text(path, after, self.limits.max_file_bytes)
        return f"edited {self._name(path)}: 1 replacement, {len(_lines(_unix(before)))} -> {_count_lines(after)}"

    def grep(self, given: Mapping[str, Any]) -> str:
        pattern, texts = _string(given, "pattern"), self._texts(_string(given, "path", "."))
        most = min(self.limits.max_matches, _integer(given, "max_matches", sys.maxsize))
        found = search_texts(pattern, texts, timeout_seconds=self.limits.search_timeout_seconds)
        lines = [f"{name}:{number}: {line[:_MAX_LINE_CHARS]}" for name, number, line in found[:most]]
        listing = self._listing(lines, len(found), "match", "give a folder or a narrower pattern")
        files = f"{len({name for name, _, _ in found})} of {_count(len(texts), 'file')}"
        return f"{listing}{_count(len(found), 'match')} in {files}"

    def run_command(self, given: Mapping[str, Any]) -> str:
        args = split_command(_string(given, "command"), self.limits.allowed_programs)
        seconds = min(self.limits.command_timeout_seconds, _integer(given, "timeout_seconds", sys.maxsize))
        chars = self.limits.max_output_chars
        result = run_program(args, cwd=self.workspace.root, timeout_seconds=seconds, max_output_chars=chars)
        output = result.output if result.output.endswith("\n") or not result.output else f"{result.output}\n"
        if result.timed_out:
            raise ToolError(f"{output}timed out after {seconds:g} seconds and was stopped: ask for less work at a time")
        return f"{output}exit code {result.exit_code}"

    def _name(self, path: str) -> str:
        return self.workspace.relative(self.workspace.resolve(path))

    def _read(self, path: str) -> str:
        return _unix(self.workspace.read_text(path, self.limits.max_file_bytes))

    def _texts(self, path: str) -> dict[str, str]:
        texts, room = {}, _MAX_SEARCH_CHARS
        for name in self.workspace.files(path):
            with suppress(ToolError):  # not text, or too long: not searched, and not counted
                texts[name] = self._read(name)
                room -= len(texts[name])
            if room < 0:
                raise ToolError(f"there is too much text under {path!r:.80} to search at once: give a smaller folder")
        return texts

    def _listing(self, lines: Sequence[str], total: int, thing: str, way_out: str) -> str:
        """The lines that fit, and a line that says how many of `total` do not."""
        part = _fitting([f"{line}\n" for line in lines], self.limits.max_output_chars)
        left_out = total - len(part)
        return "".join(part) + (f"[… {_count(left_out, thing)} left out: {way_out} …]\n" if left_out else "")


def _replace_once(text: str, old: str, new: str, path: str) -> str:
    r"""The text with the one `old` in it replaced; `\n` in both stands for whatever ends the lines of the text."""
    if not old or old == new:
        raise ToolError("old_text is empty or equal to new_text: give the passage to change, and what it becomes")
    found = list(re.finditer(re.escape(old).replace("\\\n", r"(?>\r\n?|\n)"), text))
    if len(found) != 1:
        numbers = ", ".join(str(text.count("\n", 0, match.start()) + 1) for match in found[:10])
        way_out = f"lines {numbers}; add lines around it" if found else "it must be exact; look at it with read_file"
        raise ToolError(f"old_text occurs {len(found)} times in {path!r:.80}, not once: {way_out}")
    line_end = "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"
    return text[: found[0].start()] + new.replace("\n", line_end) + text[found[0].end() :]


def _unix(text: str) -> str:
    return re.sub(r"\r\n?", "\n", text)


def _lines(text: str) -> list[str]:
    r"""The lines with their ends; unlike `splitlines`, only `\n` ends one."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _fitting(lines: Sequence[str], max_chars: int) -> list[str]:
    """As many whole lines from the start as fit."""
    lengths = accumulate(map(len, lines))
    return [line for line, length in zip(lines, lengths, strict=True) if length <= max_chars]


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 'es' if thing.endswith('ch') else 's'}"


def _count_lines(text: str) -> str:
    return _count(len(_lines(_unix(text))), "line")


def _string(given: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = default if given.get(name) is None else given[name]  # null is how some models leave an input out
    if not isinstance(value, str):
        raise ToolError(f"{name} is {value!r:.80}: expected a string")
    return value


def _integer(given: Mapping[str, Any], name: str, default: int) -> int:
    value = default if given.get(name) is None else given[name]
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ToolError(f"{name} is {value!r:.80}: expected a whole number from 1 up")
    return value
