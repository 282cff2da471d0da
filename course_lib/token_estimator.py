"""Estimating tokens by what a text is made of, with no vocabulary (chapter 03).

A tokenizer first cuts a text into pieces: a word with the blank before it, up to three digits, a run of signs, a run of
blanks. Then it looks each piece up. The cutting is a regular expression and can be imitated with `re`; the looking up
needs a vocabulary of megabytes, and is replaced by two constants for each class of pieces, `tokens = per_piece +
per_char * characters`, fitted once to texts of known length.

    >>> [(kind, piece) for kind, piece in text_pieces("read 1,200 files")]
    [('word', 'read'), ('blank', ' '), ('number', '1'), ('sign', ','), ('number', '200'), ('word', ' files')]
    >>> estimate_tokens("read 1,200 files")
    6

So each kind of text gets its own number of characters a token, without anybody saying which kind it is.
`AdaptiveCounter` estimates as long as a request is small, and counts exactly where it matters.

What this leaves out on purpose: speed. With a vocabulary at hand tiktoken is exact, and faster than Python's `re`.
Source: chapter 03; the cutting follows the published pattern of o200k_base, "exact only near the threshold" an article
on context management (2026). The constants are fitted by `tests/fit_token_estimator.py`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from course_lib.errors import SettingsError
from course_lib.messages import Message, ToolSpec
from course_lib.tokens import MessageCounter

__all__ = [
    "EXACT_FROM",
    "TEXT_CLASSES",
    "AdaptiveCount",
    "AdaptiveCounter",
    "TextClass",
    "estimate_tokens",
    "text_pieces",
]

EXACT_FROM = 0.7  # share of the threshold from which a request is counted exactly


@dataclass(frozen=True)
class TextClass:
    """Pieces of one kind: what they look like, and tokens = per_piece + per_char * characters."""

    name: str
    pattern: str
    per_piece: float
    per_char: float = 0.0


_SIGN = r"!-/:-@\[-`{-~"  # what is neither a letter, a digit nor a blank in ASCII
_UPPER, _LOWER = "A-ZÀ-ÖØ-Þ", "a-zß-öø-ÿ"
_WORD = rf"(?:[{_UPPER}]?[{_LOWER}]++|[{_UPPER}]++(?![{_LOWER}]))"
_MARKS = r"\u0300-\u036f\u064b-\u065f\u0900-\u0dff\u0e00-\u0eff"  # vowel signs, which are no letters by themselves

# The first class that fits takes its piece. `++` never gives back what it took, so that no text takes long.
TEXT_CLASSES = (
    TextClass("random", r"[A-Za-z0-9+/]{16,}+=*", 0, 0.68),  # only if it looks so, see `_looks_random`
    TextClass("number", r"[0-9]{1,3}", 1),
    TextClass("long word", rf"[ \t]?(?:[{_UPPER}]?[{_LOWER}]{{10,}}+|[{_UPPER}]{{10,}}+(?![{_LOWER}]))", 0.6, 0.07),
    TextClass("word", rf"[ \t]?{_WORD}", 0.95, 0.02),
    TextClass("name part", rf"[_.(/\-'\"`@#$<\[{{]{_WORD}", 0.9, 0.07),
    TextClass("field", rf"[{_SIGN}]{_WORD}", 1.6, 0.07),
    TextClass("mixed", rf"[ \t{_SIGN}]?[{_UPPER}]++[{_LOWER}]++", 0.5, 0.3),
    TextClass("line end", r"\s*[\r\n]+", 1, 0.01),
    TextClass("gap", r"\s+(?!\S)", 1, 0.01),
    TextClass("han", rf"[ {_SIGN}]?[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]++", 0.2, 0.78),
    TextClass("kana", rf"[ {_SIGN}]?[\u3040-\u30ff]++", 0.15, 0.62),
    TextClass("hangul", rf"[ {_SIGN}]?[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]++", 0.32, 0.47),
    TextClass("other script", rf"[ {_SIGN}]?(?:[^\W\d_]|[{_MARKS}])++", 0.3, 0.3),
    TextClass("sign", rf"[ ]?[{_SIGN}]++[\r\n]*+", 1, 0.01),
    TextClass("blank", r"\s", 1),
    TextClass("wide sign", r"[\u2000-\u206f\u3000-\u303f\uff00-\uffef]", 1),
    TextClass("line drawing", r"[ ]?[\u2500-\u259f]++", 1, 0.05),
    TextClass("symbol", r".", 1.6),  # emoji, and whatever else there is
)


def _compiled(classes: Sequence[TextClass]) -> re.Pattern[str]:
    return re.compile("|".join(f"({one.pattern})" for one in classes), re.DOTALL)


_PIECE, _PLAIN_PIECE = _compiled(TEXT_CLASSES), _compiled(TEXT_CLASSES[1:])
_CHANGE = re.compile(r"(?<=[a-z])[^a-z]|(?<=[A-Z])[^A-Z]|(?<=[0-9])[^0-9]|(?<=[+/])[^+/]")


def _looks_random(run: str) -> bool:
    """Whether small letters, capitals and digits alternate as in base64, and not as in a path or a name."""
    start = run[:64]
    has_both_cases = start != start.lower() and start != start.upper()
    return has_both_cases and len(_CHANGE.findall(start)) >= 0.5 * len(start)


def _matches(text: str) -> Iterator[tuple[TextClass, re.Match[str]]]:
    for match in _PIECE.finditer(text):
        number = (match.lastindex or 1) - 1
        if number == 0 and not _looks_random(match[0]):
            for part in _PLAIN_PIECE.finditer(text, match.start(), match.end()):
                yield TEXT_CLASSES[part.lastindex or 1], part
        else:
            yield TEXT_CLASSES[number], match


def text_pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield (name of the class, piece) for each piece of the text; the pieces put together are the text."""
    for one, match in _matches(text):
        yield one.name, match[0]


def estimate_tokens(text: str) -> int:
    """Return about how many tokens the text has, at least one if there is any; a `TokenCounter` like any other."""
    tokens = sum(one.per_piece + one.per_char * (match.end() - match.start()) for one, match in _matches(text))
    return max(1, round(tokens)) if text else 0


@dataclass(frozen=True)
class AdaptiveCount:
    """Tokens of a request, and whether they were counted exactly."""

    tokens: int
    is_exact: bool


class AdaptiveCounter:
    """Estimates requests that are far below a threshold, and counts the others exactly.

    Safe only with an estimate that is never too low by more than 1 - `exact_from`: an estimate that says 0.69 of the
    threshold where 1.1 is the truth is never looked at again.

    Args:
        estimate: quick, and wrong.
        exact: slow, and right.
        threshold_tokens: where a wrong count would be a wrong decision.
        exact_from: share of the threshold from which the exact counter is asked.
    """

    def __init__(
        self,
        estimate: MessageCounter,
        exact: MessageCounter,
        *,
        threshold_tokens: int,
        exact_from: float = EXACT_FROM,
    ) -> None:
        if threshold_tokens <= 0 or not 0 <= exact_from <= 1:
            raise SettingsError(
                f"threshold_tokens is {threshold_tokens} and exact_from {exact_from}: "
                "expected a number above 0 and a share from 0 to 1"
            )
        self.estimate, self.exact = estimate, exact
        self.threshold_tokens, self.exact_from = threshold_tokens, exact_from

    def request(
        self, messages: Iterable[Message], *, system: str = "", tools: Sequence[ToolSpec] = ()
    ) -> AdaptiveCount:
        """Return the tokens of a request, exactly if the estimate comes near the threshold."""
        messages = tuple(messages)
        estimated = self.estimate.request(messages, system=system, tools=tools)
        if estimated < self.exact_from * self.threshold_tokens:
            return AdaptiveCount(estimated, is_exact=False)
        return AdaptiveCount(self.exact.request(messages, system=system, tools=tools), is_exact=True)
