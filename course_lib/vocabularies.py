"""The token vocabularies that ship with the course, put where tiktoken looks for them (chapter 03).

tiktoken comes without its vocabularies and downloads them at the first count: with no network it fails, and on some
networks it hangs. The course brings two of them as package data and unpacks them once, so nothing is ever downloaded.

    >>> sorted(VOCABULARIES)
    ['cl100k_base', 'o200k_base']

What this leaves out on purpose: all other vocabularies. Anthropic's and many others were never published.
Source: chapter 03; names and checksums are those that tiktoken 0.14 asks for (November 2026).
"""

import gzip
import hashlib
import os
import re
import sys
import tempfile
from pathlib import Path

from course_lib.errors import TokenizerDataError

__all__ = ["VOCABULARIES", "prepare_vocabularies"]

# file name in tiktoken's cache (sha1 of its download address), sha256 of the file
VOCABULARIES = {
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
}


def prepare_vocabularies() -> Path:
    """Unpack the shipped vocabularies where tiktoken looks for them; return that folder.

    A `TIKTOKEN_CACHE_DIR` that is already set is kept and filled up; otherwise a per-user cache folder is used and the
    variable set to it, so that tiktoken never tries to download. Files are written atomically and checked.

    Raises:
        TokenizerDataError: the folder cannot be written.
    """
    given = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    folders = (
        [Path(given)]
        if given
        else [_user_cache_folder(), Path(tempfile.gettempdir()) / f"course-vocabularies-{_user_name()}"]
    )
    problem: OSError | None = None
    for folder in folders:
        try:
            for encoding in VOCABULARIES:
                _unpack(encoding, folder)
        except OSError as error:
            problem = error
            continue
        if not os.environ.get("TIKTOKEN_CACHE_DIR"):  # set but empty would mean: download every time
            os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
        return folder
    raise TokenizerDataError(
        f"cannot write the token vocabularies to {folders[0]} ({problem}): "
        "set TIKTOKEN_CACHE_DIR to a folder that you can write to"
    )


def _unpack(encoding: str, folder: Path) -> None:
    name, sha256 = VOCABULARIES[encoding]
    target = folder / name
    if target.is_file() and hashlib.sha256(target.read_bytes()).hexdigest() == sha256:
        return
    packed = Path(__file__).parent / "data" / f"{encoding}.tiktoken.gz"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        file.write(gzip.decompress(packed.read_bytes()))
    Path(file.name).replace(target)  # another process may do the same at the same time: both write the same bytes


def _user_cache_folder() -> Path:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "course_lib" / "vocabularies"


def _user_name() -> str:
    return re.sub(r"\W", "_", os.environ.get("USER") or os.environ.get("USERNAME") or "user")
