"""Processes the command line starts, and the one lock between them. Standard library only.

`run_child` hands the terminal to another program and gives back its exit status; Ctrl-C is that program's business.
`one_at_a_time` keeps two set-ups of one folder apart.
"""

import errno
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def tell(text: str) -> None:
    """Say what happens, on stderr: stdout belongs to the command that was asked for."""
    print(text, file=sys.stderr, flush=True)


def run_child(command: Sequence[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> int:
    """Run a program in this terminal until it ends.

    Args:
        command: the program and its arguments.
        cwd: the folder it starts in; None means the present one.
        env: its whole environment; None means a copy of ours.

    Returns:
        Its exit status; 128 + n when signal n ended it, as shells say it.
    """
    child: subprocess.Popen[bytes] | None = None

    def leave_it_to_the_child(_signum: int, _frame: object) -> None:
        """Do nothing: the terminal sends Ctrl-C to the child too, and JupyterLab asks before it stops.

        A handler, and not SIG_IGN, since the child would inherit that.
        """

    def pass_it_on(signum: int, _frame: object) -> None:
        if child is None:
            sys.exit(128 + signum)
        child.terminate()

    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, leave_it_to_the_child),
        signal.SIGTERM: signal.signal(signal.SIGTERM, pass_it_on),
    }
    try:
        child = subprocess.Popen(command, cwd=cwd, env=env)
        status = child.wait()
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
    return status if status >= 0 else 128 - status


@contextmanager
def one_at_a_time(lock_file: Path, *, waiting: str, sleep: Callable[[float], None] = time.sleep) -> Iterator[None]:
    """Wait until no other process holds `lock_file`, then hold it.

    The lock is the operating system's: it goes when the process ends, however it ends. The empty file stays.

    Args:
        lock_file: made when it is not there.
        waiting: what to say, once, when another process holds it.
        sleep: waits a number of seconds.

    Raises:
        OSError: the file cannot be made.
    """
    with lock_file.open("a", encoding="utf-8") as handle:
        if not try_lock(handle):
            tell(waiting)
            while not try_lock(handle):
                sleep(0.5)
        yield


def try_lock(handle: IO[str]) -> bool:
    """Take the lock on an open file; False when another process holds it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # Held elsewhere: EAGAIN, EACCES, or EDEADLK on Windows. Anything else is a file system without locks: go on.
        return error.errno not in {errno.EAGAIN, errno.EACCES, errno.EDEADLK}
    return True
