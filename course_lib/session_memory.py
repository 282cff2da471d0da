"""Tier 5, first half: notes that are kept up to date while the work goes on (chapter 09).

When the window is full it is late for remembering. `SessionMemory` looks at every message once, as it comes, and keeps
what rules can find: the user's requests, decisions, errors, edited files. When the conversation has to be made
shorter, the notes are there, and no model has to be called.

    >>> from course_lib.messages import ToolUseBlock, assistant, user
    >>> memory = SessionMemory()
    >>> memory.update((user("Fix the parser."), assistant("I use the second grammar, because it is simpler.")))
    >>> memory.digest.orders, memory.digest.decisions
    (('Fix the parser.',), ('I use the second grammar, because it is simpler.',))

The notes of an earlier part of the session are read back from the summary that they became.

What this leaves out on purpose: judgement, as in the digest of chapter 05; a model may write notes too, by `remember`.
Source: chapter 09; session memory before a model summary is the order of an article on Claude Code's five tiers (2026).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from course_lib.digest import Digest, digest_of
from course_lib.errors import NothingToDoError
from course_lib.history_parts import MAX_RECENT_TOKENS, split_history
from course_lib.messages import Message, Messages, ToolResultBlock, ToolUseBlock, message_text, tool_uses, user
from course_lib.tokens import MessageCounter
from course_lib.tool_pairs import repair, safe_cut

__all__ = ["MemoryCompaction", "SessionMemory"]

_NOTES = "\n## Notes\n"
_MAX_NOTE_CHARS = 1_500


class SessionMemory:
    """The notes of one session.

    Args:
        max_decisions: the latest so many are kept. What the user asked for is kept as in the digest of chapter 05.
        max_errors: the same for errors.
        max_notes: the same for notes in words of one's own.
    """

    def __init__(self, *, max_decisions: int = 20, max_errors: int = 10, max_notes: int = 20) -> None:
        self.max_decisions, self.max_errors, self.max_notes = max_decisions, max_errors, max_notes
        self._seen: list[Message] = []  # held, so that the identity of their blocks stays theirs
        self._known: set[tuple[object, ...]] = set()
        self._digest = Digest(messages=0)
        self._notes: list[str] = []

    @property
    def digest(self) -> Digest:
        """What the notes hold."""
        return self._digest

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes in words of one's own, oldest first."""
        return tuple(self._notes)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing worth keeping yet."""
        found = self._digest
        return not (found.earlier or found.orders or found.decisions or found.errors or found.edited or self._notes)

    @property
    def text(self) -> str:
        """The notes as the model reads them."""
        own = _NOTES + "\n".join("- " + "\n  ".join(note.splitlines()) for note in self._notes)
        return self._digest.text + own * bool(self._notes)

    def update(self, messages: Messages) -> None:
        """Look at the messages that are new; a batch is looked at once all of its results are there.

        A message counts as known as long as it holds the same blocks, or results of the same calls: not when it only
        lost its usage, or was made shorter.
        """
        calls: dict[str, ToolUseBlock] = {}
        new: list[Message] = []
        for message in messages[: safe_cut(messages, len(messages))]:
            key = _key(message, calls)
            if key not in self._known:
                self._known.add(key)
                new.append(message)
            calls |= {call.id: call for call in tool_uses(message)}
        if not new:
            return
        self._seen += new
        before = (user(self._digest.text, kind="summary"),) if self._digest.messages else ()
        self._digest = digest_of(
            (*before, *map(self._without_notes, new)),
            max_decisions=self.max_decisions,
            max_findings=0,
            max_errors=self.max_errors,
        )

    def remember(self, note: str) -> None:
        """Add a note in words of one's own; a blank one, or one that is there, changes nothing."""
        note = note.strip()
        note = note if len(note) <= _MAX_NOTE_CHARS else f"{note[:_MAX_NOTE_CHARS]} […]"
        if note and note not in self._notes:
            self._notes = [*self._notes, note][-self.max_notes :]

    def as_message(self) -> Message:
        """Return the notes as the summary that stands for the older part; it is not looked at again."""
        message = user(self.text, kind="summary")
        self._seen.append(message)
        self._known.add(_key(message, {}))
        return message

    def _without_notes(self, message: Message) -> Message:
        """A summary that notes of an earlier part became, without those in own words, which are remembered."""
        text, mark, notes = message_text(message).partition(_NOTES)
        if message.kind != "summary" or not mark:
            return message
        for note in ("\n" + notes).split("\n- ")[1:]:
            self.remember(note.replace("\n  ", "\n"))
        return user(text, kind="summary")


def _key(message: Message, calls: Mapping[str, ToolUseBlock]) -> tuple[object, ...]:
    """What a message is known by: its blocks, and for results the calls that they answer."""
    blocks: Iterable[object] = message.content
    return (message.role, *(id(calls.get(b.tool_use_id, b) if isinstance(b, ToolResultBlock) else b) for b in blocks))


@dataclass(frozen=True, kw_only=True)
class MemoryCompaction:
    """A strategy: the older part gives way to the session's notes, and no model is called.

    Args:
        memory: the notes.
        counter: counts messages.
        keep_messages: how many of the last messages stay.
        max_recent_tokens: of the messages that stay.
        max_notes_tokens: notes that are longer are left to a model, which sees the whole older part then. None for no
            limit.
    """

    memory: SessionMemory = field(compare=False)
    counter: MessageCounter = field(repr=False, compare=False)
    name: str = "session memory"
    keep_messages: int = 10
    max_recent_tokens: int = MAX_RECENT_TOKENS
    max_notes_tokens: int | None = None

    def __call__(self, messages: Messages) -> Messages:
        """Return the pinned requests, the notes, and the recent messages.

        Raises:
            NothingToDoError: there are no notes, or too many, or nothing is old.
        """
        self.memory.update(messages)
        size = self.counter.text(self.memory.text)
        if self.max_notes_tokens is not None and size > self.max_notes_tokens:
            raise NothingToDoError(f"the notes have {size:,} tokens, and {self.max_notes_tokens:,} is the most")
        parts = split_history(
            messages,
            keep_messages=self.keep_messages,
            counter=self.counter,
            max_recent_tokens=self.max_recent_tokens,
        )
        if self.memory.is_empty or not any(message.kind == "chat" for message in parts.older):
            raise NothingToDoError("there are no notes yet, or nothing is old")
        return repair((*parts.pinned, self.memory.as_message(), *parts.recent))
