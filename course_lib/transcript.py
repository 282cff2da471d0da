"""Everything that was said, on disk, and the view from which to go on (chapter 07).

A transcript is a folder for one session:

    session.json       what it is, and when it began
    transcript.jsonl   one record a line, only ever appended: messages, and boundaries
    snapshots/         the whole view before messages went, to look at

A *boundary* says what the view is from there on: messages that stand above, by their ids, and new ones such as a
summary. So a resumed session sees the compacted conversation, and the full one is still in the file.

    >>> import tempfile
    >>> from course_lib.messages import assistant, user
    >>> folder = tempfile.TemporaryDirectory()
    >>> one, two, three = user("one"), assistant("two"), user("three")
    >>> with Transcript(Path(folder.name) / "s1", now=lambda: "2026-11-30T12:00:00Z") as transcript:
    ...     transcript.save((one, two, three))
    ...     transcript.save((user("one and two, in short", kind="summary"), three), reason="summary")
    >>> with Transcript(Path(folder.name) / "s1", now=lambda: "2026-11-30T13:00:00Z") as transcript:
    ...     [message.kind for message in transcript.view], len(transcript.everything)
    (['summary', 'chat'], 4)
    >>> folder.cleanup()

What this leaves out on purpose: keys and settings. Nothing is written that was not said in the conversation.
Source: chapter 07; session folder, JSON lines and boundary records are those of published course notes on Claude Code
(2026); the rules for resuming answer bug reports CTX-110 to CTX-114 of the field guide.
"""

import json
import os
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import replace
from operator import is_
from pathlib import Path
from typing import Any

from course_lib.agent import Agent
from course_lib.errors import TranscriptError
from course_lib.events import AgentEvent, HistoryRewritten
from course_lib.journal_file import JournalFile, SyncPolicy
from course_lib.messages import Message, Messages, Usage
from course_lib.wire_anthropic import from_anthropic, to_anthropic

__all__ = ["Transcript"]

_FORMAT = "agent-context-course transcript 1"


class Transcript:
    """A session's transcript, open for writing.

    Args:
        folder: the session's folder; made if it is not there, and then for its owner alone.
        now: returns the time as text, for the records.
        sync: when a record counts as written.

    Attributes:
        view: the messages to go on with.
        notes: what mechanisms remembered beside the messages, by name, oldest first (chapters 08 and 09).

    Raises:
        TranscriptError: the folder cannot be used, is open elsewhere, or its records make no sense.
    """

    def __init__(self, folder: Path, *, now: Callable[[], str], sync: SyncPolicy = "disk") -> None:
        self.folder, self._now = folder, now
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise TranscriptError(f"cannot make the folder {folder}: {error.strerror}") from error
        self._journal = JournalFile(folder / "transcript.jsonl", sync=sync)
        self.view: Messages = ()
        self._everything: list[Message] = []
        self.notes: dict[str, list[Any]] = {}
        self._ids: dict[int, str] = {}  # of messages by identity; `_everything` keeps them alive
        self._same_words: dict[tuple[object, ...], str] = {}  # ids by what was said, its blocks by identity
        self._last_number = self._last_snapshot = 0
        try:
            self._read()
            self._begin()
        except BaseException:
            self._journal.close()
            raise

    def save(self, messages: Messages, *, reason: str = "") -> None:
        """Record the conversation as it is now: only what is new, and a boundary if older messages are gone or changed.

        Args:
            messages: the whole conversation, saved messages as the same objects.
            reason: why older messages changed, for the record.

        Raises:
            TranscriptError: it could not be written. What was saved before is safe, and a later save may work.
        """
        if len(messages) >= len(self.view) and all(map(is_, self.view, messages)):
            for index in range(len(self.view), len(messages)):
                name = f"m{self._last_number + 1}"
                stamp = {"type": "message", "id": name, "time": self._now()}
                self._journal.append({**stamp, **_record_of(messages[index])})
                self._remember(messages[index], name)
                self.view = messages[: index + 1]
            return
        if len(messages) < len(self.view):
            self._snapshot()
        entries, new = self._entries(messages)
        self._journal.append({"type": "boundary", "time": self._now(), "reason": reason, "view": entries})
        for name, message in new.items():
            self._remember(message, name)
        self.view = messages

    def note(self, name: str, value: Any) -> None:
        """Record something that a mechanism must remember over a resume; `value` is anything that JSON can hold."""
        self._journal.append({"type": "note", "time": self._now(), "name": name, "value": value})
        self.notes.setdefault(name, []).append(value)

    def follow(
        self,
        agent: Agent,
        events: Iterator[AgentEvent],
        *,
        on_error: Callable[[TranscriptError], None] | None = None,
    ) -> Iterator[AgentEvent]:
        """Pass the events of an agent's run on, and save its conversation before each, however the run ends.

        Args:
            agent: whose conversation it is.
            events: of its run.
            on_error: told when something could not be saved; the run goes on, and the next save makes up for it.
                Without it, the error ends the run.
        """

        def save(messages: Messages, reason: str = "") -> None:
            try:
                self.save(messages, reason=reason)
            except TranscriptError as error:
                if on_error is None:
                    raise
                on_error(error)

        try:
            for event in events:
                if isinstance(event, HistoryRewritten):  # what came since the last event is in nothing but this
                    save(event.before)
                    save(event.after, str(getattr(event.detail, "name", "")))
                else:
                    save(agent.messages)
                yield event
        finally:
            if isinstance(events, Generator):
                events.close()  # an interrupted batch gets its results now
            save(agent.messages)

    def close(self) -> None:
        """Close the files and let others have them."""
        self._journal.close()

    def __enter__(self) -> "Transcript":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def everything(self) -> Messages:
        """Every message that was ever saved, in order."""
        return tuple(self._everything)

    @property
    def torn_bytes(self) -> int:
        """Bytes of a torn last line that was put aside when the transcript was opened."""
        return self._journal.torn_bytes

    def _entries(self, messages: Messages) -> tuple[list[Any], dict[str, Message]]:
        """The entries of a boundary, and those messages that it is the first to hold, by id.

        A message that an edit merely took the usage from is the old one, not a new one.
        """
        entries: list[Any] = []
        new: dict[str, Message] = {}
        for message in messages:
            same = self._same_words.get(_words(message))
            if id(message) in self._ids:
                entries.append(self._ids[id(message)])
            elif same:
                entries.append({"same_as": same, **_usage_record(message)})
            else:
                name = f"m{self._last_number + len(new) + 1}"
                new[name] = message
                entries.append({"id": name, **_record_of(message)})
        return entries, new

    def _remember(self, message: Message, name: str) -> None:
        self._last_number = max(self._last_number, int(name.removeprefix("m")))
        self._ids[id(message)] = name
        self._same_words.setdefault(_words(message), name)
        self._everything.append(message)

    def _begin(self) -> None:
        about = self.folder / "session.json"
        try:
            text = about.read_text(encoding="utf-8") if about.exists() else ""
            is_known = not text or json.loads(text)["format"] == _FORMAT
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise TranscriptError(
                f"{about} cannot be read ({error!r}): take it away, or start a new session"
            ) from error
        if not is_known:
            raise TranscriptError(f"{about} was written by another version of the course: start a new session")
        if not text:
            _write(about, json.dumps({"format": _FORMAT, "began": self._now()}, indent=1) + "\n")

    def _snapshot(self) -> None:
        lines = (json.dumps(_record_of(message)) for message in self.view)
        place = self.folder / "snapshots" / f"{self._last_snapshot + 1:04}.jsonl"
        _write(place, "".join(f"{line}\n" for line in lines))
        self._last_snapshot += 1

    def _read(self) -> None:
        """Rebuild the view by going through the records in order: the newest boundary wins by itself."""
        by_id: dict[str, Message] = {}
        for number, record in enumerate(self._journal.records, 1):
            try:
                self._read_record(record, by_id)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise TranscriptError(
                    f"{self._journal.path}, record {number} makes no sense ({error!r}): {str(record)[:80]}"
                ) from error
        numbers = (file.stem for file in (self.folder / "snapshots").glob("*.jsonl"))
        self._last_snapshot = max((int(number) for number in numbers if number.isdecimal()), default=0)

    def _read_record(self, record: Mapping[str, Any], by_id: dict[str, Message]) -> None:
        match record["type"]:
            case "message":
                self.view = (*self.view, self._known(record, by_id))
            case "boundary":
                self.view = tuple([self._known(entry, by_id) for entry in record["view"]])
            case "note":
                self.notes.setdefault(record["name"], []).append(record["value"])
            case other:
                raise ValueError(f"type {other!r}")

    def _known(self, entry: str | Mapping[str, Any], by_id: dict[str, Message]) -> Message:
        if isinstance(entry, str):
            return by_id[entry]
        if "same_as" in entry:
            return replace(by_id[entry["same_as"]], usage=_usage_of(entry))
        message, name = _message_of(entry), entry["id"]
        if name in by_id:
            raise ValueError(f"a second message {name}")
        self._remember(message, name)
        by_id[name] = message
        return message


def _record_of(message: Message) -> dict[str, Any]:
    """A message as a record: Anthropic's shape, and what the course's values have besides."""
    name = {"name": message.id} if message.id else {}
    return {**to_anthropic((message,))[0], "kind": message.kind, **_usage_record(message), **name}


def _usage_record(message: Message) -> dict[str, Any]:
    return {"usage": vars(message.usage)} if message.usage else {}


def _message_of(record: Mapping[str, Any]) -> Message:
    (plain,) = from_anthropic([{"role": record["role"], "content": record["content"]}])
    return Message(plain.role, plain.content, record["kind"], _usage_of(record), str(record.get("name", "")))


def _usage_of(record: Mapping[str, Any]) -> Usage | None:
    return Usage(**record["usage"]) if record.get("usage") else None


def _words(message: Message) -> tuple[object, ...]:
    return (message.role, message.kind, *map(id, message.content))


def _write(path: Path, text: str) -> None:
    """Write a whole file for its owner alone, so that it is there in full or not at all."""
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        part = path.with_suffix(".part")
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise TranscriptError(f"cannot write {path}: {error.strerror}") from error
