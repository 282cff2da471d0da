"""Keeping committed notebooks fresh: run, tidy, and nothing changes the second time."""

import json
from pathlib import Path
from typing import Any

import pytest

from course_lib.environment import maintain
from course_lib.environment.maintain import WIDGET_VIEW, find_notebooks, refresh, tidy, tidy_file


def cell(source: str, outputs: list[Any] | None = None, cell_id: str = "one", **metadata: object) -> dict[str, Any]:
    """A code cell."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": cell_id,
        "metadata": dict(metadata),
        "outputs": outputs or [],
        "source": source,
    }


def notebook(*cells: dict[str, Any], **metadata: object) -> dict[str, Any]:
    """A notebook of format 4.5."""
    return {"cells": list(cells), "metadata": dict(metadata), "nbformat": 4, "nbformat_minor": 5}


def widget_output(model_id: str) -> dict[str, Any]:
    """The output of a cell that shows a widget, with a picture for readers without a kernel."""
    data = {WIDGET_VIEW: {"model_id": model_id, "version_major": 2}, "text/html": "<img>"}
    return {"output_type": "display_data", "metadata": {}, "data": data}


def test_what_differs_from_run_to_run_goes() -> None:
    """Two runs on two machines become the same notebook."""

    def after(python: str, model: str, time: str) -> dict[str, Any]:
        one = cell("w", [widget_output(model)], execution={"iopub.execute_input": time}, tags=["keep"])
        info = {"name": "python", "version": python}
        kernel = {"display_name": python, "name": "my-kernel"}
        return notebook(one, language_info=info, kernelspec=kernel, widgets={"state": model})

    first = tidy(after("3.11.7", "abc", "12:00"))
    assert first == tidy(after("3.15.0", "def", "13:00"))
    assert first["cells"][0]["metadata"] == {"tags": ["keep"]}
    assert first["cells"][0]["outputs"][0]["data"]["text/html"] == "<img>"
    assert first["metadata"]["kernelspec"]["name"] == "python3"


def test_widgets_of_one_cell_keep_apart() -> None:
    """Two widgets in one cell, and widgets of two cells, do not become one."""
    tidied = tidy(notebook(cell("a", [widget_output("x"), widget_output("y")]), cell("b", [widget_output("z")], "two")))
    outputs = [output for one in tidied["cells"] for output in one["outputs"]]
    assert len({output["data"][WIDGET_VIEW]["model_id"] for output in outputs}) == 3


def test_file_is_written_only_when_it_changes(tmp_path: Path) -> None:
    """A tidy file is left alone; what is written ends its lines the same way everywhere and keeps all characters."""
    path = tmp_path / "a.ipynb"
    path.write_bytes(json.dumps(notebook(cell("print('中 ✓')"))).encode())
    assert tidy_file(path)
    content = path.read_bytes()
    assert content.endswith(b"}\n")
    assert b"\r" not in content
    assert "中 ✓".encode() in content
    assert not tidy_file(path)
    assert path.read_bytes() == content


def test_what_is_no_notebook(tmp_path: Path) -> None:
    """A file of another kind is named, and not overwritten."""
    path = tmp_path / "a.ipynb"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match=r"a\.ipynb is no notebook"):
        tidy_file(path)
    assert path.read_text(encoding="utf-8") == "{}"


def test_default_is_all_that_has_outputs(tmp_path: Path) -> None:
    """Chapters and solutions, in order, without Jupyter's own copies and without exercises."""
    names = ["solutions/01/b.ipynb", "chapters/02.ipynb", "chapters/01.ipynb", "chapters/.ipynb_checkpoints/01.ipynb"]
    for name in [*names, "exercises/01.ipynb"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    expected = ["chapters/01.ipynb", "chapters/02.ipynb", "solutions/01/b.ipynb"]
    assert [path.relative_to(tmp_path).as_posix() for path in find_notebooks(tmp_path)] == expected


def test_one_failure_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A notebook that fails is named at the end and left as it was; the others are done; the exit status is 1."""
    good, bad = tmp_path / "good.ipynb", tmp_path / "bad.ipynb"
    for path in (good, bad):
        path.write_text(json.dumps(notebook()), encoding="utf-8")
    before = bad.read_bytes()
    monkeypatch.setattr(maintain, "execute", lambda path: int(path == bad))
    assert refresh(tmp_path, [bad, good]) == 1
    assert bad.read_bytes() == before
    assert "kernelspec" in good.read_text(encoding="utf-8")
    assert f"{bad} failed" in capsys.readouterr().err


def test_second_run_changes_nothing(tmp_path: Path) -> None:
    """A real run fills in the outputs, a widget's too; the next one changes no byte."""
    path = tmp_path / "a b.ipynb"
    show = "import ipywidgets\nipywidgets.IntSlider()"
    path.write_text(json.dumps(notebook(cell("print(6 * 7)"), cell(show, cell_id="two"))), encoding="utf-8")
    assert refresh(tmp_path, [path]) == 0
    first = path.read_bytes()
    assert b"42" in first
    assert WIDGET_VIEW.encode() in first
    assert str(tmp_path).encode() not in first
    assert refresh(tmp_path, [path]) == 0
    assert path.read_bytes() == first
