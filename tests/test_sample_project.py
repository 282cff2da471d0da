"""The sample project: what the agent finds at the start, and what the right and the wrong repairs lead to."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import course_lib

TEMPLATE = Path(course_lib.__file__).parent / "simulation" / "sample_project"
MODULES = sorted(path for path in (TEMPLATE / "freight").rglob("*.py") if path.name != "__init__.py")
ROUND_TODO = "return amount_exact  # TODO: round to whole cents"
VALUES_TODO = re.compile(r"return False  # TODO: True for ('.*')")
IMPORT = "from freight.core.money import half_up_cents"

FLOATS = ("kg", "cm", "km", "m3", "kmh", "ratio", "percent", "hours", "exact")
INTS = ("cents", "count", "days", "minutes", "index", "year")
TEXTS = (
    *("id", "name", "code", "text", "city", "country", "status", "label", "key", "line", "zone"),
    *("carrier", "currency", "message"),
)
DONE_ALREADY = {"round_up_kg", "transit_days"}  # the functions that are up to standard from the start


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the template that may be changed."""
    return shutil.copytree(TEMPLATE, tmp_path / "project", ignore=shutil.ignore_patterns("__pycache__"))


def run(project: Path, *arguments: str) -> tuple[int, str]:
    """Run `python -m ...` in the project and return its exit status and output."""
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.returncode, done.stdout


def closing_numbers(output: str) -> tuple[int, int]:
    """Return how many tests there were and how many failed, from the runner's last line."""
    match = re.fullmatch(r"(\d+) tests?, (\d+) failures?", output.splitlines()[-1])
    assert match
    return int(match[1]), int(match[2])


def repair(project: Path, rounding: str) -> None:
    """Carry out every TODO remark, with the given function for rounding."""
    for path in (project / "freight").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if ROUND_TODO in text and rounding == "half_up_cents":
            imports = [line for line in text.splitlines() if line.startswith("from freight")]
            text = text.replace(imports[-1], f"{imports[-1]}\n{IMPORT}", 1)
        text = text.replace(ROUND_TODO, f"return {rounding}(amount_exact)")
        for match in VALUES_TODO.finditer(text):
            parameter = re.findall(r"def \w+\((\w+)\):", text[: match.start()])[-1]
            text = text.replace(match[0], f"return {parameter} in ({match[1]},)")
        path.write_text(text, encoding="utf-8")


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    """Yield every function and method of a module."""
    yield from (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef))


def class_names(path: Path) -> dict[str, str]:
    """Return the classes that a module defines or imports, by their name in snake case."""
    body = ast.parse(path.read_text("utf-8")).body
    names = [node.name for node in body if isinstance(node, ast.ClassDef)]
    names += [alias.name for node in body if isinstance(node, ast.ImportFrom) for alias in node.names]
    return {name.lower(): name for name in names if re.fullmatch(r"[A-Z][a-z]+", name)}


def singular(word: str) -> str:
    """Return the singular of a plural, and an empty string for any other word."""
    if re.search(r"(ss|us|is)$|[^s]$", word):
        return ""
    return re.sub(r"ies$", "y", word) if word.endswith("ies") else re.sub(r"(?<=ss|us)es$|s$", "", word)


def type_of(name: str, classes: dict[str, str]) -> str:
    """Return the type that the table in CONTRIBUTING.md gives to a name, or an empty string."""
    words = name.split("_")
    last, noun = words[-1], words[-2] if len(words) > 1 else ""
    if re.match("(is|has|needs|can)_", name):
        return "bool"
    if "_by_" in name:
        inner = type_of(name.split("_by_")[0], classes)
        return inner and f"dict[str, {inner}]"
    if noun and last in FLOATS + INTS:
        scalar = "float" if last in FLOATS else "int"
        return f"list[{scalar}]" if singular(noun) else scalar
    known = dict.fromkeys(TEXTS, "str") | classes
    return f"list[{known[singular(last)]}]" if singular(last) in known else known.get(last, "")


def test_the_project_has_36_modules_of_a_few_functions_each() -> None:
    """Size and shape are what the chapters count on."""
    assert len(MODULES) == 36
    assert len([path for path in TEMPLATE.rglob("*") if path.suffix in (".py", ".md")]) >= 30
    for path in MODULES:
        assert 4 <= len(list(functions(path))) <= 7, path
        assert 45 <= len(path.read_text("utf-8").splitlines()) <= 95, path


def test_the_tests_that_fail_at_the_start_are_those_of_the_todo_remarks(project: Path) -> None:
    """Nothing else is broken, and no failure gives the rounding rule away."""
    texts = "".join(path.read_text("utf-8") for path in MODULES)
    roundings, values = texts.count(ROUND_TODO), len(VALUES_TODO.findall(texts))
    status, output = run(project, "tests")
    assert (roundings, values, texts.count("TODO")) == (5, 2, 7)
    assert closing_numbers(output) == (68, roundings + values)
    assert status == 1
    assert output.count("price must be whole cents") == roundings
    assert "half_up" not in output


def test_an_early_module_and_later_ones_hold_the_rounding_remarks() -> None:
    """The lesson is learned early and needed late."""
    places = [number for number, path in enumerate(MODULES, start=1) if ROUND_TODO in path.read_text("utf-8")]
    assert places[0] <= 3
    assert min(places[1:]) > 18
    assert places[-1] == 36


def test_the_right_repairs_make_all_tests_pass(project: Path) -> None:
    """half_up_cents and the quoted values are all that is missing."""
    repair(project, "half_up_cents")
    status, output = run(project, "tests")
    assert closing_numbers(output)[1] == status == 0


def test_the_built_in_round_leaves_failures_that_state_the_lesson(project: Path) -> None:
    """Each of the five tests is about a tie, which round() sends to the even cent."""
    repair(project, "round")
    output = run(project, "tests")[1]
    assert closing_numbers(output)[1] == 5
    assert output.count("rounds up here: use half_up_cents from freight.core.money, not round()") == 5


def test_the_output_is_the_same_in_every_run_and_place(project: Path, tmp_path: Path) -> None:
    """No absolute path, no time, no address: the agent's context must not depend on the machine."""
    other = shutil.copytree(project, tmp_path / "elsewhere")
    first, second = run(project, "tests")[1], run(other, "tests")[1]
    assert first == second
    assert str(tmp_path) not in first
    assert "\\" not in first


def test_the_runner_takes_the_names_of_test_files(project: Path) -> None:
    """Only what was asked for is run."""
    output = run(project, "tests", "pricing", "routing")[1]
    assert set(re.findall(r"\btest_\w+(?=\.\w+Tests)", output)) == {"test_pricing", "test_routing"}


def test_a_file_that_cannot_be_parsed_is_one_failure(project: Path) -> None:
    """A bad edit is reported, not a crash."""
    (project / "freight/core/money.py").write_text("def broken(:\n", encoding="utf-8")
    output = run(project, "tests")[1]
    assert output.count("SyntaxError") == output.count("FAIL import of freight/core/money.py") == 1
    assert "freight/core/money.py: cannot be parsed" in run(project, "tools.check_standard")[1]


def test_no_module_is_up_to_standard_at_the_start(project: Path) -> None:
    """The check names every module, sorted, and none outside freight/."""
    status, output = run(project, "tools.check_standard")
    *lines, last = output.splitlines()
    assert status == 1
    assert last == "0 of 36 modules up to standard"
    assert [line.split(":")[0] for line in lines] == [path.relative_to(TEMPLATE).as_posix() for path in MODULES]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_names_decide_types_and_signatures_are_plain(path: Path) -> None:
    """The offline model can infer each hint, and can replace each signature by an edit of one line."""
    text, classes = path.read_text("utf-8"), class_names(path)
    for function in functions(path):
        names = [argument.arg for argument in function.args.args if argument.arg != "self"]
        returns_value = any(isinstance(node, ast.Return) and node.value for node in ast.walk(function))
        if returns_value and function.name not in ("__str__", "__len__"):
            names.append(function.name)
        assert all(type_of(name, classes) for name in names), names
        line = text.splitlines()[function.lineno - 1]
        assert line.endswith(":")
        assert len(line) <= 88
        assert text.count(line.strip()) == 1
        is_done = function.name in DONE_ALREADY
        assert bool(ast.get_docstring(function)) == bool(function.returns) == is_done


def test_the_word_shipment_does_not_occur_yet() -> None:
    """The order to use it concerns new text only."""
    files = [path for path in TEMPLATE.rglob("*") if path.suffix in (".py", ".md")]
    assert not [path for path in files if "shipment" in path.read_text("utf-8").lower()]
