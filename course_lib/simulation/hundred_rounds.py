"""A hundred rounds of tool output, poured into a manager: does the conversation stay within its window?

    >>> from course_lib.tokens import chars_counter
    >>> run = hundred_rounds(seed=1, rounds=20, counter=MessageCounter(chars_counter(4)))
    >>> [(status.round_number, status.compactions) for status in run.statuses]
    [(10, 0), (20, 0)]
    >>> run.peak_tokens <= run.window.context_tokens
    True

A seed fixes every word, so two runs are alike. Nothing is asked of a model: what it would have said is written here.

What this leaves out on purpose: work. Here only sizes matter; the scoreboard runs a real task.
Source: chapter 06; the rounds and their sizes are those of an article on agent context management (2026).
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from course_lib.ladder import Ladder
from course_lib.levels import five_levels
from course_lib.manager import ContextManager, ManagerStats
from course_lib.messages import Message, ToolResultBlock, ToolUseBlock, assistant, user
from course_lib.simulation.scenario import REFACTORING
from course_lib.simulation.tools import tool_specs
from course_lib.tokens import MessageCounter, TiktokenCounter
from course_lib.window import Window

__all__ = ["HUNDRED_ROUNDS_WINDOW", "HundredRounds", "MakeLadder", "RoundStatus", "hundred_rounds"]

HUNDRED_ROUNDS_WINDOW = Window(context_tokens=128_000, reserve_tokens=8_192)
_VOCABULARY = (
    "the module reads a line of each shipment and returns the price in cents while tests expect rounding half up for "
    "every invoice path error value none import def class self raise assert warning depot route carrier weight limit"
)
_LINE_WORDS = 12

MakeLadder: TypeAlias = Callable[[MessageCounter], Ladder]


@dataclass(frozen=True, kw_only=True)
class RoundStatus:
    """How the conversation stands after a round.

    Attributes:
        round_number: from 1.
        messages: how many there are.
        tokens: of the messages.
        usage_ratio: of what the window has for messages.
        level: the highest step of the ladder that was applied since the last status; 0 for none.
        compactions: so far.
        reserve_tokens: kept free for the answer.
        total_tokens: messages, system prompt, tools and reserve together.
    """

    round_number: int
    messages: int
    tokens: int
    usage_ratio: float
    level: int
    compactions: int
    reserve_tokens: int
    total_tokens: int


@dataclass(frozen=True, kw_only=True)
class HundredRounds:
    """A whole run: a status every few rounds, the largest total of any round, and how it ended, with the log."""

    window: Window
    statuses: tuple[RoundStatus, ...]
    peak_tokens: int
    stats: ManagerStats

    @property
    def overflows(self) -> bool:
        """Whether any request, with the room for its answer, was longer than the window."""
        return self.peak_tokens > self.window.context_tokens


def hundred_rounds(
    seed: int = 0,
    *,
    rounds: int = 100,
    words: tuple[int, int] = (200, 2_000),
    window: Window = HUNDRED_ROUNDS_WINDOW,
    make_ladder: MakeLadder = five_levels,
    counter: MessageCounter | None = None,
    status_every: int = 10,
) -> HundredRounds:
    """Run the rounds and return what came of them.

    Args:
        seed: fixes every word.
        rounds: calls with results.
        words: fewest and most words of a result.
        window: the window and the reserve.
        make_ladder: the ladder for a counter.
        counter: counts tokens; exactly by default.
        status_every: so many rounds a status.
    """
    counter = counter or MessageCounter(TiktokenCounter())
    manager = ContextManager(
        window, make_ladder(counter), counter=counter, system=REFACTORING.system, tools=tool_specs()
    )
    statuses: list[RoundStatus] = []
    peak = known = 0
    for number, messages in enumerate(_rounds(random.Random(seed), rounds, words), 1):
        for message in messages:
            manager.add_message(message)
        manager.get_context()
        peak = max(peak, _total_tokens(manager))
        if number % status_every == 0 or number == rounds:
            statuses.append(_status(manager, number, known))
            known = len(manager.get_stats().log)
    return HundredRounds(window=window, statuses=tuple(statuses), peak_tokens=peak, stats=manager.get_stats())


def _rounds(chance: random.Random, rounds: int, words: tuple[int, int]) -> Iterator[tuple[Message, ...]]:
    """The messages of each round: a call and its result; before the first, the task."""
    for number in range(1, rounds + 1):
        call = ToolUseBlock(f"call_{number}", "read_file", {"path": f"freight/part_{number}.py"})
        said = f"I read part {number}, because the next edit needs it."
        task = (user(REFACTORING.task),) if number == 1 else ()
        output = _output(chance, chance.randint(*words))
        yield (*task, assistant(said, call), user(ToolResultBlock(call.id, output)))


def _output(chance: random.Random, words: int) -> str:
    drawn = chance.choices(_VOCABULARY.split(), k=words)
    return "\n".join(" ".join(drawn[start : start + _LINE_WORDS]) for start in range(0, words, _LINE_WORDS))


def _total_tokens(manager: ContextManager) -> int:
    return manager.current_tokens + manager.fixed_tokens + manager.window.reserve_tokens


def _status(manager: ContextManager, round_number: int, known: int) -> RoundStatus:
    stats = manager.get_stats()
    return RoundStatus(
        round_number=round_number,
        messages=stats.messages,
        tokens=stats.tokens,
        usage_ratio=stats.usage_ratio,
        level=max((step.level for step in stats.log[known:]), default=0),
        compactions=stats.compactions,
        reserve_tokens=stats.reserve_tokens,
        total_tokens=_total_tokens(manager),
    )
