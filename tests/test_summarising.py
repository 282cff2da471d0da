"""How the offline model summarises: what it was asked for, in the conversation's own words, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import histories, texts

from course_lib.client import Request
from course_lib.compaction import apply
from course_lib.messages import ToolResultBlock, ToolUseBlock, assistant, message_text, user
from course_lib.simulation.offline_model import OfflineModel
from course_lib.simulation.perception import read_request
from course_lib.simulation.scenario import REFACTORING
from course_lib.simulation.summarising import summary_request, write_summary
from course_lib.strategies import SUMMARY_PROMPT, Summarisation
from course_lib.tokens import MessageCounter, chars_counter

COUNTER = MessageCounter(chars_counter(4))
LESSON = "Lesson: prices are rounded by half_up from freight.money."
OLDER = (
    user(REFACTORING.task),
    assistant("I edit it.", ToolUseBlock("c1", "edit_file", {"path": "freight/a.py", "old_text": "", "new_text": ""})),
    user(ToolResultBlock("c1", "edited freight/a.py")),
    assistant(LESSON, ToolUseBlock("c2", "edit_file", {"path": "freight/b.py", "old_text": "", "new_text": ""})),
    user(ToolResultBlock("c2", "no such text", is_error=True)),
    assistant("Now the tests.", ToolUseBlock("c3", "run_command", {"command": "python -m tests"})),
    user(ToolResultBlock("c3", "FAIL test_x\n9 tests, 1 failures")),
)


def request(conversation, prompt=SUMMARY_PROMPT):
    """The text of a request for a summary."""
    return f"<conversation>\n{conversation}\n</conversation>\n\n{prompt}"


def summary_of(messages, prompt=SUMMARY_PROMPT, **options):
    """The summary that the offline model writes of messages, through the strategy."""
    client = OfflineModel(counter=COUNTER)
    strategy = Summarisation(
        client=client, keep_messages=1, pin_first=False, pin_latest=False, least_tokens=1, counter=COUNTER,
        prompt=prompt, **options,
    )  # fmt: skip
    padding = assistant("word " * 2_000)
    after, event = apply(strategy, (*messages, padding, user("next")), COUNTER)
    assert event.outcome == "applied", event.reason
    return message_text(after[0])


def test_a_good_prompt_keeps_what_matters():
    """Who reads the summary alone knows the task, both constraints, the lesson, and which file is done."""
    known = read_request((user(summary_of(OLDER)),))
    assert known.has_task
    assert known.forbidden == {"vendor/"}
    assert known.word_rules == {"parcel": "shipment"}
    assert known.lesson is not None
    assert known.done == {"freight/a.py"}


@pytest.mark.parametrize(
    ("prompt", "has_rules", "has_files"),
    [
        ("Summarise this.", False, False),
        ("Summarise every rule.", True, False),
        ("Summarise which files are done.", False, True),
        ("Summarise the instructions, and the files.", True, True),
    ],
)
def test_what_was_not_asked_for_is_not_there(prompt, has_rules, has_files):
    """A prompt without the rules gets none, and one without the files none of those."""
    known = read_request((user(summary_of(OLDER, prompt)),))
    assert bool(known.forbidden) == has_rules
    assert bool(known.done) == has_files


def test_a_summary_of_a_summary_keeps_it():
    """Rules, lesson and finished files survive being summarised five times."""
    text = summary_of(OLDER)
    for number in range(5):
        text = summary_of((user(text, kind="summary"), assistant(f"Step {number}."), user("go on")))
    known = read_request((user(text),))
    assert (known.has_task, known.forbidden, known.done) == (True, {"vendor/"}, {"freight/a.py"})
    assert known.lesson is not None


def test_errors_are_told_with_the_last_total():
    """The first line of each of the last three errors, and how the tests went."""
    errors = "\n".join(f"ERROR of c{n}: problem {n}\nmore" for n in range(5))
    text = write_summary(request(f"{errors}\nRESULT of c9: FAIL test_x\n9 tests, 1 failures", "Summarise the errors."))
    assert text == "## Errors\n- problem 2\n- problem 3\n- problem 4\n- 9 tests, 1 failures"


@pytest.mark.parametrize("error", ["", " ", "\n", ": ", "\n\n: x"])
def test_an_error_without_words_breaks_nothing(error):
    """A tool may fail and say nothing."""
    messages = (user("go"), assistant(ToolUseBlock("c1", "f", {})), user(ToolResultBlock("c1", error, is_error=True)))
    assert summary_of(messages)


def test_a_failed_edit_is_no_finished_file():
    """Its path is not among those that are done."""
    assert "freight/b.py" not in summary_of(OLDER, "Summarise which files are done.")


def test_only_a_request_for_a_summary_is_one():
    """A conversation between marks and a wish to summarise it; anything else is work."""
    assert summary_request((user(request("USER: hello")),))
    assert not summary_request(())
    assert not summary_request((user("Summarise the code, please."),))
    assert not summary_request((user(request("USER: please summarise", "Go on.")),))
    assert not summary_request((user("<conversation>\nSummarise this."),))
    assert not summary_request((user(request("USER: hello")), user("Go on.")))


@given(st.lists(texts, min_size=1, max_size=4).map("\n".join), st.sampled_from([SUMMARY_PROMPT, "Summarise.", ""]))
def test_any_text_can_be_summarised(conversation, prompt):
    """Whatever stands between the marks, something comes out that is not blank."""
    assert write_summary(request(conversation, prompt)).strip()
    assert write_summary(conversation).strip()


@given(histories(max_moves=10))
def test_any_history_can_be_summarised(messages):
    """By the offline model, through the strategy: one summary, and never an error."""
    assert summary_of(messages)


@pytest.mark.parametrize("most", [20, 200])
def test_a_summary_that_is_too_long_is_cut_off(most):
    """As any model's answer would be: it stops with max_tokens, and has no more than it was allowed."""
    client = OfflineModel(counter=COUNTER)
    rules = " ".join(f"Never touch anything under vendor{n}/." for n in range(100))
    response = client.complete((user(request(f"USER: {rules}")),), max_tokens=most)
    assert response.stop_reason == "max_tokens"
    assert 0 < COUNTER.message(response.message) <= most


def test_the_bill_of_a_summary_is_that_of_its_request():
    """As many input tokens as the request has."""
    client = OfflineModel(counter=COUNTER)
    message = user(request("USER: hello"))
    response = client.complete((message,), max_tokens=100)
    assert response.stop_reason == "end_turn"
    assert response.usage.input_tokens == COUNTER.request(Request(messages=(message,)).messages)
