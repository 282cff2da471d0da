"""Running the check of one exercise, in a process of its own that can be ended (chapter 00).

    run_check(exercise, answer=tokens_left)      what a notebook has just defined
    run_check(exercise, notebook=Path("…"))      what stands in a notebook's file

Only one thing is a pass: pytest says so, every collected test ran and passed, there was at least one, and nothing of
the judge had been replaced. A test that says no is "not yet", and so is whatever the learner's code does to the
process: an endless loop, an exit, a crash. All else is an error of the course, and raised as one.

What this leaves out on purpose: a sandbox; see `course_lib.simulation.commands`.
Source: chapter 00.
"""

import json
import secrets
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import course_lib
from course_lib.checks.exercise import Exercise
from course_lib.errors import ToolError
from course_lib.learner.answers import CannotTakeAlongError, Packed, is_stub, pack
from course_lib.learner.cells import AnswerNotFoundError, read_cells
from course_lib.learner.result import CheckResult, Failure
from course_lib.learner.verdict import CourseCheckError, Outcome, judge
from course_lib.learner.worker import Job
from course_lib.simulation.commands import clean_environment, run_program

__all__ = ["CHECK_SECONDS", "CourseCheckError", "run_check", "stub_result"]

CHECK_SECONDS = 10.0  # for loading an answer and all of its tests together
START_SECONDS = 30.0  # for Python and pytest to get ready; much more than needed, on any machine
MEMORY_BYTES = 4 * 2**30
OUTPUT_CHARS = 4_000
_NO_ANSWER = object()


def run_check(
    exercise: Exercise,
    *,
    answer: Any = _NO_ANSWER,
    notebook: Path | None = None,
    seconds: float = CHECK_SECONDS,
    check_file: Path | None = None,
) -> CheckResult:
    """Check one answer and return what came of it. Takes about a second; `seconds` and a start at most.

    Args:
        exercise: which one.
        answer: the function, class or value itself; or
        notebook: the learner's notebook, whose code is run up to the answer's `check(…)`.
        seconds: after which the answer is stopped.
        check_file: another file than the exercise's own, for tests.

    Raises:
        CourseCheckError: the course failed, not the answer.
        TypeError: neither an answer nor a notebook, or both.
    """
    _only_one(answer, notebook)
    if notebook is None and is_stub(answer):
        return stub_result(exercise)
    try:
        packed = pack(answer) if notebook is None else Packed(b"", cell_texts(notebook))
    except (AnswerNotFoundError, CannotTakeAlongError) as problem:
        return CheckResult(exercise, stopped=Failure(says=str(problem)), way_out=getattr(problem, "way_out", ""))
    job = Job(
        exercise_id=exercise.id,
        answer_name=exercise.answer_name,
        check_file=str(check_file or exercise.check_file),
        notebook=str(notebook.resolve()) if notebook else "",
        cells=dict(packed.sources),
        import_folders=_import_folders(notebook),
        seconds=seconds,
        memory_bytes=MEMORY_BYTES,
        seal=secrets.token_hex(),
    )
    return judge(exercise, _run(job, packed.data), cells=packed.sources)


def _only_one(answer: object, notebook: Path | None) -> None:
    if (answer is _NO_ANSWER) == (notebook is None):
        raise TypeError("run_check needs an answer or a notebook")


def cell_texts(notebook: Path) -> dict[str, str]:
    """Return the text of a notebook's code cells, by the file name that their code has in the worker."""
    return {cell.file_name: cell.source for cell in read_cells(notebook)}


def stub_result(exercise: Exercise) -> CheckResult:
    """Return the result for an exercise that nobody has begun."""
    says = f"Nothing to check yet: replace the three dots in `{exercise.answer_name}`, run its cell, and check again."
    return CheckResult(exercise, stopped=Failure(says=says))


def _run(job: Job, data: bytes) -> Outcome:
    try:
        with tempfile.TemporaryDirectory(prefix="course-check-", ignore_cleanup_errors=True) as name:
            folder = Path(name).resolve()
            job.write(folder)
            (folder / "answer.pickle").write_bytes(data)
            result = run_program(
                ["python", "-P", "-m", "course_lib.learner.worker", str(folder)],
                cwd=folder,
                timeout_seconds=job.seconds + START_SECONDS,
                max_output_chars=OUTPUT_CHARS,
                env=_environment(),
            )
            return Outcome(
                events=_read_events(folder / "events.jsonl"),
                exit_code=result.exit_code,
                output=result.output,
                trace=_read(folder / "trace.txt"),
                seconds=job.seconds,
                seal=job.seal,
            )
    except OSError as error:
        raise CourseCheckError(f"no temporary folder to work in: {error}") from error
    except ToolError as error:
        raise CourseCheckError(str(error)) from error


def _environment() -> dict[str, str]:
    """No key of anybody, no bytecode rule (it would cost a second each time), and this very course."""
    environment = clean_environment()
    del environment["PYTHONDONTWRITEBYTECODE"]
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # plugins of other projects cost time, and may change verdicts
    environment["MPLBACKEND"] = "agg"  # a cell that shows a chart opens no window
    environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # each thread would take of the memory
    root = Path(course_lib.__file__).resolve().parent.parent
    if root != Path(sysconfig.get_path("purelib")).resolve():
        environment["PYTHONPATH"] = str(root)
    return environment


def _import_folders(notebook: Path | None) -> list[str]:
    beside = [notebook.resolve().parent] if notebook else []
    return [str(folder) for folder in (*beside, *(Path(entry).resolve() for entry in sys.path))]


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:  # it was not begun, or the answer removed it
        return ""


def _read_events(file: Path) -> Sequence[dict[str, Any]]:
    """The events, as far as they were written."""
    events = []
    for line in _read(file).splitlines():
        try:
            event = json.loads(line)
        except ValueError:  # the last one, when the process was killed
            continue
        if isinstance(event, dict):
            events.append(event)
    return events
