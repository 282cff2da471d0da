"""Runs the worker of a check in a process that is forked, not started: the same worker, ready at once.

A check starts Python, pytest and hypothesis, and that is most of its time. The gate makes hundreds of checks, so here a
process that has imported all this already is copied for each answer:

    pytest          `ForkServer.run_program`, which `course_lib.learner.runner` calls instead of the real one
      base          has imported pytest and the judge
        nursery     has imported what one check file imports, and nothing that an answer could not count on
          keeper    waits for one worker, stops it when its time is up, and ends what it left running
            worker  `python -m course_lib.learner.worker FOLDER`, from its first line to its last

Only the worker runs a learner's code. What it has that a started one has not: nothing; test_gate_server.py compares.
Forking is safe on Linux only. Elsewhere, and for a program or an environment that is not a worker's, the real
`run_program` does the work.
"""

import ast
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import traceback
from contextlib import contextmanager, suppress
from pathlib import Path

WORKER = "course_lib.learner.worker"
CAN_FORK = sys.platform == "linux"
# What every worker imports before it loads an answer. One that is missing here costs time; one too many fails a test.
PLUGINS = ("helpconfig", "setuponly", "setupplan", "skipping", "threadexception", "unittest")
PLUGINS += ("unraisableexception", "warnings")
WORKER_IMPORTS = ("course_lib.learner.judging", "faulthandler", "pickle", "pytest", "resource")
MESSAGE_BYTES = 65_536

# --- in pytest's process ---------------------------------------------------------------------------------------------


@contextmanager
def forked_workers():
    """Have all checks of this process run in forked workers meanwhile, where forking is safe; give the server."""
    import pytest

    from course_lib.learner import runner

    if not CAN_FORK:
        yield None
        return
    with ForkServer(runner._environment()) as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "run_program", server.run_program)
        yield server


class ForkServer:
    """Stands in for `course_lib.simulation.commands.run_program` where that would start a worker.

    Args:
        env: the environment of the workers.

    Attributes:
        forked: how many programs ran in a forked process.
    """

    def __init__(self, env):
        self.forked = 0
        self._env = env
        self._lock = threading.Lock()
        self._imports, self._nursery = None, None
        self._connection, theirs = socket.socketpair()
        with theirs:
            self._base = subprocess.Popen(
                [sys.executable, "-P", __file__, str(theirs.fileno())],
                env=env,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,  # a worker's stream objects are these, so they have to be for a pipe
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for connection in filter(None, (self._nursery, self._connection)):
            hang_up(connection)  # with nobody to ask it anything, a server ends
        self._base.wait()
        self._base.stdout.close()

    def run_program(self, args, *, cwd, timeout_seconds, max_output_chars, env=None):
        """Run a worker in a forked process; see `course_lib.simulation.commands.run_program`."""
        from course_lib.simulation import commands

        if args[:-1] != ["python", "-P", "-m", WORKER] or env != self._env:
            return commands.run_program(
                args, cwd=cwd, timeout_seconds=timeout_seconds, max_output_chars=max_output_chars, env=env
            )
        output = commands._Output(max_output_chars, cwd)
        read_end, write_end = os.pipe()
        reader = threading.Thread(target=commands._read_all, args=(os.fdopen(read_end, "rb", 0), output), daemon=True)
        reader.start()
        mine, theirs = socket.socketpair()
        with mine:
            try:
                self._fork(Path(args[-1]), timeout_seconds, theirs.fileno(), write_end)
            finally:
                theirs.close()
                os.close(write_end)
            exit_code = mine.recv(MESSAGE_BYTES)
        reader.join(commands._LAST_WORDS_SECONDS)
        if not exit_code:
            raise RuntimeError("the keeper of a forked worker was ended")
        return commands.CommandResult(json.loads(exit_code), output.text())

    def _fork(self, folder, seconds, status, output):
        """Have a worker forked by the nursery for its check file."""
        imports = imports_of(json.loads((folder / "job.json").read_bytes())["check_file"])
        with self._lock:
            if imports != self._imports:
                if self._nursery:
                    hang_up(self._nursery)
                self._nursery, theirs = socket.socketpair()
                with theirs:
                    self._send(self._connection, {"imports": imports}, theirs.fileno())
                self._imports = imports
            self._send(self._nursery, {"folder": str(folder), "seconds": seconds}, status, output)
            self.forked += 1

    def _send(self, connection, message, *files):
        """Send a message with open files, and wait until it was taken."""
        with suppress(OSError):
            socket.send_fds(connection, [json.dumps(message).encode()], files)
            if connection.recv(1):
                return
        with suppress(ProcessLookupError):
            os.killpg(self._base.pid, signal.SIGKILL)
        raise RuntimeError(f"a fork server ended: {self._base.stdout.read().decode()}")


def imports_of(check_file):
    """Return the import statements at the top level of a Python file; none of one that cannot be read."""
    try:
        tree = ast.parse(Path(check_file).read_bytes())
    except (OSError, SyntaxError):  # the worker meets it again, and says so
        return ""
    return "\n".join(ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))


def hang_up(connection):
    """End a connection, whoever else has it open."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


# --- in the processes between ----------------------------------------------------------------------------------------


def serve(connection):
    """Fork a process for each message, a nursery or a keeper, until nobody sends one."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system buries them
    while True:
        data, files, _, _ = socket.recv_fds(connection, MESSAGE_BYTES, 2)
        if not data:
            return
        message = json.loads(data)
        if os.fork() == 0:
            if "folder" in message:
                keep(message["folder"], message["seconds"], *files)
            connection.close()
            connection = socket.socket(fileno=files[0])
            with suppress(Exception):  # the worker meets it again, and says so
                exec(message["imports"], {"__name__": "imports"})
            gc.freeze()  # all this stays: no copy need look through it, and so copy its memory as well
            continue
        for file in files:
            os.close(file)
        connection.send(b".")


def keep(folder, seconds, status, output):
    """Fork a worker, wait for its end or make an end of it, tell its exit code (null: time was up), and end."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    worker = os.fork()
    if worker == 0:
        work(folder, output)
    os.close(output)
    stopped = []

    def stop(*_):
        stopped.append(True)
        os.killpg(worker, signal.SIGKILL)

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    os.waitid(os.P_PID, worker, os.WEXITED | os.WNOWAIT)  # not buried yet: its number still stands for its group
    signal.setitimer(signal.ITIMER_REAL, 0)
    with suppress(ProcessLookupError):
        os.killpg(worker, signal.SIGKILL)
    exit_code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    os.write(status, json.dumps(None if stopped else exit_code).encode())
    os._exit(0)


def work(folder, output):
    """Be as a new `python -P -m course_lib.learner.worker FOLDER`."""
    try:
        os.setsid()
        os.chdir(folder)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        sys.argv[1:] = [folder]
        runpy.run_module(WORKER, run_name="__main__", alter_sys=True)
    except BaseException:
        traceback.print_exc()
    os._exit(1)


def main():
    """Import what every worker imports, and serve."""
    for name in (*WORKER_IMPORTS, *(f"_pytest.{plugin}" for plugin in PLUGINS)):
        with suppress(ImportError):
            importlib.import_module(name)
    serve(socket.socket(fileno=int(sys.argv[1])))
    os._exit(0)


if __name__ == "__main__":
    main()
