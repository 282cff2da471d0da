"""What holds for the repository as a whole: style, types, pins, and nothing in it that belongs to one machine."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from course_lib.__main__ import OLDEST

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
PINS = ("requirements.txt", "requirements-dev.txt")
# What runs before any package is installed, on every system; its Windows branches are checked here too.
SET_UP_MODULES = [
    *("course_lib/cli.py", "course_lib/learner/worker.py"),
    *(f"course_lib/environment/{name}.py" for name in ("bootstrap", "installing", "processes", "doctor")),
]


def passes(*command: str) -> None:
    """Run a tool on the repository and fail with what it says."""
    run = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"{' '.join(command)}\n{run.stdout}{run.stderr}"


def tracked_files() -> list[Path]:
    """All files in git; skips the test where the course did not come by git."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git clone: which files belong to the course cannot be told")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return [path for name in listed.decode().split("\0") if name and (path := ROOT / name).is_file()]


def texts() -> dict[str, str]:
    """The text of all files in git, by name; those with a zero byte are no text."""
    contents = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in tracked_files()}
    return {name: content.decode("utf-8", "replace") for name, content in contents.items() if b"\0" not in content}


# --- style and types -------------------------------------------------------------------------------------------------


def test_lint() -> None:
    """No lint in code and notebooks."""
    passes("ruff", "check", "--output-format=concise")


def test_format() -> None:
    """Code and notebooks are formatted as ruff does it."""
    passes("ruff", "format", "--check", "--output-format=concise")


@pytest.mark.timeout(400)
def test_types() -> None:
    """The package is fully and strictly typed."""
    passes("mypy")


@pytest.mark.timeout(400)
@pytest.mark.parametrize("platform", sorted({"linux", "darwin", "win32"} - {sys.platform}))
def test_types_on_other_systems(platform: str) -> None:
    """The branches for other systems are typed too, in the modules that have such branches."""
    cache = f".mypy_cache/{platform}"  # of its own: mypy begins anew where another system's lies
    passes("mypy", "--platform", platform, "--cache-dir", cache, "--follow-imports=silent", *SET_UP_MODULES)


# --- dependencies ----------------------------------------------------------------------------------------------------


def read_pins(name: str) -> dict[str, list[str]]:
    """The versions that a pins file allows for each package: one, or one for each kind of system or Python."""
    pins: dict[str, list[str]] = {}
    for entry in (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        requirement = Requirement(entry.partition(" --hash")[0])
        [specifier] = requirement.specifier
        assert specifier.operator == "==", entry
        pins.setdefault(canonicalize_name(requirement.name), []).append(specifier.version)
    return pins


@pytest.mark.parametrize("name", PINS)
def test_pins_name_no_place(name: str) -> None:
    """A pins file has packages and hashes, and no URL, path or option that ties it to an index or a machine."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert " @ " not in text
    for line in text.splitlines():
        assert re.match(r"    --hash=sha256:[0-9a-f]{64}( \\)?$|[a-z0-9][a-z0-9.-]*==\S+( ; .+)? \\$", line), line


@pytest.mark.parametrize("name", PINS)
def test_every_pin_has_a_hash(name: str) -> None:
    """The installer checks what it gets against at least one hash for every package."""
    for entry in (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        assert "--hash=sha256:" in entry, entry


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("requirements.txt", PROJECT["dependencies"]),
        ("requirements.txt", PYPROJECT["build-system"]["requires"]),
        ("requirements-dev.txt", PROJECT["dependencies"]),
        ("requirements-dev.txt", PROJECT["optional-dependencies"]["dev"]),
        ("requirements-dev.txt", PYPROJECT["build-system"]["requires"]),
    ],
)
def test_pins_satisfy_the_ranges(name: str, wanted: list[str]) -> None:
    """Everything that pyproject.toml asks for is pinned, within its range. If not: make pins."""
    pins = read_pins(name)
    for requirement in map(Requirement, wanted):
        versions = pins.get(canonicalize_name(requirement.name), [])
        assert versions, f"{requirement.name} has no pin in {name}: make pins"
        for version in versions:
            assert requirement.specifier.contains(version), f"{requirement} is pinned to {version} in {name}: make pins"


def test_ranges_have_both_ends() -> None:
    """Every range has a lower bound, the release that was tested, and an upper one, the next major release."""
    for requirement in map(Requirement, PROJECT["dependencies"] + PROJECT["optional-dependencies"]["dev"]):
        bounds = {specifier.operator: specifier.version for specifier in requirement.specifier}
        assert sorted(bounds) == ["<", ">="], requirement
        assert int(bounds["<"]) == int(bounds[">="].split(".")[0]) + 1, requirement


def test_tests_add_to_the_course() -> None:
    """The pins for tests hold those of the course unchanged: setting up for tests never changes the course."""
    course, tests = map(read_pins, PINS)
    assert {name: tests.get(name) for name in course} == course


def test_groups_say_the_same_as_extras() -> None:
    """Pip's extra and the dependency groups do not drift apart."""
    assert PYPROJECT["dependency-groups"]["dev"] == PROJECT["optional-dependencies"]["dev"]
    assert PYPROJECT["dependency-groups"]["build"] == PYPROJECT["build-system"]["requires"]


def test_wheel_is_whole(tmp_path: Path) -> None:
    """An installed course has the vocabularies, the sample project and JupyterLab's settings, and no bytecode."""
    passes("hatchling", "build", "-t", "wheel", "-d", str(tmp_path))
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    package = (path.relative_to(ROOT).as_posix() for path in (ROOT / "course_lib").rglob("*") if path.is_file())
    # What tests and tools leave in the folder is no part of the course.
    expected = {name for name in package if not re.search(r"__pycache__|\.(mypy|ruff|pytest)_cache|\.pyc$", name)}
    assert expected <= names
    assert not [name for name in names if name.endswith(".pyc")]
    assert any(re.fullmatch(r"course_lib/data/.+\.gz", name) for name in names)
    assert any(re.fullmatch(r"course_lib/simulation/sample_project/.+\.md", name) for name in names)
    settings = "share/jupyter/lab/settings/overrides.d/agent-context-course.json"
    assert [name for name in names if name.endswith(settings)]


# --- nothing of one machine ------------------------------------------------------------------------------------------


def test_no_lock_file_in_git() -> None:
    """Lock files name the index that happened to be in use; the pins do not."""
    names = [path.name for path in tracked_files()]
    assert not [name for name in names if name == "uv.lock" or re.fullmatch(r"pylock.*\.toml", name)]


def test_no_path_of_this_machine() -> None:
    """No file in git names the folder that the course lies in here, or this user's home."""
    here = {str(ROOT), ROOT.as_posix()}
    home = str(Path.home())
    if len(Path(home).parts) > 2:  # not for users whose home is a word that stands in many texts, such as /root
        here |= {home + os.sep}
    assert not [f"{name}: {path}" for name, text in texts().items() for path in here if path in text]


def test_no_path_of_any_machine_in_notebooks() -> None:
    """Notebooks are run on the author's machine; their outputs do not show where."""
    path = re.compile(r"/(?:root|tmp|home/\w+|Users/\w+|private/var)/[^\s\"']*|[A-Z]:\\+Users\\+\w+|site-packages\S*")
    found = {name: path.findall(text) for name, text in texts().items() if name.endswith(".ipynb")}
    assert not {name: paths for name, paths in found.items() if paths}


def test_no_package_registry_is_named() -> None:
    """Which registry packages come from is each installer's own setting."""
    registries = [".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "com"))]
    assert not [f"{name}: {host}" for name, text in texts().items() for host in registries if host in text]


# --- CI and README say what is so ------------------------------------------------------------------------------------


def test_workflow_runs_the_same_command() -> None:
    """CI elsewhere runs the README's second command, on three systems, from the oldest Python on, with few rights."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    job = workflow["jobs"]["test"]
    matrix = job["strategy"]["matrix"]
    assert [system.partition("-")[0] for system in matrix["os"]] == ["ubuntu", "macos", "windows"]
    assert matrix["python"][0] == "{}.{}".format(*OLDEST)
    assert [step["run"] for step in job["steps"] if "run" in step] == ["python -m course_lib test"]
    for step in job["steps"]:
        assert re.fullmatch(r"actions/[a-z-]+@v\d+", step.get("uses", "actions/none@v0")), step


def test_ci_script_runs_the_same_command() -> None:
    """CI here ends by becoming the README's second command, so its last line and exit status are pytest's."""
    lines = (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
    assert lines[-1] == 'exec python3 -m course_lib test "$@"'


def test_readme_starts_with_the_two_commands() -> None:
    """The README's first code block is the two commands and nothing else."""
    blocks = re.findall(
        r"^```\w*\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    commands = [line.partition("#")[0].strip() for line in blocks[0].splitlines()]
    assert commands == ["python3 -m course_lib start", "python3 -m course_lib test"]
