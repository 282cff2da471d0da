"""The process in which a check runs: `python -m course_lib.learner.worker JOB_FOLDER` (chapter 00).

It collects the tests of one check file, loads the answer, runs the tests, and writes what happens as JSON lines, each
before the next thing begins. So the parent knows what was going on when this process hangs, crashes or is killed.

    job.json        what to do (`Job`); read and removed at the start
    events.jsonl    what happens, see `Log`
    trace.txt       where the code was when time ran out or Python crashed

The order matters: the judge is complete, and remembered by a `Guard`, before any of the learner's code runs.

What this leaves out on purpose: a sandbox. It is the learner's own code, as in the notebook.
Source: chapter 00.
"""

import faulthandler
import json
import linecache
import os
import pickle
import stat
import sys
import tempfile
import traceback
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

__all__ = ["Job", "Log", "main"]

MAX_FILE_BYTES = 100_000_000  # of any file that is written here
EXAMPLES = 50  # that hypothesis tries for one test


@dataclass(frozen=True, kw_only=True)
class Job:
    """What the parent asks for; the answer comes pickled in `answer.pickle`, or from a notebook's file.

    Attributes:
        exercise_id: such as "01.2".
        answer_name: what the notebook calls the answer.
        check_file: the pytest file.
        notebook: the file to take the answer from; "" for a pickled one.
        cells: the text of the notebook's cells, by the file name that their code has.
        import_folders: where the parent imports from; a notebook may have modules beside it.
        seconds: for loading the answer and all tests together.
        memory_bytes: that this process may have, where the system can limit it.
        seal: a word that the last event repeats.
    """

    exercise_id: str
    answer_name: str
    check_file: str
    notebook: str
    cells: dict[str, str]
    import_folders: list[str]
    seconds: float
    memory_bytes: int
    seal: str

    def write(self, folder: Path) -> None:
        """Leave the job in its folder."""
        (folder / "job.json").write_text(json.dumps(asdict(self)), encoding="utf-8")


class Log:
    """Writes events, one JSON object a line, at once.

    collected   tests: the sentences of all tests, by name
    loading     the learner's code begins to run; cell: its title, when it comes from a notebook's file
    absent      there is no answer; says and the fields of a failure
    start       test: its name
    call        called: the answer is called now
    finish      test, failure: null when it passed
    tampered    names: parts of Python or of the check that the learner's code had replaced
    broken      says: something in the course is
    end         exit_code: pytest's; seal
    """

    def __init__(self, file: Path) -> None:
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._pid = os.getpid()

    def __call__(self, event: str, **fields: object) -> None:
        """Write one event; in a process that the learner's code forked off, end that instead."""
        if os.getpid() != self._pid:
            os._exit(1)
        os.write(self._file, (json.dumps({"event": event, **fields}) + "\n").encode())


def main(folder: Path) -> None:
    """Do the job in the folder, and end the process."""
    job = Job(**json.loads((folder / "job.json").read_text(encoding="utf-8")))
    (folder / "job.json").unlink()
    log = Log(folder / "events.jsonl")
    with (folder / "trace.txt").open("w", encoding="utf-8") as trace:
        try:
            _prepare(job)
            faulthandler.enable(trace)
            exit_code = _run(job, log, folder, trace)
            faulthandler.cancel_dump_traceback_later()
            log("end", exit_code=exit_code, seal=job.seal)
        except BaseException:  # every way out of here has to be known
            log("broken", says=traceback.format_exc()[-4_000:])
        with suppress(Exception):
            sys.stdout.flush()
        os._exit(0)  # threads that the learner's code left behind do not hold it up


def load_answer(job: Job, log: Log, folder: Path) -> Any:
    """Return the answer; says in the log what is being done."""
    if job.notebook:
        from course_lib.learner.cells import answer_from_notebook

        notebook = Path(job.notebook)
        return answer_from_notebook(
            notebook, job.exercise_id, job.answer_name, on_cell=lambda cell: log("loading", cell=cell.title)
        )
    for name, text in job.cells.items():
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return pickle.loads((folder / "answer.pickle").read_bytes())


def _run(job: Job, log: Log, folder: Path, trace: Any) -> int:
    import pytest

    from course_lib.learner.judging import Judge

    if "hypothesis" in Path(job.check_file).read_text(encoding="utf-8"):
        _settle_hypothesis()

    def load() -> Any:
        faulthandler.dump_traceback_later(job.seconds, exit=True, file=trace)
        log("loading")
        return load_answer(job, log, folder)

    options = ("cacheprovider", "terminal", "faulthandler", "junitxml", "pastebin", "stepwise", "doctest", "debugging")
    arguments = [f"-pno:{name}" for name in options]
    settings = Path(__file__).parents[1] / "checks" / "check.ini"
    arguments += [f"--rootdir={settings.parent}", f"--config-file={settings}", "--noconftest", "--capture=no"]
    arguments += ["--import-mode=importlib", "--assert=plain", job.check_file]
    return int(pytest.main(arguments, plugins=[Judge(load, log, job.cells)]))


def _settle_hypothesis() -> None:
    """The same examples in every run, not many of them, and nothing of them kept or timed."""
    from hypothesis import HealthCheck, Phase, Verbosity, configuration, settings

    cache = _own_cache_folder()
    if cache:
        configuration.set_hypothesis_home_dir(cache)
    settings.register_profile(
        "check",
        derandomize=True,
        database=None,
        deadline=None,
        max_examples=EXAMPLES,
        print_blob=False,
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),  # some of them measure time
    )
    settings.load_profile("check")


def _own_cache_folder() -> Path | None:
    """A folder that stays, for what hypothesis knows about Unicode: to find that out takes a second or two."""
    user = str(os.getuid()) if hasattr(os, "getuid") else ""
    folder = Path(tempfile.gettempdir(), f"agent-context-course-cache{user}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        about = folder.lstat()
    except OSError:
        return None
    is_ours = stat.S_ISDIR(about.st_mode) and (not user or str(about.st_uid) == user)
    return folder if is_ours else None  # not one that somebody else on this machine has laid there


def _prepare(job: Job) -> None:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # half a surrogate pair is no reason to fail
    sys.path += [folder for folder in job.import_folders if folder not in sys.path]
    _quieten_learner_functions()
    if sys.platform == "win32":
        return
    import resource

    limits = {resource.RLIMIT_AS: job.memory_bytes, resource.RLIMIT_FSIZE: MAX_FILE_BYTES, resource.RLIMIT_CORE: 0}
    for kind, limit in limits.items():
        with suppress(ValueError, OSError):  # macOS knows, but does not do all of them
            hard = resource.getrlimit(kind)[1]
            resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def _quieten_learner_functions() -> None:
    """In a notebook's cells, `check(…)` and its like do nothing here."""
    import course_lib.learner

    for name in ("check", "hint", "solution", "question", "display"):
        setattr(course_lib.learner, name, lambda *_args, **_kwargs: None)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
