"""Practice for chapter 02's exercises: a git that does what it is told, and a prompt cache that is counted.

Source: chapter 02.
"""

import subprocess
from dataclasses import dataclass
from functools import cache

from course_lib.tokens import chars_counter

__all__ = ["PROMPT_PARTS", "FakeGit", "cached_tokens", "tokens_read_anew"]

_REQUESTS = 50


@dataclass(frozen=True)
class FakeGit:
    """A git for practice: call it with git's arguments, and it returns what git would print, or fails as git would.

    Attributes:
        branch: the branch that is checked out; "" when none is.
        changes: paths with uncommitted changes.
        fails: "", or "missing" (there is no git), "slow" (no answer in time), or the first line of git's error.
    """

    branch: str = "main"
    changes: tuple[str, ...] = ()
    fails: str = ""

    def __call__(self, *arguments: str) -> str:
        """Return the output of `git branch --show-current` or `git status --porcelain`."""
        command = ["git", *arguments]
        if self.fails == "missing":
            raise FileNotFoundError(2, "No such file or directory", "git")
        if self.fails == "slow":
            raise subprocess.TimeoutExpired(command, 2.0)
        if self.fails:
            raise subprocess.CalledProcessError(128, command, output="", stderr=f"fatal: {self.fails}\n(more)\n")
        outputs = {
            ("branch", "--show-current"): f"{self.branch}\n" if self.branch else "",
            ("status", "--porcelain"): "".join(f" M {path}\n" for path in self.changes),
        }
        if arguments not in outputs:
            raise ValueError(f"this practice git knows only {sorted(outputs)}, not {arguments!r}")
        return outputs[arguments]


# name of a part -> its tokens, and after how many requests its text is another one (0: never)
PROMPT_PARTS: dict[str, tuple[int, int]] = {
    "clock": (15, 1),
    "git_status": (120, 4),
    "identity": (200, 0),
    "persistent_memory": (300, 25),
    "project_memory": (1_500, 10),
    "tool_guide": (900, 0),
    "rules": (600, 0),
    "date": (12, 40),
}


def cached_tokens(order: tuple[str, ...]) -> int:
    """Return how many tokens of a system prompt with its parts in this order come from the cache, in 50 requests.

    From one request to the next everything is reused up to the first part that has changed.
    """
    return sum(_reused(tuple(order), number) for number in range(1, _REQUESTS))


@cache
def _reused(order: tuple[str, ...], number: int) -> int:
    reused = 0
    for name in order:
        tokens, period = PROMPT_PARTS[name]
        if period and number % period == 0:
            break
        reused += tokens
    return reused


def tokens_read_anew(
    *, tools_tokens: int, before_clock_tokens: int, after_clock_tokens: int, added_tokens: int, requests: int
) -> int:
    """Send requests whose system prompt has a clock in it; return how many tokens no cache could reuse.

    A request is one text here, a character a token: tools, system prompt with the clock's digits, conversation.
    """
    counter, earlier, anew = chars_counter(1), "", 0
    for number in range(requests):
        clock = chr(0x4E00 + number)  # one character, another one each time
        start = "t" * tools_tokens + "s" * before_clock_tokens + clock + "s" * (after_clock_tokens - 1)
        request = start + "m" * (added_tokens * number)
        shared = next((i for i, (a, b) in enumerate(zip(earlier, request, strict=False)) if a != b), len(earlier))
        anew += counter(request) - shared
        earlier = request
    return anew
