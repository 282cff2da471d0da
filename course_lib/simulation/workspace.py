"""A folder that an agent may work in, and nothing outside of it (chapter 01).

Every path that a model names goes through `Workspace.resolve`, which refuses whatever leaves the folder: absolute
paths, `..`, links, and the forms that only Windows understands. The rules are the same on every system, so a run that
works on one machine works on all.

    >>> with make_workspace() as workspace:
    ...     before = workspace.snapshot()
    ...     workspace.write_text("notes/plan.txt", "types first")
    ...     workspace.changed_paths(before)
    False
    ('notes/plan.txt',)

What this leaves out on purpose: protection against a program that runs *at the same time* and swaps a folder for a
link between check and use. A file is opened without following a last link, and checked again once it is open; a folder
that is swapped during a write, or swapped and swapped back, goes unnoticed. So do hard links: they look like any file
(a read follows them, a write replaces them). Only a command that got away could do it; see `commands`.
Source: chapter 01.
"""

import atexit
import os
import re
import shutil
import stat
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import ToolError, WorkspaceError

__all__ = ["MAX_FILE_BYTES", "Workspace", "make_workspace"]

MAX_FILE_BYTES = 1_000_000  # of a file that is read or written as text

_TEMPLATE = Path(__file__).with_name("sample_project")
_WAY_OUT = "name a path inside the workspace, such as 'src/main.py'"
# What is refused on every system because one of them cannot have it: first of the whole path, then of a name in it.
_PATH_RULES = (
    (re.compile(r"\s*\Z"), "is empty"),
    (re.compile(r"/"), "is absolute"),
    (re.compile(r".{1025}", re.DOTALL), "has more than 1024 characters"),
)
_NAME_RULES = (
    (re.compile(r'.*[\x00-\x1f\x7f\\:*?"<>|\ud800-\udfff]', re.DOTALL), "has a character that not every system allows"),
    (re.compile(r".*[. ]\Z"), "has a name that ends with a dot or a blank"),
    (re.compile(r"(con|prn|aux|nul|con(in|out)\$|(com|lpt)[1-9¹²³]) *(\.|\Z)", re.I), "has a Windows device's name"),
    (re.compile(r".{256}"), "has a name of more than 255 characters"),
)
# O_NONBLOCK: a named pipe would wait for a writer for ever. A flag that a system does not have counts as 0.
_READ_FLAGS = sum(getattr(os, f"O_{name}", 0) for name in ("RDONLY", "NOFOLLOW", "NONBLOCK", "CLOEXEC", "BINARY"))


@dataclass(frozen=True)
class Workspace:
    """A folder and the only way into it.

    Raises:
        WorkspaceError: `root` is not an existing folder.
    """

    root: Path  # kept with all links resolved
    is_temporary: bool = False  # whether `close`, or the end of a `with`, removes it

    def __post_init__(self) -> None:
        if not self.root.is_dir():
            raise WorkspaceError(f"{str(self.root)!r} is no folder: make it first, or call make_workspace()")
        object.__setattr__(self, "root", self.root.resolve())

    def __enter__(self) -> "Workspace":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the folder if it is a temporary one; may be called again."""
        if self.is_temporary:
            shutil.rmtree(self.root, ignore_errors=True)

    def resolve(self, path: str) -> Path:
        """Return the absolute path of `path`, which is relative to the workspace and need not exist.

        `..` is taken out of the text before any link is looked at; links that stay inside are followed. A path that
        leaves the workspace, or that not every system can have, is a `ToolError`.
        """
        with suppress(OSError, RuntimeError):  # RuntimeError: links in a circle, before Python 3.13
            target = self.root.joinpath(*_names(path)).resolve()
            if target.is_relative_to(self.root):
                return target
        raise ToolError(f"path {path!r:.80} is a link that leads nowhere or out of the workspace: {_WAY_OUT}")

    def relative(self, path: Path) -> str:
        """Return an absolute path as tools name it: from the workspace, with `/`; outside is a `WorkspaceError`."""
        if not path.is_relative_to(self.root):
            raise WorkspaceError(f"{str(path)!r} is not in the workspace: use a path that resolve() returned")
        return path.relative_to(self.root).as_posix()

    def files(self, path: str = ".", *, hidden: bool = False) -> tuple[str, ...]:
        """Return the files under `path` (or the one file that it is), sorted, as `relative` names them.

        Left out: links, `__pycache__`, names that `resolve` refuses, and without `hidden` all that starts with a dot.
        A path that is refused or does not exist is a `ToolError`.
        """
        start = self.resolve(path)
        found = []
        with _os_errors(path):
            if not start.is_dir():
                start.stat()  # says so when there is nothing
                return (self.relative(start),)
            for folder, names, file_names in os.walk(start):
                inside = [Path(folder, name) for name in names if _is_listed(name, hidden)]
                names[:] = [item.name for item in inside if item.resolve() == item]  # no links, nor Windows' junctions
                found += [Path(folder, name) for name in file_names if _is_listed(name, hidden)]
            return tuple(sorted(self.relative(item) for item in found if item.is_file() and not item.is_symlink()))

    def read_text(self, path: str, max_bytes: int = MAX_FILE_BYTES) -> str:
        """Return the text of a file as it is, line ends included.

        Raises:
            ToolError: refused, missing, a folder, longer than `max_bytes`, or not UTF-8 text.
        """
        target = self.resolve(path)
        with _os_errors(path):
            if target.is_dir():
                raise ToolError(f"{path!r:.80} is a folder: list_files shows what is in it")
            with os.fdopen(os.open(target, _READ_FLAGS), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise ToolError(f"{path!r:.80} is no regular file: only files can be read")
                if self.resolve(path) != target:  # a link was put in its way meanwhile (one that leads out is refused)
                    raise ToolError(f"{path!r:.80} was replaced while it was being opened: try again")
                data = file.read(max_bytes + 1)
        return _checked_text(path, data, max_bytes)

    def write_text(self, path: str, text: str, max_bytes: int = MAX_FILE_BYTES) -> bool:
        """Write the text as it is, in UTF-8, making missing folders; return whether it replaces a file.

        A reader sees the old file or the new one, never half of it.

        Raises:
            ToolError: refused, a folder, longer than `max_bytes`, not text, or the system says no.
        """
        target, data = self.resolve(path), text.encode("utf-8", "surrogatepass")
        _checked_text(path, data, max_bytes)
        draft = target.with_name(f".{uuid.uuid4().hex}.tmp")
        with _os_errors(path):
            if target.is_dir():
                raise ToolError(f"{path!r:.80} is a folder: name a file in it")
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                with draft.open("xb") as file:
                    file.write(data)
                if replaces := target.exists():
                    draft.chmod(stat.S_IMODE(target.stat().st_mode))
                draft.replace(target)
            finally:
                draft.unlink(missing_ok=True)
        return replaces

    def snapshot(self) -> dict[str, str]:
        """Return path -> text, line ends as they are, of every text file, hidden ones too (see `files`)."""
        texts = {}
        for path in self.files(hidden=True):
            with suppress(ToolError):  # not text, or too long
                texts[path] = self.read_text(path)
        return texts

    def changed_paths(self, since: Mapping[str, str]) -> tuple[str, ...]:
        """Return the text files that were added, removed or changed since that snapshot, sorted."""
        now = self.snapshot()
        return tuple(sorted(path for path in now.keys() | since.keys() if now.get(path) != since.get(path)))


def make_workspace(folder: Path | None = None) -> Workspace:
    """Copy the sample project into a new folder and return it as a workspace.

    Args:
        folder: where to, absent or empty; it is kept. Without it: a temporary one, removed at the latest at exit.

    Raises:
        WorkspaceError: the folder is in use or cannot be written, or the package has no sample project.
    """
    if not _TEMPLATE.is_dir():
        raise WorkspaceError("the sample project is missing from the package: install the course again")
    try:
        if folder is not None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise WorkspaceError(f"{str(folder)!r} is in use: give an empty or new folder, or none for a temporary one")
        root = folder or Path(tempfile.mkdtemp(prefix="course-workspace-"))
        if folder is None:
            atexit.register(shutil.rmtree, root, ignore_errors=True)  # notebooks rarely close anything
        for source in sorted(_TEMPLATE.rglob("*")):
            path = source.relative_to(_TEMPLATE)
            if source.is_file() and all(map(_is_listed, path.parts)):
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                # git on Windows may have changed the line ends: other texts, other token counts
                (root / path).write_bytes(source.read_bytes().replace(b"\r\n", b"\n"))
    except OSError as error:
        raise WorkspaceError(f"the workspace cannot be made ({error}): give a folder that can be written") from error
    return Workspace(root, is_temporary=folder is None)


def _names(path: str) -> list[str]:
    """The names that lead from the root to the path, without `.` and `..`."""
    problem = _problem(path, _PATH_RULES)
    names: list[str] = []
    for name in [] if problem else path.split("/"):
        if name == "..":
            problem = problem or ("" if names else "leaves the workspace")
            del names[-1:]
        elif name not in ("", "."):
            problem = problem or _problem(name, _NAME_RULES)
            names.append(name)
    if problem:
        raise ToolError(f"path {path!r:.80} {problem}: {_WAY_OUT}")
    return names


def _problem(text: str, rules: Iterable[tuple[re.Pattern[str], str]]) -> str:
    return next((problem for rule, problem in rules if rule.match(text)), "")


def _is_listed(name: str, hidden: bool = False) -> bool:
    return name != "__pycache__" and (hidden or not name.startswith(".")) and not _problem(name, _NAME_RULES)


@contextmanager
def _os_errors(path: str) -> Iterator[None]:
    """Turn the system's errors, whose text holds an absolute path, into refusals that name the model's."""
    try:
        yield
    except FileNotFoundError:
        raise ToolError(f"{path!r:.80} does not exist: list_files shows what there is") from None
    except (FileExistsError, NotADirectoryError):
        raise ToolError(f"{path!r:.80} runs through a file as if it were a folder: {_WAY_OUT}") from None
    except OSError as error:
        raise ToolError(f"{path!r:.80} cannot be used: {error.strerror}") from None


def _checked_text(path: str, data: bytes, max_bytes: int) -> str:
    if len(data) > max_bytes:
        raise ToolError(f"{path!r:.80} has more than {max_bytes} bytes: work on a part of it with run_command")
    with suppress(UnicodeDecodeError):
        text = data.decode("utf-8")
        if "\0" not in text:
            return text
    raise ToolError(f"{path!r:.80} is not UTF-8 text, or has a NUL byte: only text can be read and written")
