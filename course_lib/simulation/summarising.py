"""How the offline model writes a summary: it takes from the conversation what it was asked for, and nothing else.

Extraction, not wit: whole sentences that state a rule, a lesson or an error, and the paths that were edited. A prompt
that does not ask for the rules gets a summary without rules, however good its other words are.

    >>> request = '''<conversation>
    ... USER: Add docstrings. Never touch anything under vendor/.
    ... CALL c1 edit_file {"path": "freight/a.py"}
    ... RESULT of c1: edited freight/a.py
    ... </conversation>
    ...
    ... Summarise this: every rule, and which files are done.'''
    >>> print(write_summary(request))
    ## What the user asked for
    - Add docstrings.
    - Never touch anything under vendor/.
    ## Files that are done
    freight/a.py

What this leaves out on purpose: judgement. Whether a sentence matters is decided by the wordings of `wording`.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from course_lib.messages import Messages, TextBlock
from course_lib.simulation.wording import (
    PATH,
    forbidden_folders,
    progress,
    rounding_lesson,
    sentences,
    states_task,
    word_rules,
)
from course_lib.transcript_text import as_text

__all__ = ["summary_request", "write_summary"]

_CONVERSATION = re.compile(r"<conversation>\n(.*)\n</conversation>(.*)", re.DOTALL)
_ASKS = re.compile(r"\bsummar(?:y|ise|ize|ies)", re.IGNORECASE)
_LINE = re.compile(r"^(USER|ASSISTANT|CALL|RESULT of|ERROR of)\b ?", re.MULTILINE)
_EDIT = re.compile(r"^(\S+) (?:edit_file|write_file) .*?\"path\": \"([^\"]+)\"")
_TOTAL = re.compile(r"^\d+ tests?, \d+ failures?$|^\d+ of \d+ modules up to standard$", re.MULTILINE)
_TOLD = re.compile(r"^## Errors\n((?:- .*(?:\n|$))+)", re.MULTILINE)  # by an earlier summary
_MOST_ERRORS = 3
_NO_LIMIT = 10**9  # characters


def summary_request(messages: Messages) -> str:
    """Return the text of a request for a summary, or "" if the messages are none.

    Either the last message holds the conversation between marks and then asks for a summary; or it asks for one between
    `<summary>` marks, and the conversation is what stands before.
    """
    last = messages[-1] if messages else None
    wanted = last.content[-1].text if last and isinstance(last.content[-1], TextBlock) else ""
    match = _CONVERSATION.search(wanted)
    if match:
        return wanted if _ASKS.search(match[2]) else ""
    if last is None or last.role != "user" or "<summary>" not in wanted or not _ASKS.search(wanted):
        return ""
    before = (*messages[:-1], replace(last, content=last.content[:-1]))
    conversation = "\n".join(as_text(message, _NO_LIMIT, len) for message in before)
    return f"<conversation>\n{conversation}\n</conversation>\n\n{wanted}"


def write_summary(request: str) -> str:
    """Return the summary that a request asks for, in two stages if it asks for two.

    Args:
        request: the conversation between `<conversation>` and `</conversation>`, then what is wanted.
    """
    match = _CONVERSATION.search(request)
    conversation, wanted = (match[1], match[2]) if match else (request, "")
    asked = {line.removeprefix("## ").strip() for line in wanted.splitlines() if line.startswith("## ")}
    topics = [
        (topic.asked_heading if topic.asked_heading in asked else topic.heading, topic.extract(conversation))
        for topic in _TOPICS
        if topic.asked_heading in asked or (not asked and re.search(topic.asked, wanted, re.IGNORECASE))
    ]
    summary = "\n".join(f"## {heading}\n{text}" for heading, text in topics if text) or _in_general(conversation)
    if "<summary>" not in wanted:
        return summary
    return (
        f"<analysis>\nI take over what was asked for, done and learned.\n</analysis>\n<summary>\n{summary}\n</summary>"
    )


def _records(conversation: str) -> Iterator[tuple[str, str]]:
    """Who or what, and the text; what stands before the first record is an earlier summary."""
    conversation = re.sub(r"^</?earlier_summary>\n?", "", conversation, flags=re.MULTILINE)
    starts = [*_LINE.finditer(conversation)]
    yield "SUMMARY", conversation[: starts[0].start() if starts else len(conversation)]
    for start, following in zip(starts, [*starts[1:], None], strict=False):
        end = following.start() if following else len(conversation)
        yield start[1].split()[0], conversation[start.end() : end].lstrip(": ").rstrip("\n")


def _said(conversation: str) -> Iterator[str]:
    """What somebody said, the user's and the model's sentences and an earlier summary's."""
    for who, text in _records(conversation):
        if who in ("USER", "ASSISTANT", "SUMMARY"):
            yield from sentences(text)


def _rules(conversation: str) -> str:
    found = (s for s in _said(conversation) if states_task(s) or forbidden_folders(s) or word_rules(s))
    return _bullets(found)


def _lessons(conversation: str) -> str:
    said = [
        *_said(conversation),
        *(s for who, text in _records(conversation) if who == "RESULT" for s in [*sentences(text)]),
    ]
    return _bullets([s for s in said if rounding_lesson(s)][-1:])


def _done(conversation: str) -> str:
    failed = {text.split(":")[0] for who, text in _records(conversation) if who == "ERROR"}
    done: dict[str, None] = {}
    for who, text in _records(conversation):
        if who == "CALL" and (edit := _EDIT.match(text)) and edit[1] not in failed:
            done[edit[2]] = None
        elif who in ("SUMMARY", "USER"):
            done |= dict.fromkeys(sorted(progress(text)[0]))
    return "\n".join(path for path in done if PATH.fullmatch(path))


def _errors(conversation: str) -> str:
    texts = (text.partition(": ")[2].strip() for who, text in _records(conversation) if who == "ERROR")
    told = [line.removeprefix("- ") for section in _TOLD.findall(conversation) for line in section.splitlines()]
    errors = [*told, *(text.splitlines()[0] for text in texts if text)]
    errors = [error for error in errors if not _TOTAL.fullmatch(error)]
    totals = _TOTAL.findall(conversation.replace("\n- ", "\n"))[-1:]
    return _bullets([*errors[-_MOST_ERRORS:], *totals])


def _next(conversation: str) -> str:
    said = [text for who, text in _records(conversation) if who == "ASSISTANT" and text]
    return _bullets(said[-1:])


def _in_general(conversation: str) -> str:
    edits = len(_done(conversation).splitlines())
    return f"An assistant has been working with tools. It has made edits in {edits} places and goes on with its work."


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in dict.fromkeys(line.removeprefix("- ") for line in lines))


@dataclass(frozen=True)
class _Topic:
    """What a prompt may ask for, in words or by a heading, our own heading for it, and where it is found."""

    asked: str
    asked_heading: str
    heading: str
    extract: Callable[[str], str]


_TOPICS = (
    _Topic(
        r"\brules?\b|asked for|instruction|constraint|\bgoals?\b|orders?\b|request",
        "Goal",
        "What the user asked for",
        _rules,
    ),
    _Topic(r"\bfiles?\b|progress|completed|\bdone\b", "Done", "Files that are done", _done),
    _Topic(r"decid|decision|lesson|learn|\bwhy\b", "Decisions", "Decisions and lessons", _lessons),
    _Topic(r"\berrors?\b|\bfix(?:es)?\b|solved|problems?", "Errors", "Errors", _errors),
    _Topic(r"\bnext\b|\bopen\b|pending|current", "Next", "Next", _next),
)
