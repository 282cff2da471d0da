"""The pytest plugin that hands the learner's answer to the tests, and writes down what they say (chapter 00).

The answer is loaded between collection and the first test: a check file that cannot be imported is the course's fault,
whatever the answer is.

What this leaves out on purpose: pytest's own report.
Source: chapter 00.
"""

import inspect
import sys
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import pytest

from course_lib.checks import calling
from course_lib.checks.calling import error_text
from course_lib.checks.causes import cause_of_error
from course_lib.checks.expectations import Unexpected
from course_lib.learner.answers import is_stub
from course_lib.learner.cells import AnswerNotFoundError
from course_lib.learner.guard import Guard
from course_lib.learner.own_lines import is_own_file, line_of_error

if TYPE_CHECKING:
    from course_lib.learner.worker import Log

__all__ = ["Judge"]

_GUARDED = ("builtins", "copy", "operator", "dataclasses", "json", "pluggy", "pytest", "_pytest", "course_lib")
# What pytest takes for a verdict of its own; from an answer it is none.
_VERDICTS = (pytest.skip.Exception, pytest.xfail.Exception, pytest.exit.Exception, KeyboardInterrupt, SystemExit)


class Judge:
    """Runs one answer through the tests of one check file.

    Args:
        load: returns the answer; called once, after collection.
        log: gets the events.
        cells: file names of notebook cells, whose lines are the learner's.
    """

    def __init__(self, load: Callable[[], Any], log: "Log", cells: dict[str, str]) -> None:
        self._load, self._log, self._cells = load, log, cells
        self._answer: Any = None
        self._guard = Guard([])

    def pytest_configure(self, config: pytest.Config) -> None:
        """Spare pytest its long report of each failure: nobody reads it, and it takes longer than the test."""
        config.option.tbstyle = "value"

    @pytest.fixture(scope="session")
    def answer(self) -> Any:
        """The learner's function, class or value."""
        return self._answer

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Say which tests there are, and load the answer."""
        self._log("collected", tests={item.nodeid: _title(item) for item in session.items})
        if session.testsfailed or not session.items:
            return  # pytest's exit code says it
        calling.on_call = lambda called: self._log("call", called=called)
        modules = [module for name, module in sorted(sys.modules.items()) if name.partition(".")[0] in _GUARDED]
        self._guard = Guard([*modules, *{item.module for item in session.items if isinstance(item, pytest.Function)}])
        try:
            self._answer = self._load()
            absent = {"says": "stub"} if is_stub(self._answer) else None
        except AnswerNotFoundError as problem:
            absent = {"says": str(problem), **(self._raised(problem.error) if problem.error else {})}
        except BaseException as error:  # unpickling runs the learner's code, too
            absent = {"says": "Your answer cannot be loaded outside of the notebook.", **self._raised(error)}
        if absent:
            self._log("absent", **absent)
            session.items.clear()
        self._look_for_changes()

    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int | None, str]) -> None:  # noqa: ARG002
        """Say which test begins."""
        self._log("start", test=nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:  # noqa: ARG002
        """Take no verdict from the answer, and no judge that it changed."""
        try:
            return (yield)
        except _VERDICTS as verdict:
            raise Unexpected(got=error_text(verdict), likely_cause=cause_of_error(verdict), error=verdict) from verdict
        finally:
            self._look_for_changes()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: "pytest.CallInfo[None]"
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Write down how a test ended."""
        report = yield
        if call.excinfo is not None and call.when != "call":
            self._log("broken", says=f"{item.name}, {call.when}: {error_text(call.excinfo.value)}")
        elif call.when == "call":
            failure = None if report.passed and call.excinfo is None else self._failure(call)
            self._log("finish", test=item.nodeid, failure=failure)
        return report

    def _failure(self, call: "pytest.CallInfo[None]") -> dict[str, str]:
        if call.excinfo is None:  # a mark in the check file said that it may fail
            return {"says": "This check was left out."}
        error = call.excinfo.value
        if isinstance(error, Unexpected):
            names = ("called", "expected", "got", "likely_cause", "difference", "printed")
            failure = {name: getattr(error, name) for name in names}
            return failure | {"where": self._where(error.error) if error.error else ""}
        if type(error).__module__.startswith("hypothesis"):
            if "Flaky" in type(error).__name__:
                return {"says": "Your code does something else when it is called again with the same values."}
            self._log("broken", says=error_text(error))
        return self._raised(error)

    def _raised(self, error: BaseException) -> dict[str, str]:
        return {"got": error_text(error), "where": self._where(error), "likely_cause": cause_of_error(error)}

    def _where(self, error: BaseException) -> str:
        return line_of_error(error, lambda name: is_own_file(name, self._cells))

    def _look_for_changes(self) -> None:
        names = self._guard.undo()
        if names:
            self._log("tampered", names=names)


def _title(item: pytest.Item) -> str:
    """The sentence a test stands for."""
    return " ".join((inspect.getdoc(getattr(item, "function", None)) or item.name).split())
