# %% right: one handler that looks at the kind
import subprocess


def describe_git(git):
    try:
        branch, changes = git("branch", "--show-current").strip(), git("status", "--porcelain")
    except (FileNotFoundError, subprocess.SubprocessError) as error:
        if isinstance(error, FileNotFoundError):
            return "Git is not installed."
        if isinstance(error, subprocess.TimeoutExpired):
            return "Git gave no answer in time."
        first = error.stderr.split("\n")[0].replace("fatal: ", "")
        return "This is not a git repository." if first.startswith("not a git") else "Git failed: " + first
    start = f"Branch: {branch}." if branch else "No branch is checked out."
    return f"{start} {len(changes.splitlines())} uncommitted changes."


# %% wrong: raises FileNotFoundError
import subprocess


def describe_git(git):
    try:
        branch = git("branch", "--show-current").strip()
        changes = git("status", "--porcelain").splitlines()
    except subprocess.CalledProcessError:
        return "This is not a git repository."
    return f"Branch: {branch}. {len(changes)} uncommitted changes."


# %% wrong: said of every failure
def describe_git(git):
    try:
        branch = git("branch", "--show-current").strip()
        changes = git("status", "--porcelain").splitlines()
    except Exception:
        return "Git is not installed."
    return f"Branch: {branch}. {len(changes)} uncommitted changes."


# %% wrong: hides bugs
import subprocess


def describe_git(git):
    try:
        branch = git("branch", "--show-current").strip()
        changes = git("status", "--porcelain").splitlines()
    except subprocess.TimeoutExpired:
        return "Git gave no answer in time."
    except subprocess.CalledProcessError as error:
        if "not a git repository" in error.stderr:
            return "This is not a git repository."
        return "Git failed: " + error.stderr.splitlines()[0].removeprefix("fatal: ")
    except Exception:
        return "Git is not installed."
    where = f"Branch: {branch}" if branch else "No branch is checked out"
    return f"{where}. {len(changes)} uncommitted changes."


# %% wrong: the sentence has a hole
import subprocess


def describe_git(git):
    try:
        branch = git("branch", "--show-current").strip()
        changes = git("status", "--porcelain").splitlines()
    except FileNotFoundError:
        return "Git is not installed."
    except subprocess.TimeoutExpired:
        return "Git gave no answer in time."
    except subprocess.CalledProcessError as error:
        if "not a git repository" in error.stderr:
            return "This is not a git repository."
        return "Git failed: " + error.stderr.splitlines()[0].removeprefix("fatal: ")
    return f"Branch: {branch}. {len(changes)} uncommitted changes."


# %% wrong: Only the first line
import subprocess


def describe_git(git):
    try:
        branch = git("branch", "--show-current").strip()
        changes = git("status", "--porcelain").splitlines()
    except FileNotFoundError:
        return "Git is not installed."
    except subprocess.TimeoutExpired:
        return "Git gave no answer in time."
    except subprocess.CalledProcessError as error:
        if "not a git repository" in error.stderr:
            return "This is not a git repository."
        return "Git failed: " + error.stderr.removeprefix("fatal: ").strip()
    where = f"Branch: {branch}" if branch else "No branch is checked out"
    return f"{where}. {len(changes)} uncommitted changes."
