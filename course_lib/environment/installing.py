"""Make a virtual environment and fill it from the pins: the commands, and which of them to try. Standard library only.

uv is used when it works, since it is quicker; pip is always enough. Every function takes the runner that executes a
command and returns its exit status, so that tests see the commands and install nothing.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath
from typing import TypeAlias, TypeVar

from course_lib.environment.processes import tell
from course_lib.errors import CourseError

Runner: TypeAlias = Callable[[Sequence[str]], int]
AnyPath = TypeVar("AnyPath", bound=PurePath)

AGAIN = "py -m course_lib" if os.name == "nt" else "python3 -m course_lib"
HAS_PIP = "importlib.util.find_spec('pip') is not None"
LONG_PATHS = "\nIf it names a file with a very long path: move the course to a short one, such as C:\\course."


class SetupError(CourseError):
    """The environment cannot be set up; the message says why and what to do."""


def venv_python(venv: AnyPath, *, windows: bool = os.name == "nt") -> AnyPath:
    """Where the Python of a virtual environment lies; `venv` may be a path of another system."""
    return venv / "Scripts" / "python.exe" if windows else venv / "bin" / "python"


def find_uv() -> str | None:
    """The uv on the PATH, if it works: pyenv puts a stand-in there that may only print an error."""
    uv = shutil.which("uv")
    if uv is None:
        return None
    try:
        works = subprocess.run([uv, "--version"], capture_output=True, timeout=30, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return None
    return uv if works else None


def has_whole_venv() -> bool:
    """Whether Python can make environments by itself; on Debian and Ubuntu not without the package python3-venv."""
    return all(importlib.util.find_spec(name) for name in ("venv", "ensurepip"))


def create_commands(venv: Path, uv: str | None) -> list[list[str]]:
    """Ways to make an empty environment, best first; none when neither venv nor uv is there."""
    # Inside a virtual environment this is the Python it was made from: the one that stays when `.venv` is made anew.
    python = getattr(sys, "_base_executable", sys.executable)
    ways = [[python, "-m", "venv", str(venv)]] if has_whole_venv() else []
    if uv:
        ways.append([uv, "venv", "--quiet", "--allow-existing", "--python", python, str(venv)])
    return ways


def make_venv(venv: Path, uv: str | None, run: Runner) -> None:
    """Make an empty environment.

    Raises:
        SetupError: neither venv nor uv can.
    """
    if any(run(command) == 0 for command in create_commands(venv, uv)):
        return
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    raise SetupError(
        f"No virtual environment could be made in {venv}.\n"
        f"On Debian or Ubuntu: sudo apt install python3-venv (if that is not enough: python{version}-venv). "
        f"Elsewhere: install uv, or Python from python.org. Then: {AGAIN} start"
    )


def answers(python: Path, question: str, run: Runner) -> bool:
    """Whether a Python runs at all and says yes to an expression, which may use sys and importlib.util."""
    return python.exists() and run([str(python), "-c", f"import importlib.util, sys; sys.exit(not ({question}))"]) == 0


def is_usable(venv: Path, uv: str | None, run: Runner) -> bool:
    """Whether packages can go into the environment that is there: it runs, with this Python, and has an installer."""
    version, implementation = tuple(sys.version_info[:2]), sys.implementation.name
    same_python = f"sys.version_info[:2] == {version} and sys.implementation.name == {implementation!r}"
    python = venv_python(venv)
    return answers(python, same_python, run) and (uv is not None or answers(python, HAS_PIP, run))


def install_commands(root: Path, pins: str, uv: str | None) -> list[list[str]]:
    """The two installs: the pins with their hashes, then the course itself, editable and with nothing resolved.

    Args:
        root: the folder of pyproject.toml, with the environment in `.venv`.
        pins: the name of the requirements file in it.
        uv: the path of uv, or None for pip.
    """
    python = str(venv_python(root / ".venv"))
    if uv:
        installer = [uv, "pip", "install", "--python", python]
    else:
        # No bytecode, like uv: it takes pip 20 s and 80 MB, and Python makes what it needs at the first import.
        installer = [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-compile"]
    return [
        [*installer, "--require-hashes", "-r", str(root / pins)],
        # The build backend is among the pins: nothing unpinned is fetched to build the course.
        [*installer, "--no-deps", "--no-build-isolation", "--editable", str(root)],
    ]


def install(root: Path, pins: str, uv: str | None, run: Runner) -> None:
    """Install the pins and the course into `.venv`: with uv, and when that fails (or is not there) with pip.

    Raises:
        SetupError: it cannot be done; the installer's own message is on the screen already.
    """

    def all_installed(installer: str | None) -> bool:
        return all(run(command) == 0 for command in install_commands(root, pins, installer))

    if uv and all_installed(uv):
        return
    if not uv or answers(venv_python(root / ".venv"), HAS_PIP, run):
        if uv:  # pip reads settings (a mirror, a proxy, a certificate) that uv does not know
            tell("uv could not install the packages; trying pip.")
        if all_installed(None):
            return
    raise SetupError(
        "The packages could not be installed; the installer's own message is above.\n"
        "Most often the network is missing, or the installer does not know about a proxy or a package mirror.\n"
        f"When that is mended, give the same command again, for instance: {AGAIN} start"
        + (LONG_PATHS if os.name == "nt" else "")
    )
