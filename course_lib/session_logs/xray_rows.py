"""Many calls in few rows: what is kept of a session has a bounded size, however long it is (chapter 04).

A row holds one call at first. When there are too many, neighbours are merged and each row stands for two, then four …
The fullest call of a merged row is the one that is kept, so that no peak is lost.
Source: chapter 04.
"""

from collections.abc import Iterable
from dataclasses import replace

from course_lib.session_logs.xray_threads import Row

__all__ = ["MOST_ROWS", "Rows", "merged_rows"]

MOST_ROWS = 400


class Rows:
    """The rows of one thread.

    Args:
        most: rows before neighbours are merged; at least 2.
    """

    def __init__(self, most: int = MOST_ROWS) -> None:
        self.most = most
        self.calls_per_row = 1
        self.all: list[Row] = []

    def add(self, row: Row) -> None:
        """Take in the row of the next call."""
        self.all[-1:] = merged_rows((*self.all[-1:], row), self.calls_per_row)
        while len(self.all) > self.most:
            self.calls_per_row *= 2
            self.all = merged_rows(self.all, self.calls_per_row)


def merged_rows(rows: Iterable[Row], calls_per_row: int) -> list[Row]:
    """Return the rows with those merged that fall into the same group of so many calls."""
    merged: list[Row] = []
    for row in rows:
        if merged and (merged[-1].first - 1) // calls_per_row == (row.last - 1) // calls_per_row:
            fuller = row if row.context_tokens >= merged[-1].context_tokens else merged[-1]
            merged[-1] = replace(fuller, first=merged[-1].first, last=row.last, billed_so_far=row.billed_so_far)
        else:
            merged.append(row)
    return merged
