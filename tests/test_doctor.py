"""The doctor: each probe, well and ill."""

import io
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import pytest

from course_lib.cli import CourseFolderError
from course_lib.environment import doctor
from course_lib.environment.doctor import Finding, examine, report
from course_lib.errors import TokenizerDataError

ROOT = Path(__file__).resolve().parent.parent


def raiser(error: Exception) -> Callable[..., object]:
    """A function that raises an error, whatever it is called with."""

    def fail(*_args: object) -> object:
        raise error

    return fail


@pytest.fixture
def busy_port() -> Iterator[int]:
    """A port that another program listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_all_is_well_here(capsys: pytest.CaptureFixture[str]) -> None:
    """In the environment that the tests run in nothing needs mending, and the exit status is 0."""
    status = report()
    text = capsys.readouterr().out
    assert status == 0, text
    assert text.endswith("All is well.\n")
    assert len(text.splitlines()) == len(doctor.PROBES) + 1


ILL: dict[str, tuple[Callable[[], Finding], str, str]] = {
    "misspelt setting": (
        lambda: doctor.probe_settings({"COURSE_PROVIDR": "openai"}),
        "did you mean COURSE_PROVIDER?",
        "README",
    ),
    "unknown provider": (lambda: doctor.probe_settings({"COURSE_PROVIDER": "antropic"}), "'antropic'", "README"),
    "old Python": (lambda: doctor.probe_python((3, 10, 2)), "Python 3.10.2", "Python 3.11 or newer"),
    "missing package": (lambda: doctor.probe_packages(["no-such-package>=1"]), "no-such-package is missing", "start"),
    "package too old": (lambda: doctor.probe_packages(["rich>=99"]), "not >=99", "start"),
    "package too new": (lambda: doctor.probe_packages(["rich<1"], lambda _: "15.0.0"), "rich is 15.0.0", "start"),
    "course not installed": (
        lambda: doctor.probe_course(raiser(metadata.PackageNotFoundError("x"))),  # type: ignore[arg-type]
        "not installed",
        "start",
    ),
    "course of another clone": (
        lambda: doctor.probe_course(lambda: Path(sys.prefix).as_uri()),
        Path(sys.prefix).as_uri(),
        "--editable",
    ),
    "kernel packages missing": (
        lambda: doctor.probe_kernel(raiser(ImportError("No module named 'zmq'"))),  # type: ignore[arg-type]
        "zmq",
        "start",
    ),
    "kernel dies": (
        lambda: doctor.probe_kernel(raiser(RuntimeError("Kernel died before replying"))),  # type: ignore[arg-type]
        "Kernel died before replying",
        "127.0.0.1",
    ),
    "kernel of another Python": (
        lambda: doctor.probe_kernel(lambda: (str(ROOT), "")),
        str(ROOT),
        "-m ipykernel install --sys-prefix",
    ),
    "kernel of a Python that is gone": (lambda: doctor.probe_kernel(lambda: ("/gone", "")), "/gone", "ipykernel"),
    "kernel without the course": (
        lambda: doctor.probe_kernel(lambda: (sys.prefix, "No module named 'course_lib'")),
        "No module named 'course_lib'",
        "start",
    ),
    "tokenizer data broken": (
        lambda: doctor.probe_tokenizer(raiser(TokenizerDataError("o200k_base: torn"))),  # type: ignore[arg-type]
        "o200k_base: torn",
        "git checkout -- course_lib/data",
    ),
    "tokenizer missing": (
        lambda: doctor.probe_tokenizer(raiser(ImportError("No module named 'tiktoken'"))),  # type: ignore[arg-type]
        "tiktoken",
        "start",
    ),
    "tokenizer counts wrong": (
        lambda: doctor.probe_tokenizer(lambda: len),
        "counts 11 tokens in 'hello world', not 2",
        "git checkout",
    ),
    "folder without chapters": (
        lambda: doctor.probe_folder(raiser(CourseFolderError("No chapters here.\nGo there."))),  # type: ignore[arg-type]
        "No chapters here.",
        "Go there.",
    ),
    "folder that cannot be written": (
        lambda: doctor.probe_rights([ROOT / "pyproject.toml" / "below"]),
        str(ROOT / "pyproject.toml" / "below"),
        "rights",
    ),
    "broken probe": (
        lambda: examine([raiser(KeyError("x"))])[0],  # type: ignore[list-item]
        "KeyError",
        "start",
    ),
}


@pytest.mark.parametrize("name", ILL)
def test_illness_is_found_with_its_remedy(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each thing that can be wrong is said with what was seen and what to do, and gives exit status 1."""
    probe, seen, remedy = ILL[name]
    finding = probe()
    assert not finding.ok
    assert seen in finding.what
    assert remedy in finding.remedy
    assert report([finding]) == 1
    first, *rest, last = capsys.readouterr().out.splitlines()
    assert first.startswith("✗ ")
    assert all(line.startswith("    → ") for line in rest)
    assert last == "1 of 1 need mending."


def test_no_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can listen on this computer, firewalls and sandboxes are named."""

    class Closed(socket.socket):
        def bind(self, _address: object) -> None:
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket, "socket", Closed)
    finding = doctor.probe_port()
    assert not finding.ok
    assert "Permission denied" in finding.what
    assert "firewall" in finding.remedy


def test_taken_port_is_no_fault(busy_port: int) -> None:
    """JupyterLab takes another port by itself, so a taken one is only mentioned."""
    finding = doctor.probe_port(busy_port)
    assert finding.ok
    assert f"{busy_port} is taken" in finding.what


def test_rights_leave_nothing_behind(tmp_path: Path) -> None:
    """Trying to write makes the folder that is missing, and leaves no file."""
    assert doctor.probe_rights([tmp_path / "new"]).ok
    assert list((tmp_path / "new").iterdir()) == []


def test_console_without_check_marks() -> None:
    """A Windows console of code page 1252 gets signs that it can show."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="cp1252")
    findings = [Finding(True, "one"), Finding(False, "two", "do this\nthen that")]
    assert report(findings, stream) == 1
    stream.flush()
    expected = ["[ok] one", "[!!] two", "    -> do this", "    -> then that", "1 of 2 need mending."]
    assert raw.getvalue().decode("cp1252").splitlines() == expected


def test_doctor_comes_when_no_package_is_there() -> None:
    """With a bare Python the doctor still reports, and names the packages."""
    program = "import sys; from course_lib.environment.doctor import report; sys.exit(report())"
    run = subprocess.run(
        [sys.executable, "-S", "-c", program],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert run.returncode == 1
    assert "jupyterlab is missing" in run.stdout
    assert "course_lib start" in run.stdout
    assert run.stderr == ""
