"""The meter in words: what the picture shows, for readers who do not see it, and for comparing outputs.

Source: chapter 00.
"""

from course_lib.widgets.draw_cost import billed_tokens, buckets
from course_lib.widgets.draw_marks import freed
from course_lib.widgets.frame_builder import Track
from course_lib.widgets.palette import PART_LABELS
from course_lib.widgets.prices import Prices
from course_lib.widgets.svg import shortened
from course_lib.widgets.view import View
from course_lib.window import PARTS

__all__ = ["describe", "summary"]


def describe(view: View) -> str:
    """Return the text alternative of the picture."""
    window = view.window
    frame = view.frame
    if frame is None:
        return f"No request yet; the window has {window.context_tokens:,} tokens, {window.reserve_tokens:,} reserved."
    used = frame.composition
    kind = "measured" if frame.is_measured else "estimated"
    shares = ", ".join(
        f"{PART_LABELS[part]} {used.tokens_by_part[part]:,} ({used.share(part):.0%})"
        for part in PARTS
        if used.tokens_by_part[part]
    )
    sentences = [
        f"Round {frame.round_number}: the request has {frame.total_tokens:,} tokens ({kind}), the window "
        f"{window.context_tokens:,} with {window.reserve_tokens:,} reserved for the answer.",
        f"By part: {shares or 'nothing'}.",
        _refusal(view),
        f"Compactions so far: {freed(view.track.compactions)} tokens." if view.track.compactions else "",
        f"Circuit breaker: {shortened(frame.breaker, 40)}." if frame.breaker else "",
        f"Billed: {_billed(view)}.",
    ]
    if view.other:
        for track in view.tracks:
            sentences.append(f"{shortened(track.name, 40)}: {summary(track, view.prices)}.")
    elif view.track.ending and not frame.refusal and frame is view.track.last:
        sentences.append(f"The run {view.track.ending}.")
    return " ".join(filter(None, sentences))


def summary(track: Track, prices: Prices) -> str:
    """Return a run in one line: how far it got, its last request, what it cost, how it ended."""
    if track.last is None:
        return "no request yet"
    last = track.last
    cost = f"{billed_tokens(last.billed):,} billed, {prices.said(prices.cost(last.billed))}"
    ending = track.ending or "still running"
    return f"round {last.round_number:,} · {last.total_tokens:,} tokens · {cost} · {shortened(ending, 40)}"


def _refusal(view: View) -> str:
    frame = view.frame
    if frame is None or not frame.refusal:
        return ""
    return "The request was refused: too long." if frame.is_overflow else f"{shortened(frame.refusal, 120)}."


def _billed(view: View) -> str:
    billed = view.frame.billed if view.frame else None
    if billed is None or not billed_tokens(billed):
        return "nothing yet"
    listed = ", ".join(f"{name} {tokens:,}" for name, tokens in reversed(buckets(billed).items()) if tokens)
    return f"{listed}; {view.prices.said(view.prices.cost(billed))}"
