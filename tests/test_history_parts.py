"""Which part is old and which must stay: the newest, the asked, and never more than fits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import histories

from course_lib.errors import SettingsError
from course_lib.history_parts import (
    edit_blocks,
    is_request,
    messages_covered,
    shorten_results,
    split_history,
)
from course_lib.messages import (
    ImageBlock,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    assistant,
    message_text,
    tool_results,
    user,
)
from course_lib.tokens import MessageCounter
from course_lib.tool_pairs import safe_cut

LETTERS = MessageCounter(len, message_overhead_tokens=0)


def batch(number, result="ok", size=1, is_error=False):
    """A call and its result."""
    call = assistant(ToolUseBlock(f"c{number}", "f", {}))
    return call, user(ToolResultBlock(f"c{number}", result * size, is_error))


def split(messages, **options):
    """Split with small numbers, counted in letters."""
    return split_history(tuple(messages), **{"keep_messages": 3, "counter": LETTERS, **options})


def turns(count):
    """A task, and so many messages after it."""
    return (user("the task"), *(assistant(f"answer {number}") for number in range(count - 1)))


@pytest.mark.parametrize(("count", "older"), [(1, 0), (2, 0), (3, 0), (4, 0), (5, 1), (6, 2)])
def test_what_is_older_begins_behind_the_messages_that_stay(count, older):
    """With three to keep and the first pinned, a fifth message is the first that makes one older."""
    messages = turns(count)
    parts = split(messages)
    assert len(parts.older) == older
    assert (*parts.front, *parts.recent) == messages
    assert [m is p for m, p in zip(messages, (*parts.pinned, *parts.older, *parts.recent), strict=True)] == [
        True
    ] * count


@given(histories(), st.sampled_from([1, 2, 5, 20]), st.sampled_from([60, 500, 5_000]), st.booleans(), st.booleans())
def test_the_parts_are_the_whole(messages, keep, most, first, latest):
    """Front and recent are all messages in order; pinned and older are the front; the last messages are recent."""
    parts = split_history(
        messages, keep_messages=keep, counter=LETTERS, pin_first=first, pin_latest=latest, max_recent_tokens=most
    )
    assert len(parts.front) + len(parts.recent) == len(messages)
    assert all(a is b for a, b in zip(messages, parts.front, strict=False))
    assert safe_cut(messages, len(parts.front)) == len(parts.front)
    whole_pins = [pin for pin in parts.pinned if any(pin is message for message in messages)]
    assert sorted(map(id, (*whole_pins, *parts.older))) == sorted(map(id, parts.front))
    assert parts.recent[-1].role == messages[-1].role


@given(histories(), st.sampled_from([1, 2, 5, 100]), st.sampled_from([60, 500, 5_000]))
def test_the_recent_part_is_bounded(messages, keep, most):
    """It has at most so many tokens (pinned requests at its start aside), or it is one batch."""
    recent = split_history(messages, keep_messages=keep, counter=LETTERS, max_recent_tokens=most).recent
    requests = [message for message in messages if is_request(message)]
    while recent and recent[0] in (requests[0], requests[-1]):
        recent = recent[1:]
    is_one = all(safe_cut(recent, index) in (0, len(recent)) for index in range(len(recent)))
    assert LETTERS.messages(recent) <= most or is_one


@given(histories(), st.sampled_from([1, 5, 100]), st.sampled_from([60, 500, 5_000]))
def test_what_was_asked_stays(messages, keep, most):
    """The first and the latest words of the user are in the pinned or in the recent part, word for word."""
    parts = split_history(messages, keep_messages=keep, counter=LETTERS, max_recent_tokens=most)
    asked = [message_text(message) for message in messages if is_request(message)]
    said = [message_text(message) for message in (*parts.pinned, *parts.recent)]
    assert {asked[0], asked[-1]} <= set(said)


def test_nothing_is_pinned_that_was_not_asked_for():
    """Without pins, every old message is older."""
    parts = split(turns(9), pin_first=False, pin_latest=False)
    assert parts.pinned == ()
    assert len(parts.older) == 6


def test_the_latest_request_is_pinned_only_when_it_is_old():
    """A request among the last messages stays there; one before them is pinned behind the first."""
    old = (user("task"), assistant("a"), user("second"), *turns(4)[1:])
    assert [message_text(m) for m in split(old).pinned] == ["task", "second"]
    assert [message_text(m) for m in split((*old, user("third"))).pinned] == ["task"]


def test_a_note_is_no_request():
    """What a compaction wrote is never pinned, though the user's role says it."""
    messages = (user("[a summary]", kind="summary"), user("real"), user("[note]", kind="boundary"), *turns(5)[1:])
    assert [message_text(m) for m in split(messages).pinned] == ["real"]


def test_words_behind_results_are_a_request():
    """Who interrupts a running batch is heard: the words are pinned, the results are older."""
    call, result = batch(1, "x", 50)
    mixed = user(*result.content, "Stop, not in vendor/!")
    parts = split((user("task"), call, mixed, *turns(5)[1:]))
    assert [m.content for m in parts.pinned] == [(TextBlock("task"),), (TextBlock("Stop, not in vendor/!"),)]
    assert parts.older[:2] == (call, mixed)


@pytest.mark.parametrize(("keep", "most"), [(0, 1), (-3, 1), (1, 0)])
def test_senseless_settings_are_refused(keep, most):
    """Nothing to keep, or no room to keep it in."""
    with pytest.raises(SettingsError):
        split((user("x"),), keep_messages=keep, max_recent_tokens=most)


def test_an_empty_conversation_has_empty_parts():
    """Nothing in, nothing out."""
    assert split(()) == split(()).__class__((), (), (), ())


def test_the_limit_is_a_ceiling():
    """Exactly so many tokens stay as they are; with one less, the largest result is cut."""
    messages = (user("task"), *batch(1, "x", 900), *batch(2, "y", 90))
    size = LETTERS.messages(messages[1:])
    whole = split(messages, keep_messages=4, max_recent_tokens=size)
    assert [a is b for a, b in zip(whole.recent, messages[1:], strict=True)] == [True] * 4
    cut = split(messages, keep_messages=4, max_recent_tokens=size - 1)
    assert LETTERS.messages(cut.recent) <= size - 1
    assert [a is b for a, b in zip(cut.recent, messages[1:], strict=True)] == [True, False, True, True]


def test_the_largest_result_gives_way_first():
    """Small results stay whole, nothing is dropped, and the largest ones are cut to one size."""
    messages = (user("task"), *batch(1, "a", 5_000), *batch(2, "b", 300), *batch(3, "c", 9_000), assistant("so"))
    recent = split(messages, keep_messages=7, max_recent_tokens=3_000).recent
    sizes = [len(tool_results(message)[0].text) for message in recent if tool_results(message)]
    assert LETTERS.messages(recent) <= 3_000
    assert sizes[1] == 300
    assert sizes[0] == pytest.approx(sizes[2], abs=5)
    assert len(recent) == 8 - 1


def test_what_nobody_has_read_yet_gives_way_last():
    """The newest result stays whole as long as older ones can be cut, and keeps half of the room otherwise."""
    messages = (user("task"), *batch(1, "a", 5_000), *batch(2, "b", 2_000))
    assert split(messages, keep_messages=4, max_recent_tokens=2_500).recent[-1] is messages[-1]
    newest = split(messages, keep_messages=4, max_recent_tokens=1_000).recent[-1]
    assert 500 <= len(tool_results(newest)[0].text) < 1_000


def test_oldest_batches_go_when_cutting_is_not_enough():
    """In one endless turn the tail is the last whole batches, and the task is pinned in front."""
    messages = (user("task"), *(m for number in range(200) for m in batch(number, "x", 150)))
    parts = split(messages, keep_messages=100, max_recent_tokens=3_000)
    assert [message_text(m) for m in parts.pinned] == ["task"]
    assert 2_800 < LETTERS.messages(parts.recent) <= 3_000
    assert parts.recent[0].role == "assistant"
    assert len(parts.older) + len(parts.recent) == 400


def test_a_last_batch_with_huge_arguments_stays_whole():
    """What cannot be cut is kept, and nothing beside it."""
    call = assistant(ToolUseBlock("big", "write", {"content": "x" * 5_000}))
    messages = (*turns(5), call, user(ToolResultBlock("big", "ok")))
    assert split(messages, max_recent_tokens=100).recent == messages[-2:]


def test_a_running_batch_stays_in_the_recent_part():
    """A call that nobody has answered is never older, whatever the limit."""
    call = assistant("I look.", ToolUseBlock("open", "f", {"content": "x" * 500}))
    parts = split((*turns(5), call), keep_messages=1, max_recent_tokens=1)
    assert parts.recent == (call,)


def test_many_messages_are_split_quickly():
    """A tail of thousands of batches is cut by counting each message a few times."""
    counted = []
    counter = MessageCounter(lambda text: counted.append(1) or len(text))
    messages = (user("task"), *(m for number in range(1_500) for m in batch(number, "x", 30)))
    split_history(messages, keep_messages=3_000, counter=counter, max_recent_tokens=2_000)
    assert len(counted) < 10 * len(messages)


def test_results_are_cut_to_a_size_in_all():
    """The texts of one result share the limit; images, ids and errors stay, and other blocks are not touched."""
    image = ImageBlock("image/png", "aGk=")
    result = ToolResultBlock("c1", [TextBlock("x" * 500), image, TextBlock("short")], is_error=True)
    message = user(result, "and a long word " * 50)
    short = shorten_results(message, 100, LETTERS)
    block = short.content[0]
    assert (block.tool_use_id, block.is_error, block.content[1]) == ("c1", True, image)
    assert block.content[2].text == "short"
    assert len(block.content[0].text) <= 95
    assert short.content[1] is message.content[1]


@pytest.mark.parametrize(("limit", "is_cut"), [(499, True), (500, False), (501, False)])
def test_a_result_of_exactly_the_limit_is_not_touched(limit, is_cut):
    """The same object comes back when nothing is longer."""
    message = user(ToolResultBlock("c1", "x" * 500))
    assert (shorten_results(message, limit, LETTERS) is not message) == is_cut


def test_results_inside_results_are_cut():
    """However deep the text stands."""
    inner = ToolResultBlock("inner", [ToolResultBlock("innermost", "x" * 900)])
    short = shorten_results(user(ToolResultBlock("c1", [inner])), 100, LETTERS)
    assert len(tool_results(short)[0].text) <= 100


def test_no_result_is_left_with_a_blank_text():
    """Where there is not a token for each text, texts go rather than stand there blank."""
    result = user(ToolResultBlock("c1", [TextBlock("aaaa")] * 5))
    assert shorten_results(result, 3, LETTERS).content[0].content == ()


def test_a_message_whose_blocks_all_stay_is_the_same():
    """Editing with nothing to edit gives the same object; else a new one with the role, kind and id of the old."""
    message = user("a", "b", kind="restored")
    assert edit_blocks(message, lambda block: block) is message
    edited = edit_blocks(message, lambda _: TextBlock("c"))
    assert (message_text(edited), edited.kind) == ("c\nc", "restored")


def test_notes_are_counted_for_what_they_stand_for():
    """A note of thirty and two messages are thirty-two; a text that only looks like a note is one message."""
    note = user("[30 older messages were left out here.]", kind="boundary")
    assert messages_covered((note, user("a"), assistant("b"))) == 32
    assert messages_covered((user("[30 older messages were left out here.]"),)) == 1
    assert messages_covered((user("[Summary of 12 older messages]\nIt went well.", kind="summary"),)) == 12
    assert messages_covered((user("[" + "9" * 5_000 + " older messages", kind="boundary"),)) == 0
    assert messages_covered((user("some other summary", kind="summary"),)) == 0
