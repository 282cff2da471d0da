"""A process that writes records as fast as it can, and is killed while it does (chapter 07).

    >>> import tempfile
    >>> from course_lib.journal_file import JournalFile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "log.jsonl"
    >>> promised = kill_a_writer(path, after_records=3)
    >>> with JournalFile(path) as journal:
    ...     promised >= 3, len(journal.records) >= promised
    (True, True)
    >>> folder.cleanup()

Where in a record the process dies is up to the system, which is the point.
Source: chapter 07.
"""

import subprocess
import sys
from pathlib import Path

from course_lib.journal_file import JournalFile

__all__ = ["RECORD_CHARS", "kill_a_writer"]

RECORD_CHARS = 20_000  # of each record's text: long, so that most of the time a write is going on


def kill_a_writer(path: Path, *, after_records: int) -> int:
    """Start a process that appends records to a journal, kill it, and return how many records it had promised.

    A record is promised once `JournalFile.append` has returned and the process has said so.

    Args:
        path: the journal.
        after_records: it is killed when it has promised so many, in the middle of whatever it does then.
    """
    command = [sys.executable, "-m", "course_lib.simulation.killed_writer", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        promised = 0
        try:
            while promised < after_records and child.stdout.readline():
                promised += 1
        finally:
            child.kill()  # SIGKILL: it gets no chance to tidy up
        return promised + child.stdout.read().count(b"\n")


def _write_for_ever(path: Path) -> None:
    with JournalFile(path, sync="system") as journal:
        number = 0
        while True:
            number += 1
            journal.append({"number": number, "text": "x" * RECORD_CHARS})
            print(number, flush=True)


if __name__ == "__main__":
    _write_for_ever(Path(sys.argv[1]))
