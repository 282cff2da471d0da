"""Run the tests: python -m tests [name ...], for example python -m tests pricing."""

import importlib
import os
import re
import sys
import traceback
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The texts of these errors are the same on every version of Python.
PLAIN_ERRORS = (AssertionError, KeyError, NameError, ValueError)
INDENT = "     "


def relative(filename):
    real = os.path.realpath(filename)
    if not real.startswith(str(ROOT) + os.sep):
        return ""
    return Path(real).relative_to(ROOT).as_posix()


def places(error):
    """Return (file, line) for each frame that is in this project, outermost first."""
    found = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        name = relative(frame.f_code.co_filename)
        if name and name != "tests/__main__.py":
            found.append((name, line))
    return found


def error_text(error):
    kind = type(error).__name__
    if isinstance(error, ImportError):
        text = str(error).split(" (")[0]
    elif type(error) in PLAIN_ERRORS:
        text = str(error).strip().split("\n")[0]
    else:
        return kind
    return f"{kind}: {re.sub(r' at 0x[0-9a-fA-F]+', '', text)}"


class LineResult(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.failed = 0

    def addSuccess(self, test):
        print(f"ok   {test.id().removeprefix('tests.')}")

    def addFailure(self, test, err):
        error = err[1]
        self.failed += 1
        print(f"FAIL {test.id().removeprefix('tests.')}")
        print(f"{INDENT}{error_text(error)}")
        found = places(error)
        in_tests = [place for place in found if place[0].startswith("tests/test_")]
        if in_tests:
            print(f"{INDENT}{in_tests[-1][0]}:{in_tests[-1][1]}")
        if found and not found[-1][0].startswith("tests/"):
            print(f"{INDENT}raised in {found[-1][0]}:{found[-1][1]}")

    addError = addFailure


def load(names):
    """Import the test files; collect what cannot be imported by file and error."""
    suites, broken = [], {}
    for name in names:
        try:
            module = importlib.import_module(f"tests.{name}")
        except SyntaxError as error:
            key = (relative(error.filename or ""), type(error).__name__)
            broken.setdefault(key, []).append(name)
        except Exception as error:
            file, line = (places(error) or [(f"tests/{name}.py", 1)])[-1]
            broken.setdefault((f"{file}:{line}", error_text(error)), []).append(name)
        else:
            suites.append(unittest.defaultTestLoader.loadTestsFromModule(module))
    return suites, broken


def main(arguments):
    known = sorted(path.stem for path in (ROOT / "tests").glob("test_*.py"))
    wanted = [f"test_{name.removeprefix('test_')}" for name in arguments]
    for name in wanted:
        if name not in known:
            print(f"no such test file: tests/{name}.py")
            return 2
    suites, broken = load([name for name in known if not wanted or name in wanted])
    result = LineResult()
    for suite in suites:
        suite.run(result)
    for (place, text), names in sorted(broken.items()):
        print(f"FAIL import of {place}")
        print(f"{INDENT}{text}")
        print(f"{INDENT}not run: {', '.join(names)}")
    total = result.testsRun + len(broken)
    failures = result.failed + len(broken)
    ending = "" if failures == 1 else "s"
    print(f"{total} tests, {failures} failure{ending}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
