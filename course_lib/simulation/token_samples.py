"""Texts of every kind that an agent meets, to measure token counters on.

Prose, code and the world's scripts are written for this course (`data/token_samples.txt`); what a machine would print
is generated here, from seeds. Each kind has six samples. Before anything was tuned they were split by a seeded rule:
constants may be fitted to the `tuning` half only, errors are reported on the `held_out` half. `UNSEEN_KINDS` are in
neither half: kinds that the estimator was never fitted to at all.

    >>> len(TUNED_KINDS), len(samples("json", "tuning")), len(samples("json", "held_out"))
    (14, 3, 3)

What this leaves out on purpose: long texts. A sample has some hundred tokens, and each kind counts the same.
Source: chapter 03.
"""

import base64
import hashlib
import json
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from random import Random
from typing import Literal

from course_lib.messages import Messages, ToolResultBlock, ToolUseBlock, Usage, assistant, user
from course_lib.tokens import MessageCounter

__all__ = ["TUNED_KINDS", "UNSEEN_KINDS", "Split", "all_texts", "reading_session", "samples"]

Split = Literal["tuning", "held_out", "unseen"]

_SAMPLES = 6
# fmt: off
_WORDS = (
    "anchor", "berth", "cargo", "crane", "customer", "deck", "delivery", "dock", "ferry", "freight",
    "harbour", "invoice", "label", "manifest", "notice", "order", "pallet", "parcel", "port", "price",
    "quay", "route", "shipment", "status", "storage", "tariff", "truck", "vessel", "weight", "yard",
)
# fmt: on
_FOLDERS = ("src", "tests", "docs", "lib", "app", "tools", "data")
_ENDINGS = (".py", ".ts", ".go", ".md", ".json", ".csv", ".txt", ".png")
_EMOJI = "😀😂🥲😍🤔😴🙏👍👎👏💪🎉🔥✨🚀🐛🧪🍀🌧☕🍞🚢⚓📦📈📉✅❌⚠❗⏳🕐🏁🗂🔒🔑💡📝👀🤖"
_EMOJI_SEQUENCES = ("👍🏽", "🙋🏿‍♀️", "👨‍👩‍👧", "🇯🇵", "🇧🇷", "❤️", "☀️", "👩🏻‍💻", "1️⃣", "🏳️‍🌈")


def _words(rng: Random, count: int, joint: str = " ") -> str:
    return joint.join(rng.choice(_WORDS) for _ in range(count))


def _path(rng: Random) -> str:
    folders = rng.sample(_FOLDERS, rng.randint(1, 2))
    return "/".join([*folders, _words(rng, rng.randint(1, 3), "_") + rng.choice(_ENDINGS)])


def _date(rng: Random) -> str:
    return f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"


def _time(rng: Random) -> str:
    return f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}"


def _json(rng: Random) -> str:
    records = [
        {
            "id": rng.randint(1_000, 99_999),
            "sku": f"{rng.choice('ABCDEFGH')}{rng.randint(10, 99)}-{rng.randint(100, 999)}",
            "name": _words(rng, 2),
            "tags": [_words(rng, 1) for _ in range(rng.randint(0, 3))],
            "price": {"amount": round(rng.uniform(1, 900), 2), "currency": rng.choice(["EUR", "JPY", "USD"])},
            "active": rng.random() < 0.7,
            "updatedAt": f"{_date(rng)}T{_time(rng)}Z",
            "parent": None,
        }
        for _ in range(6)
    ]
    return json.dumps({"items": records, "next": None}, indent=rng.choice([2, 4, None]))


def _hashes(rng: Random) -> str:
    make: Callable[[], str] = rng.choice(
        [
            lambda: f"{hashlib.sha256(rng.randbytes(9)).hexdigest()}  {_path(rng)}",
            lambda: f"{hashlib.sha1(rng.randbytes(9)).hexdigest()} {_words(rng, 4)}",
            lambda: f"{uuid.UUID(bytes=rng.randbytes(16), version=4)} {rng.choice(['ok', 'failed', 'queued'])}",
            lambda: f"index {rng.randbytes(4).hex()}..{rng.randbytes(4).hex()} 100644 {rng.randbytes(20).hex()}",
        ]
    )
    return "\n".join(make() for _ in range(12))


def _listing(rng: Random) -> str:
    rights = ["-rw-r--r--", "drwxr-xr-x", "-rwxr-xr-x", "-rw-------"]
    months = ["Jan", "Feb", "Mar", "Apr", "May", "Sep", "Oct", "Nov"]
    owner = rng.choice(["root root", "agent staff", "www-data www-data"])
    lines = [f"total {rng.randint(20, 9_000)}"]
    for _ in range(16):
        date = f"{rng.choice(months)} {rng.randint(1, 28):2} {rng.randint(0, 23):02}:{rng.randint(0, 59):02}"
        name = _words(rng, rng.randint(1, 2), rng.choice("_-")) + rng.choice(_ENDINGS)
        size = rng.randint(0, 10 ** rng.randint(2, 7))
        lines.append(f"{rng.choice(rights)} {rng.randint(1, 9):2} {owner} {size:8} {date} {name}")
    return "\n".join(lines)


def _csv(rng: Random) -> str:
    sign = rng.choice(",;\t")
    lines = [sign.join(["order_id", "date", "customer", "city", "qty", "unit_price", "shipped"])]
    for _ in range(16):
        fields = [f"{rng.randint(10**5, 10**6)}", _date(rng), _words(rng, 2), _words(rng, 1).title()]
        fields += [f"{rng.randint(1, 400)}", f"{rng.uniform(0.5, 900):.2f}", rng.choice(["true", "false", ""])]
        lines.append(sign.join(fields))
    return "\n".join(lines)


def _base64(rng: Random) -> str:
    text = base64.b64encode(rng.randbytes(rng.randint(300, 500))).decode()
    width = rng.choice([64, 76, len(text)])
    return "\n".join(text[start : start + width] for start in range(0, len(text), width))


def _emoji(rng: Random) -> str:
    def run() -> str:
        return "".join(rng.choice((*_EMOJI, *_EMOJI_SEQUENCES)) for _ in range(rng.randint(1, 4)))

    return "\n".join(rng.choice([f"{run()} {_words(rng, 2)}", f"{_words(rng, 3)} {run()}", run()]) for _ in range(14))


def _table(rng: Random) -> str:
    widths = [rng.randint(14, 40) for _ in range(4)]
    header = [_words(rng, 1).upper() for _ in widths]
    rows = [
        [_words(rng, 1), str(rng.randint(1, 10**6)), _words(rng, 2), rng.choice(["ok", "-", _date(rng)])]
        for _ in range(14)
    ]
    edge = rng.choice(["", "| "])
    return "\n".join(
        edge + edge.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [header, *rows]
    )


def _log(rng: Random) -> str:
    levels = ["INFO", "WARNING", "ERROR", "DEBUG"]
    return "\n".join(
        f"{_date(rng)}T{_time(rng)}.{rng.randint(0, 999):03}Z {rng.choice(levels):7} "
        f"[{_words(rng, 1)}-{rng.randint(1, 9)}] {_words(rng, 3)} "
        f"id={rng.randint(1, 10**5)} took {rng.randint(1, 900)}ms"
        for _ in range(12)
    )


def _diff(rng: Random) -> str:
    lines = []
    for _ in range(3):
        path = _path(rng)
        lines += [f"--- a/{path}", f"+++ b/{path}", f"@@ -{rng.randint(1, 300)},6 +{rng.randint(1, 300)},7 @@"]
        for _ in range(6):
            indent = " " * 4 * rng.randint(0, 3)
            called = f"{_words(rng, 1)}.{_words(rng, 2, '_')}({_words(rng, 1)}, {rng.randint(0, 9)})"
            lines.append(f"{rng.choice(' +-')}{indent}{called}")
    return "\n".join(lines)


def _test_output(rng: Random) -> str:
    lines = [f"collected {rng.randint(20, 400)} items", ""]
    lines += [
        f"tests/test_{_words(rng, 1)}.py::test_{_words(rng, 3, '_')} {rng.choice(['PASSED', 'FAILED'])} [{n * 6:3}%]"
        for n in range(1, 13)
    ]
    expected, got = rng.randint(1, 99), rng.randint(1, 99)
    lines += [
        f"E       assert {got} == {expected}",
        f"E        +  where {got} = {_words(rng, 2, '_')}('{_words(rng, 1)}')",
    ]
    return "\n".join([*lines, f"========== 2 failed, 10 passed in {rng.uniform(0.1, 9):.2f}s =========="])


_GENERATED: Mapping[str, Callable[[Random], str]] = {
    "json": _json,
    "hashes": _hashes,
    "listing": _listing,
    "csv": _csv,
    "base64": _base64,
    "emoji": _emoji,
    "table": _table,
    "log": _log,
    "diff": _diff,
    "test output": _test_output,
}
_WRITTEN = ("prose", "python", "typescript", "go", "chinese", "japanese", "korean")
_UNSEEN = ("log", "diff", "test output", "russian", "markdown", "html")

TUNED_KINDS = (*_WRITTEN, *(kind for kind in _GENERATED if kind not in _UNSEEN))
UNSEEN_KINDS = _UNSEEN


@cache
def _written() -> dict[str, list[str]]:
    text = files("course_lib").joinpath("data/token_samples.txt").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    for part in text.split("##### ")[1:]:
        title, _, body = part.partition("\n")
        found.setdefault(title.split()[0], []).append(body)
    return found


@cache
def all_texts(kind: str) -> tuple[str, ...]:
    """Return all samples of a kind, in order."""
    if kind in _GENERATED:
        make = _GENERATED[kind]
        return tuple(make(Random(f"{kind} {number}")) for number in range(_SAMPLES))
    return tuple(_written()[kind])


def samples(kind: str, split: Split = "held_out") -> tuple[str, ...]:
    """Return the samples of a kind that are in the split; all of them are in "unseen" for a kind nothing is fitted to.

    Raises:
        KeyError: there is no such kind.
    """
    texts = all_texts(kind)
    if kind in UNSEEN_KINDS:
        return texts if split == "unseen" else ()
    numbers = list(range(len(texts)))
    Random(f"split {kind}").shuffle(numbers)
    half = len(numbers) // 2
    chosen = {"tuning": numbers[:half], "held_out": numbers[half:], "unseen": []}[split]
    return tuple(texts[number] for number in sorted(chosen))


def reading_session(texts: Iterable[str], *, counter: MessageCounter, system: str = "") -> Messages:
    """Return a session that reads the texts, one a round; each answer carries its usage as the counter bills it.

    The last message is the last text's, so what comes next is a request that nobody measured yet.
    """
    history: Messages = (user("Read every file and tell me what is in it."),)
    for number, text in enumerate(texts, start=1):
        tokens = counter.request(history, system=system)
        call = assistant("I read the next one.", ToolUseBlock(f"c{number}", "read_file", {"path": f"{number}.txt"}))
        call = replace(call, usage=Usage(tokens, output_tokens=counter.message(call)))
        history = (*history, call, user(ToolResultBlock(f"c{number}", text)))
    return history
