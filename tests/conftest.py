"""Shared by all tests."""

import os

from browser_fixtures import browser, lab  # noqa: F401 pytest finds fixtures here
from hypothesis import settings

# CI draws the same examples every time: a red run there is about the change, not about luck. On a developer's machine
# every run draws new ones. No deadline: how long one example takes says more about the machine than about the code.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("local", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")
