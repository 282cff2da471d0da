r"""An append-only file of JSON lines that survives being killed (chapter 07).

One record a line; a record is *there* when `append` has returned. Whatever ends the process in between leaves at most
one torn line at the end, and opening the file again puts that aside before anything is written behind it.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "log.jsonl"
    >>> with JournalFile(path) as journal:
    ...     journal.append({"n": 1})
    >>> _ = path.write_bytes(path.read_bytes() + b'{"n": 2, "te')
    >>> with JournalFile(path) as journal:
    ...     journal.append({"n": 3})
    ...     journal.records, journal.torn_bytes
    ([{'n': 1}], 12)
    >>> path.read_text().splitlines()
    ['{"n":1}', '{"n":3}']
    >>> folder.cleanup()

Only one process may have the file open: a second one gets an error instead of mixing its lines in. The file belongs to
its owner alone, since a conversation may hold anything.

What this leaves out on purpose: deleting. A log that only grows can always be read from its beginning.
Source: chapter 07; the torn line and the line glued to it are bug reports CTX-113 and CTX-114 of the field guide.
"""

import errno
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from course_lib.errors import TranscriptError

__all__ = ["JournalFile", "SyncPolicy"]

# After each record: wait until the disk has it (a power cut loses nothing), or only until the system has it (a killed
# process loses nothing).
SyncPolicy = Literal["disk", "system"]
_BINARY = getattr(os, "O_BINARY", 0)  # Windows would change line ends
_SEPARATORS = {"\u2028": "\\u2028", "\u2029": "\\u2029", "\x85": "\\u0085"}  # which other readers take for line ends


class JournalFile:
    """An open journal.

    Args:
        path: the file; made if it is not there.
        sync: when a record counts as written.

    Attributes:
        records: what stood in it when it was opened.
        torn_bytes: bytes of a torn last line, which were put aside in a file beside it; 0 without one.

    Raises:
        TranscriptError: it cannot be opened or read, somebody else has it open, or it is damaged in the middle.
    """

    def __init__(self, path: Path, *, sync: SyncPolicy = "disk") -> None:
        self.path, self.sync = path, sync
        self._file = -1
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _BINARY, 0o600)
            _lock(self._file, path)
            path.chmod(0o600)  # a copy or an archive may have made it readable for others
            content = path.read_bytes()
            self.torn_bytes = self._mend(content)
            self.records = [_record(path, number, line) for number, line in _lines(content, self.torn_bytes)]
            if not content and sync == "disk":
                _sync_folder(path.parent)
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                where = f"cannot use {path}: {error.strerror}"
                raise TranscriptError(f"{where}. Name a folder that you can write to.") from error
            raise
        self._size = os.fstat(self._file).st_size
        self._is_torn = False

    def append(self, record: Mapping[str, Any]) -> None:
        """Write a record; when this returns, it is there.

        Raises:
            TranscriptError: it could not be written, and the file is as it was.
        """
        line = _line(record)
        if self._file < 0:
            raise TranscriptError(f"{self.path} is closed: open it again to write to it")
        try:
            self._take_back()
            self._is_torn = True
            if os.write(self._file, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if self.sync == "disk":
                os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):  # then before the next record, or when the file is opened again
                self._take_back()
            raise TranscriptError(
                f"cannot write to {self.path}: {error.strerror}. The run can go on, but what follows is not recorded."
            ) from error
        self._size += len(line)
        self._is_torn = False

    def close(self) -> None:
        """Close the file and let others have it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> "JournalFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take_back(self) -> None:
        """No half of a line stays behind."""
        if self._is_torn:
            os.ftruncate(self._file, self._size)
            self._is_torn = False

    def _mend(self, content: bytes) -> int:
        """Put a torn last line aside, or end a whole one that lacks only its line end; return the bytes put aside."""
        last = content[content.rfind(b"\n") + 1 :]
        if not last:
            return 0
        if _is_record(last):
            os.write(self._file, b"\n")
            return 0
        aside = os.open(self.path.with_suffix(".torn"), os.O_WRONLY | os.O_CREAT | os.O_APPEND | _BINARY, 0o600)
        try:
            os.write(aside, last + b"\n")
        finally:
            os.close(aside)
        os.ftruncate(self._file, len(content) - len(last))
        return len(last)


def _lines(content: bytes, torn_bytes: int) -> list[tuple[int, bytes]]:
    whole = content[: len(content) - torn_bytes]
    return [(number, line) for number, line in enumerate(whole.split(b"\n"), 1) if line.strip()]


def _record(path: Path, number: int, line: bytes) -> dict[str, Any]:
    if not _is_record(line):
        raise TranscriptError(
            f"{path}, line {number} is damaged: {line[:60]!r}. Take the line out by hand, or start a new session."
        )
    record: dict[str, Any] = json.loads(line)
    return record


def _is_record(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _line(record: Mapping[str, Any]) -> bytes:
    try:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        for separator, escaped in _SEPARATORS.items():
            text = text.replace(separator, escaped)
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can hold and UTF-8 cannot
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise TranscriptError(f"a record that JSON cannot hold: {error}") from error


def _lock(file: int, path: Path) -> None:
    """Take the file for this process; the system lets go of it when the process ends, however it ends."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(file, 0x7FFF_0000, os.SEEK_SET)  # a byte far behind the content, which nobody reads
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK):
            raise  # a file system that knows no locks: that is another trouble
        raise TranscriptError(
            f"{path} is open already, here or in another process: close it there, or start a new session"
        ) from error


def _sync_folder(folder: Path) -> None:
    """A new file's name is in its folder, which the disk must have as well."""
    if sys.platform != "win32":
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
