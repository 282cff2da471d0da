"""Every exercise and every question of the course (chapter 00).

An exercise is one entry in `chapters/chapter_NN.py`, one check file beside this module, and its cells in a notebook.
Everything else (the learner's notebook, hints, progress, the command line) is made from these three.

    >>> find_exercise("tokens_left").id
    '00.1'
    >>> find_exercise("00.1").check_file.name
    'check_00_1.py'

What this leaves out on purpose: the task, the stub and the answer with its reason. They are cells of
`solutions/NN_*.ipynb`.
Source: chapter 00.
"""

import difflib
import importlib
import pkgutil

from course_lib.checks import chapters
from course_lib.checks.exercise import Exercise, Question
from course_lib.errors import CourseError, SettingsError

__all__ = [
    "EXERCISES",
    "QUESTIONS",
    "UnknownExerciseError",
    "chapter_exercises",
    "find_exercise",
    "find_question",
]


class UnknownExerciseError(CourseError, LookupError):
    """There is no such exercise; the message lists those with a similar name."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows instead of a traceback: the way here is of no use to a learner."""
        return [str(self)]


_CHAPTERS = [
    importlib.import_module(f"{chapters.__name__}.{name}")
    for name in sorted(module.name for module in pkgutil.iter_modules(chapters.__path__))
]
EXERCISES: tuple[Exercise, ...] = tuple(exercise for chapter in _CHAPTERS for exercise in chapter.EXERCISES)
QUESTIONS: tuple[Question, ...] = tuple(question for chapter in _CHAPTERS for question in chapter.QUESTIONS)


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


def find_question(question_id: str) -> Question:
    """Return the question with this id.

    Raises:
        SettingsError: there is none; the message lists those there are.
    """
    for question in QUESTIONS:
        if question.id == question_id:
            return question
    raise SettingsError(f"there is no question {question_id!r}: the questions are {', '.join(q.id for q in QUESTIONS)}")


def _near(wanted: str) -> str:
    names = {exercise.answer_name: exercise for exercise in EXERCISES}
    same_chapter = chapter_exercises(wanted[:2])
    close = [names[name] for name in difflib.get_close_matches(wanted, names, n=3, cutoff=0.6)]
    listed = [f"{exercise.id} ({exercise.answer_name})" for exercise in close or same_chapter or EXERCISES[:5]]
    return f"{'Did you mean' if close else 'There are'} {', '.join(listed)}{'?' if close else '.'}"
