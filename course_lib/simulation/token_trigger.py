"""What a wrong count costs when it decides about compaction: a replay of the sizes of a real run.

An agent compacts by a model call when its count passes a threshold. A count that is too high compacts early and pays
for calls that nobody needed. One that is too low compacts late: then the request is refused, and so is the call that
should summarise it, because it carries the same history.

    >>> replay_trigger([100, 200, 300, 400, 500], limit_tokens=450, threshold=0.7, error=0.0)
    TriggerOutcome(compactions=1, summarised_tokens=400, died_in_round=None)
    >>> replay_trigger([100, 200, 300, 400, 500], limit_tokens=450, threshold=0.99, error=-0.2).died_in_round
    5

What this leaves out on purpose: what is lost in a compaction, and what the agent does differently afterwards.
Source: chapter 03.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.errors import SettingsError

__all__ = ["TriggerOutcome", "highest_safe_threshold", "replay_trigger"]

_PERCENT_STEPS = range(1, 101)


@dataclass(frozen=True)
class TriggerOutcome:
    """What happened: model calls for summaries, tokens they had to read, and the round that was refused, if one was."""

    compactions: int
    summarised_tokens: int
    died_in_round: int | None


def replay_trigger(
    sizes: Sequence[int], *, limit_tokens: int, threshold: float, error: float, kept_share: float = 0.25
) -> TriggerOutcome:
    """Replay a run that only grew, with a compaction wherever the count passes the threshold.

    Args:
        sizes: tokens of each request of the run as it was; the first one's are the fixed part.
        limit_tokens: tokens a request may have.
        threshold: share of the limit from which the agent compacts.
        error: of the count: -0.2 sees 80 tokens where 100 are.
        kept_share: what a compaction leaves of everything but the fixed part.

    Raises:
        SettingsError: no sizes, or a share that makes no sense.
    """
    if not sizes or limit_tokens <= 0 or not 0 < threshold <= 1 or not 0 <= kept_share < 1 or error <= -1:
        raise SettingsError(
            f"{len(sizes)} sizes, limit_tokens {limit_tokens}, threshold {threshold}, kept_share {kept_share}, error "
            f"{error}: expected at least one size, a limit above 0, shares from 0 to 1 and an error above -1"
        )
    fixed, tokens = sizes[0], sizes[0]
    compactions = summarised = 0
    for number, size in enumerate(sizes, start=1):
        tokens += size - sizes[max(0, number - 2)]
        if tokens > limit_tokens:
            return TriggerOutcome(compactions, summarised, number)
        if (1 + error) * tokens >= threshold * limit_tokens:
            compactions, summarised = compactions + 1, summarised + tokens
            tokens = fixed + round(kept_share * (tokens - fixed))
    return TriggerOutcome(compactions, summarised, None)


def highest_safe_threshold(
    sizes: Sequence[int], *, limit_tokens: int, error: float, kept_share: float = 0.25
) -> float | None:
    """Return the highest threshold (in steps of 0.01) up to which no request is refused, or None if there is none."""
    safe = None
    for percent in _PERCENT_STEPS:
        outcome = replay_trigger(
            sizes, limit_tokens=limit_tokens, threshold=percent / 100, error=error, kept_share=kept_share
        )
        if outcome.died_in_round is not None:
            break
        safe = percent / 100
    return safe
