"""What a person wrote in a file: the part that decides whether it was touched.

Running a notebook and saving it is no edit, so outputs, execution counts, the kernel's name and the state of widgets
do not count. Nor do empty cells: running the last cell with Shift+Enter adds one. What counts is each cell's type, text
and pictures, in order. Of any other file, and of a notebook that cannot be read, every byte counts.

What this leaves out on purpose: telling *what* was changed. Source: chapter 00.
"""

import hashlib
import json
import re
from typing import Any

__all__ = ["Cell", "cell_source", "cell_spans", "fingerprint", "has_mark", "notebook_cells"]

Cell = dict[str, Any]

_SPACE = re.compile(r"[ \t\r\n]*")
_BOM = "\ufeff"
_DECODER = json.JSONDecoder()


def fingerprint(data: bytes, name: str) -> str:
    """A hash of what a person wrote in a file.

    Args:
        data: the file's bytes.
        name: the file's name; one that ends with .ipynb is read as a notebook, if it can be.

    >>> def saved(count):
    ...     cell = {"cell_type": "code", "source": "1 + 1", "execution_count": count}
    ...     return json.dumps({"cells": [cell], "nbformat": 4}).encode()
    >>> fingerprint(saved(None), "a.ipynb") == fingerprint(saved(7), "a.ipynb")
    True
    >>> fingerprint(saved(None), "a.txt") == fingerprint(saved(7), "a.txt")
    False
    """
    cells = notebook_cells(data) if name.endswith(".ipynb") else None
    if cells is None:
        return "bytes:" + hashlib.sha256(data).hexdigest()
    written = [
        [cell["cell_type"], cell_source(cell), cell.get("attachments") or {}]
        for cell in cells
        if cell_source(cell).strip() or cell.get("attachments")
    ]
    # ASCII only: a lone surrogate, which JSON allows, can then be hashed like any other character.
    text = json.dumps(written, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return "cells:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def notebook_cells(data: bytes) -> list[Cell] | None:
    """The cells of a notebook of format 4; None when the bytes are no such notebook."""
    try:
        notebook = json.loads(data)
    except (ValueError, RecursionError):  # no JSON, no UTF-8, or nested deeper than any notebook
        return None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    return cells if isinstance(cells, list) and all(map(_is_cell, cells)) else None


def _is_cell(cell: object) -> bool:
    if not isinstance(cell, dict) or not isinstance(cell.get("cell_type"), str):
        return False
    source = cell.get("source")
    return isinstance(source, str) or (isinstance(source, list) and all(isinstance(line, str) for line in source))


def cell_source(cell: Cell) -> str:
    """A cell's text. A file holds it as one string or as a list of lines, and both mean the same."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def has_mark(cell: Cell, exercise_id: str, tag: str = "") -> bool:
    """Whether a cell belongs to an exercise and, when a tag is asked for, carries that tag."""
    metadata = cell.get("metadata")
    if not isinstance(metadata, dict) or metadata.get("exercise") != exercise_id:
        return False
    tags = metadata.get("tags")
    return not tag or (isinstance(tags, list) and tag in tags)


# --- where cells stand in the text -----------------------------------------------------------------------------------


def cell_spans(text: str) -> tuple[list[tuple[int, int]], int]:
    """Where each cell stands in a notebook's text, so that one can be changed and the rest stay as they are.

    Args:
        text: a notebook that `notebook_cells` could read.

    Returns:
        Start and end of each cell, and where the list of cells ends (the place of its bracket).

    >>> text = '{"cells": [{"a": 1}, {}], "nbformat": 4}'
    >>> spans, end = cell_spans(text)
    >>> [text[start:stop] for start, stop in spans], text[end]
    (['{"a": 1}', '{}'], ']')
    """
    at = _after(text, 1 if text.startswith(_BOM) else 0)  # at the opening brace
    found: tuple[list[tuple[int, int]], int] = ([], -1)
    while text[at := _after(text, at + 1)] != "}":  # after the brace, or after a comma
        key, at = _DECODER.raw_decode(text, at)
        at = _after(text, _after(text, at) + 1)  # over the colon
        if key == "cells":
            found = _item_spans(text, at)
            at = found[1] + 1
        else:
            _, at = _DECODER.raw_decode(text, at)
        at = _after(text, at)
        if text[at] == "}":
            break
    return found


def _item_spans(text: str, at: int) -> tuple[list[tuple[int, int]], int]:
    """The same for the list whose bracket stands at `at`."""
    spans = []
    at = _after(text, at + 1)
    while text[at] != "]":
        start = at
        _, end = _DECODER.raw_decode(text, start)
        spans.append((start, end))
        at = _after(text, end)
        if text[at] == ",":
            at = _after(text, at + 1)
    return spans, at


def _after(text: str, at: int) -> int:
    """The first place from `at` on that is no white space."""
    match = _SPACE.match(text, at)
    return match.end() if match else at
