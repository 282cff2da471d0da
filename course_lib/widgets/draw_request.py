"""The request as the model sees it, message by message, with what was changed since the request before.

Only what changed and its neighbours are shown one by one when there are many messages; the others are added up, and the
table says so. All text of tools and models is escaped: whatever it holds, it is shown, never run.
Source: chapter 00.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from course_lib.messages import (
    Block,
    DocumentBlock,
    ImageBlock,
    Message,
    RawBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from course_lib.widgets.changes import CHANGES, Change, What
from course_lib.widgets.frames import Frame
from course_lib.widgets.request_rows import Gap, request_rows
from course_lib.widgets.svg import plain, shortened

__all__ = ["RequestTable", "draw_request", "in_words"]

# A sign beside each word, so that nothing is told by colour.
_SIGNS: dict[What, str] = {"kept": "", "edited": "✎", "summarised": "Σ", "restored": "↺", "new": "+", "dropped": "−"}
_COLORS: dict[What, str] = {
    "kept": "transparent",
    "edited": "#e09200",
    "summarised": "#a85a94",
    "restored": "#00795a",
    "new": "#0072b2",
    "dropped": "#d55e00",
}
_CELL = "padding:1px 8px;text-align:left;vertical-align:top"
_NUMBER = "padding:1px 8px;text-align:right;vertical-align:top;white-space:nowrap"
_STICKY = "white-space:nowrap;position:sticky;top:0;background:var(--jp-layout-color0,#fff)"
# Anchored at its end, where the newest messages are, without a script.
_SCROLLING = "height:236px;overflow:auto;display:flex;flex-direction:column-reverse"
_ONE_LINE = "white-space:nowrap;overflow:hidden;text-overflow:ellipsis"
# Widths as attributes: a notebook that is not trusted is shown without most styles.
_COLUMNS = {"no.": "5%", "since the last": "12%", "message": "15%", "tokens": "8%", "begins": "60%"}
_LONGEST_WORDS = 140


def draw_request(
    frame: Frame | None,
    before: Frame | None,
    tokens: Callable[[Message], int],
    *,
    most_rows: int = 24,
    is_scrolling: bool = True,
) -> str:
    """Return the request as an HTML table.

    Args:
        frame: the request; None for an empty table.
        before: the request before it, if there was one.
        tokens: tokens of a message.
        most_rows: messages shown one by one, at least 4.
        is_scrolling: whether the table keeps its height, scrolled to the newest message.
    """
    if frame is None:
        return '<div style="color:var(--jp-ui-font-color2,#555)">No request yet: press run.</div>'
    rows, counts = request_rows(frame, before, tokens, most_rows)
    parts = frame.composition.tokens_by_part
    fixed = [
        _row("", "", "system prompt", parts["system"], frame.request.system, "kept"),
        _row("", "", f"{len(frame.request.tools)} tool definitions", parts["tools"], _names(frame), "kept"),
    ]
    body = [_gap(row) if isinstance(row, Gap) else _message(row, tokens) for row in rows]
    head = "".join(_heading(name, width) for name, width in _COLUMNS.items())
    scrolling = f' tabindex="0" style="{_SCROLLING}"' if is_scrolling else ""
    table = "border-collapse:collapse;table-layout:fixed;width:100%;margin:0"
    return (
        f'<div style="line-height:1.45;font-size:12px"><div style="font-weight:600">{_caption(frame, counts)}</div>'
        f'<div role="region" aria-label="the request, message by message"{scrolling}><div>'
        f'<table width="100%" style="{table}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join((*fixed, *body))}</tbody></table></div></div></div>"
    )


class RequestTable:
    """A request as it stays in a notebook: the table, and in words how many messages of each sort it has.

    Args:
        frame, before, tokens, most_rows, is_scrolling: as for `draw_request`, but whole where nothing else is said.
    """

    def __init__(
        self,
        frame: Frame | None,
        before: Frame | None,
        tokens: Callable[[Message], int],
        *,
        most_rows: int = 24,
        is_scrolling: bool = False,
    ) -> None:
        self.html = draw_request(frame, before, tokens, most_rows=most_rows, is_scrolling=is_scrolling)
        self.words = _caption(frame, request_rows(frame, before, tokens, most_rows)[1]) if frame else "No request yet."

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        return self.html


def _caption(frame: Frame, counts: "Counter[What]") -> str:
    listed = " · ".join(f"{counts[what]:,} {what}" for what in CHANGES if counts[what])
    return f"The request of round {frame.round_number:,}, as the model sees it: {listed or 'no message'}"


def _names(frame: Frame) -> str:
    return ", ".join(tool.name for tool in frame.request.tools)


def _heading(name: str, width: str) -> str:
    align = _NUMBER if name in ("no.", "tokens") else _CELL
    return f'<th scope="col" width="{width}" style="{align};{_STICKY}">{name}</th>'


def _gap(gap: Gap) -> str:
    noun = "message" if gap.messages == 1 else "messages"
    return _row("…", gap.what, f"{gap.messages:,} {noun}", gap.tokens, "", gap.what)


def _message(change: Change, tokens: Callable[[Message], int]) -> str:
    message = change.message
    kind = "" if message.kind == "chat" else f" ({message.kind})"
    who = "tool results" if any(isinstance(b, ToolResultBlock) for b in message.content) else message.role
    place = "" if change.place is None else f"{change.place:,}"
    words = in_words(message)
    if change.before is not None:
        words = f"(was {tokens(change.before):,} tokens) {words}"
    return _row(place, change.what, who + kind, tokens(message), words, change.what)


def _row(place: str, said: str, who: str, tokens: int, words: str, what: What) -> str:
    gone = ";text-decoration:line-through;opacity:.7" if what == "dropped" else ""
    sign = f"{_SIGNS[what]} {said}".strip()
    return (
        f'<tr style="border-left:4px solid {_COLORS[what]}"><td style="{_NUMBER}">{place}</td>'
        f'<td style="{_CELL};white-space:nowrap">{sign}</td><td style="{_CELL};white-space:nowrap">{plain(who)}</td>'
        f'<td style="{_NUMBER}">{tokens:,}</td>'
        f'<td style="{_CELL};{_ONE_LINE}{gone}">{plain(shortened(words, _LONGEST_WORDS))}</td></tr>'
    )


def in_words(message: Message) -> str:
    """Return how the message begins, in plain text: not escaped, and cut by who shows it."""
    return " · ".join(filter(None, _pieces(message.content)))


def _pieces(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks[:8]:
        match block:
            case TextBlock(text):
                yield text[:400]
            case ThinkingBlock(thinking):
                yield f"(thinking) {thinking[:400]}"
            case ToolUseBlock(_, name, arguments):
                listed = ", ".join(f"{key}={str(value)[:60]!r}" for key, value in list(arguments.items())[:6])
                yield f"{name}({listed})"
            case ToolResultBlock(_, content, is_error):
                yield ("error: " if is_error else "") + " ".join(_pieces(content))
            case ImageBlock() | DocumentBlock():
                yield "(an image)" if isinstance(block, ImageBlock) else f"(a document) {block.title}"
            case RawBlock(raw):
                yield f"({str(raw.get('type', 'a block'))[:40]})"
