"""A few words of SVG: text that cannot do harm, lines, boxes, and axes that grow in whole steps.

    >>> text(8, 12, "a < b", fill="#222")
    '<text x="8" y="12" fill="#222">a &lt; b</text>'
    >>> [nice_ceiling(n) for n in (0, 7, 12_001, 713_797)]
    [1, 10, 20000, 1000000]
Source: chapter 00.
"""

import html
import re
from typing import Any

__all__ = ["element", "nice_ceiling", "number", "plain", "shortened", "text"]

# What XML cannot hold (control characters, half a surrogate pair), and what would turn the reading direction around.
_UNSHOWABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def plain(content: str) -> str:
    """Return the content as harmless text for HTML, SVG and attributes: escaped, what cannot be shown as "�"."""
    return html.escape(_UNSHOWABLE.sub("�", content))


def shortened(content: str, longest: int) -> str:
    """Return the content in one line of at most `longest` characters, the rest of it as "…"; not yet escaped."""
    line = " ".join(content[: 4 * longest].split())
    return line if len(line) <= longest and len(content) <= 4 * longest else line[: longest - 1] + "…"


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
