"""The notebook's interrupt button also stops what runs in the background.

While a cell runs, interrupting raises KeyboardInterrupt in it. While none runs, the kernel ignores it: a run in a
thread would go on. `stop_on_interrupt` puts a handler in the ignoring one's place, and leaves the other case alone.
Source: chapter 00.
"""

import threading
import weakref
from typing import Any, Protocol

__all__ = ["stop_on_interrupt"]


class _Stoppable(Protocol):
    def stop(self) -> object: ...


_everyone: "weakref.WeakSet[_Stoppable]" = weakref.WeakSet()


def stop_on_interrupt(thing: _Stoppable) -> None:
    """Have `thing.stop()` called when the kernel is interrupted while no cell runs; outside a kernel, do nothing."""
    from IPython.core.getipython import get_ipython

    _everyone.add(thing)
    kernel: Any = getattr(get_ipython(), "kernel", None)
    if hasattr(kernel, "saved_sigint_handler") and threading.current_thread() is threading.main_thread():
        kernel.saved_sigint_handler = _stop_everyone  # what the kernel puts back when the cell is done


def _stop_everyone(*_: object) -> None:
    for thing in list(_everyone):
        thing.stop()
