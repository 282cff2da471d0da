r"""Sentences in a system prompt that belong in code, and why (chapter 02).

The rule of division: what is deterministic and can be checked belongs in code; what needs judgement or summarising
belongs in the prompt; what must never happen belongs in code (and may be *explained* in the prompt). Four kinds of
sentence are on the wrong side:

    count          how often something may be done: retries, turns, calls. A loop counts, a model guesses.
    hard_limit     sizes, times, amounts. The tool that reads the file can measure it.
    strict_order   steps that must come in one order, always. A function calls them in that order.
    outside_state  facts that change while the prompt does not. They are wrong the day after.

    >>> finding = lint_text("Be kind.\nRetry a failed command at most three times.", section="recovery")[0]
    >>> finding.kind, finding.sentence
    ('count', 'Retry a failed command at most three times.')

`measure_linter` says how well this works on labelled sentences that it was not written on.

What this leaves out on purpose: understanding. It looks for usual wordings, in English; a finding is a question to the
author, not a verdict.
Source: chapter 02; the rule of division is that of an article on a small Python agent (2026).
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from course_lib.errors import SettingsError
from course_lib.system_prompt import SystemPrompt

__all__ = [
    "KINDS",
    "Finding",
    "Kind",
    "LabelledSentence",
    "Score",
    "labelled_sentences",
    "lint",
    "lint_text",
    "measure_linter",
]

Kind = Literal["count", "hard_limit", "strict_order", "outside_state"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_REASONS: dict[Kind, str] = {
    "count": "a model loses count of its steps, a loop does not: count in code, and say in the prompt what then",
    "hard_limit": "code can measure it and refuse: let the tool enforce the limit and name it in its error",
    "strict_order": "what must always come in one order is a function that calls the steps, or a tool that refuses",
    "outside_state": "it changes while the prompt does not: look it up at the start (a dynamic part), or give a tool",
}

_WORDS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|fifty|a hundred"
_NUMBER = rf"(?:\d[\d.,]*|{_WORDS})"
_ORDINAL = r"(?:second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d+(?:nd|rd|th))"
_AT_MOST = (
    r"(?:at (?:the )?most|no more than|not more than|more than|up to|max(?:imum|imal)?(?: of)?|only|limit(?:ed|s)?)"
)
_COUNTED = (
    r"(?:times|attempts?|tries|retries|re-?runs?|turns?|rounds?|iterations?|steps?|loops?|calls?|requests?|questions?"
    r"|edits?|(?:sub-?)?agents?|commands?|files?|searches|messages?)"
)
_UNIT = (
    r"(?:[KMGT]i?B|(?:kilo|mega|giga)?bytes?|char(?:acter)?s?|tokens?|lines?|rows?|words?|pixels?|ms|s|sec(?:ond)?s?"
    r"|min(?:ute)?s?|hours?|days?|dollars?|euros?|cents?|[KM])\b"
)
_BOUND = (
    r"\b(?:at (?:the )?most|no more|not more|more than|less than|fewer than|(?:larg|long|small|bigg|short|great)er than"
    r"|under|below|above|over|beyond|within|exceed\w*|limit\w*|max\w*|up to|time[- ]?outs?|timed? out|wait|stop|cut"
    r"|until|after)\b"
)
_STRICT = r"(?:must|always|never|every|under no circumstances|without exception|strictly|immediately|not any|mandatory)"
_NOW = (
    r"\b(?:today|yesterday|tonight|tomorrow|last (?:night|week|month)|this (?:morning|week|month|afternoon)|right now"
    r"|currently|at (?:the|this) moment|at present|as of|just now|o'clock)\b"
)
_STATES = (
    r"(?:down|up|green|red|empty|full|running|online|offline|open|on holiday|on leave|logged in|available|blocked"
    r"|broken|in use|waiting|pending|unavailable|locked|finished|failing)"
)
_GENERAL = r"\b(?:if|when|whenever|whether|what|which|who|where|once|unless|means?|usually|often|may|can|should)\b"

_RULES: tuple[tuple[Kind, str], ...] = (
    ("count", rf"\b{_AT_MOST} {_NUMBER}(?: [\w-]+){{0,2}} {_COUNTED}\b"),
    (
        "count",
        rf"\b(?:after|every|each|have|get|has|limit\w* \w+ to|budget of|stop at) {_NUMBER}(?: [\w-]+)? {_COUNTED}\b",
    ),
    ("count", rf"\b(?:after|every|each) (?:the |other )?{_ORDINAL} (?:[\w-]+ )?{_COUNTED}\b"),
    ("count", rf"\b(?:fail\w*|try|tries|retry|repeat\w*|again|give up|stop)\b.*\b(?:once|twice|{_NUMBER} times)\b"),
    ("count", rf"\b(?:try|retry|repeat)\b.*\b(?:once|twice)\b|\bmore than (?:once|twice)\b|\bonce every {_NUMBER}\b"),
    ("count", rf"\b(?:retries|attempts|tries|turns|rounds|iterations|max\w*)\s*[:=]\s*{_NUMBER}"),
    ("hard_limit", rf"{_BOUND}.*?(?<![\w.]){_NUMBER} ?{_UNIT}"),
    ("hard_limit", rf"(?<![\w.]){_NUMBER} ?{_UNIT}.*?\b(?:at (?:the )?most|or less|or fewer|max\w*|limit|stop)\b"),
    ("hard_limit", rf"{_BOUND}.*?[$€£] ?\d"),
    ("strict_order", r"\bstep \d+\b|(?:^|\s)1[.)] .+\s2[.)] "),
    (
        "strict_order",
        r"\bin (?:exactly |precisely )?(?:this|that|the following|the given) order\b|\bin order\s*:|\bin sequence\b",
    ),
    ("strict_order", r"\bone after (?:another|the other)\b.*\bfrom\b|\bfollowed by\b"),
    (
        "strict_order",
        r"(?:^|[,;:] )(?:first|begin|start)\b.*[,;] (?:and )?(?:(?:only )?then|next|second|finally|last\w*)\b",
    ),
    ("strict_order", r"\b(?:run|call|always)\b.*, (?:and )?(?:only )?then\b"),
    ("strict_order", rf"\b{_STRICT}\b.*\b(?:(?:right |directly |immediately )?(?:before|after)|preceded|followed)\b"),
    ("strict_order", r"\bonly (?:after|then)\b|\b(?:before|after) (?:every|each|any)\b"),
    ("strict_order", r"\b(?:first|last|next)\b(?: \w+){0,5} must be\b|\bmust be (?:the )?(?:first|last)\b"),
    ("outside_state", _NOW),
    ("outside_state", rf"^(?!.*{_GENERAL}).*\b(?:is|are) (?:still |already |now |\d+ ?% )?{_STATES}\b"),
    ("outside_state", rf"\bthere (?:is|are) {_NUMBER} (?:open|pending|new|unread|failing|running|waiting)\b"),
    ("outside_state", rf"\b(?:rate|balance|price|stock|temperature|load|total)\b.* (?:is|are) {_NUMBER}"),
    ("outside_state", r"^(?!.*\b(?:is|are) (?:the|a) )the (?:current|latest) [\w-]+ (?:is|are) "),
)
_COMPILED = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _RULES)
_MAX_SENTENCE_CHARS = 600  # of one that are looked at: the time that the patterns take grows with the square
_MARKER = re.compile(r"^\s*(?:[-*+•]\s+|#{1,6}\s+)?")
# A full stop ends a sentence, but not that of "1." or "e.g.": a numbered list on one line stays together.
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!\b\d\.)(?<!\be\.g\.)(?<!\bi\.e\.)\s+(?=[A-Z\"'`(])")


@dataclass(frozen=True)
class Finding:
    """A sentence that looks as if it belonged in code."""

    section: str
    sentence: str
    kind: Kind
    reason: str

    def __str__(self) -> str:
        where = f"[{self.section}] " if self.section else ""
        return f"{where}{self.kind}: {self.sentence!r}\n    {self.reason}"


def lint(prompt: SystemPrompt) -> tuple[Finding, ...]:
    """Return what the linter finds in the stable sections; the dynamic ones are facts that code has looked up."""
    return tuple(
        finding
        for section in prompt.sections
        if section.is_stable
        for finding in lint_text(section.text, section=section.name)
    )


def lint_text(text: str, *, section: str = "") -> tuple[Finding, ...]:
    """Return what the linter finds in a text, in its order; a sentence may be of more than one kind."""
    found = []
    for sentence in _sentences(text):
        start = sentence[:_MAX_SENTENCE_CHARS]
        kinds = dict.fromkeys(kind for kind, pattern in _COMPILED if pattern.search(start))
        found += [Finding(section, sentence, kind, _REASONS[kind]) for kind in kinds]
    return tuple(found)


def _sentences(text: str) -> Iterator[str]:
    """The sentences; a line end ends one, as list items often have no full stop."""
    for line in text.splitlines():
        clean = _MARKER.sub("", line).strip()
        # a list of numbered steps on one line is one order, not four sentences
        parts = [clean] if re.search(r"\bstep 1\b.*\bstep 2\b", clean, re.I) else _SENTENCE_END.split(clean)
        yield from filter(None, parts)


@dataclass(frozen=True)
class LabelledSentence:
    """A sentence with what a person thinks of it: one of the kinds, or "fine"."""

    text: str
    label: str
    split: Literal["tuning", "held_out"]


@dataclass(frozen=True)
class Score:
    """How well one kind is found: of what was found, and of what was there."""

    found_rightly: int
    found_wrongly: int
    missed: int

    @property
    def precision(self) -> float:
        """The share of the findings that are right; 1.0 without findings."""
        found = self.found_rightly + self.found_wrongly
        return self.found_rightly / found if found else 1.0

    @property
    def recall(self) -> float:
        """The share of the sentences of this kind that were found; 1.0 when there are none."""
        there = self.found_rightly + self.missed
        return self.found_rightly / there if there else 1.0


def labelled_sentences(split: str, path: Path | None = None) -> tuple[LabelledSentence, ...]:
    """Return the labelled sentences of "tuning" or "held_out"; a seeded shuffle split them before a rule was written.

    Raises:
        SettingsError: another split, or a file that cannot be read or has a line that is no labelled sentence.
    """
    if split not in ("tuning", "held_out"):
        raise SettingsError(f"split {split!r}: expected 'tuning' or 'held_out'")
    path = path or Path(__file__).parent / "data" / "prompt_sentences.jsonl"
    rows, number = [], 0
    try:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):  # noqa: B007
            rows.append(LabelledSentence(**json.loads(line)))
            if rows[-1].label not in (*KINDS, "fine"):
                raise ValueError(f"label {rows[-1].label!r}")
    except OSError as error:
        raise SettingsError(f"{path.name} cannot be read ({error.strerror}): give the path of a JSONL file") from None
    except (TypeError, ValueError) as error:
        raise SettingsError(f"{path.name}, line {number}: no labelled sentence ({error})") from None
    return tuple(row for row in rows if row.split == split)


def measure_linter(sentences: Sequence[LabelledSentence]) -> dict[str, Score]:
    """Return the score of each kind, and under "all" that of every kind together."""
    kinds_found = [{finding.kind for finding in lint_text(sentence.text)} for sentence in sentences]
    scores: dict[str, Score] = {kind: _score(kind, sentences, kinds_found) for kind in KINDS}
    parts = scores.values()
    overall = Score(
        sum(s.found_rightly for s in parts), sum(s.found_wrongly for s in parts), sum(s.missed for s in parts)
    )
    return {**scores, "all": overall}


def _score(kind: Kind, sentences: Iterable[LabelledSentence], kinds_found: Iterable[set[Kind]]) -> Score:
    pairs = [(sentence.label == kind, kind in found) for sentence, found in zip(sentences, kinds_found, strict=True)]
    return Score(pairs.count((True, True)), pairs.count((False, True)), pairs.count((True, False)))
