"""What a name says: the type of a value, and words for a docstring.

The sample project's house rule is that naming decides the type (its CONTRIBUTING.md has the table), so the offline
model can infer hints and plain sentences from names alone.

    >>> type_of_name("weights_kg", {}), type_of_name("rate_cents_by_zone", {}), type_of_name("is_final", {})
    ('list[float]', 'dict[str, int]', 'bool')
    >>> phrase("chargeable_weight_kg"), sentence("find_parcels", ["city"])
    ('chargeable weight', 'Find the parcels.')

What this leaves out on purpose: English. The sentences are plain and sometimes stiff.
"""

import re
from collections.abc import Mapping, Sequence

__all__ = ["class_name_words", "phrase", "sentence", "type_of_name"]

FLOAT_SUFFIXES = ("kg", "cm", "km", "m3", "kmh", "ratio", "percent", "hours", "exact")
INT_SUFFIXES = ("cents", "count", "days", "minutes", "index", "year")
STR_SUFFIXES = (
    *("id", "name", "code", "text", "city", "country", "status", "label", "key", "line", "zone"),
    *("carrier", "currency", "message"),
)
UNITS = {
    "kg": "in kilograms",
    "cm": "in centimetres",
    "km": "in kilometres",
    "m3": "in cubic metres",
    "kmh": "in kilometres an hour",
    "cents": "in cents",
    "hours": "in hours",
    "days": "in days",
    "minutes": "in minutes",
    "percent": "in percent",
}
VERBS = (
    *("add", "apply", "assign", "build", "check", "clear", "close", "collect", "convert", "count", "drop", "fill"),
    *("find", "format", "join", "load", "lock", "make", "mark", "merge", "move", "normalise", "open", "pack", "parse"),
    *(
        "pick",
        "print",
        "raise",
        "read",
        "record",
        "register",
        "release",
        "remove",
        "render",
        "reserve",
        "reset",
        "save",
    ),
    *("send", "set", "shift", "sort", "split", "store", "strip", "take", "unlock", "update", "validate", "write"),
)
QUESTIONS = ("is", "has", "needs", "can")


def type_of_name(name: str, classes: Mapping[str, str]) -> str:
    """Return the type that the house's naming rules give to a name; `object` when they say nothing."""
    words = name.lower().strip("_").split("_")
    if words[0] in ("is", "has", "needs", "can"):
        return "bool"
    if "by" in words[1:]:
        return f"dict[str, {type_of_name('_'.join(words[: words.index('by', 1)]), classes)}]"
    for start in range(len(words)):
        tail = "_".join(words[start:])
        if tail in classes:
            return classes[tail]
        if _singular(tail) in classes:
            return f"list[{classes[_singular(tail)]}]"
    return _scalar_type(words)


def _scalar_type(words: Sequence[str]) -> str:
    last = words[-1]
    kinds = ((FLOAT_SUFFIXES, "float"), (INT_SUFFIXES, "int"), (STR_SUFFIXES, "str"))
    for suffixes, kind in kinds:
        if last in suffixes:
            is_plural = len(words) > 1 and last in (*FLOAT_SUFFIXES, *INT_SUFFIXES) and _is_plural(words[-2])
            return f"list[{kind}]" if is_plural else kind
        if _singular(last) in suffixes:
            return f"list[{kind}]"
    return "object"


def _is_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith("ss")


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "uses", "ches")):
        return word[:-2]
    return word.removesuffix("s")


def class_name_words(name: str) -> str:
    """Return the words of a class name in lower case ("TimeWindow" gives "time window")."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", name).lower()


def phrase(name: str) -> str:
    """Return the words of a name without its unit, its question word and what follows "by"."""
    words = name.lower().strip("_").split("_")
    words = words[: words.index("by", 1)] if "by" in words[1:] else words
    words = words[1:] if words[0] in QUESTIONS and len(words) > 1 else words
    dropped = (*UNITS, "exact", "text")
    return " ".join(words[:-1] if len(words) > 1 and words[-1] in dropped else words)


def sentence(name: str, parameters: Sequence[str]) -> str:
    """Return one imperative sentence on what a function of this name does."""
    words = name.lower().strip("_").split("_")
    if words[0] in QUESTIONS:
        return f"Tell whether it {' '.join(words)}."
    key = f" by {' '.join(words[words.index('by', 1) + 1 :])}" if "by" in words[1:] else ""
    is_verb = words[0] in VERBS
    unit = f" {UNITS[words[-1]]}" if words[-1] in UNITS and len(words) > 1 + is_verb else ""
    if is_verb and len(words) > 1:
        return f"{words[0].capitalize()} the {phrase('_'.join(words[1:]))}{key}{unit}."
    if is_verb:
        return f"{words[0].capitalize()} the {phrase(parameters[0]) if parameters else 'values'}."
    return f"Return the {phrase(name)}{key}{unit}."
