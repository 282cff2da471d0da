"""The learner's folder on the command line: what `course start`, `course progress` and `course reset` do with it.

What this leaves out on purpose: the commands' entries, which stand with all others in `course_lib.cli`.
Source: chapter 00.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from course_lib.cli import course_root
from course_lib.environment import bootstrap
from course_lib.errors import CourseError
from course_lib.learner.files import HIDDEN
from course_lib.learner.folder import (
    FOLDER_SETTING,
    LearnerFolderError,
    deliver,
    expanded,
    find_learner_folder,
    is_same,
    learner_folder,
    resolved,
)

__all__ = [
    "deliver_for_start",
    "folder_argument",
    "progress_command",
    "reset_arguments",
    "reset_command",
    "take_folder_option",
]

OPTION = "--folder"
_MAKES_NO_SENSE = 2  # the exit status of a command line with a mistake, as argparse and `course check` have it


# --- course start ----------------------------------------------------------------------------------------------------


def take_folder_option(rest: Sequence[str]) -> tuple[str | None, list[str]]:
    """Take `--folder F` or `--folder=F` out of a command line that is otherwise another program's.

    Raises:
        LearnerFolderError: the option has no value.

    >>> take_folder_option(["--no-browser", "--folder", "work"])
    ('work', ['--no-browser'])
    """
    folder, others, words = None, [], list(rest)
    while words:
        word = words.pop(0)
        name, _, value = word.partition("=")
        if name != OPTION:
            others.append(word)
            continue
        folder = value or (words.pop(0) if word == OPTION and words else "")
        if not folder or folder.startswith("--"):
            raise LearnerFolderError(f"{OPTION} needs a folder, such as {OPTION} my-course.")
    return folder, others


def deliver_for_start(source_root: Path, folder_option: str | None) -> Path:
    """Bring the learner's folder up to date before JupyterLab opens it, and say what was done.

    Args:
        source_root: the course's folder.
        folder_option: what `--folder` said; None means the setting COURSE_FOLDER, or the default.

    Returns:
        The learner's folder.

    Raises:
        LearnerFolderError: it cannot be used.
    """
    folder = wanted_folder(folder_option, source_root)
    if works_in_place(source_root, folder):
        with suppress(OSError):  # without it progress is not kept, and nothing else is lost
            (folder / HIDDEN).mkdir(exist_ok=True)
        return folder
    delivery = deliver(source_root, folder)
    folder = resolved(folder)
    print("\n".join(filter(None, (str(delivery), f"Your own copy of the course: {folder}"))), flush=True)
    return folder


def wanted_folder(option: str | None, source: Path) -> Path:
    """The learner's folder by option, setting or default; it need not be there."""
    if option:
        return Path.cwd() / expanded(option, Path.home())
    return learner_folder(os.environ, Path.home(), source=source)


def works_in_place(source: Path, folder: Path) -> bool:
    """Whether the course's files are the learner's own already, as a JupyterHub's administrator may have laid them.

    In a clone they never are: git would get at the learner's work.
    """
    return source != bootstrap.source_root() and is_same(source, folder)


# --- course progress and course reset --------------------------------------------------------------------------------


def folder_argument(parser: argparse.ArgumentParser) -> None:
    """Declare `--folder`: all that `course progress` takes."""
    parser.add_argument(
        OPTION, help=f"your own copy of the course (default: the one you are in, else the setting {FOLDER_SETTING})"
    )


def reset_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `course reset`."""
    parser.add_argument("exercise", metavar="NN.k", help="the exercise, such as 01.2")
    folder_argument(parser)


def present_folder(option: str | None) -> Path:
    """The learner's folder that a command in a terminal is about.

    Raises:
        LearnerFolderError: there is none yet.
    """
    if not option:
        inside = find_learner_folder(Path.cwd())
        if inside is not None:
            return inside
    folder = wanted_folder(option, course_root())
    if not (folder / HIDDEN).is_dir():
        raise LearnerFolderError(f"{folder} is no copy of the course. course start makes one; {OPTION} names another.")
    return folder


def progress_command(arguments: argparse.Namespace) -> int:
    """Print a table of all exercises, and return the exit status: 0, or 2 when there is no such folder."""
    from rich.console import Console

    from course_lib.learner.progress import load, progress_table

    try:
        folder = present_folder(arguments.folder)
    except CourseError as error:
        print(error, file=sys.stderr)
        return _MAKES_NO_SENSE
    progress = load(folder)
    console = Console()
    console.print(progress_table(progress))
    if progress.note:
        console.print(progress.note, markup=False, highlight=False, soft_wrap=True)
    return 0


def reset_command(arguments: argparse.Namespace) -> int:
    """Give one exercise its stub back, say so, and return the exit status.

    Args:
        arguments: `exercise` is its number or its answer's name; `folder` the learner's, None for the present one.

    Returns:
        The exit status: 0, or 2 when there is no such exercise or folder.

    Raises:
        LearnerFolderError: the exercise's notebook cannot be read or written.
    """
    from course_lib.checks.catalogue import find_exercise
    from course_lib.learner.reset import reset_exercise

    try:
        exercise, folder = find_exercise(arguments.exercise), present_folder(arguments.folder)
    except CourseError as error:
        print(error, file=sys.stderr)
        return _MAKES_NO_SENSE
    print(reset_exercise(folder, exercise.id, source=course_root()))
    return 0
