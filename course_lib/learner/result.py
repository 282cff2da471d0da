"""What came of a check: a value that reads well in a notebook, in a terminal and to a screen reader (chapter 00).

    >>> about = {"kind": "implement", "minutes": 1, "answer_name": "total", "hints": ("Add.", "Add all.", "Use sum.")}
    >>> exercise = Exercise(id="00.9", title="Total", **about)
    >>> good = CheckedTest("Nothing in, nothing out.")
    >>> bad = CheckedTest("It adds up.", Failure(called="total([1, 2])", expected="3", got="2"))
    >>> print(CheckResult(exercise, (good, bad), total=2))
    Exercise 00.9, Total: not yet (1 of 2 checks passed)
    <BLANKLINE>
    ✗ not yet: It adds up.
        called:       total([1, 2])
        expected:     3
        got:          2
    <BLANKLINE>
    ✓ passed: Nothing in, nothing out.
    <BLANKLINE>
    A nudge: hint("00.9")

The text is the same in every run: it stands in committed notebooks. Nobody fails here: an answer passed, or not yet.
Source: chapter 00.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import indent

from course_lib.checks.exercise import Exercise

__all__ = ["CheckResult", "CheckedTest", "Failure"]


@dataclass(frozen=True, kw_only=True)
class Failure:
    """What is not right yet; each part is "" when there is nothing to say.

    Attributes:
        says: a sentence, when there is more to say than expected and got.
        called: the call as it would be written.
        expected: the right result, or what is true of it.
        got: the result, or the exception.
        difference: where the two differ.
        where: the learner's own line that raised the exception, or that was running.
        likely_cause: a sentence.
        printed: what the call printed.
    """

    says: str = ""
    called: str = ""
    expected: str = ""
    got: str = ""
    difference: str = ""
    where: str = ""
    likely_cause: str = ""
    printed: str = ""

    def parts(self) -> Iterator[tuple[str, str]]:
        """Yield name and text of every part but `says` that has something to say, in the order in which to read."""
        for name in ("called", "expected", "got", "difference", "where", "likely_cause", "printed"):
            text: str = getattr(self, name)
            if text:
                yield name.replace("_", " "), text


@dataclass(frozen=True)
class CheckedTest:
    """One test that ran: the sentence it stands for, and what is not right yet (None when it passed)."""

    title: str
    failure: Failure | None = None

    @property
    def passed(self) -> bool:
        """Whether it passed."""
        return self.failure is None


@dataclass(frozen=True)
class CheckResult:
    """What came of checking one answer.

    Attributes:
        exercise: which one.
        tests: those that ran, in the order of the check file.
        total: how many there are.
        stopped: what kept tests from running; None when all ran.
        printed: what the learner's code printed, head and tail of it.
        note: one more sentence to show, such as that progress could not be saved.
        way_out: the next step, where a hint would not help, such as how to get a missing notebook back.
    """

    exercise: Exercise
    tests: tuple[CheckedTest, ...] = ()
    total: int = 0
    stopped: Failure | None = None
    printed: str = ""
    note: str = ""
    way_out: str = ""

    @property
    def passed(self) -> bool:
        """Whether every test ran and passed, and there was at least one."""
        all_ran = self.stopped is None and len(self.tests) == self.total > 0
        return all_ran and all(test.passed for test in self.tests)

    @property
    def headline(self) -> str:
        """Exercise and outcome in one line."""
        good = sum(test.passed for test in self.tests)
        checks = "1 check" if self.total == 1 else f"all {self.total} checks"
        outcome = f"passed ({checks})" if self.passed else "not yet"
        count = f" ({good} of {self.total} checks passed)" if self.tests and not self.passed else ""
        return f"Exercise {self.exercise.id}, {self.exercise.title}: {outcome}{count}"

    @property
    def first_failure(self) -> CheckedTest | None:
        """The test to look at: the first that did not pass."""
        return next((test for test in self.tests if not test.passed), None)

    @property
    def printed_block(self) -> str:
        """What the learner's code printed, with a heading; "" when it was nothing."""
        return "Your code printed:\n" + indent(self.printed, "    ") if self.printed else ""

    def next_step(self, *, in_terminal: bool = False) -> str:
        """Return where to go from here."""
        if self.way_out:
            return self.way_out
        name = "solution" if self.passed else "hint"
        if in_terminal and not self.passed:
            return f"A nudge: course hint {self.exercise.id}"
        return f'{"Our answer, and why" if self.passed else "A nudge"}: {name}("{self.exercise.id}")'

    def as_text(self, *, in_terminal: bool = False, only_first: bool = False) -> str:
        """Return all of it as plain text.

        Args:
            in_terminal: other commands lead on from there.
            only_first: of the tests only the first that did not pass.
        """
        blocks = [self.headline]
        first = self.first_failure
        if self.stopped:
            blocks.append("\n".join(_failure_lines(self.stopped, indent="")))
        if first and first.failure:
            blocks.append("\n".join([f"✗ not yet: {first.title}", *_failure_lines(first.failure, indent="    ")]))
        others = [test for test in self.tests if test is not first and not only_first]
        blocks.append("\n".join(f"{'✓ passed' if test.passed else '✗ not yet'}: {test.title}" for test in others))
        if not (first and first.failure and first.failure.printed):
            blocks.append(self.printed_block)
        blocks += [self.note, self.next_step(in_terminal=in_terminal)]
        return "\n\n".join(filter(None, blocks))

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        from course_lib.learner.result_html import as_html

        return as_html(self)


def _failure_lines(failure: Failure, *, indent: str) -> Iterator[str]:
    if failure.says:
        yield indent + failure.says
    for name, text in failure.parts():
        first, *more = text.splitlines() or [""]
        yield f"{indent}{name + ':':<14}{first}"
        yield from (f"{indent}{'':14}{line}" for line in more)
