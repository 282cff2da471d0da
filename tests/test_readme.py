"""The README tells the truth."""

import re
from pathlib import Path

from course_lib import READING_ORDER
from course_lib.environment.maintain import README_PICTURE, draw_readme_picture

ROOT = Path(__file__).parents[1]


def test_the_picture_is_what_the_run_draws(tmp_path):
    """The README's picture is the run of chapter 00 as it happens today."""
    (tmp_path / README_PICTURE).parent.mkdir(parents=True)
    draw_readme_picture(tmp_path)
    drawn = (tmp_path / README_PICTURE).read_text(encoding="utf-8")
    assert drawn == (ROOT / README_PICTURE).read_text(encoding="utf-8"), "run: python3 -m course_lib notebooks"


def test_links_inside_the_repository_hold():
    """Every relative link of the documents leads to a file."""
    for document in ROOT.glob("*.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
            assert target.startswith("https://") or (ROOT / target).exists(), f"{document.name}: {target}"


def test_every_module_of_the_book_is_on_the_architecture_page():
    """The page names what READING_ORDER names."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert [name for name in READING_ORDER if f"`{name}`" not in page] == []


def test_every_chapter_is_in_both_maps():
    """The README and chapter 00 name each chapter that is there."""
    start = (ROOT / "chapters" / "00_start_here.ipynb").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for chapter in sorted((ROOT / "chapters").glob("*.ipynb")):
        assert chapter.name in readme
        assert chapter.name in start or chapter.name == "00_start_here.ipynb"
