"""Progress: written down (`record`, `record_hint`), read (`load`), and shown in a terminal and a notebook.

    record("01.2", passed=True)      # "" or a sentence to show
    progress_panel()                 # in a notebook: as a table
    print(progress_panel())          # the same in plain text

What is shown in a notebook has no times in it, and before the first record it is the same everywhere: chapter 00's
committed output shows that state.

What this leaves out on purpose: the file (`progress_log`). Source: chapter 00.
"""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from course_lib.learner.progress_log import (
    ExerciseProgress,
    Progress,
    hints_shown,
    load,
    record,
    record_hint,
)

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

__all__ = [
    "ExerciseProgress",
    "Progress",
    "ProgressPanel",
    "hints_shown",
    "load",
    "progress_panel",
    "progress_table",
    "record",
    "record_hint",
]

NOTHING_YET = (
    "Nothing here yet. As soon as you check an exercise in your own folder (course start makes it), this shows how far "
    "you are."
)
# JupyterLab's colours follow its theme; after the comma, those for any other place.
_QUIET = "var(--jp-ui-font-color2, GrayText)"
_LINE = "var(--jp-border-color1, GrayText)"
_HIDDEN = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)"  # only read aloud
_CELL = "text-align:left;padding:.25em 1em .25em 0"


class Listed(Protocol):
    """What is shown of an exercise; `course_lib.checks.catalogue.Exercise` has it."""

    @property
    def id(self) -> str:
        """Chapter and number, such as 01.2."""

    @property
    def title(self) -> str:
        """A few words."""


def catalogue() -> Sequence[Listed]:
    """All exercises of the course."""
    from course_lib.checks.catalogue import EXERCISES

    return EXERCISES


# --- counting --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChapterProgress:
    """How far a learner is with one chapter.

    Attributes:
        chapter: its two digits.
        passed: how many exercises are passed.
        total: how many there are.
    """

    chapter: str
    passed: int
    total: int

    def __str__(self) -> str:
        return counted(self.passed, self.total)

    @property
    def bar(self) -> str:
        """A sign for each exercise.

        >>> ChapterProgress("01", 2, 5).bar
        '[##---]'
        """
        return f"[{'#' * self.passed}{'-' * (self.total - self.passed)}]"


def counted(passed: int, total: int) -> str:
    """How many exercises are passed, in words.

    >>> counted(3, 6), counted(1, 1)
    ('3 of 6 exercises passed', '1 of 1 exercise passed')
    """
    return f"{passed} of {total} {'exercise' if total == 1 else 'exercises'} passed"


def by_chapter(progress: Progress, exercises: Sequence[Listed]) -> list[ChapterProgress]:
    """Progress with each chapter that has exercises, in the catalogue's order; strangers in the file do not count."""
    chapters: dict[str, list[bool]] = {}
    for exercise in exercises:
        chapters.setdefault(exercise.id.partition(".")[0], []).append(progress.of(exercise.id).passed)
    return [ChapterProgress(chapter, sum(passed), len(passed)) for chapter, passed in chapters.items()]


# --- in a terminal ---------------------------------------------------------------------------------------------------


def progress_table(progress: Progress, exercises: Sequence[Listed] | None = None) -> "Table":
    """A table of all exercises, for `rich.print`.

    Args:
        progress: how far the learner is.
        exercises: what there is to do; None means the whole course.
    """
    from rich.table import Table
    from rich.text import Text

    exercises = catalogue() if exercises is None else exercises
    chapters = by_chapter(progress, exercises)
    table = Table(
        title=counted(sum(one.passed for one in chapters), sum(one.total for one in chapters)), title_justify="left"
    )
    for name in ("exercise", "title", "state"):
        table.add_column(name)
    for name in ("checks", "hints"):
        table.add_column(name, justify="right")
    table.add_column("last day")
    for chapter in chapters:
        table.add_section()
        table.add_row(chapter.chapter, Text(chapter.bar), f"{chapter.passed} of {chapter.total}", style="bold")
        for exercise in exercises:
            if exercise.id.partition(".")[0] == chapter.chapter:
                table.add_row(*_row(exercise.id, Text(exercise.title), progress.of(exercise.id)))
    known = {exercise.id for exercise in exercises}
    table.add_section()
    for exercise_id in sorted(set(progress.exercises) - known):
        table.add_row(*_row(exercise_id, Text("no longer in the course"), progress.of(exercise_id)))
    return table


def _row(exercise_id: str, title: "Text", one: ExerciseProgress) -> "list[str | Text]":
    from rich.text import Text

    state = Text("passed", "green") if one.passed else Text("not yet" if one.attempts else "")
    numbers = [str(number) if number else "" for number in (one.attempts, one.hints)]
    return [Text(exercise_id), title, state, *numbers, Text(one.last_time[:10])]


# --- in a notebook ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ProgressPanel:
    """Progress with each chapter, as a notebook and a terminal show it: text and numbers, in any theme.

    Attributes:
        chapters: none means that nothing is recorded yet.
        note: what was wrong with the file; "" when all is well.
    """

    chapters: tuple[ChapterProgress, ...]
    note: str = ""

    @property
    def summary(self) -> str:
        """All chapters together, in words."""
        if not self.chapters:
            return NOTHING_YET
        return counted(sum(one.passed for one in self.chapters), sum(one.total for one in self.chapters))

    def __repr__(self) -> str:
        width = max((len(one.bar) for one in self.chapters), default=0)
        lines = [f"Your progress: {self.summary}"]
        lines += [f"  chapter {one.chapter}  {one.bar:<{width}}  {one}" for one in self.chapters]
        return "\n".join(lines + ([self.note] if self.note else []))

    def _repr_html_(self) -> str:
        rows = "".join(map(_html_row, self.chapters))
        head = "".join(f'<th scope="col" style="{_CELL}">{name}</th>' for name in ("Chapter", "Progress", "Passed"))
        table = (
            f'<table style="border-collapse:collapse;margin:.4em 0 0 0"><caption style="{_HIDDEN}">Exercises passed in '
            f"each chapter</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
            if rows
            else ""
        )
        note = f'<p role="note" style="margin:.4em 0 0 0">{html.escape(self.note)}</p>' if self.note else ""
        return (
            f'<div role="group" aria-label="Your progress" style="border:1px solid {_LINE};border-radius:4px;'
            f'padding:.6em 1em;max-width:40em"><b>Your progress:</b> {html.escape(self.summary)}{table}{note}</div>'
        )


def _html_row(one: ChapterProgress) -> str:
    done, open_ = "■" * one.passed, "□" * (one.total - one.passed)
    return (
        f'<tr><th scope="row" style="{_CELL}">{one.chapter}</th>'
        f'<td style="{_CELL}"><span role="img" aria-label="{one}" style="letter-spacing:.15em">{done}'
        f'<span style="color:{_QUIET}">{open_}</span></span></td><td style="{_CELL}">{one}</td></tr>'
    )


def progress_panel(folder: Path | None = None, exercises: Sequence[Listed] | None = None) -> ProgressPanel:
    """How far the learner is, for a notebook or for `print`.

    Args:
        folder: the learner's folder; None means the one that the present folder lies in.
        exercises: what there is to do; None means the whole course.
    """
    progress = load(folder)
    if not progress.exercises:
        return ProgressPanel((), progress.note)
    return ProgressPanel(tuple(by_chapter(progress, catalogue() if exercises is None else exercises)), progress.note)
