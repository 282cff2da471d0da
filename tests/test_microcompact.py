"""Clearing old results: what goes, what stays whole, what it says instead, and what it costs the cache."""

import pytest
from compaction_histories import check_sendable, check_step
from hypothesis import given
from hypothesis import strategies as st
from strategies import histories

from course_lib.compaction import apply
from course_lib.errors import NothingToDoError, SettingsError
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
from course_lib.microcompact import COMPACTABLE_TOOLS, ClearOldResults, clearing_instruction, is_cleared
from course_lib.tokens import MessageCounter, chars_counter

COUNTER = MessageCounter(chars_counter(4))


def batch(*names, text="line of text " * 40, is_error=False, first=0):
    """A batch of calls of these tools, and their results."""
    ids = [f"c{first + at}" for at in range(len(names))]
    calls = [ToolUseBlock(id_, name, {"path": f"{id_}.py"}) for id_, name in zip(ids, names, strict=True)]
    results = [ToolResultBlock(id_, f"{id_}: {text}", is_error) for id_ in ids]
    return assistant(f"Batch {first}.", *calls), user(*results)


def history(*names, **settings):
    """A task, a batch for each name, an answer to the last, and a request at the end."""
    batches = [m for at, name in enumerate(names) for m in batch(name, first=at, **settings)]
    return (user("go"), *batches, assistant("I see."), user("and now?"))


def cleared(messages):
    """For each result, whether it was cleared."""
    return [is_cleared(result) for message in messages for result in tool_results(message)]


@pytest.mark.parametrize(("keep", "gone"), [(0, 5), (1, 4), (3, 2), (4, 1), (5, 0), (99, 0)])
def test_the_newest_results_stay_whole(keep, gone):
    """As many as asked for, and they are the same objects; all others become a line that names the tool."""
    before = history(*["read_file"] * 5)
    after = ClearOldResults(keep_results=keep)(before)
    assert cleared(after) == [True] * gone + [False] * (5 - gone)
    assert all(a is b for a, b in zip(after[1 + 2 * gone :], before[1 + 2 * gone :], strict=True))
    lines = [r.text for m in after for r in tool_results(m) if is_cleared(r)]
    assert set(lines) <= {"[result of read_file cleared: call it again if you need it]"}


def test_three_is_the_default():
    """As the course notes have it."""
    assert cleared(ClearOldResults()(history(*["grep"] * 5))) == [True, True, False, False, False]


def test_calls_and_answers_stay():
    """What the assistant said and called is untouched: it holds reasoning and decisions."""
    before = history(*["read_file"] * 5)
    after = ClearOldResults(keep_results=0)(before)
    assert all(a is b for a, b in zip(after, before, strict=True) if a.role == "assistant")


def test_results_that_nobody_has_read_stay_whole():
    """A batch of ten that just came back is shown whole, however few are to be kept; answered, all but three go."""
    before = (user("go"), *batch(*["read_file"] * 10))
    assert cleared(ClearOldResults(keep_results=3)(before)) == [False] * 10
    answered = (*before, assistant("I see."), user("and?"))
    assert cleared(ClearOldResults(keep_results=3)(answered)) == [True] * 7 + [False] * 3


def test_errors_stay():
    """A failed call keeps its message and its flag."""
    before = (user("go"), *batch("run_command", is_error=True), *batch("read_file", first=1), assistant("I see."))
    after = ClearOldResults(keep_results=0)(before)
    assert cleared(after) == [False, True]
    assert after[2] is before[2]


def test_only_tools_of_a_set_or_none_of_another():
    """Small dense tools are spared by name, on a positive and on a negative list."""
    before = history("read_file", "todo", "grep", "search_tools")
    assert cleared(ClearOldResults(keep_results=0, tools=COMPACTABLE_TOOLS)(before)) == [True, False, True, False]
    assert cleared(ClearOldResults(keep_results=0, exclude_tools={"todo", "grep"})(before)) == [
        True,
        False,
        False,
        True,
    ]
    both = ClearOldResults(keep_results=0, tools={"todo", "grep"}, exclude_tools={"grep"})
    assert cleared(both(before)) == [False, True, False, False]


def test_a_result_shorter_than_the_line_stays():
    """Clearing it would free nothing; and a cleared one is not cleared again."""
    short = history("read_file", "read_file", text="ok")
    assert all(a is b for a, b in zip(ClearOldResults(keep_results=0)(short), short, strict=True))
    once = ClearOldResults(keep_results=0)(history(*["read_file"] * 4))
    assert all(a is b for a, b in zip(ClearOldResults(keep_results=0)(once), once, strict=True))


def test_images_in_a_result_go_along():
    """A picture of two thousand tokens gives way to the line."""
    call = assistant(ToolUseBlock("c1", "shot", {}))
    before = (user("go"), call, user(ToolResultBlock("c1", [ImageBlock("image/png", "aGVsbG8=")])), assistant("I see."))
    after = ClearOldResults(keep_results=0)(before)
    assert after[2].content[0].content == (TextBlock("[result of shot cleared: call it again if you need it]"),)


def test_words_behind_results_stay():
    """What the user said in the same message is the same block."""
    call, results = batch("read_file")
    before = (user("go"), call, user(*results.content, "Stop."), assistant("ok"), user("on"))
    after = ClearOldResults(keep_results=0)(before)
    assert message_text(after[2]) == "Stop."
    assert after[2].content[1] is before[2].content[1]


def test_clearing_waits_until_it_is_worth_it():
    """Below the least gain nothing is touched; at it, all that may go goes at once."""
    before = history(*["read_file"] * 5)
    gain = COUNTER.messages(before) - COUNTER.messages(ClearOldResults(counter=COUNTER)(before))
    worth_it = ClearOldResults(counter=COUNTER, clear_at_least_tokens=gain)
    assert cleared(worth_it(before)).count(True) == 2
    with pytest.raises(NothingToDoError, match=f"{gain:,} tokens to gain, and {gain + 1:,} is the least"):
        ClearOldResults(counter=COUNTER, clear_at_least_tokens=gain + 1)(before)


@pytest.mark.parametrize("settings", [{"keep_results": -1}, {"clear_at_least_tokens": -1}])
def test_a_number_below_zero_is_refused(settings):
    """When the strategy is made."""
    with pytest.raises(SettingsError, match="expected numbers from 0 up"):
        ClearOldResults(**settings)


@given(histories(), st.integers(0, 5), st.sampled_from([None, {"read_file"}, frozenset()]))
def test_random_histories(messages, keep, tools):
    """Every rule of compaction holds, every call keeps its one result, and a second time nothing is left to do."""
    strategy = ClearOldResults(keep_results=keep, tools=tools, counter=COUNTER)
    after, event = apply(strategy, messages, COUNTER)
    check_step(messages, after, event, COUNTER)
    check_sendable(after)
    assert event.summarised == ()
    same, second = apply(strategy, after, COUNTER)
    assert (same is after, second.outcome) == (True, "skipped")


def test_the_same_settings_as_an_instruction_for_the_server():
    """Field by field as the beta of Anthropic's context editing names them; what is not set is left out."""
    settings = ClearOldResults(keep_results=5, exclude_tools={"todo", "ask"}, clear_at_least_tokens=5_000)
    assert clearing_instruction(settings, trigger_tokens=30_000, clear_tool_inputs=True) == {
        "edits": [
            {
                "type": "clear_tool_uses_20250919",
                "trigger": {"type": "input_tokens", "value": 30_000},
                "keep": {"type": "tool_uses", "value": 5},
                "clear_tool_inputs": True,
                "clear_at_least": {"type": "input_tokens", "value": 5_000},
                "exclude_tools": ["ask", "todo"],
            }
        ]
    }
    (plain,) = clearing_instruction(ClearOldResults(), trigger_tokens=1)["edits"]
    assert {"clear_at_least", "exclude_tools"}.isdisjoint(plain)


def test_the_instruction_is_what_the_sdk_types():
    """The SDK's own types know every key of it."""
    beta = pytest.importorskip("anthropic.types.beta")
    settings = ClearOldResults(exclude_tools={"a"}, clear_at_least_tokens=1)
    (edit,) = clearing_instruction(settings, trigger_tokens=1)["edits"]
    assert set(edit) <= set(beta.BetaClearToolUses20250919EditParam.__annotations__)
