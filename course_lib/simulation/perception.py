"""What a request shows: everything the offline model knows, read anew from every request.

`read_request` walks the blocks of a request in order and collects what they say: the user's orders, which files there
are, what stands in them, which were edited, what the last test run said. There is no other memory. A fact that is no
longer in the request is no longer known, whoever removed it and however well it was meant.

What this leaves out on purpose: who wrote the context. Nothing here looks at `Message.kind`, or at any mark that only
the course's own compactions leave; a file shown as `<file path="a.py">` is one in anybody's words.
"""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from course_lib.messages import Message, TextBlock, ToolResultBlock, ToolUseBlock
from course_lib.simulation.wording import (
    PATH,
    Advice,
    Lesson,
    advice,
    forbidden_folders,
    memory_file,
    progress,
    rounding_lesson,
    states_task,
    word_rules,
)

__all__ = ["PATIENCE", "ROUNDING_SEARCH", "Knowledge", "read_request"]

PATIENCE = 2  # how often a failing call is repeated by who was not told to read errors
ROUNDING_SEARCH = "def .*(round|half)"  # what is searched for to find out how the project rounds

_SHOWN_FILE = re.compile(r'<(file\w*) path="([^"]+)"[^>]*>\n(.*?)\n</\1>', re.DOTALL)  # the text in a mark, as is usual
_NOT_WHOLE = re.compile(r"^\[(?:…|cannot be read\b).*\]$", re.MULTILINE)
_FULL_READ = re.compile(r"^(?P<path>\S+) \((?P<count>\d+) lines?\)\n")
_TEST_TOTAL = re.compile(r"^\d+ tests?, (\d+) failures?$", re.MULTILINE)
_TEST_FAILURE = re.compile(r"^FAIL\s+(\S+)(?:.*\n(?:[ \t]+.*\n?)*)?", re.MULTILINE)
_CHECK_TOTAL = re.compile(r"^(\d+) of (\d+) modules up to standard$", re.MULTILINE)
_CHECK_LINE = re.compile(r"^(\S+\.py): ", re.MULTILINE)


@dataclass
class Knowledge:
    """What can be known from one request; positions count blocks from its start.

    `is_done` of a path: the latest word on it, from an edit, a check, or a sentence.
    """

    has_task: bool = False
    forbidden: set[str] = field(default_factory=set)
    word_rules: dict[str, str] = field(default_factory=dict)
    lesson: Lesson | None = None
    advice: set[Advice] = field(default_factory=set)
    memory_file: str = ""  # where lasting lessons go
    is_lesson_noted: bool = False  # the system prompt holds it already, or it was written to the memory file
    failing: ToolUseBlock | None = None  # the last call, when it failed
    failed_times: int = 0  # how often in a row
    failed_edits: set[str] = field(default_factory=set)  # paths
    listed: tuple[str, ...] = ()
    is_done: dict[str, bool] = field(default_factory=dict)
    contents: dict[str, str] = field(default_factory=dict)
    greps: dict[str, tuple[str, ...]] = field(default_factory=dict)
    repairs: dict[str, int] = field(default_factory=dict)  # path -> position of an edit that changed behaviour
    rounded: set[str] = field(default_factory=set)  # paths in which an edit put the built-in round()
    edits_since_tests: set[str] = field(default_factory=set)
    tests_at: int = -1
    failures: tuple[str, ...] | None = None  # of the last test run; None when no run can be seen
    check_at: int = -1
    last_edit_at: int = -1

    @property
    def done(self) -> set[str]:
        """Paths that are up to standard, as far as can be seen."""
        return {path for path, is_done in self.is_done.items() if is_done}


def read_request(messages: Sequence[Message], system: str = "") -> Knowledge:
    """Return what the messages and the system prompt show."""
    knowledge = Knowledge()
    _read_text(system, knowledge)
    knowledge.is_lesson_noted = knowledge.lesson is not None
    calls: dict[str, ToolUseBlock] = {}
    position = 0
    for message in messages:
        for block in message.content:
            position += 1
            match block:
                case TextBlock(text):
                    _read_text(text, knowledge)
                case ToolUseBlock():
                    calls[block.id] = block
                case ToolResultBlock() if block.tool_use_id in calls:
                    _read_result(calls[block.tool_use_id], block, position, knowledge)
    return knowledge


class _Told(NamedTuple):
    """What one text says; shared between requests, so nobody may change it."""

    contents: Mapping[str, str]
    has_task: bool
    forbidden: Set[str]
    word_rules: Mapping[str, str]
    lesson: Lesson | None
    advice: Set[Advice]
    memory_file: str
    is_done: Mapping[str, bool]


def _read_text(text: str, knowledge: Knowledge) -> None:
    told = _told(text)
    knowledge.contents.update(told.contents)
    knowledge.has_task |= told.has_task
    knowledge.forbidden |= told.forbidden
    knowledge.word_rules.update(told.word_rules)
    knowledge.lesson = told.lesson or knowledge.lesson
    knowledge.advice |= told.advice
    knowledge.memory_file = told.memory_file or knowledge.memory_file
    knowledge.is_done.update(told.is_done)


@lru_cache(maxsize=4_096)  # a request shows nearly the same texts as the one before it
def _told(text: str) -> _Told:
    shown = _SHOWN_FILE.findall(text) if "<file" in text else ()
    contents = {path: content for _, path, content in shown if not _NOT_WHOLE.search(content)}
    text = _SHOWN_FILE.sub("", text)  # what stands in a file is no order
    done, still_open = progress(text)
    return _Told(
        contents,
        states_task(text),
        forbidden_folders(text),
        word_rules(text),
        rounding_lesson(text),
        advice(text),
        memory_file(text),
        dict.fromkeys(done, True) | dict.fromkeys(still_open, False),
    )


def _read_result(call: ToolUseBlock, result: ToolResultBlock, position: int, knowledge: Knowledge) -> None:
    text, arguments = result.text, call.input
    if result.is_error:
        _read_error(call, text, knowledge)
        return
    knowledge.failing, knowledge.failed_times = None, 0
    match call.name:
        case "list_files":
            knowledge.listed = tuple(PATH.findall(text)) or knowledge.listed
        case "read_file":
            _read_file_result(text, knowledge)
        case "edit_file" | "write_file" if str(arguments.get("path", "")).endswith(".py"):
            _read_edit(arguments, position, knowledge)
        case "write_file":
            knowledge.is_lesson_noted |= rounding_lesson(str(arguments.get("content", ""))) is not None
        case "grep":
            if arguments.get("pattern") == ROUNDING_SEARCH:
                knowledge.lesson = rounding_lesson(text) or knowledge.lesson
            paths = dict.fromkeys(PATH.findall(text), False)
            knowledge.greps[str(arguments.get("pattern"))] = tuple(paths)
            if arguments.get("pattern") == "TODO":  # what a remark still asks for is not done
                knowledge.is_done |= paths
        case "run_command":
            _read_command_result(text, position, knowledge)


def _read_error(call: ToolUseBlock, text: str, knowledge: Knowledge) -> None:
    """What an error teaches, if it is read: at once by who was told to, else after a few more tries."""
    is_same = knowledge.failing is not None and knowledge.failing.input == call.input
    knowledge.failing, knowledge.failed_times = call, knowledge.failed_times + 1 if is_same else 1
    if "read_errors" in knowledge.advice or knowledge.failed_times > PATIENCE:
        knowledge.advice |= advice(text)
    if call.name == "edit_file":  # the file is not what it was thought to be: look again
        path = str(call.input.get("path"))
        knowledge.is_done[path] = False
        knowledge.failed_edits.add(path)
        knowledge.contents.pop(path, None)


def _read_file_result(text: str, knowledge: Knowledge) -> None:
    header = _FULL_READ.match(text)
    if header is None:
        return
    content = text[header.end() :]
    line_count = content.count("\n") + (not content.endswith("\n") and content != "")
    if line_count == int(header["count"]):  # anything else was shortened on the way
        knowledge.contents[header["path"]] = content


def _read_edit(arguments: Mapping[str, object], position: int, knowledge: Knowledge) -> None:
    path, new_text = str(arguments.get("path", "")), str(arguments.get("new_text", arguments.get("content", "")))
    knowledge.contents.pop(path, None)
    knowledge.is_done[path] = True
    knowledge.edits_since_tests.add(path)
    knowledge.last_edit_at = position
    if re.search(r"^ +return (?:\w+\(\w+\)|\w+ in \(.*\))$", new_text, re.MULTILINE):
        knowledge.repairs[path] = position
    if re.search(r"^ +return round\(\w+\)$", new_text, re.MULTILINE):
        knowledge.rounded.add(path)
    elif re.search(r"^ +return \w+half_up\w*\(|^ +return half_up\w*\(", new_text, re.MULTILINE):
        knowledge.rounded.discard(path)


def _read_command_result(text: str, position: int, knowledge: Knowledge) -> None:
    if _TEST_TOTAL.search(text):
        knowledge.tests_at = position
        knowledge.failures = tuple(match[0].strip() for match in _TEST_FAILURE.finditer(text))
        knowledge.lesson = rounding_lesson(text) or knowledge.lesson
        knowledge.edits_since_tests.clear()
    total = _CHECK_TOTAL.search(text)
    if total:
        knowledge.check_at = position
        below = dict.fromkeys(_CHECK_LINE.findall(text), False)
        knowledge.is_done |= below
        if len(below) == int(total[2]) - int(total[1]):  # the list is whole, so every other module is fine
            checked = (path for path in knowledge.listed if path.startswith("freight/"))
            knowledge.is_done |= {path: path not in below for path in checked}
