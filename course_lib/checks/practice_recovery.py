"""Practice for chapter 10: an office that must not book twice, a session to restore, refusals to be saved from.

    try_limits({"max_files": 5, "max_file_tokens": 5_000, "max_skills_tokens": 25_000, "max_tokens": 50_000})

Source: chapter 10.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.client import Request, Response, ScriptedClient, check_request
from course_lib.errors import ContextOverflowError, RecoveryExhaustedError, SettingsError
from course_lib.messages import (
    Messages,
    TextBlock,
    ToolResultBlock,
    ToolSpec,
    ToolUseBlock,
    assistant,
    tool_results,
    user,
)
from course_lib.recovery import Recovery
from course_lib.restore import RestoreLimits, restore
from course_lib.simulation.clerk import Clerk, Ledger
from course_lib.summarize import TwoStageSummary
from course_lib.tokens import MessageCounter, chars_counter

__all__ = [
    "BUDGET_TOKENS",
    "CASES",
    "NEEDED",
    "STEPS",
    "BusyClerk",
    "Office",
    "TriedLimits",
    "cut_results",
    "open_office",
    "step_that_saves",
    "try_limits",
]

_COUNTER = MessageCounter(chars_counter(4))

# --- an office -------------------------------------------------------------------------------------------------------

_MOST_REQUESTS = 12


class BusyClerk(Clerk):
    """A clerk who loses patience: whoever asks for ever is told so, and does not hang."""

    def complete(
        self, messages: Messages, *, system: str = "", tools: Sequence[ToolSpec] = (), max_tokens: int = 1_000
    ) -> Response:
        """As a clerk; from the thirteenth request on, it raises `RuntimeError`."""
        if self.sent >= _MOST_REQUESTS:
            raise RuntimeError(f"the model was asked {_MOST_REQUESTS} times, and there is no end to it")
        return super().complete(messages, system=system, tools=tools, max_tokens=max_tokens)


@dataclass(frozen=True)
class Office:
    """A model, its tools by name, and the ledger that counts what was booked."""

    model: BusyClerk
    tools: Mapping[str, Callable[[Mapping[str, Any]], str]]
    ledger: Ledger


def open_office(receipt_words: int) -> Office:
    """Return an office with a window of 10,000 tokens (1,000 of them for the answer) and receipts of so many words."""
    ledger = Ledger(receipt_words)

    def book_shipment(given: Mapping[str, Any]) -> str:
        return ledger.book(given)

    return Office(BusyClerk(window_tokens=10_000, counter=_COUNTER), {"book_shipment": book_shipment}, ledger)


def cut_results(messages: Messages) -> Messages:
    """Return the messages with every result cut to 400 characters: a `shorten` to try things with."""
    shorter = []
    for message in messages:
        results = [ToolResultBlock(result.tool_use_id, result.text[:400]) for result in tool_results(message)]
        shorter.append(user(*results) if results else message)
    return tuple(shorter)


# --- a session to restore --------------------------------------------------------------------------------------------

BUDGET_TOKENS = 10_000
# In the order in which they were read last, the newest first; and what the next steps of the work will need.
_FILES = {
    "rates.py": 900,
    "big.log": 6_000,
    "zones.py": 1_400,
    "invoice.py": 1_800,
    "__init__.py": 60,
    "letters.py": 700,
    "old_report.md": 3_000,
}
_SKILLS = {"how we test": 2_200, "how we release": 4_000}
NEEDED = ("rates.py", "zones.py", "invoice.py", "letters.py", "how we test")
_SETTINGS = ("max_files", "max_file_tokens", "max_skills_tokens", "max_tokens")


@dataclass(frozen=True, kw_only=True)
class TriedLimits:
    """What comes back under some limits.

    Attributes:
        tokens: of all that comes back.
        whole: names of what comes back whole.
        cut: names of what comes back, but not all of it.
    """

    tokens: int
    whole: tuple[str, ...]
    cut: tuple[str, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """What the work needs and does not get back whole."""
        return tuple(name for name in NEEDED if name not in self.whole)


def try_limits(limits: Mapping[str, Any]) -> TriedLimits:
    """Restore the session under these limits, and return what comes back.

    Args:
        limits: "max_files", "max_file_tokens", "max_skills_tokens" and "max_tokens", each a whole number from 0 up.

    Raises:
        SettingsError: a limit is missing, unknown, or no such number.
    """
    if not isinstance(limits, Mapping) or set(limits) != set(_SETTINGS):
        raise SettingsError(f"limits {limits!r:.200}: expected a dictionary with {', '.join(_SETTINGS)}")
    for name, value in limits.items():
        if type(value) is not int or value < 0:
            raise SettingsError(f"{name} is {value!r:.80}: expected a whole number from 0 up")
    texts = {name: "x" * 4 * tokens for name, tokens in (*_FILES.items(), *_SKILLS.items())}
    read = [assistant(ToolUseBlock(f"c-{name}", "read_file", {"path": name})) for name in reversed(_FILES)]
    skills = {name: texts[name] for name in _SKILLS}
    back = restore(
        tuple(read), read_text=texts.__getitem__, counter=_COUNTER, limits=RestoreLimits(**limits), skills=skills
    )
    parts = [block.text for block in back.content if isinstance(block, TextBlock)] if back else []
    shown = {name: part for name in texts for part in parts if f'"{name}">' in part}
    whole = tuple(name for name, part in shown.items() if texts[name] in part)
    tokens = _COUNTER.message(back) if back else 0
    return TriedLimits(tokens=tokens, whole=whole, cut=tuple(name for name in shown if name not in whole))


# --- refusals to be saved from ---------------------------------------------------------------------------------------

STEPS = ("shrink", "collapse", "summarise", "give up")
_NAMES = {"shrink the largest results": "shrink", "collapse the oldest": "collapse", "two-stage summary": "summarise"}
_WINDOW_TOKENS, _RESERVE_TOKENS = 10_000, 1_000


def _words(tokens: int) -> str:
    return "word" * tokens


def _round(result: int, said: int = 0, number: int = 0) -> Messages:
    """A round: what the model says, if anything, a call, and its result, both of so many tokens."""
    call = ToolUseBlock(f"c{number}", "read", {"part": number})
    return assistant(*[_words(said)] * bool(said), call), user(ToolResultBlock(call.id, _words(result)))


def _rounds(count: int, result: int, said: int = 0) -> Messages:
    return tuple(message for number in range(1, count + 1) for message in _round(result, said=said, number=number))


_ORDER = user("Find the day on which the scales were wrong. Never touch anything under vendor/.")
_LETTERS = tuple(m for n in range(5) for m in (assistant(f"Send letter {n}, please."), user(_words(2_400))))

CASES: dict[str, Messages] = {
    "one log": (_ORDER, *_rounds(3, 300), *_round(30_000)),
    "fifty small ones": (_ORDER, *_rounds(50, 400)),
    "five of a size": (_ORDER, *_rounds(5, 2_500)),
    "a talkative model": (_ORDER, *_rounds(40, 20, said=300)),
    "five letters": (_ORDER, *_LETTERS),
    "one letter": (_ORDER, assistant("Send the letter, please."), user(_words(12_000))),
}


def step_that_saves(messages: Messages) -> str:
    """Return the last step that a recovery of these messages needs, one of STEPS.

    The window has 10,000 tokens, 1,000 of them for the answer; the summary's writer is a good one.
    """
    writer = ScriptedClient([f"<summary>{_words(200)}</summary>"] * 3, window_tokens=10**9)
    summary = TwoStageSummary(client=writer, counter=_COUNTER, max_recent_tokens=3_000)
    taken: list[str] = []
    hook = Recovery(
        counter=_COUNTER,
        summary=summary,
        on_attempt=lambda event: taken.append(_NAMES[event.name]) if event.outcome == "applied" else None,
    )
    try:
        while True:
            try:
                request = Request(messages=messages, max_tokens=_RESERVE_TOKENS)
                check_request(request, window_tokens=_WINDOW_TOKENS, counter=_COUNTER)
                return taken[-1]
            except ContextOverflowError as error:
                messages, _ = hook(messages, error)
    except RecoveryExhaustedError:
        return "give up"
