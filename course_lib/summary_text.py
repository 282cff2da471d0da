r"""What a summary is asked for, and a parser that lets no bad one pass (chapter 07).

The prompt has two stages. In `<analysis>` the model may think aloud; in `<summary>` it writes what stays, under nine
headings. `read_summary` takes the second part only, and raises `SummaryError` for everything that is no summary: the
history it would have replaced is worth more than a bad one.

    >>> read_summary("<analysis>Much happened.</analysis><summary>## Goal\nGreen tests in freight/.</summary>")
    '## Goal\nGreen tests in freight/.'
    >>> read_summary("<summary>## Goal\n## State\n- none</summary>")
    Traceback (most recent call last):
        ...
    course_lib.errors.SummaryError: the summary has headings and nothing under them: the history stays as it was

What this leaves out on purpose: whether a summary is true. No parser can tell (chapter 13 measures what it keeps).
Source: chapter 07; two stages and nine sections are those of published course notes on Claude Code (2026), the faults
those of the field guide.
"""

import re
from typing import Literal

from course_lib.client import Response
from course_lib.errors import SummaryError
from course_lib.messages import message_text, tool_uses

__all__ = ["SECTIONS", "SUMMARY_INSTRUCTIONS", "SummaryFault", "fault", "read_response", "read_summary"]

# Heading, and what belongs under it.
SECTIONS: tuple[tuple[str, str], ...] = (
    ("Goal", "what the user asked for first, and every rule they gave, word for word"),
    ("Done", "which steps and which files are finished; say 'unverified' of what nobody has checked"),
    ("State", "how things stand right now: tests, builds, what is half done"),
    ("Open", "what was asked for and is not done yet"),
    ("Decisions", "what was decided or learned, and why"),
    ("Paths", "files, functions and commands that matter, spelled exactly"),
    ("Errors", "what went wrong, and what cured it"),
    ("Environment", "system, tools, versions, anything unusual about them"),
    ("Next", "the very next step"),
)

SUMMARY_INSTRUCTIONS = (
    "Your task now is to summarise the conversation, for the one who will carry the work on and sees nothing else of "
    "it. Call no tool.\n"
    "First, inside <analysis> and </analysis>, go through it from beginning to end and note what must not be lost. "
    "This part is thrown away.\n"
    "Then, inside <summary> and </summary>, write the summary under these headings; leave out a heading that has "
    "nothing under it:\n" + "\n".join(f"## {heading}\n({meaning})" for heading, meaning in SECTIONS) + "\n"
    "If an earlier summary is given, bring it up to date: keep what still holds, correct what has changed, and do not "
    "grow it. Write nothing outside the two parts."
)

SummaryFault = Literal[
    "no text",  # a tool call, or nothing at all
    "refused",  # the model declined
    "cut off",  # the answer ended before the summary did
    "no tags",  # no <summary>, or one that does not end
    "several summaries",
    "text outside",  # something stands outside of the two parts
    "empty",
    "headings only",  # with nothing under them, or only what the prompt says about them
    "too long",  # longer than what it replaces, or than its cap
]

_SAID: dict[SummaryFault, str] = {
    "no text": "the answer holds no text, but {detail}",
    "refused": "the model refused to summarise",
    "cut off": "the answer was cut off after {detail} characters",
    "no tags": "the answer has no whole <summary>…</summary>: {detail}",
    "several summaries": "the answer has {detail} summaries",
    "text outside": "the answer has text outside of its two parts: {detail}",
    "empty": "the summary is empty",
    "headings only": "the summary has headings and nothing under them",
    "too long": "the summary has {detail}",
}
_FEWEST_BYTES = 9  # of the letters of a summary that says something, a path for example; a Chinese one has three
_MARKS = re.compile(r"^[\W\d_]+|[\W_]+$")  # of a heading, a list, or emphasis
_NOTHING = re.compile(
    r"(?:there (?:is|are|was|were) )?(?:none|nothing|empty|n/?a|nil|tbd|todo|unknown|unspecified"
    r"|not (?:applicable|known)|no (?:errors?|decisions?|files?|changes?|information|data|open \w+|issues?|items?))"
    r"(?: (?:yet|so far|to report|at (?:this|the) (?:time|moment)|applicable|known|recorded|mentioned))*"
    r"|无|沒有|没有|暂无|なし|없음|keine?s?|aucune?|ninguno|нет",
    re.IGNORECASE,
)
_TEMPLATE = {part.casefold() for section in SECTIONS for part in section}


def fault(kind: SummaryFault, detail: object = "") -> SummaryError:
    """Return the error of one kind, in words."""
    return SummaryError(f"{_SAID[kind].format(detail=detail)}: the history stays as it was", fault=kind)


def read_response(response: Response) -> str:
    """Return the summary that a model's response holds.

    Raises:
        SummaryError: the response holds none; its `fault` says what is wrong.
    """
    text = message_text(response.message)
    if response.stop_reason == "refusal":
        raise fault("refused")
    if response.stop_reason in ("max_tokens", "context_window_exceeded"):
        raise fault("cut off", len(text))
    if tool_uses(response.message) or not text.strip():
        names = ", ".join(call.name for call in tool_uses(response.message))
        raise fault("no text", f"a call of {names}" if names else "nothing")
    return read_summary(text)


def read_summary(text: str) -> str:
    """Return what stands between `<summary>` and `</summary>`.

    Raises:
        SummaryError: see `SummaryFault`.
    """
    without_analysis, analyses = re.subn(r"<analysis>.*?</analysis>", "", text, flags=re.DOTALL)
    opened = [match.end() for match in re.finditer(r"<summary>", without_analysis)]
    closed = [match.start() for match in re.finditer(r"</summary>", without_analysis)]
    if len(opened) > 1 or len(closed) > 1:
        raise fault("several summaries", max(len(opened), len(closed)))
    if not opened or not closed or closed[0] < opened[0]:
        raise fault("no tags", repr(text.strip()[:60]))
    summary = without_analysis[opened[0] : closed[0]].strip()
    outside = without_analysis[: opened[0] - len("<summary>")] + without_analysis[closed[0] + len("</summary>") :]
    if outside.strip():
        raise fault("text outside", repr(outside.strip()[:60]))
    if analyses > 1 or re.search(r"</?analysis>", summary):
        raise fault("text outside", "the analysis stands in more than one place, or in the summary")
    if not summary:
        raise fault("empty")
    letters = "".join(filter(str.isalnum, "".join(line for line in summary.splitlines() if _says_something(line))))
    if len(letters.encode("utf-8", "replace")) < _FEWEST_BYTES:
        raise fault("headings only")
    return summary


def _says_something(line: str) -> bool:
    """Whether the line is more than a heading, "none", or a part of the template that we sent ourselves."""
    words = _MARKS.sub("", line)
    heading, _, rest = words.partition(":")
    if rest and heading.strip("*_ ").casefold() in _TEMPLATE:
        words = _MARKS.sub("", rest)
    is_heading = line.lstrip().startswith("#")
    return bool(words) and not (is_heading or words.casefold() in _TEMPLATE or _NOTHING.fullmatch(words))
