"""The gate that every exercise passes before a learner meets it.

For each: the untouched stub is "not yet", our solution passes, a different right answer passes too, and at least three
plausible mistakes each get the word that is meant for them.
"""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbclient
import nbformat
import pytest

from course_lib.checks.catalogue import EXERCISES, chapter_exercises
from course_lib.environment.maintain import exercise_notebook, find_masters
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


@BY_ID
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


@BY_ID
def test_nothing_is_missing(exercise):
    """Task, stub, answer and reason stand in the master notebook; hints and minutes in the catalogue; a check file."""
    assert cells(exercise, "markdown")[0].startswith(f"## {exercise.id} {exercise.title}")
    assert f"*{exercise.kind} · {exercise.minutes} minutes*" in cells(exercise, "markdown")[0]
    assert len(cells(exercise, "exercise")) == 1
    assert len(cells(exercise, "reason")) == 1
    assert exercise.check_file.is_file()
    assert 1 <= exercise.minutes <= 30
    assert len(set(exercise.hints)) == 3


def test_no_file_is_unlisted():
    """Every check file and every file of answers belongs to an exercise."""
    ids = {exercise.id.replace(".", "_") for exercise in EXERCISES}
    assert {path.stem.removeprefix("check_") for path in EXERCISES[0].check_file.parent.glob("check_*.py")} == ids
    assert {path.stem for path in ANSWERS.glob("*.py")} == ids


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
