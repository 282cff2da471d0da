"""Read a session log of any known program (chapter 04): the way in to this package.

    for event in read_session("session.jsonl"):
        ...

A log of lines is read line by line: a file may be larger than the memory.

What this leaves out on purpose: what to make of the events: see `xray`, and `conversation` for a replay.
Source: chapter 04.
"""

import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from course_lib.session_logs.detect import find_format
from course_lib.session_logs.lines import SessionLogError, read_records
from course_lib.session_logs.records import LogEvent

__all__ = ["detect_format", "find_sessions", "read_session"]

_NO_SESSIONS = {".git", "node_modules", "__pycache__"}  # folders that hold much, and never a log
_HEAD_BYTES = 64 * 2**10


def read_session(path: str | Path) -> Iterator[LogEvent]:
    """Yield what the log says, in the order in which the model met it.

    Raises:
        SessionLogError: the file cannot be opened, is empty, or is no log of a known format.
    """
    path = Path(path)
    pieces = read_records(path)
    format_, head = find_format(pieces, path.name)
    # The head is let go as it is read, so that no line is held longer than it is needed.
    yield from format_.read(chain((head.pop(0) for _ in range(len(head))), pieces))


def detect_format(path: str | Path) -> str:
    """Return the name of the format, found by what the file holds and never by its name.

    Raises:
        SessionLogError: as for `read_session`.
    """
    path = Path(path)
    format_, _ = find_format(read_records(path), path.name)
    return format_.name


def find_sessions(folder: str | Path) -> Iterator[Path]:
    """Yield the files below the folder that are session logs, in the order of their paths.

    Links to folders are not followed. Of files that are no logs only the beginning is read.

    Raises:
        SessionLogError: there is no such folder.
    """
    if not Path(folder).is_dir():
        raise SessionLogError(f"{folder}: is no folder: name one that exists")
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _NO_SESSIONS)
        yield from filter(_is_session, (Path(here, name) for name in sorted(files)))


def _is_session(path: Path) -> bool:
    try:
        return _begins_like_json(path) and bool(detect_format(path))
    except SessionLogError:
        return False


def _begins_like_json(path: Path) -> bool:
    """Whether a line near the beginning starts as an object or an array does."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES) if path.is_file() else b""
    except OSError:
        return False
    return any(line.lstrip(b"\xef\xbb\xbf \t")[:1] in (b"{", b"[") for line in head.split(b"\n"))
