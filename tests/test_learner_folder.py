"""The learner's folder: whatever the order of update, edit, run, deletion, interruption and start, no text is lost."""

import argparse
import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from course_lib.environment import bootstrap
from course_lib.environment.processes import try_lock
from course_lib.learner import replacing
from course_lib.learner.content import cell_spans, fingerprint, notebook_cells
from course_lib.learner.files import HIDDEN, explain, put, write_new
from course_lib.learner.folder import LearnerFolderError, deliver, find_learner_folder, learner_folder
from course_lib.learner.folder_commands import (
    deliver_for_start,
    folder_argument,
    progress_command,
    reset_arguments,
    reset_command,
    take_folder_option,
)
from course_lib.learner.outcomes import Outcome
from course_lib.learner.reset import reset_exercise

FIRST = "chapters/00_start_here.ipynb"
CHAPTER = "chapters/01_loop.ipynb"
EXERCISE = "exercises/01_loop.ipynb"
SOLUTION = "solutions/01_loop.ipynb"
HERE = Path(__file__).parent
DELIVER = (
    sys.executable,
    "-c",
    "import sys; from pathlib import Path; from course_lib.learner.folder import deliver\n"
    "print(deliver(*map(Path, sys.argv[1:])))",
)
COURSE = (FIRST, CHAPTER, EXERCISE, SOLUTION)


# --- a small course, a learner, and a disk that fails ----------------------------------------------------------------


def cell(source: str, *, kind: str = "code", **more: Any) -> dict[str, Any]:
    """A cell of a notebook."""
    outputs = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source, **outputs, **more}


def notebook(*cells: dict[str, Any], minor: int = 4, **metadata: Any) -> dict[str, Any]:
    """A notebook of format 4."""
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": minor}


def write(path: Path, content: dict[str, Any] | str) -> None:
    """Write a notebook as Jupyter does, or a text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    path.write_bytes(text.encode())


def read(path: Path) -> dict[str, Any]:
    """A notebook's content."""
    loaded: dict[str, Any] = json.loads(path.read_bytes())
    return loaded


def publish(source: Path, version: str, *paths: str) -> None:
    """Make a version of the course, or of some of its files."""
    for path in paths or COURSE:
        write(source / path, notebook(cell(f"# {path}", kind="markdown"), cell(f"version = {version!r}")))


def edit(path: Path, text: str) -> None:
    """What a learner does: write a cell."""
    content = read(path)
    content["cells"].append(cell(text))
    write(path, content)


def run(path: Path) -> None:
    """What JupyterLab does when all is run with Shift+Enter and saved."""
    content = read(path)
    for number, one in enumerate(content["cells"]):
        if one["cell_type"] == "code":
            one |= {"execution_count": number, "outputs": [{"output_type": "stream", "name": "stdout", "text": "ran"}]}
            one["metadata"]["execution"] = {"iopub.status.idle": "12:00"}
    content["cells"].append(cell(""))
    content["metadata"] = {"kernelspec": {"name": "mine"}, "widgets": {"state": {}}}
    write(path, content)


def link(path: Path, target: Path) -> None:
    """Make a link, or skip the test where that needs special rights (Windows)."""
    try:
        path.symlink_to(target, target_is_directory=target.is_dir())
    except OSError as error:
        pytest.skip(f"no links here: {error}")


def everything(folder: Path) -> bytes:
    """All bytes of all files in a folder."""
    return b"\n".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def visible(folder: Path) -> list[str]:
    """The files that a learner sees."""
    paths = (path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file())
    return [path.as_posix() for path in paths if path.parts[0] != HIDDEN]


@pytest.fixture(autouse=True, scope="module")
def quick_disk() -> Iterator[None]:
    """Nothing waits for a real disk: what is tested is the order of changes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _handle: None)
        yield


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The course's folder, at its first version."""
    publish(tmp_path / "clone", "1")
    return tmp_path / "clone"


@pytest.fixture
def mine(tmp_path: Path, source: Path) -> Path:
    """A learner's folder, just delivered."""
    deliver(source, tmp_path / "mine")
    return tmp_path / "mine"


class PowerCutError(BaseException):
    """The process is gone: nothing that handles an `Exception` runs."""


CHANGES = ("open", "write", "fsync", "link", "replace", "unlink", "mkdir", "chmod")


@contextmanager
def disk(fault: Callable[[int, str, tuple[Any, ...]], BaseException | None]) -> Iterator[None]:
    """Let each change of the disk first ask `fault` (which one, its name, its arguments) for an error to raise."""
    number = 0

    def faulty(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal number
            number += 1
            error = fault(number, name, args)
            if error is None:
                return real(*args, **kwargs)
            if name == "write":
                real(args[0], args[1][: len(args[1]) // 2])
            raise error

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in CHANGES:
            patch.setattr(os, name, faulty(name, getattr(os, name)))
        yield


def power_cut(at: int) -> Callable[[int, str, tuple[Any, ...]], BaseException | None]:
    """From the n-th change on, nothing is done any more."""
    return lambda number, _name, _args: PowerCutError() if number >= at else None


def disk_full(after: int = 0) -> Callable[[int, str, tuple[Any, ...]], BaseException | None]:
    """After some changes, nothing can be written."""

    def fault(number: int, name: str, _args: tuple[Any, ...]) -> BaseException | None:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) if number > after and name == "write" else None

    return fault


def read_only(folder: Path) -> Callable[[int, str, tuple[Any, ...]], BaseException | None]:
    """Nothing in a folder can be made, moved or removed."""

    def fault(_number: int, name: str, args: tuple[Any, ...]) -> BaseException | None:
        is_read = name == "open" and not args[1] & (os.O_CREAT | os.O_RDWR)
        names = [Path(arg) for arg in args if isinstance(arg, str | os.PathLike)]
        if is_read or not any(folder in one.parents for one in names):
            return None
        return PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    return fault


# --- what a person wrote ---------------------------------------------------------------------------------------------


def print_of(content: dict[str, Any] | str | bytes) -> str:
    """The fingerprint of a notebook."""
    data = content if isinstance(content, bytes) else content.encode() if isinstance(content, str) else b""
    return fingerprint(data or json.dumps(content).encode(), "a.ipynb")


def test_running_and_saving_is_no_edit(tmp_path: Path) -> None:
    """Outputs, counts, times, kernel, widgets, ids and the empty cell that Shift+Enter adds do not count."""
    publish(tmp_path, "1", CHAPTER)
    before = fingerprint((tmp_path / CHAPTER).read_bytes(), CHAPTER)
    run(tmp_path / CHAPTER)
    content = read(tmp_path / CHAPTER)
    content["nbformat_minor"] = 5
    content["cells"][0]["id"] = "abc"
    content["cells"][0]["source"] = [content["cells"][0]["source"]]
    write(tmp_path / CHAPTER, content)
    assert fingerprint((tmp_path / CHAPTER).read_bytes(), CHAPTER) == before


@pytest.mark.parametrize(
    "cells",
    [
        [cell("a"), cell("b", kind="markdown"), cell("c")],
        [cell("b", kind="markdown"), cell("a")],
        [cell("a"), cell("b")],
        [cell("a")],
        [cell("a "), cell("b", kind="markdown")],
        [cell("a"), cell("b", kind="markdown", attachments={"p.png": {"image/png": "x"}})],
        [cell("a"), cell("b", kind="markdown"), cell("", kind="markdown", attachments={"p.png": {}})],
        [cell(""), cell("b", kind="markdown")],
    ],
)
def test_what_is_written_counts(cells: list[dict[str, Any]]) -> None:
    """A cell more, another order, type, text or picture, a cell less, a cell emptied: each is an edit."""
    assert print_of(notebook(*cells)) != print_of(notebook(cell("a"), cell("b", kind="markdown")))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b"\xff\xfe\x00",
        b"[]",
        b'{"worksheets": []}',
        b'{"cells": [1]}',
        b'{"cells": [{"cell_type": "code"}]}',
        b'{"cells": [{"cell_type": "code", "source": [1]}]}',
        b'{"cells": [{"cell_type": null, "source": ""}]}',
    ],
)
def test_what_is_no_notebook_counts_to_the_byte(data: bytes) -> None:
    """A file that cannot be read as a notebook of format 4 is compared byte by byte, like a text."""
    assert notebook_cells(data) is None
    assert fingerprint(data, "a.ipynb") == fingerprint(data, "a.txt") != fingerprint(data + b" ", "a.ipynb")


def test_a_character_that_utf_8_lacks_can_be_written() -> None:
    """JSON may hold half a character; it is text like any other."""
    assert print_of('{"cells": [{"cell_type": "code", "source": "\\ud800"}]}').startswith("cells:")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(
    cells=st.lists(st.dictionaries(st.text(max_size=4), json_values, max_size=3), max_size=4),
    before=st.dictionaries(st.text(max_size=4), json_values, max_size=2),
    indent=st.sampled_from([None, 0, 1, 4]),
    bom=st.sampled_from(["", "\ufeff"]),
)
def test_cells_are_found_in_any_layout(cells: Any, before: Any, indent: int | None, bom: str) -> None:
    """The span of each cell is exactly that cell's JSON, whatever stands around it and however it is laid out."""
    before.pop("cells", None)
    text = bom + json.dumps({**before, "cells": cells, "z": [{}]}, indent=indent, ensure_ascii=False)
    spans, end = cell_spans(text)
    assert [json.loads(text[start:stop]) for start, stop in spans] == cells
    assert text[end] == "]"


# --- where the folder is ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "folder"),
    [
        (None, "home/agent-context-course"),
        ("  ", "home/agent-context-course"),
        ("~/lessons/one", "home/lessons/one"),
        ("~", "home"),
        ("lessons", "here/lessons"),
    ],
)
def test_the_setting_names_the_folder(
    setting: str | None, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A default in the home, or what COURSE_FOLDER says; a relative one starts from the present folder."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    environ = {} if setting is None else {"COURSE_FOLDER": setting}
    assert learner_folder(environ, tmp_path / "home") == tmp_path / folder


def test_a_clone_with_the_default_name_does_not_block_it(tmp_path: Path) -> None:
    """Git names a clone after its repository: if that is the default folder, the learner's gets another name."""
    (tmp_path / "agent-context-course").mkdir()
    assert learner_folder({}, tmp_path, source=tmp_path / "elsewhere").name == "agent-context-course"
    assert learner_folder({}, tmp_path, source=tmp_path / "agent-context-course").name == "my-agent-context-course"


def test_the_folder_is_found_from_inside(mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the folder and any folder below; from outside there is none, nor from a clone that lies in it."""
    assert find_learner_folder(mine) == find_learner_folder(mine / "chapters") == mine
    assert find_learner_folder(tmp_path) is None
    (mine / "clone" / "chapters").mkdir(parents=True)
    monkeypatch.setattr("course_lib.learner.folder.source_root", lambda: mine / "clone")
    assert find_learner_folder(mine / "clone" / "chapters") is None


# --- the rules of delivery -------------------------------------------------------------------------------------------


def test_the_first_delivery_brings_everything(source: Path, tmp_path: Path) -> None:
    """All files of the three folders, byte for byte; not what Jupyter, Python and systems leave there."""
    write(source / "chapters/pictures/a.svg", "<svg/>")
    for junk in ("chapters/.ipynb_checkpoints/01.ipynb", "chapters/__pycache__/a.pyc", "exercises/.DS_Store", "a.py"):
        write(source / junk, "junk")
    write(source / "chapters/01_loop.new.ipynb", "no name for a file of the course")
    delivery = deliver(source, tmp_path / "deep" / "mine")
    expected = sorted([*COURSE, "chapters/pictures/a.svg"])
    assert sorted(delivery.new) == visible(tmp_path / "deep" / "mine") == expected
    for path in expected:
        assert (tmp_path / "deep" / "mine" / path).read_bytes() == (source / path).read_bytes()


def test_a_second_start_does_and_says_nothing(source: Path, mine: Path) -> None:
    """Without news no file is written, and the summary is empty, also when notebooks were run and written in."""
    run(mine / CHAPTER)
    edit(mine / EXERCISE, "my answer")
    before = {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in mine.rglob("*") if path.is_file()}
    delivery = deliver(source, mine)
    assert str(delivery) == ""
    assert delivery.unchanged == COURSE
    after = {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in mine.rglob("*") if path.is_file()}
    assert after == before


def test_an_untouched_file_is_replaced(source: Path, mine: Path) -> None:
    """The new version comes in its place, also when the old one was run; the old file, with its outputs, is kept."""
    run(mine / CHAPTER)
    ran = (mine / CHAPTER).read_bytes()
    publish(source, "2")
    delivery = deliver(source, mine)
    assert delivery.updated == COURSE
    assert (mine / CHAPTER).read_bytes() == (source / CHAPTER).read_bytes()
    assert (mine / HIDDEN / "replaced" / "chapters" / "01_loop.1.ipynb").read_bytes() == ran
    assert visible(mine) == sorted(COURSE)


def test_only_the_last_few_old_files_stay(source: Path, mine: Path) -> None:
    """Of each file the newest three old versions are kept."""
    for version in range(2, 8):
        publish(source, str(version), CHAPTER)
        deliver(source, mine)
    kept = sorted((mine / HIDDEN / "replaced" / "chapters").iterdir())
    assert [b"'4'" in kept[0].read_bytes(), len(kept)] == [True, replacing.KEPT_VERSIONS]


def test_a_touched_file_stays_and_the_news_lie_beside(source: Path, mine: Path) -> None:
    """The learner's file is not changed by a byte; the new version is beside it, said once, and can be deleted."""
    edit(mine / EXERCISE, "my answer")
    before = (mine / EXERCISE).read_bytes()
    publish(source, "2", EXERCISE)
    delivery = deliver(source, mine)
    assert delivery.kept == (EXERCISE,)
    assert str(delivery) == f"kept: {EXERCISE} (the new version lies beside it: 01_loop.new.ipynb)"
    beside = mine / "exercises/01_loop.new.ipynb"
    assert beside.read_bytes() == (source / EXERCISE).read_bytes()
    assert str(deliver(source, mine)) == ""
    beside.unlink()
    assert str(deliver(source, mine)) == ""
    assert not beside.exists()
    assert (mine / EXERCISE).read_bytes() == before


def test_copies_beside_do_not_pile_up(source: Path, mine: Path) -> None:
    """A copy that nobody wrote in makes room for the next version; one that somebody wrote in stays."""
    edit(mine / EXERCISE, "my answer")
    for version in ("2", "3"):
        publish(source, version, EXERCISE)
        deliver(source, mine)
        run(mine / "exercises/01_loop.new.ipynb")
    assert len(visible(mine)) == len(COURSE) + 1
    edit(mine / "exercises/01_loop.new.ipynb", "my other answer")
    publish(source, "4", EXERCISE)
    assert "01_loop.new-2.ipynb" in str(deliver(source, mine))
    assert b"'4'" in (mine / "exercises/01_loop.new-2.ipynb").read_bytes()
    assert b"my other answer" in (mine / "exercises/01_loop.new.ipynb").read_bytes()


def test_a_copy_beside_goes_when_it_is_of_no_more_use(source: Path, mine: Path) -> None:
    """When the learner takes the new version over, or goes back to a file as delivered, an unused copy goes."""
    edit(mine / EXERCISE, "my answer")
    publish(source, "2", EXERCISE)
    deliver(source, mine)
    shutil.copy(mine / "exercises/01_loop.new.ipynb", mine / EXERCISE)
    run(mine / EXERCISE)
    delivery = deliver(source, mine)
    assert delivery.removed == ("exercises/01_loop.new.ipynb",)
    assert b"ran" in (mine / EXERCISE).read_bytes()
    assert visible(mine) == sorted(COURSE)
    publish(source, "3", EXERCISE)
    assert deliver(source, mine).updated == (EXERCISE,)


def test_a_version_that_was_taken_back_is_taken_back(source: Path, mine: Path) -> None:
    """When the course returns to the version that the learner's file was made from, the unused copy goes."""
    edit(mine / EXERCISE, "my answer")
    publish(source, "2", EXERCISE)
    deliver(source, mine)
    publish(source, "1", EXERCISE)
    assert deliver(source, mine).removed == ("exercises/01_loop.new.ipynb",)
    publish(source, "2", EXERCISE)
    assert deliver(source, mine).kept == (EXERCISE,)


def test_deleting_a_file_is_the_way_to_get_it_afresh(source: Path, mine: Path) -> None:
    """A file of the course that is not there is delivered; a renamed one stays under its new name as well."""
    edit(mine / EXERCISE, "my answer")
    (mine / EXERCISE).rename(mine / "exercises/mine.ipynb")
    (mine / CHAPTER).unlink()
    assert deliver(source, mine).new == (CHAPTER, EXERCISE)
    assert b"my answer" in (mine / "exercises/mine.ipynb").read_bytes()


def test_new_outputs_alone_are_a_version_too(source: Path, mine: Path) -> None:
    """Outputs and tags of an untouched file are brought up to date; beside a touched one nothing is laid for them."""
    edit(mine / EXERCISE, "my answer")
    for path in (FIRST, CHAPTER, EXERCISE):
        run(source / path)
    shutil.copy(source / FIRST, mine / FIRST)
    assert deliver(source, mine).updated == (CHAPTER,)
    assert b"ran" in (mine / CHAPTER).read_bytes()
    assert str(deliver(source, mine)) == ""
    run(mine / CHAPTER)
    assert str(deliver(source, mine)) == ""


def test_a_file_that_the_course_dropped(source: Path, mine: Path) -> None:
    """Untouched it is moved away, touched it stays, and both are said once; when it comes back, it is delivered."""
    edit(mine / EXERCISE, "my answer")
    (source / CHAPTER).unlink()
    (source / EXERCISE).unlink()
    delivery = deliver(source, mine)
    assert (delivery.removed, delivery.kept) == ((CHAPTER,), (EXERCISE,))
    assert (mine / HIDDEN / "replaced" / "chapters" / "01_loop.1.ipynb").exists()
    assert visible(mine) == [FIRST, EXERCISE, SOLUTION]
    assert str(deliver(source, mine)) == ""
    publish(source, "2")
    assert deliver(source, mine).new == (CHAPTER,)
    assert b"my answer" in (mine / EXERCISE).read_bytes()


def test_a_file_that_comes_back_with_its_news(source: Path, mine: Path) -> None:
    """A copy that was taken away with a dropped file is laid beside again when the file comes back."""
    edit(mine / EXERCISE, "my answer")
    publish(source, "2", EXERCISE)
    deliver(source, mine)
    (source / EXERCISE).unlink()
    assert deliver(source, mine).removed == ("exercises/01_loop.new.ipynb",)
    publish(source, "2", EXERCISE)
    assert deliver(source, mine).kept == (EXERCISE,)
    assert b"'2'" in (mine / "exercises/01_loop.new.ipynb").read_bytes()


def test_a_missing_folder_is_no_reason_to_remove(source: Path, mine: Path) -> None:
    """A clone that is not whole takes nothing away from the learner; it is said how to mend it."""
    shutil.rmtree(source / "solutions")
    delivery = deliver(source, mine)
    assert delivery.problems == (
        f"solutions: it is not in {source}, so yours stays as it is. If it was deleted: git checkout -- solutions",
    )
    assert (mine / SOLUTION).exists()


def test_what_is_there_before_the_first_delivery_is_the_learners(source: Path, tmp_path: Path) -> None:
    """Files that were not delivered stay; one with exactly the course's text is from now on kept up to date."""
    publish(tmp_path / "mine", "of somebody", EXERCISE)
    publish(tmp_path / "mine", "1", CHAPTER)
    run(tmp_path / "mine" / CHAPTER)
    delivery = deliver(source, tmp_path / "mine")
    assert (delivery.kept, delivery.unchanged) == ((EXERCISE,), (CHAPTER,))
    publish(source, "2")
    assert CHAPTER in deliver(source, tmp_path / "mine").updated
    assert b"of somebody" in (tmp_path / "mine" / EXERCISE).read_bytes()


@pytest.mark.parametrize("text", ["", "{", "my notes", '{"cells": 7}'])
def test_a_notebook_that_is_none_is_touched(text: str, source: Path, mine: Path) -> None:
    """What cannot be read as a notebook is kept as it is."""
    write(mine / CHAPTER, text)
    publish(source, "2")
    assert deliver(source, mine).kept == (CHAPTER,)
    assert (mine / CHAPTER).read_text() == text


def test_a_text_file_counts_to_the_byte(source: Path, mine: Path) -> None:
    """Files that are no notebooks are replaced when no byte was changed, and kept when one was."""
    for name in ("a.md", "b.md"):
        write(source / "chapters" / name, "one")
    deliver(source, mine)
    write(mine / "chapters/b.md", "one ")
    for name in ("a.md", "b.md"):
        write(source / "chapters" / name, "two")
    delivery = deliver(source, mine)
    assert (delivery.updated, delivery.kept) == (("chapters/a.md",), ("chapters/b.md",))
    assert (mine / "chapters/b.new.md").read_text() == "two"


# --- folders that cannot be used -------------------------------------------------------------------------------------


def test_the_course_must_be_there(tmp_path: Path) -> None:
    """Without chapter 00 nothing is made, and it is said how to mend the clone."""
    with pytest.raises(LearnerFolderError, match=r"(?s)No chapters/00_start_here.ipynb in .*git checkout"):
        deliver(tmp_path / "clone", tmp_path / "mine")
    assert not (tmp_path / "mine").exists()


def test_one_file_of_the_course_that_cannot_be_read(source: Path, mine: Path) -> None:
    """It is a problem that names it; the learner's stays where it is, and the others are delivered."""
    publish(source, "2")
    (source / CHAPTER).unlink()
    link(source / CHAPTER, source / "nowhere")
    delivery = deliver(source, mine)
    assert delivery.updated == (FIRST, EXERCISE, SOLUTION)
    assert delivery.problems[0].startswith(f"{CHAPTER}: the course's own file cannot be read: ")
    assert b"'1'" in (mine / CHAPTER).read_bytes()


@pytest.mark.parametrize("inside", [".", "chapters", "new/folder"])
def test_a_folder_in_the_clone_is_refused(inside: str, source: Path, tmp_path: Path) -> None:
    """Git would get at the learner's work there, whatever the way to it is called."""
    before = everything(source)
    with pytest.raises(LearnerFolderError, match="where git would get at your work"):
        deliver(source, source / inside)
    link(tmp_path / "link", source)
    with pytest.raises(LearnerFolderError, match="where git would get at your work"):
        deliver(source, tmp_path / "link" / inside)
    assert everything(source) == before
    assert not (source / HIDDEN).exists()


def test_a_file_is_no_folder(source: Path, tmp_path: Path) -> None:
    """A file where the folder, or `.course/`, should be is named and left alone."""
    write(tmp_path / "file", "text")
    with pytest.raises(LearnerFolderError, match="is a file, not a folder"):
        deliver(source, tmp_path / "file")
    write(tmp_path / "mine" / HIDDEN, "text")
    with pytest.raises(LearnerFolderError, match="is a file, not a folder"):
        deliver(source, tmp_path / "mine")


def test_links(source: Path, tmp_path: Path) -> None:
    """A link to the folder is followed; links in a circle and a linked `.course/` are refused."""
    (tmp_path / "real").mkdir()
    link(tmp_path / "link", tmp_path / "real")
    deliver(source, tmp_path / "link")
    assert visible(tmp_path / "real") == sorted(COURSE)
    link(tmp_path / "a", tmp_path / "b")
    link(tmp_path / "b", tmp_path / "a")
    with pytest.raises(LearnerFolderError):
        deliver(source, tmp_path / "a")
    (tmp_path / "other").mkdir()
    link(tmp_path / "other" / HIDDEN, tmp_path / "real" / HIDDEN)
    with pytest.raises(LearnerFolderError, match="is a link"):
        deliver(source, tmp_path / "other")


def test_nothing_is_written_through_a_link(source: Path, mine: Path) -> None:
    """A folder that became a link, to the clone even, is a problem; the others are delivered."""
    shutil.rmtree(mine / "chapters")
    link(mine / "chapters", source / "chapters")
    publish(source, "2")
    before = everything(source)
    delivery = deliver(source, mine)
    assert delivery.updated == (EXERCISE, SOLUTION)
    assert len(delivery.problems) == 2
    assert f"{mine / 'chapters'} is a link" in delivery.problems[0]
    assert everything(source) == before
    (mine / "chapters").unlink()
    link(mine / "chapters", source / "nowhere")
    assert f"{mine / 'chapters'} is a link" in deliver(source, mine).problems[0]


def test_a_file_for_a_folder(source: Path, mine: Path) -> None:
    """A file where a folder of the course should be is named and left alone; the others are delivered."""
    shutil.rmtree(mine / "exercises")
    write(mine / "exercises", "my list of exercises")
    delivery = deliver(source, mine)
    assert delivery.problems == (
        f"{EXERCISE}: {mine / 'exercises'} is a file. Rename it: the course needs a folder of that name.",
    )
    assert (mine / "exercises").read_text() == "my list of exercises"


def test_a_link_or_folder_in_a_files_place_is_the_learners(source: Path, mine: Path, tmp_path: Path) -> None:
    """It stays as it is, and the new version is laid beside."""
    (mine / CHAPTER).rename(tmp_path / "elsewhere.ipynb")
    link(mine / CHAPTER, tmp_path / "elsewhere.ipynb")
    (mine / EXERCISE).unlink()
    (mine / EXERCISE).mkdir()
    publish(source, "2")
    assert deliver(source, mine).kept == (CHAPTER, EXERCISE)
    assert (mine / CHAPTER).is_symlink()
    assert b"'1'" in (tmp_path / "elsewhere.ipynb").read_bytes()
    assert b"'2'" in (mine / "exercises/01_loop.new.ipynb").read_bytes()


def test_a_path_that_is_too_long(source: Path, tmp_path: Path) -> None:
    """It is said, and what to do."""
    with pytest.raises(LearnerFolderError, match="longer than this system allows"):
        deliver(source, tmp_path / ("long" * 100))


@pytest.mark.skipif(sys.platform == "win32", reason="such a name cannot be made at all there")
def test_one_name_too_long_stops_no_other(source: Path, mine: Path) -> None:
    """A file that cannot be laid beside another, because the name gets too long, is a problem of that file."""
    long = f"chapters/{'x' * 249}.ipynb"
    publish(source, "1", long)
    deliver(source, mine)
    edit(mine / long, "my text")
    publish(source, "2", long, EXERCISE)
    delivery = deliver(source, mine)
    assert delivery.updated == (EXERCISE,)
    assert "longer than this system allows" in delivery.problems[0]


def test_a_read_only_file_is_no_obstacle(source: Path, mine: Path) -> None:
    """Untouched and protected against writing, it is replaced like any other, by one that can be written."""
    (mine / CHAPTER).chmod(0o444)
    (source / CHAPTER).chmod(0o444)
    publish_again = notebook(cell("version = '2'"))
    (source / CHAPTER).chmod(0o644)
    write(source / CHAPTER, publish_again)
    (source / CHAPTER).chmod(0o444)
    assert deliver(source, mine).updated == (CHAPTER,)
    edit(mine / CHAPTER, "my text")


def test_a_read_only_folder_stops_only_its_own_files(source: Path, mine: Path) -> None:
    """Its files are a problem that says what to look at, said in one line; the others are delivered."""
    publish(source, "2")
    with disk(read_only(mine / "chapters")):
        delivery = deliver(source, mine)
    assert delivery.updated == (EXERCISE, SOLUTION)
    assert str(delivery).splitlines()[-1].startswith(f"problem: {FIRST}, {CHAPTER}: not allowed")
    assert "Look at the rights" in delivery.problems[0]
    assert b"'1'" in (mine / CHAPTER).read_bytes()
    assert not list((mine / HIDDEN / "replaced/chapters").iterdir())
    assert deliver(source, mine).updated == (FIRST, CHAPTER)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="may write everywhere")
def test_a_folder_that_is_really_read_only(source: Path, mine: Path) -> None:
    """The same with the system's own rights."""
    publish(source, "2")
    (mine / "chapters").chmod(0o555)
    try:
        assert deliver(source, mine).updated == (EXERCISE, SOLUTION)
    finally:
        (mine / "chapters").chmod(0o755)


def test_a_folder_that_cannot_be_made_or_written(source: Path, mine: Path, tmp_path: Path) -> None:
    """Without a folder there is nothing to start with; with one, the learner can at least look and is told."""
    with (
        disk(read_only(tmp_path)),
        pytest.raises(LearnerFolderError, match=r"cannot be brought up to date: not allowed"),
    ):
        deliver(source, tmp_path / "other")
    publish(source, "2")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "open", lambda *_args, **_more: (_ for _ in ()).throw(PermissionError(errno.EACCES, "no")))
        delivery = deliver(source, mine)
    assert delivery.new == delivery.updated == ()
    assert "cannot be brought up to date: not allowed (no)" in str(delivery)


def test_two_names_that_differ_in_case(source: Path, mine: Path) -> None:
    """Where both exist in the course, the second is left out on every system, since on many it would be the first."""
    publish(source, "1", "chapters/01_LOOP.ipynb")
    if len(list((source / "chapters").iterdir())) < 3:
        pytest.skip("this file system takes both for one")
    assert "on many systems it is the same file" in str(deliver(source, mine))


def test_a_name_that_changes_its_case(source: Path, mine: Path) -> None:
    """The file goes on under its new name, with one history."""
    (source / CHAPTER).rename(source / "chapters/01_Loop.ipynb")
    deliver(source, mine)
    assert [name for name in visible(mine) if name.casefold() == CHAPTER] in ([CHAPTER], ["chapters/01_Loop.ipynb"])
    publish(source, "2", "chapters/01_Loop.ipynb")
    assert [name.casefold() for name in deliver(source, mine).updated] == [CHAPTER]
    assert str(deliver(source, mine)) == ""


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that takes a few bytes at a time gets all of them; of a file that did not fit nothing stays."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, data[:3]))
    write_new(tmp_path / "a", b"0123456789")
    assert (tmp_path / "a").read_bytes() == b"0123456789"
    with disk(disk_full()), pytest.raises(OSError, match="No space"):
        write_new(tmp_path / "b", b"0123456789")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("has_links", [True, False])
def test_a_place_is_never_taken_twice(has_links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is only moved to where nothing is, not even a link that leads nowhere; else both stay."""
    if not has_links:
        monkeypatch.setattr(Path, "hardlink_to", lambda *_args: (_ for _ in ()).throw(PermissionError("not here")))
    for name in ("new", "old"):
        write(tmp_path / name, name)
    with pytest.raises(FileExistsError):
        put(tmp_path / "new", tmp_path / "old")
    link(tmp_path / "link", tmp_path / "nowhere")
    with pytest.raises(FileExistsError):
        put(tmp_path / "new", tmp_path / "link")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "new", "old"]
    assert (tmp_path / "old").read_text() == "old"
    put(tmp_path / "new", tmp_path / "free")
    assert (tmp_path / "free").read_text() == "new"


def test_what_an_error_means() -> None:
    """A disk's own words are explained, and others passed on."""
    assert explain(OSError(errno.EROFS, "Read-only file system")).startswith("not allowed (Read-only file system)")
    assert explain(OSError(errno.EIO, "Input/output error")) == "Input/output error."
    assert explain(OSError("odd")) == "odd."


# --- interruptions, and others at work at the same time --------------------------------------------------------------


def changed_course(source: Path, mine: Path) -> None:
    """A learner who ran, wrote and deleted, and a course with news, for the tests that interrupt its delivery."""
    run(mine / FIRST)
    edit(mine / EXERCISE, "my answer")
    (mine / SOLUTION).unlink()
    publish(source, "2")
    publish(source, "1", "chapters/02_more.ipynb")
    (source / CHAPTER).unlink()


def is_up_to_date(source: Path, mine: Path) -> bool:
    """Whether everything is there as it should be after `changed_course` and a start."""
    same = all((mine / path).read_bytes() == (source / path).read_bytes() for path in (FIRST, SOLUTION))
    beside = (mine / "exercises/01_loop.new.ipynb").read_bytes() == (source / EXERCISE).read_bytes()
    return same and beside and (mine / "chapters/02_more.ipynb").exists() and not (mine / CHAPTER).exists()


def test_an_interruption_anywhere_is_harmless(source: Path, mine: Path, tmp_path: Path) -> None:
    """Wherever the power goes, nothing is lost, and the next start brings all to its end, with no file left over.

    Also when there is a newer version by then: what the interrupted start brought is not taken for the learner's.
    """
    changed_course(source, mine)
    count = 0
    while True:
        count += 1
        publish(source, "2")
        (source / CHAPTER).unlink()
        folder = tmp_path / f"mine-{count}"
        shutil.copytree(mine, folder)
        try:
            with disk(power_cut(count)):
                deliver(source, folder)
        except PowerCutError:
            assert b"my answer" in (folder / EXERCISE).read_bytes()
            assert b"ran" in everything(folder)
            if count % 2:
                publish(source, "3", FIRST, EXERCISE, SOLUTION)
            deliver(source, folder)
            assert is_up_to_date(source, folder), count
            assert count % 5 or str(deliver(source, folder)) == "", count
            assert len(visible(folder)) == 5
            assert not list((folder / HIDDEN / "incoming").iterdir())
            shutil.rmtree(folder)
        else:
            break
    assert count > 40


def test_a_full_disk_anywhere_is_harmless(source: Path, mine: Path, tmp_path: Path) -> None:
    """Whenever the disk gets full, it is said once, nothing is lost, and the next start with room does the rest."""
    changed_course(source, mine)
    for count in range(0, 70, 3):
        folder = tmp_path / f"mine-{count}"
        shutil.copytree(mine, folder)
        with disk(disk_full(count)):
            delivery = deliver(source, folder)
        assert str(delivery).count("no space is left on the disk") == bool(delivery.problems)
        assert b"my answer" in (folder / EXERCISE).read_bytes()
        assert b"ran" in everything(folder)
        deliver(source, folder)
        assert is_up_to_date(source, folder), count
        assert str(deliver(source, folder)) == ""


def test_two_starts_at_the_same_time(source: Path, tmp_path: Path) -> None:
    """Both succeed, and the folder is as if there had been one."""
    command = [*DELIVER, str(source), str(tmp_path / "mine")]
    starts = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=HERE) for _ in range(3)]
    said = sorted(start.communicate(timeout=60)[0].strip() for start in starts)
    assert [start.returncode for start in starts] == [0, 0, 0]
    assert said == ["", "", f"new: {', '.join(COURSE)}"]
    assert visible(tmp_path / "mine") == sorted(COURSE)


def test_a_start_waits_for_another(source: Path, mine: Path) -> None:
    """While one delivers, the other says that it waits, touches nothing, and goes on when the first is done."""
    publish(source, "2")
    with (mine / HIDDEN / "lock").open("a") as lock:
        assert try_lock(lock)
        start = subprocess.Popen(
            [*DELIVER, str(source), str(mine)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=HERE
        )
        assert start.stderr is not None
        assert start.stderr.readline() == "Another start is bringing your folder up to date; waiting for it.\n"
        assert b"'1'" in (mine / CHAPTER).read_bytes()
    assert start.communicate(timeout=60) == (None, "")
    assert b"'2'" in (mine / CHAPTER).read_bytes()


def test_a_file_system_without_links(source: Path, tmp_path: Path) -> None:
    """Where a file cannot have two names, as on a memory stick, the same comes out."""

    def fault(_number: int, name: str, _args: tuple[Any, ...]) -> BaseException | None:
        return OSError(errno.EPERM, "not here") if name == "link" else None

    with disk(fault):
        assert deliver(source, tmp_path / "mine").new == COURSE
        publish(source, "2")
        assert deliver(source, tmp_path / "mine").updated == COURSE
    assert b"'2'" in (tmp_path / "mine" / CHAPTER).read_bytes()


@pytest.mark.parametrize("moment", ["before the move", "after the move"])
def test_a_notebook_that_is_saved_at_this_very_moment(
    moment: str, source: Path, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What JupyterLab writes between our look and our change stays, in its place."""
    publish(source, "2", CHAPTER)
    real = replacing._move_onto

    def move(path: Path, place: Path) -> None:
        monkeypatch.setattr(replacing, "_move_onto", real)
        text = json.dumps(notebook(cell("saved just now")))
        if moment == "before the move":
            path.write_text(text)
        real(path, place)
        if moment == "after the move":
            path.write_text(text)

    monkeypatch.setattr(replacing, "_move_onto", move)
    delivery = deliver(source, mine)
    assert len(delivery.problems) == 1
    assert b"saved just now" in (mine / CHAPTER).read_bytes()
    assert [("'1'" in text) for text in kept_texts(mine)] == ([True] if moment == "after the move" else [])
    assert deliver(source, mine).kept == (CHAPTER,)


def test_a_file_that_cannot_be_replaced_comes_back(source: Path, mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the new one cannot be put in place, the old one is given its place back."""
    publish(source, "2", CHAPTER)

    def refuse(path: Path, place: Path) -> None:
        monkeypatch.setattr(replacing, "put", put)
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(replacing, "put", refuse)
    assert deliver(source, mine).problems == (f"{CHAPTER}: Input/output error.",)
    assert b"'1'" in (mine / CHAPTER).read_bytes()


def test_two_processes_never_take_one_name_for_two_old_files(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A number that another process took since the last look is passed over."""
    monkeypatch.setattr(replacing, "_numbered", lambda *_args: [])
    for text in ("one", "two"):
        replacing.set_aside(mine, "a", ".py", text.encode())
    assert kept_texts(mine) == ["one", "two"]


# --- the record ------------------------------------------------------------------------------------------------------


def test_broken_lines_of_the_record_are_passed_over_and_said_once(source: Path, mine: Path) -> None:
    """The other lines count; a copy of the broken ones is kept; a torn last line does not spoil the next one."""
    record = mine / HIDDEN / "delivered.jsonl"
    outside = {"step": "delivered", "path": "chapters/../../x", "course_path": FIRST, "content": "", "sha256": ""}
    with record.open("ab") as file:
        file.write(b"\x00\xff\n" + json.dumps(outside).encode() + b'\n[1]\n{"step": "deliv')
    publish(source, "2")
    delivery = deliver(source, mine)
    assert delivery.updated == COURSE
    assert delivery.problems == (
        f"4 lines of {record} cannot be read; a copy is in delivered.broken-1.txt, beside it. All other lines count.",
    )
    assert b'{"step": "deliv' in (mine / HIDDEN / "delivered.broken-1.txt").read_bytes()
    assert str(deliver(source, mine)) == ""


def test_without_a_record_everything_is_the_learners(source: Path, mine: Path) -> None:
    """A lost record costs no text: old versions are kept as if they were touched."""
    (mine / HIDDEN / "delivered.jsonl").unlink()
    publish(source, "2")
    assert deliver(source, mine).kept == COURSE
    assert b"'1'" in (mine / CHAPTER).read_bytes()


def test_a_record_that_cannot_be_read(source: Path, mine: Path) -> None:
    """Nothing is delivered then, and the learner still gets to the notebooks."""
    (mine / HIDDEN / "delivered.jsonl").unlink()
    (mine / HIDDEN / "delivered.jsonl").mkdir()
    assert "cannot be brought up to date" in str(deliver(source, mine))


# --- any story at all ------------------------------------------------------------------------------------------------


class Story(RuleBasedStateMachine):
    """A learner, a course that changes, and starts that go well or not, in any order.

    Each text that the learner writes has a word of its own. `written` says in which visible file each word is, so that
    what the learner takes out again is not looked for.
    """

    def __init__(self) -> None:
        super().__init__()
        self.home = tempfile.TemporaryDirectory()
        home = Path(self.home.name).resolve()
        self.source, self.mine = home / "clone", home / "mine"
        self.words: set[str] = set()
        self.count = 0
        self.is_clean = False  # whether a start went well and nothing happened since

    def teardown(self) -> None:
        """The folders go."""
        self.home.cleanup()

    @initialize()
    def begin(self) -> None:
        """A first delivery."""
        publish(self.source, "0")
        deliver(self.source, self.mine)

    def number(self) -> int:
        """Something happens; a number for it."""
        self.count += 1
        self.is_clean = False
        return self.count

    def pick(self, data: st.DataObject) -> Path:
        """One of the files that the learner sees."""
        return self.mine / data.draw(st.sampled_from(visible(self.mine)))

    def lose(self, path: Path) -> None:
        """The learner takes a file away: its words are not looked for any more, unless they are elsewhere too."""
        text = path.read_text()
        path.unlink()
        rest = everything(self.mine).decode(errors="replace")
        self.words -= {word for word in self.words if word in text and word not in rest}

    # the course

    @rule(path=st.sampled_from(COURSE), version=st.integers(0, 3))
    def the_course_changes(self, path: str, version: int) -> None:
        """A file gets another version, perhaps one that it had before."""
        self.number()
        publish(self.source, str(version), path)

    @rule(path=st.sampled_from(COURSE))
    def only_outputs_change(self, path: str) -> None:
        """The authors ran a notebook of the course."""
        self.number()
        if (self.source / path).exists():
            run(self.source / path)

    @rule(path=st.sampled_from(COURSE[1:]))
    def the_course_drops_a_file(self, path: str) -> None:
        """A file is no longer part of the course."""
        self.number()
        (self.source / path).unlink(missing_ok=True)

    # the learner

    @precondition(lambda self: visible(self.mine))
    @rule(data=st.data())
    def write_a_cell(self, data: st.DataObject) -> None:
        """The learner writes in a file."""
        word = f"word{self.number()}z"
        path = self.pick(data)
        if notebook_cells(path.read_bytes()) is None:
            write(path, path.read_text() + word)
        else:
            edit(path, word)
        self.words.add(word)

    @precondition(lambda self: visible(self.mine))
    @rule(data=st.data())
    def write_no_notebook(self, data: st.DataObject) -> None:
        """The learner makes something else of a file."""
        word = f"word{self.number()}z"
        path = self.pick(data)
        self.lose(path)
        write(path, word)
        self.words.add(word)

    @precondition(lambda self: visible(self.mine))
    @rule(data=st.data())
    def run_a_notebook(self, data: st.DataObject) -> None:
        """The learner runs and saves."""
        self.number()
        path = self.pick(data)
        if notebook_cells(path.read_bytes()) is not None:
            run(path)

    @precondition(lambda self: visible(self.mine))
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        """The learner deletes a file."""
        self.number()
        self.lose(self.pick(data))

    @precondition(lambda self: visible(self.mine))
    @rule(data=st.data())
    def rename(self, data: st.DataObject) -> None:
        """The learner renames a file."""
        path = self.pick(data)
        path.rename(path.with_name(f"mine-{self.number()}.ipynb"))

    @rule(path=st.sampled_from(COURSE))
    def take_the_copy_over(self, path: str) -> None:
        """The learner moves the copy beside a file into the file's place."""
        self.number()
        copy = (self.mine / path).with_suffix(".new.ipynb")
        if copy.exists():
            if (self.mine / path).exists():
                self.lose(self.mine / path)
            copy.rename(self.mine / path)

    # starts

    @rule(at=st.integers(1, 60))
    def the_power_goes(self, at: int) -> None:
        """A start ends in the middle."""
        self.number()
        try:
            with disk(power_cut(at)):
                deliver(self.source, self.mine)
        except PowerCutError:
            pass

    @rule(after=st.integers(0, 60))
    def the_disk_gets_full(self, after: int) -> None:
        """A start on a full disk."""
        self.number()
        with disk(disk_full(after)):
            deliver(self.source, self.mine)

    @rule(folder=st.sampled_from(["chapters", "exercises", f"{HIDDEN}/replaced", f"{HIDDEN}/incoming"]))
    def a_folder_is_read_only(self, folder: str) -> None:
        """A start that may not change one folder."""
        self.number()
        with disk(read_only(self.mine / folder)):
            deliver(self.source, self.mine)

    @rule()
    def start(self) -> None:
        """A start that goes well leaves touched files alone, to the byte."""
        before = {name: (self.mine / name).read_bytes() for name in visible(self.mine)}
        touched = {name for name, data in before.items() if self.is_touched(data)}
        delivery = deliver(self.source, self.mine)
        assert delivery.problems == () or "cannot be read" in str(delivery)
        for name in touched:
            assert (self.mine / name).read_bytes() == before[name]
        self.is_clean = True

    # what always holds

    def is_touched(self, data: bytes) -> bool:
        """Whether a word of the learner's is in it."""
        return any(word.encode() in data for word in self.words)

    @invariant()
    def no_word_is_lost(self) -> None:
        """Every text that the learner wrote, and did not take away, is still somewhere in the folder."""
        text = everything(self.mine).decode(errors="replace") if self.mine.exists() else ""
        assert {word for word in self.words if word not in text} == set()

    @precondition(lambda self: self.is_clean)
    @invariant()
    def what_is_untouched_is_new(self) -> None:
        """After a start, each file without the learner's words is the newest version, and all is said."""
        for path in COURSE:
            place, newest = self.mine / path, self.source / path
            copies = list(place.parent.glob(f"{place.stem}.new*.ipynb")) if place.parent.exists() else []
            if newest.exists():
                assert place.exists()
            for copy in (place, *copies):
                if copy.exists() and not self.is_touched(copy.read_bytes()):
                    assert newest.exists()
                    assert fingerprint(copy.read_bytes(), copy.name) == fingerprint(newest.read_bytes(), newest.name)
        assert str(deliver(self.source, self.mine)) == ""


Story.TestCase.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
TestStory = Story.TestCase


# --- resetting one exercise ------------------------------------------------------------------------------------------


def marked(source: str, exercise_id: str, *tags: str, kind: str = "code", **more: Any) -> dict[str, Any]:
    """A cell of an exercise."""
    return cell(source, kind=kind, **{"metadata": {"exercise": exercise_id, "tags": list(tags)}, **more})


STUB = "def answer():\n    ..."


def exercise_notebook(*, minor: int = 4) -> dict[str, Any]:
    """A notebook with two exercises."""
    cells = []
    for name in ("01.1", "01.2"):
        cells += [
            marked(f"Task {name}", name, kind="markdown"),
            marked("More of the task", name, kind="markdown"),
            marked(STUB, name, "exercise"),
            marked(f"check({name})", name),
        ]
    if minor >= 5:
        for number, one in enumerate(cells):
            one["id"] = f"cell-{number}"
    return notebook(*cells, minor=minor)


@pytest.fixture
def desk(source: Path, tmp_path: Path) -> Path:
    """A learner's folder with exercises in it."""
    write(source / EXERCISE, exercise_notebook())
    deliver(source, tmp_path / "mine")
    return tmp_path / "mine"


def kept_texts(folder: Path) -> list[str]:
    """What `.course/set_aside/` holds."""
    return [path.read_text() for path in sorted((folder / HIDDEN / "set_aside").glob("*"))]


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_reset_changes_one_cell_and_no_other_byte(indent: int | None, source: Path, desk: Path) -> None:
    """The stub is back, the old text is kept, and all else, outputs and layout too, is as it was to the byte."""
    content = exercise_notebook()
    content["cells"][2]["source"] = "my first answer"
    content["cells"][6] |= {"source": ["my\n", "answer"], "outputs": [{"output_type": "stream", "text": "42"}]}
    content["cells"][7]["outputs"] = [{"output_type": "display_data", "data": {"x": 1e3, "y": [1.0, -0.0]}}]
    content["metadata"] = {"cells": [1, {"cells": []}], "ключ": "\ud83d\ude00"}
    text = json.dumps(content, indent=indent, ensure_ascii=indent == 4).replace("1000.0", "1E+3")
    (desk / EXERCISE).write_bytes(
        text.encode("utf-8", "surrogatepass")
        if indent == 4
        else text.encode("utf-16", "surrogatepass").decode("utf-16").encode()
    )
    text = (desk / EXERCISE).read_text(encoding="utf-8")
    said = reset_exercise(desk, "01.2", source=source)
    after = (desk / EXERCISE).read_text(encoding="utf-8")
    [span, end] = [cell_spans(text)[0][6], cell_spans(after)[0][6]]
    assert after[: span[0]] + after[end[1] :] == text[: span[0]] + text[span[1] :]
    assert read(desk / EXERCISE)["cells"][6] == exercise_notebook()["cells"][6]
    assert kept_texts(desk) == ["my\nanswer"]
    assert said.startswith(f"Exercise 01.2 in {EXERCISE} is as it was delivered again.\nYour old text is in .course/")
    assert "Reload Notebook from Disk" in said


def test_each_old_text_is_kept(source: Path, desk: Path) -> None:
    """A second reset does not overwrite what the first one kept, and an empty cell leaves nothing to keep."""
    for text in ("one", "two", " "):
        content = read(desk / EXERCISE)
        content["cells"][2]["source"] = text
        write(desk / EXERCISE, content)
        reset_exercise(desk, "01.1", source=source)
    assert kept_texts(desk) == ["one", "two"]
    assert sorted(path.name for path in (desk / HIDDEN / "set_aside").iterdir())[0] == "01.1_before_reset.1.py"


def test_nothing_to_reset(source: Path, desk: Path) -> None:
    """A stub that is still as delivered is left alone, its outputs too."""
    run(desk / EXERCISE)
    before = (desk / EXERCISE).read_bytes()
    assert reset_exercise(desk, "01.1", source=source).endswith("is as it was delivered: nothing to reset.")
    assert (desk / EXERCISE).read_bytes() == before


def test_what_somebody_ran_in_the_clone_does_not_come_along(source: Path, desk: Path) -> None:
    """The stub comes without outputs, and the file keeps its rights."""
    run(source / EXERCISE)
    answered(desk)
    (desk / EXERCISE).chmod(0o640)
    mode = (desk / EXERCISE).stat().st_mode
    reset_exercise(desk, "01.1", source=source)
    assert b"ran" not in (desk / EXERCISE).read_bytes()
    assert (desk / EXERCISE).stat().st_mode == mode


def test_a_cell_of_another_type_becomes_code_again(source: Path, desk: Path) -> None:
    """A learner who made text of the cell gets a code cell back."""
    content = read(desk / EXERCISE)
    content["cells"][2] = marked(STUB, "01.1", "exercise", kind="markdown")
    write(desk / EXERCISE, content)
    reset_exercise(desk, "01.1", source=source)
    assert read(desk / EXERCISE) == exercise_notebook()


@pytest.mark.parametrize(
    ("gone", "place"),
    [
        ([2], 2),  # only the answer: after both cells of the task
        ([1, 2], 1),
        ([2, 3, 4, 5, 6, 7], 2),  # the task is the end of the notebook
        ([0, 1, 2], 5),  # the task as well: at the end
        (list(range(8)), 0),  # nothing is left
    ],
)
def test_a_deleted_cell_comes_back(gone: list[int], place: int, source: Path, desk: Path) -> None:
    """After the exercise's task, or else at the end; all other cells stay as they are."""
    content = exercise_notebook()
    left = [one for number, one in enumerate(content["cells"]) if number not in gone]
    write(desk / EXERCISE, {**content, "cells": left})
    reset_exercise(desk, "01.1", source=source)
    assert read(desk / EXERCISE)["cells"] == [*left[:place], content["cells"][2], *left[place:]]
    assert kept_texts(desk) == []


@pytest.mark.parametrize(("minor", "ids"), [(4, [None] * 3), (5, ["cell-0", "cell-2-again", "cell-2"])])
def test_ids_stay_unique(minor: int, ids: list[str | None], source: Path, desk: Path) -> None:
    """Formats without ids get none; where there are, the cell gets its own, or another if that is taken."""
    write(source / EXERCISE, exercise_notebook(minor=5))
    content = exercise_notebook(minor=minor)
    other = {**content["cells"][3], **({"id": "cell-2"} if minor == 5 else {})}
    write(desk / EXERCISE, {**content, "cells": [content["cells"][0], other]})
    reset_exercise(desk, "01.1", source=source)
    assert [one.get("id") for one in read(desk / EXERCISE)["cells"]] == ids


def test_a_cell_keeps_its_id(source: Path, desk: Path) -> None:
    """The learner's cell has its id from JupyterLab, and keeps it."""
    content = exercise_notebook(minor=5)
    content["cells"][2] |= {"id": "mine", "source": "my answer"}
    write(desk / EXERCISE, content)
    reset_exercise(desk, "01.1", source=source)
    assert read(desk / EXERCISE)["cells"][2] == {**exercise_notebook()["cells"][2], "id": "mine"}


def test_a_split_cell(source: Path, desk: Path) -> None:
    """JupyterLab gives both halves of a split cell its marks: the first is reset, and the other is pointed out."""
    content = exercise_notebook()
    content["cells"][2:3] = [marked("def answer():", "01.1", "exercise"), marked("    return 1", "01.1", "exercise")]
    write(desk / EXERCISE, content)
    said = reset_exercise(desk, "01.1", source=source)
    assert "2 cells are marked as its answer; only the first was looked at." in said
    assert [one["source"] for one in read(desk / EXERCISE)["cells"][2:4]] == [STUB, "    return 1"]


@pytest.mark.parametrize(
    ("exercise_id", "message"),
    [
        ("01.9", "There is no exercise 01.9. There are: 01.1, 01.2."),
        ("1.2", "'1.2' names no exercise: write chapter and number, such as 01.2."),
        ("01.2\n", "names no exercise"),
    ],
)
def test_an_exercise_that_there_is_not(exercise_id: str, message: str, source: Path, desk: Path) -> None:
    """It is said which ones there are."""
    with pytest.raises(LearnerFolderError) as caught:
        reset_exercise(desk, exercise_id, source=source)
    assert message in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"my notes", json.dumps(exercise_notebook()).encode("utf-16")])
def test_a_notebook_that_cannot_be_changed_safely(data: bytes, source: Path, desk: Path) -> None:
    """It is left alone, and it is said how to get a fresh one."""
    (desk / EXERCISE).write_bytes(data)
    with pytest.raises(LearnerFolderError, match="Rename it, and course start brings a fresh one"):
        reset_exercise(desk, "01.1", source=source)
    assert (desk / EXERCISE).read_bytes() == data


def test_a_notebook_that_is_gone_or_linked(source: Path, desk: Path) -> None:
    """A missing notebook is named; nothing is reset through a link, into the clone say, nor in the clone itself."""
    (desk / EXERCISE).unlink()
    with pytest.raises(LearnerFolderError, match=r"There is no exercises/01_loop.ipynb in .*course start brings"):
        reset_exercise(desk, "01.1", source=source)
    link(desk / EXERCISE, source / EXERCISE)
    with pytest.raises(LearnerFolderError, match="is a link"):
        reset_exercise(desk, "01.1", source=source)
    with pytest.raises(LearnerFolderError, match="the course's own folder"):
        reset_exercise(source, "01.1", source=source)


def answered(desk: Path) -> bytes:
    """Answer exercise 01.1, and return the file's bytes."""
    content = exercise_notebook()
    content["cells"][2]["source"] = "my answer"
    write(desk / EXERCISE, content)
    return (desk / EXERCISE).read_bytes()


def test_a_reset_that_fails_loses_nothing(source: Path, desk: Path) -> None:
    """Wherever the power goes or the disk gets full, the notebook is the old or the new one, and the text is there."""
    for count in range(1, 40):
        for fault in (power_cut(count), disk_full(count)):
            before = answered(desk)
            try:
                with disk(fault):
                    reset_exercise(desk, "01.1", source=source)
            except (PowerCutError, LearnerFolderError):
                pass
            assert (desk / EXERCISE).read_bytes() == before or read(desk / EXERCISE) == exercise_notebook()
            assert b"my answer" in everything(desk)
            shutil.rmtree(desk / HIDDEN / "set_aside", ignore_errors=True)


def test_a_reset_while_the_notebook_is_saved(source: Path, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook that changed in between is left alone, and so is told."""
    answered(desk)

    def aside(root: Path, *rest: Any) -> Path:
        edit(desk / EXERCISE, "saved just now")
        return replacing.set_aside(root, *rest)

    monkeypatch.setattr("course_lib.learner.reset.set_aside", aside)
    with pytest.raises(LearnerFolderError, match="was not changed: it was saved at this very moment"):
        reset_exercise(desk, "01.1", source=source)
    assert b"saved just now" in (desk / EXERCISE).read_bytes()


# --- in a terminal ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "folder", "rest"),
    [
        ([], None, []),
        (["--folder", "a", "--no-browser"], "a", ["--no-browser"]),
        (["--port=1", "--folder=b c"], "b c", ["--port=1"]),
        (["--folder", "a", "--folder", "b"], "b", []),
        (["--folders", "a"], None, ["--folders", "a"]),
    ],
)
def test_the_option_is_taken_out_for_us(words: list[str], folder: str | None, rest: list[str]) -> None:
    """`--folder` is ours, the rest goes on to JupyterLab; the last one counts."""
    assert take_folder_option(words) == (folder, rest)


@pytest.mark.parametrize("words", [["--folder"], ["--folder="], ["--folder", "--no-browser"]])
def test_the_option_needs_a_value(words: list[str]) -> None:
    """Without a folder it is refused, and no other option is taken for one."""
    with pytest.raises(LearnerFolderError, match="--folder needs a folder"):
        take_folder_option(words)


def test_start_says_what_it_did_and_where(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The summary, when there is one, then the folder; the option wins over the setting."""
    monkeypatch.setenv("COURSE_FOLDER", str(tmp_path / "setting"))
    assert deliver_for_start(source, None) == tmp_path / "setting"
    assert capsys.readouterr().out == f"new: {', '.join(COURSE)}\nYour own copy of the course: {tmp_path / 'setting'}\n"
    assert deliver_for_start(source, None) == tmp_path / "setting"
    assert capsys.readouterr().out == f"Your own copy of the course: {tmp_path / 'setting'}\n"
    monkeypatch.chdir(tmp_path)
    assert deliver_for_start(source, "option") == tmp_path / "option"


def test_a_folder_that_was_laid_out_already(source: Path) -> None:
    """Where an administrator laid the course into the learner's own folder, that is it; in a clone it never is."""
    before = visible(source)
    assert deliver_for_start(source, str(source)) == source
    assert visible(source) == before
    assert (source / HIDDEN).is_dir()
    clone = bootstrap.source_root()
    assert clone is not None
    with pytest.raises(LearnerFolderError, match="where git would get at your work"):
        deliver_for_start(clone, str(clone))


def arguments(declare: Callable[[argparse.ArgumentParser], None], *words: str) -> argparse.Namespace:
    """A command line, read as `course` reads it."""
    parser = argparse.ArgumentParser()
    declare(parser)
    return parser.parse_args(words)


def test_reset_in_a_terminal(
    source: Path, desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`course reset` works on the folder it is called in, or on the one that is named, and prints what it did."""
    monkeypatch.setattr("course_lib.learner.folder_commands.course_root", lambda: source)
    answered(desk)
    monkeypatch.chdir(desk / "exercises")
    assert reset_command(arguments(reset_arguments, "01.1")) == 0
    assert "is as it was delivered again." in capsys.readouterr().out
    monkeypatch.chdir(source)
    assert reset_command(arguments(reset_arguments, "01.1", "--folder", str(desk))) == 0
    assert "nothing to reset" in capsys.readouterr().out


def test_reset_takes_the_answers_name(
    source: Path, desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An answer's name will do for `course reset`; an unknown exercise, or a folder that is none, has status 2."""
    monkeypatch.setattr("course_lib.learner.folder_commands.course_root", lambda: source)
    answered(desk)
    monkeypatch.chdir(desk)
    assert reset_command(arguments(reset_arguments, "find_broken_pairs")) == 0
    assert "Exercise 01.1" in capsys.readouterr().out
    assert reset_command(arguments(reset_arguments, "find_broken_pair")) == 2
    assert "Did you mean 01.1 (find_broken_pairs)?" in capsys.readouterr().err
    assert reset_command(arguments(reset_arguments, "01.1", "--folder", "nowhere")) == 2
    assert "nowhere is no copy of the course" in capsys.readouterr().err


def test_progress_in_a_terminal(
    source: Path, mine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`course progress` finds the folder by the setting too, and says so when there is none."""
    monkeypatch.setattr("course_lib.learner.folder_commands.course_root", lambda: source)
    monkeypatch.chdir(source)
    monkeypatch.setenv("COURSE_FOLDER", str(mine))
    (mine / HIDDEN / "progress.jsonl").write_text("broken\n")
    assert progress_command(arguments(folder_argument)) == 0
    shown = capsys.readouterr().out
    assert "passed" in shown
    assert "cannot be read" in shown
    monkeypatch.setenv("COURSE_FOLDER", str(source))
    assert progress_command(arguments(folder_argument)) == 2
    assert "course start makes one" in capsys.readouterr().err


def test_a_summary_is_short() -> None:
    """Of very many new files only the first are named; one problem of many files is one line."""
    from course_lib.learner.outcomes import Delivery

    many = [Outcome("new", f"chapters/{n:02}.ipynb") for n in range(20)]
    full = [Outcome("problem", f"exercises/{n:02}.ipynb", "full.") for n in range(20)]
    first, second = str(Delivery((*many, *full))).splitlines()
    assert first.endswith("chapters/05.ipynb and 14 more")
    assert second.endswith("exercises/05.ipynb and 14 more: full.")
