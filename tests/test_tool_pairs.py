"""A call and its result are one thing: found when broken, mended when asked, never parted by a cut."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import broken_conversations, conversations

from course_lib.errors import InvalidRequestError, PairingError
from course_lib.messages import (
    Message,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    Usage,
    assistant,
    message_text,
    tool_results,
    tool_uses,
    user,
)
from course_lib.tool_pairs import (
    NO_RESULT_TEXT,
    PairFault,
    check_pairs,
    find_pair_faults,
    keep_from,
    pending_calls,
    repair,
    safe_cut,
)


def calls(*ids, say=()):
    """An assistant message with a call for each id."""
    return assistant(*say, *(ToolUseBlock(id_, "f", {}) for id_ in ids))


def results(*ids, then=()):
    """A user message with a result for each id, and blocks behind them."""
    return user(*(ToolResultBlock(id_, f"result of {id_}") for id_ in ids), *then)


def answers(messages):
    """What each call got, in order: (id, text, is it an error)."""
    return [(r.tool_use_id, r.text, r.is_error) for message in messages for r in tool_results(message)]


def ids_of(messages):
    """The identities of the messages, to compare objects and not values."""
    return [*map(id, messages)]


def faults(*messages):
    """What is wrong, as (kind, id, index)."""
    return [(fault.kind, fault.tool_use_id, fault.message_index) for fault in find_pair_faults(messages)]


GO, NEXT, DONE = user("go"), user("next"), assistant("done")


@pytest.mark.parametrize(
    "messages",
    [
        (),
        (GO,),
        (GO, DONE, NEXT),
        (GO, calls("a"), results("a")),
        (GO, calls("a", "b"), results("b", "a"), DONE),
        (GO, calls("a"), results("a", then=["and now?"]), calls("b", say=["I look."]), results("b")),
        (calls("a"), results("a")),
        (GO, calls("a"), results("a"), user("more"), user("and more")),
    ],
    ids=range(8),
)
def test_whole_pairs_have_no_fault(messages):
    """Every call answered in the next message, in any order, with anything behind the results, is no fault."""
    assert find_pair_faults(messages) == ()


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ((GO, calls("a"), NEXT), [("missing_result", "a", 1)]),
        ((GO, calls("a"), DONE), [("missing_result", "a", 1)]),
        ((GO, calls("a", "b"), results("a"), NEXT), [("missing_result", "b", 1)]),
        ((GO, calls("a"), calls("b"), results("b")), [("missing_result", "a", 1)]),
        ((GO, calls("a")), [("pending_call", "a", 1)]),
        ((GO, calls("a", "b"), results("a")), [("pending_call", "b", 1)]),
        ((GO, calls("a"), user()), [("pending_call", "a", 1)]),
        ((GO, calls("a"), NEXT, results("a")), [("missing_result", "a", 1), ("late_result", "a", 3)]),
        ((GO, calls("a", "b"), results("a"), results("b")), [("missing_result", "b", 1), ("late_result", "b", 3)]),
        ((GO, calls("a"), calls("b"), results("a", "b")), [("missing_result", "a", 1), ("late_result", "a", 3)]),
        ((GO, results("a")), [("orphan_result", "a", 1)]),
        ((results("a"), GO), [("orphan_result", "a", 0)]),
        ((results("a"), calls("a"), results("a")), [("orphan_result", "a", 0)]),
        ((GO, calls("a"), results("a", "x")), [("orphan_result", "x", 2)]),
        ((results("x", "x"),), [("orphan_result", "x", 0), ("orphan_result", "x", 0)]),
        ((GO, calls("a"), results("a", "a")), [("duplicate_result", "a", 2)]),
        ((GO, calls("a"), results("a"), results("a")), [("duplicate_result", "a", 3)]),
        ((GO, calls("a"), results("a"), NEXT, DONE, results("a")), [("duplicate_result", "a", 5)]),
        ((GO, calls("a", "a"), results("a")), [("duplicate_call", "a", 1)]),
        ((GO, calls("a"), results("a"), calls("a"), results("a")), [("reused_id", "a", 3)]),
        ((GO, calls("a"), user("look:", *results("a").content)), [("results_not_first", "a", 2)]),
        (
            (GO, calls("a", "b"), user(*results("a").content, "and", *results("b").content)),
            [("results_not_first", "b", 2)],
        ),
    ],
    ids=lambda value: None if isinstance(value, tuple) else "+".join(f"{kind}-{id_}{at}" for kind, id_, at in value),
)
def test_each_fault_is_found_at_its_place(messages, expected):
    """Each kind of fault is named with the id of the call and the index of the message, and nothing else is named."""
    assert faults(*messages) == expected


def test_faults_come_in_the_order_of_the_messages():
    """Faults of calls and of results are sorted together by their place."""
    broken = (results("x"), calls("a"), NEXT, results("y"), calls("b"))
    assert [fault.message_index for fault in find_pair_faults(broken)] == [0, 1, 3, 4]


def test_a_fault_reads_as_a_sentence():
    """A fault is a value that says where, what, and which call."""
    fault = PairFault("late_result", "c1", 7)
    assert str(fault) == "message 7: late result for tool call 'c1'"
    assert fault in {PairFault("late_result", "c1", 7)}


@given(conversations())
def test_valid_conversations_pass_the_check(messages):
    """A conversation with whole pairs passes; `check_pairs` returns nothing."""
    assert check_pairs(messages) is None


def test_the_check_names_every_fault_and_the_way_out():
    """`check_pairs` raises an invalid-request error that names all faults and what to use."""
    with pytest.raises(PairingError) as error:
        check_pairs((results("x"), calls("a"), NEXT))
    assert isinstance(error.value, InvalidRequestError)
    for words in (
        "message 0: orphan result for tool call 'x'",
        "message 1: missing result for tool call 'a'",
        "repair",
    ):
        assert words in str(error.value)


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ((), []),
        ((GO,), []),
        ((GO, calls("a")), ["a"]),
        ((GO, calls("a", "b")), ["a", "b"]),
        ((GO, calls("a", "b"), results("a")), ["b"]),
        ((GO, calls("a", "b", "c"), results("b"), results("c")), ["a"]),
        ((GO, calls("a", "b"), results("b", "a")), []),
        ((GO, calls("a"), NEXT), []),
        ((GO, calls("a"), DONE), []),
        ((GO, calls("a", "b"), results("a", then=["text"])), []),
        ((GO, calls("a"), calls("b")), ["b"]),
    ],
    ids=range(11),
)
def test_pending_calls_are_those_of_a_running_batch(messages, expected):
    """Pending are the unanswered calls of the last batch, as long as only results came after it."""
    assert [call.id for call in pending_calls(messages)] == expected


@given(conversations())
def test_a_valid_conversation_is_left_alone(messages):
    """Repair gives back the same tuple contents: the very same objects."""
    assert ids_of(repair(messages)) == ids_of(messages)


@given(broken_conversations())
def test_what_is_repaired_is_valid(messages):
    """Whatever was broken, the repaired conversation has no fault."""
    assert find_pair_faults(repair(messages)) == ()


@given(broken_conversations())
def test_repairing_twice_is_repairing_once(messages):
    """The second repair returns the same objects: nothing is left to do."""
    once = repair(messages)
    assert ids_of(repair(once)) == ids_of(once)


@given(broken_conversations())
def test_repair_always_gives_the_same(messages):
    """Two repairs of one conversation are equal: no random ids, no order by accident."""
    assert repair(messages) == repair(messages)


@given(broken_conversations())
def test_repair_changes_nothing_but_results_and_ids(messages):
    """Texts, images, thinking and calls all stay, in their order, said by the same role: none lost, none new."""

    def said(parts):
        blocks = ((message.role, block) for message in parts for block in message.content)
        return [
            (role, replace(block, id="") if isinstance(block, ToolUseBlock) else block)
            for role, block in blocks
            if not isinstance(block, ToolResultBlock)
        ]

    assert said(repair(messages)) == said(messages)


@given(broken_conversations())
def test_a_result_is_one_that_a_tool_gave_or_the_standard_error(messages):
    """Repair invents nothing: the content of each result was there before, or is the standard error text."""
    before = {(result.content, result.is_error) for message in messages for result in tool_results(message)}
    before.add((ToolResultBlock("", NO_RESULT_TEXT).content, True))
    assert {(r.content, r.is_error) for message in repair(messages) for r in tool_results(message)} <= before


@given(conversations(prefix="x"), broken_conversations(prefix="y"), conversations(prefix="z"))
def test_only_the_broken_part_is_touched(before, broken, after):
    """Sound messages before and behind a broken stretch stay the same objects, whatever order their results have."""
    repaired = repair((*before, *broken, *after))
    assert ids_of(repaired[: len(before)]) == ids_of(before)
    assert ids_of(repaired[-len(after) :]) == ids_of(after)


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ((GO, calls("a"), NEXT, results("a")), [("a", "result of a", False)]),
        ((GO, calls("a", "b"), results("a"), results("b")), [("a", "result of a", False), ("b", "result of b", False)]),
        ((GO, calls("a"), calls("b"), results("b", "a")), [("a", "result of a", False), ("b", "result of b", False)]),
        ((GO, calls("a"), NEXT, DONE, user("again"), results("a")), [("a", "result of a", False)]),
        ((GO, calls("a"), NEXT), [("a", NO_RESULT_TEXT, True)]),
        ((GO, calls("a", "b"), results("b"), NEXT), [("a", NO_RESULT_TEXT, True), ("b", "result of b", False)]),
        ((GO, calls("a")), [("a", NO_RESULT_TEXT, True)]),
        ((GO, calls("a"), DONE), [("a", NO_RESULT_TEXT, True)]),
        ((results("x"), GO), []),
        ((GO, calls("a"), results("x", "a", "y")), [("a", "result of a", False)]),
        ((GO, calls("a"), results("a", "a")), [("a", "result of a", False)]),
        ((results("a"), calls("a"), NEXT), [("a", NO_RESULT_TEXT, True)]),
    ],
    ids=range(12),
)
def test_what_each_call_gets(messages, expected):
    """Late results come home, in the order of the calls; calls without one get the error; orphans go."""
    assert answers(repair(messages)) == expected


def test_results_come_directly_behind_their_calls():
    """A late result moves; the text it was overtaken by stays, behind it."""
    call, late = calls("a"), results("a")
    assert repair((GO, call, NEXT, late)) == (GO, call, late, NEXT)


def test_results_come_before_the_text_of_their_message():
    """Text in front of a result moves behind it and stays in the same message."""
    repaired = repair((GO, calls("a"), user("look:", *results("a").content, "see?")))
    assert repaired == (GO, calls("a"), results("a", then=["look:", "see?"]))


def test_text_around_orphans_stays():
    """An orphan goes; what else stood in its message stays, in its place."""
    assert repair((user("look:", *results("x").content, "see?"), DONE)) == (user("look:", "see?"), DONE)


def test_a_message_of_orphans_only_goes():
    """A message with nothing left in it goes altogether; an empty message that had no orphan is none of ours."""
    assert repair((GO, results("x", "y"), DONE, user())) == (GO, DONE, user())


def test_a_late_result_leaves_its_text_behind():
    """Only the result moves home; text that came with it stays where it was said."""
    repaired = repair((GO, calls("a"), NEXT, results("a", then=["well?"])))
    assert repaired == (GO, calls("a"), results("a"), NEXT, user("well?"))


SYNTHETIC = ToolResultBlock("a", NO_RESULT_TEXT, is_error=True)


@pytest.mark.parametrize(
    ("behind", "expected"),
    [
        ([user(ToolResultBlock("a", "1"), ToolResultBlock("a", "2"))], "2"),
        ([user(ToolResultBlock("a", "1")), user(ToolResultBlock("a", "2"))], "2"),
        ([user(SYNTHETIC), user(ToolResultBlock("a", "real"))], "real"),
        ([user(ToolResultBlock("a", "real")), user(SYNTHETIC)], "real"),
        ([user(ToolResultBlock("a", "real"), SYNTHETIC)], "real"),
        ([user(SYNTHETIC, ToolResultBlock("a", "old")), user(ToolResultBlock("a", "new"), SYNTHETIC)], "new"),
        ([user(SYNTHETIC), user(SYNTHETIC)], NO_RESULT_TEXT),
    ],
    ids=range(7),
)
def test_the_last_real_result_wins(behind, expected):
    """Of several results for one call the last that a tool gave stays, wherever the synthetic ones stand."""
    repaired = repair((GO, calls("a"), *behind, NEXT))
    assert [text for _, text, _ in answers(repaired)] == [expected]


def test_a_real_result_replaces_the_one_of_an_earlier_repair():
    """A batch that was mended while its tool ran takes the real result when it arrives."""
    mended = repair((GO, calls("a", "b"), results("a")))
    assert answers(repair((*mended, results("b"), NEXT))) == [("a", "result of a", False), ("b", "result of b", False)]


def test_a_reused_id_gets_a_new_one_with_its_result():
    """The later call is renamed, and the result that came after it goes with it."""
    first, second = user(ToolResultBlock("a", "1")), user(ToolResultBlock("a", "2"))
    repaired = repair((GO, calls("a"), first, calls("a"), second))
    assert answers(repaired) == [("a", "1", False), ("a~2", "2", False)]
    assert ids_of(repaired[:3]) == ids_of((GO, repaired[1], first))


def test_results_of_a_reused_id_stay_with_their_turn():
    """A late result belongs to the latest call of its id before it, not to an earlier one."""
    late = user(ToolResultBlock("a", "2"))
    repaired = repair((calls("a"), user(ToolResultBlock("a", "1")), calls("a"), NEXT, late, calls("a"), DONE))
    assert answers(repaired) == [("a", "1", False), ("a~2", "2", False), ("a~3", NO_RESULT_TEXT, True)]


def test_two_calls_of_one_id_share_the_results_in_order():
    """In one message the first result goes to the first call, and so on; who goes empty gets the error."""
    given_results = user(ToolResultBlock("a", "1"), ToolResultBlock("a", "2"))
    assert answers(repair((GO, calls("a", "a", "a"), given_results))) == [
        ("a", "1", False),
        ("a~2", "2", False),
        ("a~3", NO_RESULT_TEXT, True),
    ]


def test_a_new_id_is_nobody_elses():
    """A new id avoids every id of the conversation, also of calls that come later and are sound themselves."""
    sound = (calls("a~2"), results("a~2"))
    repaired = repair((calls("a"), results("a"), calls("a"), results("a"), *sound))
    assert [tool_uses(message)[0].id for message in repaired[::2]] == ["a", "a~3", "a~2"]
    assert ids_of(repaired[-2:]) == ids_of(sound)


def test_sound_results_keep_their_order():
    """Results in another order than their calls are valid, so a repair somewhere else leaves them alone."""
    batch = (calls("a", "b"), results("b", "a"))
    assert ids_of(repair((GO, *batch, calls("c"), NEXT))[1:3]) == ids_of(batch)


def test_a_changed_message_keeps_what_belongs_to_it():
    """Kind, usage and id of a message survive the mending of its content."""
    spoken = replace(calls("a", "a", say=[ThinkingBlock("why", "sig")]), usage=Usage(5), id="m1")
    repaired = repair((spoken, user("look:", *results("a").content, kind="restored")))
    assert (repaired[0].usage, repaired[0].id, repaired[0].content[0]) == (Usage(5), "m1", ThinkingBlock("why", "sig"))
    assert repaired[1].kind == "restored"


@pytest.mark.parametrize("sequence", [list, tuple])
def test_any_sequence_is_taken_and_a_tuple_given(sequence):
    """Repair takes a list as well, leaves it as it is, and returns a tuple."""
    messages = sequence([GO, calls("a"), NEXT])
    assert type(repair(messages)) is tuple
    assert messages == sequence([GO, calls("a"), NEXT])
    assert type(repair(sequence([GO]))) is tuple


# Ten messages; the batches are 1-2, 4-5 and 8-9.
TRACE = (
    GO,
    calls("a", "b"),
    results("a", "b"),
    DONE,
    calls("c"),
    results("c", then=["and?"]),
    DONE,
    NEXT,
    calls("d"),
    results("d"),
)


@pytest.mark.parametrize(
    ("index", "more", "less"),
    [
        (-3, 0, 0),
        (0, 0, 0),
        (1, 1, 1),
        (2, 1, 3),
        (3, 3, 3),
        (4, 4, 4),
        (5, 4, 6),
        (6, 6, 6),
        (7, 7, 7),
        (8, 8, 8),
        (9, 8, 10),
        (10, 10, 10),
        (11, 10, 10),
        (99, 10, 10),
    ],
)
def test_a_cut_goes_around_batches_both_ways(index, more, less):
    """A cut between batches stays; in one it moves before or behind the whole batch; outside 0..len it is clamped."""
    assert (safe_cut(TRACE, index), safe_cut(TRACE, index, keep="less")) == (more, less)


@pytest.mark.parametrize(("index", "more", "less"), [(0, 0, 0), (1, 1, 1), (2, 1, 1), (3, 1, 1), (4, 1, 1), (99, 1, 1)])
@pytest.mark.parametrize("behind", [(), (results("a"),)], ids=["no result yet", "one of two"])
def test_a_running_batch_is_kept_whole(behind, index, more, less):
    """As long as a call is unanswered, the cut stays before its batch, in both directions."""
    messages = (GO, calls("a", "b"), *behind)
    assert (safe_cut(messages, index), safe_cut(messages, index, keep="less")) == (more, less)


def test_a_batch_over_several_messages_is_kept_together():
    """Results that came one by one, or late, still belong to their calls: no cut between any of them."""
    messages = (GO, calls("a", "b"), results("a"), results("b"), DONE)
    assert [safe_cut(messages, index) for index in range(6)] == [0, 1, 1, 1, 4, 5]
    assert [safe_cut(messages, index, keep="less") for index in range(6)] == [0, 1, 4, 4, 4, 5]


def test_every_owner_counts_not_any():
    """Two batches whose late results share a message: a cut must suit all of them (inclusion, not intersection)."""
    messages = (calls("a"), calls("b"), results("a", "b"), NEXT)
    assert [safe_cut(messages, index) for index in range(4)] == [0, 0, 0, 3]


def test_a_reused_id_binds_to_its_own_turn_only():
    """With ids used again, a result belongs to the call before it: the turns stay apart."""
    messages = (calls("a"), results("a"), calls("a"), results("a"))
    assert [safe_cut(messages, index) for index in range(5)] == [0, 0, 2, 2, 4]


def test_an_unanswered_call_in_the_past_parts_nothing():
    """A call that was never answered has no result to be parted from."""
    assert safe_cut((GO, calls("a"), NEXT), 2) == 2


def parted(messages, cut):
    """Whether a call before the cut has a result behind it (ids are used once), or a pending call was cut off."""
    before = {call.id for message in messages[:cut] for call in tool_uses(message)}
    behind = {result.tool_use_id for message in messages[cut:] for result in tool_results(message)}
    return bool(before & (behind | {call.id for call in pending_calls(messages)}))


@st.composite
def _cut_places(draw):
    """A conversation whose ids are used once, sound or with messages out of place or missing; and an index in it."""
    messages = list(draw(conversations()))
    if draw(st.booleans()):
        messages = list(draw(st.permutations(messages)))
    messages = messages[: draw(st.integers(0, len(messages)))]
    called: set[str] = set()
    for at, message in enumerate(messages):  # a result in front of its call is an orphan, which no cut concerns
        messages[at] = replace(
            message, content=tuple(b for b in message.content if getattr(b, "tool_use_id", None) in {None, *called})
        )
        called |= {call.id for call in tool_uses(message)}
    return tuple(messages), draw(st.integers(0, len(messages)))


@given(_cut_places(), st.sampled_from(["more", "less"]))
def test_a_safe_cut_is_the_nearest_place_that_parts_nothing(place, keep):
    """The cut parts no pair; all places between it and the wanted one would; it lies on the side that was asked for."""
    messages, index = place
    cut = safe_cut(messages, index, keep=keep)
    assert not parted(messages, cut)
    skipped = range(cut + 1, index + 1) if cut <= index else range(index, cut)
    assert all(parted(messages, between) for between in skipped)
    if keep == "more":
        assert cut <= index
    elif cut < index:  # only because no place behind would do
        assert all(parted(messages, behind) for behind in range(index, len(messages) + 1))


def test_keeping_more_is_the_default():
    """Where nothing is said, the call comes along rather than that its result goes."""
    assert ids_of(keep_from(TRACE, 2)) == ids_of(TRACE[1:])


@given(conversations() | broken_conversations(), st.integers(-2, 20), st.sampled_from(["more", "less"]))
def test_the_kept_rest_is_always_valid(messages, index, keep):
    """From whatever index, in whichever direction, what is kept has whole pairs."""
    assert find_pair_faults(keep_from(messages, index, keep=keep)) == ()


@given(conversations(), st.integers(0, 20), st.sampled_from(["more", "less"]))
def test_the_kept_rest_of_a_valid_conversation_is_its_tail(messages, index, keep):
    """Of a valid conversation the very same objects are kept, from the safe cut on."""
    assert ids_of(keep_from(messages, index, keep=keep)) == ids_of(messages[safe_cut(messages, index, keep=keep) :])


def test_a_long_conversation_is_no_problem():
    """5,000 messages, sound or with every result late, and 1,000 with one id for all calls, are mended and cut."""
    sound = [m for n in range(1_250) for m in (calls(f"c{n}", f"d{n}"), results(f"c{n}", f"d{n}"), DONE, NEXT)]
    assert ids_of(repair(sound)) == ids_of(sound)
    assert safe_cut(sound, 4_001) == 4_000
    late = [*(calls(f"c{n}") for n in range(2_500)), *(results(f"c{n}") for n in range(2_500))]
    assert len(repair(late)) == 5_000
    assert safe_cut(late, 4_999) == 0
    reused = [m for _ in range(500) for m in (calls("a"), results("a"))]
    assert len({call.id for message in repair(reused) for call in tool_uses(message)}) == 500


def test_counting_texts_is_not_fooled_by_joining():
    """Every text block of a mended conversation is one of before: as many as there were."""
    broken = (user("a", *results("x").content, "a"), calls("c", say=["b"]), user("a", *results("c").content))

    def count(messages):
        return Counter(b.text for m in messages for b in m.content if isinstance(b, TextBlock))

    assert count(repair(broken)) == count(broken) == Counter({"a": 3, "b": 1})
    assert [message_text(message) for message in repair(broken)] == ["a\na", "b", "a"]


def test_messages_of_a_repair_are_messages():
    """What repair makes are ordinary chat messages of the user."""
    repaired = repair((GO, calls("a"), NEXT))
    assert repaired[2] == Message("user", (SYNTHETIC,), "chat")
