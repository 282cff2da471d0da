"""A real server that speaks like both providers and has a small window: llmock, in a process of its own."""

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

IS_INSTALLED = importlib.util.find_spec("llmock") is not None
HOW_TO_INSTALL = "llmock is not installed: pip install -e '.[dev]'"


@contextmanager
def mock_server(window_tokens):
    """Run a server with such a window; give its address, and end it afterwards."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [sys.executable, "-m", "llmock.cli", "serve", "--port", str(port), "--log-level", "error"]
    environ = {key: value for key, value in os.environ.items() if not key.startswith("LLMOCK_")}
    server = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--context-window", str(window_tokens)],
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_until_ready(f"http://127.0.0.1:{port}/health", server)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.kill(server.pid, signal.SIGTERM)
        server.wait(timeout=10)


def _wait_until_ready(health, server):
    for _ in range(400):
        assert server.poll() is None, "llmock ended before it was ready"
        try:
            with urllib.request.urlopen(health, timeout=1):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)
    pytest.fail("llmock was not ready within twenty seconds")
