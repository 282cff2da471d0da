"""Set up the course's own environment, on a machine that has nothing but Python. Standard library only.

`python_for` answers one question: which Python has the packages that a command needs? If the running one has them
(an environment of your own, conda, a JupyterHub), it is the running one and nothing is made. Otherwise a `.venv` is
made beside pyproject.toml and filled from the pins.

A stamp in `.venv` says what was installed, so that the next start takes no time. While a set-up runs the stamp says
that it is not finished; one that was interrupted is therefore seen, and done again from nothing.

What this leaves out on purpose: choosing versions (the pins do that: `make pins`), and the commands that install
(`course_lib.environment.installing`).
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from enum import Enum
from pathlib import Path

from course_lib.environment.installing import (
    AGAIN,
    Runner,
    SetupError,
    find_uv,
    install,
    is_usable,
    make_venv,
    venv_python,
)
from course_lib.environment.processes import one_at_a_time, tell

DISTRIBUTION = "agent-context-course"
RERUN_MARK = "COURSE_LIB_RERUN"
STAMP = "course-set-up.json"


class Level(Enum):
    """How much must be installed before a command can run."""

    NOTHING = "nothing"
    IF_THERE = "if there"  # use what is set up, but set up nothing: `course doctor` looks and does not touch
    RUNTIME = "requirements.txt"
    DEV = "requirements-dev.txt"


def source_root() -> Path | None:
    """The folder of the clone that this code runs from, or None when it runs from an installed wheel."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "pyproject.toml").is_file() and (root / Level.RUNTIME.value).is_file() else None


# --- what the running Python has -------------------------------------------------------------------------------------


def direct_requirements(root: Path, level: Level = Level.RUNTIME) -> list[str]:
    """What pyproject.toml asks for directly, at a level, such as "rich>=15,<16"."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *(project["optional-dependencies"]["dev"] if level is Level.DEV else [])]


def requirement_name(line: str) -> str:
    """The bare name in a requirement.

    >>> requirement_name("jupyterlab[x] >=4.6,<5")
    'jupyterlab'
    """
    end = next((at for at, char in enumerate(line) if not (char.isalnum() or char in "-_.")), len(line))
    return line[:end]


def complete_here(root: Path, level: Level) -> bool:
    """Whether the running Python has this course and everything that `level` needs.

    An editable install of *another* clone does not count: notebooks would import that one's code.
    """
    from importlib import metadata  # here: it takes longer to import than all the rest together

    try:
        for line in direct_requirements(root, level):
            metadata.version(requirement_name(line))
        origin = editable_origin()
    except metadata.PackageNotFoundError:
        return False
    return not origin or is_folder(origin, root)


def editable_origin() -> str:
    """The file: URL of the folder that the course was installed from as editable; "" when it is a copy.

    Raises:
        PackageNotFoundError: it is not installed.
    """
    from importlib import metadata

    source = json.loads(metadata.distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    return str(source["url"]) if source.get("dir_info", {}).get("editable") else ""


def is_folder(url: str, folder: Path) -> bool:
    """Whether a file: URL, as installers write it, means `folder`."""
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        return folder.samefile(url2pathname(urlsplit(url).path))
    except OSError:  # the other folder is gone
        return False


def runs_in(venv: Path) -> bool:
    """Whether the running Python is the one of `venv`."""
    return venv.exists() and venv.samefile(sys.prefix)


# --- the stamp -------------------------------------------------------------------------------------------------------


def python_tag() -> str:
    """The Python that an environment is made for: a newer patch release is still the same one."""
    return f"{sys.implementation.name}-{sys.version_info.major}.{sys.version_info.minor}"


def fingerprint(root: Path, level: Level) -> str:
    """A hash over all that a set-up installs from: the pins, our own metadata, JupyterLab's settings.

    Raises:
        OSError: one of these files is missing or unreadable.
    """
    digest = hashlib.sha256()
    for name in (level.value, "pyproject.toml", "course_lib/data/jupyterlab_overrides.json"):
        digest.update((root / name).read_bytes())
    return digest.hexdigest()


def read_stamp(venv: Path) -> dict[str, object]:
    """What the last set-up wrote: {} when there is none, {"finished": False} when it cannot be read."""
    try:
        stamp = json.loads((venv / STAMP).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        return {"finished": False}
    return stamp if isinstance(stamp, dict) else {"finished": False}


def write_stamp(venv: Path, **content: object) -> None:
    """Write the stamp in one step, so that it is never half there.

    Raises:
        OSError: `venv` cannot be made or written.
    """
    venv.mkdir(exist_ok=True)
    draft = venv / (STAMP + ".draft")
    draft.write_text(json.dumps(content), encoding="utf-8")
    draft.replace(venv / STAMP)


def is_current(root: Path, level: Level) -> bool:
    """Whether `.venv` was set up for this Python, from the files as they are now."""
    stamp = read_stamp(root / ".venv")
    if not stamp.get("finished") or not venv_python(root / ".venv").exists():
        return False
    try:
        return (stamp.get("python"), stamp.get(level.name)) == (python_tag(), fingerprint(root, level))
    except OSError:  # the clone is not whole; the installer will name the file
        return False


# --- setting up ------------------------------------------------------------------------------------------------------


def set_up(
    root: Path,
    level: Level,
    *,
    run: Runner = subprocess.call,
    uv_finder: Callable[[], str | None] = find_uv,
) -> None:
    """Bring `.venv` to `level`; return at once when it is there already.

    Args:
        root: the folder of pyproject.toml and the pins.
        level: RUNTIME or DEV.
        run: runs a command and returns its exit status.
        uv_finder: returns the path of a working uv, or None.

    Raises:
        SetupError: it cannot be done.
    """
    try:
        if is_current(root, level):
            return
        with one_at_a_time(root / ".venv.lock", waiting="Another set-up is running in this folder; waiting for it."):
            if not is_current(root, level):  # another process may have done it while this one waited
                fill(root, level, run, uv_finder())
    except OSError as error:
        raise SetupError(
            f"The course cannot be set up in {root}: {error}.\n"
            "Look at the folder's rights and the free space, and close programs that run from its .venv, such as "
            "JupyterLab; or clone the course into a folder of your own."
        ) from error


def fill(root: Path, level: Level, run: Runner, uv: str | None) -> None:
    """Do the set-up, with the stamp around it."""
    venv = root / ".venv"
    tell(f"Setting up the course in {venv} (once, about a minute) ...")
    began = time.monotonic()
    # An environment without a stamp is somebody's own (`uv sync` makes one): it is kept if it is good for anything.
    is_update = read_stamp(venv).get("finished", True) is True and is_usable(venv, uv, run)
    if not is_update and venv.exists():
        tell("The environment in .venv is unfinished, broken or for another Python: making it anew.")
        shutil.rmtree(venv)
    write_stamp(venv, finished=False)
    if not is_update:
        make_venv(venv, uv, run)
    try:
        install(root, level.value, uv, run)
    except SetupError:
        if is_update:  # without a network, say: the old packages are whole, and stay for the next try
            write_stamp(venv, finished=True, python=python_tag())
        raise
    # The pins for tests include all of the course's own.
    levels = (Level.RUNTIME, Level.DEV) if level is Level.DEV else (Level.RUNTIME,)
    write_stamp(venv, finished=True, python=python_tag(), **{one.name: fingerprint(root, one) for one in levels})
    tell(f"Set up in {time.monotonic() - began:.0f} s.")


def python_for(level: Level, *, root: Path | None = None) -> str | None:
    """The Python to run a command with, set up if need be; None means the running one.

    Args:
        level: what the command needs.
        root: the clone; None means the one this code runs from.

    Raises:
        SetupError: the environment cannot be set up.
    """
    root = root or source_root()
    is_rerun = os.environ.pop(RERUN_MARK, None) is not None  # popped: programs started from here begin afresh
    if root is None or level is Level.NOTHING:
        return None
    venv = root / ".venv"
    target = Level.RUNTIME if level is Level.IF_THERE else level
    if (runs_in(venv) and is_current(root, target)) or complete_here(root, target):
        return None
    if level is Level.IF_THERE and not is_current(root, target):
        return None
    if is_rerun:
        raise SetupError(f"{sys.executable} lacks packages after the set-up. Delete {venv}, then: {AGAIN} start")
    if level is not Level.IF_THERE:
        set_up(root, level)
    return str(venv_python(venv))
