"""Tool calls in an X-ray: which tool, what for in a few words, which file it reads, and whether it did so before.

Names of tools and of their arguments differ from program to program; the tables here hold the usual ones. A command
line counts as reading a file when it is one plain `cat`, `head`, `tail`, `nl`, `less`, `type` or `sed -n`, with no pipe
and nothing behind it.

Source: chapter 04.
"""

import json
import shlex
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from course_lib.messages import DocumentBlock, ImageBlock, ToolResultBlock, ToolUseBlock
from course_lib.session_logs.labels import short_end, short_label
from course_lib.session_logs.records import Place
from course_lib.session_logs.xray_report import RepeatedFile, RepeatedReads

__all__ = ["MOST_REMEMBERED", "KnownCall", "ReadLog", "call_label", "path_that_is_read"]

MOST_REMEMBERED = 5_000  # reads that a later one is compared with; and calls that wait for their result
MOST_FILES = 1_000  # files whose repetitions are added up one by one
_LONGEST_LABEL = 60
_PATH_KEYS = ("file_path", "path", "absolute_path", "notebook_path", "filename", "file", "target_file", "filePath")
_LABEL_KEYS = (*_PATH_KEYS, "command", "cmd", "pattern", "query", "url", "description", "prompt")
_READERS = frozenset({"read", "read_file", "readfile", "view", "view_file", "open", "open_file", "cat", "notebookread"})
_SHELLS = frozenset(
    {"bash", "shell", "shell_command", "exec_command", "run_command", "run_shell_command", "local_shell", "terminal"}
)
_READING_PROGRAMS = frozenset({"cat", "head", "tail", "nl", "less", "type", "bat"})


def call_label(call: ToolUseBlock) -> str:
    """Return what the call is about, in one short line: a path, a command, a pattern; "" when nothing fits."""
    path = path_that_is_read(call)
    if path:
        return short_end(path, _LONGEST_LABEL)
    for key in _LABEL_KEYS:
        value = call.input.get(key)
        if isinstance(value, list):
            value = " ".join(part for part in value if isinstance(part, str))
        if isinstance(value, str) and value.strip():
            return short_end(value, _LONGEST_LABEL) if key in _PATH_KEYS else short_label(value, _LONGEST_LABEL)
    return ""


def path_that_is_read(call: ToolUseBlock) -> str | None:
    """Return the path of the file that the call reads; None for any other call.

    >>> path_that_is_read(ToolUseBlock("c1", "shell", {"command": ["bash", "-lc", "sed -n '1,80p' notes.md"]}))
    'notes.md'
    """
    name = call.name.lower()
    if name in _READERS:
        return next((value for key in _PATH_KEYS if isinstance(value := call.input.get(key), str)), None)
    return _path_in_command(_command(call.input)) if name in _SHELLS else None


def _command(arguments: Mapping[str, Any]) -> str:
    command = arguments.get("command", arguments.get("cmd"))
    if isinstance(command, list):
        words = [word for word in command if isinstance(word, str)]
        return words[-1] if len(words) == 3 and words[1] in ("-c", "-lc") else shlex.join(words)
    return command if isinstance(command, str) else ""


def _path_in_command(command: str) -> str | None:
    if len(command) > 500 or any(sign in command for sign in "|;&<>`$\n"):
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    is_reading = words and (words[0] in _READING_PROGRAMS or words[:2] == ["sed", "-n"])
    return words[-1] if is_reading and len(words) > 1 and not words[-1].startswith("-") else None


@dataclass(slots=True)
class KnownCall:
    """A call that waits for its result."""

    tool: int
    label: str
    path: str | None  # of the file that it reads
    key: int  # the same for calls with the same arguments, in the same thread


@dataclass(slots=True)
class _Read:
    result: int  # the same for equal results
    tool_use_id: str
    epoch: int  # full compactions of the thread so far


@dataclass(slots=True)
class _Repeated:
    label: str
    times: int
    tokens: int
    place: Place


class ReadLog:
    """Remembers which files were read, as numbers, and finds the ones that were read again with nothing new in them."""

    def __init__(self, most_remembered: int = MOST_REMEMBERED) -> None:
        self._most_remembered = most_remembered
        self._reads: OrderedDict[int, _Read] = OrderedDict()
        self._cleared: set[str] = set()
        self._files: dict[int, _Repeated] = {}
        self.times = self.tokens = self.after_compaction = self.changed = 0

    @staticmethod
    def key_of(thread: str, call: ToolUseBlock) -> int:
        """Return a number that is the same for the same call in the same thread."""
        return hash((thread, call.name, json.dumps(dict(call.input), sort_keys=True, default=str)))

    def clear(self, thread: str, tool_use_ids: list[str]) -> None:
        """Note that these results are no longer in the context."""
        self._cleared.update(f"{thread}\n{tool_use_id}" for tool_use_id in tool_use_ids)
        if len(self._cleared) > 4 * self._most_remembered:
            self._cleared.clear()

    def add(self, thread: str, call: KnownCall, result: ToolResultBlock, tokens: int, place: Place, epoch: int) -> None:
        """Take in the result of a call that reads a file."""
        if call.path is None or result.is_error:
            return
        before, now = self._reads.get(call.key), _digest(result)
        if before is not None and before.result == now:
            self._repeat(call, tokens, place)
            self.after_compaction += before.epoch != epoch or f"{thread}\n{before.tool_use_id}" in self._cleared
        elif before is not None:
            self.changed += 1
        self._reads[call.key] = _Read(now, result.tool_use_id, epoch)
        self._reads.move_to_end(call.key)
        if len(self._reads) > self._most_remembered:
            self._reads.popitem(last=False)

    def _repeat(self, call: KnownCall, tokens: int, place: Place) -> None:
        self.times += 1
        self.tokens += tokens
        file = hash(call.path)
        if file in self._files:
            self._files[file].times += 1
            self._files[file].tokens += tokens
        elif len(self._files) < MOST_FILES:
            self._files[file] = _Repeated(call.label, 1, tokens, place)

    def report(self, most_files: int) -> RepeatedReads:
        """Return what was found, with the most expensive files."""
        ordered = sorted(self._files.values(), key=lambda file: (-file.tokens, file.label))
        files = (RepeatedFile(label=f.label, times=f.times, tokens=f.tokens, place=f.place) for f in ordered)
        return RepeatedReads(
            times=self.times,
            tokens=self.tokens,
            after_compaction=self.after_compaction,
            changed=self.changed,
            files=tuple(files)[:most_files],
        )


def _digest(result: ToolResultBlock) -> int:
    pictures = tuple(b.data or b.url for b in result.content if isinstance(b, ImageBlock | DocumentBlock))
    return hash((result.text, pictures))
