"""Practice for chapter 04: a job in four phases whose tools do not all fit, and a session that nobody has seen.

Source: chapter 04.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, product, takewhile

from course_lib.agent import Agent, Tool
from course_lib.client import ScriptedClient
from course_lib.events import record_run
from course_lib.messages import ToolSpec, ToolUseBlock, assistant
from course_lib.tokens import MessageCounter
from course_lib.window import Composition, Window, composition

__all__ = [
    "CAP_TOKENS",
    "GOAL_TOKENS",
    "PHASES",
    "TOOL_TOKENS",
    "Phase",
    "Session",
    "best_price",
    "definitions",
    "last_request",
    "missing_tools",
    "price",
]

CAP_TOKENS = 1_300  # the most that the definitions of one request may have
CACHED_SHARE = 0.1  # a token that the provider's cache holds costs a tenth
_FIRST_TOKENS, _ROUND_TOKENS = 1_000, 800  # of the conversation: at the start, and with each round

TOOL_TOKENS = {
    "list_files": 150,
    "grep": 200,
    "outline": 350,
    "read_file": 200,
    "edit_file": 250,
    "run_tests": 300,
    "create_issue": 400,
}


@dataclass(frozen=True)
class Phase:
    """A part of a job: how many requests it takes, and which tools it cannot do without."""

    name: str
    rounds: int
    needs: tuple[str, ...]


PHASES = (
    Phase("explore", 6, ("list_files", "grep", "outline")),
    Phase("edit", 20, ("read_file", "edit_file")),
    Phase("test", 8, ("read_file", "edit_file", "run_tests")),
    Phase("report", 4, ("read_file", "create_issue")),
)


def definitions(names: Sequence[str]) -> int:
    """Return the tokens of these tools' definitions."""
    return sum(TOOL_TOKENS[name] for name in names)


def missing_tools(tools_by_phase: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return, for each phase that lacks some, the tools it cannot do without."""
    lacking = {phase.name: [n for n in phase.needs if n not in tools_by_phase.get(phase.name, ())] for phase in PHASES}
    return {name: tools for name, tools in lacking.items() if tools}


def price(tools_by_phase: Mapping[str, Sequence[str]]) -> int:
    """Return what the whole job costs, in tokens at the full price; what the cache holds counts a tenth.

    The cache keeps the beginning of a request as far as it is the same as that of the request before. The definitions
    stand first, in the given order; so when their list changes, the conversation behind them is read anew.
    """
    paid, conversation = 0.0, _FIRST_TOKENS
    before: list[str] = []
    for phase in PHASES:
        tools = list(tools_by_phase[phase.name])
        for _ in range(phase.rounds):
            same = takewhile(lambda pair: pair[0] == pair[1], zip(before, tools, strict=False))
            kept = definitions([name for name, _ in same])
            if tools == before:
                kept += conversation - _ROUND_TOKENS
            whole = definitions(tools) + conversation
            paid += whole - kept + CACHED_SHARE * kept
            before, conversation = tools, conversation + _ROUND_TOKENS
    return round(paid)


@cache
def best_price() -> int:
    """Return the lowest price at which every phase has what it needs and no request is over the cap."""
    prices = []
    for cuts in product((False, True), repeat=len(PHASES) - 1):
        groups = [[PHASES[0]]]
        for phase, is_cut in zip(PHASES[1:], cuts, strict=True):
            groups = [*groups, [phase]] if is_cut else [*groups[:-1], [*groups[-1], phase]]
        tools: dict[str, list[str]] = {}
        for group in groups:
            union = list(dict.fromkeys(chain.from_iterable(phase.needs for phase in group)))
            tools |= dict.fromkeys((phase.name for phase in group), union)
        if max(map(definitions, tools.values())) <= CAP_TOKENS:
            prices.append(price(tools))
    return min(prices)


GOAL_TOKENS = 100 * round(best_price() * 1.04 / 100)  # a little room, so that other good answers count


@dataclass(frozen=True, kw_only=True)
class Session:
    """A session in numbers: tokens of everything, and how many rounds brought which result."""

    system_tokens: int
    tools_tokens: int
    order_tokens: int
    answer_tokens: int
    results: tuple[tuple[int, int], ...]  # (how many rounds, tokens of the result in each)


def last_request(session: Session) -> Composition:
    """Run an agent through such a session and return what its last request is made of."""
    counter = MessageCounter(len, message_overhead_tokens=0)
    empty = counter.tool(ToolSpec("t", "", {}))
    sizes = [size for rounds, size in session.results for _ in range(rounds)]
    spec = ToolSpec("t", "x" * (session.tools_tokens - empty), {})
    texts = iter("x" * size for size in sizes)
    call = counter.message(assistant(ToolUseBlock("c", "t", {})))
    calls = [assistant("x" * (session.answer_tokens - call), ToolUseBlock(f"c{n}", "t", {})) for n in range(len(sizes))]
    model = ScriptedClient([*calls, "Done."], window_tokens=10**9, counter=counter)
    agent = Agent(model, [Tool(spec, lambda _: next(texts))], system="x" * session.system_tokens)
    record_run(agent.run("x" * session.order_tokens))
    request = model.requests[-1]
    window = Window(context_tokens=10**9)
    return composition(request.messages, window=window, counter=counter, system=request.system, tools=request.tools)
