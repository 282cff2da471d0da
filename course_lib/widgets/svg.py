"""A few words of SVG: text that cannot do harm, lines, boxes, and axes that grow in whole steps.

    >>> text(8, 12, "a < b", fill="#222")
    '<text x="8" y="12" fill="#222">a &lt; b</text>'
    >>> [nice_ceiling(n) for n in (0, 7, 12_001, 713_797)]
    [1, 10, 20000, 1000000]

Source: chapter 00.
"""

import re
from typing import Any

__all__ = ["counted", "element", "nice_ceiling", "number", "plain", "shortened", "text"]

# What XML cannot hold (control characters, half a surrogate pair), and what would turn the reading direction around.
_UNSHOWABLE = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff"
_ESCAPES = {"<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;", "'": "&#x27;"}
_HARMFUL = re.compile(f"[<>&\"'{_UNSHOWABLE}]")


def plain(content: str) -> str:
    """Return the content as harmless text for HTML, SVG and attributes: escaped, what cannot be shown as "�"."""
    return _HARMFUL.sub(lambda found: _ESCAPES.get(found[0], "�"), content) if _HARMFUL.search(content) else content


def shortened(content: str, longest: int) -> str:
    """Return the content in one line of at most `longest` characters, the rest of it as "…"; not yet escaped."""
    line = " ".join(content[: 4 * longest].split())
    return line if len(line) <= longest and len(content) <= 4 * longest else line[: longest - 1] + "…"


def counted(tokens: float, *, in_full_below: int = 10_000_000) -> str:
    """Return a number of tokens with thousands marked; a large one in millions, where there is little room.

    >>> counted(713_797), counted(250_000_000), counted(1_234_567, in_full_below=1_000_000)
    ('713,797', '250M', '1.23M')
    """
    if tokens < in_full_below:
        return f"{tokens:,.0f}"
    return f"{tokens / 1_000_000:,.2f}".rstrip("0").rstrip(".") + "M"


def number(value: float) -> str:
    """Return a coordinate with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def element(name: str, content: str = "", **attributes: Any) -> str:
    """Return an element: `_` in attributes' names is `-`, numbers are rounded, texts escaped; content is not."""
    written = "".join(
        f' {key.replace("_", "-")}="{number(value) if isinstance(value, float) else plain(str(value))}"'
        for key, value in attributes.items()
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def text(x: float, y: float, content: str, *, fill: str, **attributes: Any) -> str:
    """Return a text at a place; the content is escaped."""
    return element("text", plain(content), x=x, y=y, fill=fill, **attributes)


def nice_ceiling(value: float) -> int:
    """Return the least of 1, 2, 5, 10, 20, 50, … that is not below the value: an axis that grows rarely."""
    step = 1
    while True:
        for factor in (1, 2, 5):
            if factor * step >= value:
                return factor * step
        step *= 10
