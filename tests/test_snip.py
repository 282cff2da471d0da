"""Snipping: the oldest whole rounds go, a mark stays, and the counter hears of it."""

import re

import pytest
from compaction_histories import check_step
from hypothesis import given
from hypothesis import strategies as st
from strategies import histories

from course_lib.compaction import apply
from course_lib.errors import NothingToDoError
from course_lib.messages import ToolResultBlock, ToolUseBlock, Usage, assistant, message_text, tool_uses, user
from course_lib.snip import Snip, tokens_freed
from course_lib.tokens import MessageCounter, chars_counter
from course_lib.usage_count import hybrid_count

COUNTER = MessageCounter(chars_counter(4))


def rounds(count, first=0, size=100):
    """So many rounds of a call and its result."""
    return tuple(
        message
        for n in range(first, first + count)
        for message in (
            assistant(ToolUseBlock(f"c{n}", "f", {})),
            user(ToolResultBlock(f"c{n}", f"{n}: " + "word " * size)),
        )
    )


def calls(messages):
    """The ids of all calls."""
    return [call.id for message in messages for call in tool_uses(message)]


def test_the_oldest_rounds_go_until_enough_is_freed():
    """One token more to free takes one round more; what stays is the same objects."""
    history = (user("the task"), *rounds(6), user("go on"))
    one = COUNTER.messages(history[1:3])
    for wanted, left in ((1, 5), (one, 5), (one + 1, 4), (2 * one, 4)):
        after = Snip(counter=COUNTER, tokens_to_free=wanted)(history)
        assert len(calls(after)) == left
        assert [*map(id, after[2:])] == [*map(id, history[len(history) - len(after) + 2 :])]
        assert (after[0], after[1].kind) == (history[0], "boundary")


def test_requests_summaries_and_the_last_round_stay():
    """However much is to be freed, what was asked, an earlier summary and the newest round are there."""
    history = (
        user("old rules, in short", kind="summary"),
        *rounds(2),
        user("a new task"),
        *rounds(2, first=2),
        user("and?"),
    )
    after = Snip(counter=COUNTER, tokens_to_free=10**9)(history)
    assert [message_text(m) for m in after if m.kind != "boundary" and not m.content[0:0] and m.role == "user"][:2] == [
        "old rules, in short",
        "a new task",
    ]
    assert calls(after) == ["c3"]
    assert after[-1] is history[-1]


def test_the_mark_counts_all_that_ever_went():
    """A second mark takes in what the first one stands for, and there is only one."""
    view = (user("the task"), *rounds(4), user("go on"))
    for first in (4, 8):
        view = Snip(counter=COUNTER, tokens_to_free=10**9)((*view, *rounds(4, first=first)))
    marks = [message_text(m) for m in view if m.kind == "boundary"]
    gone = 12 - len(calls(view))
    assert marks == [f"[{2 * gone} older messages were snipped here.]"]


@pytest.mark.parametrize(
    "history",
    [
        (user("the task"),),
        (user("the task"), *rounds(1)),
        (user("the task"), user("[4 older messages were snipped here.]", kind="boundary"), *rounds(1)),
        (user("one"), user("two"), user("three")),
    ],
)
def test_where_nothing_may_go_nothing_is_done(history):
    """A single round, requests only, or a mark that stands there already."""
    with pytest.raises(NothingToDoError, match="no round is old enough"):
        Snip(counter=COUNTER, tokens_to_free=100)(history)


def test_the_anchored_count_needs_to_be_told():
    """The last usage still shows the old size; `tokens_freed` puts that right."""
    answer = assistant("Ready.", usage=Usage(input_tokens=COUNTER.messages((user("the task"), *rounds(6)))))
    history = (user("the task"), *rounds(6), answer, user("go on"))
    after = Snip(counter=COUNTER, tokens_to_free=300)(history)
    freed = tokens_freed(history, after, COUNTER)
    assert freed == COUNTER.messages(history) - COUNTER.messages(after) >= 280
    assert hybrid_count(after, COUNTER).total == hybrid_count(history, COUNTER).total
    assert hybrid_count(after, COUNTER, tokens_freed=freed).total == hybrid_count(history, COUNTER).total - freed


@given(histories(), st.sampled_from([1, 100, 5_000, 10**9]))
def test_random_histories(messages, to_free):
    """Every rule of compaction holds, no request goes, and snipping again and again comes to an end."""
    strategy = Snip(counter=COUNTER, tokens_to_free=to_free)
    after, event = apply(strategy, messages, COUNTER)
    check_step(messages, after, event, COUNTER)
    if event.outcome == "applied":
        assert event.shortened == event.summarised == ()
        said = re.search(r"\[(\d+) older messages", str(after))
        assert int(said[1]) == len(event.dropped)
    for _ in range(len(messages) + 1):
        after, event = apply(strategy, after, COUNTER)
        if event.outcome != "applied":
            break
    assert event.outcome != "applied"
