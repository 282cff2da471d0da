r"""Cut a text to a number of tokens, and say what is missing (chapter 05).

    >>> words = "one two three four five six seven eight nine ten"
    >>> count = lambda text: len(text.split())
    >>> head(words, 3, count), tail(words, 2, count)
    ('one two three ', ' nine ten')
    >>> shorten("start " + "middle " * 100 + "end", 12, count)
    'start middle \n[… 98 of 102 tokens left out …]\n middle end'

A cut never parts what a reader sees as one character: no half of a surrogate pair, no emoji without its skin tone, no
letter without its accent. The end of a text is kept as well as its beginning: exit codes, totals and error messages
stand at the end.

What this leaves out on purpose: what a text means. A cut in the middle of a table is a cut in the middle of a table.
Source: chapter 05; keeping head and tail is what three articles on context management describe (2026).
"""

import unicodedata
from collections.abc import Callable, Iterable

from course_lib.errors import SettingsError
from course_lib.tokens import TokenCounter

__all__ = ["fill_level", "head", "shorten", "snip_middle", "tail"]

_USUAL_CHARS_PER_TOKEN = 4
_LEAST_SNIPPED_CHARS = 200
_MOST_IN_A_CHARACTER = 64  # more marks than this on one letter are no character that anybody reads: there a cut may go
_JOINS_CONSONANTS = 9  # the combining class of the sign that ties two Indian letters into one
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))  # two of them are one flag


def head(text: str, max_tokens: int, count: TokenCounter) -> str:
    """Return the longest beginning of the text that has at most `max_tokens`, as `count` counts them."""
    return text[: _whole(text, _longest(len(text), max_tokens, lambda size: count(text[: _whole(text, size)])))]


def tail(text: str, max_tokens: int, count: TokenCounter) -> str:
    """Return the longest end of the text that has at most `max_tokens`, as `count` counts them."""

    def start(size: int) -> int:
        return _whole(text, len(text) - size, up=True)

    return text[start(_longest(len(text), max_tokens, lambda size: count(text[start(size) :]))) :]


def shorten(text: str, max_tokens: int, count: TokenCounter, *, head_share: float = 0.5) -> str:
    """Return the text with its middle left out, so that notice and all have at most `max_tokens`.

    Where there is no room for the notice, a mark at the end says at least that something is missing.

    Args:
        text: a text that fits is returned as it is.
        max_tokens: of the result.
        count: tokens of a text.
        head_share: which part of the room is for the beginning, 0 to 1.

    Raises:
        SettingsError: `max_tokens` below 0, or a share outside of 0 to 1.
    """
    if max_tokens < 0 or not 0 <= head_share <= 1:
        raise SettingsError(f"max_tokens {max_tokens}, head_share {head_share}: expected 0 or more, and 0 to 1")
    total = count(text)
    if total <= max_tokens:
        return text
    room = max_tokens - count(_notice(total, total))
    while room > 0:
        first = head(text, int(room * head_share), count)
        last = tail(text[len(first) :], room - int(room * head_share), count)
        gone = total - count(first) - count(last)
        cut = f"{first}{_notice(gone, total)}{last}"
        over = count(cut) - max_tokens
        if over <= 0:
            return cut
        room -= over  # two halves and a notice may have a token or two more together
    return _ended(text, max_tokens, count)


def _notice(gone_tokens: int, total_tokens: int) -> str:
    return f"\n[… {gone_tokens:,} of {total_tokens:,} tokens left out …]\n"


def _ended(text: str, max_tokens: int, count: TokenCounter) -> str:
    for room in range(max_tokens, -1, -1):
        cut = head(text, room, count) + "…"
        if count(cut) <= max_tokens:
            return cut
    return ""


def fill_level(sizes: Iterable[int], budget: int) -> int:
    """Return how large each of several things may be at most, so that together they keep to the budget.

    Only what is larger has to be cut, so the small ones stay whole.

    >>> fill_level([10, 20, 500, 900], 330)
    150
    """
    left, ordered = budget, sorted(sizes)
    for place, size in enumerate(ordered):
        share = left // (len(ordered) - place)
        if size > share:
            return share
        left -= size
    return ordered[-1] if ordered else 0


def snip_middle(text: str, max_chars: int) -> str:
    """Return the text with the first half and the last quarter of `max_chars`, and a mark between that says how much.

    This is the form of the two-layer pipeline (chapter 06), which counts characters. With the mark, the result has at
    most `max_chars`.

    Raises:
        SettingsError: `max_chars` is so small that the mark does not fit into the quarter that is left.
    """
    if max_chars < _LEAST_SNIPPED_CHARS:
        raise SettingsError(f"max_chars is {max_chars}: expected at least {_LEAST_SNIPPED_CHARS}")
    if len(text) <= max_chars:
        return text
    first, last = _whole(text, max_chars // 2), _whole(text, len(text) - max_chars // 4, up=True)
    return f"{text[:first]}\n[… {last - first:,} characters snipped …]\n{text[last:]}"


def _longest(length: int, max_tokens: int, tokens_at: Callable[[int], int]) -> int:
    """The largest size from 0 to `length` at which there are at most `max_tokens`; counts short pieces first."""
    low, high = 0, min(length, max(1, max_tokens * _USUAL_CHARS_PER_TOKEN))
    while high < length and tokens_at(high) <= max_tokens:
        low, high = high, min(length, high * 2)
    if tokens_at(high) <= max_tokens:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if tokens_at(middle) <= max_tokens else (low, middle)
    return low


def _whole(text: str, index: int, *, up: bool = False) -> int:
    """The nearest index that parts no character, downwards or upwards; the index itself in an endless heap of marks."""
    step = 1 if up else -1
    for near in range(index, index + step * _MOST_IN_A_CHARACTER, step):
        if not 0 < near < len(text) or not _is_inside(text, near):
            return near
    return index


def _is_inside(text: str, index: int) -> bool:
    """Whether what stands at the index belongs to the character before it."""
    before, here = text[index - 1], text[index]
    if here < "\u0300":
        return before + here == "\r\n"
    return (
        "\u200d" in (before, here)  # joins two emoji into one
        or unicodedata.category(here).startswith("M")  # accents, vowel signs, variation selectors
        or unicodedata.combining(before) == _JOINS_CONSONANTS
        or "\u1160" <= here <= "\u11ff"  # the later letters of a Korean syllable that is spelled out
        or "\U0001f3fb" <= here <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= here <= "\U000e007f"  # which region's flag
        or here in "\u200c\u0e33\u0eb3\uff9e\uff9f"  # marks of other kinds: Thai, Lao, half-width Japanese
        or (here in _FLAG_LETTERS and _flag_letters_before(text, index) % 2 == 1)
        or ("\ud800" <= before <= "\udbff" and "\udc00" <= here <= "\udfff")  # two halves, as JSON may bring them
    )


def _flag_letters_before(text: str, index: int) -> int:
    return index - len(text[:index].rstrip(_FLAG_LETTERS))
