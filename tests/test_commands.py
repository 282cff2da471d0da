"""Commands: they end, they fit, they say the same everywhere, and they get no key."""

import os
import sys
import sysconfig
import threading
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.errors import ToolError
from course_lib.simulation import commands
from course_lib.simulation.commands import (
    CommandResult,
    _Output,
    clean_environment,
    run_program,
    search_texts,
    split_command,
)


@pytest.fixture
def run(tmp_path):
    """Run Python code in a folder of its own; return the result and how long it took."""

    def run_code(code, *args, timeout_seconds=20.0, max_output_chars=1_000, **more):
        return run_program(
            ["python", "-c", code, *args],
            cwd=tmp_path,
            timeout_seconds=timeout_seconds,
            max_output_chars=max_output_chars,
            **more,
        )

    return run_code


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("python -m tests", ["python", "-m", "tests"]),
        ("  python\t-m  tests \n", ["python", "-m", "tests"]),
        ("python -c 'print(1); print(2)'", ["python", "-c", "print(1); print(2)"]),
        ('python -c "a\n\nb"', ["python", "-c", "a\n\nb"]),
        ("python -c 'a' \"b c\" d\\ e ''", ["python", "-c", "a", "b c", "d e", ""]),
        ("python x.py --a=b,c *.py $HOME #1 ~ é", ["python", "x.py", "--a=b,c", "*.py", "$HOME", "#1", "~", "é"]),
    ],
)
def test_split_command(command, words):
    """A command is split at blanks, quotes keep words together, and nothing is expanded."""
    assert split_command(command, ["python"]) == words


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("", "program '' is not allowed: start the command with python or git"),
        ("rm -rf .", "program 'rm' is not allowed"),
        ("/usr/bin/python x.py", "program '/usr/bin/python' is not allowed"),
        ("PYTHONPATH=. python x.py", "program 'PYTHONPATH=.' is not allowed"),
        ("pytho", "not allowed"),
        ("python 'x.py", r"cannot be split into words \(No closing quotation\): close the quotes"),
        ("python -m tests | tail", r"'\|' needs a shell, and there is none: give one program"),
        ("python -m tests|tail", r"'\|' needs a shell"),
        ("python a.py && python b.py", "'&&' needs a shell"),
        ("cd freight; python a.py", "';' needs a shell"),
        ("python a.py > out.txt", "'>' needs a shell"),
        ("python a.py 2>&1", "'>&' needs a shell"),
        ("python a.py <in.txt", "'<' needs a shell"),
        ("python a.py &", "'&' needs a shell"),
        ("python a.py\npython b.py", r"'\\n' needs a shell"),
        ("python $(pwd)", r"'\(' needs a shell"),
    ],
)
def test_split_command_refuses(command, reason):
    """Other programs, open quotes and whatever needs a shell are refused with the way out."""
    with pytest.raises(ToolError, match=reason):
        split_command(command, ["python", "git"])


def test_python_is_this_interpreter(run):
    """The word python is the interpreter that runs the course, started in the given folder."""
    result = run("import sys; print(sys.version_info[:3], *sys.argv[1:])", "one arg", "*")
    assert result == CommandResult(0, f"{tuple(sys.version_info[:3])} one arg *\n")
    assert not result.timed_out


@pytest.mark.parametrize(
    ("code", "exit_code", "output"),
    [
        ("pass", 0, ""),
        ("import sys; sys.exit(3)", 3, ""),
        ("import sys; print(1); print(2, file=sys.stderr); print(3)", 0, "1\n2\n3\n"),
        ("print('ä€😀')", 0, "ä€😀\n"),
        ("import sys; sys.stdout.buffer.write(b'a\\xff\\xfeb \\xe2\\x82')", 0, "a��b �"),
        ("import sys; sys.stdout.buffer.write(b'a\\r\\nb\\rc\\n')", 0, "a\nb\nc\n"),
        ("import sys; print(repr(sys.stdin.read()))", 0, "''\n"),
    ],
)
def test_results(run, code, exit_code, output):
    """Exit code and output come back: both streams in order, any bytes, one kind of line end; there is no input."""
    assert run(code) == CommandResult(exit_code, output)


@pytest.mark.skipif(os.name != "posix", reason="no signals here")
def test_a_crash_is_a_negative_exit_code(run):
    """A program that a signal ends is told from one that was stopped by the time-out."""
    assert run("import os; os.kill(os.getpid(), 9)") == CommandResult(-9, "")


def test_absolute_paths_are_not_shown(run, tmp_path):
    """The folder is shown as a dot and Python's library by a name, so that every machine says the same."""
    result = run("import os, json; print(os.getcwd(), os.path.join(os.getcwd(), 'a.py'), json.__file__)")
    assert result.output.replace("\\", "/") == ". ./a.py <python>/json/__init__.py\n"


def test_environment_is_an_allow_list(run, monkeypatch):
    """No key of any provider gets through, nor settings that would change the output."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "PYTHONPATH", "PYTHONSTARTUP"):
        monkeypatch.setenv(name, "sk-secret")
    output = run("import os; print(dict(os.environ))", max_output_chars=50_000).output
    assert "secret" not in output
    assert "'PYTHONDONTWRITEBYTECODE': '1'" in output
    assert "'PYTHONHASHSEED': '0'" in output
    assert "'NO_COLOR': '1'" in output
    assert clean_environment()["PATH"] == os.environ["PATH"]


def test_given_environment_is_the_whole_one(run):
    """An environment that is given is used as it is."""
    env = clean_environment() | {"COLOUR": "blue"}
    assert run("import os; print(os.environ['COLOUR'])", env=env).output == "blue\n"


def test_timeout_stops_a_sleeper(run):
    """A program that would sleep for ever is stopped, and what it said before is kept."""
    start = time.monotonic()
    result = run("import time; print('hello'); time.sleep(1000)", timeout_seconds=0.5)
    assert result == CommandResult(None, "hello\n")
    assert result.timed_out
    assert time.monotonic() - start < 5


def test_timeout_stops_one_that_closed_its_output(run):
    """A closed output is not taken for the end of the program."""
    assert run("import os, time; os.close(1); os.close(2); time.sleep(1000)", timeout_seconds=0.5).timed_out
    assert run("import os, time; os.close(1); os.close(2); time.sleep(0.1); os._exit(4)").exit_code == 4


def test_endless_output_is_bounded(run):
    """Of endless output the head and the tail are kept, and how much lies between."""
    code = "import os\nos.write(1, b'head ' * 20)\nwhile True: os.write(1, b'x' * 65536)"
    result = run(code, timeout_seconds=0.5, max_output_chars=200)
    head, gap, tail = result.output.split("\n")
    assert (head, tail) == ("head " * 20, "x" * 100)
    assert gap.startswith("[… ")
    assert gap.endswith(" characters left out …]")


HEARTBEAT = """
import os, subprocess, sys, time
grandchild = '''
import sys, time
while True:
    with open("beats", "a") as file: file.write("x")
    time.sleep(0.01)
'''
subprocess.Popen([sys.executable, "-c", grandchild])
while not os.path.exists("beats"): time.sleep(0.01)
print("started")
"""


def has_heart_stopped(folder):
    """Whether the grandchild, which has started, writes no more."""
    beats = (folder / "beats").stat().st_size
    time.sleep(0.15)
    return (folder / "beats").stat().st_size == beats


@pytest.mark.parametrize("end", [None, KeyboardInterrupt()])
def test_grandchildren_are_killed(run, tmp_path, monkeypatch, end):
    """Whatever a program started is gone with it, after a time-out and after Ctrl-C, which goes on to the caller."""

    def wait_for_heart(process, reader, timeout_seconds):
        while not (tmp_path / "beats").exists():  # instead of a time that would be too short on a busy machine
            time.sleep(0.01)
        if end:
            raise end

    monkeypatch.setattr(commands, "_wait", wait_for_heart)
    if end:
        with pytest.raises(KeyboardInterrupt):
            run(HEARTBEAT + "time.sleep(1000)")
    else:
        assert run(HEARTBEAT + "time.sleep(1000)").timed_out
    assert has_heart_stopped(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="Windows cannot find them any more")
def test_what_a_program_leaves_running_is_killed(run, tmp_path):
    """A program that ends well leaves nothing behind, and its end is noticed although its output is held open."""
    assert run(HEARTBEAT) == CommandResult(0, "started\n")
    assert has_heart_stopped(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="sessions are POSIX")
def test_a_program_that_got_away_does_not_hold_us_up(run, monkeypatch):
    """A grandchild in a session of its own keeps the output open; we do not wait for its end."""
    monkeypatch.setattr(commands, "_LAST_WORDS_SECONDS", 0.1)
    code = """if True:
        import subprocess, sys
        subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(4)'], start_new_session=True)
        print('x')
    """
    start = time.monotonic()
    assert run(code) == CommandResult(0, "x\n")
    assert time.monotonic() - start < 3


def test_no_thread_is_left(run):
    """A command leaves no reader behind."""
    before = set(threading.enumerate())
    run("print(1)")
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (["no-such-program"], "program 'no-such-program' cannot be started"),
        (["python", "-c", "a\0b"], "cannot be started"),
    ],
)
def test_what_cannot_be_started(tmp_path, args, reason):
    """A program that does not start is a refusal that names no path of the machine."""
    with pytest.raises(ToolError, match=reason) as caught:
        run_program(args, cwd=tmp_path, timeout_seconds=5, max_output_chars=100)
    assert str(tmp_path) not in str(caught.value)


def test_a_folder_that_is_gone(tmp_path):
    """A workspace that was closed is named as the reason, not the program."""
    with pytest.raises(ToolError, match="workspace folder is gone"):
        run_program(["python"], cwd=tmp_path / "gone", timeout_seconds=5, max_output_chars=100)


@given(
    parts=st.lists(st.sampled_from(["<root>", "<lib>", "abc", "\n", "\r\n", "é", "😀", "/", "."]), max_size=20),
    cuts=st.lists(st.integers(0, 300), max_size=6),
    max_chars=st.integers(1, 60),
)
def test_output_does_not_depend_on_chunks(tmp_path_factory, parts, cuts, max_chars):
    """However the bytes arrive, the text is the same: cleaned as a whole, then its head, gap and tail."""
    root = tmp_path_factory.getbasetemp()
    real = {"<root>": str(root), "<lib>": sysconfig.get_path("stdlib")}
    shown = {"<root>": ".", "<lib>": "<python>", "\r\n": "\n"}
    data = "".join(real.get(part, part) for part in parts).encode()
    output = _Output(max_chars, root)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for start, end in pairwise(edges):
        output.add(data[start:end])
    whole = "".join(shown.get(part, part) for part in parts)
    head, rest = whole[: max_chars // 2], whole[max_chars // 2 :]
    left_out = len(rest) - (max_chars - max_chars // 2)
    gap = f"\n[… {left_out} characters left out …]\n" if left_out > 0 else ""
    assert output.text() == head + gap + rest[max(0, left_out) :]


def test_search_finds_lines():
    """Matches come with path and line number, in the order of the files and lines; only line ends separate lines."""
    texts = {"b.py": "one\ntwo\n\nno end", "a.py": "", "c.py": "\n", "d.py": "form\x0cfeed\u2028two\n"}
    assert search_texts("two$", texts, timeout_seconds=5) == [("b.py", 2, "two"), ("d.py", 1, "form\x0cfeed\u2028two")]
    assert [hit[:2] for hit in search_texts("^$", texts, timeout_seconds=5)] == [("b.py", 3), ("c.py", 1)]


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "a{99999999999}", "(?P<x>a)(?P<x>b)", "\\", "(" * 5_000])
def test_search_refuses_what_is_no_pattern(pattern):
    """An invalid regular expression is a refusal that says what is wrong with it."""
    with pytest.raises(ToolError, match="cannot be searched for") as caught:
        search_texts(pattern, {"a": "x"}, timeout_seconds=5)
    assert len(str(caught.value)) < 300


def test_a_catastrophic_pattern_does_not_hang():
    """A pattern that would take for ever is given up after the time-out."""
    start = time.monotonic()
    with pytest.raises(ToolError, match=r"takes longer than 0\.3 seconds"):
        search_texts("(a+)+$", {"a": "a" * 60 + "b"}, timeout_seconds=0.3)
    assert time.monotonic() - start < 3
