"""The append-only file: what was acknowledged is there, whatever ended the process, and two writers never mix."""

import contextlib
import errno
import json
import os
import random
import signal
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib import journal_file
from course_lib.errors import TranscriptError
from course_lib.journal_file import JournalFile

KILLS = 60

is_posix = pytest.mark.skipif(os.name != "posix", reason="needs signals, modes and limits of a POSIX system")


@pytest.fixture
def path(tmp_path):
    """A file that is not there yet."""
    return tmp_path / "log.jsonl"


def write(path, *records, sync="system"):
    """Open the file, append the records, close it."""
    with JournalFile(path, sync=sync) as journal:
        for record in records:
            journal.append(record)


def read(path):
    """The records that stand in the file."""
    with JournalFile(path) as journal:
        return journal.records


# --- one record a line -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sync", ["disk", "system"])
def test_records_come_back_in_order(path, sync):
    """What was appended, over several openings, is read as it was written."""
    write(path, {"n": 1}, {"n": 2, "text": "数据 \U0001f600"}, sync=sync)
    write(path, {"n": 3}, sync=sync)
    assert read(path) == [{"n": 1}, {"n": 2, "text": "数据 \U0001f600"}, {"n": 3}]
    assert path.read_text(encoding="utf-8").count("\n") == 3


json_records = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec=None)),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=5,
    ),
    max_size=4,
)


@given(st.lists(json_records, max_size=5))
@settings(max_examples=40)
def test_any_record_is_one_line_and_comes_back(tmp_path_factory, records):
    """Line ends, separators and halves of surrogate pairs in it: every reader of lines sees one line a record."""
    path = tmp_path_factory.mktemp("any") / "log.jsonl"
    write(path, *records)
    assert len(path.read_bytes().decode("utf-8").splitlines()) == len(records)
    assert read(path) == records


@pytest.mark.parametrize(
    "odd", ["a\u2028b", "a\u2029b", "a\x85b", "a\nb\r\nc\x0bd\x0ce\x1cf", "\ud83d", "\x00", "\ufeff"]
)
def test_odd_characters_survive(path, odd):
    """Every separator that some reader takes for a line end is escaped; a lone surrogate comes back as one."""
    write(path, {odd: odd}, {"n": 2})
    assert len(path.read_bytes().decode("utf-8").splitlines()) == 2
    assert read(path) == [{odd: odd}, {"n": 2}]


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", {"deep": object()}])
def test_what_json_cannot_hold_is_refused_and_nothing_written(path, value):
    """The error comes before the file is touched, and the next record is written."""
    with JournalFile(path) as journal:
        with pytest.raises(TranscriptError, match="JSON cannot hold"):
            journal.append({"value": value})
        journal.append({"n": 1})
    assert read(path) == [{"n": 1}]


def test_endless_nesting_is_refused(path):
    """A record that holds itself is an error, not a crash."""
    record = {}
    record["self"] = record
    with JournalFile(path) as journal, pytest.raises(TranscriptError, match="JSON cannot hold"):
        journal.append(record)


# --- a torn last line ------------------------------------------------------------------------------------------------


def lines():
    """Three records as bytes, with a character of four bytes in the last."""
    return b"".join(json.dumps({"n": n, "text": "é😀"}, ensure_ascii=False).encode() + b"\n" for n in range(3))


WHOLE = lines()
LAST = WHOLE.rindex(b"\n", 0, -1) + 1


@pytest.mark.parametrize("cut", range(LAST, len(WHOLE)))
def test_a_tear_at_every_byte_of_the_last_line(path, cut):
    """Wherever the last line is torn, inside a character too, the others are there and the next append is a line."""
    path.write_bytes(WHOLE[:cut])
    with JournalFile(path) as journal:
        whole = cut == len(WHOLE) - 1  # only its line end is missing: then the record is whole
        assert [record["n"] for record in journal.records] == ([0, 1, 2] if whole else [0, 1])
        assert journal.torn_bytes == (0 if whole else cut - LAST)
        journal.append({"n": 9})
    assert [record["n"] for record in read(path)] == ([0, 1, 2, 9] if whole else [0, 1, 9])
    assert read(path) == read(path)


def test_a_torn_line_is_put_aside_not_thrown_away(path):
    """What is taken out lies in a file beside it, for its owner alone."""
    path.write_bytes(WHOLE[:-4])
    read(path)
    aside = path.with_suffix(".torn")
    assert aside.read_bytes() == WHOLE[LAST:-4] + b"\n"
    if os.name == "posix":
        assert stat.S_IMODE(aside.stat().st_mode) == 0o600


def test_zeros_at_the_end_are_a_torn_line(path):
    """Some file systems leave zeros behind after a power cut."""
    path.write_bytes(WHOLE + b"\0" * 100)
    with JournalFile(path) as journal:
        assert (len(journal.records), journal.torn_bytes) == (3, 100)


@pytest.mark.parametrize("bad", [b'{"n": 1, "te', b"\xf0\x9f", b"[1]", b'"text"', b"not json", b"1" * 5_000])
def test_damage_in_the_middle_is_an_error_with_its_line(path, bad):
    """A line that is no record, with others behind it, is not skipped: the error names file and line, and all stays."""
    path.write_bytes(WHOLE[:LAST] + bad + b"\n" + WHOLE[LAST:])
    before = path.read_bytes()
    with pytest.raises(TranscriptError, match=r"log\.jsonl, line 3 is damaged"):
        JournalFile(path)
    assert path.read_bytes() == before
    with pytest.raises(TranscriptError, match="line 3"):  # the lock was given back
        JournalFile(path)


def test_two_records_glued_together_are_damage(path):
    """What the bug report describes: a record glued to a torn one is not silently lost."""
    path.write_bytes(b'{"n": 1}\n{"n": {"n": 2}\n{"n": 3}\n')
    with pytest.raises(TranscriptError, match="line 2"):
        JournalFile(path)


def test_blank_lines_and_windows_line_ends_are_no_damage(path):
    """A file that an editor saved is read."""
    path.write_bytes(b'{"n": 1}\r\n\r\n{"n": 2}\r\n')
    assert read(path) == [{"n": 1}, {"n": 2}]


def test_an_empty_file_is_an_empty_journal(path):
    """Killed right after it was made, the file is as good as new."""
    path.touch()
    assert read(path) == []


# --- two writers -----------------------------------------------------------------------------------------------------


def test_a_second_writer_gets_an_error(path):
    """While one has it open, another is refused with the way out; afterwards it is free."""
    with JournalFile(path) as journal:
        with pytest.raises(TranscriptError, match="open already, here or in another process"):
            JournalFile(path)
        journal.append({"n": 1})
    assert read(path) == [{"n": 1}]


def test_a_writer_in_another_process_gets_an_error(path):
    """The same between two processes."""
    code = (
        f"from pathlib import Path; from course_lib.journal_file import JournalFile; JournalFile(Path({str(path)!r}))"
    )
    with JournalFile(path):
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert other.returncode == 1
    assert "open already" in other.stderr


def test_a_closed_journal_says_so(path):
    """Appending after closing is an error that says what to do; closing twice is none."""
    journal = JournalFile(path)
    journal.close()
    journal.close()
    with pytest.raises(TranscriptError, match="is closed: open it again"):
        journal.append({"n": 1})
    assert read(path) == []


@is_posix
def test_a_file_system_without_locks_is_another_error(path, monkeypatch):
    """It is not said that somebody else has the file open when that is not so."""
    import fcntl

    def no_locks(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(TranscriptError, match="No locks available"):
        JournalFile(path)


# --- modes, full disks, read-only folders ----------------------------------------------------------------------------


@is_posix
@pytest.mark.parametrize("there_with", [None, 0o644, 0o666])
def test_only_the_owner_can_read_it(path, there_with):
    """A new file, and one that was readable for others."""
    if there_with:
        path.touch()
        path.chmod(there_with)
    write(path, {"n": 1})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("written", [0, 1, 7])
def test_a_full_disk_leaves_no_half_line(path, monkeypatch, written):
    """A write that breaks off, or fails, is an error that says that the run can go on; then it works again."""
    real = os.write

    def full(file, data):
        if written == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(file, data[:written])

    with JournalFile(path) as journal:
        journal.append({"n": 1})
        monkeypatch.setattr(journal_file.os, "write", full)
        for _ in range(3):
            with pytest.raises(TranscriptError, match=r"No space left on device\. The run can go on"):
                journal.append({"n": 2})
            assert path.read_bytes() == b'{"n":1}\n'
        monkeypatch.setattr(journal_file.os, "write", real)
        journal.append({"n": 3})
    assert read(path) == [{"n": 1}, {"n": 3}]


def test_a_half_line_that_cannot_be_taken_back_is_not_written_behind(path, monkeypatch):
    """If even the taking back fails, the next append tries again first: nothing is glued to the half line."""
    real_write, real_truncate = os.write, os.ftruncate

    def failing(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with JournalFile(path) as journal:
        journal.append({"n": 1})
        monkeypatch.setattr(journal_file.os, "write", lambda file, data: real_write(file, data[:3]))
        monkeypatch.setattr(journal_file.os, "ftruncate", failing)
        with pytest.raises(TranscriptError):
            journal.append({"n": 2})
        monkeypatch.setattr(journal_file.os, "write", real_write)
        with pytest.raises(TranscriptError):
            journal.append({"n": 3})
        monkeypatch.setattr(journal_file.os, "ftruncate", real_truncate)
        journal.append({"n": 4})
    assert read(path) == [{"n": 1}, {"n": 4}]


def test_a_disk_that_does_not_confirm_is_an_error(path, monkeypatch):
    """What `fsync` refuses was not written, as far as anybody may rely on it."""

    def failing(_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with JournalFile(path) as journal:
        monkeypatch.setattr(journal_file.os, "fsync", failing)
        with pytest.raises(TranscriptError, match="cannot write"):
            journal.append({"n": 1})
    assert path.read_bytes() == b""


def test_fsync_is_called_for_each_record_or_never(path, monkeypatch):
    """That is the difference between the two policies."""
    calls = []
    monkeypatch.setattr(journal_file.os, "fsync", calls.append)
    write(path, {"n": 1}, {"n": 2}, sync="system")
    assert calls == []
    write(path, {"n": 3}, {"n": 4}, sync="disk")
    assert len(calls) == 2


@is_posix
def test_a_limit_on_the_file_size_is_a_full_disk(path):
    """The same with a real refusal of the system, in a process of its own."""
    code = f"""
        import resource
        from pathlib import Path
        from course_lib.errors import TranscriptError
        from course_lib.journal_file import JournalFile
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        with JournalFile(Path({str(path)!r})) as journal:
            journal.append({{"n": 1}})
            try:
                journal.append({{"n": "x" * 2000}})
            except TranscriptError as error:
                print(error)
            journal.append({{"n": 2}})
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60)
    assert "cannot write to" in done.stdout, done.stderr
    assert read(path) == [{"n": 1}, {"n": 2}]


@pytest.mark.parametrize("kind", ["missing folder", "a folder in its place", "a file as folder", "no right"])
def test_a_place_that_cannot_be_used_is_an_error(tmp_path, kind, monkeypatch):
    """The error names the place and the way out, and no descriptor is left open."""
    path = {"missing folder": tmp_path / "no" / "x", "a folder in its place": tmp_path}.get(kind, tmp_path / "f" / "x")
    if kind == "a file as folder":
        (tmp_path / "f").touch()
    if kind == "no right":

        def refuse(*_):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

        monkeypatch.setattr(journal_file.os, "open", refuse)
    with pytest.raises(TranscriptError, match=r"cannot use .*Name a folder that you can write to"):
        JournalFile(path)


@is_posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_an_error(tmp_path):
    """A folder without the right to write."""
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(TranscriptError, match="Permission denied"):
            JournalFile(tmp_path / "log.jsonl")
    finally:
        tmp_path.chmod(0o700)


# --- killed ----------------------------------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from course_lib.journal_file import JournalFile
journal = JournalFile(Path(sys.argv[1]), sync="system")
number = max((record["n"] for record in journal.records), default=0)
print("ready", number, flush=True)
while True:
    number += 1
    journal.append({"n": number, "text": "é😀" * (number * 37 % 300)})
    print(number, flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, so that sixty children start in a second or two")
@pytest.mark.parametrize("file", range(6))
def test_killed_at_random_points_every_acknowledged_record_is_there(path, file):
    """Children, one after another, write to one file and are killed: nothing that was acknowledged is missing."""
    assert kill_writers(path, KILLS // 6, random.Random(file)) > 0


def kill_writers(path, kills, dice):
    """Kill so many children amid writing, look after each, and return the last number that was acknowledged."""
    acknowledged = 0
    for _ in range(kills):
        acknowledged = max(acknowledged, acknowledged_by_a_killed_child(path, dice.uniform(0, 0.004)))
        numbers = [record["n"] for record in read(path)]
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) >= acknowledged
    return acknowledged


def acknowledged_by_a_killed_child(path, seconds):
    """Fork a child that appends and reports each record through a pipe; kill it; return the last number reported."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            _append_for_ever(path, sending)
        os._exit(1)
    os.close(sending)
    reports = os.read(receiving, 8)  # it is ready
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(receiving, "rb") as rest:
        reports += rest.read()
    end = len(reports) // 8 * 8
    return int.from_bytes(reports[end - 8 : end], "big")


def _append_for_ever(path, sending):
    journal = JournalFile(path, sync="system")
    number = len(journal.records)
    while True:
        os.write(sending, number.to_bytes(8, "big"))
        number += 1
        journal.append({"n": number, "text": "é😀" * (number * 37 % 300)})


def test_a_killed_program_leaves_the_file_free(path):
    """A real program, killed: its lock is gone with it, and what it acknowledged is there."""
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    said = [writer.stdout.readline() for _ in range(20)]
    writer.kill()
    said += writer.stdout.readlines()
    writer.wait(timeout=30)
    writer.stdout.close()
    last = int([line for line in said if line.endswith("\n")][-1])
    assert [record["n"] for record in read(path)][:last] == list(range(1, last + 1))


def test_the_example_path_is_a_path(path):
    """A `Path` with blanks and letters of any language works."""
    odd = path.with_name("a log, 数据.jsonl")
    write(odd, {"n": 1})
    assert read(Path(odd)) == [{"n": 1}]
