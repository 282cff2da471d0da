"""Paint as often as a page can take, and never lose the last state.

Events may come a thousand a second; a page shows sixty. A painter is told that something changed (`touch`) and paints
in a thread of its own, at most so many times a second; when it is closed it paints once more.
Source: chapter 00.
"""

import threading
import time
from collections.abc import Callable

__all__ = ["Painter"]


class Painter:
    """Calls `paint` after every `touch`, several touches together when they come too quickly.

    Args:
        paint: draws the present state; called from the painter's thread, at the end from the one that closes it.
        most_per_second: how often at most.
    """

    def __init__(self, paint: Callable[[], None], *, most_per_second: float = 90) -> None:
        self._paint = paint
        self._pause = 1 / most_per_second
        self._touched, self._closed = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work, name="painter", daemon=True)

    def touch(self) -> None:
        """Say that there is something new to see."""
        self._touched.set()

    def __enter__(self) -> "Painter":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._closed.set()
        self._touched.set()
        self._thread.join()
        self._paint()

    def _work(self) -> None:
        while True:
            self._touched.wait()
            if self._closed.is_set():
                return
            self._touched.clear()
            started = time.monotonic()
            self._paint()
            spent = time.monotonic() - started
            self._closed.wait(max(self._pause - spent, self._pause / 5))  # the run needs the processor, too
