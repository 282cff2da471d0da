"""The six tools: what they answer, and how they refuse."""

import re
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.agent import Agent
from course_lib.client import ScriptedClient
from course_lib.errors import SettingsError, ToolError
from course_lib.events import ToolFinished, record_run
from course_lib.messages import ToolUseBlock, assistant, user
from course_lib.simulation import tools as tools_module
from course_lib.simulation.tools import ToolLimits, workspace_tools
from course_lib.simulation.workspace import Workspace
from course_lib.tokens import MessageCounter, TiktokenCounter

FILES = {
    "src/main.py": "import sys\n\n\ndef main():\n    print('hi')\n",
    "src/util.py": "def twice(x):\n    return x * 2\n",
    "src/sub/deep.py": "# deep\n",
    "README.md": "Read me",
    "empty.txt": "",
}


@pytest.fixture
def workspace(tmp_path):
    """A tiny project."""
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(text.encode())
    return Workspace(tmp_path)


@pytest.fixture
def call(workspace):
    """Call a tool by its name; limits may be given for one call."""

    def call_tool(tool, limits=None, /, **given):
        by_name = {t.spec.name: t for t in workspace_tools(workspace, limits)}
        return by_name[tool].run(given)

    return call_tool


def refusal(call, *args, **given):
    """The text of the refusal, which never shows where the workspace is."""
    with pytest.raises(ToolError) as caught:
        call(*args, **given)
    assert "pytest-of" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("given", "paths"),
    [
        ({}, ["README.md", "empty.txt", "src/main.py", "src/sub/deep.py", "src/util.py"]),
        ({"path": "src"}, ["src/main.py", "src/sub/deep.py", "src/util.py"]),
        ({"path": "src/util.py"}, ["src/util.py"]),
        ({"path": None, "pattern": None}, ["README.md", "empty.txt", "src/main.py", "src/sub/deep.py", "src/util.py"]),
        ({"pattern": "*.py"}, ["src/main.py", "src/sub/deep.py", "src/util.py"]),
        ({"pattern": "**/*.py"}, ["src/main.py", "src/sub/deep.py", "src/util.py"]),
        ({"pattern": "main.py"}, ["src/main.py"]),
        ({"pattern": "src/s*"}, ["src/sub/deep.py"]),
        ({"pattern": "*.rs"}, []),
    ],
)
def test_list_files(call, given, paths):
    """Files are listed one path a line, from the workspace's root whatever folder was asked for, with their number."""
    number = "1 file" if len(paths) == 1 else f"{len(paths)} files"
    assert call("list_files", **given) == "".join(f"{path}\n" for path in paths) + number


def test_list_files_is_cut_at_whole_lines(call):
    """A listing that is too long says how many files it leaves out, and what to do."""
    text = call("list_files", ToolLimits(max_output_chars=25))
    assert text == "README.md\nempty.txt\n[… 3 files left out: give a folder or a pattern …]\n5 files"


@pytest.mark.parametrize(
    ("given", "header", "text"),
    [
        ({"path": "src/main.py"}, "src/main.py (5 lines)", FILES["src/main.py"]),
        ({"path": "./src/../src/main.py"}, "src/main.py (5 lines)", FILES["src/main.py"]),
        ({"path": "src/sub/deep.py"}, "src/sub/deep.py (1 line)", "# deep\n"),
        ({"path": "README.md"}, "README.md (1 line)", "Read me"),
        ({"path": "empty.txt"}, "empty.txt (0 lines)", ""),
        ({"path": "src/main.py", "offset": 4}, "src/main.py (lines 4-5 of 5)", "def main():\n    print('hi')\n"),
        ({"path": "src/main.py", "offset": 2, "limit": 2}, "src/main.py (lines 2-3 of 5)", "\n\n"),
        ({"path": "src/main.py", "limit": 1}, "src/main.py (lines 1-1 of 5)", "import sys\n"),
        ({"path": "src/main.py", "limit": 5}, "src/main.py (5 lines)", FILES["src/main.py"]),
        ({"path": "src/main.py", "offset": None, "limit": 99}, "src/main.py (5 lines)", FILES["src/main.py"]),
    ],
)
def test_read_file(call, given, header, text):
    """A file is a header line and its exact text, or the exact lines that were asked for."""
    assert call("read_file", **given) == f"{header}\n{text}"


@given(text=st.text(st.sampled_from("ab \t\n\x0c\u2028é😀"), max_size=40))
def test_read_gives_back_what_was_written(tmp_path_factory, text):
    """The text after the header is what was written, and the header counts its lines."""
    by_name = {tool.spec.name: tool for tool in workspace_tools(Workspace(tmp_path_factory.getbasetemp()))}
    by_name["write_file"].run({"path": "any.txt", "content": text})
    header, _, shown = str(by_name["read_file"].run({"path": "any.txt"})).partition("\n")
    assert shown == text
    lines = len(text.removesuffix("\n").split("\n")) if text else 0
    assert header == f"any.txt ({lines} line{'s' * (lines != 1)})"


def test_read_file_is_cut_at_whole_lines(call, workspace):
    """As many whole lines as fit are shown; a line that is too long alone is cut, and the header says so."""
    workspace.write_text("long.txt", "12345\n1234567890\n123\n")
    assert call("read_file", ToolLimits(max_read_chars=17), path="long.txt") == (
        "long.txt (lines 1-2 of 3)\n12345\n1234567890\n"
    )
    assert call("read_file", ToolLimits(max_read_chars=16), path="long.txt") == "long.txt (lines 1-1 of 3)\n12345\n"
    assert call("read_file", ToolLimits(max_read_chars=5), path="long.txt", offset=2) == (
        "long.txt (lines 2-2 of 3, cut after 5 of 11 characters)\n12345"
    )


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"path": "src/mian.py"}, "'src/mian.py' does not exist: list_files shows what there is"),
        ({"path": "src"}, "'src' is a folder: list_files shows what is in it"),
        ({"path": "binary"}, "'binary' is not UTF-8 text, or has a NUL byte"),
        ({"path": "../x"}, "path '../x' leaves the workspace: name a path inside"),
        ({"path": "src/main.py", "offset": 6}, "offset 6 is past the end: src/main.py has 5 lines"),
        ({"path": "empty.txt", "offset": 2}, "offset 2 is past the end: empty.txt has 0 lines"),
        ({"path": "src/main.py", "offset": 0}, "offset is 0: expected a whole number from 1 up"),
        ({"path": "src/main.py", "limit": "all"}, "limit is 'all': expected a whole number"),
        ({"path": "src/main.py", "limit": 1.5}, "limit is 1.5: expected a whole number"),
        ({"path": "src/main.py", "limit": True}, "limit is True: expected a whole number"),
        ({"path": 7}, "path is 7: expected a string"),
        ({"path": ["src"] * 99}, "path is ['src', 'src'"),
        ({}, "path is None: expected a string"),
    ],
)
def test_read_file_refuses(call, workspace, given, reason):
    """What cannot be read is refused with the value and the way out."""
    (workspace.root / "binary").write_bytes(b"\xff\xfe")
    assert reason in refusal(call, "read_file", **given)


def test_files_that_are_too_big(call):
    """A limit on bytes holds for reading and for writing."""
    limits = ToolLimits(max_file_bytes=10)
    assert "more than 10 bytes" in refusal(call, "read_file", limits, path="src/main.py")
    assert "more than 10 bytes" in refusal(call, "write_file", limits, path="new.txt", content="x" * 11)
    assert call("write_file", limits, path="new.txt", content="x" * 10) == "created new.txt: 1 line"


def test_write_file(call, workspace):
    """A file is created with its folders, or replaced, exactly as given."""
    assert call("write_file", path="a/b/new.txt", content="1\r\n2") == "created a/b/new.txt: 2 lines"
    assert workspace.read_text("a/b/new.txt") == "1\r\n2"
    assert call("write_file", path="a/b/new.txt", content="") == "overwrote a/b/new.txt: 0 lines"
    assert workspace.read_text("a/b/new.txt") == ""


def test_edit_file(call, workspace):
    """One passage is replaced, and the report counts lines before and after."""
    old, new = "def twice(x):\n", 'def twice(x):\n    """2x."""\n'
    report = call("edit_file", path="src/util.py", old_text=old, new_text=new)
    assert report == "edited src/util.py: 1 replacement, 2 -> 3 lines"
    assert workspace.read_text("src/util.py") == 'def twice(x):\n    """2x."""\n    return x * 2\n'
    assert call("edit_file", path="README.md", old_text="Read me", new_text="") == (
        "edited README.md: 1 replacement, 1 -> 0 lines"
    )


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        ("a\r\nb\r\nc\r\n", "a\nb", "a\nx\nb", "a\r\nx\r\nb\r\nc\r\n"),
        ("a\r\nb\r\nc\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\nc\r\n"),
        ("a\r\nb\nc\n", "b", "x\ny", "a\r\nx\ny\nc\n"),
        ("a\r\nb\nc\n", "a\nb", "x", "x\nc\n"),
        ("a\n.*\n", ".*", r"\1", "a\n\\1\n"),
        ("a\\\nb", "\\\nb", "c", "ac"),
    ],
)
def test_edit_keeps_line_ends(call, workspace, before, old, new, after):
    """Line ends that are not edited stay as they are; new ones are like most in the file. Nothing is a pattern."""
    workspace.write_text("f.txt", before)
    call("edit_file", path="f.txt", old_text=old, new_text=new)
    assert workspace.read_text("f.txt") == after


@given(
    before=st.lists(st.sampled_from(["a", "b", "aa", ".", "\\", "\n", "\r\n"]), max_size=12).map("".join),
    old=st.text(st.sampled_from("ab.\\\n"), min_size=1, max_size=3),
    new=st.text(st.sampled_from("ab.\\\n"), max_size=3),
)
def test_edit_is_one_replace(tmp_path_factory, before, old, new):
    """As a model sees the file (a line end is one character), an edit is `str.replace` of the only occurrence."""
    workspace = Workspace(tmp_path_factory.getbasetemp())
    edit = next(tool.run for tool in workspace_tools(workspace) if tool.spec.name == "edit_file")
    workspace.write_text("edited.txt", before)
    seen = before.replace("\r\n", "\n")
    if seen.count(old) == 1 and old != new:
        edit({"path": "edited.txt", "old_text": old, "new_text": new})
        assert workspace.read_text("edited.txt").replace("\r\n", "\n") == seen.replace(old, new)
    else:
        with pytest.raises(ToolError):
            edit({"path": "edited.txt", "old_text": old, "new_text": new})
        assert workspace.read_text("edited.txt") == before


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"old_text": "three"}, "old_text occurs 0 times in 'src/util.py', not once: it must be exact; look"),
        ({"old_text": "x"}, "old_text occurs 2 times in 'src/util.py', not once: lines 1, 2; add lines around it"),
        ({"old_text": ""}, "old_text is empty or equal to new_text"),
        ({"old_text": "return", "new_text": "return"}, "old_text is empty or equal to new_text"),
        ({"old_text": "return", "path": "src/none.py"}, "'src/none.py' does not exist"),
        ({"old_text": "return", "new_text": "\0"}, "NUL byte"),
        ({"old_text": "return", "new_text": 5}, "new_text is 5: expected a string"),
    ],
)
def test_edit_file_refuses(call, workspace, given, reason):
    """An edit that is not exactly one replacement is refused, and the file stays."""
    assert reason in refusal(call, "edit_file", **{"path": "src/util.py", "new_text": "y"} | given)
    assert workspace.changed_paths(FILES) == ()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"pattern": "def "}, "src/main.py:4: def main():\nsrc/util.py:1: def twice(x):\n2 matches in 2 of 5 files"),
        ({"pattern": "(?i)READ"}, "README.md:1: Read me\n1 match in 1 of 5 files"),
        ({"pattern": r"^\s+\w+\(", "path": "src"}, "src/main.py:5:     print('hi')\n1 match in 1 of 3 files"),
        ({"pattern": "x", "path": "src/util.py", "max_matches": 9}, "src/util.py:1: def twice(x):\n"
         "src/util.py:2:     return x * 2\n2 matches in 1 of 1 file"),
        ({"pattern": "nowhere"}, "0 matches in 0 of 5 files"),
        ({"pattern": "^$"}, "src/main.py:2: \nsrc/main.py:3: \n2 matches in 1 of 5 files"),
        ({"pattern": "def ", "max_matches": 1}, "src/main.py:4: def main():\n"
         "[… 1 match left out: give a folder or a narrower pattern …]\n2 matches in 2 of 5 files"),
    ],
)  # fmt: skip
def test_grep(call, given, text):
    """Matches come with path and line number, and a last line that counts them and the files searched."""
    assert call("grep", **given) == text


def test_grep_is_bounded(call, workspace):
    """Neither many matches nor long lines make a long result; what is no text is not searched."""
    workspace.write_text("long.txt", "x" * 1_000 + "\n" + "x\n" * 500)
    (workspace.root / "binary").write_bytes(b"x\0")
    text = call("grep", ToolLimits(max_matches=3), pattern="x$", path="long.txt", max_matches=50)
    assert text.split("\n") == [
        f"long.txt:1: {'x' * 300}",
        "long.txt:2: x",
        "long.txt:3: x",
        "[… 498 matches left out: give a folder or a narrower pattern …]",
        "501 matches in 1 of 1 file",
    ]
    assert len(call("grep", ToolLimits(max_output_chars=400), pattern="x$", path="long.txt")) < 550
    assert call("grep", pattern="x", path="binary") == "0 matches in 0 of 0 files"


def test_grep_refuses(call, monkeypatch):
    """A pattern that is none, one that takes for ever, and more text than fits in memory are refused."""
    assert "pattern '(' cannot be searched for" in refusal(call, "grep", pattern="(")
    call("write_file", path="a.txt", content="a" * 60 + "b")
    limits = ToolLimits(search_timeout_seconds=0.3)
    assert "takes longer than 0.3 seconds" in refusal(call, "grep", limits, pattern="(a+)+$", path="a.txt")
    assert "'nope' does not exist" in refusal(call, "grep", pattern="x", path="nope")
    monkeypatch.setattr(tools_module, "_MAX_SEARCH_CHARS", 20)
    assert "too much text under '.'" in refusal(call, "grep", pattern="x")


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("print('hi')", "hi\nexit code 0"),
        ("print('hi', end='')", "hi\nexit code 0"),
        ("pass", "exit code 0"),
        ("import sys; sys.exit('no')", "no\nexit code 1"),
    ],
)
def test_run_command(call, code, text):
    """The output is followed by a line with the exit code; another code than 0 is no error of the tool."""
    assert call("run_command", command=f'python -c "{code}"') == text


def test_run_command_runs_the_project(call, workspace):
    """A module of the project runs by its name, and leaves no cache behind."""
    call("write_file", path="src/__main__.py", content="from src import util\nprint(util.twice(21))\n")
    assert call("run_command", command="python -m src") == "42\nexit code 0"
    assert not (workspace.root / "src" / "__pycache__").exists()


def test_run_command_refuses(call):
    """A time-out keeps what was said before; other programs, shells and wrong types are refused."""
    command = "python -c \"import time; print('so far'); time.sleep(60)\""
    limits = ToolLimits(command_timeout_seconds=0.5)
    stopped = "so far\ntimed out after 0.5 seconds and was stopped: ask for less work at a time"
    assert refusal(call, "run_command", limits, command=command, timeout_seconds=60) == stopped
    assert "program 'rm'" in refusal(call, "run_command", command="rm -rf .")
    assert "'|' needs a shell" in refusal(call, "run_command", command="python x.py | tail")
    assert "command is None: expected a string" in refusal(call, "run_command")
    assert "timeout_seconds is 0: expected" in refusal(call, "run_command", command="python x.py", timeout_seconds=0)


def test_run_command_output_is_bounded(call):
    """A long output keeps its head and its tail."""
    text = call("run_command", ToolLimits(max_output_chars=20), command="python -c \"print('a' * 50 + 'b' * 50)\"")
    assert text == f"{'a' * 10}\n[… 81 characters left out …]\n{'b' * 9}\nexit code 0"


def test_specs(workspace):
    """Each tool has a JSON schema whose inputs all have type and meaning; all together cost less than 700 tokens."""
    specs = [tool.spec for tool in workspace_tools(workspace)]
    assert {spec.name: list(spec.input_schema["required"]) for spec in specs} == {
        "list_files": [],
        "read_file": ["path"],
        "write_file": ["path", "content"],
        "edit_file": ["path", "old_text", "new_text"],
        "grep": ["pattern"],
        "run_command": ["command"],
    }
    for spec in specs:
        assert spec.description
        for meaning in spec.input_schema["properties"].values():
            assert meaning["type"] in ("string", "integer")
            assert meaning["description"].endswith(".")
    counter = MessageCounter(TiktokenCounter())
    message = (user("x"),)
    assert counter.request(message, tools=specs) - counter.request(message) < 700


def test_specs_tell_the_limits(workspace):
    """The model is told the limits that hold for it."""
    times = {"command_timeout_seconds": 7.5}
    limits = ToolLimits(max_read_chars=1_234, max_matches=56, allowed_programs=("python", "git"), **times)
    told = str([tool.spec for tool in workspace_tools(workspace, limits)])
    assert all(number in told for number in ("1234", "56", "7.5", "python, git"))


@pytest.mark.parametrize("wrong", [{"max_matches": 0}, {"command_timeout_seconds": -1}, {"allowed_programs": ()}])
def test_limits_that_make_no_sense(wrong):
    """A limit of nothing is refused when it is set, not when a tool runs."""
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        ToolLimits(**wrong)


def test_errors_become_error_results(workspace):
    """In an agent's run every refusal is an error result that the model can read, and the run goes on to its end."""
    ids = count(1)

    def turn(*calls):
        return assistant(*(ToolUseBlock(f"c{next(ids)}", name, given) for name, given in calls))

    script = [
        turn(("read_file", {"path": "../x"}), ("read_file", {"path": "src/util.py"}), ("read_file", {"file": "x"})),
        turn(("edit_file", {"path": "src/util.py", "old_text": "* 2", "new_text": "+ x"}), ("delete_file", {})),
        turn(("run_command", {"command": "python -c 1/0"}), ("run_command", {"command": "ls"})),
        "Done.",
    ]
    run = record_run(Agent(ScriptedClient(script), workspace_tools(workspace)).run("Double by adding."))
    assert run.error is None
    results = [event.result for event in run.events if isinstance(event, ToolFinished)]
    assert [result.is_error for result in results] == [True, False, True, False, True, False, True]
    assert "leaves the workspace" in results[0].text
    assert results[1].text == "src/util.py (2 lines)\n" + FILES["src/util.py"]
    assert "missing 'path'" in results[2].text
    assert results[3].text == "edited src/util.py: 1 replacement, 2 -> 2 lines"
    assert re.search(r"ZeroDivisionError: .*\nexit code 1$", results[5].text)
    assert workspace.read_text("src/util.py") == "def twice(x):\n    return x + x\n"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("write_file", {"path": "new.txt", "content": "a\n[… 900 of 1,000 tokens left out …]\n"}),
        ("edit_file", {"path": "src/app.py", "old_text": "x", "new_text": "[text left out: 80 tokens]"}),
    ],
)
def test_a_mark_of_a_compaction_is_not_written(call, tool, given):
    """A model that copies a mark out of an old message is told to read the file again; nothing is written."""
    assert "read the file again" in refusal(call, tool, **given)
