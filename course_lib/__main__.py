"""``python -m course_lib``: the command line of the course, on a machine that may have nothing but Python.

This file and ``course_lib/__init__.py`` keep to a syntax that any Python can read (no annotations, no f-strings).
A Python that is too old then says so, instead of stopping with a SyntaxError that explains nothing.
"""

import sys

OLDEST = (3, 11)


def complaint(version):
    # type: (tuple[int, ...]) -> str | None
    """Say what is wrong with a Python version, given as ``sys.version_info``; None when it will do."""
    if tuple(version[:2]) >= OLDEST:
        return None
    return (
        "The course needs Python %d.%d or newer; this is Python %d.%d.\n"
        "If a newer one is installed, name it: python3.13 -m course_lib start (on Windows: py -3.13 ...).\n"
        "If not, get one from python.org, from your system's packages, or by: uv python install 3.13"
    ) % (OLDEST + tuple(version[:2]))


if __name__ == "__main__":
    problem = complaint(sys.version_info[:2])
    if problem:
        sys.exit(problem)
    # Only now: everything else in the package is written for Python 3.11.
    from course_lib.cli import main

    sys.exit(main())
