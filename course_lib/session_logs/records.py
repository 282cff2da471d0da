"""What a session log says, in one form, whatever program wrote it (chapter 04).

A reader turns a file into a stream of these, in the order in which the model met them. For one call of a model:

    MessageLogged (what went in) … → CallBilled → MessageLogged (what came out)

so that everything before a `CallBilled` of the same thread is what that call could see. A program that wrote one
message in many pieces, or one usage many times, is read as one message and one call.

What this leaves out on purpose: what to make of it. `xray` adds up; a replay (chapter 13) rebuilds the conversation.
Source: chapter 04; the records are those of logs that nine programs wrote in 2025 and 2026.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from course_lib.messages import Message, Messages, ToolSpec, Usage

__all__ = [
    "CallBilled",
    "CompactionKind",
    "FixedCostLogged",
    "HistoryCompacted",
    "HistoryRewound",
    "LogEvent",
    "MessageLogged",
    "Oddity",
    "OddityKind",
    "Place",
    "SessionStarted",
]

# The whole history gave way to a summary · single results or images were cleared · a span was folded away.
CompactionKind = Literal["full", "micro", "collapse"]

OddityKind = Literal[
    "broken line",  # no JSON, or no object: skipped
    "torn last line",  # the program was killed while it wrote
    "glued line",  # several objects in one line: all read
    "unknown record",  # a kind of record that no reader knows: skipped
    "duplicate record",  # said twice: counted once
    "duplicate result",  # a call was answered twice: the first counts
    "missing result",  # a call that nobody answered
    "orphan result",  # an answer to a call that is not there
    "mid-session start",  # the first record points to one that is not there
    "rewritten history",  # a request that repeats earlier messages in another form: their first form counts
    "mismatched id",  # an answer that names no call of its batch: paired with the call by its position
    "not UTF-8",  # bytes that are no text: shown as a replacement character
    "wrong type",  # a field that is not what it should be: kept word for word, or passed over
    "unreadable part",  # a summary or reasoning that is encrypted, or was taken out
]


@dataclass(frozen=True, order=True)
class Place:
    """Where a record stands: file name (no folder) and line from 1, or the number of the item in a JSON document."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, kw_only=True)
class SessionStarted:
    """A session begins, or a second one within the same file.

    A second session has a thread of its own, so that no conversation ever begins anew within its thread.
    """

    place: Place
    session_id: str
    format: str
    model: str = ""
    thread: str = ""


@dataclass(frozen=True, kw_only=True)
class FixedCostLogged:
    """The system prompt and the tool definitions, where a log holds them (most do not: see `xray`)."""

    place: Place
    thread: str
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CallBilled:
    """One call of a model, billed once: the last word on its usage.

    Attributes:
        thread: "" for the main conversation, else a name of the sub-agent or branch.
        call_id: the provider's id of the call or message; "" if the log has none.
        output_is_reliable: False where the log was written before the answer had ended.
    """

    place: Place
    thread: str
    call_id: str
    model: str
    usage: Usage
    output_is_reliable: bool = True


@dataclass(frozen=True, kw_only=True)
class MessageLogged:
    """A message of the conversation: all blocks of an answer, or all results of a batch, together.

    Attributes:
        is_injected: put there by the program (reminders, project memory), not by the person or the model.
        in_context: whether the model ever saw it; a program also logs notes for the person.
    """

    place: Place
    thread: str
    message: Message
    is_injected: bool = False
    in_context: bool = True


@dataclass(frozen=True, kw_only=True)
class HistoryCompacted:
    """The program made the conversation shorter.

    Attributes:
        tokens_before, tokens_after: as the log states them; None where it does not.
        replacement: what now stands in the place of the older messages ("full", "collapse").
        kept_messages: how many of the latest messages stay behind the replacement.
        cleared_tool_use_ids: calls whose results were cleared ("micro").
        tokens_saved: as the log states it; None where it does not.
    """

    place: Place
    thread: str
    kind: CompactionKind
    trigger: str = ""
    tokens_before: int | None = None
    tokens_after: int | None = None
    replacement: Messages = ()
    kept_messages: int = 0
    cleared_tool_use_ids: frozenset[str] = frozenset()
    tokens_saved: int | None = None


@dataclass(frozen=True, kw_only=True)
class HistoryRewound:
    """The person went back to an earlier point: the latest messages are no part of the conversation any more.

    Attributes:
        dropped_messages: how many of the latest messages are gone.
    """

    place: Place
    thread: str
    dropped_messages: int


@dataclass(frozen=True, kw_only=True)
class Oddity:
    """Something about the log that a reader had to decide about; nothing is passed over in silence."""

    place: Place
    kind: OddityKind
    detail: str = ""


LogEvent: TypeAlias = (
    SessionStarted | FixedCostLogged | CallBilled | MessageLogged | HistoryCompacted | HistoryRewound | Oddity
)
