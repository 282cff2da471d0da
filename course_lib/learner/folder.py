"""The learner's own copy of the course: where it is, and how `course start` brings it up to date.

    delivery = deliver(source, learner_folder(os.environ, Path.home()))
    print(delivery)

Chapters, exercises and solutions are copied out of the clone, so that an update by git and the learner's work never
meet. What happens to each file is in `course_lib.learner.delivery`; nothing that a learner wrote is ever overwritten.

What this leaves out on purpose: fetching the update (git does that). Source: chapter 00.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from course_lib.cli import FIRST_CHAPTER
from course_lib.environment.bootstrap import source_root
from course_lib.environment.processes import one_at_a_time
from course_lib.errors import CourseError
from course_lib.learner.delivered import FOLDERS, Delivered, Version
from course_lib.learner.delivery import Courier, is_copy_name
from course_lib.learner.files import HIDDEN, explain, seen, sweep
from course_lib.learner.outcomes import Delivery, Outcome

__all__ = [
    "DEFAULT_FOLDER",
    "FOLDER_SETTING",
    "Course",
    "Delivery",
    "LearnerFolderError",
    "deliver",
    "expanded",
    "find_learner_folder",
    "learner_folder",
]

FOLDER_SETTING = "COURSE_FOLDER"
DEFAULT_FOLDER = "agent-context-course"  # in the learner's home

_WAITING = "Another start is bringing your folder up to date; waiting for it."


class LearnerFolderError(CourseError):
    """The learner's folder cannot be used; the message says why and what to do."""


# --- where it is -----------------------------------------------------------------------------------------------------


def learner_folder(environ: Mapping[str, str], home: Path, *, source: Path | None = None) -> Path:
    """Where the learner works; the folder need not be there yet.

    Args:
        environ: may name the folder, as COURSE_FOLDER; a leading ~ means `home`.
        home: the learner's home.
        source: the course's own folder. When that is what the default would be (git names a clone after its
            repository), the default is another one.

    >>> learner_folder({"COURSE_FOLDER": "~/lessons"}, Path("/home/ada")).as_posix()
    '/home/ada/lessons'
    """
    named = environ.get(FOLDER_SETTING, "").strip()
    if named:
        return Path.cwd() / expanded(named, home)
    default = home / DEFAULT_FOLDER
    return default.with_name(f"my-{DEFAULT_FOLDER}") if source and is_inside(default, source) else default


def expanded(name: str, home: Path) -> Path:
    """A path that a person typed, with a leading ~ meaning `home`."""
    path = Path(name)
    return home.joinpath(*path.parts[1:]) if path.parts[:1] == ("~",) else path


def is_inside(path: Path, folder: Path) -> bool:
    """Whether `path` is `folder` or lies in it, also by another spelling or through a link; it need not exist."""
    path = resolved(path)
    return any(is_same(one, folder) for one in (path, *path.parents))


def is_same(one: Path, other: Path) -> bool:
    """Whether two paths are one file or folder; not when either is missing or out of reach."""
    try:
        return one.samefile(other)
    except OSError:
        return False


def resolved(path: Path) -> Path:
    """The path with all links followed.

    Raises:
        LearnerFolderError: links go in a circle.
    """
    try:
        return path.resolve()
    except OSError as error:
        raise LearnerFolderError(f"{path} cannot be used: {explain(error, path)}") from error
    except RuntimeError as error:  # before Python 3.13
        raise LearnerFolderError(f"{path} is a link that leads in a circle. Name another folder: --folder.") from error


def find_learner_folder(start: Path) -> Path | None:
    """The learner's folder that `start` lies in; None when it lies in none, or in the clone."""
    clone = source_root()
    for folder in (start, *start.parents):
        if clone is not None and folder == clone:  # a clone below a learner's folder is still a clone
            return None
        if (folder / HIDDEN).is_dir():
            return folder
    return None


# --- the course as it is now -----------------------------------------------------------------------------------------


class Course:
    """The files of the course, as they are in its own folder.

    Args:
        source: that folder.

    Attributes:
        paths: all files, from `source`, with `/`, in order, also those that cannot be read.
        missing: those of the three folders that are not there: their files are not taken for removed.

    Raises:
        LearnerFolderError: chapter 00 is not there.
    """

    def __init__(self, source: Path) -> None:
        if not (source / FIRST_CHAPTER).is_file():
            raise LearnerFolderError(
                f"No {FIRST_CHAPTER} in {source}: the course there is missing or not whole.\n"
                "If a file was deleted: git checkout -- chapters exercises solutions. Else clone the course again."
            )
        self.source = source
        self.missing = tuple(folder for folder in FOLDERS if not (source / folder).is_dir())
        there = [folder for folder in FOLDERS if folder not in self.missing]
        self.paths = tuple(path for folder in there for path in sorted(self._files(folder)))

    def _files(self, top: str) -> Iterator[str]:
        """The files below one folder, without what Jupyter, Python, an editor or a learner in the clone left there."""

        def stop(error: OSError) -> None:
            raise LearnerFolderError(f"{error.filename} in the course cannot be read: {explain(error)}") from error

        for folder, names, file_names in os.walk(self.source / top, onerror=stop):
            names[:] = [name for name in names if not name.startswith(".") and name != "__pycache__"]
            for name in file_names:
                if not name.startswith(".") and not is_copy_name(name):
                    yield Path(folder, name).relative_to(self.source).as_posix()

    def version(self, path: str) -> Version:
        """One file as it is now.

        Raises:
            OSError: it cannot be read.
        """
        data = (self.source / path).read_bytes()
        here = seen(data, path)
        return Version(path=path, data=data, content=here.content, sha256=here.sha256)


# --- the delivery ----------------------------------------------------------------------------------------------------


def deliver(source: Path, target: Path) -> Delivery:
    """Bring a learner's folder up to date; what a learner wrote stays.

    Two deliveries into one folder at the same time wait for each other. An interrupted one is finished by the next.

    Args:
        source: the course's folder, with chapters/, exercises/ and solutions/.
        target: the learner's folder; made when it is not there.

    Returns:
        What was done. A file that cannot be delivered is a problem in it, and the others are delivered.

    Raises:
        LearnerFolderError: there is no course in `source`, or `target` cannot be a learner's folder.
    """
    source, root = resolved(source), resolved(target)
    course = Course(source)
    try:
        refuse(source, root)
        (root / HIDDEN).mkdir(parents=True, exist_ok=True)
        with one_at_a_time(root / HIDDEN / "lock", waiting=_WAITING):
            sweep(root)
            return Delivery(tuple(outcomes(course, root, Delivered(root))))
    except OSError as error:
        text = f"{root} cannot be brought up to date: {explain(error, root)}"
        if is_same(root / FIRST_CHAPTER, root / FIRST_CHAPTER):  # it is there, and within reach
            return Delivery((Outcome("problem", "", text),))  # there is something to work with
        raise LearnerFolderError(text) from error


def refuse(source: Path, root: Path) -> None:
    """Raise a `LearnerFolderError` when a folder cannot be a learner's."""
    if is_inside(root, source):
        raise LearnerFolderError(
            f"{root} is in the course's own folder, {source}, where git would get at your work.\n"
            f"Name a folder outside of it, by --folder or the setting {FOLDER_SETTING}."
        )
    for path in (root, root / HIDDEN):
        if path.exists() and not path.is_dir():
            raise LearnerFolderError(f"{path} is a file, not a folder. Rename it, or name another folder: --folder.")
    if resolved(root / HIDDEN) != root / HIDDEN:
        raise LearnerFolderError(f"{root / HIDDEN} is a link. Remove it, or name another folder: --folder.")


def outcomes(course: Course, root: Path, delivered: Delivered) -> Iterator[Outcome]:
    """Deliver everything, one file after the other."""
    if delivered.note:
        yield Outcome("problem", "", delivered.note)
    courier = Courier(root, delivered)
    # First what the course no longer has: where a and A are one file, the new name is then free.
    yield from drops(course, root, courier)
    spelled: dict[str, str] = {}
    for path in course.paths:
        other = spelled.setdefault(path.casefold(), path)
        if other != path:
            note = f"on many systems it is the same file as {other}, so it is left out. Tell the authors of the course."
            yield Outcome("problem", path, note)
            continue
        try:
            version = course.version(path)
        except OSError as error:
            yield Outcome("problem", path, f"the course's own file cannot be read: {explain(error)}")
        else:
            yield courier.deliver(version)


def drops(course: Course, root: Path, courier: Courier) -> Iterator[Outcome]:
    """See to the files that the course no longer has."""
    now = {path.casefold(): path for path in course.paths}
    gone = courier.delivered.missing_from(course.paths)
    for top in course.missing:
        if any(entry.path.startswith(f"{top}/") for entry in gone):
            note = f"it is not in {course.source}, so yours stays as it is. If it was deleted: git checkout -- {top}"
            yield Outcome("problem", top, note)
    for entry in gone:
        if entry.path.split("/")[0] in course.missing:
            continue
        twin = now.get(entry.path.casefold())
        if twin and is_same(root / twin, root / entry.path):
            continue  # only its spelling changed, on a system that does not care
        outcome = courier.drop(entry)
        if outcome:
            yield outcome
