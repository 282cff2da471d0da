"""Reads logs of OpenAI's Responses API: requests and responses, single or one a line, or bare items.

A request may hold only what is new and name the response that it goes on from.

What this leaves out on purpose: streamed events; a log holds whole responses.
Source: chapter 04; OpenAI's API reference, November 2026.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from course_lib.messages import Block, TextBlock, ToolResultBlock
from course_lib.session_logs.blocks import Faults
from course_lib.session_logs.chat import item_place
from course_lib.session_logs.exchanges import Entry, Exchange, Exchanges
from course_lib.session_logs.items import is_item, read_item
from course_lib.session_logs.lines import Piece, Record
from course_lib.session_logs.records import LogEvent, Oddity, Place
from course_lib.session_logs.values import as_list, as_mapping, as_text, dump, openai_usage, tool_specs

__all__ = ["NAME", "read", "recognises"]

NAME = "OpenAI Responses"


def recognises(value: object) -> bool:
    """Whether this is a request, a response, both, or items, in the shape of the Responses API."""
    if isinstance(value, list):
        return any(is_item(item) for item in value[:50])
    raw = as_mapping(value)
    request, response = _sides(raw)
    if response.get("object") == "response" or isinstance(response.get("output"), list):
        return True
    has_input = isinstance(request.get("input"), list) or (isinstance(request.get("input"), str) and "model" in request)
    return (has_input and "messages" not in request and "type" not in request) or is_item(raw)


def _sides(raw: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    inner = as_mapping(raw.get("request"))
    request = as_mapping(inner.get("body")) or inner or raw
    outer = raw if raw.get("object") == "response" or isinstance(raw.get("output"), list) else {}
    answer = as_mapping(raw.get("response")) or (outer if raw.get("type") is None else {})
    return request, as_mapping(answer.get("body")) or answer


def read(pieces: Iterable[Piece]) -> Iterator[LogEvent]:
    """Yield the events of the records."""
    exchanges = Exchanges(NAME)
    answers = 0
    for piece in pieces:
        if isinstance(piece, Oddity):
            yield piece
            continue
        faults: list[Oddity] = []
        request, response = _sides(as_mapping(piece.value))
        is_list = any(is_item(item) or "role" in as_mapping(item) for item in as_list(piece.value))
        if is_list or "input" in request or response:
            exchange = _exchange(piece, faults)
            yield from exchanges.news(faults, is_document=piece.is_document)
            yield from exchanges.take(exchange)
        elif is_item(piece.value) or "role" in as_mapping(piece.value):
            entries = _entries([(piece.place, piece.value)], faults)
            answers += any(entry.side == "user" for entry in entries)
            entries = tuple(replace(entry, key=f"answer {answers}") for entry in entries)
            yield from faults
            yield from exchanges.append(Exchange(place=piece.place, entries=entries))
        else:
            yield Oddity(place=piece.place, kind="unknown record", detail=f"{dump(piece.value):.60}")
    yield from exchanges.close()


def _exchange(record: Record, faults: list[Oddity]) -> Exchange:
    request, response = _sides(as_mapping(record.value))
    raw_input = request.get("input")
    items = record.value if isinstance(record.value, list) else raw_input
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    placed = [(item_place(record, index), item) for index, item in enumerate(as_list(items))]
    model = as_text(response.get("model")) or as_text(request.get("model"))
    return Exchange(
        place=record.place,
        model=model,
        system=as_text(request.get("instructions")) or as_text(response.get("instructions")),
        tools=tool_specs(request.get("tools") or response.get("tools")),
        entries=_entries(placed, faults),
        response=_response(response, item_place(record, len(placed)), model, faults),
        continues=as_text(request.get("previous_response_id")) or as_text(response.get("previous_response_id")),
    )


def _entries(items: Sequence[tuple[Place, Any]], faults: list[Oddity]) -> tuple[Entry, ...]:
    """The items as messages: neighbouring items of one answer are one."""
    entries: list[Entry] = []
    for place, value in items:
        found: Faults = []
        item = read_item(value, found)
        faults += [Oddity(place=place, kind="wrong type", detail=fault) for fault in found]
        if item.is_unknown:
            faults.append(Oddity(place=place, kind="unknown record", detail=f"{dump(value):.60}"))
        if item.is_unreadable:
            faults.append(Oddity(place=place, kind="unreadable part", detail="an item without readable text"))
        if item.side == "none" or not item.blocks:
            continue
        if item.side == "answer" and entries and entries[-1].side == "answer":
            entries[-1] = replace(entries[-1], blocks=entries[-1].blocks + item.blocks)
        else:
            entries.append(Entry(place=place, side=item.side, blocks=item.blocks, is_injected=item.is_injected))
    return tuple(entries)


def _response(response: Mapping[str, Any], place: Place, model: str, faults: list[Oddity]) -> Entry | None:
    if "output" not in response and "usage" not in response:
        return None
    blocks: list[Block] = []
    for value in as_list(response.get("output")):
        entries = _entries([(place, value)], faults)
        blocks += [block for entry in entries for block in entry.blocks if not _is_result(block)]
    text = as_text(response.get("output_text"))
    return Entry(
        place=place,
        side="answer",
        blocks=tuple(blocks) or ((TextBlock(text),) if text else ()),
        usage=openai_usage(response.get("usage")),
        call_id=as_text(response.get("id")),
        model=model,
        is_reliable=response.get("status") != "incomplete",
    )


def _is_result(block: Block) -> bool:
    return isinstance(block, ToolResultBlock)
