"""What does it cost to know the size of a long session? Run by hand (`course bench tokens`); takes about a minute.

    python3 -m course_lib bench tokens

A session grows by a call and a result a round, and its size is asked for before every request. Four ways to know it:
each message counted once, everything counted again each round, the hybrid (billed, and an estimate of the rest), and
LangChain's `trim_messages`, which counts in order to trim. Only ratios within one run say something.
"""

import itertools
import json
import statistics
import time
from dataclasses import replace
from importlib.util import find_spec

from course_lib.messages import ToolResultBlock, ToolUseBlock, Usage, assistant, message_text, user
from course_lib.simulation.token_samples import TUNED_KINDS, all_texts
from course_lib.token_estimator import estimate_tokens
from course_lib.tokens import MessageCounter, TiktokenCounter, chars_counter
from course_lib.usage_count import hybrid_count

ROUNDS = 10_000
RECOUNTED_ROUNDS = 300  # counting all again is quadratic: these are measured, the rest is computed from them
LANGCHAIN_ROUNDS = (100, 1_000, 10_000)
TEXTS = [text for kind in TUNED_KINDS for text in all_texts(kind)]


def session(rounds):
    """Return the messages of a session: a task, then a call and its result a round, with the usage of each call."""
    messages, billed = [user("Read all of it.")], 1_000
    for number, text in zip(range(rounds), itertools.cycle(TEXTS), strict=False):
        call = assistant(f"Step {number}.", ToolUseBlock(f"c{number}", "read_file", {"path": f"{number}.txt"}))
        messages += [replace(call, usage=Usage(billed, 0, 0, 30)), user(ToolResultBlock(f"c{number}", text))]
        billed += 30 + len(text) // 4
    return tuple(messages)


def seconds(function, *args):
    """Return the seconds that one call takes."""
    start = time.perf_counter()
    function(*args)
    return time.perf_counter() - start


def each_message_once(messages, counter):
    """Keep a running total, as a session does that asks for each message when it comes; return seconds a round."""
    spent = []
    for number in range(0, len(messages) - 2, 2):
        start = time.perf_counter()
        counter.messages(messages[number : number + 2])
        spent.append(time.perf_counter() - start)
    return spent


def ask_the_whole_history(messages, counter):
    """Ask one counter for the whole history, all of it counted before."""
    counter.messages(messages)
    return seconds(counter.messages, messages)


def count_all_again(messages, rounds):
    """Count the whole history in each of the first rounds with nothing remembered; return the seconds."""
    exact = TiktokenCounter()
    return sum(seconds(MessageCounter(exact).messages, messages[: 2 * number + 1]) for number in range(rounds))


def langchain_seconds(messages):
    """Trim the history to its last tenth with LangChain, counted exactly; return the seconds."""
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, trim_messages

    exact = TiktokenCounter()
    converted = []
    for message in messages:
        for block in message.content:
            if isinstance(block, ToolResultBlock):
                converted.append(ToolMessage(block.text, tool_call_id=block.tool_use_id))
            elif isinstance(block, ToolUseBlock):
                call = {"name": block.name, "args": dict(block.input), "id": block.id}
                converted.append(AIMessage(message_text(message), tool_calls=[call]))
        if message.role == "user" and message_text(message):
            converted.append(HumanMessage(message_text(message)))

    def count(listed):
        return sum(exact(one.text) + exact(json.dumps(getattr(one, "tool_calls", []))) + 4 for one in listed)

    return seconds(lambda: trim_messages(converted, max_tokens=count(converted) // 10, token_counter=count))


def line(name, value, unit, note=""):
    """Print one row of the table."""
    print(f"{name:58}{value:12,.1f} {unit:3}{note}")


def main():
    """Measure everything and print a table."""
    messages = session(ROUNDS)
    exact, rough = MessageCounter(TiktokenCounter()), MessageCounter(chars_counter(4))
    once = each_message_once(messages, exact)
    first, last = statistics.median(once[:1_000]), statistics.median(once[-1_000:])
    print(f"A session of {ROUNDS:,} rounds, {len(messages):,} messages, {exact.messages(messages):,} tokens\n")
    line("each message once, exactly: in all", sum(once), "s")
    line("  a message", 1e6 * sum(once) / len(messages), "us")
    line("  a round among the last 1,000 against the first 1,000", last / first, "x", "  (1 is linear)")
    asked = ask_the_whole_history(messages, exact)
    line(
        "the sum over a whole history that is known", 1e3 * asked, "ms", f"  {1e6 * asked / len(messages):.2f} us each"
    )
    hybrid = statistics.median(seconds(hybrid_count, messages, rough) for _ in range(100))
    line("the hybrid: billed, and an estimate of the last result", 1e6 * hybrid, "us")
    classes = seconds(MessageCounter(estimate_tokens).messages, messages)
    line("each message once, estimated by classes: a message", 1e6 * classes / len(messages), "us")
    again, half = count_all_again(messages, RECOUNTED_ROUNDS), count_all_again(messages, RECOUNTED_ROUNDS // 2)
    line(f"everything again each round, {RECOUNTED_ROUNDS} rounds", again, "s", f"  {again / half:.1f} x half as many")
    whole = again * (ROUNDS / RECOUNTED_ROUNDS) ** 2
    line(f"  computed for {ROUNDS:,} rounds", whole, "s", f"  {whole / sum(once):,.0f} x each message once")
    if find_spec("langchain_core") is None:
        print("LangChain's trim_messages: skipped, langchain-core is not installed here (pip install langchain-core)")
        return
    langchain_seconds(messages[:3])  # imports it
    for rounds in LANGCHAIN_ROUNDS:
        spent = langchain_seconds(messages[: 2 * rounds + 1])
        note = f"  {spent / last:,.0f} x one round of ours"
        line(f"LangChain's trim_messages, one call at round {rounds:,}", 1e3 * spent, "ms", note)


if __name__ == "__main__":
    main()
