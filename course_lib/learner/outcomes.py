"""What a delivery did, for programs and for people. Standard library only.

What this leaves out on purpose: doing it (`delivery`, `folder`). Source: chapter 00.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Delivery", "Kind", "Outcome"]

Kind = Literal["new", "updated", "kept", "unchanged", "removed", "problem"]

_NAMES_SHOWN = 6


@dataclass(frozen=True)
class Outcome:
    """What became of one file.

    Attributes:
        kind: new, updated, kept (the learner's, and there is news about it), unchanged (nothing had to be done),
            removed (from its place, to `.course/replaced/`) or problem.
        path: the file, from the learner's folder, with `/`; "" for a problem of the whole folder.
        note: what else there is to say.
    """

    kind: Kind
    path: str
    note: str = ""


@dataclass(frozen=True)
class Delivery:
    """What one delivery did; `str()` of it is for people, and empty when nothing changed.

    Attributes:
        outcomes: one for each file, in order, and for each problem.
    """

    outcomes: tuple[Outcome, ...]

    def _paths(self, kind: Kind) -> tuple[str, ...]:
        return tuple(outcome.path for outcome in self.outcomes if outcome.kind == kind)

    @property
    def new(self) -> tuple[str, ...]:
        """Files that were not there."""
        return self._paths("new")

    @property
    def updated(self) -> tuple[str, ...]:
        """Files that were replaced by a newer version."""
        return self._paths("updated")

    @property
    def kept(self) -> tuple[str, ...]:
        """Files that the learner changed and that there is news about."""
        return self._paths("kept")

    @property
    def unchanged(self) -> tuple[str, ...]:
        """Files with which nothing had to be done."""
        return self._paths("unchanged")

    @property
    def removed(self) -> tuple[str, ...]:
        """Files that were taken away, to `.course/replaced/`."""
        return self._paths("removed")

    @property
    def problems(self) -> tuple[str, ...]:
        """What went wrong, a sentence each."""
        return tuple(
            f"{one.path}: {one.note}" if one.path else one.note for one in self.outcomes if one.kind == "problem"
        )

    def __str__(self) -> str:
        lines = [f"new: {listed(self.new)}"] if self.new else []
        lines += [f"updated: {listed(self.updated, shown=len(self.updated))}"] if self.updated else []
        lines += [f"{one.kind}: {one.path} ({one.note})" for one in self.outcomes if one.kind in ("kept", "removed")]
        paths_by_note: dict[str, list[str]] = {}  # a full disk stops every file: said once
        for one in self.outcomes:
            if one.kind == "problem":
                paths_by_note.setdefault(one.note, []).append(one.path)
        for note, paths in paths_by_note.items():
            lines.append(f"problem: {listed(paths)}: {note}" if any(paths) else f"problem: {note}")
        return "\n".join(lines)


def listed(paths: Sequence[str], *, shown: int = _NAMES_SHOWN) -> str:
    """Paths in a sentence; of very many only the first ones.

    >>> listed(["chapters/00.ipynb", "chapters/01.ipynb", "exercises/01.ipynb"], shown=2)
    'chapters/00.ipynb, chapters/01.ipynb and 1 more'
    """
    # A lone one more would take the room of its name.
    more = len(paths) - shown
    return ", ".join(paths[:shown]) + (f" and {more} more" if more > 0 else "")
