"""What a learner has tried and passed: `.course/progress.jsonl` in the learner's folder. Standard library only.

One record a line, only ever added to (`journal`), so two notebooks at once cannot harm each other, and a broken line
costs no other one. Nothing is sent anywhere. Outside of a learner's folder, in the clone say, nothing is written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     (folder / ".course").mkdir()
    ...     record("01.2", passed=False, folder=folder), record("01.2", passed=True, folder=folder)
    ...     load(folder).exercises["01.2"].attempts
    ('', '')
    2

What this leaves out on purpose: what was answered. Source: chapter 00.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import course_lib
from course_lib.learner import journal
from course_lib.learner.files import HIDDEN, explain
from course_lib.learner.folder import find_learner_folder
from course_lib.learner.journal import Journal

__all__ = ["Clock", "ExerciseProgress", "Progress", "hints_shown", "load", "record", "record_hint"]

Clock = Callable[[], datetime]


@dataclass(frozen=True, kw_only=True)
class ExerciseProgress:
    """How far a learner is with one exercise.

    Attributes:
        attempts: how often it was checked.
        passed: whether it was passed at least once; a later failure does not take that back.
        hints: how many hints were shown.
        last_time: when it was last checked or a hint shown, as ISO 8601 in UTC; "" for never.
    """

    attempts: int = 0
    passed: bool = False
    hints: int = 0
    last_time: str = ""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a learner is.

    Attributes:
        exercises: by exercise id; one that was never touched is not in it.
        note: what was wrong with the file, to be shown; "" when all is well.
    """

    exercises: Mapping[str, ExerciseProgress] = field(default_factory=dict)
    note: str = ""

    def of(self, exercise_id: str) -> ExerciseProgress:
        """How far the learner is with one exercise."""
        return self.exercises.get(exercise_id, ExerciseProgress())


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def record(exercise_id: str, *, passed: bool, folder: Path | None = None, clock: Clock = now) -> str:
    """Write down that an exercise was checked.

    Args:
        exercise_id: such as "01.2".
        passed: what the check said.
        folder: the learner's folder; None means the one that the present folder lies in.
        clock: returns the time.

    Returns:
        A sentence to show, when something is wrong with the file; else "". It never raises for a file's sake.
    """
    return _add(exercise_id, passed=passed, hint=None, folder=folder, clock=clock)


def record_hint(exercise_id: str, folder: Path | None = None, clock: Clock = now) -> str:
    """Write down that the next hint was shown; arguments and result as in `record`."""
    folder = folder or here()
    return _add(exercise_id, passed=None, hint=hints_shown(exercise_id, folder) + 1, folder=folder, clock=clock)


def hints_shown(exercise_id: str, folder: Path | None = None) -> int:
    """How many hints of an exercise were shown; 0 outside of a learner's folder."""
    return load(folder).of(exercise_id).hints


def load(folder: Path | None = None) -> Progress:
    """Read how far the learner is; nothing yet, when there is no file or no learner's folder.

    Args:
        folder: the learner's folder; None means the one that the present folder lies in.
    """
    folder = folder or here()
    if folder is None:
        return Progress()
    log = progress_journal(folder)
    try:
        loaded = log.load()
    except OSError as error:
        return Progress(note=f"Your progress in {log.path} cannot be read: {explain(error, log.path)}")
    exercises: dict[str, ExerciseProgress] = {}
    for one in loaded.records:
        exercises[one["exercise"]] = _with(exercises.get(one["exercise"], ExerciseProgress()), one)
    return Progress(exercises=exercises, note=loaded.note)


def here() -> Path | None:
    """The learner's folder that the present folder lies in; a notebook's is the one it stands in."""
    try:
        return find_learner_folder(Path.cwd())
    except OSError:  # the present folder was deleted
        return None


def progress_journal(folder: Path) -> Journal:
    """The file in a learner's folder."""
    return Journal(folder / HIDDEN / "progress.jsonl", is_progress)


def is_progress(one: journal.Record) -> bool:
    """Whether a line of the file can be used."""
    hint = one.get("hint")
    return (
        isinstance(one.get("exercise"), str)
        and (one.get("passed") is None or isinstance(one.get("passed"), bool))
        and (hint is None or (isinstance(hint, int) and not isinstance(hint, bool) and hint > 0))
        and isinstance(one.get("time"), str)
    )


def _with(before: ExerciseProgress, one: journal.Record) -> ExerciseProgress:
    passed = one.get("passed")
    return ExerciseProgress(
        attempts=before.attempts + (passed is not None),
        passed=before.passed or passed is True,
        hints=max(before.hints, one.get("hint") or 0),
        last_time=max(before.last_time, one["time"]),
    )


def _add(exercise_id: str, *, passed: bool | None, hint: int | None, folder: Path | None, clock: Clock) -> str:
    folder = folder or here()
    if folder is None:
        return ""
    log = progress_journal(folder)
    time = clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    try:
        log.append(
            {"exercise": exercise_id, "passed": passed, "hint": hint, "time": time, "course": course_lib.__version__}
        )
        return log.load().note
    except OSError as error:
        why = explain(error, log.path)
        return f"Your progress could not be written to {log.path}: {why} What the check says is right all the same."
