"""Files that are written whole or not at all, and where nothing was. Standard library only.

A new file is written under `.course/incoming/`, down to the disk, and moved into place once it is whole; it only takes
a place where nothing is. What is there already goes by way of `replacing`.

What this leaves out on purpose: deciding which file is written where (`delivery`). Source: chapter 00.
"""

import errno
import hashlib
import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from course_lib.learner.content import fingerprint

__all__ = [
    "HIDDEN",
    "SavedMeanwhileError",
    "Seen",
    "draft",
    "explain",
    "lay",
    "look",
    "put",
    "seen",
    "sweep",
    "sync_folder",
    "write_new",
]

HIDDEN = ".course"  # in the learner's folder: what the course keeps about it

_LONGEST_ON_WINDOWS = 259  # characters of a path, unless the system was told otherwise
_BINARY = getattr(os, "O_BINARY", 0)  # Windows would else write \r\n for \n


class SavedMeanwhileError(OSError):
    """Another program changed the file between the look at it and the change."""


@dataclass(frozen=True)
class Seen:
    """A file as it was when somebody looked.

    Attributes:
        content: the `fingerprint` of what a person wrote; "" for what is no ordinary file.
        sha256: the hash of all its bytes; "" for what is no ordinary file.
    """

    content: str
    sha256: str


def seen(data: bytes, name: str) -> Seen:
    """How a file with these bytes and this name looks."""
    return Seen(fingerprint(data, name), hashlib.sha256(data).hexdigest())


def look(path: Path) -> Seen | None:
    """Look at a file; None when there is none. A link or a folder is seen as a thing that matches nothing.

    Raises:
        OSError: it is there and cannot be read.
    """
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return Seen("", "")
        return seen(path.read_bytes(), path.name)
    except FileNotFoundError:
        return None


# --- writing ---------------------------------------------------------------------------------------------------------


def write_new(path: Path, data: bytes) -> None:
    """Write a file that is not there yet, down to the disk.

    Raises:
        FileExistsError: it is there.
        OSError: it cannot be written; then nothing stays of it.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
    try:
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(handle, rest) :]
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError:
        with suppress(OSError):
            path.unlink()
        raise


def draft(root: Path, data: bytes) -> Path:
    """Write a whole file under a name of its own in `.course/incoming/` and return where.

    Raises:
        OSError: it cannot be written.
    """
    folder = root / HIDDEN / "incoming"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / secrets.token_hex(8)
    write_new(path, data)
    return path


def put(source: Path, path: Path) -> None:
    """Move a file to where nothing is yet.

    Raises:
        FileExistsError: something is there; both stay.
        OSError: it cannot be moved.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.hardlink_to(source)  # unlike a move, on no system does it overwrite
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        source.replace(path)
    else:
        source.unlink()
    sync_folder(path.parent)


def lay(root: Path, path: str, data: bytes) -> None:
    """Write a new file, whole or not at all.

    Args:
        root: the learner's folder.
        path: where nothing is yet, from `root`, with `/`.
        data: its bytes.

    Raises:
        FileExistsError: something is there.
        OSError: it cannot be written.
    """
    new = draft(root, data)
    try:
        put(new, root / path)
    finally:
        with suppress(OSError):
            new.unlink()


def sync_folder(folder: Path) -> None:
    """Let a folder's entries reach the disk, on systems that can be asked to."""
    if os.name == "nt":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def sweep(root: Path) -> None:
    """Remove drafts that an interruption left in `.course/incoming/`: none of them is a learner's file."""
    with suppress(OSError):
        for path in sorted((root / HIDDEN / "incoming").iterdir()):
            with suppress(OSError):
                path.unlink()


# --- saying what went wrong ------------------------------------------------------------------------------------------


def explain(error: OSError, path: Path | None = None) -> str:
    """What an operating system's error means here, and the way out.

    >>> explain(OSError(errno.ENOSPC, "No space left on device"))
    'no space is left on the disk. Make room there.'
    """
    if isinstance(error, SavedMeanwhileError):
        return "it was saved at this very moment, so it was left alone. Try again."
    if error.errno in {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}:
        return "no space is left on the disk. Make room there."
    too_long = os.name == "nt" and path is not None and len(str(path)) > _LONGEST_ON_WINDOWS
    if too_long or error.errno == errno.ENAMETOOLONG:
        return "its path is longer than this system allows. Work in another folder: course start --folder NAME."
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return (
            f"not allowed ({error.strerror or error}). Look at the rights of the file and of its folder, close "
            "programs that have it open, or work in another folder: course start --folder NAME."
        )
    return f"{error.strerror or error}."
