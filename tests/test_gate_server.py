"""The fork server of the gate: a forked worker says what a started one says, and no answer harms the next."""

import json
import os
from pathlib import Path

import gate_server
import pytest
from gate_server import CAN_FORK, ForkServer, forked_workers, imports_of

from course_lib.checks.catalogue import find_exercise
from course_lib.learner import runner
from course_lib.learner.runner import run_check
from course_lib.simulation import commands

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="forking is safe on Linux only")
EXERCISE = find_exercise("00.1")
DEF = "def tokens_left(window_tokens, reserve_tokens, used_tokens):\n    "
RIGHT = "return max(0, window_tokens - reserve_tokens - used_tokens)"
# What an answer can see of its process; not its number, nor how many frames are below.
PORTRAIT = f"""
import gc, json, os, resource, signal, sys, threading
folder = os.getcwd()
print(json.dumps(default=repr, obj=dict(
    modules=sorted(sys.modules),
    main=sorted(vars(sys.modules["__main__"])),
    arguments=sys.argv,
    flags=[sys.flags, sys.getrecursionlimit(), gc.isenabled(), gc.get_threshold(), hash("text"), sys.warnoptions],
    environment=dict(os.environ),
    path=[sys.path, sys.meta_path, sys.path_hooks],
    folder=[os.listdir(), oct(os.umask(0o22))],
    limits=[(name, resource.getrlimit(getattr(resource, name))) for name in dir(resource) if name[:7] == "RLIMIT_"],
    signals=[(number, signal.getsignal(number)) for number in signal.valid_signals()],
    blocked=[signal.pthread_sigmask(signal.SIG_BLOCK, ()), signal.getitimer(signal.ITIMER_REAL)],
    files=sorted(int(name) for name in os.listdir("/proc/self/fd")),
    session=[os.getsid(0) == os.getpgid(0) == os.getpid(), os.isatty(1), sys.stdin.read()],
    streams=[[stream.name, stream.mode, stream.encoding, stream.errors, stream.line_buffering, stream.write_through]
             for stream in (sys.__stdin__, sys.__stdout__, sys.__stderr__)],
    threads=[threading.active_count(), threading.current_thread() is threading.main_thread()],
)).replace(folder, "."))
{DEF}{RIGHT}
"""


@pytest.fixture(scope="module")
def server():
    """Start one server for the tests of this file."""
    with ForkServer(runner._environment()) as started:
        yield started


@pytest.fixture
def both_ways(server, monkeypatch, tmp_path):
    """Check the code as an answer to 00.1 twice, in a started and in a forked worker; return the two results."""

    def check(code, *, seconds=10.0, check_file=None):
        results = []
        for run_program in (commands.run_program, server.run_program):
            monkeypatch.setattr(runner, "run_program", run_program)
            results.append(check_code(code, tmp_path, seconds=seconds, check_file=check_file))
        return results

    return check


@pytest.fixture
def forked(server, monkeypatch, tmp_path):
    """Check the code as an answer to 00.1 in a forked worker."""
    monkeypatch.setattr(runner, "run_program", server.run_program)
    return lambda code, **options: check_code(code, tmp_path, **options)


def check_code(code, folder, **options):
    """Check the code in a learner's notebook."""
    cell = {"cell_type": "code", "source": code, "metadata": {"tags": ["exercise"], "exercise": EXERCISE.id}}
    notebook = folder / "00_work.ipynb"
    notebook.write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    return run_check(EXERCISE, notebook=notebook, **options)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (DEF + f"print(window_tokens, reserve_tokens, used_tokens)\n    {RIGHT}", "passed (all"),
        (DEF + "print(window_tokens)\n    return window_tokens - reserve_tokens - used_tokens", "It goes below 0."),
        (DEF + "return max(0, min(window_tokens, 500_000) - reserve_tokens - used_tokens)", "Whatever the numbers"),
        (DEF + "...", "Nothing to check yet"),
        (DEF + "return json.loads(str(used_tokens))", "NameError: name 'json' is not defined"),
        (DEF + "return bytearray(5 * 2**30)", "MemoryError"),
        ("import sys\n" + DEF + "sys.exit()", "SystemExit"),
        ("import os\n" + DEF + "os._exit(3)", "ended Python before the check was done"),
        ("import ctypes\n" + DEF + "ctypes.string_at(0)", "crash (SIGSEGV)"),
        ("import os\nos.kill(0, 9)", "The system ended your code. It was in code cell 1"),
        ("import builtins\nbuiltins.len = print", "Your code replaces `builtins.len`"),
    ],
)
def test_a_forked_worker_says_what_a_started_one_says(both_ways, code, says):
    """Right, wrong, broken, or the end of its process: the result is the same to the letter."""
    started, forked = both_ways(code)
    assert str(forked) == str(started)
    assert says in str(forked)
    assert forked == started


def test_a_time_out_is_the_same(both_ways):
    """An endless loop is stopped by the worker itself, with the line it was in."""
    started, forked = both_ways(DEF + "while True: pass", seconds=0.5)
    assert forked == started
    assert "stopped after 0.5 seconds" in str(forked)
    assert "line 2: while True: pass" in str(forked)


def test_a_worker_that_turned_its_time_out_off(forked, monkeypatch):
    """Who does not stop by itself is stopped by its keeper."""
    monkeypatch.setattr(runner, "START_SECONDS", 0.5)
    result = forked("import faulthandler\nfaulthandler.cancel_dump_traceback_later()\nwhile True: pass", seconds=0.5)
    assert "Your code did not come to an end: it was stopped after 0.5 seconds." in str(result)


@pytest.mark.parametrize("text", [None, "import no_such_module", "x ="])
def test_a_check_that_does_not_work_is_the_same(both_ways, tmp_path, text):
    """A check file that is missing or broken is an error of the course both ways, in the same words."""
    file = tmp_path / "check_odd.py"
    if text is not None:
        file.write_text(text)
    said = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "judge", lambda _exercise, outcome, **_: said.append((outcome.exit_code, outcome.output)))
        both_ways(DEF + RIGHT, check_file=file)
    assert len(said) == 2
    assert said[0] == said[1]


@pytest.mark.parametrize("extra", ["import hypothesis", "import course_lib.agent, decimal"])
def test_a_forked_worker_is_as_a_new_one(both_ways, monkeypatch, tmp_path, extra):
    """An answer finds the same modules, limits, signals, files and settings: none it could not count on, none too few.

    With another check file the modules are others, and those of the last one are gone.
    """
    monkeypatch.setattr(runner, "OUTPUT_CHARS", 100_000)
    file = tmp_path / "check_portrait.py"
    file.write_text(f"{extra}\ndef test_it(answer):\n    'It is there.'\n    assert answer(3, 1, 1) == 1\n")
    started, forked = both_ways(PORTRAIT, check_file=file)
    one, other = json.loads(started.printed), json.loads(forked.printed)
    assert set(one.pop("modules")) ^ set(other.pop("modules")) == set()
    assert other == one


def test_no_answer_finds_traces_of_another(forked):
    """What an answer changes in its process is gone with it."""
    change = "import json, os, sys\njson.seen = os.environ['SEEN'] = sys.modules['seen'] = 'before'\n"
    assert forked(change + "os.chdir('/')\n" + DEF + RIGHT).passed
    look = "import json, os, sys\nassert not (hasattr(json, 'seen') or 'SEEN' in os.environ or 'seen' in sys.modules)\n"
    assert forked(look + DEF + RIGHT).passed


def test_what_an_answer_left_running_is_ended(forked):
    """A program that an answer started does not outlive its worker."""
    result = forked(
        "import subprocess, sys\nprint(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']).pid)\n"
        + DEF
        + RIGHT
    )
    assert result.passed
    status = Path(f"/proc/{int(result.printed)}/stat")
    assert not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"


def test_an_answer_that_ends_its_keeper(forked, server):
    """Who kills the process that waits for it gets no verdict, and the next answer has a new one."""
    with pytest.raises(RuntimeError, match="keeper"):
        forked("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)")
    assert forked(DEF + RIGHT).passed


def test_a_server_that_is_gone():
    """When the server itself is gone, a check fails and says so; it does not wait."""
    with forked_workers() as server:
        server._base.kill()
        with pytest.raises(RuntimeError, match="a fork server ended"):
            run_check(EXERCISE, answer=max)


def test_only_workers_are_forked(server, tmp_path):
    """Another program, or a worker with another environment, is started as always."""
    options = {"cwd": tmp_path, "timeout_seconds": 30, "max_output_chars": 1_000}
    before = server.forked
    assert server.run_program(["python", "-c", "print(6)"], **options).output == "6\n"
    worker = ["python", "-P", "-m", gate_server.WORKER, str(tmp_path)]
    assert "job.json" in server.run_program(worker, **options, env=dict(os.environ)).output
    assert server.forked == before


def test_it_stands_in_only_meanwhile(tmp_path):
    """Within `forked_workers` a check is made by a forked worker; after it, and where forking is not safe, by none."""
    with forked_workers() as server:
        assert check_code(DEF + RIGHT, tmp_path).passed
        assert server.forked == 1
    assert runner.run_program is commands.run_program
    assert server._base.returncode == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate_server, "CAN_FORK", False)
        with forked_workers() as server:
            assert server is None
            assert runner.run_program is commands.run_program


def test_the_imports_of_a_file(tmp_path):
    """What a file imports when it is imported itself: nothing within functions, nothing of a broken file."""
    file = tmp_path / "check.py"
    file.write_text('"""Text."""\nimport a, b.c\nfrom d import (\n    e as f,\n)\nx = 1\ndef g():\n    import h\n')
    assert imports_of(file) == "import a, b.c\nfrom d import e as f"
    file.write_text("import a\nx =")
    assert imports_of(file) == imports_of(tmp_path / "gone.py") == ""
