"""The two ladders of two articles: their numbers, their steps, and what became of the older half."""

import itertools

import pytest

from course_lib.client import ScriptedClient
from course_lib.compaction import apply
from course_lib.ladder import HalveReserve, climb
from course_lib.levels import ShrinkOlderHalf, SnipOldResults, five_levels, two_layers
from course_lib.manager import ContextManager
from course_lib.messages import TextBlock, ToolResultBlock, ToolUseBlock, assistant, message_text, tool_results, user
from course_lib.strategies import ContextFolding, Summarisation
from course_lib.tokens import MessageCounter
from course_lib.window import Window

LETTERS = MessageCounter(len, message_overhead_tokens=0)


def step(number, result="ok", is_error=False):
    """A call and its result."""
    return assistant(ToolUseBlock(f"c{number}", "f", {})), user(ToolResultBlock(f"c{number}", result, is_error))


def text_of(message):
    """The text of the first result."""
    return tool_results(message)[0].text


# --- the older half --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "is_gone"), [(299, False), (300, False), (301, True)])
def test_results_over_the_limit_become_placeholders(size, is_gone):
    """300 tokens stay, 301 give way to a line with the tool and the size."""
    messages = (*step(1, "x" * size), user("b"), user("c"))
    after = ShrinkOlderHalf(counter=LETTERS)(messages)
    assert text_of(after[1]) == (f"[result of f left out: {size} tokens]" if is_gone else "x" * size)
    assert (after[1] is messages[1]) != is_gone
    assert after[0] is messages[0]


@pytest.mark.parametrize(("size", "is_cut"), [(800, False), (801, True)])
def test_long_answers_keep_their_beginning(size, is_cut):
    """An assistant's text of 801 tokens keeps its first 400."""
    after = ShrinkOlderHalf(counter=LETTERS)((assistant("x" * size), user("b")))
    if is_cut:
        assert message_text(after[0]) == "x" * 400 + "\n[… the rest of 801 tokens left out …]"
    else:
        assert message_text(after[0]) == "x" * size


def test_only_the_older_half_is_touched():
    """Of nine messages four are old."""
    messages = tuple(assistant("x" * 900) for _ in range(9))
    after = ShrinkOlderHalf(counter=LETTERS)(messages)
    assert [a is b for a, b in zip(messages, after, strict=True)] == [False] * 4 + [True] * 5


def test_errors_the_users_words_and_summaries_stay():
    """Also words behind results, of which only the result shrinks."""
    call, result = step(2, "y" * 900)
    mixed = user(*result.content, "w" * 900)
    old = (user("u" * 900), user("s" * 900, kind="summary"), *step(1, "e" * 900, True), call, mixed)
    after = ShrinkOlderHalf(counter=LETTERS)((*old, *map(user, "abcdef")))
    assert [a is b for a, b in zip(old, after, strict=False)] == [True] * 5 + [False]
    assert after[5].content[1] is mixed.content[1]


def test_it_never_makes_anything_longer():
    """With tiny limits a placeholder is only used where it is shorter than what it stands for."""
    strategy = ShrinkOlderHalf(counter=LETTERS, max_result_tokens=1, max_text_tokens=1, keep_text_tokens=1)
    messages = (assistant("short"), *step(1, "small"), assistant("x" * 99), *map(user, "abcd"))
    after = strategy(messages)
    assert [a is b for a, b in zip(messages, after, strict=True)] == [True] * 3 + [False] + [True] * 4
    assert apply(strategy, after, LETTERS)[1].outcome == "skipped"


# --- snipping --------------------------------------------------------------------------------------------------------


def test_old_results_are_snipped_by_characters():
    """Results older than six messages keep 1,000 and 500 characters; newer ones, errors' flags and other texts stay."""
    messages = (*step(1, "x" * 5_000, True), assistant("a" * 5_000), *step(2, "y" * 5_000), *step(3), user("b"))
    after = SnipOldResults()(messages)
    (result,) = tool_results(after[1])
    assert result.text == "x" * 1_000 + "\n[… 3,500 characters snipped …]\n" + "x" * 500
    assert result.is_error
    assert [a is b for a, b in zip(messages, after, strict=True)] == [True, False] + [True] * 6


@pytest.mark.parametrize(("keep", "is_old"), [(6, False), (5, True)])
def test_how_many_messages_are_left_alone_is_a_setting(keep, is_old):
    """The sixth message from the end is old only where five are kept."""
    messages = (user("go"), *step(1, "x" * 5_000), *map(user, "abcde"))
    assert (SnipOldResults(keep_messages=keep)(messages) != messages) == is_old


def test_a_limit_without_room_for_the_mark_fails_and_says_so():
    """The history stays, and the event names the setting."""
    messages = (*step(1, "x" * 5_000), *map(user, "abcdef"))
    after, event = apply(SnipOldResults(max_chars=50), messages, LETTERS)
    assert (after is messages, event.outcome) == (True, "failed")
    assert "max_chars is 50" in event.reason


def test_blocks_that_are_no_text_stay_in_a_snipped_result():
    """A result inside the result is left as it is."""
    inner = ToolResultBlock("inner", "x" * 5_000)
    call = assistant(ToolUseBlock("c1", "f", {}))
    messages = (call, user(ToolResultBlock("c1", [inner, TextBlock("y" * 5_000)])), *map(user, "abcdef"))
    content = SnipOldResults()(messages)[1].content[0].content
    assert content[0] is inner
    assert len(content[1].text) < 2_000


# --- the ladders -----------------------------------------------------------------------------------------------------


def test_five_levels_are_those_of_the_article():
    """Four steps with their ratios, and the fifth is the loop over them; the target lies below the trigger."""
    ladder = five_levels(LETTERS)
    assert [(one.at_ratio, one.name) for one in ladder.steps] == [
        (0.80, "halve the reserve"),
        (0.85, "snip long results"),
        (0.90, "shrink the older half"),
        (0.95, "context folding"),
    ]
    assert isinstance(ladder.steps[0].strategy, HalveReserve)
    assert ladder.steps[1].strategy.max_result_tokens == 2_000
    assert ladder.steps[3].strategy == ContextFolding(keep_messages=4)
    assert ladder.target_ratio < ladder.trigger_ratio == 0.80
    assert ladder.max_passes == 2


def test_with_a_model_the_fourth_level_is_its_summary():
    """The last four messages stay, as with rules."""
    client = ScriptedClient([])
    last = five_levels(LETTERS, client=client, max_recent_tokens=99).steps[3].strategy
    assert isinstance(last, Summarisation)
    assert (last.client, last.keep_messages, last.max_recent_tokens) == (client, 4, 99)


@pytest.mark.parametrize(("ratio", "level"), [(0.79, 0), (0.80, 1), (0.85, 2), (0.90, 3), (0.95, 4)])
def test_which_level_is_reached(ratio, level):
    """The harshest step that may run is that of the ratio."""
    messages = (user("t" * 10), *(user("x" * 10) for _ in range(round(ratio * 10_000 / 10) - 1)))
    window = Window(context_tokens=12_000, reserve_tokens=2_000)
    _, _, report = climb(five_levels(LETTERS), messages, window, LETTERS)
    assert max((one.level for one in report.steps), default=0) == level


def test_two_layers_snip_first_and_ask_a_model_only_if_that_is_not_enough():
    """At 70 percent: where snipping is enough, the model is not asked; where it is not, it is, once."""
    window = Window(context_tokens=40_000, reserve_tokens=0)
    for result, calls in (("x" * 9_000, 0), ("x" * 1_900, 1)):
        client = ScriptedClient(itertools.repeat("A summary."), window_tokens=10**6, counter=LETTERS)
        count = 30_000 // len(result) + 1
        messages = (user("task"), *(m for n in range(count) for m in step(n, result)), *map(user, "abcdef"))
        after, _, report = climb(two_layers(client, LETTERS), messages, window, LETTERS)
        assert len(client.requests) == calls
        assert report.outcome == "applied"
        assert report.ratio_after < 0.5
        assert any(message.kind == "summary" for message in after) == bool(calls)


def test_two_layers_are_two_steps_at_one_ratio():
    """Snipping, then the summary; one pass; the target is well below."""
    ladder = two_layers(ScriptedClient([]), LETTERS)
    assert [(one.at_ratio, one.name) for one in ladder.steps] == [(0.7, "snip old results"), (0.7, "summarisation")]
    assert (ladder.max_passes, ladder.target_ratio) == (1, 0.5)


def test_a_manager_climbs_level_by_level_as_it_fills():
    """While a conversation grows, the gentle levels come before the harsh ones."""
    manager = ContextManager(
        Window(context_tokens=30_000, reserve_tokens=8_192), five_levels(LETTERS, max_recent_tokens=4_000),
        counter=LETTERS,
    )  # fmt: skip
    manager.add_message(user("task"))
    for number in range(400):
        for message in step(number, "x" * 400):
            manager.add_message(message)
        manager.get_context()
        assert manager.usage_ratio <= 1
    levels = [one.level for one in manager.get_stats().log]
    firsts = [levels.index(level) for level in sorted(set(levels))]
    assert firsts == sorted(firsts)
    assert {1, 3} <= set(levels)
