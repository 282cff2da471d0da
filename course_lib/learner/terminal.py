"""`course check` and `course hint` in a terminal: the same checks on the notebooks' files (chapter 00).

What this leaves out on purpose: the commands' entries, which stand with all others in `course_lib.cli`.
Source: chapter 00.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import indent

from course_lib.checks.catalogue import EXERCISES, UnknownExerciseError, chapter_exercises, find_exercise
from course_lib.checks.exercise import Exercise
from course_lib.errors import CourseError
from course_lib.learner.result import CheckResult, Failure

__all__ = ["check_arguments", "check_command", "find_notebook", "hint_arguments", "hint_command"]

_ALL_PASSED, _NOT_YET, _COURSE_ERROR = 0, 1, 2


def check_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `course check`."""
    from course_lib.learner.folder_commands import folder_argument

    parser.add_argument(
        "what",
        metavar="NN[.k]",
        nargs="?",
        default="",
        help="a chapter or an exercise, such as 01 or 01.2 (default: all)",
    )
    folder_argument(parser)


def hint_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `course hint`."""
    from course_lib.learner.folder_commands import folder_argument

    parser.add_argument("exercise", metavar="NN.k", help="the exercise, such as 01.2")
    folder_argument(parser)


def check_command(arguments: argparse.Namespace) -> int:
    """Check exercises in the learner's notebooks, print a line for each and what is not right yet.

    Args:
        arguments: `what` is "", a chapter or an exercise; `folder` the learner's, None for the present one.

    Returns:
        The exit status: 0 when all passed, 1 when some did not yet, 2 when the course failed or there is no such
        exercise or folder.
    """
    try:
        exercises = _chosen(arguments.what)
        folder = _folder(arguments.folder)
    except CourseError as error:
        print(error, file=sys.stderr)
        return _COURSE_ERROR
    passed, broken = 0, 0
    for exercise in exercises:
        try:
            result = _check(exercise, folder)
        except CourseError as error:
            print(f"Exercise {exercise.id}: {error}", file=sys.stderr)
            broken += 1
            continue
        passed += result.passed
        print(_shown(result), flush=True)
    if len(exercises) > 1:
        print(f"{passed} of {len(exercises)} exercises passed.")
    return _COURSE_ERROR if broken else _ALL_PASSED if passed == len(exercises) else _NOT_YET


def hint_command(arguments: argparse.Namespace) -> int:
    """Print the next hint for an exercise; without a learner's folder nobody remembers how far it went.

    Args:
        arguments: `exercise` is its number or its answer's name; `folder` the learner's, None for the present one.

    Returns:
        The exit status: 0, or 2 when there is no such exercise or the folder that was named is none.
    """
    from course_lib.learner.helping import next_hint

    try:
        print(next_hint(arguments.exercise, folder=_folder_of_hints(arguments.folder), in_terminal=True))
    except CourseError as error:
        print(error, file=sys.stderr)
        return _COURSE_ERROR
    return 0


def find_notebook(exercise: Exercise, folder: Path) -> Path | None:
    """Return the learner's notebook with an exercise's chapter; None when there is none.

    Args:
        exercise: which one.
        folder: the learner's folder, or its `exercises`.
    """
    from course_lib.learner.delivery import is_copy_name

    for place in (folder / "exercises", folder):
        names = sorted(place.glob(f"{exercise.chapter}_*.ipynb"))
        mine = [file for file in names if not is_copy_name(file.name)]  # an update lays its version beside
        if mine:
            return mine[0]
    return None


def _chosen(what: str) -> Sequence[Exercise]:
    if not what:
        return EXERCISES
    if what.isdigit():
        chosen = chapter_exercises(what.zfill(2))
        if not chosen:
            raise UnknownExerciseError(f"Chapter {what} has no exercises.")
        return chosen
    return (find_exercise(what),)


def _folder(option: str | None) -> Path:
    from course_lib.learner.folder_commands import present_folder

    given = Path(option).expanduser() if option else None
    if given and any((*given.glob("exercises/*.ipynb"), *given.glob("*.ipynb"))):
        return given  # any folder with notebooks will do: a submission, for example
    return present_folder(option)


def _folder_of_hints(option: str | None) -> Path | None:
    from course_lib.learner.files import HIDDEN

    try:
        folder = _folder(option)
    except CourseError:
        if option:
            raise
        return None
    return folder if (folder / HIDDEN).is_dir() else None


def _check(exercise: Exercise, folder: Path) -> CheckResult:
    from course_lib.learner.cells import GET_BACK
    from course_lib.learner.checking import write_down
    from course_lib.learner.files import HIDDEN
    from course_lib.learner.runner import run_check

    notebook = find_notebook(exercise, folder)
    if notebook is None:
        says = f"There is no exercises/{exercise.chapter}_*.ipynb in {folder}."
        return CheckResult(exercise, stopped=Failure(says=says), way_out=GET_BACK)
    result = run_check(exercise, notebook=notebook)
    if not (folder / HIDDEN).is_dir():  # not a learner's folder: nobody's progress
        return result
    return replace(result, note=write_down(exercise.id, passed=result.passed, folder=folder))


def _shown(result: CheckResult) -> str:
    """One line for what passed, and what it printed; else the first failure too, and where to go from there."""
    if result.passed:
        return "\n".join(filter(None, (f"✓ {result.headline}", indent(result.printed_block, "    "), result.note)))
    lines = result.as_text(in_terminal=True, only_first=True).splitlines()
    return "\n".join([f"✗ {lines[0]}", *(f"    {line}" if line else "" for line in lines[1:]), ""])
