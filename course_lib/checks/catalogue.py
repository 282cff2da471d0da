"""Every exercise of the course, in one list (chapter 00).

An exercise is one entry here, one check file beside this module, and its cells in a notebook. Everything else (the
learner's notebook, hints, progress, the command line) is made from these three.

    >>> find_exercise("tokens_left").id
    '00.1'
    >>> find_exercise("00.1").check_file.name
    'check_00_1.py'

What this leaves out on purpose: the task, the stub and the answer with its reason. They are cells of
`solutions/NN_*.ipynb`.
Source: chapter 00.
"""

import difflib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from course_lib.errors import CourseError, SettingsError

__all__ = ["EXERCISES", "Exercise", "Kind", "UnknownExerciseError", "chapter_exercises", "find_exercise"]

# Write it from its specification · find and mend a real bug · choose settings for a budget · say the number first.
Kind = Literal["implement", "fix", "tune", "predict"]


class UnknownExerciseError(CourseError, LookupError):
    """There is no such exercise; the message lists those with a similar name."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows instead of a traceback: the way here is of no use to a learner."""
        return [str(self)]


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One exercise.

    Attributes:
        id: "NN.k": the chapter's two digits and the exercise's number in it.
        title: a few words.
        kind: what the learner does.
        minutes: how long it takes, about.
        answer_name: the name of the function, class or value that the learner defines.
        hints: three, from a nudge to nearly the answer, in Markdown.

    Raises:
        SettingsError: an id of another form, an unknown kind, or not three different hints.
    """

    id: str
    title: str
    kind: Kind
    minutes: int
    answer_name: str
    hints: tuple[str, str, str]

    def __post_init__(self) -> None:
        if not re.fullmatch(r"\d\d\.[1-9]\d*", self.id):
            raise SettingsError(f"exercise id {self.id!r}: expected two digits, a dot and a number, such as '01.2'")
        if self.kind not in get_args(Kind):
            raise SettingsError(
                f"kind {self.kind!r} of exercise {self.id}: expected one of {', '.join(get_args(Kind))}"
            )
        if len(set(self.hints)) != 3 or not all(self.hints):
            raise SettingsError(f"hints of exercise {self.id}: expected three different ones, got {self.hints!r}")

    @property
    def chapter(self) -> str:
        """The chapter's two digits."""
        return self.id.partition(".")[0]

    @property
    def check_file(self) -> Path:
        """The pytest file that checks an answer: `check_NN_k.py` beside this module."""
        return Path(__file__).with_name(f"check_{self.id.replace('.', '_')}.py")


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        id="00.1",
        title="Tokens left",
        kind="implement",
        minutes=3,
        answer_name="tokens_left",
        hints=(
            "The window is one budget. Two things are taken out of it: what is used already, and what is kept free.",
            "Subtract both `used_tokens` and `reserve_tokens` from `window_tokens`. What if that goes below 0?",
            "`max(0, …)` returns its second argument, but never less than 0.",
        ),
    ),
)


def find_exercise(id_or_answer_name: str) -> Exercise:
    """Return the exercise with this id ("01.2") or this name of the answer ("tokens_left").

    Raises:
        UnknownExerciseError: there is none; the message lists the nearest ones.
    """
    wanted = id_or_answer_name.strip()
    for exercise in EXERCISES:
        if wanted in (exercise.id, exercise.answer_name):
            return exercise
    raise UnknownExerciseError(f"There is no exercise {wanted!r:.60}. {_near(wanted)}")


def chapter_exercises(chapter: str) -> tuple[Exercise, ...]:
    """Return the exercises of a chapter ("01"), in order; none for a chapter without exercises."""
    return tuple(exercise for exercise in EXERCISES if exercise.chapter == chapter)


def _near(wanted: str) -> str:
    names = {exercise.answer_name: exercise for exercise in EXERCISES}
    same_chapter = chapter_exercises(wanted[:2])
    close = [names[name] for name in difflib.get_close_matches(wanted, names, n=3, cutoff=0.6)]
    listed = [f"{exercise.id} ({exercise.answer_name})" for exercise in close or same_chapter or EXERCISES[:5]]
    return f"{'Did you mean' if close else 'There are'} {', '.join(listed)}{'?' if close else '.'}"
