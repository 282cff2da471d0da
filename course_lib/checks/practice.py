"""Practice runs for the exercises: small, quick, the same for everybody.

Source: chapter 01.
"""

from functools import cache, lru_cache

from course_lib.agent import Agent, Tool
from course_lib.client import ScriptedClient
from course_lib.events import record_run
from course_lib.messages import Messages, ToolSpec, ToolUseBlock, assistant, user
from course_lib.tokens import MessageCounter, chars_counter
from course_lib.tool_pairs import keep_from

__all__ = ["BUDGET_TOKENS", "practice_messages", "request_sizes", "tokens_sent"]

BUDGET_TOKENS = 6_000
_ROUNDS = 40
_COUNTER = MessageCounter(chars_counter(4))


@cache
def practice_messages() -> Messages:
    """Return the conversation of a run of 40 rounds that reads files of very different sizes."""
    sizes = [400 + (number * 7_919) % 3_000 for number in range(_ROUNDS)]
    tool = Tool(
        ToolSpec("read_file", "Read a file.", {"properties": {"number": {}}}), lambda i: "x" * sizes[i["number"]]
    )
    calls = [assistant(ToolUseBlock(f"c{n}", "read_file", {"number": n})) for n in range(_ROUNDS)]
    agent = Agent(ScriptedClient([*calls, "Done."], window_tokens=1_000_000), [tool])
    record_run(agent.run("Read all files."))
    return agent.messages


def request_sizes(keep_messages: int) -> list[int]:
    """Return the tokens of each request of the practice run when only the last `keep_messages` messages are sent.

    A result whose call is no longer sent goes as well.
    """
    return list(_request_sizes(keep_messages))


@lru_cache(maxsize=None, typed=True)  # an answer asks for many of them, and its check for the same
def _request_sizes(keep_messages: int) -> tuple[int, ...]:
    history = practice_messages()
    ends = [index for index, message in enumerate(history, start=1) if message.role == "user"]
    note = user("(Older messages were dropped.)")
    return tuple(_COUNTER.messages((note, *keep_from(history[:end], end - keep_messages, keep="less"))) for end in ends)


def tokens_sent(*, first_tokens: int, added_tokens: int, rounds: int) -> int:
    """Run an agent whose first request has `first_tokens` and grows by `added_tokens` a round; return what it sent."""
    counter = MessageCounter(len, message_overhead_tokens=0)
    step = counter.message(assistant(ToolUseBlock("", "t", {})))
    tool = Tool(ToolSpec("t", "", {}), lambda _: "x" * (added_tokens - step))
    calls = [assistant(ToolUseBlock(f"c{n}", "t", {})) for n in range(rounds - 1)]
    client = ScriptedClient([*calls, "Done."], window_tokens=10**9, counter=counter)
    agent = Agent(client, [tool], max_rounds=rounds)
    task = "x" * (first_tokens - counter.tool(tool.spec))
    return sum(response.usage.context_tokens for response in record_run(agent.run(task)).responses)
