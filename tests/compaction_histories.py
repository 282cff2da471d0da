"""Long conversations for the tests of compaction, built from a list of moves, and what must hold of every compaction.

The same moves are drawn by hypothesis (`strategies.histories`) and at random by the thousand (`benchmark_properties`).
"""

import copy
import itertools
from dataclasses import replace

from course_lib.client import Request, ScriptedClient, check_request
from course_lib.compaction import apply
from course_lib.ladder import climb
from course_lib.levels import ShrinkOlderHalf, SnipOldResults, five_levels, two_layers
from course_lib.messages import (
    ImageBlock,
    RawBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    Usage,
    assistant,
    tool_results,
    user,
)
from course_lib.providers.refusals import check_request_as
from course_lib.strategies import (
    ContextFolding,
    SelectiveRetention,
    Summarisation,
    ToolResultCompression,
    Truncation,
)
from course_lib.tokens import MessageCounter, chars_counter, cjk_aware_counter
from course_lib.tool_pairs import find_pair_faults, pending_calls, repair
from course_lib.window import Window
from course_lib.wire_anthropic import from_anthropic, to_anthropic
from course_lib.wire_openai import from_openai, to_openai

FAMILY, FLAG, ACCENTED = "👩\u200d👩\u200d👧\u200d👦", "🇩🇪", "e\u0301"
TEXTS = {
    "plain": "the parser reads a line and returns a shipment. I use the second one because it is faster.\n",
    "cjk": "数据库的配置文件在这里。决定：使用第二个方案，",
    "emoji": f"{FAMILY}{FLAG}{ACCENTED}👍🏽 ",
}
SIZES = {"short": 1, "long": 40, "huge": 1_000}  # repetitions; the longest text has tens of thousands of tokens
# What can happen in a conversation, and how it can stand when it is compacted.
MOVES = (
    "ask",
    "ask long",
    "answer",
    "answer long",
    "call",
    "call long",
    "call huge",
    "parallel",
    "error",
    "error long",
)
MOVES += ("thinking", "image", "cjk", "emoji", "long argument", "interjected", "nested", "empty result", "redacted")
ENDINGS = ("as it is", "asked", "pending", "half pending", "answered")


def text(size="short", kind="plain", number=0):
    """A text of a size and a kind, different for each number."""
    return f"{number}: {TEXTS[kind] * SIZES[size]}".strip()


class HistoryBuilder:
    """Builds a conversation, move by move; every call has an id of its own."""

    def __init__(self):
        self.messages = [user("Bring the code up to standard. Never touch anything under vendor/.")]
        self.numbers = itertools.count(1)

    def batch(self, *results, said=(), behind=(), arguments=()):
        """Add a batch: a call for each result (a text, blocks, or an exception for an error), results in reverse."""
        calls, blocks = [], []
        for result in results:
            id_ = f"call_{next(self.numbers)}"
            calls.append(ToolUseBlock(id_, "read_file", {"path": f"{id_}.py", **dict(arguments)}))
            is_error = isinstance(result, Exception)
            blocks.append(ToolResultBlock(id_, str(result) if is_error else result, is_error))
        self.messages += [assistant(*said, *calls), user(*reversed(blocks), *behind)]

    def move(self, name):
        """Add what the move says."""
        number = next(self.numbers)
        what, _, size = name.partition(" ")
        size = size if size in SIZES else "short"
        short = text(number=number)
        match name:
            case "thinking":
                self.batch(short, said=(ThinkingBlock(text("long"), "c2ln"), TextBlock("I look.")))
            case "redacted":
                self.batch(short, said=(RawBlock({"type": "redacted_thinking", "data": "c2VjcmV0"}),))
            case "image":
                self.batch([ImageBlock("image/png", "aGVsbG8="), TextBlock(short)])
            case "cjk" | "emoji":
                self.batch(text("long", name, number), said=(TextBlock(text("long", name, number)),))
            case "long argument":
                self.batch(short, arguments={"content": text("long", number=number)})
            case "interjected":
                self.batch(short, behind=(TextBlock(f"And also {number}, please."),))
            case "nested":
                self.batch([ToolResultBlock("inner", text("long", number=number)), TextBlock(text("long"))])
            case "empty result":
                self.batch([])
            case "parallel":
                self.batch(short, ValueError(text("long")), text("long", number=number), said=(TextBlock("All."),))
            case _ if what == "error":
                self.batch(ValueError(text(size, number=number)))
            case _ if what == "call":
                self.batch(text(size, number=number))
            case _ if what == "ask":
                self.messages.append(user(text(size, number=number)))
            case _ if what == "answer":
                self.messages.append(assistant(text(size, number=number)))

    def end(self, ending):
        """Bring the conversation to the state in which it is compacted."""
        match ending:
            case "asked":
                self.messages.append(user("And now the rest, word for word."))
            case "answered":
                self.messages.append(assistant("Done."))
            case "pending":
                self.messages.append(assistant("I look.", ToolUseBlock("open", "grep", {})))
            case "half pending":
                self.batch("first", text("long"))
                results = self.messages.pop()
                self.messages.append(replace(results, content=results.content[:1]))


def build_history(moves, ending="as it is", with_usage=False):
    """A valid conversation (but for a batch that still runs) of these moves."""
    builder = HistoryBuilder()
    for name in moves:
        builder.move(name)
    builder.end(ending)
    messages = builder.messages
    if with_usage:
        messages = [
            replace(m, usage=Usage(100 * i, output_tokens=5)) if m.role == "assistant" else m
            for i, m in enumerate(messages)
        ]
    return tuple(messages)


COUNTERS = {"chars": chars_counter(4), "cjk": cjk_aware_counter(), "letters": len}


def summariser(reply="A short summary of what was said."):
    """A model that always writes the same, and is as strict as the real thing."""
    return ScriptedClient(itertools.repeat(reply), window_tokens=200_000, counter=MessageCounter(chars_counter(1)))


def _kept(options, counter):
    keep, most, pins = options
    return {"keep_messages": keep, "max_recent_tokens": most, "pin_first": pins, "pin_latest": pins, "counter": counter}


# Each way, by name, from (messages to keep, tokens of the recent part, pins) and a counter.
STRATEGIES = {
    "truncation": lambda o, c: Truncation(**_kept(o, c)),
    "summarisation": lambda o, c: Summarisation(client=summariser(), least_tokens=20, **_kept(o, c)),
    "selective retention": lambda o, c: SelectiveRetention(**_kept(o, c)),
    "tool-result compression": lambda o, c: ToolResultCompression(max_result_tokens=max(1, o[1] // 8), counter=c),
    "context folding": lambda o, c: ContextFolding(**_kept(o, c)),
    "shrink the older half": lambda _, c: ShrinkOlderHalf(counter=c),
    "snip old results": lambda o, _: SnipOldResults(keep_messages=o[0], max_chars=max(200, o[1] // 4)),
}
LADDERS = {
    "five levels": lambda o, c: five_levels(c, max_recent_tokens=o[1]),
    "five levels with a model": lambda o, c: five_levels(c, client=summariser(), max_recent_tokens=o[1]),
    "two layers": lambda o, c: two_layers(summariser(), c, max_recent_tokens=o[1]),
}
KEEPS, RECENTS = (1, 2, 4, 6, 20, 100), (50, 400, 4_000, 16_000)


# --- what must hold --------------------------------------------------------------------------------------------------


def sendable(messages):
    """The messages as a request can hold them: a running batch is answered, and the user has the last word."""
    whole = repair(messages)
    return whole if whole[-1].role == "user" else (*whole, user("Go on."))


def check_sendable(messages):
    """Both providers take the messages, and they survive the way to each and back without a broken pair."""
    whole = sendable(messages)
    request, counter = Request(messages=whole), MessageCounter(len)
    check_request(request, window_tokens=10**9, counter=counter)
    for dialect in ("anthropic", "openai"):
        check_request_as(dialect, request, window_tokens=10**9, counter=counter)
    for back in (from_anthropic(to_anthropic(whole)), from_openai(to_openai(whole))[1]):
        assert find_pair_faults(back) == ()


def check_step(before, after, event, counter):
    """What must hold of one application of one strategy."""
    parts = [event.kept, event.shortened, event.summarised, event.dropped]
    assert sorted(itertools.chain(*parts)) == list(range(len(before))), event
    assert event.tokens_before == counter.messages(before)
    if event.outcome != "applied":
        assert after is before
        assert event.reason
        assert event.kept == tuple(range(len(before)))
        assert event.tokens_after == event.tokens_before
        return
    assert not event.reason
    assert counter.messages(after) == event.tokens_after < event.tokens_before
    assert all(a is b for a, b in zip(before[: event.prefix_messages], after, strict=False))
    _check_kept(before, after, event)
    _check_blocks(before, after)
    running = pending_calls(before)
    assert pending_calls(after) == running
    assert [fault for fault in find_pair_faults(after) if fault.kind != "pending_call"] == []
    check_sendable(after)


def _check_kept(before, after, event):
    """Kept messages are there, in order, as the same objects or without a usage that measured what is no more."""
    known = {id(message) for message in before}
    places = iter(after)
    for index in event.kept:
        old = before[index]
        assert any(new is old or (old.usage and new == old and new.usage is None) for new in places), index
    if event.summarised:
        assert any(message.kind == "summary" and id(message) not in known for message in after)


def _check_blocks(before, after):
    """Errors stay errors, thinking is unchanged, the newest words are there word for word, and nothing is blank."""
    flags = {r.tool_use_id: r.is_error for m in before for r in tool_results(m)}
    signed = [b for m in before for b in m.content if isinstance(b, ThinkingBlock | RawBlock)]
    for message in after:
        assert all(flags[r.tool_use_id] == r.is_error for r in tool_results(message))
        assert all(b in signed for b in message.content if isinstance(b, ThinkingBlock | RawBlock))
    old, new = ([b for b in m.content if not isinstance(b, ToolResultBlock)] for m in (before[-1], after[-1]))
    assert old == new
    assert [r.tool_use_id for r in tool_results(before[-1])] == [r.tool_use_id for r in tool_results(after[-1])]
    for block in (b for m in after for r in tool_results(m) for b in r.content if isinstance(b, TextBlock)):
        assert block.text.strip()
        block.text.encode()  # no half of a pair


def check_strategy(name, options, messages, counter_name="chars"):
    """Apply a strategy until it has nothing more to do, and look at everything; return the first event."""
    counter = MessageCounter(COUNTERS[counter_name])
    strategy = STRATEGIES[name](options, counter)
    snapshot = copy.deepcopy(messages)
    after, event = apply(strategy, messages, counter)
    assert messages == snapshot
    check_step(messages, after, event, counter)
    # A strategy that drops nothing may find the part that has to be bounded another one after the first time.
    for _ in range(4 if name == "selective retention" else 1):
        before, (after, last) = after, apply(strategy, after, counter)
        check_step(before, after, last, counter)
    assert last.outcome != "applied", (event, last)
    return event


def check_ladder(name, options, messages, counter_name="chars", window_tokens=8_000):
    """Climb a ladder and look at everything; return the report."""
    counter = MessageCounter(COUNTERS[counter_name])
    ladder = LADDERS[name](options, counter)
    window = Window(context_tokens=window_tokens, reserve_tokens=window_tokens // 8)
    snapshot = copy.deepcopy(messages)
    after, smaller, report = climb(ladder, messages, window, counter)
    assert messages == snapshot
    assert smaller.context_tokens == window_tokens
    assert report.ratio_after == smaller.usage_ratio(counter.messages(after), fixed_tokens=0)
    assert report.tokens_freed == counter.messages(messages) - counter.messages(after)
    assert all(step.outcome != "applied" or step.ratio_after < step.ratio_before for step in report.steps)
    if report.ratio_before < ladder.trigger_ratio:
        assert (after, smaller) == (messages, window)
    if report.tokens_freed:
        _check_blocks(messages, after)
        check_sendable(after)
    else:
        assert after is messages
    return report
