r"""The parts of a system prompt that are looked up when a session starts: date, platform, git (chapter 02).

A program starts in many places: without git, in a folder that is no repository, in somebody else's. None of that may
end the session, and none of it may pass in silence: what could not be found out becomes a sentence that the model reads
in the place of the facts.

    >>> from datetime import datetime
    >>> print(session_facts(cwd="/work", platform="Linux", clock=lambda: datetime(2026, 11, 30)).text)
    Platform: Linux
    Working directory: /work
    Date: Monday, 2026-11-30
    >>> print(GitInfo(branch="main", changed_paths=2, recent_commits=("a1b2c3d Add the tariff",)).text)
    Branch: main. Uncommitted changes: 2 paths.
    Recent commits:
    - a1b2c3d Add the tariff

`git_info` starts the real program, in a repository that may be hostile. Its configuration can name programs for git to
run, so those settings are overridden; no question is asked, nothing is fetched; after the time-out git is killed with
all that it started.

What this leaves out on purpose: keeping the facts fresh. They are taken once; each change of the system prompt throws
the provider's cache away (chapter 02 measures it). Windows' process trees: there only git itself is killed. And a git
before 2.31 (2021), which cannot be told to leave out the filters of files.
Source: chapter 02; git's documentation of its settings (November 2026).
"""

import os
import platform as platform_module
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO

from course_lib.errors import SettingsError
from course_lib.system_prompt import Section

__all__ = ["GitInfo", "git_info", "one_line", "session_facts"]

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")  # in English everywhere
_MAX_LINE_CHARS = 200  # of one line that comes from outside
_MAX_OUTPUT_BYTES = 1_000_000

# All that git needs of the environment: no keys, and no GIT_DIR that points to another repository.
_PASSED_ON = (
    *("PATH", "PATHEXT", "HOME", "USERPROFILE", "XDG_CONFIG_HOME", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR"),
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES"),
)
_FIXED_ENVIRONMENT = {
    "LC_ALL": "C",  # the words that are looked for in errors
    "GIT_OPTIONAL_LOCKS": "0",  # do not write to the repository, and do not wait for who does
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "none",  # a partial clone would fetch, by a program that its configuration names
    "GIT_NO_LAZY_FETCH": "1",
}
_FIXED_SETTINGS = (  # each of these can name a program in the repository's own configuration
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),
    ("core.pager", "cat"),
    ("core.quotePath", "true"),  # a path a line, whatever characters it has
    ("log.showSignature", "false"),
    ("safe.bareRepository", "explicit"),  # a folder that only looks like a repository brings its own configuration
)

_OVERRIDES = [part for name, value in _FIXED_SETTINGS for part in ("-c", f"{name}={value}")]


def session_facts(
    *, cwd: str | Path, platform: str | None = None, clock: Callable[[], datetime] = datetime.now
) -> Section:
    """Return platform, working directory and date with weekday, what changes most often last.

    Args:
        cwd: the working directory, as the model is to name it.
        platform: the system's name; that of this machine by default.
        clock: gives the present time.
    """
    now = clock()
    date = f"{_WEEKDAYS[now.weekday()]}, {now:%Y-%m-%d}"
    system = one_line(platform or platform_module.system() or "unknown")
    return Section("session_facts", f"Platform: {system}\nWorking directory: {one_line(str(cwd))}\nDate: {date}")


def one_line(text: str) -> str:
    """Return text from outside as one printable line of at most 200 characters: a name is no place for orders."""
    shown = "".join(char if char.isprintable() else "�" for char in text.encode("utf-8", "replace").decode())
    return shown if len(shown) <= _MAX_LINE_CHARS else f"{shown[:_MAX_LINE_CHARS]}…"


@dataclass(frozen=True, kw_only=True)
class GitInfo:
    """What git says about a folder; with a `problem`, what it says is not all."""

    branch: str = ""  # "" when no branch is checked out, or when it is not known
    commit: str = ""  # short name of the commit that is checked out; "" before the first
    changed_paths: int = 0  # with new files; a folder of nothing but new files counts once
    recent_commits: tuple[str, ...] = ()
    problem: str = ""

    @property
    def text(self) -> str:
        """The sentences that the model reads."""
        if self.problem:
            return self.problem
        detached = f"No branch is checked out: HEAD is detached at {self.commit}."
        where = f"Branch: {self.branch}." if self.branch else detached
        paths = f"{self.changed_paths} path{'' if self.changed_paths == 1 else 's'}"
        changes = f"Uncommitted changes: {paths}." if self.changed_paths else "There are no uncommitted changes."
        commits = "\n- ".join(["Recent commits:", *self.recent_commits])
        return f"{where} {changes}\n{commits if self.recent_commits else 'There is no commit yet.'}"

    @property
    def section(self) -> Section:
        """The same as a section of a prompt."""
        return Section("git_info", self.text)


def git_info(folder: str | Path, *, git: str = "git", timeout_seconds: float = 2.0, recent_commits: int = 3) -> GitInfo:
    """Return what git says about the folder; whatever goes wrong is said in `problem`, and nothing is raised for it.

    Args:
        folder: a folder in a repository, or not.
        git: the program.
        timeout_seconds: for all questions together.
        recent_commits: how many commits to name.

    Raises:
        SettingsError: a time-out or a number of commits that is not above 0.
    """
    if timeout_seconds <= 0 or recent_commits < 1:
        raise SettingsError(f"timeout_seconds {timeout_seconds}, recent_commits {recent_commits}: expected above 0")
    if not Path(folder).is_dir():
        return GitInfo(problem="Git was not asked: the working directory does not exist.")
    try:
        ask = _Git(git, Path(folder), time.monotonic() + timeout_seconds)
        status = _lines(ask("status", "--porcelain=v2", "--branch", "--ignore-submodules=all"))
        heads = dict(line[2:].split(" ", 1) for line in status if line.startswith("# branch."))
        changed = sum(not line.startswith("#") for line in status)
        commit, branch = heads.get("branch.oid", ""), heads.get("branch.head", "")
        log: Sequence[str] = ()
        if commit != "(initial)":
            log = _lines(ask("log", f"--max-count={recent_commits}", "--format=%h %s"))
    except _GitError as error:
        return GitInfo(problem=str(error))
    except subprocess.TimeoutExpired:
        return GitInfo(problem=f"Git gave no answer within {timeout_seconds:g} seconds: its state is not known.")
    return GitInfo(
        branch="" if branch == "(detached)" else one_line(branch),
        commit="" if commit == "(initial)" else commit[:7],
        changed_paths=changed,
        recent_commits=tuple(map(one_line, log)),
    )


class _GitError(Exception):
    """What the model is told instead of the facts."""


class _Git:
    """Asks git, so that a repository cannot make it run, fetch or wait for anything."""

    def __init__(self, program: str, folder: Path, deadline: float) -> None:
        self.program, self.folder, self.deadline = program, folder, deadline
        self.filters: list[tuple[str, str]] = []
        pattern = r"^filter\..*\.(clean|smudge|process|required)$"  # programs that "status" would run on changed files
        names = self("config", "--includes", "--name-only", "--null", "--get-regexp", pattern, may_fail=True)
        for name in filter(None, names.split("\0")):
            self.filters.append((name, "false" if name.endswith(".required") else ""))

    def __call__(self, *arguments: str, may_fail: bool = False) -> str:
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | _FIXED_ENVIRONMENT
        environment |= _as_environment(self.filters)
        # files, not pipes: a grandchild that lives on would hold a pipe open, and reading it would never end
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            code = self._run(arguments, environment, output, errors)
            if code and not may_fail:
                raise _GitError(_explain(_read(errors)))
            return _read(output)

    def _run(
        self, arguments: Sequence[str], environment: Mapping[str, str], output: IO[bytes], errors: IO[bytes]
    ) -> int:
        try:
            process = subprocess.Popen(
                [self.program, *_OVERRIDES, *arguments],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
        except (FileNotFoundError, PermissionError):
            raise _GitError("Git is not installed here (or may not be started): use no git commands.") from None
        except OSError as error:
            raise _GitError(f"Git could not be started: {error.strerror}.") from None
        try:
            return process.wait(max(0.0, self.deadline - time.monotonic()))
        finally:
            if process.poll() is None:
                _kill(process)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    if sys.platform != "win32":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _as_environment(settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Settings that override every file, as git reads them from its environment: names may hold any character there."""
    pairs = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings):
        pairs |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return pairs


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_MAX_OUTPUT_BYTES).decode("utf-8", "replace")


def _lines(output: str) -> list[str]:
    return [line for line in output.split("\n") if line]


def _explain(errors: str) -> str:
    if "dubious ownership" in errors:
        return "The repository belongs to another user, so git does not read it: ask the user before you use git here."
    if "not a git repository" in errors:
        return "The working directory is not in a git repository."
    first = next((line for line in errors.splitlines() if line.strip()), "it gave no reason")
    return f"Git failed, so its state is not known: {one_line(first.removeprefix('fatal: '))}"
