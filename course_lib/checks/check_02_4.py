"""02.4 memory_parts: user, project, folders on the way down, and what was remembered last."""

from hypothesis import given
from hypothesis import strategies as st

from course_lib.checks.expectations import Mistake, expect


def test_all_the_parts(answer):
    """From the most general to the nearest, and what was remembered last."""
    mistakes = (
        Mistake(
            ["user", "project", "remembered", "a", "a/b"],
            "The remembered text stands before rules of the project: those of its folders. It comes last.",
        ),
        Mistake(
            ["user", "project", "a/b", "a", "remembered"], "The nearest folder comes last of the folders, not first."
        ),
    )
    folders = {"a/b": "a/b", "a": "a"}
    right = ["user", "project", "a", "a/b", "remembered"]
    expect(answer, "user", "project", folders, "a/b", "remembered", returns=right, mistakes=mistakes)


def test_folders_beside_the_way(answer):
    """Only the working folder and those that contain it count."""
    mistake = Mistake(
        lambda got: "z" in got or "a/b/c" in got, "A folder that does not contain the working folder got in."
    )
    folders = {"a": "a", "a/b/c": "a/b/c", "z": "z"}
    expect(answer, "u", "p", folders, "a/b", "r", returns=["u", "p", "a", "r"], mistakes=(mistake,))


def test_a_folder_whose_name_is_only_a_beginning(answer):
    """`a/b` does not contain `a/bc`."""
    mistake = Mistake(
        ["u", "p", "a/b", "a/bc", "r"],
        "`a/b` was taken for a folder above `a/bc`: `startswith` compares characters, not folders.",
    )
    lost = Mistake(["u", "p", "r"], "The working folder itself counts, too.")
    folders = {"a/b": "a/b", "a/bc": "a/bc"}
    expect(answer, "u", "p", folders, "a/bc", "r", returns=["u", "p", "a/bc", "r"], mistakes=(mistake, lost))


def test_parts_without_a_text(answer):
    """An empty text and one of blanks only are left out, wherever they stand."""
    mistake = Mistake(lambda got: any(not part.strip() for part in got), "A text of nothing but blanks was kept.")
    expect(answer, "", " \n", {"a": "\t", "a/b": "x"}, "a/b", "  ", returns=["x"], mistakes=(mistake,))


def test_texts_come_back_as_they_are(answer):
    """The texts that stay are not changed."""
    mistake = Mistake(["user", "project"], "The texts were changed: only look at `strip()`, do not keep it.")
    expect(answer, " user\n", "project\n", {}, "a", "", returns=[" user\n", "project\n"], mistakes=(mistake,))


names = st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=4).map("/".join)


@given(st.dictionaries(names, st.sampled_from(["", " ", "rules", "more"]), max_size=6), names)
def test_any_folders(answer, folders, working_folder):
    """Folders of all kinds around the working folder."""
    steps = working_folder.split("/")
    way = ["/".join(steps[: depth + 1]) for depth in range(len(steps))]
    right = ["u", *(folders[folder] for folder in way if folders.get(folder, "").strip()), "r"]
    expect(answer, "u", "", folders, working_folder, "r", returns=right)
