"""The record of what was delivered where: `.course/delivered.jsonl`.

Each delivery makes two records: what is going to be put where, before the file is touched, and that it is done. So
after an interruption every text of the course that stands in the folder is still known as one of the course's.
A file whose text is not in the record was written by the learner.

What this leaves out on purpose: the files themselves (`files`). Source: chapter 00.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, get_args

from course_lib.learner.files import HIDDEN
from course_lib.learner.journal import Journal, Record

__all__ = ["FOLDERS", "Delivered", "Entry", "Version", "is_course_path"]

FOLDERS = ("chapters", "exercises", "solutions")
Step = Literal["intended", "delivered", "removed", "dropped"]


@dataclass(frozen=True)
class Version:
    """One file of the course as it is now.

    Attributes:
        path: where it is, from the course's folder, with `/`.
        data: its bytes.
        content: the `fingerprint` of what people wrote in it.
        sha256: the hash of all its bytes.
    """

    path: str
    data: bytes = field(repr=False)
    content: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One record.

    Attributes:
        step: "intended" before a file is put in place, "delivered" after; "removed" before it is taken away; "dropped"
            when the course no longer has it, the learner's was kept, and that was said.
        path: the file in the learner's folder, from there, with `/`.
        course_path: the file of the course that it is; another one than `path` when it was laid beside.
        content: the `fingerprint` of what people wrote in it.
        sha256: the hash of all its bytes.
    """

    step: Step
    path: str
    course_path: str
    content: str
    sha256: str


def is_course_path(path: object) -> bool:
    """Whether a record's path is one that the course could have written to.

    >>> is_course_path("chapters/00_start_here.ipynb"), is_course_path("chapters/../../.bashrc")
    (True, False)
    """
    if not isinstance(path, str) or "\\" in path or ":" in path or "\0" in path:
        return False
    parts = path.split("/")
    return len(parts) > 1 and parts[0] in FOLDERS and not {"", ".", ".."} & set(parts)


def is_entry(record: Record) -> bool:
    """Whether a line of the file can be used."""
    return (
        record.get("step") in get_args(Step)
        and is_course_path(record.get("path"))
        and is_course_path(record.get("course_path"))
        and isinstance(record.get("content"), str)
        and isinstance(record.get("sha256"), str)
    )


class Delivered:
    """What was delivered into one learner's folder.

    Args:
        root: the learner's folder; `.course/` must be there.

    Raises:
        OSError: the record is there and cannot be read.
    """

    def __init__(self, root: Path) -> None:
        self._journal = Journal(root / HIDDEN / "delivered.jsonl", is_entry)
        loaded = self._journal.load()
        self.note = loaded.note  # what was wrong with the file, to be shown
        self._entries: dict[str, list[Entry]] = {}
        for record in loaded.records:
            self._keep(Entry(**{name: record[name] for name in Entry.__dataclass_fields__}))

    def _keep(self, entry: Entry) -> None:
        # One history for two spellings of a name: on many systems they are one file.
        self._entries.setdefault(entry.course_path.casefold(), []).append(entry)

    def add(self, step: Step, path: str, version: Version | Entry) -> None:
        """Write down what is going to happen, or did happen, to a file at `path`.

        Raises:
            OSError: it cannot be written.
        """
        course_path = version.course_path if isinstance(version, Entry) else version.path
        entry = Entry(step=step, path=path, course_path=course_path, content=version.content, sha256=version.sha256)
        self._journal.append(asdict(entry))
        self._keep(entry)

    def knows(self, course_path: str, content: str) -> bool:
        """Whether this text of a course's file was delivered here before, so that it is not the learner's."""
        return any(entry.content == content for entry in self._entries.get(course_path.casefold(), ()))

    def last_in_place(self, course_path: str) -> Entry | None:
        """The last finished delivery to a file's own place."""
        return self._last(course_path, ("delivered",), beside=False)

    def last_beside(self, course_path: str) -> Entry | None:
        """The last finished delivery beside it, unless that copy was taken away again."""
        last = self._last(course_path, ("delivered", "removed"), beside=True)
        return last if last and last.step == "delivered" else None

    def _last(self, course_path: str, steps: tuple[Step, ...], *, beside: bool) -> Entry | None:
        name = course_path.casefold()
        entries = (entry for entry in reversed(self._entries.get(name, [])) if entry.step in steps)
        return next((entry for entry in entries if (entry.path.casefold() != name) is beside), None)

    def missing_from(self, course: Iterable[str]) -> list[Entry]:
        """The newest record of each path that was delivered for a file that the course no longer has.

        Args:
            course: the paths that the course has.
        """
        there = set(course)
        newest = {entry.path: entry for entries in self._entries.values() for entry in entries}
        return [newest[path] for path in sorted(newest) if newest[path].course_path not in there]
