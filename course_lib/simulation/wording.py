"""What plain sentences say: orders, lessons, and what is done or still open.

The offline model reads every text of a request with these functions, whoever wrote it: the user, the model itself, or
a summary in other words. It looks for meaning in a few dozen usual wordings and takes nothing for granted: a rule that
no visible sentence states does not exist.

    >>> forbidden_folders("Never touch anything under vendor/.")
    {'vendor/'}
    >>> forbidden_folders("The vendor/ folder is off limits.")
    {'vendor/'}
    >>> word_rules("Write 'shipment' instead of 'parcel' in all new text.")
    {'parcel': 'shipment'}
    >>> progress("Finished: freight/a.py. Still to do: freight/c.py")
    ({'freight/a.py'}, {'freight/c.py'})
    >>> advice("Commands run without a shell.")
    {'no_shell'}

What this leaves out on purpose: understanding. A wording that is not covered is not understood, which the tests of the
offline model state as a list.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

__all__ = [
    "Advice",
    "Lesson",
    "advice",
    "forbidden_folders",
    "memory_file",
    "progress",
    "rounding_lesson",
    "sentences",
    "states_task",
    "word_rules",
]

# What a text may advise: go on by yourself · there is no shell · read a file before you edit it · look for evidence
# before you choose · do the whole task and check it · read an error before you go on · report at the end.
Advice = Literal["loop", "no_shell", "look_first", "evidence", "whole_task", "read_errors", "report"]

PATH = re.compile(r"\b[\w-]+(?:/[\w-]+)*\.py\b")
_FOLDER = re.compile(r"(?<![\w./-])([\w-]+)/(?![\w])|\bthe ([\w-]+) (?:folder|directory)\b")
_FORBIDS = re.compile(
    r"\b(?:never|not|no|nothing|none|without|avoid|forbid\w*|refrain\w*)\b.*?\b(?:touch|edit|chang|modif|alter|writ)\w*"
    r"|\b(?:keep|stay)\w* (?:away from|out of)\b|n't (?:touch|edit|change|modify|alter|write)\b",
    re.IGNORECASE,
)
_PROTECTS = re.compile(
    r"\b(?:off[- ]limits|untouched|unchanged|read[- ]only|forbidden|alone|as (?:it|they) (?:is|are))\b",
    re.IGNORECASE,
)

_WORD = r"(?:the )?(?:word |term )?[`'\"‘“]?(?P<{0}>[A-Za-z]+)[`'\"’”]?"
_GOOD, _BAD = _WORD.format("good"), _WORD.format("bad")
_INSTEAD = r"(?:,? (?:instead|in place) of|,? rather than|,? over)"
_QUOTED = r"[`'\"‘“](?P<{0}>[A-Za-z]+)[`'\"’”]"
_WORD_RULES = [
    re.compile(
        rf"{_QUOTED.format('good')},? (?:and )?(?:not|never) (?:the word )?{_QUOTED.format('bad')}", re.IGNORECASE
    ),
    re.compile(rf"{_GOOD}(?: (?:is|must be|should be) (?:used|written))?{_INSTEAD} {_BAD}", re.IGNORECASE),
    re.compile(rf"\b(?:instead|in place) of {_BAD},? (?:use|say|write|prefer) {_GOOD}", re.IGNORECASE),
    re.compile(
        rf"\b(?:avoid|replace|never (?:use|say|write)) {_BAD}.*?\b(?:use|say|write|with|by) {_GOOD}", re.IGNORECASE
    ),
    re.compile(rf"{_BAD} (?:is|must be|should be|becomes)(?: replaced (?:by|with))? {_GOOD}", re.IGNORECASE),
]
_ORDER = re.compile(r"\b(?:use|say|write|word|term|wording|call|prefer|replace|avoid)", re.IGNORECASE)

_DONE = re.compile(
    r"\b(?:done|finished|completed?|processed|documented|annotated|updated|edited|handled|up to standard|ready)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:not (?:yet )?(?:done|finished|complete\w*|documented|annotated|up to standard)|unfinished|incomplete|"
    r"remain\w*|open|left|pending|to[- ]?do|still|next|missing|outstanding|untouched|without docstrings?)\b",
    re.IGNORECASE,
)
_TASK = re.compile(
    r"up to standard|type hints and|docstrings? (?:and|for|to|in)|(?:add|adding|write|writing) docstrings?", re.I
)
_HELPER = re.compile(r"\b(?P<helper>\w*half_up\w*)\b(?:\(\))?")
_MODULE = re.compile(r"\b(?P<module>freight(?:[./](?!py\b|\w*half_up)\w+)+)")

_WHOLE = r"until (?:the|your) (?:task|work|job) is (?:done|complete\w*|finished)"
_ADVICE: tuple[tuple[Advice, str], ...] = (
    ("loop", rf"\bin a loop\b|\b(?:keep (?:going|working)|go on|go ahead|carry on)\b|\b{_WHOLE}\b"),
    ("no_shell", r"\b(?:without a|no) shell\b|\bonly program\b|\bnot allowed: start the command with\b"),
    ("look_first", r"\b(?:look|read|open|inspect)\b.*\bbefore (?:you )?(?:edit|chang|modify)"),
    ("look_first", r"\bbefore (?:you )?(?:edit|chang|modify)\w*\b.*\b(?:look at|read|open|inspect) (?:it|the file)\b"),
    ("evidence", r"\b(?:look|search) for (?:evidence|examples?)\b|\b(?:not|never) guess\b|n't guess\b"),
    ("whole_task", rf"\b{_WHOLE}\b|\b(?:check|verify|test) (?:the whole|everything)\b|\bleave no(?:ne| part)\b"),
    ("read_errors", r"\bread (?:an|the|every|each) error\b|(?:\bnot|\bnever|n't) repeat a fail(?:ing|ed) call\b"),
    ("report", r"\breport at the end\b|\b(?:at the end|when you are done)\b.*\b(?:report|summari[sz]e|say what)\b"),
)
_MEMORY_FILE = re.compile(r"(?<![\w/.-])[\w-]+(?:/[\w.-]+)*\.md\b")
_LASTING = re.compile(
    r"\b(?:outlast\w*|long-term|later sessions?|next session|lessons? learned|for good)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Lesson:
    """Which helper rounds prices, and the module it is imported from."""

    helper: str
    module: str


def sentences(text: str) -> Iterator[str]:
    """Yield the clauses of a text: cut at line ends, semicolons, full stops before a space, and contrasting words."""
    for line in text.splitlines():
        yield from filter(
            None, (part.strip() for part in re.split(r"(?<=[.!?])\s+|;\s*|,? (?:but|while|whereas) ", line))
        )


def forbidden_folders(text: str) -> set[str]:
    """Return the folders that a sentence of the text puts off limits, each with a slash at its end."""
    found: set[str] = set()
    for sentence in sentences(text):
        names = [(match.start(), match[1] or match[2]) for match in _FOLDER.finditer(sentence)]
        order = _FORBIDS.search(sentence)
        if order:  # "without touching a/, as in b/": what follows the order counts, if anything does
            found.update(name + "/" for at, name in names if at > order.start() or names[-1][0] < order.start())
        elif _PROTECTS.search(sentence):
            found.update(name + "/" for _, name in names)
    return found


def word_rules(text: str) -> dict[str, str]:
    """Return which word to write for which, as a sentence of the text orders it: avoided word to wanted word."""
    rules = {}
    for sentence in re.split(r"(?<=[.!?])\s+|\n", text):
        if not _ORDER.search(sentence):
            continue
        matches = (pattern.search(sentence) for pattern in _WORD_RULES)
        match = next(filter(None, matches), None)
        if match:
            rules[match["bad"].lower()] = match["good"].lower()
    return rules


def rounding_lesson(text: str) -> Lesson | None:
    """Return the lesson on rounding that a sentence of the text states: a half-up helper, and where it comes from."""
    for sentence in sentences(text):
        helper, module = _HELPER.search(sentence), _MODULE.search(sentence)
        if helper and module and re.search(r"round|cent|price", sentence, re.IGNORECASE):
            return Lesson(helper["helper"], module["module"].replace("/", "."))
    return None


def advice(text: str) -> set[Advice]:
    """Return what the text advises on how to work, as far as its wordings are known."""
    said = list(sentences(text))
    return {name for name, pattern in _ADVICE if any(re.search(pattern, sentence, re.IGNORECASE) for sentence in said)}


def memory_file(text: str) -> str:
    """Return the Markdown file in which, as a sentence of the text says, lasting lessons are kept; or ""."""
    for sentence in sentences(text):
        file = _MEMORY_FILE.search(sentence)
        if file and _LASTING.search(sentence):
            return file[0]
    return ""


def states_task(text: str) -> bool:
    """Return whether the text says that modules are to get hints and docstrings."""
    return bool(_TASK.search(text))


def progress(text: str) -> tuple[set[str], set[str]]:
    """Return the paths that the text calls done and those that it calls open.

    A heading or a line that ends in a colon governs the lines below it, down to the next heading or empty line.
    """
    done: set[str] = set()
    still_open: set[str] = set()
    governing: set[str] | None = None
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            governing = None
        for clause in sentences(line):
            paths = set(PATH.findall(clause))
            target = still_open if _OPEN.search(clause) else done if _DONE.search(clause) else None
            if target is not None and not paths:
                governing = target if clause.endswith(":") or line.lstrip().startswith("#") else governing
            if target is not None:
                target |= paths
                governing = target if line.rstrip().endswith((":", ",")) else governing
            elif governing is not None:
                governing |= paths
    return done - still_open, still_open
