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

What this leaves out on purpose: understanding. A wording that is not covered is not understood, which the tests of the
offline model state as a list.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Lesson", "forbidden_folders", "progress", "rounding_lesson", "sentences", "states_task", "word_rules"]

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
