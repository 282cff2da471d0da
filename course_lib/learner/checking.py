"""`check(answer)` in a notebook: which exercise is it, what came of it, is it written down (chapter 00)?

What this leaves out on purpose: how a check is run (`runner`) and how progress is kept (`progress`).
Source: chapter 00.
"""

from dataclasses import replace
from pathlib import Path

from course_lib.checks.catalogue import UnknownExerciseError, find_exercise
from course_lib.checks.exercise import Exercise
from course_lib.learner.answers import is_stub
from course_lib.learner.result import CheckResult, Failure
from course_lib.learner.runner import run_check

__all__ = ["check_answer", "exercise_of", "has_passed", "write_down"]

_passed_here: set[str] = set()  # in this process: progress may not be kept, in the clone for example


def check_answer(answer: object, exercise: str = "") -> CheckResult:
    """Check an answer, remember the outcome, and return it; see `course_lib.learner.check`."""
    found = find_exercise(exercise) if exercise else exercise_of(answer)
    if found.kind in ("implement", "fix") and not callable(answer) and not is_stub(answer):
        return _no_function(found, answer)
    result = run_check(found, answer=answer)
    return replace(result, note=write_down(found.id, passed=result.passed))


def exercise_of(answer: object) -> Exercise:
    """Return the exercise that a function or class answers, by its name.

    Raises:
        UnknownExerciseError: a value, or a name that no exercise asks for.
    """
    name = getattr(answer, "__name__", None)
    if not isinstance(name, str) or name == "<lambda>":
        raise UnknownExerciseError(f"{_what(answer)} does not say which exercise it answers. {_NAME_IT}")
    try:
        return find_exercise(name)
    except UnknownExerciseError as error:
        raise UnknownExerciseError(f"{error} {_NAME_IT}") from None


def write_down(exercise_id: str, *, passed: bool, folder: Path | None = None) -> str:
    """Keep an outcome in the learner's progress; return a sentence to show, or "".

    Trouble with it is said, and spoils no check.
    """
    if passed:
        _passed_here.add(exercise_id)
    try:
        from course_lib.learner.progress import record

        return record(exercise_id, passed=passed, folder=folder)
    except Exception as error:
        return f"Your progress could not be written down ({type(error).__name__}: {error})."


def has_passed(exercise_id: str) -> bool:
    """Return whether an exercise has been passed, now or earlier."""
    if exercise_id in _passed_here:
        return True
    try:
        from course_lib.learner.progress import load

        return load().of(exercise_id).passed
    except Exception:  # not known: then as if not
        return False


def _no_function(exercise: Exercise, answer: object) -> CheckResult:
    """The result for a call's value where the function or class was asked for; it is no attempt."""
    what = "class" if exercise.answer_name[:1].isupper() else "function"
    says = f"This is a value of type {type(answer).__name__}, and the exercise asks for a {what}."
    way_out = f"To check it, hand over the {what} itself: check({exercise.answer_name})"
    return CheckResult(exercise, stopped=Failure(says=says), way_out=way_out)


_NAME_IT = 'Give its number too, such as check(answer, "01.5").'


def _what(answer: object) -> str:
    if isinstance(answer, str):
        return "A text"
    return (
        "A lambda" if callable(answer) and hasattr(answer, "__name__") else f"A value of type {type(answer).__name__}"
    )
