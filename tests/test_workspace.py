"""The workspace: one folder, and no way out of it."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from course_lib.errors import ToolError, WorkspaceError
from course_lib.simulation import workspace as workspace_module
from course_lib.simulation.commands import run_program
from course_lib.simulation.workspace import Workspace, make_workspace

# What path strings are made of that get around naive checks.
NAMES = ("src", "main.py", "inner", "outer", "loop", "con", "a")
PIECES = st.sampled_from(("..", ".", "/", "//", "\\", "C:", "~", " ", "\0", "\n", "\ud800", "é", *NAMES))
PATHS = st.one_of(st.text(max_size=30), *(st.lists(PIECES, max_size=12).map(glue.join) for glue in ("", "/")))


def link(place, target):
    """Make a symbolic link, or skip the test where only administrators may."""
    try:
        place.symlink_to(target, target_is_directory=Path(target).is_dir())
    except OSError:
        pytest.skip("this system does not let us make links")


@pytest.fixture
def workspace(tmp_path):
    """A workspace with a few files, beside a folder that is none of its business."""
    for path, text in {"src/main.py": "print('hi')\n", "README.md": "Read me\n", ".hidden": "x\n"}.items():
        (tmp_path / "inside" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "inside" / path).write_bytes(text.encode())
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret")
    return Workspace(tmp_path / "inside")


@pytest.mark.parametrize(
    ("path", "same_as"),
    [
        ("src/main.py", "src/main.py"),
        (".", "."),
        ("./src//main.py", "src/main.py"),
        ("src/", "src"),
        ("src/../README.md", "README.md"),
        ("nowhere/../src/main.py", "src/main.py"),
        ("new/file.txt", "new/file.txt"),
        ("with blank/ä.txt", "with blank/ä.txt"),
        ("console.py", "console.py"),
        (".hidden", ".hidden"),
        ("a" * 255, "a" * 255),
    ],
)
def test_resolve_accepts(workspace, path, same_as):
    """A relative path is accepted, whether or not there is a file, and has one canonical name."""
    assert workspace.relative(workspace.resolve(path)) == same_as


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "is empty"),
        ("  \t", "is empty"),
        ("/etc/passwd", "is absolute"),
        ("//server/share", "is absolute"),
        ("..", "leaves the workspace"),
        ("../outside/secret.txt", "leaves the workspace"),
        ("src/../../outside", "leaves the workspace"),
        ("src/../../inside/README.md", "leaves the workspace"),
        ("C:/Windows", "not every system"),
        ("C:file.txt", "not every system"),
        ("main.py:stream", "not every system"),
        ("\\\\server\\share", "not every system"),
        ("..\\outside", "not every system"),
        ("src\\main.py", "not every system"),
        ("src/*.py", "not every system"),
        ("a\0b", "not every system"),
        ("a\nb", "not every system"),
        ("a\x7f", "not every system"),
        ("a\ud800b", "not every system"),
        ("src/name.", "ends with a dot or a blank"),
        ("name /x", "ends with a dot or a blank"),
        (".../x", "ends with a dot or a blank"),
        ("con", "Windows device"),
        ("src/NUL.txt", "Windows device"),
        ("Com1 .log", "Windows device"),
        ("conout$", "Windows device"),
        ("a" * 256, "more than 255"),
        ("a/" * 513, "more than 1024"),
    ],
)
def test_resolve_refuses(workspace, path, reason):
    """A path that leaves, or that some system cannot have, is refused with the value, the reason and the way out."""
    with pytest.raises(ToolError) as caught:
        workspace.resolve(path)
    assert reason in str(caught.value)
    assert repr(path)[:60] in str(caught.value)
    assert "name a path inside the workspace" in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("path", ["door/secret.txt", "door", "src/door/new.txt", "file", "dangling", "dangling/x.txt"])
def test_links_that_lead_out_are_refused(workspace, tmp_path, path):
    """A link out of the workspace is refused at the end of a path and in its middle, dangling or not."""
    outside = tmp_path / "outside"
    link(workspace.root / "door", outside)
    link(workspace.root / "src" / "door", outside)
    link(workspace.root / "file", outside / "secret.txt")
    link(workspace.root / "dangling", outside / "not yet")
    for attempt in (workspace.resolve, workspace.read_text, lambda path: workspace.write_text(path, "mine")):
        with pytest.raises(ToolError, match="out of the workspace"):
            attempt(path)
    assert sorted(p.name for p in outside.iterdir()) == ["secret.txt"]
    assert (outside / "secret.txt").read_text() == "secret"


def test_links_inside_are_followed(workspace):
    """A link from the workspace into the workspace works, and writing through it keeps the link."""
    link(workspace.root / "short", workspace.root / "src")
    link(workspace.root / "main", workspace.root / "src" / "main.py")
    assert workspace.relative(workspace.resolve("short/main.py")) == "src/main.py"
    assert workspace.write_text("main", "new")
    assert workspace.read_text("src/main.py") == "new"
    assert (workspace.root / "main").is_symlink()


def test_links_in_a_circle(workspace):
    """Links that lead to each other are refused, not followed for ever."""
    link(workspace.root / "one", workspace.root / "two")
    link(workspace.root / "two", workspace.root / "one")
    for attempt in (workspace.read_text, workspace.files):
        with pytest.raises(ToolError):
            attempt("one/x")


@pytest.mark.parametrize("swapped", ["src/main.py", "src"])
def test_link_created_between_check_and_use(workspace, tmp_path, monkeypatch, swapped):
    """A file or folder swapped for a link after the check is noticed when the file is opened."""
    (tmp_path / "outside" / "main.py").write_text("secret")
    place, target = workspace.root / swapped, tmp_path / "outside" / ("main.py" if swapped.endswith(".py") else "")
    resolve = Workspace.resolve

    def resolve_then_swap(self, path):
        monkeypatch.setattr(Workspace, "resolve", resolve)
        found = resolve(self, path)
        place.rename(tmp_path / "moved away")
        link(place, target)
        return found

    monkeypatch.setattr(Workspace, "resolve", resolve_then_swap)
    with pytest.raises(ToolError):
        workspace.read_text("src/main.py")


def test_write_replaces_a_link_that_was_put_in_its_way(workspace, tmp_path, monkeypatch):
    """A file swapped for a link after the check is replaced by the new file; what the link points to stays."""
    secret = tmp_path / "outside" / "secret.txt"
    checked = workspace.resolve("src/main.py")
    monkeypatch.setattr(Workspace, "resolve", lambda *_: checked)
    checked.unlink()
    link(checked, secret)
    workspace.write_text("src/main.py", "new")
    assert (secret.read_text(), checked.read_text(), checked.is_symlink()) == ("secret", "new", False)


@given(path=PATHS)
@example(path="outer/secret.txt")
@example(path="src/../inner/../../outside")
def test_resolve_never_leads_outside(path):
    """No string whatever gives a path outside of the root, and the path it gives is final: no link is left in it."""
    root = _linked_root()
    try:
        resolved = Workspace(root).resolve(path)
    except ToolError:
        return
    assert resolved.is_relative_to(root)
    assert resolved.resolve() == resolved


_ROOTS: list[tempfile.TemporaryDirectory] = []


def _linked_root():
    """One folder for all examples, with links that lead in, out and in circles where the system allows links."""
    if not _ROOTS:
        _ROOTS.append(tempfile.TemporaryDirectory())
        root = Path(_ROOTS[0].name).resolve() / "root"
        (root / "src").mkdir(parents=True)
        try:
            (root / "inner").symlink_to(root / "src")
            (root / "src" / "outer").symlink_to(root.parent)
            (root / "outer").symlink_to(root.parent)
            (root / "loop").symlink_to(root / "loop")
        except OSError:
            pass
    return Path(_ROOTS[0].name).resolve() / "root"


@pytest.fixture(scope="module", autouse=True)
def _remove_linked_root():
    yield
    while _ROOTS:
        _ROOTS.pop().cleanup()


def test_relative_refuses_what_is_outside(workspace, tmp_path):
    """A path outside has no name in the workspace."""
    with pytest.raises(WorkspaceError, match="not in the workspace"):
        workspace.relative(tmp_path / "outside")


def test_files_are_sorted_and_hide_what_is_not_the_projects(workspace, tmp_path):
    """Files come sorted; hidden ones on request; never links, caches and names that no tool could open."""
    for path in ("src/__pycache__/main.pyc", ".git/config", "b.txt", "a b.txt"):
        workspace.root.joinpath(path).parent.mkdir(exist_ok=True)
        workspace.root.joinpath(path).write_text("x")
    if os.name == "posix":
        workspace.root.joinpath("odd\nname").write_text("x")
        workspace.root.joinpath("src", "door").symlink_to(tmp_path / "outside")
        workspace.root.joinpath("link.txt").symlink_to(workspace.root / "b.txt")
    assert workspace.files() == ("README.md", "a b.txt", "b.txt", "src/main.py")
    assert workspace.files(hidden=True) == (".git/config", ".hidden", "README.md", "a b.txt", "b.txt", "src/main.py")
    assert workspace.files("src") == workspace.files("src/main.py") == ("src/main.py",)


@pytest.mark.parametrize("text", ["", "one\n", "no end", "a\r\nb\r\n", "mixed\r\nends\n", "ä€😀\n", "\ufeffmark\n"])
def test_text_comes_back_as_it_was_written(workspace, text):
    """Reading gives back exactly what was written, line ends included."""
    assert workspace.write_text("deep/er/file.txt", text) is False
    assert workspace.write_text("deep/er/file.txt", text) is True
    assert workspace.read_text("deep/er/file.txt") == text
    assert (workspace.root / "deep/er/file.txt").read_bytes() == text.encode()


@pytest.mark.parametrize(
    ("path", "data", "reason"),
    [
        ("missing.py", None, "'missing.py' does not exist: list_files"),
        ("src", None, "'src' is a folder: list_files"),
        ("README.md/x", None, "through a file"),
        ("binary", b"ab\0c", "not UTF-8 text"),
        ("latin", b"caf\xe9", "not UTF-8 text"),
        ("big", b"x" * 101, "more than 100 bytes"),
    ],
)
def test_read_refuses(workspace, path, data, reason):
    """What cannot be read as text is refused in words that name no path of the machine."""
    if data is not None:
        (workspace.root / path).write_bytes(data)
    with pytest.raises(ToolError, match=reason) as caught:
        workspace.read_text(path, max_bytes=100)
    assert str(workspace.root) not in str(caught.value)


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        ("src", "x", "is a folder"),
        ("README.md/x", "x", "through a file"),
        ("a.txt", "x" * 101, "more than 100 bytes"),
        ("a.txt", "a\0b", "NUL byte"),
        ("a.txt", "a\udc80b", "not UTF-8 text"),
    ],
)
def test_write_refuses(workspace, path, text, reason):
    """What cannot be written is refused, and nothing is left behind."""
    before = workspace.files(hidden=True)
    with pytest.raises(ToolError, match=reason) as caught:
        workspace.write_text(path, text, max_bytes=100)
    assert str(workspace.root) not in str(caught.value)
    assert workspace.files(hidden=True) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_reading_a_named_pipe_does_not_wait(workspace):
    """A pipe that nobody writes to is refused at once."""
    os.mkfifo(workspace.root / "pipe")
    with pytest.raises(ToolError, match="no regular file"):
        workspace.read_text("pipe")
    assert "pipe" not in workspace.files()


def test_failed_write_leaves_the_old_file(workspace, monkeypatch):
    """When the last step of a write fails, the old file is whole and no draft is left."""

    def refuse(self, target):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(ToolError, match=r"'README\.md' cannot be used: Permission denied"):
        workspace.write_text("README.md", "new")
    assert workspace.read_text("README.md") == "Read me\n"
    assert workspace.files(hidden=True) == (".hidden", "README.md", "src/main.py")


@pytest.mark.skipif(os.name != "posix", reason="no permission bits here")
def test_write_keeps_the_permissions(workspace):
    """A program stays one when it is written anew."""
    (workspace.root / "src/main.py").chmod(0o755)
    workspace.write_text("src/main.py", "print(1)\n")
    assert (workspace.root / "src/main.py").stat().st_mode & 0o777 == 0o755


def test_changed_paths(workspace):
    """Added, removed and changed files are named, also when only a line end changed, and nothing else."""
    (workspace.root / "data.bin").write_bytes(b"\0")
    before = workspace.snapshot()
    assert before == {".hidden": "x\n", "README.md": "Read me\n", "src/main.py": "print('hi')\n"}
    assert workspace.changed_paths(before) == ()
    workspace.write_text("README.md", "Read me\r\n")
    workspace.write_text("src/new.py", "")
    (workspace.root / ".hidden").unlink()
    assert workspace.changed_paths(before) == (".hidden", "README.md", "src/new.py")


@pytest.fixture
def template(tmp_path, monkeypatch):
    """A template with what must not be copied, in the place of the sample project."""
    folder = tmp_path / "template"
    for path in ("pkg/a.py", "pkg/__pycache__/a.pyc", ".ruff_cache/x", "README.md"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(b"1\r\n2\n")
    monkeypatch.setattr(workspace_module, "_TEMPLATE", folder)
    return folder


def test_make_workspace_copies_into_a_temporary_folder(template):
    """The copy has the project's files with one kind of line end, and is gone after the `with`."""
    with make_workspace() as workspace:
        assert workspace.snapshot() == {"README.md": "1\n2\n", "pkg/a.py": "1\n2\n"}
        root = workspace.root
    assert not root.exists()
    workspace.close()


@pytest.mark.parametrize("exists", [False, True])
def test_make_workspace_keeps_a_given_folder(template, tmp_path, exists):
    """A new or empty folder is used, and is kept after the `with`."""
    folder = tmp_path / "mine"
    if exists:
        folder.mkdir()
    with make_workspace(folder) as workspace:
        assert workspace.root == folder.resolve()
    assert (folder / "pkg/a.py").exists()


@pytest.mark.parametrize("is_file", [False, True])
def test_make_workspace_refuses_what_is_in_use(template, tmp_path, is_file):
    """Nothing is copied over somebody's files; the error names the folder and the way out."""
    place = tmp_path / "mine"
    if is_file:
        place.write_text("x")
    else:
        place.mkdir()
        (place / "thesis.txt").write_text("x")
    with pytest.raises(WorkspaceError, match="mine' is in use: give an empty or new folder"):
        make_workspace(place)


def test_make_workspace_says_why_it_cannot(template, tmp_path, monkeypatch):
    """A place that cannot be written, and a package without its sample project, are told apart."""
    with pytest.raises(WorkspaceError, match=r"cannot be made .*: give a folder that can be written"):
        make_workspace(template / "README.md" / "mine")
    monkeypatch.setattr(workspace_module, "_TEMPLATE", tmp_path / "missing")
    with pytest.raises(WorkspaceError, match="install the course again"):
        make_workspace()


def test_workspace_needs_a_folder(tmp_path):
    """A root that does not exist is refused with the way out."""
    with pytest.raises(WorkspaceError, match=r"make it first"):
        Workspace(tmp_path / "missing")


def test_the_sample_project_is_a_real_one():
    """The template has at least thirty files, and its tests run."""
    if not (workspace_module._TEMPLATE / "tests" / "__main__.py").exists():
        pytest.skip("the sample project is not written yet")
    with make_workspace() as workspace:
        assert len(workspace.files()) >= 30
        before = workspace.snapshot()
        result = run_program(["python", "-m", "tests"], cwd=workspace.root, timeout_seconds=30, max_output_chars=9_000)
        assert result.exit_code in (0, 1), result.output
        assert "test" in result.output
        assert workspace.changed_paths(before) == ()
