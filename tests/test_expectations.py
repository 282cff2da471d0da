"""What checks are written with: they call, compare, and say what went wrong."""

from collections import namedtuple
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.checks import calling
from course_lib.checks.causes import cause_of_error, cause_of_value
from course_lib.checks.comparing import difference, is_same
from course_lib.checks.expectations import Mistake, Unexpected, expect, expect_raises, expect_that, expect_value
from course_lib.checks.showing import call_text, compact, short_text, steady
from course_lib.errors import CourseError, MessageFormatError
from course_lib.messages import (
    ImageBlock,
    Message,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    assistant,
    user,
)

CALL = assistant("I look.", ToolUseBlock("c1", "read_file", {"path": "a.txt"}))
RESULT = user(ToolResultBlock("c1", "hello"))


def failure(expectation, *args, **kwargs):
    """Return what an expectation that is not met says."""
    with pytest.raises(Unexpected) as caught:
        expectation(*args, **kwargs)
    return caught.value


# --- expect ----------------------------------------------------------------------------------------------------------


def test_a_right_result_is_given_back():
    """What is right passes, and can be used for the next step."""
    assert expect(sorted, [2, 1], returns=[1, 2]) == [1, 2]
    assert expect_that(sorted, [2, 1], holds=lambda got: got[0] == 1, says="sorted") == [1, 2]


def test_a_wrong_result_has_all_its_parts():
    """A wrong result says what was called, expected and got."""
    problem = failure(expect, max, 2_000, 10, returns=10)
    assert (problem.called, problem.expected, problem.got) == ("max(2_000, 10)", "10", "2_000")
    assert (problem.likely_cause, problem.difference, problem.printed, problem.error) == ("", "", "", None)
    assert str(problem) == "called max(2_000, 10)\nexpected 10\ngot 2_000"


def test_keywords_are_passed_and_shown():
    """Arguments by name go to the answer, and into the call as it would be written."""

    def answer(size, *, near):
        return size + near

    assert expect(answer, 1, near=2, returns=3) == 3
    assert failure(expect, answer, 1, near=2, returns=4).called == "answer(1, near=2)"


def test_the_first_mistake_that_fits_is_named():
    """Known mistakes are tried in order: values, predicates of the result, predicates of result and arguments."""
    value, predicate = Mistake(3, "value"), Mistake(lambda got: got > 3, "predicate")
    with_args = Mistake(lambda got, size: got == size, "arguments")
    for got, cause in ((3, "value"), (4, "predicate"), (2, "arguments"), (1, "")):
        problem = failure(expect, lambda _size, got=got: got, 2, returns=0, mistakes=(value, predicate, with_args))
        assert problem.likely_cause == cause


def test_a_predicate_that_cannot_be_computed_does_not_fit():
    """A known mistake of lists does not stumble over a number."""
    problem = failure(expect, abs, 1, returns=[], mistakes=(Mistake(lambda got: len(got) == 1, "list"),))
    assert problem.likely_cause == ""


def test_an_exception_is_a_wrong_result():
    """What the answer raises is shown as Python does, and a mistake may be known by it."""
    problem = failure(expect, lambda: [][1], returns=0)
    assert problem.got == "IndexError: list index out of range"
    assert isinstance(problem.error, IndexError)
    assert problem.__cause__ is problem.error
    known = failure(expect, lambda: [][1], returns=0, mistakes=(Mistake(0, "no"), Mistake(LookupError, "off by one")))
    assert known.likely_cause == "off by one"


@pytest.mark.parametrize("error", [SystemExit(0), KeyboardInterrupt(), pytest.skip.Exception("x"), GeneratorExit()])
def test_no_exception_gets_past(error):
    """An exit, an interrupt or a verdict of pytest's own is as wrong as any exception."""

    def answer():
        raise error

    assert failure(expect, answer, returns=0).error is error
    assert failure(expect_that, answer, holds=lambda _got: True, says="anything").error is error


def test_an_exception_whose_text_is_an_exception():
    """An exception class of the learner's that cannot even be shown does no harm."""

    class RudeError(Exception):
        def __str__(self):
            raise SystemExit

    def answer():
        raise RudeError

    assert failure(expect, answer, returns=0).got == "RudeError"


def test_what_the_call_prints_is_kept_and_passed_on(capsys):
    """Prints of the failing call, of both streams, stand in the failure, bounded, and also come out."""

    def answer(count):
        print("x" * count)
        import sys

        print("err", file=sys.stderr)

    assert failure(expect, answer, 3, returns=0).printed == "xxx\nerr\n"
    assert capsys.readouterr().out == "xxx\nerr\n"
    assert len(failure(expect, answer, 10_000, returns=0).printed) == calling.MAX_PRINTED_CHARS


def test_a_changed_input_is_a_failure_of_its_own():
    """A right result does not excuse a changed argument, deep inside too; the check's own values stay as they were."""

    def answer(messages, options):
        options["seen"].append(len(messages))
        return len(messages)

    options = {"seen": [1]}
    problem = failure(expect, answer, [1, 2], options, returns=2)
    assert "it changed its input" in problem.got
    assert "{'seen': [1, 2]}" in problem.got
    assert "{'seen': [1]}" in problem.expected
    assert options == {"seen": [1]}
    assert "it changed its input" in failure(expect, answer, [1], options=options, returns=1).got


def test_a_frozen_message_can_be_changed_too():
    """The input of a call is a dict: writing into it is noticed."""

    def answer(message):
        message.content[1].input["path"] = "b.txt"

    assert "it changed its input" in failure(expect, answer, CALL, returns=None).got
    assert CALL.content[1].input == {"path": "a.txt"}


def test_objects_without_equality_are_left_out_of_that():
    """A client or a counter among the arguments may change: nobody can say whether it did."""

    class Client:
        calls = 0

    def answer(client):
        client.calls += 1
        return client.calls

    assert expect(answer, Client(), returns=1) == 1


def test_predicates_may_look_at_the_arguments():
    """A property such as "the very same object" needs the copies that the answer got."""
    messages = (user("a"), CALL)
    same = expect_that(lambda m: m[1:], messages, holds=lambda got, given: got[0] is given[1], says="the same object")
    assert same == (CALL,)
    problem = failure(
        expect_that, lambda _: (user("x"),), messages, holds=lambda got, given: got[0] is given[1], says="y"
    )
    assert (problem.expected, problem.got) == ("y", "[user 'x']")


def test_a_property_of_nothing():
    """For a function without a return the cause is known also where only a property is expected."""
    problem = failure(expect_that, lambda: None, holds=lambda got: got > 1, says="more")
    assert "without a `return`" in problem.likely_cause


def test_a_refusal():
    """A refusal of the right class passes and is given back; another one, or none, does not."""

    def answer(role):
        return Message(role, ())

    error = expect_raises(answer, "system", raises=CourseError)
    assert isinstance(error, MessageFormatError)
    assert failure(expect_raises, answer, "user", raises=ValueError).got == "user (empty)"
    assert failure(expect_raises, answer, raises=ValueError).got.startswith("TypeError: ")


def test_a_call_is_announced(monkeypatch):
    """Whoever has to know which call hung is told before it is made."""
    told = []
    monkeypatch.setattr(calling, "on_call", told.append)
    expect(abs, -1, returns=1)
    assert told == ["abs(-1)"]


def test_what_is_no_function():
    """An answer's name bound to a number is said so, not raised."""
    assert failure(expect, 3, 1, returns=1).got == "TypeError: 'int' object is not callable"


def test_deep_nesting_is_no_crash():
    """A result nested ten thousand deep is wrong, not the end of the check."""

    def answer():
        nested = []
        for _ in range(10_000):
            nested = [nested]
        return nested

    expected = answer()
    problem = failure(expect, answer, returns=expected)
    assert "nested too deeply" in problem.difference


# --- expect_value ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "is_right"), [(90, True), (110, True), (89.9, False), (111, False), (True, False)])
def test_near_has_sharp_edges(value, is_right):
    """A prediction may be off by the share that is allowed, and no more."""
    if is_right:
        expect_value(value, near=(100, 0.1))
    else:
        assert failure(expect_value, value, near=(100, 0.1)).expected == "a number within 10% of the right one"


def test_values_are_compared_or_asked():
    """A value is right when it is equal, or when the predicate says so."""
    expect_value({"keep": 3}, equals={"keep": 3})
    expect_value(7, holds=lambda n: n > 5, says="more than 5")
    problem = failure(
        expect_value, 4, holds=lambda n: n > 5, says="more than 5", mistakes=(Mistake(4, "Count again."),)
    )
    assert (problem.expected, problem.got, problem.likely_cause) == ("more than 5", "4", "Count again.")
    assert failure(expect_value, "3", equals=3).likely_cause.startswith("It is a text")
    for empty in (None, ...):
        assert failure(expect_value, empty, equals=3).likely_cause == "Put your answer in its place."


@pytest.mark.parametrize(
    "wrong", [{}, {"equals": 1, "near": (1, 0.1)}, {"holds": bool}, {"equals": 1, "holds": bool, "says": "x"}]
)
def test_a_value_needs_one_way_to_judge_it(wrong):
    """A check that says too little or too much is an error of its author."""
    with pytest.raises(TypeError, match="expect_value needs one of"):
        expect_value(1, **wrong)


# --- comparing -------------------------------------------------------------------------------------------------------

Point = namedtuple("Point", "x y")


@dataclass
class Settings:
    """Something with fields."""

    keep: int
    names: tuple = ()


@pytest.mark.parametrize(
    ("expected", "got", "text"),
    [
        (1, 1.0, ""),
        (float("nan"), float("nan"), ""),
        (1, True, "True instead of 1"),
        (True, 1, "an int instead of a bool"),
        ("a", "b", "'b' instead of 'a'"),
        ([1, 2], (1, 2), "a tuple instead of a list"),
        ((1, 2), [1, 2], "a list instead of a tuple"),
        ([1, 2], [1, 3], "at [1]: 3 instead of 2"),
        ([1, 2], [1], "1 item instead of 2"),
        ([[1], [2]], [[1], []], "at [1]: 0 items instead of 1"),
        ({"a": 1}, {}, "'a' is missing"),
        ({}, {"a": 1}, "'a' is too much"),
        ({"a": [1]}, {"a": [2]}, "at ['a'][0]: 2 instead of 1"),
        ({1, 2}, {1}, "{1} instead of {1, 2}"),
        (Settings(3), Settings(3), ""),
        (Settings(3), Settings(4), "at .keep: 4 instead of 3"),
        (Settings(3, ("a",)), Settings(3, ("b",)), "at .names[0]: 'b' instead of 'a'"),
        (None, 3, "3 instead of None"),
        (3, None, "None instead of 3"),
        ((CALL,), (RESULT,), "at [0]: results c1 instead of assistant 'I look.' c1:read_file"),
        (Point(1, 2), Point(1, 2), ""),
        (Point(1, 2), (1, 2), "a tuple instead of a Point"),
    ],
)
def test_difference(expected, got, text):
    """The first difference is found and said; types count, whole and decimal numbers are one kind."""
    assert difference(expected, got) == text
    assert is_same(expected, got) == (not text)


def test_a_hidden_difference_is_named():
    """Two conversations that look alike in brief are told apart by the place where they differ."""
    other = assistant("I look.", ToolUseBlock("c1", "read_file", {"path": "b.txt"}))
    problem = failure(expect, lambda: (other,), returns=(CALL,))
    assert problem.expected == problem.got == "[assistant 'I look.' c1:read_file]"
    assert problem.difference == "at [0].content[1].input['path']: 'b.txt' instead of 'a.txt'"


def test_long_texts_differ_from_a_character_on():
    """Of long texts only the part from the first difference on is shown."""
    assert difference("a" * 100 + "b", "a" * 100 + "c") == "from character 100 on 'c' instead of 'b'"
    assert difference("a" * 100, "a" * 50) == f"from character 50 on '' instead of '{'a' * 30}'"


class Yes:
    """Claims to be equal to everything."""

    def __eq__(self, other):
        return True

    __hash__ = None


@pytest.mark.parametrize("expected", [1, "a", [1], {"a": 1}, None, True, Settings(1)])
def test_no_class_is_its_own_judge(expected):
    """An object that says it equals everything equals nothing, also inside of a list."""
    assert difference(expected, Yes())
    assert difference([expected], [Yes()])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, VALUES)
def test_difference_agrees_with_equality(one, other):
    """A value does not differ from itself, and two that do not differ show alike."""
    assert difference(one, one) == ""
    if not difference(one, other) and "." not in compact(one) + compact(other):
        assert compact(one) == compact(other) or one == other


# --- showing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (999, "999"),
        (32_000, "32_000"),
        (-1_000, "-1_000"),
        (True, "True"),
        (..., "..."),
        (10**100, "<an integer of 333 bits>"),
        (0.5, "0.5"),
        ("it's", '"it\'s"'),
        ("a" * 70, f"'{'a' * 60}' … 10 more characters"),
        (b"ab", "b'ab'"),
        ([], "[]"),
        ((), "()"),
        ((1,), "(1,)"),
        (set(), "set()"),
        ({3, 1, 2}, "{1, 2, 3}"),
        ({"a": 1_000}, "{'a': 1_000}"),
        (list(range(8)), "[0, 1, 2, 3, 4, 5, 6, 7]"),
        (list(range(9)), "[0, 1, 2, 3, 4, 5, … 2 more …, 8]"),
        (dict.fromkeys(range(9), 0), "{0: 0, 1: 0, 2: 0, 3: 0, 4: 0, 5: 0, … 2 more …, 8: 0}"),
        (Settings(2_000), "Settings(keep=2_000, names=())"),
        (Settings, "Settings"),
        (len, "len"),
        (Settings.__init__, "Settings.__init__"),
        (object(), "<object>"),
        ((n for n in ()), "<generator <genexpr>>"),
        ((user("go"), CALL, RESULT), "[user 'go', assistant 'I look.' c1:read_file, results c1]"),
        (user("note", kind="summary"), "user(summary) 'note'"),
        (user(ToolResultBlock("c1", "x", is_error=True), "and"), "user result c1 (error) 'and'"),
        (user(ToolResultBlock("a", ""), ToolResultBlock("b", "", is_error=True)), "results a b (error)"),
        (assistant(ThinkingBlock("hm")), "assistant thinking"),
        (user(ImageBlock("image/png", "x")), "user image"),
        (user(), "user (empty)"),
    ],
)
def test_compact(value, text):
    """Values are shown in brief, in Python's notation or, for conversations, in a shorter one."""
    assert compact(value) == text


def test_compact_is_bounded_and_never_fails():
    """Deep, circular, long and rude values are shown too."""

    class Rude:
        def __repr__(self):
            raise SystemExit

    circle = []
    circle.append(circle)
    assert compact(Rude()) == "<Rude>"
    assert compact(circle) == "[[[[[…]]]]]"
    assert len(compact([["x" * 50] * 8] * 8)) < 450
    assert compact("x" * 1_000, max_chars=20) == "'xxxxxxxxxxxxxx … 64 characters … cters"


def test_nothing_of_one_run_only():
    """Memory addresses are left out."""
    assert steady(f"{object()!r} and {hex(id(len))}") == "<object object> and "
    assert "0x" not in compact([lambda: 0, object(), Settings(object())])


def test_short_text_says_what_is_left_out():
    """A text that is too long keeps its two ends."""
    assert short_text("abc", 3) == "abc"
    assert short_text("a" * 30 + "b" * 10, 20) == f"{'a' * 15} … 20 characters … bbbbb"


def test_call_text():
    """A call is shown as it would be written."""
    assert call_text("f", (1, "a"), {"n": 2_000}) == "f(1, 'a', n=2_000)"


# --- likely causes ---------------------------------------------------------------------------------------------------


def generator():
    """Return nothing, later."""
    yield 1


async def coroutine():
    """Return nothing, later."""


@pytest.mark.parametrize(
    ("expected", "got", "printed", "cause"),
    [
        (3, None, "", "ends without a `return`"),
        (3, None, "3\n", "prints the result"),
        (3, None, "4\n", "ends without a `return`"),
        (3, ..., "", "Three dots"),
        ([1], generator(), "", "`yield`"),
        (3, coroutine(), "", "`async`"),
        ((1,), [1], "", "in a tuple: `tuple(…)`"),
        ([1], (1,), "", "in a list: `list(…)`"),
        (3, "3", "", "a text that looks right"),
        (3, (3,), "", "a comma too much"),
        (True, 1, "", "True or False"),
        (3, len, "", "forget to call it"),
        (3, 4, "", ""),
        ("a", "b", "", ""),
    ],
)
def test_cause_of_value(expected, got, printed, cause):
    """What everybody gets wrong once is named; else nothing is said."""
    found = cause_of_value(expected, got, printed=printed)
    assert cause in found if cause else found == ""


def fail_with(code):
    """Return the exception that the code raises."""
    with pytest.raises(BaseException) as caught:  # noqa: PT011
        exec(code, {"len": len})
    return caught.value


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("raise NotImplementedError", "stub's"),
        ("1 + ...", "Three dots"),
        ("(lambda a: a)()", "names and the order of the parameters"),
        ("len(None)", "Something is None"),
        ("f = lambda: f()\nf()", "calls itself"),
        ("exit = SystemExit\nraise exit(0)", "use `return`"),
        ("window = 1\nwindw", "There is a name `window`"),
        ("lenn([])", "There is a name `len`"),
        ("zzzzzz", ""),
        ("1 / 0", ""),
    ],
)
def test_cause_of_error(code, cause):
    """Exceptions with a usual reason say it; else nothing is said."""
    found = cause_of_error(fail_with(code))
    assert cause in found if cause else found == ""
