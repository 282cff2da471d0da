"""The manager keeps a conversation within its window, counts afresh each time, and says a thing once."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import histories

from course_lib.agent import Agent
from course_lib.client import ScriptedClient
from course_lib.errors import RateLimitError, SettingsError
from course_lib.events import HistoryRewritten, record_run
from course_lib.ladder import HalveReserve, Ladder, Step
from course_lib.levels import five_levels, two_layers
from course_lib.manager import ADVISE_AFTER_COMPACTIONS, ContextManager
from course_lib.messages import ToolResultBlock, ToolSpec, ToolUseBlock, assistant, user
from course_lib.strategies import Summarisation, Truncation
from course_lib.tokens import MessageCounter
from course_lib.window import Window

LETTERS = MessageCounter(len, message_overhead_tokens=0)
TEN = "ten tokens"
TOOL = ToolSpec("f", "does f", {"type": "object"})


def keeping(messages, at_ratio=0.8, target=0.5):
    """A ladder of one step that keeps the last messages."""
    step = Step(at_ratio, Truncation(keep_messages=messages, pin_first=False, pin_latest=False, counter=LETTERS))
    return Ladder(name="keep", steps=(step,), target_ratio=target)


def manager(ladder=None, tokens=1_000, reserve=0, count=0, **options):
    """A manager of a small window, with so many messages of ten tokens in it."""
    made = ContextManager(
        Window(context_tokens=tokens, reserve_tokens=reserve),
        ladder or keeping(5),
        counter=options.pop("counter", LETTERS),
        **options,
    )
    for _ in range(count):
        made.add_message(user(TEN))
    return made


# --- numbers ---------------------------------------------------------------------------------------------------------


def test_the_usage_ratio_is_messages_over_what_is_left_for_them():
    """Reserve, system prompt and tools are taken off the window first."""
    full = manager(tokens=1_000, reserve=200, system="s" * 50, tools=[TOOL], count=10)
    fixed = LETTERS.request((), system="s" * 50, tools=[TOOL])
    assert full.fixed_tokens == fixed
    assert full.available_tokens == 800 - fixed
    assert full.current_tokens == 100
    assert full.usage_ratio == 100 / (800 - fixed)


@given(histories(max_moves=6), st.integers(0, 9))
def test_counts_are_never_stale(messages, cut):
    """After adding, compacting, or an edit from outside: what is said is what a fresh count says."""
    one = manager(tokens=3_000)
    for message in messages:
        one.add_message(message)
        assert one.current_tokens == MessageCounter(len, message_overhead_tokens=0).messages(one.messages)
    one.messages = one.messages[:cut]
    stats = one.get_stats()
    assert stats.tokens == one.current_tokens == sum(map(LETTERS.message, messages[:cut]))
    assert stats.messages == len(messages[:cut])
    assert stats.usage_ratio == one.usage_ratio == stats.tokens / 3_000
    assert sum(stats.tokens_by_role.values()) == stats.tokens


def test_tokens_are_split_by_who_wrote_them():
    """A message with results is the tool's, whoever's role it has."""
    one = manager(tokens=10_000)
    for message in (user("u" * 5), assistant("a" * 7, ToolUseBlock("c", "f", {})), user(ToolResultBlock("c", "r" * 9))):
        one.add_message(message)
    assert one.get_stats().tokens_by_role == {"user": 5, "assistant": 7 + 1 + 2, "tool": 9}


# --- when it compacts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "is_done"), [(79, False), (80, True), (81, True)])
def test_it_compacts_from_the_trigger_on(count, is_done):
    """Exactly at 80 percent it is due; a message before that it is not. Adding alone changes nothing."""
    one = manager(count=count)
    assert one.is_due == is_done
    assert len(one.messages) == count
    assert len(one.get_context()) == (6 if is_done else count)
    assert not one.is_due


def test_the_pending_message_is_counted():
    """A new message of a quarter of the window makes the next request due, before it is sent."""
    one = manager(count=70)
    assert not one.is_due
    one.add_message(user("x" * 250))
    assert one.usage_ratio == 0.95
    assert one.is_due


def test_a_climb_ends_so_low_that_the_next_message_does_not_start_another():
    """A hundred messages more and a handful of climbs."""
    one = manager()
    for _ in range(300):
        one.add_message(user(TEN))
        assert one.usage_ratio <= 0.81
        one.get_context()
    assert one.get_stats().compactions == 4


def test_by_hand_it_compacts_whatever_the_ratio():
    """A level runs alone; without one, steps run until below the target, and nothing happens below it."""
    one = manager(count=40)
    assert one.compact(level=1).outcome == "applied"
    assert len(one.messages) == 6
    assert one.compact().outcome == "skipped"
    assert manager(count=60).compact().outcome == "applied"


@pytest.mark.parametrize("level", [-1, 0, 2])
def test_a_level_that_is_not_there_is_refused(level):
    """The ladder has one."""
    with pytest.raises(SettingsError, match="levels 1 to 1"):
        manager(count=5).compact(level=level)


# --- log, observers, advice ------------------------------------------------------------------------------------------


def test_every_compaction_is_logged_with_its_numbers():
    """Level, tokens before, after and freed."""
    one = manager(count=80)
    one.get_context()
    (step,) = one.get_stats().log
    assert (step.level, step.name, step.outcome) == (1, "truncation", "applied")
    assert (step.event.tokens_before, step.event.tokens_after) == (800, one.current_tokens)
    assert step.tokens_freed == 800 - one.current_tokens
    assert step.ratio_before == 0.8
    assert step.ratio_after == one.usage_ratio


def test_observers_hear_of_every_climb_that_did_something():
    """Once each, with the report that is also in the log."""
    heard = []
    one = manager(observers=[heard.append])
    for _ in range(200):
        one.add_message(user(TEN))
        one.get_context()
    assert tuple(heard) == one.log
    assert len(heard) == 2


def test_a_new_conversation_is_advised_after_more_than_three_compactions():
    """Three are fine; the fourth is one too many."""
    one = manager()
    for number in itertools.count(1):
        one.add_message(user(TEN))
        one.get_context()
        stats = one.get_stats()
        assert bool(stats.advice) == (stats.compactions > ADVISE_AFTER_COMPACTIONS)
        if stats.compactions > 4:
            break
        assert number < 1_000
    assert "5 times" in one.get_stats().advice


def test_a_smaller_reserve_is_no_compaction():
    """Halving the reserve loses nothing: it is in the log, and does not count towards the advice."""
    ladder = Ladder(name="reserve", steps=(Step(0.8, HalveReserve(floor_tokens=100)),), target_ratio=0.5, max_passes=1)
    one = manager(ladder, tokens=1_800, reserve=800, count=80)
    one.get_context()
    stats = one.get_stats()
    assert (stats.compactions, [step.name for step in stats.log]) == (0, ["halve the reserve"])
    assert stats.reserve_tokens == 400
    assert stats.available_tokens == 1_400


# --- nothing helps ---------------------------------------------------------------------------------------------------


def test_a_floor_that_cannot_be_lowered_is_said_once():
    """System prompt and tools alone fill the window: five requests, one report, no call of a model."""
    client = ScriptedClient([])
    ladder = Ladder(name="s", steps=(Step(0.7, Summarisation(client=client, counter=LETTERS)),), target_ratio=0.5)
    one = manager(ladder, tokens=700, system="s" * 600, tools=[TOOL] * 10)
    assert one.usage_ratio == math.inf
    one.add_message(user("hi"))
    for _ in range(5):
        one.get_context()
    assert client.requests == []
    assert [report.outcome for report in one.log] == ["failed"]
    assert "are system prompt and tools" in one.log[0].reason


def test_a_climb_that_cannot_help_waits_until_there_is_more():
    """Nothing is tried again at the same size; five percent later it is."""
    one = manager(keeping(100), count=85)
    one.get_context()
    assert len(one.log) == 1
    for _ in range(4):
        one.add_message(user(TEN))
        assert not one.is_due
    one.add_message(user(TEN))  # 900 tokens are more than 850 and a twentieth
    assert one.is_due


def test_a_climb_that_cannot_help_waits_for_the_next_step():
    """A harsher step runs as soon as its ratio is reached, however little has been added."""
    steps = (Step(0.8, HalveReserve()), Step(0.86, Truncation(keep_messages=5, counter=LETTERS)))
    one = manager(Ladder(name="two", steps=steps, target_ratio=0.5), count=84)
    one.get_context()
    one.add_message(user(TEN))
    assert not one.is_due
    one.add_message(user(TEN))
    assert one.is_due


def test_a_last_chance_before_a_refusal():
    """What would be refused is always tried, however little it has grown; what just fits is not."""
    one = manager(keeping(100), count=98)
    one.get_context()
    for _ in range(2):
        one.add_message(user(TEN))
        assert not one.is_due
    one.add_message(user(TEN))
    assert one.usage_ratio == 1.01
    assert one.is_due


def test_a_shorter_conversation_is_not_taken_for_a_stuck_one():
    """After an edit from outside, being stuck is forgotten."""
    one = manager(keeping(100), count=95)
    one.get_context()
    assert not one.is_due
    one.messages = one.messages[:90]
    assert one.is_due


def test_a_failing_step_is_reported_each_time():
    """A summary call that fails is news whenever it was paid for."""
    client = ScriptedClient(itertools.repeat(RateLimitError("wait")), window_tokens=10**6, counter=LETTERS)
    ladder = Ladder(
        name="s",
        steps=(Step(0.8, Summarisation(client=client, keep_messages=2, least_tokens=1, counter=LETTERS)),),
        target_ratio=0.5,
    )
    one = manager(ladder, count=90)
    for _ in range(3):
        one.get_context()
    assert len(client.requests) == 1
    for _ in range(5):
        one.add_message(user(TEN))
    one.get_context()
    assert len(client.requests) == 2
    assert [report.outcome for report in one.log] == ["failed", "failed"]


def test_being_able_to_do_nothing_yet_is_no_news():
    """Between a step at its floor and the next one, nothing is logged and nobody is told."""
    heard = []
    ladder = Ladder(
        name="two", steps=(Step(0.8, HalveReserve()), Step(0.95, Truncation(keep_messages=5))), target_ratio=0.5
    )
    one = manager(ladder, observers=[heard.append], count=85)
    assert one.rewrite(one.messages) == (one.messages, None)
    assert (one.log, heard) == ((), [])


# --- as a hook of an agent -------------------------------------------------------------------------------------------


def test_as_a_hook_it_hands_back_the_very_same_messages_when_nothing_is_due():
    """No event is made of nothing."""
    messages = (user(TEN),) * 79
    after, report = manager().rewrite(messages)
    assert after is messages
    assert report is None
    after, report = manager().rewrite((*messages, user(TEN)))
    assert len(after) == 6
    assert report.outcome == "applied"


def test_an_agent_with_a_manager_never_sends_too_much():
    """A run whose history would be three windows long ends well, and each request fits."""
    counter = MessageCounter(len)
    window = Window(context_tokens=8_000, reserve_tokens=500)
    client = ScriptedClient(
        [*(assistant(f"step {n} " * 30) for n in range(40))], window_tokens=window.context_tokens, counter=counter
    )
    one = ContextManager(window, five_levels(counter, max_recent_tokens=1_000), counter=counter)
    agent = Agent(client, rewrite=one.rewrite, max_output_tokens=window.reserve_tokens)
    runs = [record_run(agent.run(f"question {number} " * 10)) for number in range(40)]
    assert [run.error for run in runs] == [None] * 40
    rewritten = [event for run in runs for event in run.events if isinstance(event, HistoryRewritten)]
    assert len(rewritten) == len(one.log) > 1


@given(histories(), st.sampled_from(["five levels", "two layers"]))
def test_whatever_comes_the_manager_goes_on(messages, name):
    """Message by message: a climb that helps makes it smaller, one that does not leaves it, and it never breaks."""
    client = ScriptedClient(itertools.repeat("summary"), window_tokens=10**6, counter=LETTERS)
    ladder = five_levels(LETTERS, max_recent_tokens=2_000) if name == "five levels" else two_layers(client, LETTERS)
    one = manager(ladder, tokens=9_000, reserve=2_000)
    for message in messages:
        one.add_message(message)
        before, tokens, was_due = one.messages, one.current_tokens, one.is_due
        after = one.get_context()
        assert after is one.messages
        assert one.current_tokens <= tokens
        assert after is before or was_due
