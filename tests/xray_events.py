"""Events of a session, made by hand: a letter is a token, so that every figure can be checked in one's head."""

from course_lib.messages import ToolResultBlock, ToolUseBlock, Usage, assistant, user
from course_lib.session_logs.records import (
    CallBilled,
    FixedCostLogged,
    HistoryCompacted,
    HistoryRewound,
    MessageLogged,
    Oddity,
    Place,
    SessionStarted,
)
from course_lib.session_logs.xray import xray
from course_lib.tokens import MessageCounter

LETTERS = MessageCounter(len, image_tokens=100, message_overhead_tokens=0)


class Events(list):
    """A session that grows line by line; `line` is where the last event stands."""

    def __init__(self, thread="", file="log.jsonl"):
        super().__init__()
        self.thread, self.file, self.line = thread, file, 0

    @property
    def place(self):
        """The place of the next event."""
        self.line += 1
        return Place(self.file, self.line)

    def started(self, session_id="s1", format_="Claude Code", thread=""):
        """A session begins."""
        self.append(SessionStarted(place=self.place, session_id=session_id, format=format_, thread=thread))
        return self

    def fixed(self, system="", tools=()):
        """System prompt and tools are in the log."""
        self.append(FixedCostLogged(place=self.place, thread=self.thread, system=system, tools=tuple(tools)))
        return self

    def said(self, *parts, injected=False, in_context=True):
        """A user message."""
        self._message(user(*parts), injected, in_context)
        return self

    def answered(self, *parts):
        """A model's answer."""
        self._message(assistant(*parts), False, True)
        return self

    def _message(self, message, injected, in_context):
        self.append(
            MessageLogged(
                place=self.place, thread=self.thread, message=message, is_injected=injected, in_context=in_context
            )
        )

    def billed(self, tokens=0, *, read=0, write=0, output=0, model="m", reliable=True):
        """A call's bill; `tokens` are those that no cache gave."""
        usage = Usage(tokens, read, write, output)
        self.append(
            CallBilled(
                place=self.place,
                thread=self.thread,
                call_id=f"c{self.line}",
                model=model,
                usage=usage,
                output_is_reliable=reliable,
            )
        )
        return self

    def called(self, id_, result, name="read_file", is_error=False, **arguments):
        """A call and its result."""
        self.answered(ToolUseBlock(id_, name, arguments))
        self.said(ToolResultBlock(id_, result, is_error))
        return self

    def compacted(self, kind="full", replacement=(), **more):
        """The history was made shorter."""
        self.append(
            HistoryCompacted(place=self.place, thread=self.thread, kind=kind, replacement=tuple(replacement), **more)
        )
        return self

    def rewound(self, messages):
        """Somebody went back: so many of the latest messages are gone."""
        self.append(HistoryRewound(place=self.place, thread=self.thread, dropped_messages=messages))
        return self

    def odd(self, kind, detail=""):
        """Something odd."""
        self.append(Oddity(place=self.place, kind=kind, detail=detail))
        return self

    def report(self, **how):
        """The X-ray of these events."""
        return xray(self, counter=LETTERS, **how)


def parts(row):
    """Return the parts of a row that have tokens, by name."""
    from course_lib.window import PARTS

    return {part: tokens for part, tokens in zip(PARTS, row.parts, strict=True) if tokens}
