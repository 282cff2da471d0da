"""A check's result: it reads well as text and as HTML, and says the same every time."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.checks.catalogue import EXERCISES, UnknownExerciseError, chapter_exercises, find_exercise
from course_lib.checks.exercise import Exercise
from course_lib.errors import CourseError, SettingsError
from course_lib.learner.result import CheckedTest, CheckResult, Failure
from course_lib.learner.verdict import CourseCheckError, Outcome, judge

FIELDS = {"id": "00.9", "title": "Total", "kind": "fix", "minutes": 5, "answer_name": "f", "hints": ("a", "b", "c")}
EXERCISE = Exercise(**FIELDS)
GOOD, GOOD_TOO = CheckedTest("Nothing in, nothing out."), CheckedTest("Order does not matter.")
WRONG = CheckedTest(
    "It adds up.",
    Failure(called="total([1, 2])", expected="3", got="2", likely_cause="You forgot the `last` one.", printed="a\nb\n"),
)
RAISES = CheckedTest("It is kind.", Failure(got="NameError: name 'x'", where="in total, line 3: return x < y"))


def result(*tests, total=None, **kwargs):
    """Return a result of these tests, all of them unless said otherwise."""
    return CheckResult(EXERCISE, tests, total=len(tests) if total is None else total, **kwargs)


class Reader(HTMLParser):
    """Reads HTML like a screen reader: text, roles, and whether all that opens closes."""

    def __init__(self, html):
        super().__init__()
        self.stack, self.roles, self.tags, self.texts, self.hidden = [], [], set(), [], ""
        self.feed(html)
        self.close()
        assert self.stack == []

    @property
    def text(self):
        """All that is read aloud."""
        return "".join(self.texts)

    def handle_starttag(self, tag, attrs):
        """Note what opens; nothing may run code."""
        self.stack.append((tag, dict(attrs).get("aria-hidden") == "true"))
        self.tags.add(tag)
        self.roles += [value for name, value in attrs if name == "role"]
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_endtag(self, tag):
        """See that it is the last one that opened."""
        assert self.stack.pop()[0] == tag

    def handle_data(self, data):
        """Keep apart what is read aloud and what is only seen."""
        if any(hidden for _, hidden in self.stack):
            self.hidden += data
        else:
            self.texts.append(data)


# --- the value -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("checked", "passed"),
    [
        (result(GOOD), True),
        (result(GOOD, GOOD_TOO), True),
        (result(GOOD, WRONG), False),
        (result(), False),
        (result(GOOD, total=2), False),
        (result(GOOD, stopped=Failure(says="x")), False),
    ],
)
def test_what_is_a_pass(checked, passed):
    """Every test ran and passed, and there was one: nothing else is a pass."""
    assert checked.passed is passed


# --- as text ---------------------------------------------------------------------------------------------------------


def test_text_of_a_pass():
    """A pass says so first, lists the checks, and leads to the solution."""
    assert str(result(GOOD, GOOD_TOO)).splitlines() == [
        "Exercise 00.9, Total: passed (all 2 checks)",
        "",
        "✓ passed: Nothing in, nothing out.",
        "✓ passed: Order does not matter.",
        "",
        'Our answer, and why: solution("00.9")',
    ]


def test_text_of_not_yet():
    """The first failure stands first with all its parts; the others are a line each; then a hint."""
    assert str(result(GOOD, WRONG, RAISES)).splitlines() == [
        "Exercise 00.9, Total: not yet (1 of 3 checks passed)",
        "",
        "✗ not yet: It adds up.",
        "    called:       total([1, 2])",
        "    expected:     3",
        "    got:          2",
        "    likely cause: You forgot the `last` one.",
        "    printed:      a",
        "                  b",
        "",
        "✓ passed: Nothing in, nothing out.",
        "✗ not yet: It is kind.",
        "",
        'A nudge: hint("00.9")',
    ]


def test_text_of_what_was_stopped():
    """What kept the checks from running is said in their place."""
    text = str(result(total=3, stopped=Failure(says="It never ended.", where="line 1: x"), note="Not saved."))
    assert text.splitlines() == [
        "Exercise 00.9, Total: not yet",
        "",
        "It never ended.",
        "where:        line 1: x",
        "",
        "Not saved.",
        "",
        'A nudge: hint("00.9")',
    ]


def test_prints_are_shown():
    """What the code printed stands below, unless the failure shows its own part."""
    assert "Your code printed:\n    a\n    b" in str(result(GOOD, printed="a\nb"))
    assert "Your code printed:\n    a" in str(result(RAISES, printed="a"))
    assert "Your code printed" not in str(result(WRONG, printed="a\nb\nc"))


def test_in_a_terminal_other_commands_lead_on():
    """In a terminal the hint is a command, and only the first failure is shown when there are many exercises."""
    text = result(GOOD, WRONG, RAISES).as_text(in_terminal=True, only_first=True)
    assert text.endswith("A nudge: course hint 00.9")
    assert "It is kind" not in text
    assert "likely cause" in text


def test_nobody_fails():
    """The word is "not yet"."""
    for checked in (result(GOOD, WRONG, RAISES), result(stopped=Failure(says="x"))):
        assert not re.search(
            "fail|error|wrong", f"{checked}{checked._repr_html_()}", re.IGNORECASE
        ) or "NameError" in str(checked)


def test_repr_is_the_text():
    """A notebook's plain output and a print say the same."""
    checked = result(GOOD, WRONG)
    assert repr(checked) == str(checked)


# --- as HTML ---------------------------------------------------------------------------------------------------------


def test_html_of_not_yet():
    """A status with a heading; the first failure is open, the rest folded; words, not only colours and signs."""
    html = result(GOOD, WRONG, RAISES, printed="hello")._repr_html_()
    page = Reader(html)
    assert page.roles == ["status", "heading"]
    assert set(page.hidden) == {"✓", "✗"}
    assert "Exercise 00.9, Total: not yet (1 of 3 checks passed)" in page.text
    start, folded = html.split("<details", 1)
    assert "total([1, 2])" in start
    assert "<code>last</code>" in start
    for text in ("not yet: It is kind.", "passed: Nothing in, nothing out.", "hello"):
        assert text in Reader(f"<details{folded.removesuffix('</section>')}").text
    assert "The other checks: 1 passed, 1 not yet" in page.text
    assert not {"script", "style", "h1", "h2", "h3", "h4", "img"} & page.tags


def test_html_of_a_pass():
    """A pass is short: one heading, the checks folded, and the way to the solution."""
    page = Reader(result(GOOD)._repr_html_())
    assert [text for text in page.texts if text.strip()] == [
        " Exercise 00.9, Total: passed (1 check)",
        "All checks: 1 passed",
        " passed: Nothing in, nothing out.",
        "Our answer, and why: ",
        'solution("00.9")',
    ]


def test_html_has_the_themes_colours():
    """Every colour is a variable of JupyterLab's theme, with another one for elsewhere."""
    html = result(GOOD, WRONG, printed="x")._repr_html_()
    for style in re.findall(r'style="([^"]*)"', html):
        for colour in re.findall(r"(?:color|border-left):\s*([^;]*)", style):
            assert re.search(r"var\(--jp-[\w-]+, [\w#]+\)", colour) or "transparent" in colour, style


TEXTS = st.text(alphabet=st.sampled_from("<>&\"'`ab \n\\✓中"), max_size=12)


@given(st.builds(Failure, says=TEXTS, called=TEXTS, got=TEXTS, where=TEXTS, likely_cause=TEXTS, printed=TEXTS), TEXTS)
def test_everything_is_escaped(failure, text):
    """Whatever stands in a learner's code or values, it is shown and is no HTML."""
    html = CheckResult(EXERCISE, (CheckedTest(text, failure), CheckedTest(text)), 2, None, text, text)._repr_html_()
    page = Reader(html)
    assert page.tags <= {"section", "p", "span", "dl", "dt", "dd", "pre", "code", "details", "summary", "ul", "li"}
    assert failure.got in page.text


# --- from what a worker left behind ----------------------------------------------------------------------------------

TESTS = {"a": "First.", "b": "Second.", "c[1]": "Table.", "c[2]": "Table."}
BEGIN = [{"event": "collected", "tests": TESTS}, {"event": "loading"}]
END = {"event": "end", "exit_code": 0, "seal": "s"}


def finish(*names, failure=None):
    """Return the events of tests that ran."""
    return [
        event
        for n in names
        for event in ({"event": "start", "test": n}, {"event": "finish", "test": n, "failure": failure})
    ]


def judged(events, *, exit_code=0, output="", trace="", cells=None):
    """Return the verdict on what a worker left behind."""
    outcome = Outcome(events=events, exit_code=exit_code, output=output, trace=trace, seconds=10.0, seal="s")
    return judge(EXERCISE, outcome, cells=cells or {})


def test_all_tests_passed():
    """A sealed end, pytest's OK and all tests: passed; rows of a table are one check."""
    checked = judged([*BEGIN, *finish(*TESTS), END], output="hello\n")
    assert checked.passed
    assert [test.title for test in checked.tests] == ["First.", "Second.", "Table."]
    assert (checked.total, checked.printed) == (3, "hello")


def test_a_row_that_is_wrong_stands_for_its_table():
    """One wrong row makes the table's check "not yet", with that row's failure."""
    events = [*BEGIN, *finish("a", "b", "c[1]"), *finish("c[2]", failure={"got": "2"}), {**END, "exit_code": 1}]
    assert judged(events).tests[-1] == CheckedTest("Table.", Failure(got="2"))


@pytest.mark.parametrize(
    "events",
    [
        [],
        BEGIN[:1],
        [{"event": "collected", "tests": {}}, {"event": "loading"}, END],
        [*BEGIN, END],
        [*BEGIN, *finish("a"), END],
        [*BEGIN, *finish(*TESTS), {**END, "exit_code": 1}],
        [*BEGIN, *finish(*TESTS), {**END, "exit_code": 3}],
        [*BEGIN, *finish(*TESTS, failure={"got": "x"}), END],
        [*BEGIN, *finish(*TESTS, failure={"got": "x"}), {**END, "exit_code": 2}],
        [*BEGIN, *finish(*TESTS), {"event": "broken", "says": "details"}, END],
    ],
)
def test_all_else_is_an_error_of_the_course(events):
    """No test, not all of them, another exit code, or a broken worker: never a pass, never blamed on the answer."""
    with pytest.raises(CourseCheckError, match="error of the course, not of your answer"):
        judged(events)


def test_a_false_end_is_no_end():
    """An end without the right seal was written by the answer."""
    checked = judged([*BEGIN, *finish(*TESTS), {**END, "seal": "?"}])
    assert not checked.passed
    assert "ended Python before the check was done" in checked.stopped.says


def test_what_was_replaced_is_named():
    """An answer that changed the judge is not judged."""
    checked = judged([*BEGIN, *finish(*TESTS), {"event": "tampered", "names": ["builtins.len"]}, END])
    assert not checked.passed
    assert "`builtins.len`" in checked.stopped.says


@pytest.mark.parametrize(
    ("exit_code", "trace", "says"),
    [
        (None, "", "did not come to an end: it was stopped after 10 seconds"),
        (1, "Timeout (0:00:10)!\n", "did not come to an end"),
        (0, "", "ended Python before the check was done"),
        (3, "", "ended Python before the check was done"),
        (-9, "", "The system ended your code"),
        (-11, "Fatal Python error: Segmentation fault", "made Python itself crash"),
        (-64, "", "made Python itself crash"),
        (0xC0000005, "", "made Python itself crash"),
        (0xC00000FD, "Windows fatal exception: stack overflow", "made Python itself crash"),
    ],
)
def test_how_a_process_ended(exit_code, trace, says):
    """Time-out, exit, kill and crash are told apart; the running test and its call are named."""
    trace += '\n  File "<cell 2>", line 2 in total\n'
    events = [*BEGIN, *finish("a"), {"event": "start", "test": "b"}, {"event": "call", "called": "total(3)"}]
    checked = judged(events, exit_code=exit_code, trace=trace, cells={"<cell 2>": "def total(n):\n    loop()"})
    assert [test.passed for test in checked.tests] == [True, False]
    failure = checked.first_failure.failure
    assert says in failure.says
    assert failure.called == "total(3)"
    assert failure.where == ("in total, line 2: loop()" if exit_code != -9 else "")


def test_an_end_while_cells_ran():
    """When the notebook's own cells do not end, the cell is named."""
    events = [BEGIN[0], {"event": "loading"}, {"event": "loading", "cell": "code cell 2 (while x:)"}]
    assert "It was in code cell 2 (while x:)." in judged(events, exit_code=None).stopped.says


def test_a_slow_start_is_nobodys_answer():
    """When Python was not ready in time, it is not the answer that is too slow."""
    with pytest.raises(CourseCheckError, match="Is this machine very busy"):
        judged([], exit_code=None)


def test_nothing_strange_gets_into_a_notebook():
    """Addresses, terminal codes and halves of characters are made harmless."""
    failure = {"got": "<A object at 0x7f0000000000> \x1b[31m \udc80"}
    checked = judged([*BEGIN, *finish(*TESTS, failure=failure), {**END, "exit_code": 1}], output="\x1b[1mhi\x07")
    assert checked.first_failure.failure.got == "<A object> \\x1b[31m \\udc80"
    assert checked.printed == "\\x1b[1mhi\\x07"


# --- the catalogue ---------------------------------------------------------------------------------------------------


def test_exercises_are_found_by_number_and_name():
    """The id or the name of the answer says which exercise is meant."""
    assert find_exercise("00.1") is find_exercise(" tokens_left ") is EXERCISES[0]
    assert EXERCISE.chapter == "00"
    assert EXERCISES[0] in chapter_exercises("00")
    assert chapter_exercises("99") == ()


@pytest.mark.parametrize(
    ("wanted", "says"),
    [("token_left", r"Did you mean .*00\.1 \(tokens_left\)"), ("00.9", r"There are 00\.1"), ("", "00.1")],
)
def test_an_unknown_exercise(wanted, says):
    """A wrong name lists what is near; a notebook shows the sentence without a traceback."""
    with pytest.raises(UnknownExerciseError, match=says) as caught:
        find_exercise(wanted)
    assert isinstance(caught.value, CourseError)
    assert caught.value._render_traceback_() == [str(caught.value)]


def test_ids_and_names_are_unique():
    """An exercise is told by its id and by its answer's name."""
    assert len({exercise.id for exercise in EXERCISES}) == len(EXERCISES)
    assert len({exercise.answer_name for exercise in EXERCISES}) == len(EXERCISES)


@pytest.mark.parametrize(
    "wrong", [{"id": "1.2"}, {"id": "01.0"}, {"kind": "guess"}, {"hints": ("a", "a", "b")}, {"hints": ("a", "b", "")}]
)
def test_an_entry_that_makes_no_sense(wrong):
    """A wrong entry in the catalogue is refused where it is made."""
    with pytest.raises(SettingsError):
        Exercise(**FIELDS | wrong)
