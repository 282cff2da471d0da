"""The command line: what each command starts, and what it gives back."""

import argparse
import os
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import pytest

from course_lib import cli
from course_lib.cli import COMMANDS, FIRST_CHAPTER, Command, jupyterlab_command, main
from course_lib.environment.bootstrap import RERUN_MARK, Level
from course_lib.errors import CourseError

ROOT = Path(__file__).resolve().parent.parent


class Started:
    """Stands in for `run_child`: notes what would be started."""

    def __init__(self, status: int = 0) -> None:
        self.status = status
        self.command: Sequence[str] = []
        self.cwd: Path | None = None
        self.env: dict[str, str] = {}

    def __call__(self, command: Sequence[str], *, cwd: Path | None = None, env: dict[str, str] | None = None) -> int:
        """Return the exit status that the program would end with."""
        self.command, self.cwd, self.env = command, cwd, env or {}
        return self.status


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """No program is started; this Python has all packages."""
    started = Started()
    monkeypatch.setattr(cli, "run_child", started)
    monkeypatch.setattr(cli, "python_for", lambda _level: None)
    return started


@pytest.fixture
def mine(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the learner's own copy goes."""
    folder = tmp_path_factory.mktemp("home") / "mine"
    monkeypatch.setenv("COURSE_FOLDER", str(folder))
    return folder.resolve()


@pytest.fixture
def course(tmp_path: Path, mine: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course folder that is the present one, as on a JupyterHub where the course is installed as a package."""
    for folder in ("chapters", "exercises", "solutions", "tests"):
        (tmp_path / folder).mkdir()
    (tmp_path / FIRST_CHAPTER).touch()
    monkeypatch.setattr(cli, "source_root", lambda: None)
    monkeypatch.chdir(tmp_path)
    return tmp_path.resolve()


def one_command(run: object, **more: object) -> tuple[Command, ...]:
    """A table of commands with just one, called "go"."""
    return (Command(name="go", help="go", run=run, **more),)  # type: ignore[arg-type]


# --- help and mistakes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["--help"], ["-h"], []])
def test_help_names_every_command(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Help, also when nothing is asked for, lists all commands and is no failure."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0
    text = capsys.readouterr().out
    for command in COMMANDS:
        assert f"{command.name} " in text
        assert command.help in " ".join(text.split())


def test_unknown_command(capsys: pytest.CaptureFixture[str]) -> None:
    """A mistyped command gives status 2, and the names that there are."""
    with pytest.raises(SystemExit) as ended:
        main(["strat"])
    assert ended.value.code == 2
    text = capsys.readouterr().err
    assert "strat" in text
    assert all(command.name in text for command in COMMANDS)


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_help_of_a_command_runs_nothing(name: str, started: Started, capsys: pytest.CaptureFixture[str]) -> None:
    """`course NAME --help` explains, and neither sets up nor starts anything."""
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert f"course {name}" in capsys.readouterr().out
    assert started.command == []


def test_command_names_are_unique() -> None:
    """No entry of the table hides another one."""
    names = [command.name for command in COMMANDS]
    assert len(names) == len(set(names))


# --- start and test --------------------------------------------------------------------------------------------------


def test_start_opens_chapter_00(course: Path, mine: Path, started: Started) -> None:
    """JupyterLab's root is the learner's copy of the whole course, chapter 00 is in front, and nothing calls home."""
    assert main(["start"]) == 0
    command = list(started.command)
    assert command[:3] == [sys.executable, "-m", "jupyterlab"]
    assert f"--ServerApp.root_dir={mine}" in command
    assert (mine / FIRST_CHAPTER).is_file()
    assert (course / FIRST_CHAPTER).is_file()
    assert "--LabApp.default_url=/lab/tree/chapters/00_start_here.ipynb" in command
    assert "--LabApp.news_url=None" in command
    assert "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate" in command
    assert started.cwd == mine


def test_start_passes_arguments_on(course: Path, started: Started) -> None:
    """Further arguments go to JupyterLab as they are, last, so that they win."""
    del course
    main(["start", "--no-browser", "--port", "9999", "--", "-x"])
    assert list(started.command)[-5:] == ["--no-browser", "--port", "9999", "--", "-x"]


def test_start_from_a_folder_below(course: Path, mine: Path, started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    """The course is found from its own subfolders too."""
    monkeypatch.chdir(course / "exercises")
    main(["start"])
    assert f"--ServerApp.root_dir={mine}" in started.command


@pytest.mark.parametrize(("is_root_user", "expected"), [(True, True), (False, False)])
def test_root_is_allowed_only_when_it_is_root(is_root_user: bool, expected: bool) -> None:
    """--allow-root is there for containers, and only there."""
    assert ("--allow-root" in jupyterlab_command(Path("a"), [], is_root_user=is_root_user)) is expected


def test_jupyterlab_finds_the_command(course: Path, started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    """In JupyterLab's terminals `course` is on the PATH, before everything else."""
    del course
    monkeypatch.setenv("PATH", "before")
    main(["start"])
    assert started.env["PATH"] == os.pathsep.join([sysconfig.get_path("scripts"), "before"])


def test_start_without_chapters(course: Path, started: Started, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder without chapter 00 is named, with the way out."""
    (course / FIRST_CHAPTER).unlink()
    assert main(["start"]) == 1
    text = capsys.readouterr().err
    assert FIRST_CHAPTER in text
    assert "git checkout" in text
    assert started.command == []


def test_test_runs_pytest(course: Path, started: Started) -> None:
    """`course test` is pytest in the course's folder, with the arguments that it was given."""
    started.status = 5
    assert main(["test", "-k", "one", "tests/test_cli.py", "-h"]) == 5
    assert list(started.command) == [sys.executable, "-m", "pytest", "-k", "one", "tests/test_cli.py", "-h"]
    assert started.cwd == course


def test_test_without_tests(course: Path, started: Started, capsys: pytest.CaptureFixture[str]) -> None:
    """An installed course has no tests, and says where they are."""
    (course / "tests").rmdir()
    assert main(["test"]) == 1
    assert "repository" in capsys.readouterr().err
    assert started.command == []


@pytest.mark.parametrize("name", cli.BENCHMARKS)
def test_a_benchmark_is_run_by_its_name(name: str, course: Path, started: Started) -> None:
    """`course bench NAME …` runs that benchmark's file, which exists, and hands the other arguments on."""
    assert main(["bench", name, "--quick"]) == 0
    file = Path("tests") / f"benchmark_{name}.py"
    assert list(started.command) == [sys.executable, str(course / file), "--quick"]
    assert (ROOT / file).is_file()


@pytest.mark.parametrize("words", [[], ["speed"]])
def test_a_benchmark_that_is_not_there(
    words: list[str], course: Path, started: Started, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a name, or with an unknown one, the benchmarks are listed and nothing is started."""
    assert main(["bench", *words]) == 2
    assert started.command == []
    said = capsys.readouterr().err
    assert all(f"course bench {name} " in said for name in cli.BENCHMARKS)
    assert not words or repr(words[0]) in said


def test_clone_comes_before_the_present_folder(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code and chapters come from the same clone, wherever the command is given."""
    clone = course / "clone"
    (clone / "chapters").mkdir(parents=True)
    (clone / FIRST_CHAPTER).touch()
    monkeypatch.setattr(cli, "source_root", lambda: clone)
    assert cli.course_root() == clone


# --- exit statuses ---------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("started")
@pytest.mark.parametrize("status", [0, 1, 7])
def test_status_of_a_command(status: int) -> None:
    """What a command returns is the exit status."""
    assert main(["go"], commands=one_command(lambda _: status)) == status


@pytest.mark.usefixtures("started")
def test_errors_of_the_course_have_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    """An error that the course raises on purpose is its message and status 1."""

    def fail(_arguments: argparse.Namespace) -> int:
        raise CourseError("the value 7 is too big: use 6")

    assert main(["go"], commands=one_command(fail)) == 1
    captured = capsys.readouterr()
    assert captured.err == "the value 7 is too big: use 6\n"
    assert captured.out == ""


@pytest.mark.usefixtures("started")
def test_bugs_have_a_traceback() -> None:
    """Any other error is a bug, and is not hidden."""

    def fail(_arguments: argparse.Namespace) -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        main(["go"], commands=one_command(fail))


@pytest.mark.usefixtures("started")
def test_interrupted_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C ends with the status that shells expect, without a traceback."""

    def interrupt(_arguments: argparse.Namespace) -> int:
        raise KeyboardInterrupt

    assert main(["go"], commands=one_command(interrupt)) == 130
    assert "Interrupted" in capsys.readouterr().err


@pytest.mark.usefixtures("started")
def test_arguments_of_a_command() -> None:
    """A command declares its arguments and gets them parsed."""
    seen: list[int] = []

    def run(arguments: argparse.Namespace) -> int:
        seen.append(arguments.number)
        return 0

    table = one_command(run, add_arguments=lambda parser: parser.add_argument("number", type=int))
    assert main(["go", "12"], commands=table) == 0
    assert seen == [12]


def test_command_is_run_by_the_python_that_has_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """When this Python lacks packages, the same command runs again in the environment, and its status counts."""
    started, asked = Started(status=3), []

    def python_for(level: Level) -> str:
        asked.append(level)
        return "/env/python"

    monkeypatch.setattr(cli, "run_child", started)
    monkeypatch.setattr(cli, "python_for", python_for)
    assert main(["test", "-k", "a b"]) == 3
    assert asked == [Level.DEV]
    assert list(started.command) == ["/env/python", "-m", "course_lib", "test", "-k", "a b"]
    assert started.env[RERUN_MARK] == "1"


@pytest.mark.usefixtures("started")
def test_console_that_cannot_show_a_character() -> None:
    """An odd console shows another character; it does not end the command."""
    program = "import sys; from course_lib.cli import Command, Level, main; sys.exit(main(['go'], commands=(Command("
    program += "name='go', help='', needs=Level.NOTHING, run=lambda _: print('\\u4e2d \\u2713')),)) or 0)"
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"},
        capture_output=True,
        check=False,
    )
    assert (run.returncode, run.stdout.split(), run.stderr) == (0, [b"?", b"?"], b"")


def test_reader_that_has_seen_enough() -> None:
    """`course ... | head -1` ends quietly."""
    program = (
        "import sys; from course_lib.cli import Command, Level, main; sys.exit(main(['go'], commands=(Command("
        "name='go', help='', needs=Level.NOTHING, run=lambda _: print('x' * 10_000_000)),)))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        run.stdout.read(1)
        run.stdout.close()
        assert run.stderr.read() == b""
        assert run.wait(timeout=30) == 0


# --- the module itself -----------------------------------------------------------------------------------------------


def test_import_needs_the_standard_library_only() -> None:
    """Importing the command line loads nothing that a bare Python does not have."""
    program = (
        "import sys; before = set(sys.modules); import course_lib.cli; "
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) - set(sys.stdlib_module_names) == {"course_lib"}


def test_module_runs_from_a_bare_python() -> None:
    """`python -m course_lib --help` works where no package is installed."""
    run = subprocess.run(
        [sys.executable, "-S", "-m", "course_lib", "--help"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0
    assert "doctor" in run.stdout
