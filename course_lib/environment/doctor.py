"""`course doctor`: what is wrong with this environment, and how is it mended?

Each probe looks at one thing and returns a `Finding`. Standard library only at the top, so that the doctor also comes
when no package is there; what a probe takes from outside is an argument, so that tests can break it.

What this leaves out on purpose: mending. A probe says the command; giving it is up to the reader.
"""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TextIO

from course_lib.__main__ import complaint
from course_lib.cli import FIRST_CHAPTER, course_root
from course_lib.environment.bootstrap import (
    DISTRIBUTION,
    direct_requirements,
    editable_origin,
    is_folder,
    requirement_name,
    source_root,
)
from course_lib.environment.installing import AGAIN

JUPYTERLAB_PORT = 8888
MODEL_REMEDY = 'README, "A real model", has all of them; without any, the offline model is used.'
SET_UP = f"Let the course set up its own environment: {AGAIN} start"


@dataclass(frozen=True)
class Finding:
    """What one probe found: whether all is well, what was seen, and what to do (empty when all is well)."""

    ok: bool
    what: str
    remedy: str = ""


Probe = Callable[[], Finding]


# --- what the probes look at -----------------------------------------------------------------------------------------


def own_requirements() -> list[str]:
    """What the course asks for: the clone, else the installed wheel."""
    root = source_root()
    if root is not None:
        return direct_requirements(root)
    return [line for line in metadata.requires(DISTRIBUTION) or [] if "extra ==" not in line]


def package_fault(line: str, version_of: Callable[[str], str]) -> str:
    """What is wrong with one requirement; "" when nothing is."""
    name = requirement_name(line)
    try:
        version = version_of(name)
    except metadata.PackageNotFoundError:
        return f"{name} is missing"
    try:
        from packaging.requirements import Requirement
    except ImportError:  # the version is then left unjudged: packaging comes with the packages that are missing
        return ""
    specifier = Requirement(line).specifier
    return "" if specifier.contains(version, prereleases=True) else f"{name} is {version}, not {specifier}"


def ask_kernel() -> tuple[str, str]:
    """Start the kernel that notebooks use, where chapters run, and ask it two questions."""
    from jupyter_client.manager import start_new_kernel

    folder = (source_root() or Path.cwd()) / "chapters"
    manager, client = start_new_kernel(cwd=str(folder if folder.is_dir() else Path.cwd()), stderr=subprocess.DEVNULL)
    try:
        questions = {"prefix": "__import__('sys').prefix", "course": "__import__('course_lib').__name__"}
        reply = client.execute_interactive("", user_expressions=questions, timeout=60, store_history=False)
        prefix, course = (reply["content"]["user_expressions"][name] for name in questions)
        return prefix["data"]["text/plain"].strip("'\""), course.get("evalue", "")
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def shipped_counter() -> Callable[[str], int]:
    """The counter that chapters use."""
    from course_lib.tokens import TiktokenCounter

    return TiktokenCounter("o200k_base")


def mended_by_checkout() -> str:
    """The way back to a vocabulary that is whole."""
    return "In the course's folder: git checkout -- course_lib/data (an installed course: install it again)"


def writable_folders() -> list[Path]:
    """Where work is saved, and where Jupyter keeps its files while it runs."""
    try:
        folders = [course_root()]
    except Exception:  # probe_folder speaks of it
        folders = [Path.cwd()]
    try:
        from jupyter_core.paths import jupyter_runtime_dir
    except ImportError:  # probe_packages speaks of it
        return folders
    return [*folders, Path(jupyter_runtime_dir())]


# --- the probes ------------------------------------------------------------------------------------------------------


def probe_python(version: Sequence[int] = sys.version_info[:3]) -> Finding:
    """Is this Python new enough?"""
    problem = complaint(tuple(version))
    name = f"Python {'.'.join(str(part) for part in version[:3])} ({sys.executable})"
    return Finding(problem is None, name, problem or "")


def probe_packages(wanted: Sequence[str] | None = None, version_of: Callable[[str], str] = metadata.version) -> Finding:
    """Are the packages there, in versions that the course works with?

    Args:
        wanted: requirements such as "rich>=15,<16"; None means those of the course.
        version_of: returns a package's version, or raises `PackageNotFoundError`.
    """
    wanted = own_requirements() if wanted is None else wanted
    faults = [fault for line in wanted if (fault := package_fault(line, version_of))]
    if faults:
        return Finding(False, f"packages: {len(faults)} of {len(wanted)} do not fit: {'; '.join(faults)}", SET_UP)
    return Finding(True, f"packages: all {len(wanted)} are here, in versions that fit")


def probe_course(read_origin: Callable[[], str] = editable_origin) -> Finding:
    """Do notebooks import this clone's code, and not another one's?"""
    root = source_root()
    try:
        origin = read_origin()
    except metadata.PackageNotFoundError:
        return Finding(False, "course: not installed, so notebooks cannot import course_lib", SET_UP)
    if root and origin and not is_folder(origin, root):
        return Finding(
            False,
            f"course: notebooks would import the code of another clone, {origin}",
            f"In {root}: python -m pip install --no-deps --editable .\nOr leave this environment, then: {AGAIN} start",
        )
    return Finding(True, f"course: installed from {root or 'a package'}")


def probe_kernel(ask: Callable[[], tuple[str, str]] = ask_kernel) -> Finding:
    """Does a notebook kernel start, in this environment, and find the course?

    Args:
        ask: starts a kernel and returns its `sys.prefix` and what went wrong with `import course_lib` ("" if nothing).
    """
    try:
        prefix, problem = ask()
    except ImportError as error:
        return Finding(False, f"kernel: cannot be started, {error}", SET_UP)
    except Exception as error:  # whatever stops a kernel is the finding
        remedy = "Look whether a firewall or a virus scanner blocks connections of this computer to itself (127.0.0.1)."
        return Finding(False, f"kernel: does not start or answer: {type(error).__name__}: {error}", remedy)
    if not (Path(prefix).exists() and Path(prefix).samefile(sys.prefix)):
        remedy = f"{sys.executable} -m ipykernel install --sys-prefix\nIf not enough: jupyter kernelspec remove python3"
        return Finding(False, f"kernel: notebooks run in another Python, {prefix}", remedy)
    if problem:
        return Finding(False, f"kernel: starts, but cannot import course_lib: {problem}", SET_UP)
    return Finding(True, "kernel: starts, and imports the course")


def probe_tokenizer(make_counter: Callable[[], Callable[[str], int]] = shipped_counter) -> Finding:
    """Does the exact tokenizer work without a network?"""
    try:
        tokens = make_counter()("hello world")
    except ImportError as error:
        return Finding(False, f"tokenizer: cannot be imported, {error}", SET_UP)
    except Exception as error:  # a broken file shows in more than one way
        return Finding(False, f"tokenizer: {error}", mended_by_checkout())
    if tokens != 2:
        return Finding(False, f"tokenizer: counts {tokens} tokens in 'hello world', not 2", mended_by_checkout())
    return Finding(True, "tokenizer: counts exactly, from the vocabulary that ships with the course")


def probe_port(port: int = JUPYTERLAB_PORT) -> Finding:
    """Can JupyterLab and its kernels listen on this computer?"""
    try:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
    except OSError as error:
        remedy = "A firewall, a sandbox or a container's settings forbid it; allow Python to listen on 127.0.0.1."
        return Finding(False, f"port: nothing can listen on 127.0.0.1: {error}", remedy)
    try:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", port))
    except OSError:
        return Finding(True, f"port: {port} is taken (another JupyterLab?); JupyterLab will take another one")
    return Finding(True, f"port: {port} is free")


def probe_rights(folders: Iterable[Path] | None = None) -> Finding:
    """Can work be saved in the course's folder, and can Jupyter keep its own files?"""
    seen = list(writable_folders() if folders is None else folders)
    for folder in seen:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            remedy = "Look at its rights and the free space, or clone the course into a folder of your own."
            return Finding(False, f"rights: cannot write in {folder}: {error.strerror or error}", remedy)
    return Finding(True, f"rights: can write in {', '.join(map(str, seen))}")


def probe_folder(root: Callable[[], Path] = course_root) -> Finding:
    """Are the chapters where JupyterLab will look for them?"""
    try:
        return Finding(True, f"course folder: {root()}")
    except Exception as error:
        what, _, remedy = str(error).partition("\n")
        return Finding(False, f"course folder: {what}", remedy or f"Clone the course again; it has {FIRST_CHAPTER}.")


def probe_settings(environ: Mapping[str, str] = os.environ) -> Finding:
    """Do the settings name a model that can be used?"""
    from course_lib.environment.settings_check import settings_problem, window_note

    problem = settings_problem(environ)
    if problem:
        return Finding(False, f"model: {problem}", MODEL_REMEDY)
    return Finding(True, f"model: the settings are fine; {window_note(environ)}".rstrip("; "))


# --- the report ------------------------------------------------------------------------------------------------------

PROBES: tuple[Probe, ...] = (
    probe_python,
    probe_folder,
    probe_packages,
    probe_course,
    probe_kernel,
    probe_tokenizer,
    probe_port,
    probe_rights,
    probe_settings,
)


def examine(probes: Iterable[Probe] = PROBES) -> tuple[Finding, ...]:
    """Run probes, one after the other; one that breaks is a finding too."""
    return tuple(run_probe(probe) for probe in probes)


def run_probe(probe: Probe) -> Finding:
    """Run one probe and never fail."""
    try:
        return probe()
    except Exception as error:
        name = getattr(probe, "__name__", "a probe")
        return Finding(False, f"{name} broke: {type(error).__name__}: {error}", SET_UP)


def report(findings: Sequence[Finding] | None = None, stream: TextIO | None = None) -> int:
    """Print findings, a line each, with a remedy below those that need one.

    Args:
        findings: None means: run all probes now.
        stream: None means stdout.

    Returns:
        The exit status: 0 when all is well, else 1.
    """
    stream = stream or sys.stdout
    good, bad, so = marks(stream)
    findings = examine() if findings is None else findings
    for finding in findings:
        print(good if finding.ok else bad, finding.what, file=stream)
        if finding.remedy:
            print("\n".join(f"    {so} {line}" for line in finding.remedy.splitlines()), file=stream)
    faults = sum(not finding.ok for finding in findings)
    print("All is well." if not faults else f"{faults} of {len(findings)} need mending.", file=stream)
    return 1 if faults else 0


def marks(stream: TextIO) -> tuple[str, str, str]:
    """Signs for good, bad and remedy that the stream can show; a Windows console of cp1252 has no check mark."""
    signs = ("✓", "✗", "→")
    try:
        "".join(signs).encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ("[ok]", "[!!]", "->")
    return signs
