"""What an X-ray adds up: known sessions give known figures, whatever happens in them."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import conversations
from xray_events import LETTERS, Events, parts

from course_lib.errors import CourseError
from course_lib.messages import (
    DocumentBlock,
    ImageBlock,
    RawBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolSpec,
    ToolUseBlock,
    Usage,
    assistant,
    user,
)
from course_lib.session_logs.records import CallBilled, HistoryCompacted, MessageLogged, Place
from course_lib.session_logs.xray import XrayFold, xray
from course_lib.session_logs.xray_context import ContextFold
from course_lib.session_logs.xray_rows import MOST_ROWS
from course_lib.tokens import MessageCounter, TiktokenCounter, chars_counter
from course_lib.widgets.prices import Prices
from course_lib.window import PARTS, Window, composition

# --- parts -----------------------------------------------------------------------------------------------------------


def test_a_row_shows_what_the_call_could_see():
    """Everything before a bill is in its row, by part; the answer is in the next one."""
    events = Events().started().said("x" * 10).billed(50).answered(ThinkingBlock("t" * 3), "y" * 4)
    events.said("z" * 5, ImageBlock("image/png", "abc")).billed(200).answered("end")
    first, second = events.report().threads[0].rows
    assert parts(first) == {"user": 10}
    assert parts(second) == {"user": 15, "assistant": 4, "thinking": 3, "documents": 100}


@given(conversations())
def test_parts_agree_with_the_composition_of_the_same_messages(messages):
    """The last row says what `window.composition` says of all messages before it."""
    counter = MessageCounter(chars_counter(3))
    events = [
        MessageLogged(place=Place("f", line), thread="", message=message) for line, message in enumerate(messages)
    ]
    events.append(MessageLogged(place=Place("f", 99), thread="", message=assistant("over")))
    expected = composition(messages, window=Window(context_tokens=1, reserve_tokens=0), counter=counter)
    row = xray(events, counter=counter).threads[0].rows[-1]
    assert dict(zip(PARTS, row.parts, strict=True)) == expected.tokens_by_part


def test_a_logged_system_prompt_and_tools_are_parts():
    """Where a log holds the fixed cost it is counted, once however often it is repeated, and not called unlogged."""
    tool = ToolSpec("t", "d", {})
    events = Events().fixed("s" * 30, [tool]).said("u" * 10).billed(100).answered("a").fixed("s" * 30, [tool])
    report = events.said("v").billed(200).answered("b").report()
    tools = LETTERS.tool(tool)
    assert parts(report.threads[0].rows[-1]) == {"system": 30, "tools": tools, "user": 11, "assistant": 1}
    assert report.threads[0].unlogged_tokens == 100 - 30 - tools - 10
    assert report.added_tokens["system"] == 30


def test_what_the_model_never_saw_is_not_counted():
    """Notes for the person are counted as hidden messages, and in no part."""
    report = Events().said("x" * 10).said("note" * 50, in_context=False).billed(10).answered("a").report()
    assert report.hidden_messages == 1
    assert parts(report.threads[0].rows[0]) == {"user": 10}


def test_prompts_rounds_and_injected_messages():
    """A prompt is what a person said: no result, no reminder, and nothing that a sub-agent was told."""
    main = Events().started().said("do it").said("reminder", injected=True).billed(9).called("c1", "r")
    side = Events(thread="agent").said("look").billed(5).answered("seen")
    report = xray([*main, *side], counter=LETTERS)
    assert (report.prompts, report.rounds, report.calls) == (1, 2, 2)
    assert report.threads[0].injected_tokens == len("reminder")
    assert [thread.name for thread in report.threads] == ["main", "agent"]


# --- bills -----------------------------------------------------------------------------------------------------------


def test_billed_against_visible_with_the_unlogged_part_apart():
    """The first bill minus what is visible then is unlogged; later growth does not change it."""
    events = Events().said("x" * 100).billed(1_100).answered("y" * 40).said("z" * 60).billed(1_200).answered(".")
    main = events.report().threads[0]
    assert main.unlogged_tokens == 1_000
    assert [row.unlogged_tokens for row in main.rows] == [1_000, 1_000]
    assert main.calibration == 1.0
    assert main.billed == Usage(input_tokens=2_300)


def test_nothing_is_unlogged_below_zero():
    """A counter that counts more than the bill makes the unlogged part 0, not negative."""
    assert Events().said("x" * 100).billed(80).answered("y").report().threads[0].unlogged_tokens == 0


def test_the_calibration_compares_growth_with_growth():
    """The unlogged part cancels out: 100 more letters for 150 more billed tokens is 1.5."""
    events = Events().said("x" * 100).billed(1_000).answered("y" * 40).said("z" * 60).billed(1_150).answered(".")
    assert events.report().threads[0].calibration == 1.5


def test_a_log_without_bills_still_has_rows():
    """Each answer is a call then; money and overhead are unknown rather than 0."""
    report = Events().said("x" * 10).answered("y" * 4).said("z").answered("w").report()
    main = report.threads[0]
    assert [row.context_tokens for row in main.rows] == [10, 15]
    assert not report.has_bill
    assert main.unlogged_tokens is None
    assert main.calibration is None
    assert main.calls == main.calls_without_bill == 2


def test_a_bill_of_zero_is_no_measurement():
    """An aborted call says nothing about the context, neither at the start nor later."""
    events = Events().said("x" * 10).billed(0).answered("stopped").said("y" * 10).billed(127).answered("ok")
    main = events.report().threads[0]
    assert main.first_billed_tokens == 127
    assert main.unlogged_tokens == 127 - 20 - len("stopped")
    assert main.calls_without_bill == 1


def test_unreliable_outputs_are_told_apart():
    """For a call logged too early, the bill's output stands beside what the answer holds."""
    events = Events().said("x").billed(5, output=1, reliable=False).answered("y" * 90).said("z").billed(9, output=7)
    main = events.answered("fine").report().threads[0]
    assert (main.unreliable_outputs, main.unreliable_output_tokens, main.counted_output_tokens) == (1, 1, 90)
    assert main.billed.output_tokens == 8


def test_cost_uses_the_prices_it_is_given():
    """Money is bills times prices; without a cache every input token has the full price."""
    prices = Prices(
        input_per_million=10, cached_input_per_million=1, cache_write_per_million=20, output_per_million=100
    )
    report = Events().said("x").billed(1_000, read=2_000, write=3_000, output=500).answered("y").report(prices=prices)
    assert report.cost == pytest.approx((10_000 + 2_000 + 60_000 + 50_000) / 1e6)
    assert report.cost_without_cache == pytest.approx((60_000 + 50_000) / 1e6)
    assert report.cache_share == pytest.approx(2_000 / 6_000)


@pytest.mark.parametrize(("read", "cold"), [(500, 0), (499, 1)])
def test_a_cache_that_is_gone_is_counted(read, cold):
    """A call that reads less than half of the context before it from the cache found it gone."""
    events = Events().said("x").billed(write=500, read=500).answered("y").billed(1_000 - read, read=read).answered("z")
    main = events.report().threads[0]
    assert (main.cold_calls, main.cold_tokens) == (cold, cold * (1_000 - read))


def test_without_any_cache_nothing_is_gone():
    """A provider that reports no cache has not lost one."""
    assert (
        Events().said("x").billed(1_000).answered("y").billed(1_000).answered("z").report().threads[0].cold_calls == 0
    )


@pytest.mark.parametrize(("after", "drops"), [(20_001, 0), (19_999, 1)])
def test_a_context_that_falls_without_a_record_is_said(after, drops):
    """A bill below two thirds of the one before, with no compaction in the log, has its place noted."""
    main = Events().said("x").billed(30_000).answered("y").billed(after).answered("z").report().threads[0]
    assert len(main.unrecorded_drops) == drops


def test_models_are_billed_apart():
    """Each model has its calls and its sum."""
    report = Events().said("x").billed(10, model="big").answered("a").billed(3, model="small").answered("b").report()
    assert [(m.name, m.calls, m.billed.input_tokens) for m in report.models] == [("big", 1, 10), ("small", 1, 3)]


# --- tools -----------------------------------------------------------------------------------------------------------


def test_tools_and_their_biggest_results():
    """Arguments and results are added up by tool; the biggest results come first, with their place."""
    events = Events().said("go").billed(1).called("c1", "r" * 30, path="a.py")
    events.billed(1).called("c2", "e" * 50, "bash", is_error=True, command="make all")
    report = events.report()
    by_name = {tool.name: tool for tool in report.tools}
    assert (by_name["read_file"].calls, by_name["read_file"].result_tokens) == (1, 30)
    assert by_name["read_file"].argument_tokens == len("read_file") + len('{"path": "a.py"}')
    assert (by_name["bash"].errors, by_name["bash"].result_tokens) == (1, 50)
    assert [(r.tokens, r.tool, r.label, r.place.line, r.is_error) for r in report.biggest_results] == [
        (50, "bash", "make all", 7, True),
        (30, "read_file", "a.py", 4, False),
    ]


def test_results_stand_in_the_rows_by_tool():
    """What each tool has in the context is in every row, in the order of the report's tools."""
    events = Events().said("go").billed(1).called("c1", "r" * 30).billed(1).called("c2", "s" * 7, "grep")
    report = events.billed(1).answered("end").report()
    assert [tool.name for tool in report.tools] == ["read_file", "grep"]
    assert [row.by_tool for row in report.threads[0].rows] == [(), (30,), (30, 7)]


def test_a_result_without_a_call_has_an_unknown_tool():
    """It is counted all the same."""
    report = Events().said("go").billed(1).answered("a").said(ToolResultBlock("nobody", "r" * 9)).report()
    assert [(tool.name, tool.result_tokens) for tool in report.tools] == [("(unknown tool)", 9)]


def test_an_id_that_is_used_again_belongs_to_the_latest_call():
    """Two calls with one id, one after the other, keep their own tools."""
    report = Events().said("go").called("x", "r" * 5).called("x", "s" * 6, "grep").report()
    assert [(tool.name, tool.result_tokens) for tool in report.tools] == [("read_file", 5), ("grep", 6)]


# --- read again ------------------------------------------------------------------------------------------------------


def repeated(events):
    """Return times, tokens, after a compaction, changed."""
    again = events.report().repeated_reads
    return again.times, again.tokens, again.after_compaction, again.changed


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([("read_file", {"path": "a"}, "text")] * 3, (2, 8, 0, 0)),
        ([("read_file", {"path": "a"}, "text"), ("read_file", {"path": "b"}, "text")], (0, 0, 0, 0)),
        ([("read_file", {"path": "a"}, "text"), ("read_file", {"path": "a", "offset": 9}, "text")], (0, 0, 0, 0)),
        ([("read_file", {"path": "a"}, "old"), ("read_file", {"path": "a"}, "new")], (0, 0, 0, 1)),
        ([("Read", {"file_path": "a"}, "text")] * 2, (1, 4, 0, 0)),
        ([("shell", {"command": ["bash", "-lc", "sed -n '1,9p' a.py"]}, "text")] * 2, (1, 4, 0, 0)),
        ([("Bash", {"command": "cat a.py"}, "text")] * 2, (1, 4, 0, 0)),
        ([("Bash", {"command": "cat a.py | wc"}, "3")] * 2, (0, 0, 0, 0)),
        ([("Bash", {"command": "make test"}, "ok")] * 2, (0, 0, 0, 0)),
        ([("grep", {"pattern": "x"}, "none")] * 2, (0, 0, 0, 0)),
    ],
)
def test_repeated_reads(calls, expected):
    """The same file with the same arguments and the same result is a repetition; anything else is not."""
    events = Events().said("go")
    for number, (name, arguments, result) in enumerate(calls):
        events.called(f"c{number}", result, name, **arguments)
    assert repeated(events) == expected


def test_a_failed_read_is_no_read():
    """Two equal errors are no repetition."""
    events = Events().said("go")
    for id_ in "ab":
        events.called(id_, "no such file", is_error=True, path="a")
    assert repeated(events) == (0, 0, 0, 0)


@pytest.mark.parametrize("kind", ["full", "micro"])
def test_a_read_after_a_compaction_is_the_compactions_fault(kind):
    """It is counted as such when the earlier result had left the context."""
    events = Events().said("go").called("c1", "text", path="a")
    events.compacted(kind, cleared_tool_use_ids=frozenset({"c1"})).called("c2", "text", path="a")
    assert repeated(events) == (1, 4, 1, 0)


def test_two_threads_do_not_repeat_each_other():
    """A sub-agent that reads what the main agent read has a context of its own."""
    main, side = Events().called("c1", "text", path="a"), Events(thread="side").called("c2", "text", path="a")
    assert xray([*main, *side], counter=LETTERS).repeated_reads.times == 0


def test_repeated_files_say_where():
    """The most expensive file comes first, with the place of its first repetition."""
    events = Events().called("1", "small", path="s").called("2", "big" * 9, path="b")
    events.called("3", "small", path="s").called("4", "big" * 9, path="b")
    files = events.report().repeated_reads.files
    assert [(f.label, f.times, f.tokens, f.place.line) for f in files] == [("b", 1, 27, 8), ("s", 1, 5, 6)]


# --- compactions -----------------------------------------------------------------------------------------------------


def test_a_full_compaction_restarts_the_parts():
    """Summary and kept messages are what is left; before and after are measured by the bills around it."""
    events = Events().said("x" * 500).billed(1_500).answered("y" * 300).said("kept" * 10)
    events.compacted(replacement=[user("s" * 20)], kept_messages=1, tokens_before=1_777, trigger="auto")
    report = events.billed(1_060).answered("z").report()
    (one,) = report.compactions
    assert parts(report.threads[0].rows[-1]) == {"user": 60}
    assert (one.billed_before, one.billed_after) == (1_500, 1_060)
    assert (one.stated_before, one.stated_after) == (1_777, None)
    assert (one.visible_before, one.visible_after) == (840, 60)
    assert (one.call, one.kept_messages, one.unlogged_after) == (1, 1, 1_000)
    assert one.saved_tokens == report.compaction_saved == 440


def test_going_back_takes_the_latest_messages_out():
    """Who goes back to an earlier prompt leaves what came after it behind; that is neither a compaction nor a loss."""
    events = Events().said("x" * 500).billed(500).answered("y" * 300).called("c1", "r" * 9_000)
    events.billed(9_900).rewound(2).said("other" * 2).billed(820).answered("z")
    report = events.report()
    assert parts(report.threads[0].rows[-1]) == {"user": 510, "assistant": 300}
    assert (report.compactions, report.threads[0].unrecorded_drops) == ((), ())


def test_the_fixed_part_survives_a_compaction():
    """System prompt and tools are sent again in every request."""
    events = Events().fixed("s" * 50).said("x" * 9).billed(1).answered("y").compacted(replacement=[user("sum")])
    assert parts(events.billed(1).answered("z").report().threads[0].rows[-1]) == {"system": 50, "user": 3}


def test_kept_messages_keep_their_tools():
    """A tool result behind the summary still belongs to its tool."""
    events = Events().said("x").called("c1", "r" * 8).called("c2", "s" * 6, "grep")
    events.compacted(replacement=[user("sum")], kept_messages=2).billed(1).answered("end")
    row = events.report().threads[0].rows[-1]
    assert row.by_tool == (0, 6)
    assert parts(row) == {"user": 3, "assistant": len("grep{}"), "tool_results": 6}


def test_a_micro_compaction_takes_single_results_out():
    """Only the named results leave; an id that is not in the file is said, and the stated saving counts."""
    events = Events().said("x").called("c1", "r" * 80).called("c2", "s" * 60).billed(500).answered("a")
    events.compacted("micro", cleared_tool_use_ids=frozenset({"c1", "gone"}), tokens_saved=75)
    report = events.billed(430).answered("b").report()
    (one,) = report.compactions
    assert parts(report.threads[0].rows[-1])["tool_results"] == 60
    assert (one.cleared_results, one.missing_results, one.saved_tokens) == (2, 1, 75)
    assert one.visible_before - one.visible_after == 80


def test_clearing_twice_counts_once():
    """A result that is gone cannot be taken out again, and no part falls below 0."""
    ids = frozenset({"c1"})
    events = Events().said("x").called("c1", "r" * 80)
    events.compacted("micro", cleared_tool_use_ids=ids).compacted("micro", cleared_tool_use_ids=ids)
    report = events.billed(1).answered("b").report()
    assert "tool_results" not in parts(report.threads[0].rows[-1])
    assert [one.visible_before - one.visible_after for one in report.compactions] == [80, 0]


def test_a_compaction_at_the_end_has_no_bill_after_it():
    """It is in the report all the same, with what can be known."""
    report = Events().said("x" * 50).billed(100).answered("y" * 9).compacted(replacement=[user("sum")]).report()
    (one,) = report.compactions
    assert (one.billed_before, one.billed_after) == (100, None)
    assert report.compaction_count == 1
    assert one.saved_tokens == 56


def test_a_growing_context_is_no_drop_after_a_compaction():
    """The fall of the bill that a compaction explains is not reported a second time."""
    events = Events().said("x").billed(90_000).answered("y").compacted(replacement=[user("s")]).billed(9_000)
    assert events.answered("z").report().threads[0].unrecorded_drops == ()


# --- oddities, sessions, threads -------------------------------------------------------------------------------------


def test_oddities_are_summed_by_kind_with_their_first_places():
    """Three places at most; broken pairs are three of the kinds."""
    events = Events()
    for _ in range(5):
        events.odd("missing result", "c1")
    events.odd("orphan result").odd("glued line", "two")
    report = events.report()
    (missing, orphan, glued) = report.oddities
    assert (missing.times, [place.line for place in missing.places], missing.detail) == (5, [1, 2, 3], "c1")
    assert (orphan.times, glued.kind) == (1, "glued line")
    assert report.broken_pairs == 6


def test_a_session_that_starts_in_the_middle():
    """Wherever the reader says it, the main thread knows that its first bill holds earlier history."""
    report = Events().said("x").odd("mid-session start").billed(99).answered("y").report()
    assert report.threads[0].starts_mid_session


def test_a_full_compaction_measures_the_unlogged_part_anew():
    """History before the file is in the first bill, and no longer in the first one after the compaction."""
    events = Events().said("x" * 10).billed(9_010).answered("y").compacted(replacement=[user("s" * 10)])
    rows = events.billed(510).answered("z").report().threads[0].rows
    assert [row.unlogged_tokens for row in rows] == [9_000, 500]


@pytest.mark.parametrize(("cleared", "unlogged"), [("c1", [1_000, 1_000]), ("before the file", [1_000, 700])])
def test_clearing_what_is_not_in_the_log_shrinks_the_unlogged_part(cleared, unlogged):
    """A result that a micro-compaction cleared and the file does not hold was in the unlogged part."""
    events = Events().said("x" * 10).called("c1", "r" * 300).billed(1_000 + 10 + 300 + len("read_file{}")).answered("y")
    events.compacted("micro", cleared_tool_use_ids=frozenset({cleared}))
    gone = 300 if cleared != "c1" else 0
    visible = 10 + (300 if gone else 0) + len("read_file{}") + 1
    rows = events.billed(1_000 - gone + visible).answered("z").report().threads[0].rows
    assert [row.unlogged_tokens for row in rows[1:]] == unlogged


def test_sessions_are_counted_once():
    """An id that comes again is the same session."""
    report = Events().started("a").started("b").started("a").report()
    assert (report.session_count, report.sessions) == (2, ("a", "b"))


def test_many_threads_are_folded_but_their_bills_are_not_lost():
    """Beyond a limit threads share one report; the sums hold for all of them."""
    events = []
    for number in range(100):
        events += Events(thread=f"t{number}").said("x" * 10).billed(10, output=1).answered("y")
    report = xray(events, counter=LETTERS)
    assert len(report.threads) < 100
    assert report.threads_left_out == 100 - len(report.threads) + 1
    assert report.billed == Usage(input_tokens=1_000, output_tokens=100)
    assert report.threads[-1].name == "further threads"
    assert report.threads[-1].peak_context_tokens == 10  # each begins with an empty context


def test_threads_can_be_named_or_numbered():
    """`thread` finds both, and None otherwise."""
    report = xray([*Events().said("x"), *Events(thread="helper").said("y")], counter=LETTERS)
    assert report.thread("helper") is report.thread("2") is report.threads[1]
    assert report.thread("nobody") is None


# --- long sessions ---------------------------------------------------------------------------------------------------


def long_session(calls):
    """Yield the events of a session with so many calls: new results all the time, and a peak in its middle."""
    events = Events().said("go")
    for number in range(calls):
        events.billed(100 + number % 7 + 5_000 * (number == calls // 2), output=1)
        events.called(f"c{number}", f"{number} " * 50, path=f"f{number % 100}")
        yield from events
        events.clear()


@pytest.mark.parametrize("calls", [MOST_ROWS, MOST_ROWS + 1, 5 * MOST_ROWS + 3])
def test_rows_are_thinned_without_losing_peak_or_sum(calls):
    """Rows cover all calls without a gap; the fullest call stays, and the last row's sum is the whole bill."""
    main = xray(long_session(calls), counter=LETTERS).threads[0]
    assert len(main.rows) <= MOST_ROWS
    assert (main.calls_per_row > 1) == (calls > MOST_ROWS)
    assert [row.first for row in main.rows] == [1, *(row.last + 1 for row in main.rows[:-1])]
    assert main.rows[-1].last == main.calls == calls
    assert main.peak_context_tokens > 5_000
    assert main.rows[-1].billed_so_far == main.billed


def peak_memory(calls):
    """Return the most bytes that an X-ray of a long session has in use."""
    xray(long_session(10), counter=LETTERS)
    tracemalloc.start()
    xray(long_session(calls), counter=LETTERS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_memory_does_not_grow_with_the_session(monkeypatch):
    """Five times as many calls need about the same memory, once the limits (set low here) are reached."""
    monkeypatch.setattr(ContextFold.__init__, "__defaults__", (200,))
    assert peak_memory(2_500) < 1.2 * peak_memory(500)


def test_no_text_is_kept():
    """Of a long text only its count is left in the report."""
    secret = "correct horse battery staple " * 20
    events = Events().said(secret).billed(9).called("c1", secret, path="a.py")
    assert secret[:40] not in repr(events.report())


# --- whatever comes ---------------------------------------------------------------------------------------------------

numbers = st.integers(0, 10**6)
steps = st.one_of(
    st.builds(lambda size: lambda e, _: e.said("x" * size), st.integers(0, 50)),
    st.builds(
        lambda size, call: lambda e, n: e.called(f"c{call}", "r" * size, f"t{n % 3}"),
        numbers.map(lambda n: n % 60),
        st.integers(0, 5),
    ),
    st.builds(
        lambda a, b, c, d: lambda e, _: e.billed(a, read=b, write=c, output=d), numbers, numbers, numbers, numbers
    ),
    st.builds(
        lambda ids: lambda e, _: e.compacted("micro", cleared_tool_use_ids=frozenset(f"c{i}" for i in ids)),
        st.sets(st.integers(0, 6)),
    ),
    st.builds(
        lambda kept, kind: lambda e, _: e.compacted(kind, replacement=[user("sum")], kept_messages=kept),
        st.integers(0, 9),
        st.sampled_from(["full", "collapse"]),
    ),
    st.just(lambda e, _: e.answered("done")),
)


@given(st.lists(st.tuples(st.sampled_from(["", "side"]), steps), max_size=30))
def test_sums_hold_for_any_session(chosen):
    """Bills add up, parts and tools agree and are never below 0, rows follow each other; in any order of events."""
    threads = {name: Events(thread=name) for name in ("", "side")}
    events = []
    for number, (name, step) in enumerate(chosen):
        threads[name].clear()
        events += step(threads[name], number)
    report = xray(events, counter=LETTERS)
    bills = [event.usage for event in events if isinstance(event, CallBilled)]
    assert report.billed.context_tokens == sum(bill.context_tokens for bill in bills)
    assert report.billed.output_tokens == sum(bill.output_tokens for bill in bills)
    assert sum(model.calls for model in report.models) == len(bills)
    assert report.compaction_count == len(report.compactions) == sum(isinstance(e, HistoryCompacted) for e in events)
    assert report.compaction_saved == sum(one.saved_tokens for one in report.compactions)
    for thread in report.threads:
        assert [row.first for row in thread.rows] == list(range(1, thread.calls + 1))
        for row in thread.rows:
            assert min(row.parts) >= 0
            assert min((0, *row.by_tool)) == 0
            assert sum(row.by_tool) == row.parts[PARTS.index("tool_results")]
            assert row.unlogged_tokens >= 0


# --- hostile and empty input -----------------------------------------------------------------------------------------


def test_no_event_at_all():
    """An empty stream gives an empty report."""
    report = xray([])
    assert (report.threads, report.calls, report.cost, report.cache_share) == ((), 0, 0.0, 0.0)
    assert sum(report.added_tokens.values()) == 0


def test_strange_texts_are_kept_in_one_printable_line():
    """Names and labels hold nothing that a terminal acts on, and are short."""
    events = Events().said("go").called("c1", "r", "evil\x1b[2J\n\ud800" * 50, path="a\x00b\n" * 90)
    report = events.odd("wrong type", "\x1b]0;x\x07" * 90).report()
    for text in (report.tools[0].name, report.biggest_results[0].label, report.oddities[0].detail):
        assert text.isprintable()
        assert len(text) <= 100


def test_many_tools_have_a_limit():
    """A log with thousands of tool names does not make a report with thousands of them; nothing is lost in the sums."""
    events = Events().said("go")
    for number in range(1_000):
        events.called(f"c{number}", "r", f"tool{number}")
    report = events.report()
    assert len(report.tools) < 60
    assert sum(tool.calls for tool in report.tools) == sum(tool.result_tokens for tool in report.tools) == 1_000


def test_blocks_of_every_kind_are_counted():
    """Documents, raw blocks, surrogates and arguments that are no object cost tokens and raise nothing."""
    events = Events().said("half \ud800", DocumentBlock("application/pdf", "abc"), RawBlock({"type": "odd"}))
    events.answered(RawBlock({"type": "redacted_thinking"}), ToolUseBlock("c", "t", {"x": [1, {"y": None}]}))
    report = xray(events, counter=MessageCounter(TiktokenCounter()))
    assert report.added_tokens["user"] > 0
    assert report.added_tokens["assistant"] > 0


def test_a_report_can_be_asked_for_at_any_time():
    """Looking does not change what is found: the last report is the same, whether there were others before or not."""
    events = Events().said("x").billed(10).answered("y" * 9).said("z").billed(30).answered("a" * 7)
    events.compacted(replacement=[user("s")]).billed(5).answered("b" * 5).billed(12).answered("c")
    fold, reports = XrayFold("", LETTERS), []
    for event in events:
        fold.add(event)
        reports.append(fold.report())
    assert reports[2].calls == 1
    assert reports[-1] == events.report()
    assert reports[-1].threads[0].calibration == (20 + 7) / (10 + 5)


@pytest.mark.parametrize(
    ("counter", "name"), [(None, "o200k_base"), (TiktokenCounter("cl100k_base"), "cl100k_base"), (len, "len")]
)
def test_the_report_says_what_counted(counter, name):
    """A counter of texts will do, and its name is in the report; a function's place in memory is not."""
    assert xray(Events().said("x"), counter=counter).counter == name


def test_a_missing_file_is_a_clear_error(tmp_path):
    """It names the file."""
    with pytest.raises(CourseError, match="nothing-here"):
        xray(tmp_path / "nothing-here.jsonl")
