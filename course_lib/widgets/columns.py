"""Many rounds in few columns: the time line stays as quick to draw at round 10,000 as at round 100.

A column holds one round at first. When there are too many, neighbours are merged and each column holds two, then four …
A merged column shows its fullest request, so that no peak and no refusal is lost.
Source: chapter 00.
"""

from dataclasses import dataclass

from course_lib.widgets.frames import Compaction, Frame, grouped

__all__ = ["MOST_COLUMNS", "Column", "Columns"]

MOST_COLUMNS = 96


@dataclass(frozen=True)
class Column:
    """Neighbouring rounds, `first` to `last` (from 1), as one step of the time line."""

    first: int
    last: int
    peak: Frame  # the fullest request of them
    latest: Frame
    refused: Frame | None = None
    compactions: tuple[Compaction, ...] = ()  # one a name
    breaker: str = ""


class Columns:
    """The columns of a run, kept up to date one request at a time.

    Args:
        most: columns before they are merged; even, at least 2.
    """

    def __init__(self, most: int = MOST_COLUMNS) -> None:
        self.most = most
        self.rounds_each = 1
        self._all: list[Column] = []
        self._under_latest: Column | None = None  # the last column as it is without the latest request

    def snapshot(self) -> tuple[Column, ...]:
        """Return all columns, in order."""
        return tuple(self._all)

    def add(self, frame: Frame) -> None:
        """Take in a new request."""
        if self._all and self._place(frame) <= self._place(self._all[-1].latest):  # the same column, or an odd number
            self._under_latest = self._all[-1]
            self.amend(frame)
            return
        self._under_latest = None
        self._all.append(_column(frame))
        if len(self._all) > self.most:
            self._merge_pairs()

    def amend(self, frame: Frame) -> None:
        """Replace the latest request by what is now known of it."""
        alone = _column(frame)
        self._all[-1] = alone if self._under_latest is None else _merged(self._under_latest, alone)

    def _place(self, frame: Frame) -> int:
        return (frame.round_number - 1) // self.rounds_each

    def _merge_pairs(self) -> None:
        self.rounds_each *= 2
        merged: list[Column] = []
        for column in self._all:
            if merged and self._place(merged[-1].latest) == self._place(column.latest):
                self._under_latest = merged[-1]
                merged[-1] = _merged(merged[-1], column)
            else:
                self._under_latest = None
                merged.append(column)
        self._all = merged


def _column(frame: Frame) -> Column:
    refused = frame if frame.refusal else None
    number = frame.round_number
    return Column(number, number, frame, frame, refused, grouped(frame.compactions), frame.breaker)


def _merged(left: Column, right: Column) -> Column:
    fuller = right.peak.total_tokens >= left.peak.total_tokens
    return Column(
        first=left.first,
        last=max(left.last, right.last),
        peak=right.peak if fuller else left.peak,
        latest=right.latest,
        refused=right.refused or left.refused,
        compactions=grouped((*left.compactions, *right.compactions)),
        breaker=right.breaker or left.breaker,
    )
