"""02.2 describe_git: a sentence in every case, and no exception for trouble that git has."""

import subprocess

from course_lib.checks.expectations import Mistake, expect, expect_raises
from course_lib.checks.practice_prompt import FakeGit

WIDE = Mistake(
    "Git is not installed.", "This is said of every failure. Each of the three exceptions has its own `except`."
)


class Broken:
    """A caller's bug: no trouble of git's."""

    def __call__(self, *_):
        """Fail as a bug does."""
        raise ZeroDivisionError("a bug in the caller")

    def __repr__(self):
        return "Broken()"


def test_a_repository(answer):
    """With git in order, branch and number of changes are said as before."""
    expect(answer, FakeGit(changes=("a.py", "b.py")), returns="Branch: main. 2 uncommitted changes.")
    expect(answer, FakeGit(branch="develop"), returns="Branch: develop. 0 uncommitted changes.")


def test_no_git(answer):
    """A machine without git gets a sentence."""
    mistake = Mistake(FileNotFoundError, "A program that is not there raises FileNotFoundError: catch it and say so.")
    expect(answer, FakeGit(fails="missing"), returns="Git is not installed.", mistakes=(mistake,))


def test_a_git_that_hangs(answer):
    """A git that does not answer in time gets a sentence."""
    mistake = Mistake(subprocess.TimeoutExpired, "A git that is too slow raises subprocess.TimeoutExpired.")
    expect(answer, FakeGit(fails="slow"), returns="Git gave no answer in time.", mistakes=(WIDE, mistake))


def test_no_repository(answer):
    """A folder that is no repository is said to be none."""
    mistakes = (
        WIDE,
        Mistake(subprocess.CalledProcessError, "Git refuses with subprocess.CalledProcessError: catch it as well."),
        Mistake(
            lambda got: got.startswith("Git failed"), "`error.stderr` says 'not a git repository': a case of its own."
        ),
    )
    git = FakeGit(fails="not a git repository (or any of the parent directories): .git")
    expect(answer, git, returns="This is not a git repository.", mistakes=mistakes)


def test_another_refusal(answer):
    """Whatever else git complains of is passed on: the first line, without "fatal: "."""
    mistakes = (
        WIDE,
        Mistake("This is not a git repository.", "Git refuses for other reasons, too: look into `error.stderr`."),
        Mistake(lambda got: "(more)" in got, "Only the first line of the error is wanted."),
        Mistake(lambda got: "fatal" in got, "Take the word 'fatal: ' off the front."),
        Mistake(
            lambda got: "returned non-zero" in got, "That is Python's text. Git's own words are in `error.stderr`."
        ),
    )
    git = FakeGit(fails="detected dubious ownership in repository at '/work'")
    right = "Git failed: detected dubious ownership in repository at '/work'"
    expect(answer, git, returns=right, mistakes=mistakes)


def test_no_branch(answer):
    """With no branch checked out there is no error: git prints nothing, and a sentence says so."""
    mistake = Mistake(
        "Branch: . 1 uncommitted changes.",
        "When no branch is checked out, git prints nothing, and the sentence has a hole.",
    )
    right = "No branch is checked out. 1 uncommitted changes."
    expect(answer, FakeGit(branch="", changes=("a.py",)), returns=right, mistakes=(mistake,))


def test_a_bug_is_not_hidden(answer):
    """An exception that has nothing to do with git is raised as it is."""
    mistake = Mistake(
        lambda got: isinstance(got, str),
        "An exception that is no trouble of git's was swallowed: a bare `except` (or `except Exception`) hides bugs.",
    )
    expect_raises(answer, Broken(), raises=ZeroDivisionError, mistakes=(mistake,))
