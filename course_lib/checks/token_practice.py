"""Texts of known length for the exercises of chapter 03.

Source: chapter 03.
"""

from functools import cache

from course_lib.messages import Messages
from course_lib.simulation.token_samples import TUNED_KINDS, samples
from course_lib.tokens import TiktokenCounter

__all__ = ["SIX_TEXTS", "estimated_tokens", "known_texts"]

# Sixty characters each.
SIX_TEXTS = {
    "A": "The night watch walked along the quay twice and saw nothing.",
    "B": "    for berth in free_berths: berth.release(reason='timeout'",
    "C": "3f786850e387550fdab836ed7e6dc881de23001b 89e6c98d92887913cad",
    "D": "2026-11-03 04:17:55.201 192.168.10.44:8443 -> 10.0.0.7 (412)",
    "E": "夜班的人沿着码头走了两圈什么也没有看见于是他回到办公室写下今天的记录"
    "然后烧了一壶水等第一班渡轮靠岸再把灯关掉去睡觉了吧呢",
    "F": "name            |            qty            |          price",
}


@cache
def known_texts() -> dict[str, tuple[tuple[str, int], ...]]:
    """Return (text, exact tokens) pairs of each kind, to try an estimator on; the check uses other texts."""
    exact = TiktokenCounter()
    return {kind: tuple((text, exact(text)) for text in samples(kind, "tuning")) for kind in TUNED_KINDS}


def estimated_tokens(messages: Messages) -> int:
    """Return a crude estimate that is easy to follow: a hundred tokens a message."""
    return 100 * len(messages)
