"""The five tiers as one ladder: thresholds, order, stop rule, and what holds for all of them."""

import copy
from dataclasses import replace

import pytest
from compaction_histories import check_sendable, summariser
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import histories

from course_lib.compaction import apply
from course_lib.errors import SettingsError
from course_lib.events import RunFinished, record_run
from course_lib.ladder import climb, run_always
from course_lib.manager import ContextManager
from course_lib.messages import (
    RawBlock,
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
from course_lib.microcompact import ClearOldResults, is_cleared
from course_lib.prompt_cache import ANTHROPIC_RULES, PrefixCache
from course_lib.session_memory import SessionMemory
from course_lib.simulation.cached_client import CachedClient
from course_lib.simulation.choices import climbing
from course_lib.simulation.offline_model import OfflineModel
from course_lib.simulation.scenario import REFACTORING, measure_outcome
from course_lib.simulation.setup import make_setup
from course_lib.simulation.workspace import make_workspace
from course_lib.snip import Snip, tokens_freed
from course_lib.spill import FolderSpillStore
from course_lib.tiers import auto_compact_ratio, auto_compact_trigger, compaction_instruction, five_tiers
from course_lib.tokens import MessageCounter, chars_counter
from course_lib.tool_budget import BudgetLimits, ToolBudget
from course_lib.tool_pairs import find_pair_faults, pending_calls
from course_lib.usage_count import drop_stale_usage, hybrid_count
from course_lib.window import Window

QUARTERS = MessageCounter(chars_counter(4))
SMALL_LIMITS = BudgetLimits(max_result_chars=8_000, max_message_chars=16_000, preview_chars=500)


class Memory:
    """A store in memory."""

    def __init__(self):
        self.texts = []

    def put(self, text):
        """Keep it."""
        self.texts.append(text)
        return f"spill/{len(self.texts)}.txt"


def tiers(available_tokens, client=None, counter=QUARTERS, **options):
    """The ladder with fresh memories."""
    return five_tiers(
        client or summariser("<summary>A short summary of what was said and done so far.</summary>"),
        counter,
        budget=ToolBudget(store=Memory(), limits=SMALL_LIMITS),
        memory=SessionMemory(),
        available_tokens=available_tokens,
        **options,
    )


def batch(number, text, tool="read_file"):
    """A call and its result."""
    call = ToolUseBlock(f"c{number}", tool, {"path": f"{number}.py"})
    return assistant(f"I read {number}.", call), user(ToolResultBlock(call.id, text))


# --- thresholds ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "max_output", "trigger"),
    [
        (200_000, 32_000, 167_000),
        (200_000, 20_000, 167_000),
        (200_000, 19_999, 167_001),
        (1_000_000, 64_000, 967_000),
        (32_000, 4_096, 14_904),
        (33_001, 64_000, 1),
        (13_002, 1, 1),
    ],
)
def test_the_threshold_of_tier_five(window, max_output, trigger):
    """The window, less the output (20,000 at most), less 13,000; down to a single token."""
    assert (
        auto_compact_trigger(Window(context_tokens=window, reserve_tokens=0), max_output_tokens=max_output) == trigger
    )


@pytest.mark.parametrize(("window", "max_output"), [(33_000, 64_000), (13_001, 1), (8_000, 1_000)])
def test_a_window_too_small_for_the_threshold(window, max_output):
    """One token less, and the rule has no room: an error that names the other way."""
    with pytest.raises(SettingsError, match="use a usage ratio instead"):
        auto_compact_trigger(Window(context_tokens=window, reserve_tokens=0), max_output_tokens=max_output)


def test_the_threshold_as_a_ratio_is_the_same_place():
    """A conversation of one token less than the threshold is below the ratio, one at it is not."""
    window, fixed = Window(context_tokens=200_000, reserve_tokens=20_000), 9_000
    ratio = auto_compact_ratio(window, max_output_tokens=32_000, fixed_tokens=fixed)
    assert window.usage_ratio(167_000 - fixed, fixed_tokens=fixed) >= ratio
    assert window.usage_ratio(167_000 - fixed - 1, fixed_tokens=fixed) < ratio
    ladder = tiers(window.available_tokens(fixed_tokens=fixed), auto_at_ratio=ratio)
    assert [step.at_ratio for step in ladder.steps][-2:] == [ratio, ratio]


@pytest.mark.parametrize(
    ("reserve", "fixed", "has_room"), [(33_000, 0, True), (33_001, 0, False), (0, 166_999, True), (0, 167_000, False)]
)
def test_a_threshold_that_can_never_be_reached_is_refused(reserve, fixed, has_room):
    """Nothing is clamped in silence: the reserve begins below the threshold, or what is fixed ends above it."""
    window = Window(context_tokens=200_000, reserve_tokens=reserve)
    if has_room:
        assert 0 < auto_compact_ratio(window, max_output_tokens=32_000, fixed_tokens=fixed) <= 1
    else:
        with pytest.raises(SettingsError, match="the threshold is 167,000 tokens"):
            auto_compact_ratio(window, max_output_tokens=32_000, fixed_tokens=fixed)


@pytest.mark.parametrize(("available", "ratio"), [(0, 0.9), (-5, 0.9), (1_000, 0.34), (1_000, 1.01)])
def test_a_ladder_without_room_is_refused(available, ratio):
    """No room for messages, or none for the gentler tiers."""
    with pytest.raises(SettingsError):
        tiers(available, auto_at_ratio=ratio)


@pytest.mark.parametrize("ratio", [0.35, 0.6, 0.9, 1.0])
def test_the_order_is_from_gentle_to_harsh(ratio):
    """Tier 1 always, then snip, microcompact, notes, a model; none below its predecessor, the target below all."""
    ladder = tiers(50_000, auto_at_ratio=ratio)
    assert [strategy.name for strategy in ladder.always] == ["tool-result budget"]
    assert [step.name for step in ladder.steps] == ["snip", "microcompact", "session memory", "two-stage summary"]
    assert 0 < ladder.target_ratio < ladder.steps[0].at_ratio


# --- order and stop rule ---------------------------------------------------------------------------------------------


def taken(ladder, messages, window):
    """What became of each step of one climb."""
    _, _, report = climb(ladder, messages, window, QUARTERS)
    return [(step.name, step.outcome) for step in report.steps]


def test_no_more_is_done_than_needed():
    """Just above the first threshold only old rounds go; much higher, each tier runs after the one before it."""
    window = Window(context_tokens=10_000, reserve_tokens=0)
    low = (user("go"), *(m for n in range(19) for m in batch(n, "x" * 1_550)))
    assert 0.75 <= window.usage_ratio(QUARTERS.messages(low), fixed_tokens=0) < 0.8
    assert taken(tiers(10_000), low, window) == [("snip", "applied")]
    high = (user("go"), *(m for n in range(3) for m in batch(n, "x" * 12_000)), user("go on"))
    names = [name for name, outcome in taken(tiers(10_000, keep_results=1), high, window)]
    assert names[:2] == ["snip", "microcompact"]


def test_notes_come_before_a_model():
    """Where the notes are enough, no model is called; where there are none to make it short, one is."""
    client = summariser("<summary>A short summary of what was said and done so far.</summary>")
    window = Window(context_tokens=10_000, reserve_tokens=0)
    said = (user("go"), *(m for n in range(12) for m in (assistant(f"{n} " * 1_700), user(f"next {n}"))))
    ladder = tiers(10_000, client=client)
    after, _, report = climb(ladder, said, window, QUARTERS)
    applied = [step.name for step in report.steps if step.outcome == "applied"]
    assert "two-stage summary" not in applied
    assert client.requests == []
    orders = (user("go"), *(m for n in range(12) for m in (user(f"{n} " * 1_700), assistant("yes"))))
    after, _, report = climb(ladder, orders, window, QUARTERS)
    assert [(step.name, step.outcome) for step in report.steps[-2:]] == [
        ("session memory", "skipped"),
        ("two-stage summary", "applied"),
    ]
    assert "is the most" in report.steps[-2].event.reason
    assert len(client.requests) == 1
    assert QUARTERS.messages(after) < QUARTERS.messages(orders)


def test_tier_one_runs_however_empty_the_window_is():
    """A huge result is gone before the first request that would hold it, and nothing else is touched."""
    window = Window(context_tokens=1_000_000, reserve_tokens=0)
    manager = ContextManager(window, tiers(900_000), counter=QUARTERS)
    for message in (user("go"), *batch(0, "x" * 9_000, tool="run_command")):
        manager.add_message(message)
    after = manager.get_context()
    assert tool_results(after[2])[0].text.startswith("[9,000 characters, kept in spill/1.txt")
    assert manager.get_context() is after
    assert manager.get_stats().compactions == 0


def test_microcompact_spares_what_is_small_and_dense():
    """A todo list is never cleared, whatever its age; a file that can be read again is."""
    step = tiers(10_000, keep_results=1).steps[1].strategy
    rounds = [
        *batch(0, "x" * 9_000),
        *batch(1, "todo " * 900, "todo_write"),
        *batch(2, "x" * 9_000),
        *batch(3, "x" * 99),
    ]
    after, _ = apply(step, (user("go"), *rounds), QUARTERS)
    assert [is_cleared(r) for m in after for r in tool_results(m)] == [True, False, True, False]


# --- clearing is sticky and comes in batches -------------------------------------------------------------------------


@pytest.mark.parametrize(("least", "is_cleared_now"), [(2_180, True), (2_300, False)])
def test_clearing_waits_until_it_is_worth_it(least, is_cleared_now):
    """Both sides of `clear_at_least_tokens`: three old results of 750 tokens each."""
    messages = (user("go"), *(m for n in range(6) for m in batch(n, "x" * 3_000)))
    strategy = ClearOldResults(counter=QUARTERS, clear_at_least_tokens=least)
    after, event = apply(strategy, messages, QUARTERS)
    assert (event.outcome == "applied") is is_cleared_now
    assert (after is messages) is not is_cleared_now


def test_clearing_does_not_fire_each_turn():
    """Fifty rounds: the history is rewritten a few times, many results at once; in between it only grows."""
    strategy, rewrites, cleared = ClearOldResults(counter=QUARTERS, clear_at_least_tokens=5_000), [], []
    messages = (user("go"),)
    for number in range(50):
        messages = (*messages, *batch(number, f"{number:03}" * 500))
        after, event = apply(strategy, messages, QUARTERS)
        if event.outcome == "applied":
            rewrites.append(number)
            cleared.append(len(event.shortened))
            assert all(
                a is b
                for a, b in zip(messages, after, strict=True)
                if not tool_results(a) or is_cleared(tool_results(a)[0])
            )
        messages = after
    assert 1 < len(rewrites) <= 4
    assert min(cleared) > 10
    each_turn = [apply(ClearOldResults(counter=QUARTERS), messages, QUARTERS)[1].outcome]
    assert each_turn == ["applied"]


def test_batches_are_cheaper_than_clearing_each_turn():
    """The same long conversation behind the same cache: cheaper in batches than turn by turn, or than left alone."""

    def cost(strategy):
        cache, messages = PrefixCache(ANTHROPIC_RULES, QUARTERS, now=lambda: 0.0), (user("go"),)
        client = CachedClient(summariser("yes"), cache)
        for number in range(80):
            messages = (*messages, *batch(number, f"{number:03}" * 500))
            messages = apply(strategy, messages, QUARTERS)[0] if strategy else messages
            client.complete(messages)
        return client.cost

    batched = cost(ClearOldResults(counter=QUARTERS, clear_at_least_tokens=12_000))
    each, none = cost(ClearOldResults(counter=QUARTERS)), cost(None)
    assert batched < each
    assert batched < none


def test_thinking_is_never_touched():
    """Through every tier but the summaries, thinking and its signature are the same objects, or gone as a whole."""
    thought, hidden = ThinkingBlock("Hm. " * 300, "c2ln"), RawBlock({"type": "redacted_thinking", "data": "eA=="})
    rounds = []
    for number in range(10):
        call = ToolUseBlock(f"c{number}", "read_file", {})
        rounds += [assistant(thought, hidden, call), user(ToolResultBlock(call.id, "x" * 9_000))]
    messages, ladder = (user("go"), *rounds), tiers(10_000, keep_results=1)
    for strategy in (*ladder.always, *(step.strategy for step in ladder.steps[:2])):
        after, event = apply(strategy, messages, QUARTERS)
        assert event.outcome in ("applied", "skipped")
        for message in (m for m in after if tool_uses(m)):
            assert message.content[0] is thought
            assert message.content[1] is hidden


# --- the count after a snip ------------------------------------------------------------------------------------------


def firings(cure):
    """In which of four looks at the same conversation the threshold fires; the usage is what a provider would bill."""
    snip, threshold, fired = Snip(counter=QUARTERS, tokens_to_free=600), 6_000, []
    history = (user("go"), *(m for n in range(15) for m in batch(n, "x" * 1_600)))
    answer = assistant("Ready.", usage=Usage(input_tokens=QUARTERS.messages(history)))
    history, freed = (*history, answer, user("go on")), 0
    for turn in range(4):
        if hybrid_count(history, QUARTERS, tokens_freed=freed).total < threshold:
            continue
        fired.append(turn)
        after = snip(history)
        if cure == "drop":
            after = drop_stale_usage(history, after)
        elif cure == "subtract":
            freed += tokens_freed(history, after, QUARTERS)
        history = after
    return fired


def test_without_a_cure_the_threshold_fires_for_ever():
    """The anchored count shows the size from before the snip, so every turn snips again; each cure ends that."""
    assert firings("none") == [0, 1, 2, 3]
    assert firings("drop") == [0]
    assert firings("subtract") == [0]


# --- as a whole ------------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(histories(), st.sampled_from([6_000, 30_000]))
def test_random_histories(messages, window_tokens):
    """Pairs whole, history untouched, report and count agree, and what is left can be sent."""
    window = Window(context_tokens=window_tokens, reserve_tokens=window_tokens // 8)
    ladder, snapshot = tiers(window.input_tokens), copy.deepcopy(messages)
    budgeted, _ = run_always(ladder, messages, window, QUARTERS)
    after, _, report = climb(ladder, budgeted, window, QUARTERS)
    assert messages == snapshot
    assert report.tokens_freed == QUARTERS.messages(budgeted) - QUARTERS.messages(after)
    failed = {step.name for step in report.steps if step.outcome == "failed"}
    assert failed <= {"session memory", "two-stage summary"}  # what they write may be longer than what it replaces
    assert pending_calls(after) == pending_calls(messages)
    assert [fault for fault in find_pair_faults(after) if fault.kind != "pending_call"] == []
    check_sendable(after)
    if report.ratio_before < ladder.trigger_ratio:
        assert after is budgeted


def test_the_running_task_ends_in_a_small_window(tmp_path):
    """Twelve thousand tokens for a task that fills forty: done, no test broken, both constraints kept."""
    scenario = replace(REFACTORING, window=Window(context_tokens=12_000, reserve_tokens=2_000))
    counter = MessageCounter(chars_counter(4))
    setup = make_setup(scenario, OfflineModel(window_tokens=12_000, counter=counter))
    budget = ToolBudget(store=FolderSpillStore(tmp_path / "spill"), limits=SMALL_LIMITS)
    way = climbing(
        lambda setup: five_tiers(
            setup.client,
            setup.counter,
            budget=budget,
            memory=SessionMemory(),
            available_tokens=setup.available_tokens,
            exclude_tools=["list_files"],
        )
    )
    with make_workspace() as workspace:
        before = workspace.snapshot()
        agent = setup.agent(workspace, way)
        run = record_run(agent.run(scenario.task))
        outcome = measure_outcome(workspace, before)
    assert isinstance(run.events[-1], RunFinished)
    assert outcome.is_complete
    assert any(message.kind == "boundary" for message in agent.messages)
    assert scenario.task in message_text(agent.messages[0])


def test_an_instruction_for_the_server_has_a_threshold():
    """The server's own tier 5 is asked for at the same place as ours."""
    window = Window(context_tokens=200_000)
    trigger = auto_compact_trigger(window, max_output_tokens=32_000)
    (edit,) = compaction_instruction(trigger_tokens=trigger)["edits"]
    assert edit["trigger"] == {"type": "input_tokens", "value": 167_000}
