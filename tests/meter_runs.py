"""Runs for the tests of the meter: short ones by hand, and hypothesis strategies for any."""

from dataclasses import dataclass

from hypothesis import strategies as st

from course_lib.client import Request, Response
from course_lib.errors import ContextOverflowError
from course_lib.events import HistoryRewritten, RequestSent, ResponseReceived, RunFailed, RunFinished
from course_lib.messages import (
    DocumentBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolSpec,
    ToolUseBlock,
    Usage,
    assistant,
    user,
)
from course_lib.tokens import MessageCounter
from course_lib.widgets.frame_builder import FrameBuilder
from course_lib.widgets.view import View
from course_lib.window import Window

WINDOW = Window(context_tokens=1_000, reserve_tokens=100)
HOSTILE = (
    "</td></text></svg><script>window.hacked=1</script><img src=x onerror='window.hacked=1'>"
    '<svg onload=window.hacked=1>"]]><!-- &amp; \x00\x1b[31m\ud800 \u202e \ufffe'
)


@dataclass
class Detail:
    """What a hook reports of a rewrite."""

    name: str = ""
    breaker: object = None


def build(events, window=WINDOW):
    """Return a builder that has taken in the events; a token is a character."""
    builder = FrameBuilder(window, MessageCounter(len))
    for event in events:
        builder.add(event)
    return builder


def view_of(events, window=WINDOW, **more):
    """Return the view of a run."""
    return View(window=window, track=build(events, window).track("this run"), **more)


USAGE = Usage(10, 5, 3, 2)


def growing(rounds, *, size=10, usage=USAGE, start=1, messages=None, text="x"):
    """Yield the events of rounds in which nothing is dropped."""
    messages = messages or (user("Go."),)
    for number in range(start, start + rounds):
        yield RequestSent(number, Request(messages=messages, system="Be brief."))
        said = assistant("Look.", ToolUseBlock(f"c{number}", "read", {"path": text}))
        yield ResponseReceived(number, Response(said, "tool_use", usage))
        messages = (*messages, said, user(ToolResultBlock(f"c{number}", text * size)))


def refused(number=1, size=2_000):
    """Return the events of a request that is refused."""
    return [
        RequestSent(number, Request(messages=(user("x" * size),))),
        RunFailed(number, ContextOverflowError("too long")),
    ]


def rewritten(number, before, after, name="snip", breaker=None):
    """Return the event of a compaction."""
    return HistoryRewritten(number, before, after, Detail(name, breaker))


def every_part():
    """Return the events of a run whose request has every part."""
    messages = (
        user("Go.", DocumentBlock("text/plain", "data")),
        assistant(ThinkingBlock("hm"), TextBlock("I look."), ToolUseBlock("c1", "read", {})),
        user(ToolResultBlock("c1", "text")),
    )
    tool = ToolSpec("read", "Read.", {})
    request = Request(messages=messages, system="Be brief.", tools=(tool,))
    return [RequestSent(1, request), RunFinished(1, "done")]


def compacted(times=20):
    """Yield the events of a run with many compactions."""
    messages = (user("Go."),)
    for number in range(1, times + 1):
        yield from growing(1, start=number, messages=messages)
        longer = (*messages, assistant("a" * 50), user("b" * 50))
        yield rewritten(
            number + 1, longer, messages, name=f"step {number % 3}", breaker="open" if number > 9 else "closed"
        )
    yield from growing(1, start=times + 1, messages=messages)


texts = st.text(max_size=40) | st.just(HOSTILE)


@st.composite
def histories(draw):
    """Requests as hooks make them: each keeps, drops, edits and adds messages of the one before."""
    pool = [user(draw(texts) or "x")]
    requests = []
    for number in range(draw(st.integers(1, 8))):
        kept = [message for message in pool if draw(st.booleans())]
        new = [user(draw(texts) or "x", kind=draw(st.sampled_from(["chat", "summary", "restored", "boundary"])))]
        call = assistant(draw(texts) or "y", ToolUseBlock(f"c{number}", "read", {"a": draw(texts)}))
        result = user(ToolResultBlock(f"c{draw(st.integers(0, number))}", draw(texts)))
        pool = [*kept, *new, call, result]
        requests.append(tuple(pool))
    return requests
