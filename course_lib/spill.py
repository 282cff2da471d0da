"""Texts too long for a conversation, in files of their own (chapter 08).

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = FolderSpillStore(Path(folder.name) / "spill", shown_as="spill")
    >>> path = store.put("a very long text")
    >>> path.startswith("spill/"), store.get(path)
    (True, 'a very long text')
    >>> store.put("a very long text") == path, store.get("spill/../secret")
    Traceback (most recent call last):
        ...
    course_lib.errors.ToolError: 'spill/../secret' is no spilled text: name a path that a notice gave you
    >>> folder.cleanup()

A file is written once, under a name made from its content, so nothing that a model or a tool says can choose the name;
and it belongs to its owner alone.

`page_of` shows a part of a long text, and `read_spilled_tool` lets the model ask for one.

What this leaves out on purpose: tidying up. A session's folder goes when the session does.
Source: chapter 08; results on disk are the first tier of an article on Claude Code's compression (2026).
"""

import hashlib
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from course_lib.agent import Tool
from course_lib.errors import ToolError, TranscriptError
from course_lib.messages import ToolSpec

__all__ = ["PAGE_CHARS", "READ_SPILLED", "FolderSpillStore", "SpillStore", "page_of", "read_spilled_tool"]

READ_SPILLED = "read_spilled"  # the tool's name
PAGE_CHARS = 20_000  # that it shows at once
_NAME = re.compile(r"[0-9a-f]{16}\.txt")


class SpillStore(Protocol):
    """Where long texts go."""

    def put(self, text: str) -> str:
        """Keep the text and return the path by which the model can ask for it."""
        ...


class FolderSpillStore:
    """A folder of spilled texts.

    Args:
        folder: on disk; made when the first text comes.
        shown_as: the folder's name in the paths that the model sees.
    """

    def __init__(self, folder: Path, *, shown_as: str = "spill") -> None:
        self.folder, self.shown_as = folder, shown_as

    def put(self, text: str) -> str:
        """Write the text if it is not there yet, and return its path as the model sees it.

        Raises:
            TranscriptError: it cannot be written.
        """
        data = text.encode("utf-8", "surrogatepass")
        name = f"{hashlib.sha256(data).hexdigest()[:16]}.txt"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._holds(name, data):
                self._write(name, data)
        except OSError as error:
            raise TranscriptError(f"cannot write a long result to {self.folder / name}: {error.strerror}") from error
        return f"{self.shown_as}/{name}"

    def get(self, path: str) -> str:
        """Return a spilled text by the path that the model saw.

        Raises:
            ToolError: there is none by that path.
        """
        folder, _, name = path.rpartition("/")
        try:
            if folder == self.shown_as and _NAME.fullmatch(name) and not (self.folder / name).is_symlink():
                return (self.folder / name).read_bytes().decode("utf-8", "surrogatepass")
        except (OSError, UnicodeDecodeError):
            pass  # gone, or not what was written: for the model it is not there
        raise ToolError(f"{path[:200]!r} is no spilled text: name a path that a notice gave you")

    def _holds(self, name: str, data: bytes) -> bool:
        """Whether the file is there, whole and as it was written."""
        file = self.folder / name
        return file.is_file() and not file.is_symlink() and file.read_bytes() == data

    def _write(self, name: str, data: bytes) -> None:
        """Write a whole file that only its owner can read: it is there in full or not at all."""
        number, part_name = tempfile.mkstemp(dir=self.folder, suffix=".part")  # new, and for its owner alone
        part = Path(part_name)
        try:
            with os.fdopen(number, "wb") as file:
                file.write(data)
            part.replace(self.folder / name)
        except BaseException:
            part.unlink()
            raise


def page_of(text: str, *, offset_chars: int = 0, max_chars: int = PAGE_CHARS) -> str:
    """Return a page of a text with a header that says where it lies; also a text of one long line has pages.

    Raises:
        ToolError: an offset outside of the text, or a page below one character.
    """
    if not 0 <= offset_chars < max(1, len(text)) or max_chars < 1:
        raise ToolError(
            f"offset_chars {offset_chars}, max_chars {max_chars}: the text has {len(text):,} characters, "
            "give an offset below that and a page of at least 1"
        )
    end = min(len(text), offset_chars + max_chars)
    more = f", next page: offset_chars={end}" if end < len(text) else ""
    return f"(characters {offset_chars:,} to {end:,} of {len(text):,}{more})\n{text[offset_chars:end]}"


def read_spilled_tool(store: FolderSpillStore, *, max_chars: int = PAGE_CHARS) -> Tool:
    """Return the tool with which the model reads spilled texts, a page at a time.

    Args:
        store: where they are.
        max_chars: of a page, whatever the model asks for.
    """
    spec = ToolSpec(
        READ_SPILLED,
        f"Read a long result that was kept in a file: at most {max_chars} characters, and where the next page begins.",
        {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "As the notice names it."},
                "offset_chars": {"type": "integer", "description": "Where the page begins. Default: 0."},
            },
            "required": ["path"],
        },
    )

    def run(given: Mapping[str, Any]) -> str:
        path, offset = given.get("path"), given.get("offset_chars")
        offset = 0 if offset is None else offset
        if not isinstance(path, str) or not isinstance(offset, int) or isinstance(offset, bool):
            raise ToolError(f"path {path!r:.80}, offset_chars {offset!r:.80}: expected a string and a whole number")
        return page_of(store.get(path), offset_chars=offset, max_chars=max_chars)

    return Tool(spec, run)
