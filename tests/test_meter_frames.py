"""From events to frames: what was sent, what came of it, and what it costs to know."""

import itertools
from types import SimpleNamespace

import pytest
from hypothesis import given
from meter_runs import Detail, build, compacted, growing, histories, refused, rewritten

from course_lib.agent import Agent
from course_lib.client import Request, ScriptedClient
from course_lib.compaction import apply
from course_lib.errors import ConnectionFailedError, ContextOverflowError
from course_lib.events import HistoryRewritten, RequestSent, RunFailed, record_run
from course_lib.ladder import Ladder, Step, climb
from course_lib.messages import ToolResultBlock, Usage, assistant, user
from course_lib.strategies import Truncation
from course_lib.tokens import MessageCounter
from course_lib.widgets.changes import changes
from course_lib.widgets.columns import Columns
from course_lib.widgets.frame_builder import FrameBuilder
from course_lib.widgets.frames import added
from course_lib.widgets.prices import Prices
from course_lib.window import Window, composition


@given(histories())
def test_parts_are_those_of_the_whole_request(requests):
    """However requests follow each other, counting only what is new gives what counting everything gives."""
    builder = build(RequestSent(number, Request(messages=m)) for number, m in enumerate(requests, 1))
    counter = MessageCounter(len)
    for frame, messages in zip(builder.frames, requests, strict=True):
        assert frame.composition == composition(messages, window=builder.window, counter=counter)


def test_a_message_is_counted_once():
    """Taking in a request that continues the last one counts its new messages and no other."""
    counted = []
    builder = FrameBuilder(Window(context_tokens=10**6), MessageCounter(lambda text: counted.append(text) or len(text)))
    events = list(growing(50))
    for event in events[:-2]:
        builder.add(event)
    counted.clear()
    builder.add(events[-2])
    assert len(counted) == 4  # the text, the call's name and input, and the result


def test_an_answer_makes_the_count_a_measured_one():
    """Before the answer the request's size is an estimate; then it is what the model read."""
    sent, answered = growing(1, usage=Usage(10, 5, 3, 2))
    builder = build([sent])
    assert not builder.frames[0].is_measured
    assert builder.frames[0].total_tokens == builder.frames[0].composition.total_tokens
    builder.add(answered)
    assert builder.frames[0].is_measured
    assert builder.frames[0].total_tokens == 18


def test_bills_add_up():
    """Each frame knows what all requests up to it were billed."""
    frames = build(growing(3, usage=Usage(10, 5, 3, 2))).frames
    assert [frame.billed for frame in frames] == [Usage(10 * n, 5 * n, 3 * n, 2 * n) for n in (1, 2, 3)]


def test_a_refusal_is_told_from_another_failure():
    """Too long is a refusal; a lost connection is a failure; both end the run."""
    too_long = build(refused()).frames[0]
    assert too_long.is_overflow
    assert too_long.refusal.startswith("refused")
    lost = build([*list(growing(1))[:1], RunFailed(1, ConnectionFailedError("no answer"))])
    assert not lost.frames[0].is_overflow
    assert lost.frames[0].refusal.startswith("failed")
    assert lost.ending == "failed: ConnectionFailedError"


def test_a_request_that_is_sent_again_was_refused():
    """When a run recovers in the middle of a round, the first request is shown as refused and the second is not."""
    long, short = (user("x" * 2_000),), (user("x"),)
    events = [RequestSent(1, Request(messages=long)), rewritten(1, long, short, "recover"), *growing(1, messages=short)]
    first, second = build(events).frames
    assert first.is_overflow
    assert not second.refusal
    assert (first.number, second.number, second.round_number) == (1, 2, 1)
    assert [(c.name, c.tokens_freed) for c in second.compactions] == [("recover", 1_999)]


@pytest.mark.parametrize(
    ("detail", "name"), [(Detail("snip"), "snip"), (None, "history rewritten"), (object(), "history rewritten")]
)
def test_a_compaction_has_the_name_that_its_detail_gives(detail, name):
    """The name comes from the hook's report; without one, the event still says what happened."""
    before, after = (user("x" * 30), user("y")), (user("y"),)
    builder = build([HistoryRewritten(1, before, after, detail), *growing(1)])
    assert [(c.name, c.tokens_freed) for c in builder.frames[0].compactions] == [(name, 34)]


@pytest.mark.parametrize(
    ("edit", "shown"),
    [
        (lambda messages: messages[2:], [("mine", 34)]),
        (lambda messages: messages, []),  # skipped: nothing to see
        (lambda messages: messages[:1], [("✗ mine", 0)]),  # failed: the newest message is gone
    ],
)
def test_what_was_skipped_is_not_marked_and_what_failed_is_crossed(edit, shown):
    """An applied compaction has its name and what it freed, a failed one a cross before its name and freed nothing."""
    before = (user("x" * 14), user("y" * 12), user("z"))
    edit.__name__ = "mine"
    after, event = apply(edit, before, MessageCounter(len))
    builder = build([HistoryRewritten(1, before, after, event), *growing(1, messages=after)])
    assert [(c.name, c.tokens_freed) for c in builder.frames[0].compactions] == shown
    assert [(c.name, c.tokens_freed) for c in builder.track("t").compactions] == shown


def test_a_climb_has_the_names_of_the_steps_that_helped():
    """A ladder's report is marked by what it did, or, when no step helps, by a cross and those words."""
    before = (*(user("x" * 96) for _ in range(9)), user("z"))
    ladder = Ladder(name="l", steps=(Step(0.5, Truncation(keep_messages=2)),), target_ratio=0.3)
    window, counter = Window(context_tokens=1_000, reserve_tokens=0), MessageCounter(len)
    after, _, report = climb(ladder, before, window, counter)
    builder = build([HistoryRewritten(1, before, after, report), *growing(1, messages=after)])
    assert [c.name for c in builder.frames[0].compactions] == ["truncation"]
    same, _, stuck = climb(ladder, before[-2:], Window(context_tokens=150, reserve_tokens=0), counter)
    builder = build([HistoryRewritten(1, before[-2:], same, stuck), *growing(1, messages=same)])
    assert [(c.name, c.tokens_freed) for c in builder.frames[0].compactions] == [("✗ no step helps", 0)]


def test_a_skipped_compaction_still_tells_the_breaker():
    """A report without a compaction may carry the breaker's state."""
    kept = (user("x"),)
    skipped = SimpleNamespace(outcome="skipped", name="snip", breaker="open")
    builder = build([HistoryRewritten(1, kept, kept, skipped), *growing(1)])
    assert (builder.frames[0].compactions, builder.frames[0].breaker) == ((), "open")


def test_a_breaker_keeps_its_state_until_the_next_report():
    """The state of a circuit breaker is shown from the report on."""
    kept = (user("x"),)
    events = [*growing(1), rewritten(2, kept, kept, breaker="open"), *growing(2, start=2)]
    assert [frame.breaker for frame in build(events).frames] == ["", "open", "open"]


def test_frames_come_from_a_real_agent():
    """The events of a run by the library's own agent make a frame a request."""
    builder = FrameBuilder(Window(context_tokens=10_000), MessageCounter(len))
    run = record_run(Agent(ScriptedClient(["done"]), system="Be brief.").run("Hello"))
    assert [builder.add(event) for event in run.events] == [True, True, True]
    assert builder.ending == "finished"
    assert builder.frames[0].composition.tokens_by_part["system"] == len("Be brief.")


@given(histories())
def test_every_message_has_one_fate(requests):
    """Each message of the new request is told once, in order, and each old one is kept, edited or dropped."""
    for before, after in itertools.pairwise(requests):
        told = changes(before, after)
        assert [change.message for change in told if change.place is not None] == list(after)
        assert [change.place for change in told if change.place is not None] == list(range(len(after)))
        survived = sum(change.what == "kept" or change.before is not None for change in told)
        assert survived + sum(change.what == "dropped" for change in told) == len(before)


def test_changes_are_told_apart():
    """Kept, edited, summarised, dropped, restored and new, each by its own word, dropped ones in their old place."""
    a, b, c, d = user("a"), assistant("b"), user(ToolResultBlock("c1", "long")), assistant("d")
    after = (
        user("Summary", kind="summary"),
        user(ToolResultBlock("c1", "short")),
        d,
        user("e", kind="restored"),
        user("f"),
    )
    told = [change.what for change in changes((a, b, c, d), after)]
    assert told == ["dropped", "dropped", "summarised", "edited", "kept", "restored", "new"]


def test_an_equal_message_was_kept():
    """A note that a strategy writes anew each time, in the same words, is no change."""
    assert [change.what for change in changes((user("note"), user("a")), (user("note"), user("b"), user("c")))] == [
        "kept",
        "dropped",
        "new",
        "new",
    ]


@pytest.mark.parametrize("rounds", [1, 4, 5, 8, 9, 17, 100])
def test_columns_stay_few_and_lose_nothing(rounds):
    """However long a run is, there are at most so many columns; together they cover every round."""
    columns = Columns(most=4)
    frames = build(growing(rounds)).frames
    for frame in frames:
        columns.add(frame)
        columns.amend(frame)
    found = columns.snapshot()
    assert len(found) <= 4
    assert [column.first for column in found] == [1, *(column.last + 1 for column in found[:-1])]
    assert found[-1].last == rounds
    assert max(column.peak.total_tokens for column in found) == max(frame.total_tokens for frame in frames)
    assert found[-1].latest is frames[-1]


def test_merged_columns_keep_refusals_and_compactions():
    """What happened once in a thousand rounds is still in its column, and counted once."""
    builder = build([*compacted(20), *refused(22)])
    columns = Columns(most=2)
    for frame in builder.frames:
        columns.add(frame)
        columns.amend(frame)
    found = columns.snapshot()
    assert sum(compaction.times for column in found for compaction in column.compactions) == 20
    assert found[-1].refused is builder.frames[-1]
    assert found[-1].breaker == "open"


def test_prices_are_for_a_million_tokens_of_each_kind():
    """Every bucket has its own price, and no token is paid twice."""
    prices = Prices(
        input_per_million=1, cached_input_per_million=10, cache_write_per_million=100, output_per_million=1_000
    )
    million = 1_000_000
    assert prices.cost(Usage(million, 2 * million, 3 * million, 4 * million)) == 1 + 20 + 300 + 4_000
    assert prices.cost(added(Usage(million), Usage(million))) == 2


def test_a_negative_price_is_refused():
    """A price below 0 is a mistake in the settings."""
    with pytest.raises(ValueError, match="below 0"):
        Prices(output_per_million=-1)


def test_an_overflow_elsewhere_is_the_end_of_the_run():
    """A run that fails before its first request leaves no frame, and says how it ended."""
    builder = build([RunFailed(1, ContextOverflowError("too long"))])
    assert builder.frames == []
    assert builder.ending == "refused: too long"
