"""Tier 2: old messages go, a mark stays, and somebody has to tell the counter (chapter 08).

    >>> from course_lib.messages import assistant, user
    >>> history = (user("the task"), *(assistant(f"step {n} " * 50) for n in range(6)), user("go on"))
    >>> snipped = Snip(counter=MessageCounter(len), tokens_to_free=500)(history)
    >>> [message.kind for message in snipped], len(snipped)
    (['chat', 'boundary', 'chat', 'chat', 'chat', 'chat', 'chat'], 7)

The last usage that a provider reported speaks of the conversation before the snip. A count that is anchored on it still
shows the old size, so the threshold fires again, and again. Two cures, from chapter 03: drop the usage (`apply` does),
or subtract what was freed, which is what `tokens_freed` is for.

What this leaves out on purpose: a summary of what went. This is the cheapest way to be rid of the past.
Source: chapter 08; boundary and `tokens_freed` are those of an article on Claude Code's five tiers (2026).
"""

from dataclasses import dataclass, field

from course_lib.errors import NothingToDoError, SettingsError
from course_lib.history_parts import is_request, messages_covered
from course_lib.messages import Message, Messages, user
from course_lib.summarize import api_rounds
from course_lib.tokens import MessageCounter

__all__ = ["Snip", "tokens_freed"]


@dataclass(frozen=True, kw_only=True)
class Snip:
    """The oldest whole rounds go until so many tokens are saved; requests, summaries and the last round stay.

    Args:
        counter: counts them.
        tokens_to_free: how much to save.
        name: what charts call it.

    Raises:
        SettingsError: nothing to save.
    """

    counter: MessageCounter = field(repr=False, compare=False)
    tokens_to_free: int
    name: str = "snip"

    def __post_init__(self) -> None:
        if self.tokens_to_free < 1:
            raise SettingsError(f"tokens_to_free is {self.tokens_to_free}: expected 1 or more")

    def __call__(self, messages: Messages) -> Messages:
        """Return the messages without their oldest rounds, and a mark in their place.

        Raises:
            NothingToDoError: there is no round that may go.
        """
        gone: set[int] = set()
        freed = 0
        for one in [one for one in api_rounds(messages) if not any(map(_stays, one))][:-1]:
            if freed >= self.tokens_to_free:
                break
            gone |= {id(message) for message in one}
            freed += self.counter.messages(one)
        if not any(message.kind == "chat" for message in messages if id(message) in gone):
            raise NothingToDoError("no round is old enough to go")
        place = next(index for index, message in enumerate(messages) if id(message) in gone)
        covered = messages_covered([message for message in messages if id(message) in gone])
        mark = user(f"[{covered} older messages were snipped here.]", kind="boundary")
        kept = [message for message in messages if id(message) not in gone]
        return (*kept[:place], mark, *kept[place:])


def _stays(message: Message) -> bool:
    return is_request(message) or message.kind == "summary"


def tokens_freed(before: Messages, after: Messages, counter: MessageCounter) -> int:
    """Return by how much an edit made the conversation shorter: what an anchored count has to subtract."""
    return counter.messages(before) - counter.messages(after)
