"""What a compaction takes and the work needs again: files, skills, the plan (chapter 10).

After a compaction the model no longer sees the files it was working on, and reads them again, one by one. `Restoring`
wraps a strategy and puts the newest of them back at once, read from disk anew: a file may have changed or gone.

    at most 5 files, 5,000 tokens each · skills up to 25,000 · all of it together at most 50,000 tokens

    >>> from course_lib.messages import ToolResultBlock, assistant, message_text
    >>> call = ToolUseBlock("c1", "read_file", {"path": "a.py"})
    >>> history = (user("go"), assistant(call), user(ToolResultBlock("c1", "a = 1")))
    >>> recent_paths(history)
    ('a.py',)
    >>> restored = restore(history, read_text={"a.py": "a = 2"}.__getitem__, counter=MessageCounter(len))
    >>> print(message_text(restored))
    [Read again after the conversation was made shorter: no new requests. For anything else, look again.]
    <file path="a.py">
    a = 2
    </file>

A text cannot end its own mark: where it holds `</file`, the mark gets a number that the text does not hold. Nothing in
it is changed, so that an edit of the file still finds its passage.

What this leaves out on purpose: which files *should* matter. The newest are a guess that is often right.
Source: chapter 10; the caps are those of published course notes on Claude Code (2026).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape, unescape
from itertools import count

from course_lib.compaction import Strategy
from course_lib.errors import SettingsError
from course_lib.messages import Message, Messages, TextBlock, ToolUseBlock, assistant, tool_results, tool_uses, user
from course_lib.text_cuts import shorten
from course_lib.tokens import MessageCounter
from course_lib.window import Window

__all__ = ["ReadState", "RestoreLimits", "Restoring", "recent_paths", "restore"]

_HEADING = "[Read again after the conversation was made shorter: no new requests. For anything else, look again.]"
_ACKNOWLEDGEMENT = "I have it before me."
_READS = frozenset({"read_file", "write_file", "Read", "Write"})  # after which the model has the whole text before it
_EDITS = frozenset({"edit_file", "Edit"})
_FILE_MARK = re.compile(r'<file(?:_\d+)? path="([^"]*)"')
_LEAST_TOKENS = 20  # of a text that is worth showing


@dataclass(frozen=True, kw_only=True)
class RestoreLimits:
    """How much comes back. The last cap is a joint one: 5 × 5,000 for files and 25,000 for skills just fill it.

    Raises:
        SettingsError: a limit below 0.
    """

    max_files: int = 5
    max_file_tokens: int = 5_000
    max_skills_tokens: int = 25_000
    max_tokens: int = 50_000

    def __post_init__(self) -> None:
        if min(self.max_files, self.max_file_tokens, self.max_skills_tokens, self.max_tokens) < 0:
            raise SettingsError(f"{self}: expected limits from 0 up")

    @classmethod
    def for_window(cls, window: Window) -> "RestoreLimits":
        """Return limits for a window of another size: together at most a quarter of it, each in proportion."""
        most = min(cls.max_tokens, window.context_tokens // 4)
        return cls(max_file_tokens=most // 10, max_skills_tokens=most // 2, max_tokens=most)


class ReadState:
    """Which files were read, and what stood in them then: an editor refuses to edit what nobody has read.

    A compaction must not clear it. What is restored counts as read again; of everything else the model is told to look
    again before it edits.
    """

    def __init__(self) -> None:
        self._seen: dict[str, str] = {}

    def was_read(self, path: str, text: str) -> None:
        """Note that the file was shown with this text."""
        self._seen[path] = text

    def has_changed(self, path: str, text: str) -> bool:
        """Return whether the file was read, and has another text now."""
        return self._seen.get(path, text) != text

    def refusal(self, path: str, text: str) -> str:
        """Return why an edit of the file, which now has this text, must wait; "" if it may go ahead."""
        if path not in self._seen:
            return f"{path} was not read yet: read it before you edit it"
        return f"{path} has changed since it was read: read it again" if self.has_changed(path, text) else ""


def recent_paths(messages: Sequence[Message], tools: Iterable[str] = _READS | _EDITS) -> tuple[str, ...]:
    """Return the paths of files that were read or edited with success, or restored; the newest first, each once."""
    names = frozenset(tools)
    failed = {result.tool_use_id for message in messages for result in tool_results(message) if result.is_error}
    paths: list[str] = []
    for message in reversed(messages):
        if message.kind == "restored":
            marks = (_FILE_MARK.match(block.text) for block in message.content if isinstance(block, TextBlock))
            paths += [unescape(mark[1]) for mark in marks if mark]
        calls = [call for call in tool_uses(message) if call.name in names and call.id not in failed]
        paths += map(_path, reversed(calls))
    return tuple(dict.fromkeys(filter(None, paths)))


def _path(call: ToolUseBlock) -> str:
    return _text_of(call, "path", "file_path")


def _text_of(call: ToolUseBlock, *keys: str) -> str:
    values = (call.input.get(key) for key in keys)
    return next((value for value in values if isinstance(value, str)), "")


def _known_texts(messages: Messages, path: str) -> list[str]:
    """The file's text as the messages show it: read or written in them, and edited since."""
    results = {result.tool_use_id: result for message in messages for result in tool_results(message)}
    texts: list[str] = []
    for call in (call for message in messages for call in tool_uses(message) if _path(call) == path):
        result = results.get(call.id)
        if result is None or result.is_error:
            continue
        if call.name in _READS:
            texts = [result.text, _text_of(call, "content")]
        elif call.name in _EDITS:
            old, new = _text_of(call, "old_text", "old_string"), _text_of(call, "new_text", "new_string")
            texts = [text.replace(old, new, 1) for text in texts]
    return texts


def restore(
    before: Messages,
    after: Messages = (),
    *,
    read_text: Callable[[str], str],
    counter: MessageCounter,
    limits: RestoreLimits | None = None,
    skills: Mapping[str, str] | None = None,
    plan: str = "",
    read_state: ReadState | None = None,
) -> Message | None:
    """Return a message with what the work needs again, or None if nothing does.

    Args:
        before: the conversation before the compaction.
        after: what is left of it; a file whose present text it still shows is not restored.
        read_text: returns a file's text; what it raises means that the file is gone or unreadable, and is said.
        counter: counts the texts.
        limits: how much comes back.
        skills: loaded instructions by name, in the order of their weight.
        plan: the todo list or plan in hand, which comes back before all else.
        read_state: is told what was read.
    """
    limits = limits or RestoreLimits()
    shelf = _Shelf(limits.max_tokens, counter)
    if plan:
        shelf.put("plan", "", plan, limits.max_tokens)
    _put_files(shelf, before, after, read_text, limits, read_state or ReadState())
    room = limits.max_skills_tokens
    for name, text in (skills or {}).items():
        left = shelf.left
        shelf.put("skill", name, text, room)
        room -= left - shelf.left
    return user(_HEADING, *shelf.parts, kind="restored") if shelf.parts else None


def _put_files(
    shelf: "_Shelf",
    before: Messages,
    after: Messages,
    read_text: Callable[[str], str],
    limits: RestoreLimits,
    read_state: ReadState,
) -> None:
    files = gone = 0
    for path in recent_paths(before):
        if files >= limits.max_files:
            break
        try:
            text = read_text(path)
        except Exception as error:  # whatever a reader raises: the work goes on, and the model is told
            gone += 1
            if gone <= limits.max_files:
                shelf.put("file", path, f"[cannot be read any more: {_reason(error)}]", limits.max_file_tokens)
            continue
        if any(text.strip() in known for known in _known_texts(after, path) if known):
            continue
        files += 1
        note = "changed since you read it" if read_state.has_changed(path, text) else ""
        if shelf.put("file", path, text, limits.max_file_tokens, note):
            read_state.was_read(path, text)


def _reason(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())[:200]


class _Shelf:
    """What comes back, and the room that is left for more."""

    def __init__(self, tokens: int, counter: MessageCounter) -> None:
        self.counter = counter
        self.parts: list[str] = []
        self.left = tokens - counter.message(user(_HEADING))

    def put(self, tag: str, name: str, text: str, most_tokens: int, note: str = "") -> bool:
        """Add a text, shortened to its limit and to what is left; return whether it is there whole.

        Where no room is worth having, it is left out.
        """
        room = min(most_tokens, self.left)
        if f"</{tag}" in text:
            tag = next(f"{tag}_{number}" for number in count(2) if f"</{tag}_{number}" not in text)
        key = "name" if tag.startswith("skill") else "path"
        name = re.sub(r"[\r\n]", lambda end: f"&#{ord(end[0])};", escape(name))
        said = (f' {key}="{name}"' if name else "") + (f' note="{note}"' if note else "")
        frame = self.counter.text(f"<{tag}{said}>\n\n</{tag}>")
        for inner_tokens in (room - frame, room - frame - 2):  # together, they may have a token more than one by one
            shown = shorten(text, max(0, inner_tokens), self.counter.text)
            part = f"<{tag}{said}>\n{shown}\n</{tag}>"
            if self.counter.text(part) <= room:
                break
        else:
            return False
        if shown != text and inner_tokens < _LEAST_TOKENS:
            return False
        self.parts.append(part)
        self.left -= self.counter.text(part)
        return shown == text


@dataclass(frozen=True, kw_only=True)
class Restoring:
    """A strategy, and what comes back after it: the restored message stands behind summary and requests.

    Args:
        strategy: what makes the conversation shorter.
        read_text, counter, limits: as in `restore`.
        skills: returns the loaded instructions by name.
        plan: returns the todo list in hand.
        read_state: is told what was read.
        acknowledge: a line of the assistant wherever two messages of the user would meet.
    """

    strategy: Strategy
    read_text: Callable[[str], str]
    counter: MessageCounter = field(repr=False, compare=False)
    limits: RestoreLimits = field(default_factory=RestoreLimits)
    skills: Callable[[], Mapping[str, str]] = dict
    plan: Callable[[], str] = str
    read_state: ReadState | None = None
    acknowledge: bool = True

    @property
    def name(self) -> str:
        """The strategy's name, and that something comes back."""
        return f"{self.strategy.name} + restore"

    def __call__(self, messages: Messages) -> Messages:
        """Return what the strategy leaves, with the restored message in it; one of an earlier time goes."""
        after = self.strategy(messages)
        known = {id(message) for message in messages}
        if not any(id(m) not in known and m.kind in ("summary", "boundary") for m in after):
            return after  # nothing is gone, so nothing has to come back
        after = tuple(message for message in after if message.kind != "restored")
        place = 1 + max(at for at, m in enumerate(after) if id(m) not in known and m.kind in ("summary", "boundary"))
        message = restore(
            messages,
            after,
            read_text=self.read_text,
            counter=self.counter,
            limits=self.limits,
            skills=self.skills(),
            plan=self.plan(),
            read_state=self.read_state,
        )
        if message is None:
            return after
        meets = (self.acknowledge and m.role == "user" for m in (after[place - 1], *after[place : place + 1]))
        lines = [(assistant(_ACKNOWLEDGEMENT, kind="restored"),) if is_met else () for is_met in meets]
        first, last = (*lines, ())[:2]
        return (*after[:place], *first, message, *last, *after[place:])
