"""Progress: no record is lost, whoever writes at the same time and however a writer ends; and it reads well."""

import errno
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import course_lib
from course_lib.learner.files import HIDDEN
from course_lib.learner.journal import Journal
from course_lib.learner.progress import (
    ExerciseProgress,
    hints_shown,
    load,
    progress_panel,
    progress_table,
    record,
    record_hint,
)

ROOT = Path(__file__).resolve().parent.parent
NOON = datetime(2030, 1, 2, 12, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Task:
    """What is shown of an exercise."""

    id: str
    title: str


TASKS = (Task("00.1", "Tokens left"), Task("01.1", "Find [the] pair"), Task("01.2", "Cut"), Task("01.3", "Mend"))


@pytest.fixture(autouse=True, scope="module")
def quick_disk() -> Iterator[None]:
    """Nothing in this process waits for a real disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _handle: None)
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A learner's folder."""
    (tmp_path / "mine" / HIDDEN).mkdir(parents=True)
    return tmp_path / "mine"


@pytest.fixture
def file(folder: Path) -> Path:
    """Its progress file, which is not there yet."""
    return folder / HIDDEN / "progress.jsonl"


# --- writing down and reading ----------------------------------------------------------------------------------------


def test_a_record_is_one_line(folder: Path, file: Path) -> None:
    """Exercise, result, hint, time in UTC whatever the clock's zone, and the course's version."""
    assert (
        record("01.2", passed=False, folder=folder, clock=lambda: NOON.astimezone(timezone(timedelta(hours=8)))) == ""
    )
    assert record_hint("01.2", folder, lambda: NOON) == ""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    common = {"exercise": "01.2", "time": "2030-01-02T12:00:00Z", "course": course_lib.__version__}
    assert lines == [{**common, "passed": False, "hint": None}, {**common, "passed": None, "hint": 1}]


def test_progress_adds_up(folder: Path) -> None:
    """Attempts are counted, hints too, the last time is the latest, and what was passed once stays passed."""
    for minutes, passed in enumerate([False, True, False]):
        record("01.2", passed=passed, folder=folder, clock=lambda minutes=minutes: NOON - timedelta(minutes=minutes))
    record_hint("01.2", folder, lambda: NOON - timedelta(days=1))
    record_hint("01.2", folder, lambda: NOON - timedelta(days=1))
    progress = load(folder)
    assert progress.exercises == {
        "01.2": ExerciseProgress(attempts=3, passed=True, hints=2, last_time="2030-01-02T12:00:00Z")
    }
    assert (hints_shown("01.2", folder), hints_shown("01.3", folder)) == (2, 0)
    assert progress.of("01.3") == ExerciseProgress()


def test_the_folder_is_the_one_around_the_notebook(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a folder in the learner's, everything goes there."""
    (folder / "exercises").mkdir()
    monkeypatch.chdir(folder / "exercises")
    record("01.2", passed=True)
    record_hint("01.2")
    assert load(folder).of("01.2").passed
    assert (hints_shown("01.2"), load()) == (1, load(folder))


@pytest.mark.parametrize("place", ["elsewhere", "clone", "gone"])
def test_outside_nothing_is_written(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the clone, in any other folder, and in one that was deleted, there is no progress, and nothing to say."""
    here = ROOT / "chapters" if place == "clone" else tmp_path / place
    here.mkdir(exist_ok=True)
    monkeypatch.chdir(here)
    if place == "gone":
        if sys.platform == "win32":
            pytest.skip("a folder in use cannot be deleted")
        here.rmdir()
    assert record("01.2", passed=True) == record_hint("01.2") == ""
    assert hints_shown("01.2") == 0
    assert load().exercises == {}
    assert not list(tmp_path.rglob(HIDDEN))
    assert not (ROOT / HIDDEN).exists()


results = st.lists(st.tuples(st.sampled_from(["01.1", "01.2", "é\n\u2028"]), st.booleans() | st.none()), max_size=12)


@settings(max_examples=40)
@given(story=results, torn=st.binary(max_size=8))
def test_whatever_is_written_is_read(story: list[tuple[str, bool | None]], torn: bytes) -> None:
    """Each record counts, in any order, whatever name it has, and a torn line in between takes none with it."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / HIDDEN).mkdir()
        for at, (exercise, passed) in enumerate(story):
            if passed is None:
                record_hint(exercise, Path(name))
            else:
                record(exercise, passed=passed, folder=Path(name))
            if at == 2:
                with (Path(name) / HIDDEN / "progress.jsonl").open("ab") as end:
                    end.write(b'{"exercise"' + torn)
        for exercise in {exercise for exercise, _ in story}:
            mine = [passed for name, passed in story if name == exercise]
            one = load(Path(name)).of(exercise)
            assert one.attempts == len(mine) - mine.count(None)
            assert (one.passed, one.hints) == (True in mine, mine.count(None))


# --- at the same time, and interrupted -------------------------------------------------------------------------------

WRITER = """
import sys, os
from pathlib import Path
from course_lib.learner import journal
from course_lib.learner.journal import Journal
if sys.argv[4] == "no lock":
    journal.try_lock = lambda handle: True
for number in range(int(sys.argv[2])):
    Journal(Path(sys.argv[1])).append({"exercise": sys.argv[3], "number": number, "text": "x" * 300})
"""


def writer(file: Path, count: int, name: str, lock: str = "lock") -> subprocess.Popen[bytes]:
    """A process that appends records."""
    return subprocess.Popen([sys.executable, "-c", WRITER, str(file), str(count), name, lock], cwd=ROOT)


@pytest.mark.parametrize("lock", ["lock", "no lock"])
def test_two_writers_lose_no_record(lock: str, file: Path, folder: Path) -> None:
    """Two processes append 200 records each at the same time: all are there, whole and in each one's order.

    So it is on a file system without locks, as long as it appends in one step; Windows does not.
    """
    if lock == "no lock" and sys.platform == "win32":
        pytest.skip("needs the lock")
    writers = [writer(file, 200, name, lock) for name in ("a", "b")]
    assert [one.wait(60) for one in writers] == [0, 0]
    loaded = Journal(file).load()
    assert loaded.note == ""
    for name in ("a", "b"):
        assert [one["number"] for one in loaded.records if one["exercise"] == name] == list(range(200))


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is not known there")
def test_a_killed_writer_leaves_a_readable_file(file: Path, folder: Path) -> None:
    """Killed at any moment, what it wrote so far is there without a gap, and the file can be written on."""
    for delay in (0.0, 0.005, 0.01):
        before = file.stat().st_size if file.exists() else 0
        one = writer(file, 100_000, "a")
        until = time.monotonic() + 30
        while (file.stat().st_size if file.exists() else 0) <= before and time.monotonic() < until:
            time.sleep(0.001)
        time.sleep(delay)
        one.send_signal(signal.SIGKILL)
        one.wait(60)
    Journal(file).append({"exercise": "b", "number": 0})
    records = Journal(file).load().records
    assert records[-1] == {"exercise": "b", "number": 0}
    numbers = [one["number"] for one in records[:-1]]
    assert numbers[0] == 0
    assert all(after in (before + 1, 0) for before, after in itertools.pairwise(numbers))


def test_a_torn_last_line_is_repaired(folder: Path, file: Path) -> None:
    """The next record starts a line of its own; the torn one is set aside, and that is said once."""
    record("01.1", passed=True, folder=folder)
    with file.open("ab") as end:
        end.write(b'{"exercise": "01.2", "pas')
    said = record("01.3", passed=True, folder=folder)
    assert (
        said
        == f"1 line of {file} cannot be read; a copy is in progress.broken-1.txt, beside it. All other lines count."
    )
    assert set(load(folder).exercises) == {"01.1", "01.3"}
    assert (file.parent / "progress.broken-1.txt").read_bytes() == b'{"exercise": "01.2", "pas\n'
    assert load(folder).note == record("01.3", passed=True, folder=folder) == ""


def test_a_whole_line_without_its_end_counts(folder: Path, file: Path) -> None:
    """A record that lacks only the newline is a good one."""
    record("01.1", passed=True, folder=folder)
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    assert record("01.2", passed=True, folder=folder) == ""
    assert set(load(folder).exercises) == {"01.1", "01.2"}


BROKEN = [
    b"\x00\x00\x00",
    b"\xff\xfe",
    b"[1]",
    b"null",
    b"[" * 100_000,
    b"{}",
    b'{"exercise": 1, "passed": true, "hint": null, "time": ""}',
    b'{"exercise": "01.1", "passed": "yes", "hint": null, "time": ""}',
    b'{"exercise": "01.1", "passed": null, "hint": true, "time": ""}',
    b'{"exercise": "01.1", "passed": null, "hint": 0, "time": ""}',
    b'{"exercise": "01.1", "passed": true, "hint": null, "time": 5}',
]


def test_a_broken_file_is_set_aside(folder: Path, file: Path) -> None:
    """Every line that is no record is copied, none is lost, and the good ones count; later ones go to a new copy."""
    record("01.1", passed=True, folder=folder)
    with file.open("ab") as end:
        end.write(b"\n".join(BROKEN) + b"\n\n  \n")
    assert load(folder).note.startswith(f"{len(BROKEN)} lines of")
    assert load(folder).note == ""
    assert (file.parent / "progress.broken-1.txt").read_bytes() == b"\n".join(BROKEN) + b"\n"
    with file.open("ab") as end:
        end.write(b"more\n")
    assert "progress.broken-2.txt" in load(folder).note
    assert load(folder).exercises.keys() == {"01.1"}


# --- disks that refuse -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "sentence"),
    [(errno.ENOSPC, "no space is left on the disk"), (errno.EACCES, "not allowed"), (errno.EROFS, "not allowed")],
)
@pytest.mark.parametrize("call", ["open", "write", "fsync"])
def test_a_disk_that_refuses(
    number: int, sentence: str, call: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full or read-only disk is a sentence; nothing is raised, and the check goes on."""
    record("01.1", passed=True, folder=folder)

    def refuse(*_args: object) -> int:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, refuse)
        for said in (record("01.2", passed=True, folder=folder), record_hint("01.2", folder)):
            assert said.startswith("Your progress could not be written to ")
            assert sentence in said
            assert said.endswith("What the check says is right all the same.")
    assert load(folder).of("01.1").passed


def test_a_line_that_was_cut_by_a_full_disk(folder: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When only half a line fits, that is said, and the next record is whole again."""
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda handle, data: real(handle, data[: len(data) // 2]))
        assert "no space is left" in record("01.1", passed=True, folder=folder)
    assert "cannot be read" in record("01.2", passed=True, folder=folder)
    assert load(folder).exercises.keys() == {"01.2"}


def test_a_file_system_that_cannot_sync(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some network disks do not know it; the record is written all the same."""

    def unknown(_handle: int) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", unknown)
    assert record("01.1", passed=True, folder=folder) == ""


def test_a_file_that_cannot_be_read(folder: Path, file: Path) -> None:
    """A folder in the file's place, say: nothing is known, a sentence says so, and nothing is raised."""
    file.mkdir()
    assert load(folder).exercises == {}
    assert load(folder).note.startswith(f"Your progress in {file} cannot be read: ")
    assert record("01.1", passed=True, folder=folder).startswith("Your progress could not be written")


def test_broken_lines_on_a_full_disk(folder: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When no copy can be made, that is said; the line stays where it is, and the next time it is set aside."""
    file.write_bytes(b"broken\n")

    def refuse(*_args: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", refuse)
        assert "nor set aside: no space is left" in load(folder).note
    assert not list(file.parent.glob("progress.broken*"))
    assert "a copy is in progress.broken-1.txt" in load(folder).note


def test_a_lock_that_is_never_given_up(folder: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process that holds the lock and hangs delays a record, and does not stop it."""
    monkeypatch.setattr("course_lib.learner.journal.try_lock", lambda _handle: False)
    monkeypatch.setattr("course_lib.learner.journal._PATIENCE_SECONDS", 0.02)
    assert record("01.1", passed=True, folder=folder) == ""
    assert load(folder).of("01.1").passed


# --- shown -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def some(folder: Path) -> Path:
    """A learner's folder with some progress in it."""
    for exercise, passed in (("00.1", True), ("01.1", False), ("01.1", True), ("01.2", False), ("07.7", True)):
        record(exercise, passed=passed, folder=folder, clock=lambda: NOON)
    record_hint("01.3", folder, lambda: NOON)
    return folder


def table_text(folder: Path, encoding: str = "utf-8") -> str:
    """The table as a terminal of 100 columns shows it."""
    console = Console(width=100, force_terminal=False, _environ={})
    with console.capture() as capture:
        console.print(progress_table(load(folder), TASKS))
    return capture.get()


def test_the_table_shows_every_exercise(some: Path) -> None:
    """A row an exercise with its state in words, a row a chapter, and exercises that the course no longer has."""
    rows = [re.split(r"\s*[│┃]\s*", line)[1:-1] for line in table_text(some).splitlines() if line[:1] in "│┃"]
    assert rows == [
        ["exercise", "title", "state", "checks", "hints", "last day"],
        ["00", "[#]", "1 of 1", "", "", ""],
        ["00.1", "Tokens left", "passed", "1", "", "2030-01-02"],
        ["01", "[#--]", "1 of 3", "", "", ""],
        ["01.1", "Find [the] pair", "passed", "2", "", "2030-01-02"],
        ["01.2", "Cut", "not yet", "1", "", "2030-01-02"],
        ["01.3", "Mend", "", "", "1", "2030-01-02"],
        ["07.7", "no longer in the course", "passed", "1", "", "2030-01-02"],
    ]
    assert table_text(some).splitlines()[0].strip() == "2 of 4 exercises passed"


def test_the_table_of_the_course() -> None:
    """Without exercises named, it is the catalogue's."""
    from course_lib.checks.catalogue import EXERCISES

    console = Console(width=100, _environ={})
    with console.capture() as capture:
        console.print(progress_table(load()))
    assert all(exercise.id in capture.get() for exercise in EXERCISES)


def test_the_panel_in_plain_text(some: Path) -> None:
    """A line a chapter, with a bar and the same in words; no times, so that it is the same every day."""
    assert str(progress_panel(some, TASKS)).splitlines() == [
        "Your progress: 2 of 4 exercises passed",
        "  chapter 00  [#]    1 of 1 exercise passed",
        "  chapter 01  [#--]  1 of 3 exercises passed",
    ]


class Page(HTMLParser):
    """Collects a page's text, tags and attributes, and sees that every tag is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag opens."""
        self.open.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        """A tag closes."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Text."""
        self.words += data + " "


def test_the_panel_in_a_notebook(some: Path) -> None:
    """A labelled group with a table whose cells say in words what the bars show; colours only by the theme."""
    page = Page(progress_panel(some, TASKS)._repr_html_())
    assert ("role", "group") in page.attributes
    assert ("aria-label", "Your progress") in page.attributes
    assert ("aria-label", "1 of 3 exercises passed") in page.attributes  # the bar's
    assert page.words.count("1 of 3 exercises passed") == 1
    assert page.words.count("■") == 2
    assert page.words.count("□") == 2
    styles = " ".join(value or "" for name, value in page.attributes if name == "style")
    assert not re.search(r"#[0-9a-f]{3}|rgb|background|: ?(black|white)", styles)
    assert all("," in use for use in re.findall(r"var\(([^)]*)\)", styles))  # with a fallback
    assert "2030" not in page.words


def test_before_the_first_record_the_panel_is_the_same_everywhere(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a new folder, in the clone and anywhere else, whatever exercises there are: chapter 00 shows it, committed."""
    panels = [progress_panel(folder), progress_panel(folder, TASKS)]
    for place in (ROOT / "chapters", tmp_path):
        monkeypatch.chdir(place)
        panels.append(progress_panel())
    assert len({(str(panel), panel._repr_html_()) for panel in panels}) == 1
    assert str(panels[0]).startswith("Your progress: Nothing here yet.")
    assert "<table" not in panels[0]._repr_html_()


def test_what_is_wrong_with_the_file_is_shown(some: Path) -> None:
    """The table's command and the panel say it; nothing of it is taken for HTML."""
    with (some / HIDDEN / "progress.jsonl").open("ab") as end:
        end.write(b"<b>\n")
    panel: Any = progress_panel(some, TASKS)
    assert "1 line of" in str(panel)
    assert "1 line of" in Page(panel._repr_html_()).words
