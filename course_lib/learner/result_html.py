"""A check's result as HTML for a notebook: light and dark, without colour alone, and to be heard (chapter 00).

Colours are JupyterLab's own variables, which follow its theme; what stands behind the comma is for other places.
Everything that comes from a learner's code is escaped. A heading is a `p` with a role, since a real one would show up
in the notebook's table of contents.

What this leaves out on purpose: scripts and style sheets, which a notebook from elsewhere may not bring along.
Source: chapter 00.
"""

from collections.abc import Sequence
from html import escape

from course_lib.learner.result import CheckedTest, CheckResult, Failure

__all__ = ["as_html"]

_PASSED_COLOR = "var(--jp-success-color1, #388e3c)"
_NOT_YET_COLOR = "var(--jp-warn-color1, #f57c00)"
_MONOSPACE = "font-family: var(--jp-code-font-family, monospace); font-size: var(--jp-code-font-size, 0.9em)"
_CODE = f"{_MONOSPACE}; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; background: transparent"
_NAME = "color: var(--jp-ui-font-color2, inherit); margin: 0; font-weight: normal; float: none; width: auto"
_GRID = "display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.15em 1em; margin: 0.4em 0 0.4em 1.4em"


def as_html(result: CheckResult) -> str:
    """Return the result as one HTML section."""
    color, sign = (_PASSED_COLOR, "✓") if result.passed else (_NOT_YET_COLOR, "✗")
    first = result.first_failure
    parts = [_heading(f"{_sign(sign, color)} {escape(result.headline)}")]
    if result.stopped:
        parts.append(_failure(result.stopped))
    if first and first.failure:
        parts.append(f'<p style="margin: 0.4em 0">{_sign("✗", _NOT_YET_COLOR)} not yet: {escape(first.title)}</p>')
        parts.append(_failure(first.failure))
    parts.append(_others([test for test in result.tests if test is not first]))
    if result.printed and not (first and first.failure and first.failure.printed.strip() == result.printed.strip()):
        parts.append(_folded("What your code printed", f'<pre style="{_CODE}">{escape(result.printed)}</pre>'))
    parts += [_paragraph(_with_code(text)) for text in (result.note, _next_step(result))]
    style = f"border-left: 4px solid {color}; padding: 0.3em 0.8em; color: var(--jp-ui-font-color1, inherit)"
    label = escape(result.headline, quote=True)
    return f'<section role="status" aria-label="{label}" style="{style}">{"".join(parts)}</section>'


def _heading(html: str) -> str:
    return f'<p role="heading" aria-level="4" style="font-weight: bold; margin: 0.2em 0">{html}</p>'


def _sign(sign: str, color: str) -> str:
    return f'<span aria-hidden="true" style="color: {color}; font-weight: bold">{sign}</span>'


def _failure(failure: Failure) -> str:
    rows = [_row(name, text) for name, text in failure.parts()]
    says = f'<p style="margin: 0.4em 0 0.4em 1.4em">{_with_code(failure.says)}</p>' if failure.says else ""
    return says + (f'<dl style="{_GRID}">{"".join(rows)}</dl>' if rows else "")


def _row(name: str, text: str) -> str:
    if name == "where":
        place, colon, line = text.partition(": ")
        value = escape(place + colon) + (f'<code style="overflow-wrap: anywhere">{escape(line)}</code>' if line else "")
    elif name == "likely cause":
        value = _with_code(text)
    else:
        value = f'<pre style="{_CODE}">{escape(text)}</pre>'
    return f'<dt style="{_NAME}; white-space: nowrap">{name}</dt><dd style="margin: 0; width: auto">{value}</dd>'


def _others(tests: Sequence[CheckedTest]) -> str:
    if not tests:
        return ""
    good = sum(test.passed for test in tests)
    counts = [f"{count} {word}" for count, word in ((good, "passed"), (len(tests) - good, "not yet")) if count]
    items = []
    for test in tests:
        sign, color, word = ("✓", _PASSED_COLOR, "passed") if test.passed else ("✗", _NOT_YET_COLOR, "not yet")
        items.append(f'<li style="list-style: none">{_sign(sign, color)} {word}: {escape(test.title)}</li>')
    summary = f"{'All' if good == len(tests) else 'The other'} checks: {', '.join(counts)}"
    return _folded(summary, f'<ul style="margin: 0.2em 0; padding-left: 1.4em">{"".join(items)}</ul>')


def _folded(summary: str, html: str) -> str:
    return (
        f'<details style="margin: 0.3em 0"><summary style="cursor: pointer">{escape(summary)}</summary>{html}</details>'
    )


def _paragraph(html: str) -> str:
    return f'<p style="margin: 0.4em 0 0.2em">{html}</p>' if html else ""


def _next_step(result: CheckResult) -> str:
    what, colon, command = result.next_step().partition(": ")
    return f"{what}{colon}`{command}`" if colon else what


def _with_code(text: str) -> str:
    """Escape a text, and set what stands in backticks as code."""
    pieces = escape(text, quote=False).split("`")
    if len(pieces) % 2 == 0:  # an odd backtick: leave them all as they are
        return "`".join(pieces)
    return "".join(f"<code>{piece}</code>" if i % 2 else piece for i, piece in enumerate(pieces))
