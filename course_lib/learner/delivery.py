"""Deliver one file of the course into a learner's folder, whatever has become of it there.

| in the folder | what happens |
| --- | --- |
| nothing | the file is put there, also when it was delivered before: deleting a file is the way to get it afresh |
| the course's text, an older one | it is replaced; the old file goes to `.course/replaced/` |
| the course's text, this one | nothing, however often it was run |
| somebody's text | it stays; a version that it was not made from is laid beside it, once: `01_stem.new.ipynb` |

A copy laid beside goes away when it is of no more use (the file itself has that text now, or there is a newer version)
and nobody wrote in it; if somebody did, it stays, and the next one is `01_stem.new-2.ipynb`.
A link, or a folder, in a file's place counts as somebody's text.

What this leaves out on purpose: merging. Source: chapter 00.
"""

import itertools
import os
import re
from pathlib import Path, PurePosixPath

from course_lib.learner.delivered import Delivered, Entry, Version
from course_lib.learner.files import Seen, explain, lay, look
from course_lib.learner.outcomes import Outcome
from course_lib.learner.replacing import replace, take_away

__all__ = ["Courier", "is_copy_name"]

_COPY = re.compile(r"(?P<stem>.+)\.new(-(?P<number>\d+))?(?P<suffix>\.[^.]+)?", re.DOTALL)


def is_copy_name(name: str) -> bool:
    """Whether a name is one of those that new versions are laid beside a file under.

    >>> is_copy_name("01_loop.new.ipynb"), is_copy_name("01_loop.new-2.ipynb"), is_copy_name("01_new.ipynb")
    (True, True, False)
    """
    return _COPY.fullmatch(name) is not None


class Courier:
    """Delivers one version after the other.

    Args:
        root: the learner's folder, with all links resolved.
        delivered: what was delivered there before.
    """

    def __init__(self, root: Path, delivered: Delivered) -> None:
        self.root, self.delivered = root, delivered

    def deliver(self, version: Version) -> Outcome:
        """Deliver one file and say what became of it; an operating system's error is a problem of this file only."""
        blocked = self._blocked(version.path)
        if blocked:
            return Outcome("problem", version.path, blocked)
        try:
            return self._deliver(version)
        except OSError as error:
            return Outcome("problem", version.path, explain(error, self.root / version.path))

    def drop(self, entry: Entry) -> Outcome | None:
        """See to a file that the course no longer has; None when there is nothing to say.

        Args:
            entry: the newest record of that file.
        """
        try:
            here = None if self._blocked(entry.path) else look(self.root / entry.path)
            if here is None:
                return None
            if self.delivered.knows(entry.course_path, here.content):
                self.delivered.add("removed", entry.path, entry)
                take_away(self.root, entry.path, here)
                return Outcome("removed", entry.path, "it is no longer part of the course")
            if entry.step == "dropped":  # said already
                return None
            self.delivered.add("dropped", entry.path, entry)
        except OSError as error:
            return Outcome("problem", entry.path, explain(error, self.root / entry.path))
        return Outcome("kept", entry.path, "it is no longer part of the course, and you changed it")

    def _blocked(self, path: str) -> str:
        """Why nothing can be delivered there, a folder on the way that is none or leads elsewhere; else ""."""
        for name in reversed(PurePosixPath(path).parents[:-1]):
            folder = self.root / name
            if folder.is_symlink() or (folder.exists() and folder.resolve() != folder):
                return f"{folder} is a link, and what it leads to is left alone. Put a folder of its own there."
            if folder.exists() and not folder.is_dir():
                return f"{folder} is a file. Rename it: the course needs a folder of that name."
        return ""

    def _deliver(self, version: Version) -> Outcome:
        here = look(self.root / version.path)
        last = self.delivered.last_in_place(version.path)
        if here is None:
            self._put(version, version.path)
            outcome = Outcome("new", version.path)
        elif here.content == version.content:
            outcome = self._see_to_current(version, here, last)
        elif self.delivered.knows(version.path, here.content):
            self._replace(version, here)
            outcome = Outcome("updated", version.path)
        elif last and last.content == version.content:
            outcome = Outcome("unchanged", version.path)  # the learner's, made from this version
        else:
            return self._lay_beside(version)
        retired = self._retire_copies(version)
        if retired and outcome.kind == "unchanged":
            return Outcome("removed", ", ".join(retired), "the newest version is in the file itself")
        return outcome

    def _see_to_current(self, version: Version, here: Seen, last: Entry | None) -> Outcome:
        """The file has the newest text; it is replaced only when a newer version of the same text has come."""
        is_this_one = here.sha256 == version.sha256
        if last is None or last.content != version.content or (is_this_one and last.sha256 != version.sha256):
            # Brought by an interrupted delivery, or by the learner's own hand.
            self.delivered.add("delivered", version.path, version)
        elif last.sha256 != version.sha256:
            self._replace(version, here)  # the same text with other outputs or tags
            return Outcome("updated", version.path)
        return Outcome("unchanged", version.path)

    # --- changes, each with its records around it --------------------------------------------------------------------

    def _put(self, version: Version, path: str) -> None:
        self.delivered.add("intended", path, version)
        lay(self.root, path, version.data)
        self.delivered.add("delivered", path, version)

    def _replace(self, version: Version, here: Seen) -> None:
        self.delivered.add("intended", version.path, version)
        replace(self.root, version.path, here, version.data)
        self.delivered.add("delivered", version.path, version)

    # --- copies beside -----------------------------------------------------------------------------------------------

    def _copies(self, version: Version) -> list[tuple[str, Seen]]:
        """The copies of a file that lie beside it, and how they look."""
        place = PurePosixPath(version.path)
        found = []
        for path in sorted((self.root / version.path).parent.iterdir()):
            match = _COPY.fullmatch(path.name)
            if match and (match["stem"] + (match["suffix"] or "")).casefold() == place.name.casefold():
                here = look(path)
                if here is not None:
                    found.append((str(place.with_name(path.name)), here))
        return found

    def _retire_copies(self, version: Version, *, but: str = "") -> list[str]:
        """Take away the copies that nobody wrote in, except those with the text `but`; return which."""
        stale = [
            (path, here)
            for path, here in self._copies(version)
            if here.content != but and self.delivered.knows(version.path, here.content)
        ]
        for path, here in stale:
            self.delivered.add("removed", path, version)
            take_away(self.root, path, here)
        return [path for path, _ in stale]

    def _lay_beside(self, version: Version) -> Outcome:
        """The file is the learner's, made from another version: this one is laid beside it, unless it was already."""
        self._retire_copies(version, but=version.content)
        last = self.delivered.last_beside(version.path)
        if last and last.content == version.content:
            return Outcome("unchanged", version.path)  # there, or deleted, or renamed, or written in
        there = [path for path, here in self._copies(version) if here.content == version.content]
        if there:  # by an interrupted delivery
            self.delivered.add("delivered", there[0], version)
            return Outcome("kept", version.path, f"the new version lies beside it: {PurePosixPath(there[0]).name}")
        path = self._free_name(version.path)
        self._put(version, path)
        return Outcome("kept", version.path, f"the new version lies beside it: {PurePosixPath(path).name}")

    def _free_name(self, path: str) -> str:
        """The first name for a copy that nothing has."""
        place = PurePosixPath(path)
        for number in itertools.count(1):
            extra = ".new" if number == 1 else f".new-{number}"
            copy = place.with_name(f"{place.stem}{extra}{place.suffix}")
            if not os.path.lexists(self.root / copy):
                return str(copy)
        raise AssertionError  # count never ends
