"""Practice for chapter 07: a session of which a summary is to keep the facts, within a few tokens.

    try_summary({"prompt": "Summarise the conversation above briefly.", "keep_messages": 20, "max_summary_tokens": 900})

The summary is written by the offline model, which takes from the session what the prompt asks for and nothing else.
Source: chapter 07.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from course_lib.compaction import apply
from course_lib.errors import SettingsError
from course_lib.messages import Block, Message, Messages, TextBlock, ToolResultBlock, ToolUseBlock, assistant, user
from course_lib.simulation.offline_model import OfflineModel
from course_lib.strategies import Summarisation
from course_lib.tokens import MessageCounter, chars_counter

__all__ = ["LEAST_RECALL", "MOST_TOKENS", "SESSION_FACTS", "TriedSummary", "practice_work", "try_summary"]

LEAST_RECALL = 0.9
MOST_TOKENS = 1_000  # that the session may have afterwards
_KINDS = {"prompt": str, "keep_messages": int, "max_summary_tokens": int}
_COUNTER = MessageCounter(chars_counter(4))
_FILES = (
    "billing/dunning",
    "billing/vat",
    "core/address",
    "core/money",
    "customs/duties",
    "customs/eori",
    "notify/sms",
)

# What must be known afterwards, and the words by which it is known.
SESSION_FACTS: Mapping[str, str] = {
    "the task": "docstrings in every module",
    "the folder that is off limits": "vendor/",
    "which word to use": "'shipment', not 'parcel'",
    "the first file that is done": "freight/billing/dunning.py",
    "a file in the middle that is done": "freight/core/money.py",
    "how prices are rounded": "half_up_cents",
    "the edit that failed": "old_text occurs twice",
    "the command that was refused": "not allowed: start the command with python",
    "how the tests stand": "30 tests, 2 failures",
    "what comes next": "Next: freight/pricing/fuel.py",
}


@dataclass(frozen=True, kw_only=True)
class TriedSummary:
    """What came of one summary of the session.

    Attributes:
        recall: the share of the facts that are still there, in the summary or in the messages that stayed.
        missing: the others, by name.
        tokens: of what is left.
        problem: why nothing was made shorter; "" when it was.
    """

    recall: float
    missing: tuple[str, ...]
    tokens: int
    problem: str


def practice_work() -> Messages:
    """Return the session: an order, seven files, a lesson, two errors, a test run; most of it is file contents."""
    order = (
        "Bring the code up to standard: type hints and docstrings in every module. Never touch anything under vendor/. "
        "Use the word 'shipment', not 'parcel', in all new text."
    )
    messages = [user(order)]

    def work(said: str, name: str, given: Mapping[str, object], result: str, *, is_error: bool = False) -> None:
        call = ToolUseBlock(f"call_{len(messages)}", name, given)
        messages.extend((assistant(said, call), user(ToolResultBlock(call.id, result, is_error=is_error))))

    for number, name in enumerate(_FILES):
        path = f"freight/{name}.py"
        work(f"I look at {name}.", "read_file", {"path": path}, "def amount(value):\n    return value\n" * 40)
        if number == 2:
            work("An edit.", "edit_file", {"path": path}, "old_text occurs twice: give more of it", is_error=True)
        if number == 3:
            work(
                "How is it rounded?", "grep", {"pattern": "half"}, "freight/core/money.py:9: def half_up_cents(value):"
            )
            messages.append(assistant("Lesson: prices are rounded with half_up_cents from freight.core.money."))
            messages.append(user("Good."))
        work("Now the edit.", "edit_file", {"path": path, "old_text": "a", "new_text": "b"}, f"edited {path}")
    refused = "not allowed: start the command with python"
    work("The tests.", "run_command", {"command": "make test"}, refused, is_error=True)
    work("Once more.", "run_command", {"command": "python -m tests"}, "FAIL test_fuel\n30 tests, 2 failures")
    work("Next: freight/pricing/fuel.py", "read_file", {"path": "freight/pricing/fuel.py"}, "STEP_CENTS = 15\n" * 150)
    for name in ("storage", "labels", "pallets"):
        work("And one more look.", "read_file", {"path": f"freight/warehouse/{name}.py"}, f"# {name}\nX = 1\n" * 180)
    return tuple(messages)


def try_summary(settings: Mapping[str, Any]) -> TriedSummary:
    """Let the offline model summarise the session under these settings, without pins, and return what is left.

    Args:
        settings: "prompt" (what the model is asked for), "keep_messages" (of the last ones, which stay as they are),
            "max_summary_tokens" (the room that the summary gets).

    Raises:
        SettingsError: a setting is missing, unknown, of another type, or out of its range.
    """
    _check(settings)
    strategy = Summarisation(
        client=OfflineModel(counter=_COUNTER), counter=_COUNTER, pin_first=False, pin_latest=False, **settings
    )
    after, event = apply(strategy, practice_work(), _COUNTER)
    left = "\n".join(text for message in after for text in _texts(message))
    missing = tuple(name for name, words in SESSION_FACTS.items() if words not in left)
    return TriedSummary(
        recall=(len(SESSION_FACTS) - len(missing)) / len(SESSION_FACTS),
        missing=missing,
        tokens=event.tokens_after,
        problem=event.reason,
    )


def _texts(message: Message) -> list[str]:
    def said(block: Block) -> str:
        if isinstance(block, ToolUseBlock):
            return str(block.input)
        return block.text if isinstance(block, TextBlock | ToolResultBlock) else ""

    return list(map(said, message.content))


def _check(settings: Mapping[str, Any]) -> None:
    if not isinstance(settings, Mapping) or set(settings) != set(_KINDS):
        raise SettingsError(f"settings {settings!r:.200}: expected a dictionary with {', '.join(_KINDS)}")
    for name, kind in _KINDS.items():
        if type(settings[name]) is not kind:
            raise SettingsError(f"{name} is {settings[name]!r:.80}: expected a value of type {kind.__name__}")
    if not settings["prompt"].strip() or min(settings["keep_messages"], settings["max_summary_tokens"]) < 1:
        raise SettingsError("the prompt is a text, and keep_messages and max_summary_tokens start at 1")
