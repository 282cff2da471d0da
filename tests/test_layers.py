"""Three layers and what they need of ladder and manager: always, asked for, one at a time, and nothing overwritten."""

import itertools
import threading

import pytest

from course_lib.agent import Agent, Tool
from course_lib.client import ScriptedClient
from course_lib.compaction import apply, rebase
from course_lib.errors import CompactionError, SettingsError, TranscriptError
from course_lib.events import HistoryRewritten, record_run
from course_lib.ladder import Ladder, Step
from course_lib.layers import AUTO_TOKENS, SaveFirst, compact_tool, three_layers
from course_lib.manager import ADVISE_AFTER_COMPACTIONS, ContextManager
from course_lib.messages import ToolResultBlock, ToolSpec, ToolUseBlock, assistant, tool_results, user
from course_lib.microcompact import ClearOldResults, is_cleared
from course_lib.strategies import Truncation
from course_lib.tokens import MessageCounter, chars_counter
from course_lib.transcript import Transcript
from course_lib.window import Window

COUNTER = MessageCounter(chars_counter(4))
SUMMARY = "<summary>Everything up to here is done and green.</summary>"


def model(*replies):
    """A model that gives these answers, then summaries for ever."""
    return ScriptedClient(itertools.chain(replies, itertools.repeat(SUMMARY)), counter=COUNTER)


def layered(client=None, *, window_tokens=12_000, **settings):
    """A manager with the three layers."""
    window = Window(context_tokens=window_tokens, reserve_tokens=2_000)
    ladder = three_layers(client or model(), COUNTER, available_tokens=window_tokens - 2_000, **settings)
    return ContextManager(window, ladder, counter=COUNTER)


def batch(number, words=250):
    """A call and its result, of about so many tokens."""
    call = ToolUseBlock(f"c{number}", "read_file", {"path": f"{number}.py"})
    return assistant(call), user(ToolResultBlock(f"c{number}", f"{number}: " + "text " * (words * 4 // 5)))


def talk_and_batches():
    """A long talk, then six batches: something for the summary, and something to clear."""
    talk = (user("go"), assistant("x" * 9_000), user("and"), assistant("x" * 9_000), user("on"))
    return (*talk, *itertools.chain(*(batch(n, 400) for n in range(6))))


def cleared(messages):
    """For each result, whether it was cleared."""
    return [is_cleared(result) for message in messages for result in tool_results(message)]


# --- the ladder ------------------------------------------------------------------------------------------------------


def test_micro_always_auto_at_its_tokens():
    """The threshold is in tokens, whatever the window; in a small window it lies at nine tenths."""
    for available, ratio in ((100_000, 0.5), (200_000, 0.25), (10_000, 0.9)):
        ladder = three_layers(model(), COUNTER, available_tokens=available)
        assert ladder.trigger_ratio == pytest.approx(ratio)
        assert [strategy.name for strategy in ladder.always] == ["clear old results"]
        assert ladder.always[0].keep_results == 3
    assert AUTO_TOKENS == 50_000


@pytest.mark.parametrize("available", [0, -5])
def test_a_window_without_room_is_refused(available):
    """It is said before anything runs."""
    with pytest.raises(SettingsError, match="no room for messages"):
        three_layers(model(), COUNTER, available_tokens=available)


def test_micro_runs_before_every_request_and_is_no_compaction():
    """However empty the window: old results are cleared, it is reported, and it counts for no advice."""
    manager = layered(window_tokens=200_000)
    manager.add_message(user("go"))
    for number in range(8):
        for message in batch(number):
            manager.add_message(message)
        assert cleared(manager.get_context()).count(False) <= 3
    stats = manager.get_stats()
    assert cleared(manager.messages) == [True] * 5 + [False] * 3
    assert (stats.compactions, stats.advice) == (0, "")
    assert {(step.name, step.level) for step in stats.log} == {("clear old results", 0)}
    assert len(manager.log) == 5  # three requests had nothing to clear, and say nothing
    assert all(report.outcome == "applied" and report.ratio_before > report.ratio_after for report in manager.log)


def test_auto_writes_a_summary_at_the_threshold():
    """Below it no model is called; at it one is, and it counts."""
    client = model()
    manager = layered(client, auto_tokens=3_000)
    manager.add_message(user("Never touch vendor/. " + "word " * 100))
    number = 0
    while not client.requests:
        manager.add_message(assistant("I think. " * 60))
        manager.add_message(user(f"Go on with {number}."))
        before = manager.current_tokens
        manager.get_context()
        assert bool(client.requests) == (before >= 3_000)
        number += 1
    assert manager.messages[0].kind == "summary"
    assert manager.get_stats().compactions == 1
    assert manager.log[-1].trigger == "auto"


def test_a_report_holds_both_what_always_runs_and_the_climb():
    """One report for one request: first what ran before, then the climb, from the ratio at which all of it began."""
    manager = layered(auto_tokens=3_000)
    manager.messages = talk_and_batches()
    start = manager.usage_ratio
    _, report = manager.rewrite(manager.messages)
    assert [(step.level, step.outcome) for step in report.steps] == [(0, "applied"), (1, "applied")]
    assert report.ratio_before == start > report.ratio_after == manager.usage_ratio
    assert report.tokens_freed == sum(step.tokens_freed for step in report.steps)
    assert len(manager.log) == 1


def test_a_failed_climb_is_failed_whatever_was_cleared_before_it():
    """A breaker must hear of it: clearing results does not make a summary that failed a success."""
    manager = layered(ScriptedClient(["no tags"] * 9, counter=COUNTER), auto_tokens=3_000)
    after, report = manager.rewrite(talk_and_batches())
    assert [step.outcome for step in report.steps] == ["applied", "failed"]
    assert (report.outcome, report.name) == ("failed", "two-stage summary")
    assert cleared(after) == [True] * 3 + [False] * 3


def test_always_comes_before_the_threshold_is_looked_at():
    """What micro frees may make a climb needless."""
    client = model()
    manager = layered(client, auto_tokens=3_000)
    after, report = manager.rewrite((user("go"), *itertools.chain(*(batch(n, 500) for n in range(8))), user("on")))
    assert client.requests == []
    assert [step.level for step in report.steps] == [0]
    assert cleared(after).count(True) == 5


def test_an_always_strategy_that_fails_is_not_in_the_way():
    """What it raises changes nothing and hides no climb."""

    class Broken:
        name = "broken"

        def __call__(self, _):
            raise ZeroDivisionError

    ladder = Ladder(name="l", steps=(Step(0.8, Truncation(keep_messages=2)),), always=(Broken(),), target_ratio=0.5)
    manager = ContextManager(Window(context_tokens=1_000, reserve_tokens=0), ladder, counter=COUNTER)
    history = (user("go"), assistant("x" * 3_600), user("on"), assistant("ok"), user("more"))
    after, report = manager.rewrite(history)
    assert len(after) < len(history)
    assert [step.level for step in report.steps] == [1]


def test_observers_hear_of_what_always_runs():
    """As of every climb that did something."""
    seen = []
    manager = layered(window_tokens=200_000)
    manager.observers = (seen.append,)
    manager.rewrite((user("go"), *itertools.chain(*(batch(n) for n in range(5)))))
    manager.rewrite(manager.messages)
    assert [report.name for report in seen] == ["clear old results"]


# --- asked for -------------------------------------------------------------------------------------------------------


def test_a_requested_compaction_comes_before_the_next_request():
    """Nothing happens at once; then one climb with trigger "manual", though nothing was due; then none."""
    client = model()
    manager = layered(client, auto_tokens=9_000, target_share=0.05)
    manager.messages = (user("go"), *[assistant("x" * 4_000), user("on")] * 8)
    manager.request_compaction()
    assert client.requests == []
    before = manager.messages
    after = manager.get_context()
    assert len(after) < len(before)
    assert [report.trigger for report in manager.log] == ["manual"]
    assert manager.get_context() is after
    assert len(manager.log) == 1


def test_pressing_the_button_serves_a_request_that_waits():
    """`compact` now makes the one before the next request needless."""
    manager = layered(auto_tokens=9_000, target_share=0.05)
    manager.messages = (user("go"), *[assistant("x" * 4_000), user("on")] * 8)
    manager.request_compaction()
    manager.compact()
    manager.get_context()
    assert len(manager.log) == 1


def test_the_model_calls_the_compact_tool():
    """The call is answered in its batch, and before the next request the history is a summary; no pair is broken."""
    cheap = model()
    manager = layered(cheap, window_tokens=100_000, target_share=0.05)
    own = ScriptedClient(
        [assistant("This got long.", ToolUseBlock("k1", "compact", {}), ToolUseBlock("k2", "ls", {})), "done"]
    )
    ls = Tool(ToolSpec("ls", "Lists.", {"type": "object"}), lambda _: "a.txt")
    agent = Agent(own, [compact_tool(manager), ls], rewrite=manager.rewrite)
    agent.messages = (user("go"), *[assistant("x" * 4_000), user("on")] * 9, assistant("ok"))
    run = record_run(agent.run("Carry on."))
    assert run.error is None
    (rewritten,) = [event for event in run.events if isinstance(event, HistoryRewritten)]
    assert (rewritten.detail.trigger, rewritten.detail.outcome) == ("manual", "applied")
    assert [len(own.requests), len(cheap.requests)] == [2, 1]
    assert own.requests[1].messages[0].kind == "summary"
    assert "made shorter before your next turn" in str(own.requests[1].messages)


# --- the transcript first --------------------------------------------------------------------------------------------


def test_everything_is_on_disk_before_the_summary_is_asked_for(tmp_path):
    """When the model is called, the file holds the whole conversation; afterwards nothing of it is missing."""
    seen = []

    class Looking(ScriptedClient):
        def complete(self, messages, **settings):
            seen.append(transcript.view)
            return super().complete(messages, **settings)

    with Transcript(tmp_path / "s", now=str, sync="system") as transcript:
        manager = layered(Looking([SUMMARY], counter=COUNTER), auto_tokens=3_000, transcript=transcript)
        history = (user("go"), *[assistant("x" * 4_000), user("on")] * 8)
        after, report = manager.rewrite(history)
        assert report.name == "two-stage summary"
        assert [*map(id, seen[0])] == [*map(id, history)]
        transcript.save(after, reason=report.name)
        assert all(any(m is kept for kept in transcript.everything) for m in history)
        assert transcript.view == after


def test_what_cannot_be_saved_is_not_summarised(tmp_path):
    """A full disk makes the step fail by name, before a model is paid."""
    client = model()
    transcript = Transcript(tmp_path / "s", now=str, sync="system")
    transcript.close()
    strategy = SaveFirst(
        strategy=three_layers(client, COUNTER, available_tokens=9).steps[0].strategy, transcript=transcript
    )
    history = (user("go"), *[assistant("x" * 4_000), user("on")] * 8)
    after, event = apply(strategy, history, COUNTER)
    assert after is history
    assert isinstance(event.error, TranscriptError)
    assert (event.name, client.requests) == ("two-stage summary", [])


# --- one at a time ---------------------------------------------------------------------------------------------------


class Gate:
    """A strategy that waits for a sign before it drops all but the last message."""

    name = "gate"

    def __init__(self):
        self.entered, self.go, self.runs = threading.Event(), threading.Event(), 0

    def __call__(self, messages):
        """Wait, then leave a summary and the last message."""
        self.runs += 1
        self.entered.set()
        assert self.go.wait(20)
        return (user("in short", kind="summary"), messages[-1])


def gated():
    """A manager over its threshold, with a strategy that waits."""
    gate = Gate()
    ladder = Ladder(name="gated", steps=(Step(0.5, gate),), target_ratio=0.3)
    manager = ContextManager(Window(context_tokens=1_000, reserve_tokens=0), ladder, counter=COUNTER)
    manager.messages = (user("x" * 2_000), assistant("y" * 1_000), user("on"))
    return manager, gate


def test_several_at_once_are_one():
    """Three threads ask at the same time: one climb, one summary, and all three get its result."""
    manager, gate = gated()
    results = []
    threads = [threading.Thread(target=lambda: results.append(manager.get_context())) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert gate.entered.wait(20)
    gate.go.set()
    for thread in threads:
        thread.join(20)
    assert gate.runs == 1
    assert [message.kind for message in results[0]] == ["summary", "chat"]
    assert all(result is results[0] for result in results)


def test_what_came_meanwhile_stands_behind_the_summary():
    """A result that arrives while a summary is written is not overwritten by it."""
    manager, gate = gated()
    thread = threading.Thread(target=manager.get_context)
    thread.start()
    assert gate.entered.wait(20)
    late = [assistant("meanwhile"), user("a late result")]
    for message in late:
        manager.add_message(message)
    gate.go.set()
    thread.join(20)
    assert [message.kind for message in manager.messages] == ["summary", "chat", "chat", "chat"]
    assert [*map(id, manager.messages[-2:])] == [*map(id, late)]


def test_rebase_puts_what_came_later_behind():
    """Nothing later: the result itself. Another beginning, or a shorter one: an error, and nothing is overwritten."""
    before, after, later = (user("a"), assistant("b"), user("c")), (user("ab", kind="summary"),), user("d")
    assert rebase(before, after, before) is after
    assert rebase(before, after, (*before, later)) == (*after, later)
    for now in (before[:2], (user("a"), *before[1:]), ()):
        with pytest.raises(CompactionError, match="was replaced while it was made shorter"):
            rebase(before, after, now)


def test_after_many_climbs_a_new_conversation_is_advised():
    """Climbs count, what always runs does not."""
    ladder = Ladder(
        name="l",
        steps=(Step(0.5, Truncation(keep_messages=2, pin_first=False)),),
        always=(ClearOldResults(keep_results=0),),
        target_ratio=0.3,
    )
    manager = ContextManager(Window(context_tokens=1_000, reserve_tokens=0), ladder, counter=COUNTER)
    for number in range(ADVISE_AFTER_COMPACTIONS + 1):
        assert manager.get_stats().advice == ""
        manager.rewrite(
            (user("go"), *batch(number, 200), assistant("x" * 2_500), user("on"), assistant("ok"), user("more"))
        )
    assert manager.get_stats().compactions == ADVISE_AFTER_COMPACTIONS + 1
    assert "new conversation" in manager.get_stats().advice
