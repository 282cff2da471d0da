"""Five basic ways to make a conversation shorter (chapter 05).

    Truncation             the oldest messages go
    Summarisation          the older part gives way to a summary that a model writes
    SelectiveRetention     what the user said and every error stay; the rest shrinks to placeholders
    ToolResultCompression  long tool results lose their middle
    ContextFolding         the older part gives way to a digest that rules write

Each is a frozen value, its settings documented where they stand, and a function from messages to messages. `apply`
(compaction) measures it and holds it to the rules; here is only what each one does.

    >>> from course_lib.messages import assistant, user
    >>> history = (user("the task"), *(assistant(f"step {number}") for number in range(30)), user("go on"))
    >>> [message_text(message) for message in Truncation(keep_messages=3)(history)][:3]
    ['the task', '[28 older messages were left out here.]', 'step 28']

What this leaves out on purpose: good summaries. `Summarisation` is the article's: one call, one text; chapter 07 does
it properly.
Source: chapter 05; the five strategies and their numbers are those of an article on agent context management (2026).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from course_lib.client import LLMClient
from course_lib.digest import digest_of
from course_lib.errors import CompactionError, NothingToDoError, SettingsError
from course_lib.history_parts import (
    MAX_RECENT_TOKENS,
    HistoryParts,
    edit_blocks,
    messages_covered,
    shorten_results,
    split_history,
)
from course_lib.messages import (
    Block,
    Message,
    Messages,
    Role,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    message_text,
    tool_uses,
    user,
)
from course_lib.text_cuts import shorten
from course_lib.tokens import MessageCounter, chars_counter
from course_lib.transcript_text import as_pieces

__all__ = [
    "SUMMARY_PROMPT",
    "ContextFolding",
    "SelectiveRetention",
    "Summarisation",
    "ToolResultCompression",
    "Truncation",
]

SUMMARY_PROMPT = (
    "Summarise the conversation above for the one who will carry the work on and sees nothing else of it: what the "
    "user asked for and every rule they gave, word for word; what was decided and why; which files are done and which "
    "are open; errors and how they were solved; what comes next. Answer with the summary only."
)
_MARGIN = 0.95  # of the summariser's window: what is counted in pieces may have a few more tokens as a whole


def _default_counter() -> MessageCounter:
    return MessageCounter(chars_counter(4))


@dataclass(frozen=True, kw_only=True)
class _KeepsRecent:
    """What four of the five share: which messages stay as they are.

    Args:
        keep_messages: how many of the last messages; a few more where a batch would be cut.
        pin_first: the user's first request stays.
        pin_latest: the user's latest request stays.
        max_recent_tokens: of the messages that stay; the largest results among them are shortened first.
        counter: counts them.
    """

    keep_messages: int = 20
    pin_first: bool = True
    pin_latest: bool = True
    max_recent_tokens: int = MAX_RECENT_TOKENS
    counter: MessageCounter = field(default_factory=_default_counter, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.keep_messages < 1 or self.max_recent_tokens < 1:
            raise SettingsError(
                f"keep_messages {self.keep_messages}, max_recent_tokens {self.max_recent_tokens}: expected 1 or more"
            )

    def __call__(self, messages: Messages) -> Messages:
        """Return the messages to go on with.

        Raises:
            NothingToDoError: nothing worth it is older than the recent messages, and these are no longer than allowed.
        """
        parts = split_history(
            messages,
            keep_messages=self.keep_messages,
            counter=self.counter,
            pin_first=self.pin_first,
            pin_latest=self.pin_latest,
            max_recent_tokens=self.max_recent_tokens,
        )
        try:
            if not any(message.kind == "chat" for message in parts.older):
                raise NothingToDoError(f"nothing is older than the last {self.keep_messages} messages")
            return (*self._shorter(parts), *parts.recent)
        except NothingToDoError:
            with_shorter_results = (*parts.front, *parts.recent)
            if with_shorter_results == tuple(messages):
                raise
            return with_shorter_results

    def _shorter(self, parts: HistoryParts) -> Messages:
        """What stands before the recent messages from now on."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Truncation(_KeepsRecent):
    """The oldest messages go, and a note says how many. The system prompt is no message, so it stays in any case.

    The article's own version pins nothing: `Truncation(pin_first=False, pin_latest=False)`.
    """

    name: str = "truncation"
    keep_messages: int = 20

    def _shorter(self, parts: HistoryParts) -> Messages:
        note = f"[{messages_covered(parts.older)} older messages were left out here.]"
        return (*parts.pinned, user(note, kind="boundary"))


@dataclass(frozen=True, kw_only=True)
class Summarisation(_KeepsRecent):
    """The older part gives way to one summary that a model writes; a second time, the summary is written anew with it.

    Args:
        client: the model that writes; a cheaper one will often do.
        keep_messages: as above; the article keeps ten.
        max_summary_tokens: the most that the summary may have.
        prompt: what the model is asked for. What it does not ask for does not survive.
        least_tokens: if fewer tokens have come into the older part since the last summary, no model is called.
        least_share: the same, as a share of the whole history.
    """

    client: LLMClient
    name: str = "summarisation"
    keep_messages: int = 10
    max_summary_tokens: int = 2_000
    prompt: str = SUMMARY_PROMPT
    least_tokens: int = 500
    least_share: float = 0.1

    def _shorter(self, parts: HistoryParts) -> Messages:
        said = self.counter.messages(message for message in parts.older if message.kind == "chat")
        whole = self.counter.messages((*parts.front, *parts.recent))
        if said < max(self.least_tokens, self.least_share * whole):
            raise NothingToDoError(f"{said:,} of {whole:,} tokens are older and new: not worth a model call")
        text = f"[Summary of {messages_covered(parts.older)} older messages]\n{self._write(parts.older)}"
        return (*parts.pinned, user(text, kind="summary"))

    def _write(self, older: Messages) -> str:
        """The summary; of a part too long for the model's window, piece by piece, each with the summary so far."""
        fixed = self.counter.message(self._request("", "Summary so far: …"))
        # Taken off: the summary so far, which a request shows, and the one that it asks for.
        room = int(_MARGIN * (self.client.window_tokens - fixed)) - 2 * self.max_summary_tokens
        if room < self.max_summary_tokens:
            window = f"a window of {self.client.window_tokens:,} tokens"
            raise CompactionError(f"no room to summarise anything in {window}: set a smaller max_summary_tokens")
        text = ""
        for piece in as_pieces(older, room, self.counter.text):
            so_far = shorten(text, self.max_summary_tokens, self.counter.text)
            response = self.client.complete((self._request(piece, so_far),), max_tokens=self.max_summary_tokens)
            text = message_text(response.message).strip()
            if not text or response.stop_reason not in ("end_turn", "max_tokens"):
                raise CompactionError(f"the model wrote no summary (it stopped with {response.stop_reason!r})")
        if not text:
            raise NothingToDoError("the older part has nothing that can be shown as text")
        return text

    def _request(self, piece: str, so_far: str) -> Message:
        earlier = f"Summary so far:\n{so_far}\n\n" if so_far else ""
        return user(f"<conversation>\n{earlier}{piece}\n</conversation>\n\n{self.prompt}")


@dataclass(frozen=True, kw_only=True)
class SelectiveRetention(_KeepsRecent):
    """Everything the user said, every error, and the last messages stay; the rest shrinks to placeholders in its place.

    Args:
        keep_messages: as above; the article keeps six.
        least_tokens: what has fewer is not worth a placeholder.
    """

    name: str = "selective retention"
    keep_messages: int = 6
    least_tokens: int = 40

    def _shorter(self, parts: HistoryParts) -> Messages:
        names = {call.id: call.name for message in parts.front for call in tool_uses(message)}
        return tuple(self._with_placeholders(m, names) if m.kind == "chat" else m for m in parts.front)

    def _with_placeholders(self, message: Message, names: Mapping[str, str]) -> Message:
        return edit_blocks(message, lambda block: self._placeholder(block, message.role, names))

    def _placeholder(self, block: Block, role: Role, names: Mapping[str, str]) -> Block:
        tokens = self.counter.block(block)
        match block:
            case _ if tokens < self.least_tokens:
                return block
            case ToolResultBlock(tool_use_id, is_error=False):
                name = names.get(tool_use_id, "a tool")
                short: Block = ToolResultBlock(tool_use_id, f"[result of {name} left out: {tokens:,} tokens]")
            case TextBlock() if role == "assistant":
                short = TextBlock(f"[text left out: {tokens:,} tokens]")
            case ToolUseBlock():
                short = self._without_long_arguments(block)
            case _:
                return block
        is_shorter = 2 * self.counter.block(short) <= tokens  # no placeholder gives way to another
        return short if is_shorter else block

    def _without_long_arguments(self, call: ToolUseBlock) -> ToolUseBlock:
        """Long arguments go as a whole, and a key of its own names them: a marker inside one might be copied."""
        long = [key for key, value in call.input.items() if self.counter.text(str(value)) >= self.least_tokens]
        short = {key: value for key, value in call.input.items() if key not in long}
        return replace(call, input={**short, "left_out": long}) if long else call


@dataclass(frozen=True, kw_only=True)
class ToolResultCompression:
    """Tool results longer than `max_result_tokens` lose their middle; a notice says how much. Nothing else changes.

    Args:
        max_result_tokens: of each result, notice and all.
        keep_messages: this many of the last messages are left as they are.
        counter: counts them.
    """

    name: str = "tool-result compression"
    max_result_tokens: int = 2_000
    keep_messages: int = 0
    counter: MessageCounter = field(default_factory=_default_counter, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.max_result_tokens < 1 or self.keep_messages < 0:
            raise SettingsError(
                f"max_result_tokens {self.max_result_tokens}, keep_messages {self.keep_messages}: "
                "expected 1 or more, and 0 or more"
            )

    def __call__(self, messages: Messages) -> Messages:
        """Return the messages with no longer results."""
        end = max(0, len(messages) - self.keep_messages)
        older = (shorten_results(message, self.max_result_tokens, self.counter) for message in messages[:end])
        return (*older, *messages[end:])


@dataclass(frozen=True, kw_only=True)
class ContextFolding(_KeepsRecent):
    """The older part gives way to a digest that rules write: no model call, and the same every time.

    Args:
        keep_messages: as above; the article keeps four.
        max_decisions, max_findings, max_errors: the last so many of each.
    """

    name: str = "context folding"
    keep_messages: int = 4
    max_decisions: int = 5
    max_findings: int = 5
    max_errors: int = 3

    def _shorter(self, parts: HistoryParts) -> Messages:
        digest = digest_of(
            parts.older,
            max_decisions=self.max_decisions,
            max_findings=self.max_findings,
            max_errors=self.max_errors,
        )
        return (*parts.pinned, user(digest.text, kind="summary"))
