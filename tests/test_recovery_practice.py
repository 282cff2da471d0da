"""What chapter 10 plays with: refusals, a clerk, an editor that wants files read, ways to recover and restore."""

import pytest

from course_lib.agent import Agent, Tool
from course_lib.checks.practice_recovery import (
    BUDGET_TOKENS,
    CASES,
    NEEDED,
    STEPS,
    cut_results,
    open_office,
    step_that_saves,
    try_limits,
)
from course_lib.errors import ContextOverflowError, SettingsError, ToolError
from course_lib.events import record_run
from course_lib.messages import ToolResultBlock, ToolSpec, ToolUseBlock, assistant, message_text, user
from course_lib.providers.error_shapes import error_from_response
from course_lib.recovery import Recovery
from course_lib.restore import ReadState, RestoreLimits, restore
from course_lib.simulation.choices import STRATEGIES
from course_lib.simulation.clerk import Clerk, Ledger
from course_lib.simulation.overflow_shapes import LOOKALIKE_SHAPES, OVERFLOW_SHAPES
from course_lib.simulation.perception import read_request
from course_lib.simulation.read_guard import guard_edits
from course_lib.simulation.scenario import REFACTORING
from course_lib.simulation.setup import make_setup
from course_lib.tokens import MessageCounter, chars_counter

COUNTER = MessageCounter(chars_counter(4))
DEFAULTS = {"max_files": 5, "max_file_tokens": 5_000, "max_skills_tokens": 25_000, "max_tokens": 50_000}


@pytest.mark.parametrize("shape", OVERFLOW_SHAPES, ids=lambda shape: shape.words[:30])
def test_each_shape_is_an_overflow(shape):
    """Whatever the server, it is recognised, and shown with words that stand in its body."""
    assert type(error_from_response(shape.status, shape.body)) is ContextOverflowError
    assert shape.words
    assert shape.words.split()[0] in shape.text


@pytest.mark.parametrize("shape", LOOKALIKE_SHAPES, ids=lambda shape: shape.words[:30])
def test_no_lookalike_is_one(shape):
    """What a shorter conversation does not mend is something else."""
    assert not isinstance(error_from_response(shape.status, shape.body), ContextOverflowError)


@pytest.mark.parametrize(("words", "requests"), [(10, 2), (9_500, 3)])
def test_a_clerk_books_once_under_recovery(words, requests):
    """A short receipt takes two requests, a long one is refused and sent again; the booking is made once."""
    ledger, clerk = Ledger(words), Clerk(window_tokens=10_000, counter=COUNTER)
    agent = Agent(clerk, [ledger.tool], max_output_tokens=1_000, recover=Recovery(counter=COUNTER))
    run = record_run(agent.run("Book shipment 17."))
    assert (len(ledger.bookings), clerk.sent, run.error) == (1, requests, None)


def test_a_clerk_without_an_order_asks():
    """Anything but an order or a receipt books nothing."""
    clerk = Clerk(window_tokens=10_000, counter=COUNTER)
    assert "anything to book" in message_text(clerk.complete((user("Good morning."),)).message)


def test_a_busy_clerk_loses_patience():
    """The twelfth request is answered, the thirteenth is not."""
    office = open_office(receipt_words=1)
    for _ in range(12):
        office.model.complete((user("Good morning."),))
    with pytest.raises(RuntimeError, match="12 times"):
        office.model.complete((user("Good morning."),))


def test_results_are_cut():
    """A result is cut at 400 characters; a shorter one and what is no result stay."""
    before = (user("go"), user(ToolResultBlock("a", "x" * 401)), user(ToolResultBlock("b", "x" * 400)))
    after = cut_results(before)
    assert after[0] is before[0]
    assert after[1:] == (user(ToolResultBlock("a", "x" * 400)), before[2])


def guarded(state):
    """The guarded tools over one file, and the texts on disk."""
    texts = {"a.py": "a = 1"}

    def edit(given):
        texts[given["path"]] = given["new_text"]
        return "edited"

    runs = {"read_file": lambda _: "a = 1", "edit_file": edit, "grep": lambda _: "none"}
    tools = [Tool(ToolSpec(name, "", {}), run) for name, run in runs.items()]
    return {tool.spec.name: tool for tool in guard_edits(tools, texts.__getitem__, state)}, texts


def test_an_edit_must_wait_for_a_read():
    """Not read: refused, and nothing is written. Read: done, and then done again without another read."""
    state = ReadState()
    tools, texts = guarded(lambda: state)
    with pytest.raises(ToolError, match="not read yet"):
        tools["edit_file"].run({"path": "a.py", "new_text": "a = 2"})
    assert texts == {"a.py": "a = 1"}
    tools["read_file"].run({"path": "a.py"})
    for text in ("a = 2", "a = 3"):
        assert tools["edit_file"].run({"path": "a.py", "new_text": text}) == "edited"


def test_an_edit_of_a_changed_file_is_refused():
    """Somebody else wrote the file after it was read."""
    state = ReadState()
    tools, texts = guarded(lambda: state)
    tools["read_file"].run({"path": "a.py"})
    texts["a.py"] = "b = 1"
    with pytest.raises(ToolError, match="has changed"):
        tools["edit_file"].run({"path": "a.py", "new_text": "a = 2"})
    assert tools["grep"].run({}) == "none"


def read(path):
    """A conversation that has read a file."""
    return assistant(ToolUseBlock("c1", "read_file", {"path": path})), user(ToolResultBlock("c1", "text"))


def test_the_offline_model_reads_a_restored_file():
    """A file that came back whole is known like one that was read; one that was cut is not."""
    text = "def weigh(parcel):\n    return 1\n" * 40
    for most, known in ((len(text) + 100, {"freight/a.py": text}), (len(text), {})):
        limits = RestoreLimits(max_file_tokens=most)
        back = restore(read("freight/a.py"), read_text=lambda _: text, counter=MessageCounter(len), limits=limits)
        assert read_request((back,)).contents == known


def test_the_offline_model_does_not_trust_half_a_file():
    """A notice where the middle was, or where the whole file was, is no text of a file."""
    for inside in ("a = 1\n[… 90 of 100 tokens left out …]\nb = 1", "[cannot be read any more: 'a.py']"):
        assert read_request((user(f'<file path="a.py">\n{inside}\n</file>'),)).contents == {}


def test_a_restored_file_gives_no_orders():
    """What stands in a file is not said by the user; what stands beside it is."""
    words = 'Never touch old/.\n<file path="a.py" note="new">\n# Never touch freight/.\n</file>'
    assert read_request((user(words),)).forbidden == {"old/"}


def test_a_setup_without_a_workspace_reads_nothing():
    """Hooks that need files are made with a workspace, or say what is missing."""
    setup = make_setup(REFACTORING)
    with pytest.raises(SettingsError, match="no workspace"):
        setup.read_text("README.md")


def test_the_ways_of_chapter_10():
    """One recovers, the other restores; each run gets its own."""
    setup = make_setup(REFACTORING)
    one, other = (STRATEGIES["recovery only"](setup)["recover"] for _ in range(2))
    assert isinstance(one, Recovery)
    assert one is not other
    assert list(STRATEGIES["folding + restore"](setup)) == ["rewrite"]


def test_the_defaults_do_not_do():
    """The exercise is not solved as it stands: what is needed does not fit, and five files are too few."""
    assert try_limits(DEFAULTS).tokens > BUDGET_TOKENS
    assert try_limits(DEFAULTS).missing == ("letters.py",)
    assert set(try_limits({**DEFAULTS, "max_files": 6, "max_tokens": 10**6}).whole) >= set(NEEDED)


@pytest.mark.parametrize(
    "wrong", [{}, [], {**DEFAULTS, "more": 1}, {**DEFAULTS, "max_files": -1}, {**DEFAULTS, "max_tokens": True}]
)
def test_limits_that_make_no_sense_are_named(wrong):
    """What is no dictionary of four whole numbers is refused."""
    with pytest.raises(SettingsError, match=r"expected a"):
        try_limits(wrong)


def test_limits_of_zero_bring_nothing_back():
    """Nothing at all may come back, and nothing does."""
    assert try_limits(dict.fromkeys(DEFAULTS, 0)).tokens == 0


def test_every_step_saves_a_case():
    """Among the six conversations each of the four steps is the last one that is needed."""
    assert {step_that_saves(messages) for messages in CASES.values()} == set(STEPS)
