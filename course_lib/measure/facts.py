"""Facts that stand in a conversation early and matter late, and whether a request still shows them (chapter 05).

A fact is *shown* when the offline model, reading the request and nothing else, would know it; whoever wrote the words.
The share of requests that show a fact, from the first one that does, is how well it was kept.

    >>> from course_lib.client import Request
    >>> from course_lib.messages import user
    >>> [fact.name for fact in REFACTORING_FACTS if fact.is_shown(Request(messages=(user("Keep out of vendor/."),)))]
    ['vendor/ is off limits']

What this leaves out on purpose: whether a model heeds what it is shown. That stands in the files (`measure_outcome`).
Source: chapter 05.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from course_lib.client import Request
from course_lib.messages import Message, TextBlock, ToolResultBlock
from course_lib.simulation.perception import Knowledge, read_request

__all__ = ["REFACTORING_FACTS", "FactKind", "PlantedFact", "shares_shown"]

FactKind = Literal["first instruction", "constraint", "path", "error", "decision"]


@dataclass(frozen=True, kw_only=True)
class PlantedFact:
    """One fact: its kind, a name for tables, and how to tell that somebody who read the request knows it."""

    kind: FactKind
    name: str
    is_known: Callable[[Knowledge], bool] = lambda _: False
    words: str = ""  # or that these words stand in a text of the request

    def is_shown(self, request: Request) -> bool:
        """Whether the request shows the fact."""
        return self.is_in(request, read_request(request.messages, request.system))

    def is_in(self, request: Request, knowledge: Knowledge) -> bool:
        """The same, for who has read the request already."""
        if self.words:
            return any(self.words in text for text in _texts(request.messages))
        return self.is_known(knowledge)


def _texts(messages: Iterable[Message]) -> Iterable[str]:
    for message in messages:
        for block in message.content:
            if isinstance(block, TextBlock | ToolResultBlock):
                yield block.text


REFACTORING_FACTS = (
    PlantedFact(kind="first instruction", name="the task", is_known=lambda known: known.has_task),
    PlantedFact(kind="constraint", name="vendor/ is off limits", is_known=lambda known: "vendor/" in known.forbidden),
    PlantedFact(
        kind="constraint", name="'shipment', not 'parcel'", is_known=lambda known: "parcel" in known.word_rules
    ),
    PlantedFact(
        kind="path",
        name="the first module is done",
        is_known=lambda known: "freight/billing/credit_notes.py" in known.done,
    ),
    PlantedFact(kind="error", name="which test failed early", words="test_late_fee"),
    PlantedFact(kind="decision", name="how prices are rounded", is_known=lambda known: known.lesson is not None),
)


def shares_shown(requests: Sequence[Request], facts: Sequence[PlantedFact]) -> dict[str, float]:
    """Return for each fact, by name, the share of requests that show it, from the first one that does; 0 if none does.

    The requests are those of one run, in order.
    """
    shown: dict[str, list[bool]] = {fact.name: [] for fact in facts}
    for request in requests:
        knowledge = read_request(request.messages, request.system)
        for fact in facts:
            seen = shown[fact.name]
            is_in = fact.is_in(request, knowledge)
            if seen or is_in:
                seen.append(is_in)
    return {name: sum(seen) / len(seen) if seen else 0.0 for name, seen in shown.items()}
