"""Keep committed notebooks fresh (`course notebooks`): run them anew, then take out what changes from run to run.

A second run changes no byte, so a difference in git is a difference in what a cell prints. nbval (`course test`)
compares the same outputs.

What this leaves out on purpose: exercises, which are committed without outputs, and translations' text.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from course_lib.environment.exercise_parts import missing_parts
from course_lib.environment.processes import tell

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
FOLDERS = ("chapters", "solutions")
CELL_SECONDS = 120
README_PICTURE = ".github/pictures/the_run_that_dies.svg"

Notebook = dict[str, Any]


def refresh(root: Path, files: Sequence[Path] = ()) -> int:
    """Run notebooks and tidy them, in place.

    Args:
        root: the course's folder.
        files: the notebooks; none means all in chapters/ and solutions/.

    Returns:
        0 when all of them ran, else 1; one that fails keeps its old content, and the others are still done.
    """
    failed = []
    for path in files or find_notebooks(root):
        tell(f"running {path}")
        if execute(path) == 0:
            tidy_file(path)
        else:
            failed.append(path)
    if not files:
        draw_readme_picture(root)
    for path in failed:
        tell(f"{path} failed and was left as it was; the cell and its error are above.")
    return 1 if failed else 0


def find_masters(root: Path) -> list[Path]:
    """The notebooks in solutions/, which hold each exercise's task, stub, answer and reason."""
    return [path for path in sorted((root / "solutions").glob("*.ipynb")) if path.name[:2].isdigit()]


def exercise_notebook(master: Path) -> str:
    """What the learner gets of a master: without the cells tagged `solution` and without outputs, as a file's text."""
    import nbformat
    from nbconvert.exporters import NotebookExporter
    from traitlets.config import Config

    config = Config()
    config.TagRemovePreprocessor.remove_cell_tags = {"solution"}
    config.NotebookExporter.preprocessors = [
        "nbconvert.preprocessors.TagRemovePreprocessor",
        "nbconvert.preprocessors.ClearOutputPreprocessor",
    ]
    text, _ = NotebookExporter(config=config).from_notebook_node(nbformat.read(master, as_version=4))
    return as_file(tidy(json.loads(text)))


def build_exercises(root: Path) -> int:
    """Make exercises/ from solutions/ anew, if nothing is missing; return the exit status."""
    problems = missing_parts(root)
    if problems:
        tell("\n".join([*problems, "Nothing was written. How to add an exercise: CONTRIBUTING.md"]))
        return 1
    for master in find_masters(root):
        (root / "exercises" / master.name).write_text(exercise_notebook(master), encoding="utf-8", newline="\n")
        tell(f"wrote exercises/{master.name}")
    return 0


def draw_readme_picture(root: Path) -> None:
    """Run the scenario of chapter 00, with nothing managed and with the oldest dropped, and draw both."""
    from course_lib.events import record_run
    from course_lib.simulation.choices import STRATEGIES
    from course_lib.simulation.scenario import REFACTORING
    from course_lib.simulation.setup import make_setup
    from course_lib.simulation.workspace import make_workspace
    from course_lib.widgets.meter import Meter

    meter = Meter()
    for name, show in (("keep the last 20", meter.show_run), ("none", meter.lay_over)):
        with make_workspace() as workspace:
            agent = make_setup(REFACTORING).agent(workspace, STRATEGIES[name])
            show(record_run(agent.run(REFACTORING.task)), name)
    (root / README_PICTURE).write_text(meter.picture().svg + "\n", encoding="utf-8", newline="\n")


def find_notebooks(root: Path) -> list[Path]:
    """All notebooks whose outputs are committed, in order; not the copies that Jupyter keeps for itself."""
    found = (path for folder in FOLDERS for path in sorted((root / folder).rglob("*.ipynb")))
    return [path for path in found if ".ipynb_checkpoints" not in path.parts]


def execute(path: Path) -> int:
    """Run one notebook in place, in its own folder, with this environment's kernel; return the exit status."""
    command = [
        sys.executable,
        *("-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", "--log-level=WARN"),
        "--ExecutePreprocessor.kernel_name=python3",
        "--ExecutePreprocessor.record_timing=False",
        "--ExecutePreprocessor.store_widget_state=False",
        f"--ExecutePreprocessor.timeout={CELL_SECONDS}",
        str(path),
    ]
    return subprocess.call(command, env={**os.environ, "JUPYTER_PREFER_ENV_PATH": "1"})


def tidy_file(path: Path) -> bool:
    """Tidy one notebook file; return whether it changed.

    Raises:
        ValueError: the file is no notebook.
    """
    before = path.read_text(encoding="utf-8")
    notebook = json.loads(before)
    if "cells" not in notebook:
        raise ValueError(f"{path} is no notebook of format 4: it has no cells. Save it anew from JupyterLab.")
    after = as_file(tidy(notebook))
    if after == before:
        return False
    path.write_text(after, encoding="utf-8", newline="\n")
    return True


def as_file(notebook: Notebook) -> str:
    """A notebook as the text of its file, always in the same form."""
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def tidy(notebook: Notebook) -> Notebook:
    """Take out of a notebook what differs between machines, Pythons and runs; works on it in place.

    Cells, their ids, tags and outputs stay.
    """
    metadata = notebook.setdefault("metadata", {})
    metadata.pop("widgets", None)  # the state of widgets: large, and of no use without the kernel
    metadata["kernelspec"] = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    metadata.get("language_info", {}).pop("version", None)
    for cell in notebook["cells"]:
        for key in ("execution", "collapsed", "scrolled"):  # times of day, and how somebody last looked at the cell
            cell.get("metadata", {}).pop(key, None)
        for number, bundle in enumerate(bundles(cell)):
            if WIDGET_VIEW in bundle:
                bundle[WIDGET_VIEW]["model_id"] = steady_id(cell.get("id", ""), number)
    return notebook


def bundles(cell: Notebook) -> Iterable[Notebook]:
    """The mime bundles among a cell's outputs."""
    return (output["data"] for output in cell.get("outputs", []) if "data" in output)


def steady_id(cell_id: str, number: int) -> str:
    """An id for a widget's view. Its model is gone with the kernel, so any id will do that stays the same.

    >>> steady_id("abc", 0) == steady_id("abc", 0) != steady_id("abc", 1)
    True
    """
    return hashlib.sha256(f"{cell_id} {number}".encode()).hexdigest()[:32]
