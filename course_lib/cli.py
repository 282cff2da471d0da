"""The command line: `course start`, `course test`, `course doctor`, ... (also as `python -m course_lib start`).

Every command is one entry of `COMMANDS`: its name, its help, what must be installed for it, and a function from its
arguments to an exit status. `main` sees to the packages first (`environment.bootstrap`), then calls that function.
A new command is a new entry, and this module stays quick to import: standard library only at the top, the rest when it
is needed.
"""

import argparse
import os
import pkgutil
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib.environment.bootstrap import RERUN_MARK, Level, python_for, source_root
from course_lib.environment.processes import run_child
from course_lib.errors import CourseError

FIRST_CHAPTER = "chapters/00_start_here.ipynb"


class CourseFolderError(CourseError):
    """The folder with chapters, exercises and tests is not here, or not whole."""


def no_arguments(parser: argparse.ArgumentParser) -> None:
    """For a command that takes none."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """One subcommand.

    Attributes:
        name: what is typed after `course`.
        help: one line for `course --help`.
        run: gets the parsed arguments, returns the exit status; "module:function" is imported when it is needed. A
            `CourseError` is shown without a traceback.
        needs: what must be installed; it is set up when it is not.
        add_arguments: declares the command's own arguments; a function or "module:function".
        passes_on_to: when set, all arguments go unread to this program, as `arguments.rest`.
    """

    name: str
    help: str
    run: Callable[[argparse.Namespace], int] | str
    needs: Level = Level.RUNTIME
    add_arguments: Callable[[argparse.ArgumentParser], None] | str = no_arguments
    passes_on_to: str = ""


# --- the course folder -----------------------------------------------------------------------------------------------


def course_root() -> Path:
    """The folder that holds chapters, exercises and solutions.

    Returns:
        The clone this code runs from; with an installed wheel (a JupyterHub), the present folder or one above it.

    Raises:
        CourseFolderError: there is no such folder.
    """
    here = Path.cwd()
    for folder in filter(None, (source_root(), here, *here.parents)):
        if (folder / FIRST_CHAPTER).is_file():
            return folder
    raise CourseFolderError(
        f"No {FIRST_CHAPTER} in {source_root() or here}.\n"
        "Go to the folder that you cloned the course to; if the file was deleted: git checkout -- chapters"
    )


# --- start and test --------------------------------------------------------------------------------------------------


def jupyterlab_command(root: Path, rest: Sequence[str], *, is_root_user: bool) -> list[str]:
    """The command line that opens JupyterLab on chapter 00.

    Args:
        root: becomes JupyterLab's root, so that chapters, exercises and solutions can all be reached.
        rest: further arguments for JupyterLab; one that is also set here wins.
        is_root_user: JupyterLab does not run as root unless it is told to.
    """
    ours = {
        "--ServerApp.root_dir": str(root),
        "--LabApp.default_url": f"/lab/tree/{FIRST_CHAPTER}",
        # No calls home. The pop-up that asks about news is turned off by jupyterlab_overrides.json.
        "--LabApp.news_url": "None",
        "--LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
    }
    given = {argument.partition("=")[0] for argument in rest}
    options = [f"{name}={value}" for name, value in ours.items() if name not in given]  # JupyterLab refuses two values
    return [sys.executable, "-m", "jupyterlab", *options, *(["--allow-root"] if is_root_user else []), *rest]


def environment_with_scripts(environment: Mapping[str, str]) -> dict[str, str]:
    """A copy of an environment in which JupyterLab's terminals and notebooks find the command `course`."""
    scripts = sysconfig.get_path("scripts")
    return {**environment, "PATH": os.pathsep.join(filter(None, (scripts, environment.get("PATH"))))}


def start(arguments: argparse.Namespace) -> int:
    """Bring the learner's own copy of the course up to date, open JupyterLab on it, and wait until it ends."""
    from course_lib.learner.folder_commands import deliver_for_start, take_folder_option

    option, rest = take_folder_option(arguments.rest)
    root = deliver_for_start(course_root(), option)
    command = jupyterlab_command(root, rest, is_root_user=hasattr(os, "geteuid") and os.geteuid() == 0)
    return run_child(command, cwd=root, env=environment_with_scripts(os.environ))


def test(arguments: argparse.Namespace) -> int:
    """Run everything that pyproject.toml tells pytest to run, or what the arguments select."""
    root = course_root()
    if not (root / "tests").is_dir():
        raise CourseFolderError(f"No tests in {root}: they are in the course's repository. Clone it, and test there.")
    return run_child([sys.executable, "-m", "pytest", *arguments.rest], cwd=root)


# --- the others, each from its own module ----------------------------------------------------------------------------


def doctor(_arguments: argparse.Namespace) -> int:
    """Look the environment over."""
    from course_lib.environment.doctor import report

    return report()


def notebooks(arguments: argparse.Namespace) -> int:
    """Run notebooks anew and tidy them, in place."""
    from course_lib.environment.maintain import refresh

    return refresh(course_root(), arguments.files)


def exercises(_arguments: argparse.Namespace) -> int:
    """Make the learners' notebooks from the solutions."""
    from course_lib.environment.maintain import build_exercises

    return build_exercises(course_root())


# Each is `tests/benchmark_NAME.py`.
BENCHMARKS = {
    "meter": "updates a second of the live meter (half a minute; needs Chromium)",
    "logs": "reading session logs: megabytes a second, and the memory that a large folder takes",
    "properties": "every strategy on 10,000 random histories: does each keep to the rules? (ten minutes)",
    "hundred_rounds": "the simulation of chapter 06 with 200 seeds: does every request fit? (a minute or two)",
    "tokens": "counting a session of 10,000 rounds, each message once, and in other ways",
}


def bench(arguments: argparse.Namespace) -> int:
    """Run one benchmark by its name, or list them all."""
    name, *rest = arguments.rest or [""]
    if name not in BENCHMARKS:
        listed = "".join(f"\n  course bench {known:15}{what}" for known, what in BENCHMARKS.items())
        print(f"{f'There is no benchmark {name!r}.' if name else 'Name one benchmark.'}{listed}", file=sys.stderr)
        return 2
    root = course_root()
    return run_child([sys.executable, str(root / "tests" / f"benchmark_{name}.py"), *rest], cwd=root)


def notebooks_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `course notebooks`."""
    parser.add_argument("files", nargs="*", type=Path, help="notebooks (default: all in chapters/ and solutions/)")


# --- the table of commands -------------------------------------------------------------------------------------------

LEARNER = "course_lib.learner"

COMMANDS = (
    Command(name="start", help="open JupyterLab on your own copy of the course", run=start, passes_on_to="JupyterLab"),
    Command(name="test", help="run all tests", run=test, needs=Level.DEV, passes_on_to="pytest"),
    Command(
        name="check",
        help="check exercises in your notebooks",
        run=f"{LEARNER}.terminal:check_command",
        add_arguments=f"{LEARNER}.terminal:check_arguments",
    ),
    Command(
        name="hint",
        help="the next hint for an exercise",
        run=f"{LEARNER}.terminal:hint_command",
        add_arguments=f"{LEARNER}.terminal:hint_arguments",
    ),
    Command(
        name="progress",
        help="which exercises you have passed",
        run=f"{LEARNER}.folder_commands:progress_command",
        add_arguments=f"{LEARNER}.folder_commands:folder_argument",
    ),
    Command(
        name="reset",
        help="give one exercise its stub back; your text is kept aside",
        run=f"{LEARNER}.folder_commands:reset_command",
        add_arguments=f"{LEARNER}.folder_commands:reset_arguments",
    ),
    Command(
        name="xray",
        help="show where the tokens of your own agent's sessions went",
        run="course_lib.session_logs.command:xray_command",
        add_arguments="course_lib.session_logs.command:xray_arguments",
    ),
    Command(name="doctor", help="say what is wrong here, and how to mend it", run=doctor, needs=Level.IF_THERE),
    Command(
        name="notebooks",
        help="for maintainers: run notebooks anew and tidy them, in place",
        run=notebooks,
        add_arguments=notebooks_arguments,
    ),
    Command(name="exercises", help="for maintainers: make exercises/ from solutions/", run=exercises),
    Command(
        name="bench",
        help=f"for maintainers: measure how fast it is ({', '.join(BENCHMARKS)})",
        run=bench,
        needs=Level.DEV,
        passes_on_to="the benchmark, after its name",
    ),
)


# --- main ------------------------------------------------------------------------------------------------------------


def resolved(function: Callable[..., Any] | str) -> Callable[..., Any]:
    """The function itself, imported now if only its place is given."""
    if not isinstance(function, str):
        return function
    found: Callable[..., Any] = pkgutil.resolve_name(function)
    return found


def build_parser(commands: Sequence[Command]) -> argparse.ArgumentParser:
    """The parser for all commands; the one that was chosen is in `command`."""
    parser = argparse.ArgumentParser(prog="course", description="Context management for LLM agents: the course.")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in commands:
        usage = f"course {command.name} [arguments of {command.passes_on_to}]" if command.passes_on_to else None
        one = subparsers.add_parser(command.name, help=command.help, description=command.help, usage=usage)
        one.set_defaults(command=command, rest=[])
        resolved(command.add_arguments)(one)
    return parser


def parse(words: Sequence[str], commands: Sequence[Command]) -> argparse.Namespace:
    """Read a command line.

    Raises:
        SystemExit: after help (status 0) or a mistake (status 2), as argparse does it.
    """
    chosen = next((one for one in commands if words and one.name == words[0]), None)
    if chosen and chosen.passes_on_to and words[1:2] not in (["-h"], ["--help"]):
        # argparse would sort another program's options its own way.
        return argparse.Namespace(command=chosen, rest=list(words[1:]))
    return build_parser(commands).parse_args(words or ["--help"])


def main(words: Sequence[str] | None = None, *, commands: Sequence[Command] = COMMANDS) -> int:
    """Run one command and return its exit status.

    Args:
        words: the command line without the program's name; None means this process's own.
        commands: the commands to choose from.

    Raises:
        SystemExit: after help or a mistake in the command line.
    """
    words = sys.argv[1:] if words is None else list(words)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a console that cannot show a character shows another one, and goes on
            stream.reconfigure(errors="replace")
    try:
        arguments = parse(words, commands)
        python = python_for(arguments.command.needs)
        if python is None:
            status: int = resolved(arguments.command.run)(arguments)
            return status
        return run_child([python, "-m", "course_lib", *words], env={**os.environ, RERUN_MARK: "1"})
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader (head, less) has seen enough; nothing is left to be said to it at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130
