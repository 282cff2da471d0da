"""A file of records, one a line, that is only ever added to. Standard library only.

A record is appended by one write at the end of the file, so two processes cannot harm each other's records, and an
interruption can at most cut the last line short. The next append then starts a new line. A line that cannot be read is
copied to NAME.broken-N.txt and marked, by one more record, as copied: nothing is rewritten and nothing is lost.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = Journal(Path(folder, "notes.jsonl"))
    ...     journal.append({"exercise": "01.2"})
    ...     journal.load()
    Loaded(records=({'exercise': '01.2'},), note='')

What this leaves out on purpose: shortening the file. A learner makes some hundred records. Source: chapter 00.
"""

import errno
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib.environment.processes import try_lock
from course_lib.learner.files import explain, write_new

__all__ = ["Journal", "Loaded", "Record"]

Record = dict[str, Any]

_MARK = "set_aside"  # the key of a record that says: this line was copied
_PATIENCE_SECONDS = 2.0
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
_NO_FSYNC = {errno.EINVAL, errno.ENOSYS, getattr(errno, "ENOTSUP", errno.ENOSYS)}


@dataclass(frozen=True)
class Loaded:
    """What a journal holds.

    Attributes:
        records: the good ones, in order.
        note: what was wrong with the others, to be shown once; "" when nothing new was.
    """

    records: tuple[Record, ...]
    note: str = ""


def anything(_record: Record) -> bool:
    """Every record is good."""
    return True


@dataclass(frozen=True)
class Journal:
    """The file, and what a good record is.

    Attributes:
        path: the file; its folder must be there.
        is_good: whether a record has the shape that its readers need.
    """

    path: Path
    is_good: Callable[[Record], bool] = anything

    def append(self, *records: Mapping[str, object]) -> None:
        """Add records, by one write, down to the disk.

        Raises:
            OSError: they cannot be written.
        """
        lines = "".join(json.dumps(record, ensure_ascii=True) + "\n" for record in records).encode("ascii")
        with self._locked():
            handle = os.open(self.path, _FLAGS, 0o666)
            try:
                if not _ends_with_newline(handle):
                    lines = b"\n" + lines  # the last writer was cut short: its line stays apart from ours
                if os.write(handle, lines) < len(lines):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
                _sync(handle)
            finally:
                os.close(handle)

    def load(self) -> Loaded:
        """Read all records and set the broken lines aside; an empty journal when there is no file.

        Raises:
            OSError: the file is there and cannot be read.
        """
        with self._locked():  # so that a line that is just being written is not taken for a broken one
            try:
                data = self.path.read_bytes()
            except FileNotFoundError:
                return Loaded(())
        records, broken, copied = [], {}, set()
        for line in filter(bytes.strip, data.split(b"\n")):
            record = _parse(line)
            if record is not None and isinstance(record.get(_MARK), str):
                copied.add(record[_MARK])
            elif record is not None and self.is_good(record):
                records.append(record)
            else:
                broken[hashlib.sha256(line).hexdigest()] = line
        fresh = {mark: line for mark, line in broken.items() if mark not in copied}
        return Loaded(tuple(records), self._set_aside(fresh) if fresh else "")

    def _set_aside(self, broken: Mapping[str, bytes]) -> str:
        """Copy broken lines to a file of their own, mark them, and say so."""
        what = f"{len(broken)} {'line' if len(broken) == 1 else 'lines'} of {self.path} cannot be read"
        try:
            copy = self._write_copy(list(broken.values()))
            self.append(*({_MARK: mark, "file": copy.name} for mark in broken))
        except OSError as error:
            return f"{what}, nor set aside: {explain(error, self.path)} All other lines count."
        return f"{what}; a copy is in {copy.name}, beside it. All other lines count."

    def _write_copy(self, lines: Sequence[bytes]) -> Path:
        number = 1
        while True:
            path = self.path.with_name(f"{self.path.stem}.broken-{number}.txt")
            try:
                write_new(path, b"\n".join(lines) + b"\n")
            except FileExistsError:
                number += 1
            else:
                return path

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other processes out, if that is possible within a short while.

        Systems append whole lines without it on a disk of their own; network disks and Windows need it.
        """
        try:
            handle = self.path.with_suffix(".lock").open("a", encoding="utf-8")
        except OSError:  # read-only, or full: what follows will say so if it matters
            yield
            return
        with handle:
            until = time.monotonic() + _PATIENCE_SECONDS
            while not try_lock(handle) and time.monotonic() < until:
                time.sleep(0.01)
            yield


def _parse(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _ends_with_newline(handle: int) -> bool:
    """Whether the next line can be written as it is; also so in an empty file."""
    if os.lseek(handle, 0, os.SEEK_END) == 0:
        return True
    os.lseek(handle, -1, os.SEEK_END)
    return os.read(handle, 1) == b"\n"


def _sync(handle: int) -> None:
    """Let the lines reach the disk, on file systems that can do that."""
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_FSYNC:
            raise
