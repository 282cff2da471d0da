"""From what a worker left behind to a result: passed, not yet, or an error of the course (chapter 00).

    events      a sealed end?  pytest's OK        every test passed, one or more      passed
                               tests failed       at least one test says so           not yet
                               anything else                                          error of the course
                no end?        learner's code had begun to run                        not yet: hung, left or crashed
                               it had not                                             error of the course

Source: chapter 00.
"""

import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from course_lib.checks.exercise import Exercise
from course_lib.checks.showing import steady
from course_lib.errors import CourseError
from course_lib.learner.own_lines import line_in_dump
from course_lib.learner.result import CheckedTest, CheckResult, Failure

__all__ = ["CourseCheckError", "Outcome", "judge"]

_OK, _TESTS_FAILED = 0, 1  # pytest.ExitCode, without the import
_FIELDS = [field.name for field in fields(Failure)]


class CourseCheckError(CourseError):
    """A check did not work. It says nothing about the answer.

    Args:
        details: what happened.
    """

    def __init__(self, details: str) -> None:
        super().__init__(
            f"This is an error of the course, not of your answer. Please report it with this text:\n{details}"
        )

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the details are in the text."""
        return [str(self)]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a worker left behind.

    Attributes:
        events: see `course_lib.learner.worker.Log`.
        exit_code: of the process; None when it had to be killed, below 0 when a signal ended it.
        output: what it printed.
        trace: what `faulthandler` wrote.
        seconds: the time that the learner's code had.
        seal: the word that a true end repeats.
    """

    events: Sequence[Mapping[str, Any]]
    exit_code: int | None
    output: str
    trace: str
    seconds: float
    seal: str

    def last(self, name: str) -> Mapping[str, Any] | None:
        """The last event of this name."""
        return next((event for event in reversed(self.events) if event["event"] == name), None)


def judge(exercise: Exercise, outcome: Outcome, *, cells: Mapping[str, str]) -> CheckResult:
    """Return what came of a check.

    Args:
        exercise: which one.
        outcome: what the worker left behind.
        cells: the text of the notebook's cells, by the name that their code has in a traceback.

    Raises:
        CourseCheckError: the course failed, not the answer.
    """
    broken, collected = outcome.last("broken"), outcome.last("collected")
    if broken:
        raise CourseCheckError(str(broken["says"]))
    tampered, absent, end = outcome.last("tampered"), outcome.last("absent"), outcome.last("end")
    if collected is None or not collected["tests"] or not outcome.last("loading"):
        raise CourseCheckError(_no_start(exercise, outcome))
    titles: Mapping[str, str] = collected["tests"]
    printed = _clean(outcome.output).strip("\n")
    total = len(set(titles.values()))
    if tampered:
        return CheckResult(exercise, total=total, stopped=_replaced(tampered["names"]), printed=printed)
    if absent:
        return CheckResult(exercise, stopped=_absent(exercise, absent), printed=printed)
    finished = {event["test"]: event["failure"] for event in outcome.events if event["event"] == "finish"}
    failures = {test: _failure(failure) if failure else None for test, failure in finished.items()}
    if end is None or end["seal"] != outcome.seal:
        return _unfinished(exercise, outcome, titles, failures, _ended_by(outcome, cells), printed)
    result = CheckResult(exercise, _merged(titles, failures), total=total, printed=printed)
    is_complete = set(failures) == set(titles)
    if is_complete and end["exit_code"] == (_OK if result.passed else _TESTS_FAILED):
        return result
    raise CourseCheckError(
        f"pytest ended with {end['exit_code']} after {len(failures)} of {len(titles)} tests of exercise {exercise.id}"
    )


def _unfinished(
    exercise: Exercise,
    outcome: Outcome,
    titles: Mapping[str, str],
    failures: dict[str, Failure | None],
    failure: Failure,
    printed: str,
) -> CheckResult:
    """The result when the process ended before its time: the running test is the one to look at."""
    total = len(set(titles.values()))
    start = outcome.last("start")
    if start is None or start["test"] in failures:
        return CheckResult(exercise, total=total, stopped=failure, printed=printed)
    call = next((e for e in reversed(outcome.events) if e["event"] in ("call", "start")), start)
    parts = {name: getattr(failure, name) for name in _FIELDS} | {"called": _clean(str(call.get("called", "")))}
    failures[start["test"]] = Failure(**parts)
    return CheckResult(exercise, _merged(titles, failures), total=total, printed=printed)


def _merged(titles: Mapping[str, str], failures: Mapping[str, Failure | None]) -> tuple[CheckedTest, ...]:
    """One entry for each sentence: the rows of a table share theirs, and the first that is wrong stands for them."""
    merged: dict[str, Failure | None] = {}
    for test, title in titles.items():
        if test in failures:
            merged[title] = merged.get(title) or failures[test]
    return tuple(CheckedTest(_clean(title), failure) for title, failure in merged.items())


def _failure(fields_: Mapping[str, str]) -> Failure:
    return Failure(**{name: _clean(text) for name, text in fields_.items() if name in _FIELDS})


def _absent(exercise: Exercise, event: Mapping[str, str]) -> Failure:
    if event["says"] == "stub":
        return Failure(
            says=f"Nothing to check yet: replace the three dots in `{exercise.answer_name}`, and check again."
        )
    return _failure(event)


def _replaced(names: Sequence[str]) -> Failure:
    shown = ", ".join(f"`{name}`" for name in names[:3])
    return Failure(
        says=f"Your code replaces {shown}. A check needs that as it was, so it cannot judge your answer.",
        likely_cause="An assignment to a part of another module. Use a name of your own.",
    )


def _ended_by(outcome: Outcome, cells: Mapping[str, str]) -> Failure:
    """What the learner's code did to the process."""
    where = line_in_dump(outcome.trace, cells)
    during = (outcome.last("loading") or {}).get("cell", "") if outcome.last("start") is None else ""
    place = f" It was in {during}." if during else ""
    if outcome.exit_code is None or outcome.trace.startswith("Timeout"):
        seconds = f"{outcome.seconds:g} seconds"
        return Failure(
            says=f"Your code did not come to an end: it was stopped after {seconds}.{place}",
            where=where,
            likely_cause="An endless loop (does every round come nearer to its end?), or far too long a computation.",
        )
    if outcome.exit_code in (-getattr(signal, "SIGKILL", 9), -9):
        return Failure(says=f"The system ended your code.{place}", likely_cause="It used up the memory.")
    if outcome.exit_code < 0 or outcome.exit_code > 255 or "Fatal Python error" in outcome.trace:
        return Failure(
            says=f"Your code made Python itself crash{_signal_name(outcome.exit_code)}.{place}",
            where=where,
            likely_cause="A recursion that is too deep for Python, or a call into a library with wrong values.",
        )
    return Failure(
        says=f"Your code ended Python before the check was done.{place}",
        where=where,
        likely_cause="`os._exit()` or its like: use `return` instead.",
    )


def _signal_name(exit_code: int) -> str:
    if exit_code >= 0 or sys.platform == "win32":
        return ""
    try:
        return f" ({signal.Signals(-exit_code).name})"
    except ValueError:
        return ""


def _no_start(exercise: Exercise, outcome: Outcome) -> str:
    if outcome.exit_code is None:
        return (
            f"Python did not get ready to check exercise {exercise.id} in time. Is this machine very busy? Try again."
        )
    return f"exercise {exercise.id}: no test was collected (exit code {outcome.exit_code})\n{outcome.output}".strip()


def _clean(text: str) -> str:
    """Text that every notebook can save: no halves of surrogate pairs, no terminal codes, no addresses."""
    text = steady(text).encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(char if char >= " " or char in "\n\t" else f"\\x{ord(char):02x}" for char in text)
