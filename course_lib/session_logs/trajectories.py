"""Reads trajectories that benchmarks write: tau-bench, SWE-agent, mini-swe-agent, and dialogues in one text field.

All hold messages in the shape of Chat Completions, each in an envelope of its own.

What this leaves out on purpose: what SWE-agent showed of old observations after it had shortened them; its history
holds them whole.
Source: chapter 04; files of 2024 to 2026.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from course_lib.messages import TextBlock, message_text, user
from course_lib.session_logs.chat import is_message, item_place, split_messages
from course_lib.session_logs.exchanges import Entry, Exchange, Exchanges
from course_lib.session_logs.lines import Piece, Record
from course_lib.session_logs.records import LogEvent, Oddity, Place
from course_lib.session_logs.values import as_list, as_mapping, as_text, dump

__all__ = [
    "FEW_SHOT",
    "MINI_SWE_AGENT",
    "SWE_AGENT",
    "TAU_BENCH",
    "read_few_shot",
    "read_mini",
    "read_swe",
    "read_tau",
    "recognises_few_shot",
    "recognises_mini",
    "recognises_swe",
    "recognises_tau",
]

TAU_BENCH = "tau-bench trajectories"
SWE_AGENT = "SWE-agent trajectory"
MINI_SWE_AGENT = "mini-swe-agent trajectory"
FEW_SHOT = "few-shot dialogues"


def recognises_tau(value: object) -> bool:
    """Whether this is a run of tau-bench, or a list of them."""
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(as_mapping(first).get("traj"), list)


def recognises_swe(value: object) -> bool:
    """Whether this is a trajectory of SWE-agent."""
    record = as_mapping(value)
    return isinstance(record.get("history"), list) and isinstance(record.get("trajectory"), list)


def recognises_mini(value: object) -> bool:
    """Whether this is a trajectory of mini-swe-agent, of version 1 or 1.1."""
    record = as_mapping(value)
    if not isinstance(record.get("messages"), list):
        return False
    return as_text(record.get("trajectory_format")).startswith("mini-swe-agent") or (
        "exit_status" in as_mapping(record.get("info"))
    )


def recognises_few_shot(value: object) -> bool:
    """Whether this is a dialogue in one text field."""
    return isinstance(as_mapping(value).get("messages_display"), str)


def read_tau(pieces: Iterable[Piece]) -> Iterator[LogEvent]:
    """Yield the events of every run, each a thread of its own."""
    return _read(pieces, TAU_BENCH, recognises_tau, _tau_runs)


def read_swe(pieces: Iterable[Piece]) -> Iterator[LogEvent]:
    """Yield the events of the history, which is what the model was sent."""
    return _read(pieces, SWE_AGENT, recognises_swe, _swe_run)


def read_mini(pieces: Iterable[Piece]) -> Iterator[LogEvent]:
    """Yield the events of the messages; the last, with the submitted change, was never sent."""
    return _read(pieces, MINI_SWE_AGENT, recognises_mini, _mini_run)


def read_few_shot(pieces: Iterable[Piece]) -> Iterator[LogEvent]:
    """Yield each dialogue as one user message in a thread of its own: models meet it as an example, not as turns."""
    return _read(pieces, FEW_SHOT, recognises_few_shot, _dialogue)


_Runs = Callable[[Record, list[Oddity]], Iterator[Exchange]]


def _read(pieces: Iterable[Piece], name: str, recognises: Callable[[object], bool], runs: _Runs) -> Iterator[LogEvent]:
    threads: set[str] = set()
    billed: set[str] = set()
    for piece in pieces:
        if isinstance(piece, Oddity):
            yield piece
        elif not recognises(piece.value):
            yield Oddity(place=piece.place, kind="unknown record", detail=f"{dump(piece.value):.60}")
        else:
            faults: list[Oddity] = []
            for run in runs(piece, faults):
                yield from faults
                faults.clear()
                # A run is closed before the next begins: two runs that begin alike are two conversations.
                thread = run.session_id if threads else ""
                thread = f"{thread} (line {piece.place.line})" if thread in threads else thread
                threads.add(thread)
                exchanges = Exchanges(name, thread, billed)
                yield from exchanges.take(run)
                yield from exchanges.close()
            yield from faults


def _tau_runs(record: Record, faults: list[Oddity]) -> Iterator[Exchange]:
    runs = record.value if isinstance(record.value, list) else [record.value]
    for number, value in enumerate(runs, 1):
        run = as_mapping(value)
        items = as_list(run.get("traj"))
        if not items:
            faults.append(Oddity(place=record.place, kind="unknown record", detail=f"no run: {dump(value):.60}"))
            continue
        named = [f"{key} {run[key]}" for key in ("task_id", "trial") if isinstance(run.get(key), int | str)]
        session = " ".join([f"run {number}" if record.is_document else f"line {record.place.line}", *named])
        yield _exchange(record, items, session, faults)


def _swe_run(record: Record, faults: list[Oddity]) -> Iterator[Exchange]:
    session = as_text(as_mapping(record.value).get("environment")) or f"line {record.place.line}"
    yield _exchange(record, as_list(record.value["history"]), session, faults)


def _mini_run(record: Record, faults: list[Oddity]) -> Iterator[Exchange]:
    info = as_mapping(record.value.get("info"))
    items = as_list(record.value["messages"])
    model = as_mapping(as_mapping(info.get("config")).get("model")).get("model_name")
    exchange = _exchange(
        record,
        [item for item in items if as_mapping(item).get("role") != "exit"],
        as_text(record.value.get("instance_id")) or f"line {record.place.line}",
        faults,
        model=as_text(model),
    )
    yield replace(exchange, entries=tuple(_unsent(exchange.entries, items, info, item_place(record, len(items) - 1))))


def _unsent(entries: Sequence[Entry], items: Sequence[Any], info: Mapping[str, Any], last: Place) -> Iterator[Entry]:
    """The entries, with the last message marked where it is the submission."""
    submission = as_text(info.get("submission"))
    end = as_mapping(items[-1]) if items else {}
    if end.get("role") == "exit":
        yield from entries
        text = as_text(end.get("content"))
        if text:
            yield Entry(place=last, side="user", blocks=(TextBlock(text),), is_injected=True, in_context=False)
        return
    for entry in entries:
        is_end = entry is entries[-1] and entry.side == "user"
        said = message_text(user(*entry.blocks)) if is_end else ""
        yield replace(entry, in_context=False) if submission and said.strip() == submission.strip() else entry


def _dialogue(record: Record, _: list[Oddity]) -> Iterator[Exchange]:
    text = record.value["messages_display"]
    entry = Entry(place=record.place, side="user", blocks=(TextBlock(text),) if text else ())
    yield Exchange(place=record.place, session_id=f"dialogue {record.place.line}", entries=(entry,))


def _exchange(record: Record, items: Sequence[Any], session: str, faults: list[Oddity], model: str = "") -> Exchange:
    system, entries = split_messages([(item_place(record, i), item) for i, item in enumerate(items)], faults)
    if not any(is_message(item) for item in items):
        faults.append(Oddity(place=record.place, kind="wrong type", detail="a trajectory without a message"))
    entries = tuple(replace(entry, model=entry.model or model) for entry in entries)
    return Exchange(place=record.place, session_id=session, model=model, system=system, entries=entries)
