"""`apply`: what it measures, what it refuses, and that a failure changes nothing."""

import copy
from dataclasses import replace

import pytest
from compaction_histories import check_sendable, check_step
from hypothesis import given
from hypothesis import strategies as st
from strategies import broken_conversations, conversations

from course_lib.compaction import apply, rewrite_above
from course_lib.errors import CompactionError, NothingToDoError, RateLimitError
from course_lib.messages import (
    Message,
    RawBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    Usage,
    assistant,
    message_text,
    tool_results,
    user,
)
from course_lib.partition import partition
from course_lib.tokens import MessageCounter
from course_lib.tool_pairs import find_pair_faults

LETTERS = MessageCounter(len)


def step(number, result="a long result " * 5, is_error=False, *said):
    """A call and its result."""
    call = ToolUseBlock(f"c{number}", "f", {})
    return assistant(*said, call), user(ToolResultBlock(call.id, result, is_error))


HISTORY = (user("the task"), *step(1), *step(2, "it broke " * 9, True), assistant("a long answer " * 9), user("go on"))


def outcome_of(edit, messages=HISTORY, **options):
    """The messages and the event of an edit."""
    snapshot = copy.deepcopy(messages)
    after, event = apply(edit, messages, LETTERS, **options)
    assert messages == snapshot
    check_step(messages, after, event, LETTERS)
    return after, event


def without(*gone):
    """An edit that drops the messages with these indices."""
    return lambda messages: tuple(m for index, m in enumerate(messages) if index not in gone)


def instead(index, message):
    """An edit that puts another message in the place of one."""
    return lambda messages: (*messages[:index], message, *messages[index + 1 :])


def edit_raising(error):
    """An edit that raises."""

    def edit(messages):
        raise error

    return edit


# --- the event -------------------------------------------------------------------------------------------------------


def test_an_applied_edit_is_measured():
    """Tokens before and after by the same counter, messages, prefix, and what became of each message."""
    after, event = outcome_of(without(1, 2), trigger="manual")
    assert after == without(1, 2)(HISTORY)
    assert (event.trigger, event.outcome, event.reason, event.error) == ("manual", "applied", "", None)
    assert (event.messages_before, event.messages_after) == (7, 5)
    assert event.tokens_freed == LETTERS.messages(HISTORY[1:3]) > 0
    assert event.compression_ratio == event.tokens_after / event.tokens_before
    assert (event.kept, event.dropped) == ((0, 3, 4, 5, 6), (1, 2))
    assert (event.prefix_messages, event.prefix_tokens) == (1, LETTERS.message(HISTORY[0]))


def test_the_ratio_of_an_empty_history_is_one():
    """Nothing was, nothing is."""
    _, event = outcome_of(lambda messages: messages, ())
    assert (event.outcome, event.compression_ratio) == ("skipped", 1.0)


class Named:
    """A strategy with a name."""

    name = "my own"

    def __call__(self, messages):
        """Return the two ends."""
        return messages[:1] + messages[-1:]


class Nameless(Named):
    """A strategy that forgot its name."""

    name = ""


@pytest.mark.parametrize(("edit", "name"), [(Named(), "my own"), (Nameless(), "Nameless"), (check_step, "check_step")])
def test_an_edit_is_called_by_its_name(edit, name):
    """Its own name, or that of the function or class."""
    assert apply(edit, HISTORY, LETTERS)[1].name == name


@pytest.mark.parametrize("kind", [tuple, list])
def test_any_sequence_of_messages_is_taken(kind):
    """A strategy may return a list; the history is a tuple again."""
    after, event = outcome_of(lambda messages: kind(messages[:1] + messages[5:]))
    assert event.outcome == "applied"
    assert type(after) is tuple


# --- skipped ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("edit", [lambda m: m, lambda m: list(m), edit_raising(NothingToDoError("nothing is old"))])
def test_nothing_to_do_is_skipped(edit):
    """The same messages, or an error that says so, are no failure."""
    after, event = outcome_of(edit)
    assert after is HISTORY
    assert (event.outcome, event.tokens_freed) == ("skipped", 0)


# --- failed ----------------------------------------------------------------------------------------------------------

thinking = assistant(ThinkingBlock("because " * 30, "sig"), ToolUseBlock("c1", "f", {}))
redacted = assistant(RawBlock({"type": "redacted_thinking", "data": "c2VjcmV0"}), ToolUseBlock("c1", "f", {}))
FAULTS = {
    "it returned None": lambda _: None,
    "it returned 'text'": lambda _: "text",
    "it returned (1, 2)": lambda _: (1, 2),
    "it returned <generator": lambda m: (one for one in m),
    "does not start with a user message: put one in front": without(0),
    "does not start with a user": lambda _: (),
    "leaves a broken pair: message 1: orphan result": without(1),
    "broken pair: message 1: missing result": without(2),
    "the newest message": without(6),
    "newest message, which nobody": instead(6, user("go")),
    "not the last one any more": lambda m: (*m[:5], m[6], m[5]),
    "it changed whether call 'c2' failed": instead(4, user(ToolResultBlock("c2", "[error left out]"))),
    "it changed whether call 'c1' failed": instead(2, user(ToolResultBlock("c1", "[left out]", is_error=True))),
    "empty content": instead(5, assistant()),
    "made a assistant message with empty content": instead(5, assistant(" \n")),
    "changed the order": lambda m: (m[0], m[5], *m[1:3], m[6]),
    "or has one twice": lambda m: (m[0], m[0], m[6]),
    "frees nothing": instead(5, assistant("y" * len(message_text(HISTORY[5])))),
    "it frees nothing: ": lambda m: (*m[:6], user("a note " * 9), m[6]),
    "RuntimeError: a bug": edit_raising(RuntimeError("a bug")),
    "wait a minute": edit_raising(RateLimitError("wait a minute")),
    "ZeroDivisionError": lambda _: 1 // 0,
}


@pytest.mark.parametrize("reason", FAULTS)
def test_a_bad_edit_fails_and_changes_nothing(reason):
    """The very same messages, and a reason that says what is wrong."""
    after, event = outcome_of(FAULTS[reason])
    assert after is HISTORY
    assert event.outcome == "failed"
    assert reason in event.reason
    assert event.error is not None


@pytest.mark.parametrize("call", [thinking, redacted], ids=["thinking", "redacted"])
def test_thinking_is_never_edited(call):
    """A thinking block may go as a whole; a shorter one would not pass its signature."""
    messages = (user("go"), call, user(ToolResultBlock("c1", "ok")), user("next"))
    shorter = {
        ThinkingBlock: ThinkingBlock("because", "sig"),
        RawBlock: RawBlock({"type": "redacted_thinking", "data": ""}),
    }[type(call.content[0])]
    _, event = outcome_of(instead(1, replace(call, content=(shorter, call.content[1]))), messages)
    assert event.reason.startswith("it edited a thinking block")
    _, event = outcome_of(instead(1, replace(call, content=call.content[1:])), messages)
    assert (event.outcome, event.shortened) == ("applied", (1,))


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_is_not_swallowed(error):
    """Stopping the run stops it."""
    with pytest.raises(error):
        apply(edit_raising(error()), HISTORY, LETTERS)


@pytest.mark.parametrize(("extra", "outcome"), [(-1, "applied"), (0, "failed"), (1, "failed")])
def test_progress_is_at_least_one_token(extra, outcome):
    """One token less is progress; as many, or one more, is not."""
    size = len(message_text(HISTORY[5]))
    _, event = outcome_of(instead(5, assistant("y" * (size + extra))))
    assert event.outcome == outcome


def test_an_edit_of_an_empty_history_cannot_help():
    """There is nothing to free."""
    _, event = outcome_of(lambda _: (user("hello"),), ())
    assert event.outcome == "failed"


# --- the newest message ----------------------------------------------------------------------------------------------


def test_results_of_the_newest_message_may_be_cut():
    """Its text stays word for word, its results keep their ids, their texts may be shorter."""
    newest = user(ToolResultBlock("c9", "x" * 900), "And hurry.")
    messages = (user("go"), assistant(ToolUseBlock("c9", "f", {})), newest)
    short = user(ToolResultBlock("c9", "x"), "And hurry.")
    assert outcome_of(instead(2, short), messages)[1].shortened == (2,)
    for bad in (user(ToolResultBlock("c9", "x"), "Hurry."), user(ToolResultBlock("c9", "x"))):
        assert outcome_of(instead(2, bad), messages)[1].outcome == "failed"


def test_a_running_batch_may_stay_open():
    """A call that is not answered yet is no fault of the strategy, but it must stay."""
    messages = (*HISTORY, assistant(ToolUseBlock("open", "f", {})))
    assert outcome_of(without(5), messages)[1].outcome == "applied"
    assert outcome_of(without(7), messages)[1].outcome == "failed"


# --- what was broken before ------------------------------------------------------------------------------------------


def test_pairs_that_were_broken_before_are_mended_on_the_way():
    """The strategy meets whole pairs; what mending took out is dropped, though there is a summary."""
    seen = []
    orphan = user(ToolResultBlock("c9", "whose?"))
    messages = (user("one"), assistant("long " * 50), orphan, user("two"))

    def edit(given_):
        seen.append(given_)
        return (user("S", kind="summary"), given_[-1])

    after, event = apply(edit, messages, LETTERS)
    assert find_pair_faults(seen[0]) == ()
    assert after == (user("S", kind="summary"), messages[3])
    assert (event.kept, event.summarised, event.dropped) == ((3,), (0, 1), (2,))


def test_a_broken_history_is_left_alone_when_nothing_is_done():
    """Mending alone is no compaction."""
    messages = (user("one"), user(ToolResultBlock("c9", "whose?")), user("two"))
    after, event = apply(lambda m: m, messages, LETTERS)
    assert after is messages
    assert event.outcome == "skipped"


def test_what_was_odd_before_is_no_fault_of_the_edit():
    """A history that begins with the assistant, or holds a blank text, can still be made shorter."""
    messages = (assistant("long " * 50), user(" "), assistant("long " * 50), user("go"))
    assert apply(without(2), messages, LETTERS)[1].outcome == "applied"


@given(broken_conversations(), st.integers(0, 8))
def test_no_broken_history_breaks_it(messages, count):
    """Whatever the history: an event, the same messages or whole pairs, and never an exception."""
    after, event = apply(lambda m: (user("note"), *m[len(m) - count :]), messages, LETTERS)
    parts = sorted((*event.kept, *event.shortened, *event.summarised, *event.dropped))
    assert parts == list(range(len(messages)))
    if event.outcome == "applied":
        assert {fault.kind for fault in find_pair_faults(after)} <= {"pending_call"}
    else:
        assert after is messages


@given(conversations(), st.data())
def test_random_edits_are_accounted_for(messages, data):
    """Drop, replace, merge and shuffle at random: whatever comes of it keeps to the rules."""
    kept = data.draw(st.lists(st.sampled_from(messages), unique_by=id, max_size=8)) if messages else []
    new = data.draw(st.lists(st.builds(user, st.sampled_from(["note", "x" * 99])), max_size=2))
    if data.draw(st.booleans()):
        kept = sorted(kept, key=messages.index)
    after, event = apply(lambda _: (*new, *kept), messages, LETTERS)
    check_step(messages, after, event, LETTERS)


# --- usage -----------------------------------------------------------------------------------------------------------


def test_usage_behind_the_change_is_dropped():
    """In front of the first change messages are the same objects, usage and all; behind it they have lost it."""
    answers = [assistant(f"{number} " * 20, usage=Usage(100 * number)) for number in range(4)]
    messages = (user("go"), *answers, user("next"))
    after, event = outcome_of(without(2), messages)
    assert after[1] is answers[0]
    assert after[1].usage == Usage(0)
    assert [message.usage for message in after[2:]] == [None, None, None]
    assert event.kept == (0, 1, 3, 4, 5)


# --- where each message went -----------------------------------------------------------------------------------------

a, b, c, d, e = user("a"), assistant("b"), user("c"), assistant("d"), user("e")
call, result = step(1)
batch2 = assistant(ToolUseBlock("p1", "f", {}), ToolUseBlock("p2", "f", {}))
results2 = user(ToolResultBlock("p1", "one"), ToolResultBlock("p2", "two"))
half_batch, half_results = assistant(batch2.content[0]), user(results2.content[0])
short = user(ToolResultBlock("c1", "-"))
summary, note = user("S", kind="summary"), user("[note]", kind="boundary")
mixed = user(*result.content, "Stop!")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((a, b, c), (a, b, c), ([0, 1, 2], [], [], [])),
        ((a, b, c), (c,), ([2], [], [], [0, 1])),
        ((a, b, c), (note, c), ([2], [], [], [0, 1])),
        ((a, b, c), (summary, c), ([2], [], [0, 1], [])),
        ((a, b, c, d, e), (a, summary, e), ([0, 4], [], [1, 2, 3], [])),
        ((a, b, c, d, e), (summary, c, e), ([2, 4], [], [0, 1], [3])),  # behind the summary's place: dropped
        ((a, b, c, d, e), (a, c, summary, e), ([0, 2, 4], [], [1, 3], [])),
        ((summary, a, b, c), (summary, c), ([0, 3], [], [], [1, 2])),  # an old summary tells of nothing new
        ((summary, a, b), (user("T", kind="summary"), b), ([2], [], [0, 1], [])),
        ((a, b, c), (a, assistant("-"), c), ([0, 2], [1], [], [])),  # one for one
        ((a, b, c, d), (a, user("b and c"), d), ([0, 3], [], [], [1, 2])),
        ((a, call, result, b), (a, assistant(*call.content), short, b), ([0, 3], [1, 2], [], [])),
        ((a, call, result, b), (a, call, short, b), ([0, 1, 3], [2], [], [])),
        ((a, b, call, result, c), (a, call, short, c), ([0, 2, 4], [3], [], [1])),
        ((a, b, c, d), (user(*a.content, *c.content), d), ([3], [0, 2], [], [1])),  # merged into one
        ((a, call, mixed, b, c), (a, user("Stop!"), note, c), ([0, 4], [], [], [1, 2, 3])),
        ((a, call, mixed, b, c), (a, Message("user", mixed.content[1:]), note, c), ([0, 4], [2], [], [1, 3])),
        ((a, batch2, results2, c), (a, half_batch, half_results, c), ([0, 3], [1, 2], [], [])),
        ((a, a, b, a), (a, b, a), ([0, 2, 3], [], [], [1])),  # one object in several places
        ((), (), ([], [], [], [])),
    ],
)  # fmt: skip
def test_every_message_is_in_one_list(before, after, expected):
    """Kept by identity, shortened by what stands in its place, summarised in front of a new summary, else dropped."""
    found = partition(before, after)
    assert [list(found.kept), list(found.shortened), list(found.summarised), list(found.dropped)] == list(expected)


@pytest.mark.parametrize("after", [(b, a), (a, a), (a, c, b), (c, a, b)])
def test_no_partition_for_another_order(after):
    """Messages that changed places, or one that is there twice."""
    with pytest.raises(CompactionError, match="order"):
        partition((a, b, c), after)


# --- as a hook -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("trigger", "is_done"), [(-1, True), (0, True), (1, False)])
def test_the_hook_acts_from_its_trigger_on(trigger, is_done):
    """Exactly at the trigger the strategy is applied; one token below, nothing happens and nothing is reported."""
    tokens = LETTERS.messages(HISTORY)
    after, event = rewrite_above(tokens + trigger, without(5), LETTERS)(HISTORY)
    assert (event is not None) == is_done
    assert (after is not HISTORY) == is_done


def test_the_hook_reports_a_failure():
    """The history stays, and the event says why."""
    after, event = rewrite_above(1, without(1), LETTERS)(HISTORY)
    assert after is HISTORY
    assert event.outcome == "failed"


def test_a_huge_history_is_applied_in_linear_time():
    """Ten thousand messages: each is counted once, and the account does not compare all with all."""
    counted = []
    counter = MessageCounter(lambda text: counted.append(1) or len(text))
    messages = (user("go"), *(m for number in range(5_000) for m in step(number, "x")), user("next"))
    after, event = apply(lambda m: (m[0], *m[-1_001:]), messages, counter)
    assert (len(after), len(event.dropped)) == (1_002, 9_000)
    assert len(counted) <= 3 * len(messages)
    check_sendable(after)


def test_blank_and_error_results_are_told_apart():
    """An error that is shortened keeps its flag, whatever its text becomes."""
    after, event = outcome_of(instead(4, user(ToolResultBlock("c2", "…", is_error=True))))
    assert event.shortened == (4,)
    assert tool_results(after[4])[0] == ToolResultBlock("c2", [TextBlock("…")], is_error=True)
