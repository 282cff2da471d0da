"""The runner: a tick can be trusted, a cross is explained, and nothing that a learner writes makes it hang."""

import json
import linecache
import os
import sys
import tempfile
import threading
import types
from itertools import count
from pathlib import Path

import pytest

from course_lib.checks.catalogue import find_exercise
from course_lib.checks.exercise import Exercise
from course_lib.learner import runner, worker
from course_lib.learner.answers import CannotTakeAlongError, is_stub, pack
from course_lib.learner.cells import AnswerNotFoundError, answer_from_notebook, plain_python, read_cells
from course_lib.learner.guard import Guard
from course_lib.learner.own_lines import is_own_file, line_in_dump
from course_lib.learner.runner import CourseCheckError, run_check

ADD = Exercise(id="00.9", title="Add", kind="implement", minutes=1, answer_name="add", hints=("a", "b", "c"))
CHECK = '''
import pytest
from course_lib.checks.expectations import Mistake, expect

def test_small(answer):
    """Small numbers are added."""
    expect(answer, 1, 2, returns=3, mistakes=(Mistake(-1, "You subtract."),))

@pytest.mark.parametrize("number", [0, 7])
def test_zero(answer, number):
    """Zero changes nothing."""
    expect(answer, number, 0, returns=number)
'''
numbers = count(1)
on_posix = pytest.mark.skipif(os.name != "posix", reason="signals, forks and limits are POSIX")


@pytest.fixture(scope="module")
def check_file(tmp_path_factory):
    """A small check without hypothesis, for speed."""
    file = tmp_path_factory.mktemp("checks") / "check_add.py"
    file.write_text(CHECK)
    return file


@pytest.fixture
def check(check_file):
    """Check an answer that a notebook's cell defines."""

    def run(cell, *, seconds=10.0, file=check_file, name="add"):
        return run_check(ADD, answer=define(cell, name), seconds=seconds, check_file=file)

    return run


def define(cell, name="add"):
    """Run the text as a kernel runs a cell, and return what has the name then."""
    file = f"/tmp/ipykernel_1/{next(numbers)}.py"
    linecache.cache[file] = (len(cell), None, cell.splitlines(keepends=True), file)
    namespace = {"__name__": "__main__"}
    exec(compile(cell, file, "exec"), namespace)
    return namespace[name]


@pytest.fixture(scope="module")
def failures(tmp_path_factory):
    """What one check says of each of the cells of `ONE_BY_ONE`, all in one run for speed."""
    file = tmp_path_factory.mktemp("many") / "check_many.py"
    lines = ["from course_lib.checks.expectations import expect"]
    for name in ONE_BY_ONE:
        lines.append(f"def test_{name}(answer):\n    '{name}.'\n    expect(answer[{name!r}], 1, 2, returns=3)")
    file.write_text("\n".join(lines))
    functions = {name: define(cell) for name, cell in ONE_BY_ONE.items()}
    result = run_check(ADD, answer=functions, check_file=file)
    assert len(result.tests) == len(ONE_BY_ONE)
    assert not [name for name in ("course_lib", "_pytest", "ipykernel", "Traceback", ".py") if name in str(result)]
    return {test.title.strip("."): test.failure for test in result.tests}


ONE_BY_ONE = {
    "sum_lambda": "add = lambda a, b: sum((a, b))",
    "helper": "step = 1\ndef more(a): return a + step\ndef add(a, b): return add(more(a), b - step) if b > 0 else a",
    "partial": "from functools import partial\nimport operator\nadd = partial(operator.add)",
    "instance": "class Adder:\n    def __call__(self, a, b): return a + b\nadd = Adder()",
    "in_helper": "def half(x):\n    return x / 0\n\ndef add(a, b):\n    return half(a)",
    "method": "class Tools:\n    def go(self, a):\n        return a.b\ndef add(a, b): return Tools().go(a)",
    "library": "import json\ndef add(a, b):\n    return json.loads('x')",
    "own_class": "class OddError(BaseException): pass\ndef add(a, b):\n    raise OddError('no')",
    "recursion": "def add(a, b):\n    return add(b, a)",
    "parameters": "def add(a): return a",
    "sys_exit": "import sys\ndef add(a, b): sys.exit(0)",
    "exit": "def add(a, b): exit()",
    "interrupt": "def add(a, b): raise KeyboardInterrupt",
    "generator_exit": "def add(a, b): raise GeneratorExit",
    "skip": "import pytest\ndef add(a, b): pytest.skip('no')",
    "xfail": "import pytest\ndef add(a, b): pytest.xfail('no')",
    "pytest_exit": "import pytest\ndef add(a, b): pytest.exit('no', returncode=0)",
    "pytest_fail": "import pytest\ndef add(a, b): pytest.fail('no')",
    "skip_test": "import unittest\ndef add(a, b): raise unittest.SkipTest('no')",
    "reject": "import hypothesis\ndef add(a, b): hypothesis.reject()",
    "equal": "class Yes:\n    def __eq__(self, other): return True\ndef add(a, b): return Yes()",
    "equal_number": "class Yes(int):\n    def __eq__(self, other): return True\ndef add(a, b): return Yes()",
}


def first(result):
    """Return what the first test that did not pass says; the answer did not pass."""
    assert not result.passed
    assert result.first_failure, str(result)
    return result.first_failure.failure


# --- right and wrong -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sum_lambda", "helper", "partial", "instance"])
def test_a_right_answer_passes(failures, name):
    """Functions of every kind pass, with the globals and helpers they use."""
    assert failures[name] is None


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("return max(0, window_tokens - reserve_tokens - used_tokens)", "passed (all 5 checks)"),
        ("return window_tokens - reserve_tokens - used_tokens", "It goes below 0."),
        ("return max(0, min(window_tokens, 500_000) - reserve_tokens - used_tokens)", "Whatever the numbers"),
    ],
)
def test_the_example_exercise(cell, says):
    """Exercise 00.1 passes the right answer, and names a mistake; hypothesis finds what no example shows."""
    function = define(f"def tokens_left(window_tokens, reserve_tokens, used_tokens):\n    {cell}", "tokens_left")
    text = str(run_check(find_exercise("00.1"), answer=function))
    assert says in text
    assert ("not yet" in text) == ("passed (all" not in text)


def test_a_wrong_answer_is_explained(check):
    """The first check that does not pass says all; rows of a table are one check; what passed is counted."""
    result = check("def add(a, b):\n    print('adding', a)\n    return a - b")
    failure = first(result)
    assert (failure.called, failure.expected, failure.got) == ("add(1, 2)", "3", "-1")
    assert (failure.likely_cause, failure.printed) == ("You subtract.", "adding 1\n")
    assert [(test.title, test.passed) for test in result.tests] == [
        ("Small numbers are added.", False),
        ("Zero changes nothing.", True),
    ]
    assert result.printed == "adding 1\nadding 0\nadding 7"


def test_nobody_but_the_check_looks_at_an_answer(check):
    """Pytest writes no report of its own, for which it would ask the learner's values for their `repr`."""
    loud = "class Loud:\n    def __repr__(self): print('asked')\n    def __call__(self, a, b): return 0\nadd = Loud()"
    result = check(loud)
    assert first(result).called == "Loud(1, 2)"
    assert result.printed == ""


def test_two_runs_say_the_same():
    """The text of a result, hypothesis's example included, is the same in every run."""
    cell = "def tokens_left(w, r, u):\n    print(w, r, u)\n    return max(0, w - r - u) if w < 77_777 else object()"
    one, other = (run_check(find_exercise("00.1"), answer=define(cell, "tokens_left")) for _ in range(2))
    assert str(one) == str(other)
    assert "got:          <object>" in str(one)
    assert one._repr_html_() == other._repr_html_()


@pytest.mark.parametrize(
    ("name", "got", "where"),
    [
        ("in_helper", "ZeroDivisionError: division by zero", "in half, line 2: return x / 0"),
        ("method", "AttributeError: 'int' object has no attribute 'b'", "in Tools.go, line 3: return a.b"),
        ("library", "JSONDecodeError: Expecting value", "in add, line 3: return json.loads('x')"),
        ("own_class", "OddError: no", "in add, line 3: raise OddError('no')"),
        ("recursion", "RecursionError: maximum recursion depth exceeded", "in add, line 2: return add(b, a)"),
        ("parameters", "TypeError: add() takes 1 positional argument but 2 were given", ""),
    ],
)
def test_an_exception_shows_the_learners_line(failures, name, got, where):
    """An exception shows its last line and the innermost line that the learner wrote."""
    assert failures[name].got.startswith(got)
    assert failures[name].where == where


def test_a_changed_input_is_noticed(tmp_path, check):
    """An answer that changes its argument does not pass, even with the right result."""
    file = tmp_path / "check_add.py"
    file.write_text(CHECK.replace("1, 2, returns=3", "[1], [2], returns=[1, 2]"))
    failure = first(check("def add(a, b):\n    a += b\n    return a", file=file))
    assert "it changed its input: ([1, 2], [2])" in failure.got


def test_answers_that_are_classes_and_values(tmp_path):
    """A check may get a class or a value."""
    file = tmp_path / "check_add.py"
    file.write_text(
        'def test_it(answer):\n    """It is six."""\n    assert (answer() if callable(answer) else answer) == 6'
    )
    for cell in ("class add(int):\n    def __new__(cls): return super().__new__(cls, 6)", "add = 6"):
        assert run_check(ADD, answer=define(cell), check_file=file).passed
    assert not run_check(ADD, answer=5, check_file=file).passed


# --- nothing written yet ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("def add(a, b): ...", True),
        ("def add(a, b):\n    '''Add.'''\n    ...", True),
        ("def add(a, b):\n    '''Add.'''", True),
        ("def add(a, b):\n    pass", True),
        ("def add(a, b):\n    return ...", True),
        ("def add(a, b):\n    raise NotImplementedError", True),
        ("def add(a, b):\n    raise NotImplementedError('later')", True),
        ("class add:\n    def __init__(self): ...\n    def go(self): ...", True),
        ("add = ...", True),
        ("add = None", True),
        ("add = {'keep': ...}", True),
        ("from dataclasses import dataclass\n@dataclass\nclass S:\n    keep: object\nadd = S(...)", True),
        ("def add(a, b):\n    return 0", False),
        ("def add(a, b):\n    return a", False),
        ("def add(a, b):\n    print(a)", False),
        ("def add(a, b):\n    raise ValueError", False),
        ("class add:\n    def __init__(self): ...\n    def go(self): return 1", False),
        ("class add: pass", False),
        ("add = 0", False),
        ("add = {}", False),
        ("add = len", False),
    ],
)
def test_is_stub(cell, expected):
    """Code that does nothing yet is told from code that does something."""
    assert is_stub(define(cell)) is expected


def test_a_stub_is_no_mistake(check):
    """An exercise that was not begun gets a kind word, and no test runs."""
    text = str(check("def add(a, b):\n    ..."))
    assert "not yet\n\nNothing to check yet: replace the three dots in `add`" in text


# --- code that does not end, or ends everything ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "where"),
    [
        ("def add(a, b):\n    while True: pass", "in add, line 2: while True: pass"),
        ("def add(a, b):\n    return 10 ** 10 ** 8", "in add, line 2: return 10 ** 10 ** 8"),
        ("import re\ndef add(a, b):\n    re.match('(a+)+$', 'a' * 99 + 'b')", "in add, line 3: re.match('(a+)+$',"),
    ],
)
def test_an_endless_answer_is_cut_off(check, cell, where):
    """Endless loops in Python and in C are stopped; the check, the call and the line are named."""
    result = check(cell, seconds=0.3)
    failure = first(result)
    assert result.first_failure.title == "Small numbers are added."
    assert failure.says == "Your code did not come to an end: it was stopped after 0.3 seconds."
    assert failure.called == "add(1, 2)"
    assert failure.where.startswith(where)
    assert "endless loop" in failure.likely_cause


def test_endless_prints_are_bounded(check):
    """Of endless output the head and the tail are shown."""
    result = check("def add(a, b):\n    while True: print('x' * 1000)", seconds=0.5)
    assert "did not come to an end" in first(result).says
    assert "characters left out" in result.printed
    assert len(str(result)) < 6_000


def test_a_time_out_that_the_answer_turned_off(check, monkeypatch):
    """The parent stops what the child's own alarm did not."""
    monkeypatch.setattr(runner, "START_SECONDS", 3.0)
    cell = "import faulthandler\ndef add(a, b):\n    faulthandler.cancel_dump_traceback_later()\n    while True: pass"
    assert "did not come to an end" in first(check(cell, seconds=0.2)).says


@pytest.mark.parametrize("name", ["sys_exit", "exit", "interrupt", "generator_exit"])
def test_leaving_is_not_passing(failures, name):
    """An exit or an interrupt in the code is shown as an exception."""
    assert failures[name].got.partition(":")[0] in ("SystemExit", "KeyboardInterrupt", "GeneratorExit")


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("import os\ndef add(a, b): os._exit(0)", "Your code ended Python before the check was done."),
        ("import os\ndef add(a, b): os.abort()", "Your code made Python itself crash"),
        pytest.param(  # on Windows it is an exception
            "import ctypes\ndef add(a, b): ctypes.string_at(0)", "Your code made Python itself crash", marks=on_posix
        ),
    ],
)
def test_exits_and_crashes_are_not_yet(check, cell, says):
    """When the code takes the process with it, the text says how, and in which call."""
    failure = first(check(cell))
    assert says in failure.says
    assert failure.called == "add(1, 2)"


@on_posix
def test_a_killed_process(check):
    """What the system kills most likely took all of the memory."""
    assert "The system ended your code" in first(check("import os\ndef add(a, b): os.kill(os.getpid(), 9)")).says


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not limit a process's memory")
def test_too_much_memory(check, monkeypatch):
    """A list that grows without end meets a limit, not the machine's."""
    monkeypatch.setattr(runner, "MEMORY_BYTES", 600_000_000)
    failure = first(check("def add(a, b):\n    big = []\n    while True: big.append(bytearray(10_000_000))"))
    assert (failure.got, failure.where[:14]) == ("MemoryError", "in add, line 3")
    assert "more memory" in failure.likely_cause


def test_threads_left_behind(check):
    """A thread that goes on does not hold up the result."""
    body = "threading.Thread(target=time.sleep, args=(99,)).start()\n    return a + b"
    assert check(f"import threading, time\ndef add(a, b):\n    {body}").passed


# --- answers that would pass without being right ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "got"),
    [
        ("skip", "Skipped: no"),
        ("xfail", "XFailed: no"),
        ("pytest_exit", "Exit: no"),
        ("pytest_fail", "Failed: no"),
        ("skip_test", "SkipTest: no"),
        ("reject", "UnsatisfiedAssumption"),
        ("equal", "<Yes>"),
        ("equal_number", "0"),
    ],
)
def test_verdicts_of_the_answers_own(failures, name, got):
    """An answer cannot skip its check, end it well, or say itself that it is equal."""
    assert failures[name].got.startswith(got)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ("import builtins\n    builtins.repr = lambda *a: ''", "builtins.repr"),
        ("from course_lib.checks import expectations\n    expectations._difference = lambda *a: ''", "_difference"),
        ("import sys\n    next(m for n, m in sys.modules.items() if 'check_add' in n).expect = print", "expect"),
        ("from _pytest.python import Function\n    Function.runtest = lambda self: None", "Function.runtest"),
    ],
)
def test_a_changed_judge_is_no_judge(check, change, name):
    """An answer that replaces parts of Python, of pytest or of the check is not judged, and told which."""
    result = check(f"def add(a, b):\n    {change}\n    return 0")
    assert not result.passed
    assert result.stopped is not None, str(result)
    assert name in result.stopped.says


@on_posix
def test_a_forked_process_does_not_count(check):
    """A copy of the process that an answer makes writes no results."""
    result = check("import os\ndef add(a, b):\n    return 3 if os.fork() == 0 else 4")
    assert first(result).got == "4"


def test_results_that_the_answer_wrote(check):
    """Events that the answer writes itself, with an end, are no pass."""
    names = ["check_add.py::test_small", "check_add.py::test_zero[0]", "check_add.py::test_zero[7]"]
    events = [{"event": "finish", "test": name, "failure": None} for name in names]
    events.append({"event": "end", "exit_code": 0, "seal": ""})
    text = "\n".join(map(json.dumps, events))
    cell = f"import os\ndef add(a, b):\n    open('events.jsonl', 'a').write({text!r} + chr(10))\n    os._exit(0)"
    assert not check(cell).passed


def test_the_guard_names_and_mends():
    """What was replaced, shadowed, deleted or rewritten inside is named and put back; other values may change."""
    module = types.ModuleType("judge")
    exec("def weigh(x): return x\nclass Scale:\n    def read(self): return 1\nseen = 0\nspare = len", vars(module))
    weigh, read = module.weigh, module.Scale.read
    guard = Guard([module])
    module.seen = 5
    module.later = lambda: 0
    assert guard.undo() == []
    module.len, module.Scale.read = print, print
    module.weigh.__code__ = (lambda _x: 2).__code__
    del module.spare
    assert sorted(guard.undo()) == ["judge.Scale.read", "judge.len", "judge.spare", "judge.weigh.__code__"]
    assert (module.weigh, module.Scale.read, module.spare) == (weigh, read, len)
    assert module.weigh(1) == 1
    assert not hasattr(module, "len")
    assert guard.undo() == []


# --- what cannot come along ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("later = (n for n in 'ab')\ndef add(a, b): return next(later)", "add uses `later`, of type generator"),
        (
            "import threading\nlock = threading.Lock()\ndef add(a, b):\n    with lock: return a",
            "add uses `lock`, of type lock",
        ),
        (
            "def make(later):\n    def add(a, b): return next(later)\n    return add\nadd = make(n for n in 'ab')",
            "add uses `later`, of type generator",
        ),
        (
            "later = (n for n in 'ab')\nclass add:\n    def go(self): return next(later)",
            "go uses `later`, of type generator",
        ),
        ("add = (n for n in 'ab')", "Your answer cannot be copied"),
        (
            "class Rude:\n    def __reduce__(self): raise KeyError\nrude = Rude()\ndef add(a, b): return rude",
            "of type Rude",
        ),
    ],
)
def test_what_cannot_be_copied_is_named(check, cell, says):
    """An open thing that the answer uses is named, with the way out; no test runs."""
    result = check(cell)
    assert not result.passed
    assert says in result.stopped.says


def test_too_much_to_copy(monkeypatch):
    """An answer that drags a whole data set along is told so."""
    monkeypatch.setattr("course_lib.learner.answers.MAX_PICKLE_BYTES", 1_000)
    with pytest.raises(CannotTakeAlongError, match="too much for a check"):
        pack(define("text = 'x' * 2_000\ndef add(a, b): return text"))


def test_an_answer_that_cannot_be_loaded(check):
    """What pickles but does not load again is no error of the course."""
    cell = "class Odd:\n    def __reduce__(self): return (int, ('x',))\nodd = Odd()\ndef add(a, b): return odd"
    result = check(cell)
    assert "cannot be loaded" in result.stopped.says
    assert "ValueError: invalid literal" in result.stopped.got


# --- errors of the course --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "details"),
    [
        ("import no_such_module", "no test was collected"),
        ("def helper(answer): pass", "no test was collected"),
        ("def test_a(anwser): pass", "anwser"),
        ("import pytest\n@pytest.mark.skip\ndef test_a(answer): pass", "Skipped"),
        (
            "from hypothesis import given, strategies as st\n@given(st.nothing())\ndef test_a(answer, n): pass",
            "Unsatisfiable|Unsatisfied|nothing",
        ),
    ],
)
def test_a_broken_check_is_the_courses_fault(tmp_path, check, text, details):
    """A check file that is wrong is an error of the course for every answer, right or wrong."""
    file = tmp_path / "check_add.py"
    file.write_text(text)
    with pytest.raises(CourseCheckError, match=f"(?s)error of the course.*({details})"):
        check("def add(a, b): return a + b", file=file)


def test_a_check_file_that_is_missing(tmp_path, check):
    """A missing file is an error of the course."""
    with pytest.raises(CourseCheckError):
        check("def add(a, b): return a + b", file=tmp_path / "check_gone.py")


def test_what_the_run_needs():
    """Either an answer or a notebook is checked."""
    for wrong in ({}, {"answer": 1, "notebook": Path("x.ipynb")}):
        with pytest.raises(TypeError, match="an answer or a notebook"):
            run_check(ADD, **wrong)


# --- the process -----------------------------------------------------------------------------------------------------


def test_no_key_goes_along(check, monkeypatch):
    """The process that runs a learner's code has no provider's key."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    assert "secret" not in check("import os\ndef add(a, b):\n    print(dict(os.environ))\n    return a + b").printed


def test_the_temporary_folder_is_removed(check, monkeypatch, tmp_path):
    """Nothing is left of a check, also after an interrupt of the notebook."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert check("def add(a, b):\n    open('left', 'w').write('x')\n    return a + b").passed
    assert list(tmp_path.iterdir()) == []

    def interrupt(*_args, **_kwargs):
        assert list(tmp_path.iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "run_program", interrupt)
    with pytest.raises(KeyboardInterrupt):
        check("def add(a, b): return a + b")
    assert list(tmp_path.iterdir()) == []


@on_posix
def test_the_cache_is_the_learners_own(monkeypatch, tmp_path):
    """What hypothesis keeps lies in a folder that only the learner can write; another's, or a link, is not used."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = worker._own_cache_folder()
    assert folder.parent == tmp_path
    assert folder.stat().st_mode & 0o777 == 0o700
    assert worker._own_cache_folder() == folder
    folder.rmdir()
    folder.symlink_to(tmp_path)
    assert worker._own_cache_folder() is None
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    assert worker._own_cache_folder() is None


def test_no_folder_to_work_in(check, monkeypatch, tmp_path):
    """A full or missing disk is said as such."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(CourseCheckError, match="no temporary folder"):
        check("def add(a, b): return a + b")


def test_output_of_every_kind(check):
    """Unicode, halves of characters and bytes that are no text come out readable, and do no harm."""
    cell = (
        "import os, sys\ndef add(a, b):\n    print('héé 中 😀 \\udc80')\n    sys.stdout.buffer.write(b'\\xff\\n')\n"
        "    os.write(2, b'raw\\x1b[1m\\n')\n    return a + b if b else '\\ud800'"
    )
    result = check(cell)
    assert "héé 中 😀 \\udc80\n\ufffd\nraw\\x1b[1m" in result.printed
    str(result).encode("utf-8")
    assert first(result).got == "'\\ud800'"


def test_modules_beside_the_notebook(check, monkeypatch, tmp_path):
    """An answer may use the learner's own modules, and their lines are the learner's."""
    (tmp_path / "my_tools.py").write_text("def plus(a, b):\n    return a + b + missing\n")
    monkeypatch.syspath_prepend(tmp_path)
    failure = first(check("from my_tools import plus\ndef add(a, b): return plus(a, b)"))
    assert failure.where == "in plus, line 2: return a + b + missing"


def test_whose_file_it_is(tmp_path):
    """Cells and modules of the learner's are theirs; the course, Python and packages are not."""
    mine = tmp_path / "mine.py"
    mine.touch()
    assert is_own_file(str(mine), {})
    assert is_own_file("<cell 3>", {})
    assert is_own_file("/tmp/ipykernel_1/2.py", {"/tmp/ipykernel_1/2.py": ""})
    for name in (runner.__file__, json.__file__, pytest.__file__, "<string>", "<frozen runpy>", str(tmp_path / "gone")):
        assert not is_own_file(name, {})


def test_a_dump_without_own_lines():
    """Where no line is the learner's, none is shown; of a line past the end of the cell, only the number."""
    assert line_in_dump('  File "a.py", line 3 in f', {}) == ""
    assert line_in_dump('  File "<cell 1>", line 3 in <module>', {"<cell 1>": "x"}) == "line 3"


def test_the_kernel_stays_as_it_is(check):
    """A check leaves no thread and no module behind."""
    threads, modules = set(threading.enumerate()), set(sys.modules)
    check("def add(a, b): return a + b")
    assert set(threading.enumerate()) <= threads
    assert not [name for name in set(sys.modules) - modules if name.startswith(("_pytest", "check_"))]


# --- from a notebook's file ------------------------------------------------------------------------------------------

RIGHT = "def add(a, b):\n    return a + b"


@pytest.fixture
def check_notebook(tmp_path, check_file):
    """Check a notebook of these code cells; those marked with # EXERCISE are the exercise's."""

    def run(*cells, seconds=10.0):
        notebook = tmp_path / "00_work.ipynb"
        notebook.write_text(json.dumps({"cells": [as_cell(cell) for cell in cells], "metadata": {}, "nbformat": 4}))
        return run_check(ADD, notebook=notebook, seconds=seconds, check_file=check_file)

    return run


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Take the answer out of a notebook of these cells, in this process."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])

    def answer_of(*cells):
        notebook = tmp_path / "00_work.ipynb"
        notebook.write_text(json.dumps({"cells": [as_cell(cell) for cell in cells]}))
        return answer_from_notebook(notebook, "00.9", "add")

    return answer_of


def as_cell(source):
    """Return a notebook's cell with this text."""
    if source.startswith("# Text"):
        return {"cell_type": "markdown", "metadata": {}, "source": source}
    tags = {"tags": ["exercise"], "exercise": "00.9" if "# EXERCISE" in source else "00.8"} if "# E" in source else {}
    return {"cell_type": "code", "metadata": tags, "source": source.splitlines(keepends=True), "outputs": []}


def test_a_notebook_as_learners_have_it(check_notebook):
    """Magics, shell lines, broken and odd cells are passed over; cells after the check do not run."""
    result = check_notebook(
        "# Text",
        "%matplotlib inline\nimport os\nfrom course_lib.learner import check, hint, solution, question, display",
        "!ls\nbase = 0\nfiles = !ls",
        "%%time\nextra = base",
        "%%bash\nrm -rf nothing",
        "this is no Python",
        "1 / 0",
        "print('x' * 10_000)\nraise SystemExit",
        "# E\ndef other(): ...\ncheck(other)\nhint('00.1')\ndisplay(3)\nbase?",
        "from dataclasses import dataclass\n@dataclass\nclass Pair:\n    a: int\n    b: int",
        "# EXERCISE\ndef add(a, b):\n    pair = Pair(a, b)\n    return pair.a + pair.b + extra\ncheck(add)\nadd(1)",
        "os._exit(1)",
    )
    assert result.passed, str(result)
    assert result.printed == ""


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (("# EXERCISE\ndef add(a, b): ...", "# E\nx = 1", RIGHT), "replace the three dots in `add`"),
        (
            ("# EXERCISE\ndef add(a, b)\n    return",),
            "got:          SyntaxError: expected ':'\nwhere:        line 2: def",
        ),
        (
            ("# EXERCISE\nadd = later(1)",),
            "got:          NameError: name 'later' is not defined\nwhere:        line 2: add",
        ),
        (("import os\nos._exit(0)", f"# EXERCISE\n{RIGHT}"), "It was in code cell 1 (import os)."),
    ],
)
def test_a_notebook_without_an_answer(check_notebook, cells, says):
    """What is missing or broken is said, with the learner's line."""
    result = check_notebook(*cells)
    assert not result.passed
    assert says in str(result)


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ((RIGHT,), "The cell of exercise 00.9 is not in 00_work.ipynb any more. To get .* course reset 00.9"),
        (
            ("# EXERCISE\ndef plus(a, b): return a + b",),
            "There is no `add` after the cell of exercise 00.9. Was it renamed",
        ),
        (("add = 1", "# EXERCISE\n1 / 0\nadd = 2"), "does not run to its end"),
    ],
)
def test_an_answer_that_is_gone(load, cells, says):
    """A cell or a name that was deleted or changed is missed, and the way back is said."""
    with pytest.raises(AnswerNotFoundError, match=says):
        load(*cells)


@pytest.mark.parametrize(
    "cells",
    [
        ("# EXERCISE\ndef add(a, b): ...", RIGHT),
        ("# EXERCISE\ndef add(a, b): return 0", "# Text", RIGHT, "check(add)", "add = 3"),
        ("# EXERCISE\ndef add(a, b): return 0", RIGHT, "# E\nadd = 3", "check(add)"),
        ("# EXERCISE\ndef add(a, b): return 0", f"# EXERCISE\n{RIGHT}"),
        ("# EXERCISE\n# my notes", f"# EXERCISE\n{RIGHT}\nadd(1)"),
        ("# EXERCISE\n# my notes", RIGHT),
        ("# EXERCISE\ndef add(a, b)", "# my notes", RIGHT),
    ],
)
def test_an_answer_below_its_cell(load, cells):
    """An answer in a cell of the learner's own, or in a split or copied one, counts."""
    assert load(*cells)(1, 2) == 3


def test_an_endless_cell_before_the_exercise(check_notebook):
    """A cell that does not end is named with its line."""
    result = check_notebook("x = 1", "import sys\nwhile x: pass", f"# EXERCISE\n{RIGHT}", seconds=0.3)
    assert "It was in code cell 2 (import sys)." in result.stopped.says
    assert result.stopped.where == "line 2: while x: pass"


def test_an_exception_in_a_notebooks_answer(check_notebook):
    """Lines of a notebook's file are the learner's, too."""
    assert first(check_notebook("# EXERCISE\ndef add(a, b):\n    return c")).where == "in add, line 3: return c"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is no notebook in today's format"),
        (b"\xff\xfe", "is no notebook"),
        (b"[]", "is no notebook"),
        (b'{"worksheets": []}', "is no notebook"),
        (b'{"cells": [3]}', "is no notebook"),
        (b"[" * 100_000, "is no notebook"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_is_no_notebook(tmp_path, data, says):
    """A broken or missing file is said so, without its folder."""
    file = tmp_path / "00_work.ipynb"
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(AnswerNotFoundError, match=says) as caught:
        read_cells(file)
    assert str(caught.value).startswith("00_work.ipynb ")
    assert str(tmp_path) not in str(caught.value)
    result = run_check(ADD, notebook=file)
    assert says in result.stopped.says
    assert result.next_step().endswith(": course start")
    assert "hint" not in str(result) + result._repr_html_()


def test_a_huge_notebook(tmp_path, monkeypatch):
    """A notebook swollen by its outputs is refused with the way out."""
    monkeypatch.setattr("course_lib.learner.cells.MAX_NOTEBOOK_BYTES", 10)
    file = tmp_path / "00_work.ipynb"
    file.write_text('{"cells": []}')
    result = run_check(ADD, notebook=file)
    assert str(result).endswith("Clear its outputs in JupyterLab (Edit, Clear Outputs of All Cells) and save it.")
    assert "and save it.</p>" in result._repr_html_()


@pytest.mark.parametrize("answer", [RIGHT, "def add(a, b): return 0", "add = ...", "1 / 0"])
def test_what_the_exercises_own_cell_prints(check_notebook, answer):
    """What the exercise's cell prints at top level is shown whatever comes of it; the other cells run in silence."""
    result = check_notebook("print('before')", f"# EXERCISE\nprint('on top')\n{answer}", "print('after')")
    assert result.passed == (answer == RIGHT)
    assert result.printed == "on top"
    assert "Your code printed:\n    on top" in str(result)


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("x = 1", "x = 1"),
        ("x = (7\n  % 4)", "x = (7\n  % 4)"),
        ("text = '''\n%time\n!ls\n'''", "text = '''\n%time\n!ls\n'''"),
        ("%time x = 1\ny = (7\n  % 4)", "pass\ny = (7\n  % 4)"),
        ("if x:\n    !ls\ny", "if x:\n    pass\ny"),
        ("a = !ls\nb, c = %sx ls", "a = None\nb, c = None"),
        ("x?\nx.y??\n?x", "pass\npass\npass"),
        ("%%timeit -n 1\nx = 1", "x = 1"),
        ("%%html\n<b>", ""),
        ("def f(:\n  %time", "def f(:\n  %time"),
        ("x = '\0'", "x = '\0'"),
    ],
)
def test_plain_python(source, plain):
    """What only IPython reads is taken out, and nothing else."""
    assert plain_python(source) == plain
