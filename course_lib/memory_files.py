r"""Memory files: CLAUDE.md and AGENTS.md of the user, the project, and each folder on the way down (chapter 02).

They are read from the most general to the nearest, so that what is nearest is said last. Whatever is odd about a file
is said in its place: cut because it is huge, not UTF-8, a folder, a link that leads away or round in a circle.

    >>> import tempfile
    >>> project = Path(tempfile.mkdtemp())
    >>> _ = (project / "CLAUDE.md").write_text("Never touch vendor/.")
    >>> print(project_memory(read_memory_files(project)).text)
    <memory_file level="project" path="CLAUDE.md">
    Never touch vendor/.
    </memory_file>

What stands in such a file was written by somebody, perhaps by somebody hostile. It keeps to its marks: it can neither
close them nor open a section of its own. That it is *obeyed* less is not in our hands.

What this leaves out on purpose: imports of further files, files in folders below, and rules for single paths.
Source: chapter 02; the places are those of Claude Code and Codex CLI (documentation, November 2026).
"""

import html
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import SettingsError
from course_lib.prompt_sources import one_line
from course_lib.system_prompt import Section

__all__ = [
    "MAX_MEMORY_CHARS",
    "MemoryFile",
    "find_project_root",
    "persistent_memory",
    "project_memory",
    "read_memory_files",
]

MAX_MEMORY_CHARS = 20_000  # of one file; it is paid for in every request

_NAMES = ("CLAUDE.md", "AGENTS.md")
_USER_PLACES = (".claude/CLAUDE.md", ".codex/AGENTS.md")  # in the home folder
# O_NONBLOCK: a named pipe would wait for a writer for ever. A flag that a system does not have counts as 0.
_READ_FLAGS = sum(getattr(os, f"O_{name}", 0) for name in ("RDONLY", "NOFOLLOW", "NONBLOCK", "CLOEXEC", "BINARY"))
_MARKS = re.compile(r"[\udc80-\udcff]")
_TAGS = re.compile(r"<(?=\s*/?\s*memory_file)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class MemoryFile:
    """One memory file: where it lies, what stands in it, and what is odd about it ("" when nothing is)."""

    level: str  # "user", "project" or "folder"; "persistent" for what earlier sessions wrote
    path: str  # from the project's root, or from the home folder with "~/"
    text: str = ""
    notice: str = ""

    @property
    def rendered(self) -> str:
        """The file as it stands in the prompt, between marks that its text cannot close."""
        name = html.escape(one_line(self.path))
        lines = [f'<memory_file level="{self.level}" path="{name}">', f"[{self.notice}]" if self.notice else ""]
        lines += [_TAGS.sub("&lt;", self.text.strip()), "</memory_file>"]
        return "\n".join(filter(None, lines))


def find_project_root(folder: Path) -> Path:
    """Return the nearest folder upwards that holds a `.git`, or the folder itself when there is none."""
    folder = folder.resolve()
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)


def read_memory_files(
    folder: Path, *, project_root: Path | None = None, home: Path | None = None, max_chars: int = MAX_MEMORY_CHARS
) -> tuple[MemoryFile, ...]:
    """Return the memory files for work in `folder`, from the most general to the nearest; missing ones are no entry.

    Args:
        folder: where the agent works.
        project_root: the folder that the search starts in; `find_project_root(folder)` by default.
        home: the user's home folder; without it no user-level files are read.
        max_chars: of one file; what is longer is cut, with a notice.

    Raises:
        SettingsError: `folder` is not in `project_root`, or `max_chars` is below 1.
    """
    if max_chars < 1:
        raise SettingsError(f"max_chars is {max_chars}: expected at least 1")
    folder = folder.resolve()
    root = (project_root or find_project_root(folder)).resolve()
    if not folder.is_relative_to(root):
        raise SettingsError(f"{str(folder)!r} is not in the project {str(root)!r}: give a folder in it")
    seen: dict[tuple[int, int], str] = {}
    places = _user_places(home) if home else iter(())
    found = (_read(*place, seen, max_chars) for place in (*places, *_project_places(root, folder)))
    return tuple(file for file in found if file is not None)


def project_memory(files: Sequence[MemoryFile]) -> Section:
    """Return the memory files as a section; without any, a sentence that says so."""
    text = "\n\n".join(file.rendered for file in files)
    return Section("project_memory", text or f"There is no {' and no '.join(_NAMES)} for this folder.")


def persistent_memory(path: Path, *, max_chars: int = MAX_MEMORY_CHARS) -> Section:
    """Return what earlier sessions wrote to the file, as a section; a file that does not exist gives an empty one."""
    file = _read("persistent", path.parent.resolve(), path.name, path.name, {}, max_chars)
    return Section("persistent_memory", file.rendered if file else "")


def _user_places(home: Path) -> Iterator[tuple[str, Path, str, str]]:
    """Level, base that links may not leave, path in it, path as shown."""
    for place in _USER_PLACES:
        yield "user", home.resolve(), place, f"~/{place}"


def _project_places(root: Path, folder: Path) -> Iterator[tuple[str, Path, str, str]]:
    down = [root, *(place for place in reversed(folder.parents) if place.is_relative_to(root) and place != root)]
    for place in dict.fromkeys([*down, folder]):
        for name in _NAMES:
            path = (place / name).relative_to(root).as_posix()
            yield "project" if place == root else "folder", root, path, path


def _read(
    level: str, base: Path, path: str, shown: str, seen: dict[tuple[int, int], str], max_chars: int
) -> MemoryFile | None:
    """The file, or None when there is none; `seen` remembers what was read, by what the system knows it as."""
    if not os.path.lexists(base / path):
        return None

    def odd(notice: str) -> MemoryFile:
        return MemoryFile(level=level, path=shown, notice=f"not read: {notice}")

    try:
        target = (base / path).resolve(strict=True)
        if not target.is_relative_to(base):
            return odd("it is a link that leads out of its folder")
        if target.is_dir():
            return odd("it is a folder")
        with os.fdopen(os.open(target, _READ_FLAGS), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return odd("it is no regular file")
            earlier = seen.setdefault((status.st_dev, status.st_ino), shown)
            if earlier != shown:
                return MemoryFile(level=level, path=shown, notice=f"the same file as {one_line(earlier)}")
            data = file.read(4 * max_chars + 4)  # a character has at most four bytes
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle, before Python 3.13
        return odd(_reason(error))
    return _file(level, shown, data, status.st_size, max_chars)


def _reason(error: OSError | RuntimeError) -> str:
    if isinstance(error, RuntimeError) or "loop" in str(error).lower() or "symbolic links" in str(error).lower():
        return "it is a link that leads round in a circle"
    if isinstance(error, FileNotFoundError):
        return "it is a link to a file that does not exist"
    return f"the system says: {error.strerror}"


def _file(level: str, shown: str, data: bytes, size_bytes: int, max_chars: int) -> MemoryFile:
    if b"\0" in data:
        return MemoryFile(level=level, path=shown, notice="not read: it is no UTF-8 text (it holds NUL bytes)")
    bom_bytes = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    data = data[bom_bytes:]
    text, notices = data.decode("utf-8", "surrogateescape"), []  # each unreadable byte becomes one mark
    kept = text[:max_chars]
    if len(text) > max_chars:
        left_out = size_bytes - bom_bytes - len(kept.encode("utf-8", "surrogateescape"))
        notices.append(f"cut after {max_chars:,} characters; {left_out:,} bytes of {size_bytes:,} left out")
    shown_text, broken = _MARKS.subn("�", kept)
    if broken:
        notices.append(f"not UTF-8: {broken:,} unreadable {'byte is' if broken == 1 else 'bytes are'} shown as �")
    return MemoryFile(level=level, path=shown, text=shown_text, notice="; ".join(notices))
