"""`course xray FILE|FOLDER`: an X-ray of your own agent's sessions. Nothing leaves the machine.

The command line is read before the packages are there, so everything that needs them is imported when it is used.
Source: chapter 04.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from course_lib.errors import CourseError, SettingsError
from course_lib.widgets.prices import Prices

__all__ = ["XrayError", "xray_arguments", "xray_command"]

_ENDINGS = (".json", ".jsonl", ".traj", ".ndjson", ".log")  # of files that are named when they cannot be opened
_NO_LOGS = {".git", "node_modules", "__pycache__"}  # folders that are not looked into
_FORMATS = {".html": "html", ".htm": "html", ".json": "json"}
# How the reports of this command begin: only those are replaced without being asked to.
_MARKS = ('content="course xray"', '"schema": "course-xray')
_Tick = Callable[[Path, int], None]


class XrayError(CourseError):
    """The command cannot do what it was asked to; nothing was written."""


def xray_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `course xray`."""
    parser.description = (
        "Show where the tokens of an agent's session went: by part and by tool, billed against visible, compactions, "
        "repeated reads, the cache. Which program wrote a log is found by what is in it. Nothing leaves this machine. "
        "Exit status 1 when a log could not be read."
    )
    parser.add_argument("path", type=Path, metavar="FILE|FOLDER", help="a session log, or a folder with logs in it")
    parser.add_argument(
        "--format", choices=("text", "json", "html"), help="default: by the ending of --output, else text"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the report there; default: show it")
    parser.add_argument("--force", action="store_true", help="let --output replace a file that is no report")
    parser.add_argument("--redact", action="store_true", help="no text of the session in the report, only figures")
    parser.add_argument("--thread", metavar="NAME", help="whose context over time to show: a name or a number")
    parser.add_argument(
        "--prices",
        metavar="A,B,C,D",
        type=_prices,
        help="what a million tokens cost: input, read from a cache, written to it, output",
    )


def _prices(text: str) -> Prices:
    try:
        plain_input, cached, written, output = (float(part) for part in text.split(","))
        return Prices(
            input_per_million=plain_input,
            cached_input_per_million=cached,
            cache_write_per_million=written,
            output_per_million=output,
        )
    except (ValueError, SettingsError):
        raise argparse.ArgumentTypeError(f"{text!r}: expected four numbers, such as 1,0.1,1.25,5") from None


def xray_command(arguments: argparse.Namespace) -> int:
    """Make the report and show or write it; the status is 1 when a log of a folder could not be read.

    Raises:
        XrayError, SessionLogError: nothing to read, or nowhere to write.
    """
    path, output = arguments.path.expanduser(), arguments.output
    if not path.exists():
        raise XrayError(f"{path}: there is no such file or folder")
    if output is not None:
        output = output.expanduser()
        _check_output(output, path, force=arguments.force)
    kind = arguments.format or (_FORMATS.get(output.suffix.lower()) if output else None) or "text"
    if path.is_dir():
        text, status = _folder(path, kind, arguments)
    else:
        text, status = _file(path, kind, arguments), 0
    if output is None:
        sys.stdout.write(text)
    else:
        _write(output, text)
        print(f"wrote {output}", file=sys.stderr)
    return status


def _file(path: Path, kind: str, arguments: argparse.Namespace) -> str:
    from course_lib.session_logs.redact import redacted
    from course_lib.session_logs.report_html import report_as_html
    from course_lib.session_logs.report_json import report_as_json
    from course_lib.session_logs.report_text import report_as_text
    from course_lib.session_logs.xray import xray

    with _waiting("reading"):
        report = xray(path, prices=arguments.prices)
    report = redacted(report) if arguments.redact else report
    if arguments.thread is not None and report.thread(arguments.thread) is None:
        names = ", ".join(f"{place} {thread.name}" for place, thread in enumerate(report.threads, 1))
        raise XrayError(f"there is no thread {arguments.thread!r}; the threads are: {names or 'none'}")
    if kind == "json":
        return report_as_json(report)
    show = report_as_html if kind == "html" else report_as_text
    return show(report, thread=arguments.thread)


def _folder(path: Path, kind: str, arguments: argparse.Namespace) -> tuple[str, int]:
    from course_lib.session_logs import report_folder
    from course_lib.session_logs.detect import FORMATS
    from course_lib.session_logs.reading import find_sessions
    from course_lib.session_logs.xray_folder import xray_folder

    if arguments.thread is not None:
        raise XrayError(f"--thread goes with a file, and {path} is a folder: name one of its files")
    unreadable = list(_unreadable(path))
    with _waiting("looking for logs"):
        files = list(find_sessions(path))
    if not files and not unreadable:
        known = ", ".join(known.name for known in FORMATS)
        raise XrayError(f"{path}: no session log in this folder or below it. The formats that are read: {known}")
    with _progress(files) as tick:
        report = xray_folder(path, files, unreadable=unreadable, prices=arguments.prices, tick=tick)
    report = report_folder.redacted_folder(report) if arguments.redact else report
    for name, reason in report.unreadable:  # redacted too: what the terminal says is copied along easily
        print(f"skipped {name}: {reason}" if reason else f"skipped {name}", file=sys.stderr)
    return report_folder.AS[kind](report), 1 if report.unreadable else 0


def _unreadable(folder: Path) -> Iterator[tuple[str, str]]:
    """Folders that cannot be listed and files that cannot be opened, each with the reason."""
    failed: list[OSError] = []
    for here, folders, names in os.walk(folder, onerror=failed.append):
        folders[:] = sorted(name for name in folders if name not in _NO_LOGS)
        for name in sorted(names):
            file = Path(here, name)
            if name.endswith(_ENDINGS):
                try:
                    file.open("rb").close()
                except OSError as error:
                    yield file.relative_to(folder).as_posix(), error.strerror or str(error)
    for problem in failed:
        yield Path(problem.filename).relative_to(folder).as_posix(), problem.strerror or str(problem)


def _waiting(words: str) -> AbstractContextManager[object]:
    """Something that turns on the terminal; nothing where the output is no terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    return console.status(words) if console.is_terminal else nullcontext()


@contextmanager
def _progress(files: list[Path]) -> Iterator[_Tick]:
    """A bar on the terminal that moves with the bytes of the files; nothing where the output is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    sizes = {file: _size(file) for file in files}
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task("reading", total=sum(sizes.values()) or None)

        def tick(file: Path, line: int) -> None:
            where = f", line {line:,}" if line else ""
            bar.update(task, advance=0 if line else sizes[file], description=f"{file.name[:30]}{where}")

        yield tick


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _check_output(output: Path, source: Path, *, force: bool) -> None:
    """Look before the work whether the report can be written, and nothing else is lost by it."""
    if output.is_dir():
        raise XrayError(f"--output {output} is a folder: name a file in it")
    if not output.parent.is_dir():
        raise XrayError(f"--output {output}: there is no folder {output.parent}")
    if not output.exists():
        return
    if output.samefile(source):
        raise XrayError(f"--output {output} is the log itself: name another file")
    if not force and not _is_report(output):
        raise XrayError(f"--output {output} exists and is no report of this command: name another file, or add --force")


def _is_report(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            head = file.read(600)
    except OSError:
        return False
    first, _, rest = head.partition("\n")
    is_text = first.startswith("X-ray of ") and rest.startswith("=====")
    return not head or is_text or any(mark in head for mark in _MARKS)


def _write(output: Path, text: str) -> None:
    """Write the whole report or nothing."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="\n", dir=output.parent, prefix=".xray-", delete=False
        ) as file:
            temporary = Path(file.name)
            try:
                file.write(text)
                file.close()
                temporary.replace(output)
            except BaseException:
                file.close()
                temporary.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise XrayError(f"--output {output}: cannot be written ({error.strerror or error})") from None
