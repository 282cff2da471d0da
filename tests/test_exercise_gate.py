"""The gate that every exercise passes before a learner meets it.

For each: the untouched stub is "not yet", our solution passes, a different right answer passes too, and at least three
plausible mistakes each get the word that is meant for them.
"""

import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbclient
import nbformat
import pytest
from gate_server import forked_workers

from course_lib.checks.catalogue import EXERCISES, chapter_exercises
from course_lib.environment.exercise_parts import missing_parts
from course_lib.environment.maintain import build_exercises, exercise_notebook, find_masters
from course_lib.learner.runner import run_check

ROOT = Path(__file__).parents[1]
ANSWERS = Path(__file__).with_name("exercise_answers")
MARK = re.compile(r"^# %% (right|wrong): (.+)$", re.MULTILINE)
BY_ID = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)


def answers(exercise):
    """Return the (kind, word, code) of each answer in the exercise's file."""
    parts = MARK.split((ANSWERS / f"{exercise.id.replace('.', '_')}.py").read_text(encoding="utf-8"))
    return list(zip(parts[1::3], parts[2::3], parts[3::3], strict=True))


def master(exercise):
    """Return the notebook with the exercise's task, stub, answer and reason."""
    (path,) = (ROOT / "solutions").glob(f"{exercise.chapter}_*.ipynb")
    return json.loads(path.read_text(encoding="utf-8"))


def cells(exercise, tag):
    """Return the sources of the master's cells with this tag for the exercise."""
    found = []
    for cell in master(exercise)["cells"]:
        metadata = cell["metadata"]
        if metadata.get("exercise") == exercise.id and (tag in metadata.get("tags", ()) or tag == cell["cell_type"]):
            found.append("".join(cell["source"]))
    return found


def checked(exercise, code, folder, name):
    """Return what the check says of the code in a learner's notebook."""
    cell = {"cell_type": "code", "source": code, "outputs": [], "execution_count": None, "id": "answer"}
    cell["metadata"] = {"tags": ["exercise"], "exercise": exercise.id}
    path = folder / f"{name}.ipynb"
    path.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
    return run_check(exercise, notebook=path)


@pytest.fixture(scope="module")
def fast():
    """Check in forked workers: several hundred answers, and starting Python and pytest is most of a check's time."""
    with forked_workers():
        yield


@BY_ID
@pytest.mark.usefixtures("fast")
def test_the_stub_is_not_yet_and_the_solution_passes(exercise, tmp_path):
    """Nobody passes by doing nothing, and our own answer is right."""
    (stub,), (answer,) = cells(exercise, "exercise"), [cells(exercise, "solution")[0]]
    with ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(checked, exercise, code, tmp_path, name) for name, code in (("stub", stub), ("ours", answer))
        ]
    assert not jobs[0].result().passed
    assert jobs[1].result().passed, str(jobs[1].result())


@BY_ID
@pytest.mark.usefixtures("fast")
def test_right_answers_pass_and_mistakes_get_their_word(exercise, tmp_path):
    """Another right answer passes; each mistake is "not yet" with the feedback meant for it."""
    listed = answers(exercise)
    kinds = [kind for kind, _, _ in listed]
    assert kinds.count("right") >= 1
    assert kinds.count("wrong") >= 3
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(checked, exercise, code, tmp_path, f"a{i}") for i, (_, _, code) in enumerate(listed)]
    for (kind, word, _), job in zip(listed, jobs, strict=True):
        result = job.result()
        assert result.passed == (kind == "right"), f"{word}\n{result}"
        assert kind == "right" or word in str(result), f"{word!r} is not in:\n{result}"


def test_nothing_is_missing():
    """Every exercise has its task, stub, answer, reason, check cell, check file and answers; nothing is unlisted."""
    assert missing_parts(ROOT) == []


def without(notebook, test):
    """Take the cells out of a notebook file for which the test is true."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    content["cells"] = [cell for cell in content["cells"] if not test(cell)]
    notebook.write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (lambda cell: "00.1 What is left" in "".join(cell["source"]), "00.1: no task"),
        (lambda cell: cell["metadata"].get("tags") == ["exercise"], "00.1: 0 cells for the stub"),
        (lambda cell: cell["metadata"].get("tags") == ["solution"], "00.1: 0 cells for the answer"),
        (lambda cell: "reason" in cell["metadata"].get("tags", ()), "00.1: 0 cells for the reason"),
        (lambda cell: "check(tokens_left)" in cell["source"], "00.1: no cell with check(tokens_left)"),
    ],
)
def test_a_missing_cell_is_named(test, words, tmp_path):
    """Take one cell away, and the checker says in a sentence which one; nothing is written then."""
    copy_parts(tmp_path)
    without(tmp_path / "solutions" / "00_start_here.ipynb", test)
    assert [problem[: len(words)] for problem in missing_parts(tmp_path)] == [words]
    assert build_exercises(tmp_path) == 1
    assert not (tmp_path / "exercises").exists()


def copy_parts(folder):
    """Copy what exercises are made of."""
    shutil.copytree(ROOT / "solutions", folder / "solutions")
    shutil.copytree(ANSWERS, folder / "tests" / "exercise_answers")


def test_missing_and_stray_files_are_named(tmp_path):
    """A notebook or a file of answers that is not there, and one that no exercise has, are named."""
    copy_parts(tmp_path)
    (tmp_path / "tests" / "exercise_answers" / "00_1.py").rename(tmp_path / "tests" / "exercise_answers" / "77_7.py")
    (tmp_path / "solutions" / "00_start_here.ipynb").unlink()
    said = "\n".join(missing_parts(tmp_path))
    assert "00.1: no answers for the gate" in said
    assert "77_7.py: no such exercise" in said
    assert "00.1: 0 notebooks solutions/00_*.ipynb" in said


def test_chapter_one_has_all_four_kinds():
    """A learner meets every kind of exercise early."""
    assert {exercise.kind for exercise in EXERCISES if exercise.chapter == "01"} == {
        "implement",
        "fix",
        "tune",
        "predict",
    }


@pytest.mark.parametrize("path", find_masters(ROOT), ids=lambda path: path.stem)
def test_the_exercises_are_made_from_the_solutions(path):
    """What the learner gets is the master without its answers, and nothing was changed by hand."""
    made = exercise_notebook(path)
    assert made == (ROOT / "exercises" / path.name).read_text(encoding="utf-8"), "run: python3 -m course_lib exercises"
    tags = [tag for cell in json.loads(made)["cells"] for tag in cell["metadata"].get("tags", ())]
    assert "solution" not in tags
    assert (ROOT / "chapters" / path.name).is_file()


@pytest.mark.parametrize("path", find_masters(ROOT), ids=lambda path: path.stem)
def test_the_exercises_run_as_delivered(path, tmp_path):
    """An untouched notebook runs from top to bottom without an error, and every check says "not yet"."""
    notebook = nbformat.read(ROOT / "exercises" / path.name, as_version=4)
    nbclient.NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    checks = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.startswith("check(")]
    assert len(checks) == len(chapter_exercises(path.name[:2]))
    for cell in checks:
        assert "not yet" in cell.outputs[0].data["text/plain"], cell.source
