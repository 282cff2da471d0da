"""Long texts in files: kept whole, for the owner alone, by a name that nobody can choose, and read in pages."""

import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.agent import Agent
from course_lib.client import ScriptedClient
from course_lib.errors import ToolError, TranscriptError
from course_lib.events import record_run
from course_lib.messages import ToolUseBlock, assistant, tool_results
from course_lib.spill import PAGE_CHARS, READ_SPILLED, FolderSpillStore, page_of, read_spilled_tool


@pytest.fixture
def store(tmp_path):
    """A store in a folder that is not there yet."""
    return FolderSpillStore(tmp_path / "session" / "spill")


@pytest.mark.parametrize("text", ["", "short", "a\r\nb\n", "数据 😀", "half \ud83d", "x" * 1_000_000])
def test_what_is_put_comes_back(store, text):
    """Every text, to the character: line ends, other scripts, half characters, a megabyte."""
    path = store.put(text)
    assert store.get(path) == text


def test_a_file_is_written_once(store):
    """The same text is the same file, and it is not touched again; another text is another file."""
    path = store.put("text")
    file = store.folder / path.partition("/")[2]
    os.utime(file, (1, 1))
    assert store.put("text") == path
    assert file.stat().st_mtime == 1
    assert store.put("text ") != path
    assert len(list(store.folder.iterdir())) == 2


def test_only_the_owner_can_read(store):
    """Folder and file are closed to everybody else, whatever the umask says."""
    before = os.umask(0)
    try:
        path = store.put("secret")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(one.stat().st_mode) for one in (store.folder, store.folder / path.partition("/")[2])]
    assert modes == [0o700, 0o600]


def test_a_damaged_file_is_written_anew(store):
    """What stands under the name is not the text: it is put right, so a stub never names something else."""
    path = store.put("text")
    (store.folder / path.partition("/")[2]).write_text("te")
    assert store.get(store.put("text")) == "text"


def test_a_link_is_not_followed(store, tmp_path):
    """Somebody put a link where the file belongs: it is replaced, and never read or written through."""
    target = tmp_path / "target.txt"
    target.write_text("text")
    path = store.put("text")
    file = store.folder / path.partition("/")[2]
    file.unlink()
    file.symlink_to(target)
    with pytest.raises(ToolError):
        store.get(path)
    assert store.get(store.put("text")) == "text"
    assert not file.is_symlink()


HOSTILE = [
    "", "/", "spill", "spill/", "spill/..", "spill/../secret", "../spill/x.txt", "/etc/passwd", "spill/%2e%2e/x",
    "spill/a\0.txt", "spill\\0123456789abcdef.txt", "spill/0123456789abcdef.txt", "spill/0123456789ABCDEF.txt",
    "other/0123456789abcdef.txt", "spill/x/0123456789abcdef.txt", "spill/0123456789abcdef.txt\n",
    "spill/" + "a" * 9_999,
    "spill/.part", "~/spill", "spill/CON",
]  # fmt: skip


@pytest.mark.parametrize("path", HOSTILE)
def test_no_other_file_can_be_named(store, tmp_path, path):
    """Whatever a model says, it reads a spilled text or gets an error that is short and says what to do."""
    store.put("text")
    (store.folder.parent / "secret").write_text("secret")
    with pytest.raises(ToolError, match="name a path that a notice gave you") as caught:
        store.get(path)
    assert len(str(caught.value)) < 400


def test_a_folder_with_a_longer_name(tmp_path):
    """The shown name may have folders of its own."""
    store = FolderSpillStore(tmp_path / "x", shown_as="session/spill")
    path = store.put("text")
    assert path.startswith("session/spill/")
    assert store.get(path) == "text"


def test_what_cannot_be_written_is_an_error(tmp_path):
    """A file stands where the folder belongs: the error names the place, and nothing is half there."""
    (tmp_path / "spill").write_text("a file")
    with pytest.raises(TranscriptError, match="cannot write a long result to"):
        FolderSpillStore(tmp_path / "spill").put("text")


def test_a_full_disk_leaves_no_part(store, monkeypatch):
    """The write fails half way: an error, and no file under the name or beside it."""
    store.put("first")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(TranscriptError, match="No space left"):
        store.put("second")
    assert len(list(store.folder.iterdir())) == 1


# --- pages -----------------------------------------------------------------------------------------------------------


@given(st.text(max_size=200), st.integers(1, 50))
def test_pages_make_the_whole_text(text, size):
    """Page after page, as each says where the next begins: all of the text, once, however it is broken into lines."""
    found, offset, pages = "", 0, 0
    while offset is not None:
        header, _, page = page_of(text, offset_chars=offset, max_chars=size).partition("\n")
        found, pages = found + page, pages + 1
        assert len(page) <= size
        _, _, following = header.partition("offset_chars=")
        offset = int(following.rstrip(")")) if following else None
    assert found == text
    assert pages == max(1, -(-len(text) // size))


@pytest.mark.parametrize(("offset", "is_there"), [(-1, False), (0, True), (99, True), (100, False)])
def test_an_offset_outside_is_refused(offset, is_there):
    """The last character can be asked for, the one behind it can't, and the error says how long the text is."""
    if is_there:
        assert page_of("x" * 100, offset_chars=offset).endswith("x" * (100 - offset))
    else:
        with pytest.raises(ToolError, match="the text has 100 characters"):
            page_of("x" * 100, offset_chars=offset)


def test_a_page_of_nothing():
    """An empty text has one empty page; a page of no characters is refused."""
    assert page_of("") == "(characters 0 to 0 of 0)\n"
    with pytest.raises(ToolError):
        page_of("text", max_chars=0)


def test_a_model_reads_one_long_line_to_its_end(store):
    """Three megabytes without a line end: no page is longer than the tool's, and each names the next."""
    text = "".join(f"{number:07}" for number in range(3_000_000 // 7))
    path, tool = store.put(text), read_spilled_tool(store)
    found, offset = "", 0
    while len(found) < len(text):
        header, _, page = tool.run({"path": path, "offset_chars": offset}).partition("\n")
        assert len(page) <= PAGE_CHARS
        assert f"of {len(text):,}" in header
        found += page
        offset = len(found)
    assert found == text


def test_the_tool_is_one_that_an_agent_can_call(store):
    """Good and bad calls through the agent: a page, and error results that say what is wrong."""
    path = store.put("long " * 5_000)
    calls = [
        {"path": path},
        {"path": path, "offset_chars": None},
        {"path": "spill/x"},
        {"path": path, "offset_chars": "7"},
    ]
    calls += [{"path": path, "offset_chars": True}, {"path": 7}, {}]
    blocks = [ToolUseBlock(f"c{number}", READ_SPILLED, given) for number, given in enumerate(calls)]
    agent = Agent(ScriptedClient([assistant(*blocks), "Done."]), [read_spilled_tool(store)])
    assert record_run(agent.run("Read it.")).error is None
    results = tool_results(agent.messages[2])
    assert [result.is_error for result in results] == [False, False, True, True, True, True, True]
    assert results[0].text.startswith("(characters 0 to 20,000 of 25,000, next page: offset_chars=20000)\nlong long")
