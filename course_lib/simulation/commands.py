r"""Running a program that an agent asks for, so that it ends, fits, and says the same on every machine (chapter 01).

`split_command` makes words of a command line and refuses what only a shell understands; `run_program` runs them:

    time      after the time-out the program *and everything it started* is killed; what it leaves running, too
    size      of endless output only the head and the tail are kept, in bounded memory
    input     there is none: a program that asks a question gets the end of the file
    secrets   the environment is an allow-list, so no key is passed on
    sameness  the workspace is shown as `.`, Python's own library as `<python>`, line ends as `\n`

    >>> split_command("python -m tests 'two words'", ["python"])
    ['python', '-m', 'tests', 'two words']

What this leaves out on purpose: a sandbox. The *paths of tools* are confined to the workspace, a program is not: it
may read and write whatever you may, and use the network. So only named programs run, and the offline model runs
nothing but the sample project; for a real model you do not trust, start the course in a container. A program that
moves to a session of its own gets away from the kill, as does, on Windows, one whose parent has ended before.
Source: chapter 01.
"""

import codecs
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from course_lib.errors import ToolError

__all__ = ["CommandResult", "clean_environment", "run_program", "search_texts", "split_command"]

_SHELL_MARKS = "();<>|&\n\r"
_PASSED_ON = (  # what programs need to start, on some system; none of them holds a secret
    *("PATH", "PATHEXT", "HOME", "USERPROFILE", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC"),
    *("TEMP", "TMP", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH"),
)
_FIXED = {"PYTHONIOENCODING": "utf-8", "PYTHONUTF8": "1", "PYTHONHASHSEED": "0", "NO_COLOR": "1"} | {
    "PYTHONUNBUFFERED": "1",  # both outputs in the order in which they were written, and none lost at a time-out
    "PYTHONDONTWRITEBYTECODE": "1",  # nothing stale after an edit
}
_POLL_SECONDS = 0.05  # how often to look whether a program has ended whose output is still held open
_LAST_WORDS_SECONDS = 1.0  # for reading what is left of the output after the kill


@dataclass(frozen=True)
class CommandResult:
    """How a program ended, and what it wrote to both of its outputs, in order."""

    exit_code: int | None  # None when the time-out ended it; below 0 when a signal did (not on Windows)
    output: str

    @property
    def timed_out(self) -> bool:
        """Whether the time-out ended it."""
        return self.exit_code is None


def split_command(command: str, allowed_programs: Sequence[str]) -> list[str]:
    """Return the words of the command, quoted as in a POSIX shell on every system.

    Raises:
        ToolError: an open quote, a word of nothing but `( ) ; < > | &` (even in quotes), or another program.
    """
    lexer = shlex.shlex(command.strip(), posix=True, punctuation_chars=_SHELL_MARKS)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t", True, ""
    try:
        words = list(lexer)
    except ValueError as error:
        raise ToolError(f"command {command!r:.80} cannot be split into words ({error}): close the quotes") from None
    mark = next((word for word in words if word and set(word) <= set(_SHELL_MARKS)), "")
    if mark:
        raise ToolError(
            f"{mark!r} needs a shell, and there is none: give one program and its arguments; it starts in the workspace"
        )
    if not words or words[0] not in allowed_programs:
        names = " or ".join(allowed_programs)
        raise ToolError(f"program {''.join(words[:1])!r:.80} is not allowed: start the command with {names}")
    return words


def clean_environment() -> dict[str, str]:
    """Return the environment for a program: an allow-list of this process's, and settings for equal output."""
    return {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | _FIXED


def run_program(
    args: Sequence[str],
    *,
    cwd: Path,
    timeout_seconds: float,
    max_output_chars: int,
    env: Mapping[str, str] | None = None,
) -> CommandResult:
    """Run a program without a shell and wait for its end; an interrupt (Ctrl-C) kills it and goes on.

    Args:
        args: the program and its arguments; the program "python" is the interpreter that runs this.
        cwd: the folder it starts in, shown as `.` in the output.
        timeout_seconds: after which it is killed with all that it started.
        max_output_chars: of the output that are kept, half from its start and half from its end.
        env: its whole environment; `clean_environment()` by default.

    Raises:
        ToolError: the program cannot be started.
    """
    output = _Output(max_output_chars, cwd)
    process = _start(args, cwd, clean_environment() if env is None else env)
    reader = threading.Thread(target=_read_all, args=(process.stdout, output), daemon=True)
    try:
        reader.start()
        exit_code = _wait(process, reader, timeout_seconds)
    finally:
        _kill_tree(process)
        reader.join(_LAST_WORDS_SECONDS)
    return CommandResult(exit_code, output.text())


def _start(args: Sequence[str], cwd: Path, env: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    if not cwd.is_dir():
        raise ToolError("the workspace folder is gone: make a new workspace")
    program = sys.executable if args[0] == "python" else args[0]
    try:
        return subprocess.Popen(
            [program, *args[1:]],
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a process group of its own, so that it can be killed as one
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # Windows: or a console pops up
        )
    except (OSError, ValueError) as error:  # the text of an OSError may hold an absolute path
        reason = error.strerror if isinstance(error, OSError) else error
        raise ToolError(f"program {args[0]!r:.80} cannot be started ({reason}): use another") from None


def _wait(process: "subprocess.Popen[bytes]", reader: threading.Thread, timeout_seconds: float) -> int | None:
    deadline = time.monotonic() + timeout_seconds
    while process.poll() is None and (left := deadline - time.monotonic()) > 0:
        if reader.is_alive():  # the end of the output mostly is the end of the program, and is noticed at once
            reader.join(min(left, _POLL_SECONDS))
        else:
            with suppress(subprocess.TimeoutExpired):
                process.wait(left)
    return process.poll()


def _kill_tree(process: "subprocess.Popen[bytes]") -> None:
    """End the program and its descendants; also after its end, for what it left running."""
    if sys.platform == "win32":
        if process.poll() is None:
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
    else:
        with suppress(ProcessLookupError, PermissionError):  # all gone; macOS says the second of zombies
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _read_all(pipe: IO[bytes], output: "_Output") -> None:
    with pipe:
        while chunk := os.read(pipe.fileno(), 65_536):
            output.add(chunk)


class _Output:
    """The head and the tail of an output of any length, cleaned while it arrives.

    Cleaning comes before cutting: how much is left out may not depend on how long the paths of a machine are.
    """

    def __init__(self, max_chars: int, cwd: Path) -> None:
        self._head_chars, self._tail_chars = max_chars // 2, max_chars - max_chars // 2
        self._head, self._tail, self._after_head = "", "", 0
        self._decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8")("replace"), translate=True)
        self._names = dict.fromkeys(_spellings(sysconfig.get_path("stdlib")), "<python>")
        self._names |= dict.fromkeys(_spellings(str(cwd)), ".")
        self._pattern = re.compile("|".join(map(re.escape, sorted(self._names, key=len, reverse=True))))
        self._held_back = ""  # the end of what came, which may be the start of a path

    def add(self, chunk: bytes, *, is_last: bool = False) -> None:
        text = self._held_back + self._decoder.decode(chunk, final=is_last)
        text = self._pattern.sub(lambda match: self._names[match[0]], text)
        keep = len(text) if is_last else max(0, len(text) - max(map(len, self._names)) + 1)
        self._held_back, text = text[keep:], text[:keep]
        room = self._head_chars - len(self._head)
        self._head += text[:room]
        self._after_head += len(text[room:])
        self._tail = (self._tail + text[room:])[-self._tail_chars :]

    def text(self) -> str:
        self.add(b"", is_last=True)
        left_out = self._after_head - len(self._tail)
        gap = f"\n[… {left_out} characters left out …]\n" if left_out else ""
        return self._head + gap + self._tail


def _spellings(folder: str) -> set[str]:
    """The folder as programs may print it: as it is, with forward slashes, and with Windows' slashes escaped."""
    return {folder, folder.replace("\\", "/"), folder.replace("\\", "\\\\")}


# Runs in a process of its own, which can be killed: some patterns take longer than the age of the universe, and `re`
# holds the interpreter while it works.
_SEARCH = """
import json, re, sys
job, found, error = json.load(sys.stdin), [], ""
try:
    pattern = re.compile(job["pattern"])
    for path, text in job["texts"].items():
        lines = text.removesuffix("\\n").split("\\n") if text else []
        found += [(path, number, line) for number, line in enumerate(lines, 1) if pattern.search(line)]
except (re.error, OverflowError, RecursionError) as problem:
    error = str(problem)
json.dump([found, error], sys.stdout)
"""


def search_texts(pattern: str, texts: Mapping[str, str], *, timeout_seconds: float) -> list[tuple[str, int, str]]:
    """Return path, line number (from 1) and line of every line in which the regular expression is found, in order.

    Raises:
        ToolError: not a valid pattern, or the search takes longer than `timeout_seconds`.
    """
    job = json.dumps({"pattern": pattern, "texts": dict(texts)}).encode()
    args = [sys.executable, "-I", "-S", "-c", _SEARCH]
    try:
        done = subprocess.run(
            args, input=job, capture_output=True, timeout=timeout_seconds, check=True, env=clean_environment()
        )
        found, error = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        error = f"it takes longer than {timeout_seconds:g} seconds"
    except subprocess.CalledProcessError as problem:
        error = f"the search ended with exit code {problem.returncode}"
    if error:
        raise ToolError(f"pattern {pattern!r:.80} cannot be searched for ({error}): use a simpler one, escape with \\")
    return [(path, number, line) for path, number, line in found]
