"""Let a model rewrite its own memory, so that nothing is lost that matters (chapter 07).

`TwoStageSummary` is a strategy. It sends the older part of the conversation with the instructions of `summary_text`,
takes the summary if it is one, and puts it where the older part stood:

    [what the user asked for, word for word · the summary]   [an acknowledgement, where two user messages would meet]
    [the recent messages, untouched]

The user's own requests are never left to the model: rules copy them, every time anew. An earlier summary is given to
the model to be brought up to date, so there is only ever one.

    >>> from course_lib.client import ScriptedClient
    >>> from course_lib.tokens import chars_counter
    >>> older = (user("Never touch vendor/."), *(assistant(f"step {number} " * 200) for number in range(8)))
    >>> model = ScriptedClient(["<summary>Eight steps are done, none of them in vendor/.</summary>"])
    >>> strategy = TwoStageSummary(client=model, keep_messages=2, counter=MessageCounter(chars_counter(4)))
    >>> [message.kind for message in strategy((*older, user("Go on.")))]
    ['summary', 'chat', 'chat']

What this leaves out on purpose: saving a transcript before (`transcript`), and reading files again after (`restore`).
Source: chapter 07; two articles on agent context management and the field guide's reports on summary calls (2026).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from course_lib.client import LLMClient
from course_lib.errors import CompactionError, ContextOverflowError, NothingToDoError, SettingsError
from course_lib.history_parts import MAX_RECENT_TOKENS, is_request, split_history
from course_lib.messages import (
    Block,
    DocumentBlock,
    ImageBlock,
    Message,
    Messages,
    TextBlock,
    ToolSpec,
    assistant,
    message_text,
    tool_uses,
    user,
)
from course_lib.summary_text import SUMMARY_INSTRUCTIONS, fault, read_response
from course_lib.text_cuts import fill_level, shorten
from course_lib.tokens import MessageCounter
from course_lib.transcript_text import as_text

__all__ = ["ACKNOWLEDGEMENT", "TwoStageSummary", "api_rounds", "requests_of", "summary_of"]

_REQUESTS = "[What the user asked for, word for word]"
_LEFT_OUT = "[More was asked for in between; the summary tells of it]"
_SUMMARY = "[Summary of the conversation so far]"
ACKNOWLEDGEMENT = "I have read the summary and go on from there."
_MARGIN = 0.95  # of the summariser's window: its counter need not be ours
_TAG = re.compile(r"<(?=/?(?:conversation|earlier_summary|analysis|summary)\b)")  # which a text might close for us


def api_rounds(messages: Messages) -> tuple[Messages, ...]:
    """Return the messages in rounds: an answer of the model with the results that follow, or what the user said.

    No cut between two rounds parts a call from its result.
    """
    rounds: list[list[Message]] = []
    for message in messages:
        answers_calls = bool(rounds) and bool(tool_uses(rounds[-1][-1])) and message.role == "user"
        if answers_calls:
            rounds[-1].append(message)
        else:
            rounds.append([message])
    return tuple(map(tuple, rounds))


def requests_of(messages: Messages) -> tuple[str, ...]:
    """Return everything that the user asked for, word for word, those that a summary message kept included.

    An image or a document becomes a mark. What was said again is there where it was said first of all, or last.
    """
    found: list[str] = []
    for message in messages:
        if message.kind == "summary" and _is_ours(message):
            found += [block.text for block in message.content[1:-1] if isinstance(block, TextBlock)]
        elif is_request(message):
            found.append("\n".join(filter(None, map(_said, message.content))))
    found = [text for text in found if text.strip() and text != _LEFT_OUT]
    return (*found[:1], *reversed(dict.fromkeys(reversed(found[1:]))))


def summary_of(messages: Messages) -> str:
    """Return the summary that the messages hold; several in one text; "" without any."""
    return "\n".join(_summaries(messages))


def _summaries(messages: Messages) -> list[str]:
    texts = []
    for message in messages:
        if message.kind == "summary":
            last = message.content[-1]
            texts.append(last.text if _is_ours(message) and isinstance(last, TextBlock) else message_text(message))
    return [text.removeprefix(_SUMMARY).strip() for text in texts]


def _is_ours(message: Message) -> bool:
    return message.content[:1] == (TextBlock(_REQUESTS),)


def _said(block: Block) -> str:
    match block:
        case TextBlock(text):
            return text
        case ImageBlock():
            return "[an image]"
        case DocumentBlock(title=title):
            return f"[a document{': ' + title if title else ''}]"
    return ""


@dataclass(frozen=True, kw_only=True)
class TwoStageSummary:
    """The older part gives way to a summary in two stages; see above.

    Args:
        client: the model that writes; a cheaper one will often do.
        counter: counts texts and messages.
        keep_messages: how many of the last messages stay.
        max_summary_tokens: the cap, also after twenty updates; the analysis has as much room again.
        max_request_tokens: of each request of the user that is copied.
        max_requests_tokens: of all of them; the first and the newest are copied in any case, and what is copied no
            more is shown to the model once again.
        max_recent_tokens: of the messages that stay.
        least_tokens: an older part with fewer new tokens is not worth a model call.
        least_share: the same, as a share of the history.
        share_prefix: send the conversation as it is, images and all, with the agent's system prompt and tools, instead
            of as text. The provider's cache knows its beginning then; worth it with the agent's own model only.
        system: the agent's system prompt, for `share_prefix`.
        tools: the agent's tools, for `share_prefix`.
        acknowledge: an assistant message after the summary, where two messages of the user would meet.

    Raises:
        SettingsError: a number that makes no sense.
    """

    client: LLMClient
    counter: MessageCounter = field(repr=False, compare=False)
    name: str = "two-stage summary"
    keep_messages: int = 10
    max_summary_tokens: int = 2_000
    max_request_tokens: int = 1_000
    max_requests_tokens: int = 4_000
    max_recent_tokens: int = MAX_RECENT_TOKENS
    least_tokens: int = 500
    least_share: float = 0.1
    share_prefix: bool = False
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    acknowledge: bool = True

    def __post_init__(self) -> None:
        if min(self.keep_messages, self.max_summary_tokens, self.max_request_tokens, self.max_recent_tokens) < 1:
            raise SettingsError(f"{self}: expected 1 or more messages to keep, and 1 token or more of everything")

    def __call__(self, messages: Messages) -> Messages:
        """Return summary, acknowledgement if needed, and the recent messages.

        Raises:
            NothingToDoError: the older part is not worth a call.
            SummaryError: what the model wrote is no summary.
            ModelError: the call failed.
        """
        parts = split_history(
            messages,
            keep_messages=self.keep_messages,
            counter=self.counter,
            pin_first=False,
            pin_latest=False,
            max_recent_tokens=self.max_recent_tokens,
        )
        new, whole = self.counter.messages(_chat(parts.older)), self.counter.messages(messages)
        if new < max(self.least_tokens, self.least_share * whole):
            if (*parts.front, *parts.recent) != tuple(messages):  # the largest results, at least, got shorter
                return (*parts.front, *parts.recent)
            raise NothingToDoError(f"{new:,} of {whole:,} tokens are older and new: not worth a model call")
        summary = self._summary(parts.older)
        meets_user = self.acknowledge and parts.recent[0].role == "user"
        return (summary, *((assistant(ACKNOWLEDGEMENT, kind="boundary"),) if meets_user else ()), *parts.recent)

    def _summary(self, older: Messages) -> Message:
        """The message that stands for the older part."""
        requests = requests_of(older)
        copied = self._copied(requests)
        notes = tuple(message for message in older if message.kind != "chat")
        leaving = tuple(user(text) for text in requests_of(notes) if text not in copied)
        text = self._write(older, leaving)
        short = [TextBlock(shorten(request, self.max_request_tokens, self.counter.text)) for request in copied]
        if len(copied) < len(requests) or any(TextBlock(_LEFT_OUT) in message.content for message in notes):
            short.insert(1, TextBlock(_LEFT_OUT))
        asked = (TextBlock(_REQUESTS), *short) if short else ()
        summary = Message("user", (*asked, TextBlock(f"{_SUMMARY}\n{text}")), kind="summary")
        tokens, size = self.counter.message(summary), self.counter.messages(older)
        if tokens >= size:
            raise fault("too long", f"{tokens:,} tokens, and what it replaces has {size:,}")
        return summary

    def _copied(self, requests: Sequence[str]) -> list[str]:
        """The first request and as many of the newest as there is room for, at least one."""
        sizes = [min(self.max_request_tokens, self.counter.text(request)) for request in requests]
        start, left = len(requests), self.max_requests_tokens - sum(sizes[:1])
        while start > 1 and (start == len(requests) or sizes[start - 1] <= left):
            start -= 1
            left -= sizes[start]
        return [*requests[:1], *requests[max(1, start) :]]

    def _write(self, older: Messages, leaving: Messages) -> str:
        """The summary of the older part, in one call if it fits, else piece by piece, each with the summary so far."""
        if self.share_prefix:
            try:
                return self._ask(_with_last_words(older, self._instructions), self.system, self.tools)
            except ContextOverflowError:
                pass  # as it is, it is too long: as text, in pieces, it is not
        earlier, room = _summaries(older), self._room()
        text = "\n".join(earlier)
        rounds = api_rounds((*leaving, *_chat(older)))
        if self.counter.text(text) > self.max_summary_tokens:  # several, or one that another strategy wrote
            text, rounds = "", (*((user(one),) for one in earlier), *rounds)
        start = 0
        while start < len(rounds):
            piece, end = self._piece(rounds, start, room)
            try:
                text = self._ask((self._prompt(text, piece),), "", ()) if piece else text
                start = end
            except ContextOverflowError:
                room //= 2  # the model counts otherwise than we do: the same again, in smaller pieces
                self._check_room(room)
        if not text:
            raise NothingToDoError("the older part has nothing that can be shown as text")
        return text

    def _ask(self, messages: Messages, system: str, tools: tuple[ToolSpec, ...]) -> str:
        room = 2 * self.max_summary_tokens
        summary = read_response(self.client.complete(messages, system=system, tools=tools, max_tokens=room))
        tokens = self.counter.text(summary)
        if tokens > self.max_summary_tokens:
            raise fault("too long", f"{tokens:,} tokens, and its cap is {self.max_summary_tokens:,}")
        return summary

    @property
    def _instructions(self) -> str:
        words = self.max_summary_tokens * 3 // 4
        return f"{SUMMARY_INSTRUCTIONS}\nThe summary may have {words:,} words at most."

    def _prompt(self, so_far: str, piece: str) -> Message:
        so_far, piece = (_TAG.sub("&lt;", text) for text in (so_far, piece))
        earlier = f"<earlier_summary>\n{so_far}\n</earlier_summary>\n" if so_far else ""
        return user(f"<conversation>\n{earlier}{piece}\n</conversation>\n\n{self._instructions}")

    def _room(self) -> int:
        """Tokens that one request has for messages: without instructions, the summary so far, and the answer."""
        fixed = self.counter.message(self._prompt("so far", ""))
        room = int(_MARGIN * (self.client.window_tokens - fixed)) - 3 * self.max_summary_tokens
        self._check_room(room)
        return room

    def _check_room(self, room: int) -> None:
        if room < self.max_summary_tokens:
            raise CompactionError(
                f"the summariser's window of {self.client.window_tokens:,} tokens is too small for summaries of "
                f"{self.max_summary_tokens:,}: lower max_summary_tokens"
            )

    def _piece(self, rounds: Sequence[Messages], start: int, room: int) -> tuple[str, int]:
        """As many rounds as there is room for, at least one, as text; and where the next piece starts."""
        texts: list[str] = []
        left = room
        for at in range(start, len(rounds)):
            text = self._round_text(rounds[at], room)
            left -= self.counter.text(text) + 1
            if left < 0 and texts:
                return "\n".join(texts), at
            texts += [text] if text else []
        return "\n".join(texts), len(rounds)

    def _round_text(self, messages: Messages, room: int) -> str:
        """A round as text; one that is too long loses the middle of its longest messages, and says so."""
        count = self.counter.text
        texts = [as_text(message, room, count) for message in messages]
        level = fill_level(map(count, texts), room - len(texts))
        return "\n".join(filter(None, (as_text(message, level, count) for message in messages)))


def _chat(messages: Messages) -> Messages:
    return tuple(message for message in messages if message.kind == "chat")


def _with_last_words(older: Messages, words: str) -> Messages:
    """The conversation as it is, with these as the user's last words."""
    last = older[-1]
    if last.role == "user":
        return (*older[:-1], replace(last, content=(*last.content, TextBlock(words)), kind="chat"))
    return (*older, user(words))
