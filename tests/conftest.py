"""Shared by all tests."""

import os

from browser_fixtures import browser, lab  # noqa: F401 pytest finds fixtures here
from hypothesis import settings

# CI draws the same examples every time: a red run there is about the change, not about luck. On a developer's machine
# every run draws new ones. No deadline: how long one example takes says more about the machine than about the code.
# For a long search: pytest --hypothesis-profile=thorough.
settings.register_profile("ci", derandomize=True, deadline=None, max_examples=60)
settings.register_profile("local", deadline=None, max_examples=60)
settings.register_profile("thorough", deadline=None, max_examples=1_000)
settings.load_profile("ci" if os.environ.get("CI") else "local")
