"""Setting up: from bare Python to an environment, once, whatever happens in between. Nothing is installed here."""

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from course_lib.__main__ import OLDEST, complaint
from course_lib.environment import bootstrap, installing
from course_lib.environment.bootstrap import STAMP, Level, is_current, python_for, set_up
from course_lib.environment.installing import SetupError, create_commands, install_commands, make_venv, venv_python
from course_lib.environment.processes import one_at_a_time, run_child, try_lock

ROOT = Path(__file__).resolve().parent.parent
posix_only = pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")


class Recorder:
    """A runner that notes commands, makes what they would make, and fails where it is told to."""

    def __init__(self, root: Path, fails: Callable[[str], bool] = lambda _: False) -> None:
        self.root = root
        self.fails = fails
        self.commands: list[str] = []

    def __call__(self, command: Sequence[str]) -> int:
        """Return the command's exit status."""
        line = " ".join(command)
        self.commands.append(line)
        if self.fails(line):
            return 1
        if "venv" in command:
            python = venv_python(self.root / ".venv")
            python.parent.mkdir(parents=True, exist_ok=True)
            python.touch()
        return 0

    def installs(self) -> list[str]:
        """The installs among the commands."""
        return [line for line in self.commands if " install " in line]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with the files that a set-up reads."""
    for name in ("pyproject.toml", "course_lib/data/jupyterlab_overrides.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "requirements.txt").write_text("rich==15.0.0 --hash=sha256:0\n", encoding="utf-8")
    (tmp_path / "requirements-dev.txt").write_text("ruff==0.17.6 --hash=sha256:0\n", encoding="utf-8")
    return tmp_path


@pytest.fixture(autouse=True)
def whole_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests do not depend on whether this machine's Python comes with ensurepip."""
    monkeypatch.setattr(installing, "has_whole_venv", lambda: True)


def no_uv() -> None:
    """For machines without uv."""


def some_uv() -> str:
    """For machines with uv."""
    return "/bin/uv"


# --- old Pythons -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 9, 2), (3, 10, 22)])
def test_old_python_is_told(version: tuple[int, ...]) -> None:
    """A Python that is too old hears both versions and where to get a newer one."""
    message = complaint(version)
    assert message is not None
    assert "needs Python 3.11 or newer; this is Python {}.{}.".format(*version[:2]) in message
    assert "python3.13 -m course_lib start" in message
    assert "python.org" in message


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 13, 1), (3, 20, 0), (4, 0, 0)])
def test_new_python_is_welcome(version: tuple[int, ...]) -> None:
    """From 3.11 on there is no complaint."""
    assert complaint(version) is None


def test_old_python_stops_before_anything_else() -> None:
    """Run by an old Python, the command ends with status 1 and the message, and imports nothing that it cannot read."""
    program = (
        "import runpy, sys\n"
        "sys.version_info = (3, 9, 2, 'final', 0)\n"
        "sys.modules['course_lib.cli'] = None\n"  # importing it would raise
        "runpy.run_module('course_lib', run_name='__main__')\n"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.startswith("The course needs Python 3.11 or newer; this is Python 3.9.")
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize("name", ["__init__.py", "__main__.py"])
def test_old_python_can_read_the_first_files(name: str) -> None:
    """What runs before the version check has no syntax that an old Python stumbles over."""
    source = (ROOT / "course_lib" / name).read_bytes()
    assert source.isascii(), "Python 2 reads no other characters without a coding line"
    too_new = (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.Match, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(source, feature_version=(3, 7))):
        assert not isinstance(node, too_new), f"line {node.lineno}"
        if isinstance(node, ast.FunctionDef):
            hints = [node.returns, *(argument.annotation for argument in node.args.args)]
            assert not any(hints), f"line {node.lineno}: annotations"


def test_oldest_python_is_said_once() -> None:
    """The check and pyproject.toml name the same oldest Python."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == ">={}.{}".format(*OLDEST)


# --- which commands --------------------------------------------------------------------------------------------------


def test_python_of_an_environment() -> None:
    """Windows keeps it elsewhere, and calls it otherwise."""
    assert venv_python(PurePosixPath("/a/.venv"), windows=False) == PurePosixPath("/a/.venv/bin/python")
    windows = venv_python(PureWindowsPath(r"C:\a b\.venv"), windows=True)
    assert str(windows) == r"C:\a b\.venv\Scripts\python.exe"


def test_installs_with_uv(clone: Path) -> None:
    """With uv: the pins by hash, then the course, nothing resolved and nothing fetched to build it."""
    python = str(venv_python(clone / ".venv"))
    pins, course = install_commands(clone, "requirements.txt", "/bin/uv")
    assert pins == [
        "/bin/uv",
        "pip",
        "install",
        "--python",
        python,
        "--require-hashes",
        "-r",
        str(clone / "requirements.txt"),
    ]
    assert course[5:] == ["--no-deps", "--no-build-isolation", "--editable", str(clone)]


def test_installs_without_uv(clone: Path) -> None:
    """Without uv: the same by the environment's own pip."""
    python = str(venv_python(clone / ".venv"))
    pins, course = install_commands(clone, "requirements-dev.txt", None)
    assert pins[:4] == course[:4] == [python, "-m", "pip", "install"]
    assert pins[-3:] == ["--require-hashes", "-r", str(clone / "requirements-dev.txt")]
    assert course[-4:] == ["--no-deps", "--no-build-isolation", "--editable", str(clone)]


def test_environment_is_made_by_venv_first(tmp_path: Path) -> None:
    """Python's own venv is preferred, since it puts pip in; uv is the way out."""
    first, second = create_commands(tmp_path, "/bin/uv")
    assert first[1:] == ["-m", "venv", str(tmp_path)]
    assert second[:2] == ["/bin/uv", "venv"]


def test_uv_helps_where_venv_is_not_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian without python3-venv: uv makes the environment."""
    monkeypatch.setattr(installing, "has_whole_venv", lambda: False)
    run = Recorder(tmp_path)
    make_venv(tmp_path / ".venv", "/bin/uv", run)
    assert [line.split()[:2] for line in run.commands] == [["/bin/uv", "venv"]]


def test_no_venv_and_no_uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian without python3-venv and without uv: the message says what to install."""
    monkeypatch.setattr(installing, "has_whole_venv", lambda: False)
    with pytest.raises(SetupError, match=r"sudo apt install python3-venv"):
        make_venv(tmp_path / ".venv", None, Recorder(tmp_path))


def test_uv_that_does_not_work_is_no_uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in on the PATH that only fails is not taken for uv."""
    stand_in = tmp_path / ("uv.bat" if os.name == "nt" else "uv")
    stand_in.write_text("exit 127\n" if os.name == "nt" else "#!/bin/sh\nexit 127\n", encoding="utf-8")
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert stand_in.samefile(shutil.which("uv") or "")
    assert installing.find_uv() is None


# --- set up once -----------------------------------------------------------------------------------------------------


def test_first_set_up(clone: Path) -> None:
    """A fresh clone gets an environment, the pins and the course, in this order."""
    run = Recorder(clone)
    set_up(clone, Level.RUNTIME, run=run, uv_finder=no_uv)
    made, pins, course = run.commands
    assert "-m venv" in made
    assert pins.endswith("requirements.txt")
    assert course.endswith(f"--editable {clone}")
    assert is_current(clone, Level.RUNTIME)


def test_second_set_up_does_nothing(clone: Path) -> None:
    """What is up to date is left alone: no command runs, and uv is not even looked for."""
    set_up(clone, Level.RUNTIME, run=Recorder(clone), uv_finder=no_uv)
    again = Recorder(clone)
    set_up(clone, Level.RUNTIME, run=again, uv_finder=lambda: pytest.fail("looked for uv"))
    assert again.commands == []


@pytest.mark.parametrize("name", ["requirements.txt", "pyproject.toml", "course_lib/data/jupyterlab_overrides.json"])
def test_changed_files_are_installed(clone: Path, name: str) -> None:
    """After an update of the course its packages are brought up to date, in the environment that is there."""
    set_up(clone, Level.RUNTIME, run=Recorder(clone), uv_finder=no_uv)
    (clone / name).write_text((clone / name).read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert not is_current(clone, Level.RUNTIME)
    again = Recorder(clone)
    set_up(clone, Level.RUNTIME, run=again, uv_finder=no_uv)
    assert len(again.installs()) == 2
    assert not any("-m venv" in line for line in again.commands)


def test_tests_need_more(clone: Path) -> None:
    """The environment for the course is not enough for the tests; the one for tests is enough for both."""
    set_up(clone, Level.RUNTIME, run=Recorder(clone), uv_finder=no_uv)
    assert not is_current(clone, Level.DEV)
    more = Recorder(clone)
    set_up(clone, Level.DEV, run=more, uv_finder=no_uv)
    assert "requirements-dev.txt" in more.installs()[0]
    assert is_current(clone, Level.DEV)
    assert is_current(clone, Level.RUNTIME)


def test_another_python_gets_its_own_environment(clone: Path) -> None:
    """An environment that was made for another Python is made anew."""
    set_up(clone, Level.RUNTIME, run=Recorder(clone), uv_finder=no_uv)
    stamp = json.loads((clone / ".venv" / STAMP).read_text(encoding="utf-8"))
    (clone / ".venv" / STAMP).write_text(json.dumps({**stamp, "python": "cpython-3.10"}), encoding="utf-8")
    assert not is_current(clone, Level.RUNTIME)
    again = Recorder(clone, fails=lambda line: "sys.version_info" in line)
    set_up(clone, Level.RUNTIME, run=again, uv_finder=no_uv)
    assert any("-m venv" in line for line in again.commands)


def test_environment_whose_python_is_gone(clone: Path) -> None:
    """A Python that was uninstalled leaves a dead environment behind; it is made anew."""
    set_up(clone, Level.RUNTIME, run=Recorder(clone), uv_finder=no_uv)
    venv_python(clone / ".venv").unlink()
    again = Recorder(clone)
    set_up(clone, Level.RUNTIME, run=again, uv_finder=no_uv)
    assert "-m venv" in again.commands[0]


@pytest.mark.parametrize("uv_finder", [no_uv, some_uv])
def test_environment_of_your_own(clone: Path, uv_finder: Callable[[], str | None]) -> None:
    """A .venv that somebody made by hand is filled, not thrown away."""
    venv_python(clone / ".venv").parent.mkdir(parents=True)
    venv_python(clone / ".venv").touch()
    (clone / ".venv" / "mine").touch()
    run = Recorder(clone)
    set_up(clone, Level.RUNTIME, run=run, uv_finder=uv_finder)
    assert (clone / ".venv" / "mine").exists()
    assert len(run.installs()) == 2


def test_environment_without_any_installer(clone: Path) -> None:
    """A .venv made by uv has no pip; without uv nothing can be put in, so it is made anew."""
    venv_python(clone / ".venv").parent.mkdir(parents=True)
    venv_python(clone / ".venv").touch()
    run = Recorder(clone, fails=lambda line: "find_spec('pip')" in line)
    set_up(clone, Level.RUNTIME, run=run, uv_finder=no_uv)
    assert any("-m venv" in line for line in run.commands)


# --- when something goes wrong ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["-m venv", "--require-hashes", "--editable"])
def test_interrupted_set_up_is_done_again(clone: Path, where: str) -> None:
    """Ctrl-C at any point: the next start sees it, and begins from nothing."""

    def interrupt(line: str) -> bool:
        if where in line:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        set_up(clone, Level.RUNTIME, run=Recorder(clone, fails=interrupt), uv_finder=no_uv)
    assert not is_current(clone, Level.RUNTIME)
    (clone / ".venv" / "half").touch()
    again = Recorder(clone)
    set_up(clone, Level.RUNTIME, run=again, uv_finder=no_uv)
    assert "-m venv" in again.commands[0]
    assert not (clone / ".venv" / "half").exists()
    assert is_current(clone, Level.RUNTIME)


def test_interrupted_update_is_done_again(clone: Path) -> None:
    """An environment that was whole before an interrupted update is not trusted any more."""

    def interrupt(line: str) -> bool:
        if " install " in line:
            raise KeyboardInterrupt
        return False

    set_up(clone, Level.RUNTIME, run=Recorder(clone), uv_finder=no_uv)
    with pytest.raises(KeyboardInterrupt):
        set_up(clone, Level.DEV, run=Recorder(clone, fails=interrupt), uv_finder=no_uv)
    assert not is_current(clone, Level.RUNTIME)
    again = Recorder(clone)
    set_up(clone, Level.RUNTIME, run=again, uv_finder=no_uv)
    assert "-m venv" in again.commands[0]


def test_failed_update_keeps_what_is_there(clone: Path) -> None:
    """An update without a network does not cost the environment; the next try goes on from it."""
    set_up(clone, Level.RUNTIME, run=Recorder(clone), uv_finder=no_uv)
    (clone / ".venv" / "installed").touch()
    with pytest.raises(SetupError):
        set_up(clone, Level.DEV, run=Recorder(clone, fails=lambda line: " install " in line), uv_finder=no_uv)
    assert not is_current(clone, Level.RUNTIME)
    again = Recorder(clone)
    set_up(clone, Level.RUNTIME, run=again, uv_finder=no_uv)
    assert (clone / ".venv" / "installed").exists()
    assert len(again.installs()) == 2
    assert is_current(clone, Level.RUNTIME)


@pytest.mark.parametrize("content", ["", "{", "[]", "\x00"])
def test_unreadable_stamp_counts_as_interrupted(clone: Path, content: str) -> None:
    """A stamp that a crash left empty or torn is not trusted."""
    set_up(clone, Level.RUNTIME, run=Recorder(clone), uv_finder=no_uv)
    (clone / ".venv" / STAMP).write_text(content, encoding="utf-8")
    again = Recorder(clone)
    set_up(clone, Level.RUNTIME, run=again, uv_finder=no_uv)
    assert "-m venv" in again.commands[0]


def test_no_network(clone: Path) -> None:
    """When the installer fails, one line below its own message says what to do."""
    run = Recorder(clone, fails=lambda line: " install " in line)
    with pytest.raises(SetupError, match="network is missing") as caught:
        set_up(clone, Level.RUNTIME, run=run, uv_finder=no_uv)
    assert "give the same command again" in str(caught.value)
    assert not is_current(clone, Level.RUNTIME)


def test_pip_is_tried_after_uv(clone: Path) -> None:
    """A failing uv does not end it: pip may know a mirror or a proxy that uv does not."""
    run = Recorder(clone, fails=lambda line: line.startswith("/bin/uv pip"))
    set_up(clone, Level.RUNTIME, run=run, uv_finder=some_uv)
    assert [line.startswith("/bin/uv") for line in run.installs()] == [True, False, False]
    assert is_current(clone, Level.RUNTIME)


def test_pip_is_not_tried_where_it_is_not(clone: Path) -> None:
    """No "No module named pip" after uv's own message, which is the one to read."""
    run = Recorder(clone, fails=lambda line: line.startswith("/bin/uv pip") or "find_spec('pip')" in line)
    with pytest.raises(SetupError):
        set_up(clone, Level.RUNTIME, run=run, uv_finder=some_uv)
    assert len(run.installs()) == 1


def test_no_write_rights(clone: Path) -> None:
    """A folder that cannot be written is named, with the way out."""
    (clone / ".venv.lock").mkdir()
    with pytest.raises(SetupError, match=r"clone the course into a folder of your own") as caught:
        set_up(clone, Level.RUNTIME, run=Recorder(clone), uv_finder=no_uv)
    assert str(clone) in str(caught.value)


def test_clone_that_is_not_whole(clone: Path) -> None:
    """A missing pins file is an error that names it, not a crash."""
    set_up(clone, Level.RUNTIME, run=Recorder(clone), uv_finder=no_uv)
    (clone / "requirements.txt").unlink()
    assert not is_current(clone, Level.RUNTIME)
    with pytest.raises(SetupError, match=r"requirements\.txt"):
        set_up(clone, Level.RUNTIME, run=Recorder(clone), uv_finder=no_uv)


# --- which Python runs a command -------------------------------------------------------------------------------------


@pytest.fixture
def bare_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The running Python has none of the packages."""
    monkeypatch.setattr(bootstrap, "complete_here", lambda _root, _level: False)
    monkeypatch.delenv(bootstrap.RERUN_MARK, raising=False)


def test_complete_python_is_used_as_it_is(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an environment that has everything no .venv is made."""
    monkeypatch.setattr(bootstrap, "complete_here", lambda _root, _level: True)
    assert python_for(Level.DEV, root=clone) is None
    assert not (clone / ".venv").exists()


def test_installed_wheel_sets_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a JupyterHub, where the course is a package, there is nothing to set up from."""
    monkeypatch.setattr(bootstrap, "source_root", lambda: None)
    assert python_for(Level.RUNTIME) is None


@pytest.mark.usefixtures("bare_python")
def test_bare_python_gets_an_environment(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bare Python sets the environment up and hands over to it."""
    done: list[Level] = []
    monkeypatch.setattr(bootstrap, "set_up", lambda _root, level: done.append(level))
    assert python_for(Level.RUNTIME, root=clone) == str(venv_python(clone / ".venv"))
    assert done == [Level.RUNTIME]


@pytest.mark.usefixtures("bare_python")
@pytest.mark.parametrize("level", [Level.NOTHING, Level.IF_THERE])
def test_some_commands_set_nothing_up(clone: Path, level: Level) -> None:
    """The doctor looks and does not touch."""
    assert python_for(level, root=clone) is None
    assert not (clone / ".venv").exists()


@pytest.mark.usefixtures("bare_python")
def test_doctor_looks_at_the_environment_that_was_set_up(clone: Path) -> None:
    """Once there is an environment, it is the one to be looked at."""
    set_up(clone, Level.RUNTIME, run=Recorder(clone), uv_finder=no_uv)
    assert python_for(Level.IF_THERE, root=clone) == str(venv_python(clone / ".venv"))


@pytest.mark.usefixtures("bare_python")
def test_no_endless_reruns(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rerun that still lacks packages stops with an error; programs started later begin afresh."""
    monkeypatch.setenv(bootstrap.RERUN_MARK, "1")
    with pytest.raises(SetupError, match="lacks packages after the set-up"):
        python_for(Level.RUNTIME, root=clone)
    assert bootstrap.RERUN_MARK not in os.environ


def test_complete_means_every_direct_requirement(monkeypatch: pytest.MonkeyPatch) -> None:
    """One missing package, and the running Python will not do; the tests need more of them."""

    def version(name: str) -> str:
        if name == "ruff":
            raise metadata.PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(bootstrap, "editable_origin", lambda: "")
    assert bootstrap.complete_here(ROOT, Level.RUNTIME)
    assert not bootstrap.complete_here(ROOT, Level.DEV)


def test_another_clone_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editable install of another clone would give notebooks that one's code."""
    other, here = tmp_path / "an other", tmp_path / "here"
    other.mkdir()
    here.mkdir()
    monkeypatch.setattr(bootstrap, "direct_requirements", lambda _root, _level: [])
    monkeypatch.setattr(bootstrap, "editable_origin", lambda: other.as_uri())
    assert bootstrap.complete_here(other, Level.RUNTIME)
    assert not bootstrap.complete_here(here, Level.RUNTIME)
    other.rmdir()
    assert not bootstrap.complete_here(here, Level.RUNTIME)


# --- processes -------------------------------------------------------------------------------------------------------


def test_two_set_ups_wait_for_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second says that it waits, once, and goes on when the first is done."""
    lock, waits = tmp_path / "lock", []
    first = lock.open("a", encoding="utf-8")
    assert try_lock(first)

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            first.close()

    with one_at_a_time(lock, waiting="waiting", sleep=sleep):
        assert len(waits) == 3
    assert capsys.readouterr().err == "waiting\n"
    with one_at_a_time(lock, waiting="waiting", sleep=lambda _: pytest.fail("waited")):
        pass


@pytest.mark.parametrize("status", [0, 1, 5])
def test_exit_status_of_a_child(status: int) -> None:
    """The child's exit status is handed on."""
    assert run_child([sys.executable, "-c", f"raise SystemExit({status})"]) == status


@posix_only
def test_exit_status_of_a_killed_child() -> None:
    """A child that a signal ended gives 128 plus its number, as in a shell."""
    assert run_child([sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"]) == 137


PARENT = """
import sys
from course_lib.environment.processes import run_child
sys.exit(run_child([sys.executable, "-c", sys.argv[1]]))
"""


@posix_only
@pytest.mark.parametrize(("signum", "to_group", "expected"), [(signal.SIGINT, True, 7), (signal.SIGTERM, False, 8)])
def test_signals_reach_the_child(signum: signal.Signals, to_group: bool, expected: int) -> None:
    """Ctrl-C goes to both and only the child acts on it; a plain kill of the parent is passed on to the child."""
    child = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, lambda *_: sys.exit(7))\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(8))\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, child], cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True
    ) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        (os.killpg if to_group else os.kill)(parent.pid, signum)
        assert parent.wait(timeout=30) == expected
