"""Tier 1: long results go to files, a stub stays, and what was decided is said again byte for byte."""

import copy
import json
from dataclasses import replace

import pytest
from compaction_histories import check_sendable, check_step
from hypothesis import given
from hypothesis import strategies as st
from strategies import histories

from course_lib.compaction import apply
from course_lib.errors import SettingsError, TranscriptError
from course_lib.messages import (
    ImageBlock,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    assistant,
    tool_results,
    user,
)
from course_lib.microcompact import ClearOldResults
from course_lib.spill import READ_SPILLED, FolderSpillStore, read_spilled_tool
from course_lib.tokens import MessageCounter, chars_counter
from course_lib.tool_budget import BudgetLimits, ToolBudget
from course_lib.tool_pairs import find_pair_faults
from course_lib.transcript import Transcript
from course_lib.wire_anthropic import to_anthropic

QUARTERS = MessageCounter(chars_counter(4))
SMALL = BudgetLimits(max_result_chars=1_000, max_message_chars=2_500, preview_chars=100)


class Memory:
    """Texts by path, in memory."""

    def __init__(self):
        self.texts = {}

    def put(self, text):
        """Keep it."""
        path = f"spill/{len(self.texts)}.txt"
        self.texts[path] = text
        return path


def budget(limits=None, **settings):
    """A budget with a store in memory."""
    return ToolBudget(store=Memory(), limits=limits, **settings)


def history(*texts, tool="run_command", ids=None):
    """A task and one batch with these results."""
    ids = ids or [f"c{number}" for number in range(len(texts))]
    calls = [ToolUseBlock(id_, tool, {}) for id_ in ids]
    results = [ToolResultBlock(id_, text) for id_, text in zip(ids, texts, strict=True)]
    return (user("go"), assistant(*calls), user(*results))


def texts(messages):
    """The texts of all results."""
    return [result.text for message in messages for result in tool_results(message)]


@pytest.mark.parametrize(("length", "is_spilled"), [(50_000, False), (50_001, True)])
def test_the_limit_of_one_result(length, is_spilled):
    """50,000 characters stay, one more goes to disk, whole; the message that stays is the same object."""
    one, messages = budget(), history("x" * length)
    after = one(messages)
    assert (after[2] is not messages[2]) is is_spilled
    assert list(one.store.texts.values()) == (["x" * length] if is_spilled else [])
    assert len(texts(after)[0]) < 2_200 or not is_spilled


@pytest.mark.parametrize(
    ("tool_limit", "length", "is_spilled"),
    [(5_000, 5_000, False), (5_000, 5_001, True), (90_000, 50_000, False), (90_000, 50_001, True)],
)
def test_a_tools_own_limit_is_capped(tool_limit, length, is_spilled):
    """A tool may have a smaller limit, and never a larger one."""
    limits = BudgetLimits(max_chars_by_tool={"run_command": tool_limit})
    assert texts(budget(limits)(history("x" * length)))[0].startswith("[") is is_spilled


@pytest.mark.parametrize(("last", "spilled"), [(10_000, set()), (10_001, {0})])
def test_the_limit_of_a_batch(last, spilled):
    """200,000 characters together stay; with one more, the largest goes, and only that one."""
    sizes = [50_000, 49_000, 48_000, 43_000, last]
    messages = history(*[chr(97 + number) * size for number, size in enumerate(sizes)])
    after = texts(budget()(messages))
    assert {number for number, text in enumerate(after) if text.startswith("[")} == spilled
    assert sum(map(len, after)) <= 200_000


def test_the_largest_go_first_until_it_fits():
    """Not the first, not the last: by size, and no more than needed."""
    messages = history("a" * 600, "b" * 900, "c" * 500, "d" * 800, "e" * 700)
    after = texts(budget(SMALL)(messages))
    assert [text[0] for text in after] == ["a", "[", "c", "[", "e"]
    assert sum(map(len, after)) <= 2_500


def test_what_is_too_long_alone_goes_before_the_batch_is_measured():
    """One result above its own limit makes room enough: nobody else has to go."""
    limits = replace(SMALL, max_chars_by_tool={"verbose": 300})
    calls = [
        ToolUseBlock("c0", "run_command", {}),
        ToolUseBlock("c1", "run_command", {}),
        ToolUseBlock("c2", "verbose", {}),
    ]
    results = [ToolResultBlock("c0", "a" * 1_000), ToolResultBlock("c1", "b" * 900), ToolResultBlock("c2", "c" * 800)]
    after = texts(budget(limits)((user("go"), assistant(*calls), user(*results))))
    assert [text[0] for text in after] == ["a", "b", "["]


def test_the_stub_says_what_and_where():
    """Size, path, the tool that shows it, and a preview that ends at a line end."""
    text = "".join(f"line {number} of the output\n" for number in range(5_000))
    (stub,) = texts(budget()(history(text)))
    notice, _, preview = stub.partition("\n")
    assert (
        notice
        == f"[{len(text):,} characters, kept in spill/0.txt: read_spilled shows it, a page at a time. It begins:]"
    )
    assert text.startswith(preview + "\n")
    assert 1_950 < len(preview) <= 2_000


@pytest.mark.parametrize(("first_line", "preview"), [(50, 100), (51, 51), (99, 99), (101, 100)])
def test_a_preview_ends_at_a_line_end_where_it_can(first_line, preview):
    """A line end in the second half of the preview ends it; without one it is cut by characters."""
    text = "x" * (first_line - 1) + "\n" + "y" * 3_000
    (stub,) = texts(budget(SMALL)(history(text)))
    assert len(stub.partition("\n")[2]) == (preview if preview == 100 else preview - 1)


def test_a_preview_parts_no_character():
    """An emoji at the edge stays whole."""
    (stub,) = texts(budget(SMALL)(history("x" * 99 + "👍🏽" + "y" * 3_000)))
    assert stub.endswith("x" * 99)


def test_a_stub_is_never_longer_than_the_text():
    """A tool with a tiny limit: what no stub can shorten stays as it is, and nothing is written."""
    limits = BudgetLimits(max_chars_by_tool={"run_command": 10})
    one, messages = budget(limits), history("x" * 150)
    assert one(messages)[2] is messages[2]
    assert one.store.texts == {}
    assert len(texts(one(history("x" * 1_500)))[0]) < 250


@pytest.mark.parametrize("tool", ["read_file", "Read", READ_SPILLED])
def test_the_read_tool_is_exempt(tool):
    """What it says stays whole, even where it makes the batch too long: the others go instead."""
    calls = [ToolUseBlock("c0", tool, {}), ToolUseBlock("c1", "grep", {})]
    messages = (
        user("go"),
        assistant(*calls),
        user(ToolResultBlock("c0", "a" * 9_000), ToolResultBlock("c1", "b" * 900)),
    )
    assert [text[0] for text in texts(budget(SMALL)(messages))] == ["a", "["]


def test_a_spilled_text_is_read_without_being_spilled_again(tmp_path):
    """Spilled, read page by page, budgeted before each request: no second file, and the text is whole."""
    store = FolderSpillStore(tmp_path)
    one, tool = ToolBudget(store=store, limits=SMALL), read_spilled_tool(store, max_chars=5_000)
    text = "z" * 12_000
    messages = one(history(text))
    path, found = texts(messages)[0].split()[4].rstrip(":"), ""
    for number in range(3):
        page = tool.run({"path": path, "offset_chars": len(found)})
        call = ToolUseBlock(f"r{number}", READ_SPILLED, {"path": path})
        messages = one((*messages, assistant(call), user(ToolResultBlock(call.id, page))))
        found += texts(messages)[-1].partition("\n")[2]
    assert found == text
    assert len(list(tmp_path.iterdir())) == 1


def test_images_stay_with_the_stub():
    """Only text goes to disk: images of a result, also of one inside it, stay; an error stays an error."""
    image = ImageBlock("image/png", "aGVsbG8=")
    inner = ToolResultBlock("inner", [TextBlock("y" * 900), image])
    call = ToolUseBlock("c0", "grep", {})
    result = ToolResultBlock("c0", [TextBlock("x" * 900), image, inner], is_error=True)
    (after,) = tool_results(budget(SMALL)((user("go"), assistant(call), user(result)))[2])
    assert after.is_error
    assert after.content[1:] == (image, image)


# --- decisions -------------------------------------------------------------------------------------------------------


def growing(count):
    """A conversation of so many batches, round by round; every third result is long, and every fourth batch is."""
    messages = (user("go"),)
    for number in range(count):
        sizes = [2_000 if number % 3 == 0 else 300] if number % 4 else [900, 800, 700, 600]
        calls = [ToolUseBlock(f"c{number}_{at}", "grep", {}) for at in range(len(sizes))]
        results = [
            ToolResultBlock(call.id, f"{number}:{at} " * (size // 4))
            for at, (call, size) in enumerate(zip(calls, sizes, strict=True))
        ]
        messages = (*messages, assistant(*calls), user(*results))
        yield messages


def sent(messages):
    """What goes over the wire."""
    return json.dumps(to_anthropic(messages))


def test_a_decision_is_repeated_byte_for_byte():
    """As a view of a whole history: each request begins, byte for byte, like the one before."""
    one, before = budget(SMALL), "["
    for messages in growing(12):
        now = sent(one(messages))
        assert now.startswith(before.rstrip("]"))
        before = now
    assert len(one.decisions) > 4


def test_rewriting_and_viewing_are_the_same():
    """The history replaced each time, or kept whole and viewed: the same requests, and no object made twice."""
    rewriting, viewing, kept = budget(SMALL), budget(SMALL), ()
    for messages in growing(12):
        kept = rewriting((*kept, *messages[len(kept) :]))
        assert sent(kept) == sent(viewing(messages))
        assert all(a is b for a, b in zip(kept, rewriting(kept), strict=True))


def test_decisions_survive_a_resume(tmp_path):
    """Written as notes of a real transcript and read back: the same bytes, and no new decision."""
    rounds, path = list(growing(10)), tmp_path / "s1"

    def run(transcript, messages_by_round):
        decisions = {one["id"]: one["stub"] for one in transcript.notes.get("tool budget", ())}
        notes = []

        def note(id_, stub):
            notes.append(id_)
            transcript.note("tool budget", {"id": id_, "stub": stub})

        store = FolderSpillStore(tmp_path / "spill")
        one = ToolBudget(store=store, limits=SMALL, decisions=decisions, on_decision=note)
        return [sent(one(messages)) for messages in messages_by_round], notes

    with Transcript(path, now=lambda: "t") as transcript:
        first, notes = run(transcript, rounds[:6])
        transcript.save(rounds[5])
    with Transcript(path, now=lambda: "t") as transcript:
        again, new_notes = run(transcript, [transcript.view])
        assert (again, new_notes) == ([first[-1]], [])
        later, _ = run(transcript, rounds[6:])
        assert later[0].startswith(first[-1].rstrip("]"))
    assert notes


def test_a_decision_that_could_not_be_recorded_was_not_made():
    """The transcript fails: the error comes through, and the next try decides and records it."""
    told = []

    def fail_once(id_, stub):
        told.append(id_)
        if len(told) == 1:
            raise TranscriptError("disk full")

    one = budget(SMALL, on_decision=fail_once)
    with pytest.raises(TranscriptError):
        one(history("x" * 2_000))
    assert one.decisions == {}
    assert texts(one(history("x" * 2_000)))[0].startswith("[")
    assert told == ["c0", "c0"]


def test_what_another_strategy_cleared_stays_cleared():
    """Microcompact takes the stub away: the budget, which runs before every request, does not put it back."""
    one, clear = budget(SMALL), ClearOldResults(keep_results=0)
    messages = (*one(history("x" * 3_000)), assistant("I see."), user("go on"))
    cleared = clear(messages)
    assert cleared != messages
    assert one(cleared) == cleared


def test_an_id_that_is_used_again_gets_its_own_decision():
    """After a compaction a model may count its calls from one again: the old stub is never put on a new result."""
    one = budget(SMALL)
    first, second = one(history("x" * 3_000)), one(history("y" * 3_000))
    assert texts(first)[0].endswith("x")
    assert texts(second)[0].endswith("y")
    short = history("z" * 10)
    assert one(short)[2] is short[2]


def test_an_id_belongs_to_the_latest_call_before_the_result():
    """The tool of a result is that of its own call, whatever a later call with its id is."""
    read = ToolUseBlock("c0", "read_file", {})
    grep = ToolUseBlock("c0", "grep", {})
    messages = (
        user("go"), assistant(grep), user(ToolResultBlock("c0", "a" * 3_000)),
        assistant(read), user(ToolResultBlock("c0", "b" * 3_000)),
    )  # fmt: skip
    assert [text[0] for text in texts(budget(SMALL)(messages))] == ["[", "b"]


@pytest.mark.parametrize(
    "limits",
    [
        {"preview_chars": 0},
        {"preview_chars": 50_000},
        {"max_result_chars": 200_001},
        {"max_result_chars": -1},
        {"max_chars_by_tool": {"grep": 0}},
    ],
)
def test_limits_that_make_no_sense_are_refused(limits):
    """Preview below result, result at most message, and all above 0."""
    with pytest.raises(SettingsError):
        BudgetLimits(**limits)


@given(histories(), st.sampled_from([300, 1_000, 50_000]))
def test_random_histories(messages, limit):
    """Pairs stay whole, nothing is lost from the account, the second time changes nothing, and every limit holds."""
    limits = BudgetLimits(max_result_chars=limit, max_message_chars=2 * limit, preview_chars=limit // 10)
    one, snapshot = budget(limits), copy.deepcopy(messages)
    after, event = apply(one, messages, QUARTERS)
    assert messages == snapshot
    check_step(messages, after, event, QUARTERS)
    assert event.outcome in ("applied", "skipped")
    shown = one(messages)
    assert [f for f in find_pair_faults(shown) if f.kind != "pending_call"] == []
    check_sendable(shown)
    assert all(a is b for a, b in zip(shown, one(shown), strict=True))
    calls = {c.id: c.name for m in messages for c in m.content if isinstance(c, ToolUseBlock)}
    for result in (r for m in shown for r in tool_results(m) if calls.get(r.tool_use_id) != "read_file"):
        assert len(result.text) <= max(limit, 500)


@given(histories())
def test_random_histories_of_other_tools(messages):
    """The same with no exempt tool: each long text is in the store, whole, and its stub begins as it does."""
    one = budget(BudgetLimits(max_result_chars=1_000, max_message_chars=3_000, preview_chars=100), exempt_tools=())
    shown = one(messages)
    for before, after in zip(messages, shown, strict=True):
        for old, new in zip(tool_results(before), tool_results(after), strict=True):
            assert new.is_error == old.is_error
            if new is not old:
                assert old.text in one.store.texts.values()
                assert len(new.text) < len(old.text)
        together = sum(len(result.text) for result in tool_results(after))
        assert together <= 3_000 or all(len(r.text) <= 500 for r in tool_results(after))
    check_sendable(shown)
