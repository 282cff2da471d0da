"""Old files make room, and none is lost. Standard library only.

An old file is never overwritten: it is moved to `.course/replaced/`, looked at again there, and given back if somebody
wrote in it meanwhile. So a notebook that JupyterLab saves at this very moment survives too. After an interruption a
file may be missing from its place; the next delivery brings it.

What this leaves out on purpose: deciding which file may be replaced (`delivery`). Source: chapter 00.
"""

import errno
import os
import re
from contextlib import suppress
from pathlib import Path, PurePosixPath

from course_lib.learner.files import HIDDEN, SavedMeanwhileError, Seen, draft, look, put, sync_folder

__all__ = ["KEPT_VERSIONS", "replace", "set_aside", "take_away"]

KEPT_VERSIONS = 3  # of each file in .course/replaced/


def take_away(root: Path, path: str, expected: Seen) -> Path:
    """Move a file to `.course/replaced/` and return where it is now; older ones than the last few are dropped.

    Args:
        root: the learner's folder.
        path: the file, from `root`, with `/`.
        expected: how it looked when this was decided.

    Raises:
        SavedMeanwhileError: what a person wrote in it changed since; it is back in its place.
        OSError: it cannot be moved.
    """
    name = PurePosixPath(path)
    place = _reserve(root / HIDDEN / "replaced" / name.parent, name.stem, name.suffix)
    _move_onto(root / path, place)
    found = look(place)
    if found is None or found.content != expected.content:
        _give_back(root, path, place)
        raise SavedMeanwhileError(errno.EBUSY, "it was saved at this very moment", path)
    for old in _numbered(place.parent, name.stem, name.suffix)[:-KEPT_VERSIONS]:
        with suppress(OSError):
            old.unlink()
    return place


def replace(root: Path, path: str, expected: Seen, data: bytes) -> None:
    """Put new bytes into a file's place; the old file goes to `.course/replaced/`.

    Args:
        root: the learner's folder.
        path: the file, from `root`, with `/`.
        expected: how it looked when this was decided.
        data: the new bytes.

    Raises:
        SavedMeanwhileError: what a person wrote in it changed since.
        OSError: it cannot be done. In both cases the old file is where it was.
    """
    new = draft(root, data)
    try:
        old = take_away(root, path, expected)
        try:
            put(new, root / path)
        except OSError:
            _give_back(root, path, old)
            raise
    finally:
        with suppress(OSError):
            new.unlink()


def _give_back(root: Path, path: str, place: Path) -> None:
    """Move a file back that should have stayed; if there is a newer one in its place, to `.course/set_aside/`."""
    try:
        put(place, root / path)
    except FileExistsError:
        name = PurePosixPath(path)
        _move_onto(place, _reserve(root / HIDDEN / "set_aside", name.stem, name.suffix))


def set_aside(root: Path, stem: str, suffix: str, data: bytes) -> Path:
    """Keep a text under `.course/set_aside/STEM.N.SUFFIX`, for ever, and return where it is.

    Raises:
        OSError: it cannot be written.
    """
    new = draft(root, data)
    place = _reserve(root / HIDDEN / "set_aside", stem, suffix)
    _move_onto(new, place)
    sync_folder(place.parent)
    return place


def _numbered(folder: Path, stem: str, suffix: str) -> list[Path]:
    """The files STEM.N.SUFFIX of a folder, by number."""
    pattern = re.compile(re.escape(stem) + r"\.(\d+)" + re.escape(suffix))
    matches = ((pattern.fullmatch(path.name), path) for path in folder.iterdir())
    return [path for _, path in sorted((int(match[1]), path) for match, path in matches if match)]


def _reserve(folder: Path, stem: str, suffix: str) -> Path:
    """Make an empty file with the next free number; of two processes each gets its own."""
    folder.mkdir(parents=True, exist_ok=True)
    taken = _numbered(folder, stem, suffix)
    number = int(taken[-1].name[len(stem) + 1 : len(taken[-1].name) - len(suffix)]) + 1 if taken else 1
    while True:
        place = folder / f"{stem}.{number}{suffix}"
        try:
            os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        except FileExistsError:
            number += 1
        else:
            return place


def _move_onto(path: Path, place: Path) -> None:
    """Move a file onto a reserved place; when that fails, the reservation goes."""
    try:
        path.replace(place)
    except OSError:
        with suppress(OSError):
            place.unlink()
        raise
