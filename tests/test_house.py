"""The rules of the house: one reading order, nothing heavy at import, every public name listed and explained."""

import ast
import doctest
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib import READING_ORDER

PACKAGE = Path(__file__).resolve().parents[1] / "course_lib"
THIRD_PARTY = {"tiktoken"}  # all that a book module may import besides the standard library and earlier modules
HEAVY = (
    "openai",
    "anthropic",
    "IPython",
    "ipywidgets",
    "matplotlib",
    "numpy",
    "rich",
    "pytest",
    "hypothesis",
    "httpx2",
)
LONGEST_FUNCTION, LONGEST_FILE = 40, 300  # lines


def tree(module):
    """The syntax tree of a book module, without importing it."""
    return ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))


def imports(module):
    """Every module that a book module imports anywhere, also inside functions, by full name."""
    found = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import in line {node.lineno}"
            is_package = node.module == "course_lib"
            found.update(f"course_lib.{alias.name}" for alias in node.names) if is_package else found.add(node.module)
    return found


def public_names(module):
    """The public names that a module defines at its top level, imports left out."""
    found = set()
    for node in tree(module).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return {name for name in found if not name.startswith("_")}


def functions(module):
    """Every function and method of a module."""
    return [node for node in ast.walk(tree(module)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def loaded_by(code):
    """The top-level modules that are loaded in a fresh Python after the code, and were not before."""
    script = f"import sys\nbefore = set(sys.modules)\n{code}\nprint(*sorted(set(sys.modules) - before))"
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=PACKAGE.parent, capture_output=True, text=True, check=True, timeout=60
    )
    return set(result.stdout.split())


def test_the_reading_order_names_each_module_once():
    """The order is a list of different modules."""
    assert len(set(READING_ORDER)) == len(READING_ORDER) > 0


def test_every_flat_module_is_in_the_book_or_known_not_to_be():
    """A flat module that is not in the reading order imports from the book, and so is no part of it."""
    for file in PACKAGE.glob("*.py"):
        if file.stem not in {*READING_ORDER, "__init__", "__main__"}:
            assert not any(f"course_lib.{file.stem}" in imports(module) for module in READING_ORDER)


@pytest.mark.parametrize("module", READING_ORDER)
def test_each_module_of_the_order_exists_and_explains_itself(module):
    """Its docstring starts with a sentence, names its chapter, and says what its source is."""
    docstring = ast.get_docstring(tree(module))
    assert docstring, f"{module} has no docstring"
    assert docstring.split("\n")[0].endswith((".", "?", ")"))
    assert re.search(r"chapters? \d\d\b", docstring)
    assert "\nSource: " in docstring


@pytest.mark.parametrize("module", READING_ORDER)
def test_each_module_imports_only_what_came_before(module):
    """From the package: modules earlier in the order, and no leaf. From outside: the standard library and tiktoken."""
    before = {f"course_lib.{name}" for name in READING_ORDER[: READING_ORDER.index(module)]}
    allowed = sys.stdlib_module_names | THIRD_PARTY
    strangers = {name for name in imports(module) if name not in before and name.partition(".")[0] not in allowed}
    assert strangers == set()


@pytest.mark.parametrize("module", READING_ORDER)
def test_all_is_complete_and_sorted(module):
    """`__all__` lists every public name that the module defines, only those, each once, in ruff's order."""
    names = importlib.import_module(f"course_lib.{module}").__all__

    def rank(name):
        return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)

    assert set(names) == public_names(module)
    assert names == sorted(set(names), key=rank)


@pytest.mark.parametrize("module", READING_ORDER)
def test_every_listed_name_exists(module):
    """Each name in `__all__` can be imported."""
    loaded = importlib.import_module(f"course_lib.{module}")
    assert [name for name in loaded.__all__ if not hasattr(loaded, name)] == []


@pytest.mark.parametrize("module", READING_ORDER)
def test_public_things_have_docstrings(module):
    """Every public class, function, method and property says what it is."""
    silent = []
    for node in tree(module).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            members = node.body if isinstance(node, ast.ClassDef) else []
            methods = [m for m in members if isinstance(m, ast.FunctionDef) and not m.name.startswith("_")]
            silent += [thing.name for thing in (node, *methods) if not ast.get_docstring(thing)]
    assert silent == []


def test_nothing_is_too_long():
    """A function fits on a screen, and a file can be read in one sitting; the sample project is data."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if "sample_project" not in path.parts:
            text = path.read_text(encoding="utf-8")
            assert text.count("\n") <= LONGEST_FILE, path.name
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef):
                    assert node.end_lineno - node.lineno < LONGEST_FUNCTION, f"{path.name}: {node.name}"


def test_there_are_examples():
    """Most modules show an example in a docstring; pytest runs them all as doctests (pyproject.toml)."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    modules = [importlib.import_module(f"course_lib.{module}") for module in READING_ORDER]
    with_examples = [m.__name__ for m in modules if any(test.examples for test in finder.find(m))]
    assert len(with_examples) >= 5


def test_importing_the_package_does_nothing():
    """`import course_lib` loads the package and no other module of it, of the standard library, or from outside."""
    assert loaded_by("import course_lib") == {"course_lib"}


def test_the_book_loads_nothing_heavy():
    """All book modules together load no SDK, no notebook, no charts: the standard library and tiktoken's own needs."""
    loaded = loaded_by("\n".join(f"import course_lib.{module}" for module in READING_ORDER))
    assert {f"course_lib.{module}" for module in READING_ORDER} <= loaded
    assert {name for name in loaded if name.startswith("course_lib.")} == {f"course_lib.{m}" for m in READING_ORDER}
    assert {name for name in loaded if name.partition(".")[0] in HEAVY} == set()


def test_importing_the_book_writes_and_sets_nothing():
    """Importing tokens unpacks nothing: the environment is as it was until somebody counts."""
    code = "import os; env = dict(os.environ); import course_lib.tokens; assert dict(os.environ) == env"
    assert "course_lib.tokens" in loaded_by(code)


@pytest.mark.parametrize("module", READING_ORDER)
def test_public_functions_are_annotated(module):
    """Arguments and results of public functions have types: the reader sees what goes in and out."""
    loaded = importlib.import_module(f"course_lib.{module}")
    for name in loaded.__all__:
        value = getattr(loaded, name)
        if inspect.isfunction(value):
            signature = inspect.signature(value)
            assert signature.return_annotation is not signature.empty, name
            assert all(p.annotation is not p.empty for p in signature.parameters.values()), name
