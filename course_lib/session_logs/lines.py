"""A file as a stream of JSON values, each with its place; whatever is broken is said, and the rest is kept.

A log is one JSON value a line, or one JSON document over many lines; which of them is seen from its beginning. Lines
are read one at a time, so that a file may be larger than the memory; a document is loaded whole, up to
`MAX_RECORD_BYTES`.

What this leaves out on purpose: what a value means. That is the readers' work.
Source: chapter 04; the faults are those seen in public logs of 2025 and 2026.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from course_lib.errors import CourseError
from course_lib.session_logs.records import Oddity, OddityKind, Place

__all__ = ["MAX_RECORD_BYTES", "Piece", "Record", "SessionLogError", "read_records"]

MAX_RECORD_BYTES = 128 * 2**20  # of one line, or of a document of many lines
_HEAD_BYTES = 64 * 2**10  # how much of a file is looked at to tell lines from a document
_BOM = b"\xef\xbb\xbf"
_DECODER = json.JSONDecoder()


class SessionLogError(CourseError):
    """A file that is no session log, of no format that can be read here, or that cannot be opened."""


@dataclass(frozen=True, slots=True)
class Record:
    """A JSON object or array, and where it stands; a document is alone in its file."""

    place: Place
    value: Any
    is_document: bool = False


Piece: TypeAlias = Record | Oddity


def read_records(path: Path) -> Iterator[Piece]:
    """Yield the file's JSON objects and arrays, and an `Oddity` for whatever is none.

    Raises:
        SessionLogError: the file cannot be opened, is empty, is UTF-16, or is one document that is too large.
    """
    if path.exists() and not path.is_file():
        raise SessionLogError(f"{path}: is no file: name a file, or a folder where folders are taken")
    try:
        file = path.open("rb")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SessionLogError(f"{path}: cannot be opened ({reason}): name a file that exists and may be read") from None
    with file:
        yield from _records_of(file, path.name)


def _records_of(file: BinaryIO, name: str) -> Iterator[Piece]:
    head = file.read(_HEAD_BYTES)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise SessionLogError(f"{name}: is UTF-16: save it as UTF-8 and read it again")
    if not head.strip():
        raise SessionLogError(f"{name}: holds nothing in its first {_HEAD_BYTES:,} bytes: is this the right file?")
    start = len(_BOM) if head.startswith(_BOM) else 0
    if _looks_like_document(head[start:]):
        file.seek(start)
        document = _read_document(file, name, is_sure=head[start:].split(None, 1)[0] in (b"{", b"["))
        if document is not None:
            yield from document
            return
    file.seek(start)
    yield from _read_lines(file, name)


def _looks_like_document(head: bytes) -> bool:
    """Whether the first line is the beginning of a longer value, and no line after it is a value by itself."""
    first, separator, rest = head.lstrip().partition(b"\n")
    if not separator or _is_value(first):
        return False
    return first.strip() in (b"{", b"[") or not any(_is_value(line) for line in rest.split(b"\n") if line[:1] == b"{")


def _is_value(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _read_document(file: BinaryIO, name: str, *, is_sure: bool) -> list[Piece] | None:
    """The whole file as one value; None if it is none, and so may be a log of lines with a broken first one."""
    raw = file.read(MAX_RECORD_BYTES + 1)
    if len(raw) > MAX_RECORD_BYTES:
        if is_sure:
            limit = MAX_RECORD_BYTES // 2**20
            raise SessionLogError(f"{name}: a JSON document of more than {limit} MB: a log of lines has no such limit")
        return None
    text, oddities = _decode(raw, Place(name, 1))
    values, end = _split_glued(text)
    if not values and is_sure:
        raise SessionLogError(f"{name}: {_what_is_broken(text)}")
    if not values:
        return None
    starts = [1 + text.count("\n", 0, at) for _, at in values] if len(values) > 1 else [1]
    places = [Place(name, start) for start in starts]
    records = [Record(p, v, is_document=len(values) == 1) for p, (v, _) in zip(places, values, strict=True)]
    if end < len(text):
        detail = f"no JSON from {text[end : end + 40]!r} on"
        oddities.append(Oddity(place=places[-1], kind="torn last line", detail=detail))
    return [*oddities, *records]


def _what_is_broken(text: str) -> str:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"a JSON document that is broken in line {error.lineno} ({error.msg}): was it cut off?"
    except (ValueError, RecursionError) as error:
        return f"a JSON document that cannot be read ({error})"
    return "a JSON document that cannot be read"


def _read_lines(file: BinaryIO, name: str) -> Iterator[Piece]:
    number = 0
    size = os.fstat(file.fileno()).st_size
    while raw := file.readline(MAX_RECORD_BYTES + 1):
        number += 1
        place = Place(name, number)
        if len(raw) > MAX_RECORD_BYTES:
            while raw and not raw.endswith(b"\n"):
                raw = file.readline(2**20)
            yield Oddity(place=place, kind="broken line", detail=f"longer than {MAX_RECORD_BYTES // 2**20} MB: skipped")
            continue
        text, oddities = _decode(raw, place)
        yield from oddities
        if text := text.strip():
            for piece in _values_in(text, place, is_torn=not raw.endswith(b"\n")):
                is_alone = number == 1 and file.tell() == size
                yield replace(piece, is_document=True) if is_alone and isinstance(piece, Record) else piece


def _decode(raw: bytes, place: Place) -> tuple[str, list[Piece]]:
    try:
        return raw.decode("utf-8"), []
    except UnicodeDecodeError as error:
        detail = f"byte {error.start + 1} is no UTF-8: shown as \N{REPLACEMENT CHARACTER}"
        return raw.decode("utf-8", "replace"), [Oddity(place=place, kind="not UTF-8", detail=detail)]


def _values_in(text: str, place: Place, *, is_torn: bool) -> Iterator[Piece]:
    """The values of one line: nearly always one."""
    try:
        values, end = [json.loads(text)], len(text)
    except RecursionError:
        yield Oddity(place=place, kind="broken line", detail="nested too deeply to be read")
        return
    except ValueError:
        glued, end = _split_glued(text)
        values = [value for value, _ in glued]
        if end < len(text) and (tail := _after_torn_piece(text, end)) is not None:
            values.append(tail)
    if len(values) > 1:
        yield Oddity(place=place, kind="glued line", detail=f"{len(values)} values")
    for value in values:
        if isinstance(value, dict | list):
            yield Record(place, value)
        else:
            yield Oddity(place=place, kind="broken line", detail=f"no object: {text[:40]!r}")
    if end < len(text):
        kind: OddityKind = "torn last line" if is_torn else "broken line"
        yield Oddity(place=place, kind=kind, detail=f"no JSON from {text[end : end + 40]!r} on")


def _split_glued(text: str) -> tuple[list[tuple[Any, int]], int]:
    """Read value after value; return each with where it begins, and where the last whole one ends."""
    values = []
    at = _skip_blanks(text, 0)
    while at < len(text):
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        values.append((value, at))
        at = _skip_blanks(text, end)
    return values, at


def _skip_blanks(text: str, at: int) -> int:
    while text[at : at + 1].isspace():
        at += 1
    return at


def _after_torn_piece(text: str, start: int) -> Any:
    """The object at the end of a line whose writer was killed once and then went on: torn piece, then a whole one.

    It must begin as the torn one does; an object inside a torn one ends before the line does, or begins otherwise.
    """
    opening = text[start : text.find(":", start) + 1]
    at = text.find(opening, start + 1) if len(opening) > 3 else -1
    while at > 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, end = None, -1
        if end == len(text):
            return value
        at = text.find(opening, at + 1)
    return None
