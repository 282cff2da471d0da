"""The cases of the field guide about compaction: failures that real projects reported, and the behaviour that is right.

Each test is named after its case and builds the case's input itself, so that it runs without the field guide's file.
"""

import copy
import itertools
import json
import re
from pathlib import Path

import pytest

from course_lib.client import Request, ScriptedClient, check_request
from course_lib.compaction import apply, rewrite_above
from course_lib.errors import RateLimitError, SettingsError
from course_lib.history_parts import split_history
from course_lib.ladder import Ladder, Step, climb
from course_lib.levels import five_levels, two_layers
from course_lib.manager import ContextManager
from course_lib.messages import (
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ToolResultBlock,
    ToolSpec,
    ToolUseBlock,
    Usage,
    assistant,
    message_text,
    tool_results,
    tool_uses,
    user,
)
from course_lib.strategies import ContextFolding, SelectiveRetention, Summarisation, ToolResultCompression, Truncation
from course_lib.text_cuts import head, shorten, snip_middle, tail
from course_lib.tokens import IMAGE_TOKENS, MessageCounter, TiktokenCounter, chars_counter
from course_lib.usage_count import Calibration, find_anchor, hybrid_count
from course_lib.window import Window

AREAS = {
    "content-loss", "loop", "grows", "partition", "threshold", "tail", "boundary", "atomicity", "accounting",
    "false-success", "counting", "unicode", "imitation",
}  # fmt: skip
# Cases about parts of the course that come later.
LATER = {
    "CTX-035": "all ways to a compaction go through one circuit breaker: chapter 11",
    "CTX-109": "what is sent again after a refusal: see test_field_guide_summaries",
}
LETTERS = MessageCounter(len, message_overhead_tokens=0)
QUARTERS = MessageCounter(chars_counter(4))


def batch(number, result="ok", name="f", **given):
    """A call and its result."""
    call = ToolUseBlock(f"c{number}", name, given)
    return assistant(call), user(ToolResultBlock(call.id, result))


def endless(count, result="ok"):
    """One turn: a task, and so many batches."""
    return (user("TASK: never touch vendor/."), *(m for number in range(count) for m in batch(number, result)))


def model(*replies, window_tokens=200_000):
    """A model with a script; without one, it always writes the same short summary."""
    script = replies or itertools.repeat("A short summary.")
    return ScriptedClient(script, window_tokens=window_tokens, counter=QUARTERS)


def strategies(**options):
    """Every strategy that gives an older part up."""
    return [
        Truncation(**options), ContextFolding(**options), SelectiveRetention(**options),
        Summarisation(client=model(), least_tokens=1, **options),
    ]  # fmt: skip


# --- what must not be lost -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", strategies(keep_messages=20, counter=QUARTERS), ids=lambda one: one.name)
def test_ctx_023_the_largest_result_shrinks_before_anything_is_dropped(strategy):
    """The result that caused the overflow is cut, the task stays, and the list starts with the user."""
    messages = (user("the task"), *batch(1, "x" * 100_000), assistant("ok"), user("next"))
    after, event = apply(strategy, messages, QUARTERS, trigger="recovery")
    assert (event.shortened, event.dropped, event.summarised) == ((2,), (), ())
    assert event.tokens_after < 17_000
    assert after[0] is messages[0]


def test_ctx_050_a_summary_replaces_only_what_is_in_front_of_the_cutoff():
    """Ten messages, four kept: one summary and the very same last four."""
    messages = tuple(user(f"{number} " * 50) if number % 2 else assistant(f"{number} " * 50) for number in range(10))
    strategy = Summarisation(client=model(), keep_messages=4, pin_first=False, pin_latest=False, least_tokens=1)
    after, event = apply(strategy, messages, QUARTERS)
    assert len(after) == 5
    assert [*map(id, after[1:])] == [*map(id, messages[6:])]
    assert event.summarised == tuple(range(6))


@pytest.mark.parametrize("strategy", strategies(keep_messages=4, counter=QUARTERS), ids=lambda one: one.name)
def test_ctx_060_the_task_stays_word_for_word(strategy):
    """After eighty batches the first words of the user are still there, in every strategy and a second time."""
    messages = endless(80, "result " * 50)
    for _ in range(2):
        after, _ = apply(strategy, messages, QUARTERS)
        assert "TASK: never touch vendor/." in [message_text(message) for message in after]
        messages = (*after, *endless(20, "more " * 50)[1:])


@pytest.mark.parametrize("strategy", strategies(keep_messages=1, counter=QUARTERS), ids=lambda one: one.name)
def test_ctx_061_a_new_question_is_not_compacted_away(strategy):
    """What the user has just asked is the last message afterwards, as the same object."""
    messages = (*endless(20, "result " * 50), assistant("done"), user("new question"))
    after, event = apply(strategy, messages, QUARTERS)
    assert event.outcome == "applied"
    assert after[-1] is messages[-1]


@pytest.mark.parametrize("cut", [lambda t: shorten(t, 2_000, len), lambda t: snip_middle(t, 2_000)])
def test_ctx_064_the_end_of_a_result_survives(cut):
    """Exit codes and ids stand at the end: head and tail are kept."""
    short = cut("x" * 60_000 + "\n<meta id=7>")
    assert short.endswith("\n<meta id=7>")
    assert len(short) <= 2_000


def test_ctx_067_clearing_is_told():
    """An event says which messages and how many tokens; the placeholder says which tool to call again."""
    messages = (user("task"), *batch(1, "x" * 9_000, "recall"), *batch(2), *batch(3), *batch(4))
    after, event = apply(SelectiveRetention(counter=LETTERS), messages, LETTERS)
    assert (event.shortened, event.tokens_freed > 8_000) == ((2,), True)
    assert tool_results(after[2])[0].text == "[result of recall left out: 9,000 tokens]"


# --- loops -----------------------------------------------------------------------------------------------------------


def test_ctx_024_a_fixed_cost_above_the_threshold_is_said_once():
    """System prompt and tools alone are too much: five steps, one explanation, no call."""
    client = model()
    tools = [ToolSpec(f"tool_{number}", "x" * 4_000, {}) for number in range(20)]
    window = Window(context_tokens=80_000, reserve_tokens=4_000)
    manager = ContextManager(window, two_layers(client, QUARTERS), counter=QUARTERS, system="s" * 240_000, tools=tools)
    manager.add_message(user("hi"))
    for _ in range(5):
        manager.get_context()
    assert client.requests == []
    assert [report.outcome for report in manager.log] == ["failed"]
    assert f"{manager.fixed_tokens:,} tokens are system prompt and tools" in manager.log[0].reason


def test_ctx_025_nothing_to_forget_is_a_failure_that_ends():
    """When all is protected, climbing fails with a reason, and is not tried again at the same size."""
    window = Window(context_tokens=1_000, reserve_tokens=0)
    ladder = Ladder(name="t", steps=(Step(0.8, Truncation(counter=LETTERS)),), target_ratio=0.5)
    manager = ContextManager(window, ladder, counter=LETTERS)
    manager.add_message(user("x" * 900))
    for _ in range(10):
        manager.get_context()
    assert [(report.outcome, report.reason[:13]) for report in manager.log] == [("failed", "no step helps")]


def test_ctx_027_progress_is_checked_before_a_summary_is_paid_for():
    """Four hundred tokens of 120,000 are not worth a call; nothing is sent."""
    client = model()
    messages = (user("head " * 48_000), assistant("m" * 1_596), *(user("tail " * 24_000) for _ in range(2)))
    strategy = Summarisation(client=client, keep_messages=2, least_tokens=1, max_recent_tokens=10**6, counter=QUARTERS)
    _, event = apply(strategy, messages, QUARTERS)
    assert (event.outcome, client.requests) == ("skipped", [])


def test_ctx_028_usage_from_before_a_compaction_starts_no_second_one():
    """After a success no old usage counts any more, until a new answer brings one."""
    answer = assistant("Done with all of it.", usage=Usage(160_000))
    messages = (*endless(30, "result " * 20), answer, user("next"))
    after, event = apply(Truncation(keep_messages=4), messages, QUARTERS)
    assert event.outcome == "applied"
    assert hybrid_count(messages, QUARTERS).measured == 160_000
    assert find_anchor(after) is None
    assert hybrid_count(after, QUARTERS).total == event.tokens_after


def test_ctx_030_one_compaction_for_one_trigger():
    """The second look, at what came of the first, finds nothing to do."""
    client = model()
    window = Window(context_tokens=10_000, reserve_tokens=0)
    ladder = two_layers(client, QUARTERS, max_recent_tokens=2_000)
    manager = ContextManager(window, ladder, counter=QUARTERS)
    for message in endless(60, "result " * 100):
        manager.add_message(message)
    first = manager.get_context()
    assert manager.get_context() is first
    assert (len(client.requests), len(manager.log)) == (1, 1)


def test_ctx_031_a_step_that_frees_nothing_hands_on_to_the_next():
    """No result to shake out: the cheap step reports zero, and the next one runs in the same pass."""
    messages = tuple(user("x" * 100) for _ in range(9))
    ladder = Ladder(
        name="two",
        steps=(Step(0.8, ToolResultCompression(counter=LETTERS)), Step(0.8, Truncation(keep_messages=2))),
        target_ratio=0.5,
    )
    _, _, report = climb(ladder, messages, Window(context_tokens=1_000, reserve_tokens=0), LETTERS)
    assert [(step.outcome, step.tokens_freed > 0) for step in report.steps] == [("skipped", False), ("applied", True)]


# --- growth ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [900, 400])
def test_ctx_037_a_summary_longer_than_what_it_replaces_is_refused(words):
    """Three short turns and a long summary: the original stays, and the event says that nothing was freed."""
    messages = tuple(m for n in range(3) for m in (user(f"question {n} " * 5), assistant(f"answer {n} " * 5)))
    strategy = Summarisation(client=model("word " * words), keep_messages=1, least_tokens=1, counter=QUARTERS)
    after, event = apply(strategy, messages, QUARTERS, trigger="manual")
    assert after is messages
    assert event.outcome == "failed"
    assert event.reason.startswith("it frees nothing")


def test_ctx_038_before_and_after_are_counted_alike():
    """The event of a refused growth reports no success: as many tokens after as before, and both in the reason."""
    messages = tuple(user("x" * 100) for _ in range(6))
    _, event = apply(lambda m: (*m[:5], user("y" * 200), m[5]), messages, LETTERS)
    assert (event.outcome, event.tokens_before, event.tokens_after, event.tokens_freed) == ("failed", 600, 600, 0)
    assert "600 tokens before, 800 after" in event.reason


# --- nothing vanishes ------------------------------------------------------------------------------------------------


def test_ctx_058_what_a_summary_hides_was_shown_to_the_summariser():
    """Six messages of 40,000 characters and a window for two: all four hidden ones are shown, in pieces."""
    client = model(window_tokens=30_000)
    messages = tuple(user(f"fact-{number} " + "x" * 40_000) for number in range(6))
    strategy = Summarisation(client=client, keep_messages=2, pin_first=False, pin_latest=False, counter=QUARTERS,
                             max_recent_tokens=10**6)  # fmt: skip
    after, event = apply(strategy, messages, QUARTERS)
    shown = "".join(message_text(request.messages[0]) for request in client.requests)
    assert [f"fact-{number} " in shown for number in range(6)] == [True] * 4 + [False] * 2
    assert event.summarised == (0, 1, 2, 3)
    assert "tokens left out" not in shown
    assert len(after) == 3


def test_ctx_066_kept_and_summarised_are_all():
    """Forty messages and a head larger than a small window: none is neither kept nor summarised."""
    client = model(window_tokens=2_000)
    head_ = user("h" * 6_000)
    messages = (head_, *(m for n in range(20) for m in (assistant(f"a{n} " * 40), user(f"u{n} " * 40))))
    strategy = Summarisation(client=client, keep_messages=4, pin_first=False, pin_latest=False, counter=QUARTERS,
                             max_summary_tokens=300)  # fmt: skip
    _, event = apply(strategy, messages, QUARTERS)
    assert event.outcome == "applied"
    assert sorted((*event.kept, *event.summarised)) == list(range(41))


def test_ctx_021_what_repair_takes_out_is_listed_as_dropped():
    """An orphan result is neither kept nor summarised, so it is dropped, and the totals say so."""
    messages = (
        user("U1 " * 50),
        assistant(ToolUseBlock("c1", "f", {})),
        user(ToolResultBlock("c9", "orphan")),
        user("U2"),
    )
    after, event = apply(lambda m: (user("S", kind="summary"), m[-1]), messages, LETTERS)
    assert sorted((*event.kept, *event.summarised, *event.dropped)) == [0, 1, 2, 3]
    assert 2 not in event.summarised
    assert event.tokens_after == LETTERS.messages(after)


# --- thresholds ------------------------------------------------------------------------------------------------------


def test_ctx_032_settings_that_would_compact_at_every_step_are_refused():
    """A reserve larger than the window, or a trigger of zero: an error, not a loop."""
    with pytest.raises(SettingsError):
        Window(context_tokens=32_000, reserve_tokens=64_000)
    for trigger, target in ((0.0, -0.1), (0.5, 0.5), (1.2, 0.5)):
        with pytest.raises(SettingsError):
            Ladder(name="l", steps=(Step(trigger, Truncation()),), target_ratio=target)


@pytest.mark.parametrize("ladder", [five_levels(QUARTERS), two_layers(model(), QUARTERS)], ids=lambda one: one.name)
def test_ctx_033_a_pass_ends_well_below_its_trigger(ladder):
    """A tenth of the window lies between; the next small turn does not fire again."""
    assert ladder.trigger_ratio - ladder.target_ratio >= 0.0999


def test_ctx_080_after_a_climb_the_answer_fits_too():
    """The reserve is taken off before anything is compared: request and answer together keep to the window."""
    window = Window(context_tokens=131_072, reserve_tokens=32_000)
    assert not window.fits(99_509)
    ladder = Ladder(name="t", steps=(Step(0.9, Truncation(keep_messages=4)),), target_ratio=0.6)
    manager = ContextManager(window, ladder, counter=QUARTERS)
    for message in endless(50, "x" * 8_000):
        manager.add_message(message)
    assert manager.current_tokens > 99_072
    request = Request(messages=manager.get_context(), max_tokens=window.reserve_tokens)
    assert check_request(request, window_tokens=window.context_tokens, counter=QUARTERS) < 0.6 * 99_072


def test_ctx_081_the_trigger_belongs_to_what_is_too_much():
    """Exactly at the trigger the climb is due; exactly full, a request still fits, one token more does not."""
    ladder = Ladder(name="t", steps=(Step(1.0, Truncation(keep_messages=2)),), target_ratio=0.5)
    manager = ContextManager(Window(context_tokens=1_000, reserve_tokens=0), ladder, counter=LETTERS)
    manager.add_message(user("x" * 999))
    assert not manager.is_due
    manager.add_message(user("x"))
    assert manager.is_due
    assert [Window(context_tokens=196_608, reserve_tokens=0).fits(n) for n in (196_608, 196_609)] == [True, False]


# --- tail and boundary -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", strategies(counter=QUARTERS, max_recent_tokens=8_000), ids=lambda one: one.name)
def test_ctx_102_one_endless_turn_has_a_bounded_tail(strategy):
    """Two hundred results of ten thousand characters in one turn: the tail is capped, and the task stays."""
    messages = endless(200, "x" * 10_000)
    after, event = apply(strategy, messages, QUARTERS)
    parts = split_history(messages, keep_messages=20, counter=QUARTERS, max_recent_tokens=8_000)
    assert QUARTERS.messages(parts.recent) <= 8_000
    assert event.outcome == "applied"
    assert event.tokens_after < 20_000
    assert after[0] is messages[0]


def test_ctx_022_a_chat_without_plain_user_messages_can_be_cut():
    """Sixty batches and one task: the cut stands before a call, with the user's words in front of it."""
    after, event = apply(Truncation(keep_messages=40), endless(60), QUARTERS)
    assert (event.outcome, len(after)) == ("applied", 42)
    assert [message.role for message in after[:3]] == ["user", "user", "assistant"]
    assert tool_uses(after[2])


# --- failures --------------------------------------------------------------------------------------------------------


def test_ctx_015_a_failed_compaction_leaves_every_block_as_it_was():
    """The summariser raises: the history is the same tuple, deep down equal to what it was."""
    messages = (*endless(20, "result " * 50), assistant("I look.", ToolUseBlock("open", "f", {"a": [1, {"b": 2}]})))
    before = copy.deepcopy(messages)
    strategy = Summarisation(client=model(RateLimitError("wait")), keep_messages=4, counter=QUARTERS)
    after, event = apply(strategy, messages, QUARTERS)
    assert after is messages
    assert messages == before
    assert isinstance(event.error, RateLimitError)


def test_ctx_036_a_failure_does_not_look_like_a_success():
    """Applied, skipped and failed are told apart, in the event and in what a hook hands on."""
    messages = endless(20, "result " * 50)
    failing = Summarisation(client=model(RateLimitError("wait")), keep_messages=4, counter=QUARTERS)
    outcomes = [
        apply(one, messages, QUARTERS)[1].outcome for one in (Truncation(), Truncation(keep_messages=99), failing)
    ]
    assert outcomes == ["applied", "skipped", "failed"]
    broken = Summarisation(client=model(RateLimitError("wait")), keep_messages=4, counter=QUARTERS)
    after, event = rewrite_above(1, broken, QUARTERS)(messages)
    assert (after is messages, event.outcome) == (True, "failed")


def test_ctx_040_nothing_changed_is_no_compaction():
    """No eligible result: skipped, with the same messages and no token freed."""
    messages = endless(5)
    after, event = apply(ToolResultCompression(), messages, QUARTERS)
    assert after is messages
    assert (event.outcome, event.tokens_freed) == ("skipped", 0)


# --- counting --------------------------------------------------------------------------------------------------------


def test_ctx_070_an_image_costs_what_images_cost():
    """Whatever the length of its base64, and in a result too; a strategy never sees more in it."""
    large, small = ImageBlock("image/png", "A" * 400_000), ImageBlock(url="https://example.org/a.png")
    assert QUARTERS.block(large) == QUARTERS.block(small) == IMAGE_TOKENS
    assert QUARTERS.block(DocumentBlock("application/pdf", "A" * 400_000)) == IMAGE_TOKENS
    assert QUARTERS.block(ToolResultBlock("c1", [large, TextBlock("text")])) == IMAGE_TOKENS + 1


def test_ctx_071_what_stands_inside_a_result_counts_and_is_cut():
    """A hundred thousand characters, however deep, are 25,000 tokens, and compressing finds them."""
    nested = user(ToolResultBlock("c1", [ToolResultBlock("c2", [TextBlock("x" * 100_000)])]))
    assert QUARTERS.message(nested) == 25_004
    messages = (user("go"), assistant(ToolUseBlock("c1", "f", {})), nested)
    assert apply(ToolResultCompression(counter=QUARTERS), messages, QUARTERS)[1].tokens_after < 2_100


def test_ctx_073_system_prompt_and_tools_are_part_of_what_is_full():
    """Forty schemas of two kilobytes make a small conversation due."""
    tools = [ToolSpec(f"t{number}", "x" * 2_000, {}) for number in range(40)]
    window = Window(context_tokens=32_000, reserve_tokens=4_000)
    managers = [ContextManager(window, five_levels(QUARTERS), counter=QUARTERS, tools=some) for some in ((), tools)]
    for manager in managers:
        manager.add_message(user("x" * 26_000))
    assert [manager.is_due for manager in managers] == [False, True]


def test_ctx_074_a_count_is_corrected_by_what_was_billed():
    """634k counted and 1,022k billed: from then on, estimates are multiplied, within bounds."""
    learned = Calibration().learn(estimated=634_000, billed=1_022_000)
    assert learned.tokens(634_000) == pytest.approx(1_022_000, rel=0.01)
    assert Calibration().learn(estimated=1, billed=10**6).factor == 4.0


def test_ctx_082_a_megabyte_of_one_letter_is_counted_and_cut():
    """In pieces, so the time grows with the length and not with its square."""
    exact = TiktokenCounter()
    text = "a" * 1_000_000
    assert exact(text) == pytest.approx(10 * exact("a" * 100_000), rel=0.01)
    assert exact(shorten(text, 2_000, exact)) <= 2_000


def test_ctx_083_a_long_run_of_chinese_is_counted_and_cut():
    """No blank in 14,000 characters, and no exception to wait for."""
    exact = TiktokenCounter()
    text = "汉" * 14_000
    assert 0 < exact(head(text, 500, exact)) <= 500
    assert exact(shorten(text, 500, exact)) <= 500


def test_ctx_085_the_check_is_made_on_what_will_be_sent():
    """History at 75 percent and a new prompt of a tenth: due, before the request."""
    manager = ContextManager(Window(context_tokens=10_000, reserve_tokens=0), five_levels(LETTERS), counter=LETTERS)
    manager.add_message(user("x" * 7_500))
    assert not manager.is_due
    manager.add_message(user("y" * 1_000))
    assert manager.is_due


# --- characters ------------------------------------------------------------------------------------------------------


def test_ctx_090_no_cut_makes_half_a_character():
    """Wherever a cut wants to be, an emoji stays whole, and so does one that JSON brought as two halves."""
    for text in ("a" * 5 + "😀" * 20, "a" * 5 + "\ud83d\ude00" * 20):
        for most in range(45):
            for piece in (head(text, most, len), tail(text, most, len)):
                assert piece.count("\ud83d") == piece.count("\ude00")
                assert set(piece) <= set(text)


def test_ctx_091_a_limit_in_bytes_parts_no_character():
    """Any counter will do, also one of bytes: 25,000 of them hold 8,333 characters of three."""
    piece = head("中" * 40_000, 25_000, lambda text: len(text.encode()))
    assert piece == "中" * 8_333


def test_ctx_103_no_marker_stands_inside_an_argument():
    """A model could copy it into a file: long arguments go as a whole, and a key of its own names them."""
    given = {"path": "a.py", "content": "x" * 9_000}
    messages = (user("task"), *batch(1, "y" * 9_000, "write_file", **given), *map(user, "abcdef"))
    after, _ = apply(SelectiveRetention(counter=LETTERS), messages, LETTERS)
    assert tool_uses(after[1])[0].input == {"path": "a.py", "left_out": ["content"]}
    after, _ = apply(ToolResultCompression(max_result_tokens=100, counter=LETTERS), messages, LETTERS)
    assert tool_uses(after[1])[0].input == given


def test_every_case_of_these_areas_is_here():
    """Each case of the file has a test of its name above, or a reason in LATER why not yet."""
    file = Path(__file__).resolve().parents[2] / "shared" / "cases" / "field_guide.jsonl"
    if not file.is_file():
        pytest.skip("the field guide's file is not beside the repository")
    cases = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    wanted = {case["id"] for case in cases if case["area"] in AREAS}
    names = re.findall(r"^def test_ctx_(\d{3})_", Path(__file__).read_text(encoding="utf-8"), re.M)
    here = {f"CTX-{number}" for number in names}
    assert wanted
    assert wanted == here | set(LATER)
    assert not here & set(LATER)
