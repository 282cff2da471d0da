"""Show a piece of the library in a notebook: its code stands in one place only.

Source: chapter 01.
"""

import inspect

from IPython.display import Markdown

__all__ = ["show_source"]


def show_source(*objects: object) -> Markdown:
    """Return the source of functions, classes or methods, as it is in the library, with the file it stands in."""
    parts = []
    for thing in objects:
        module = inspect.getmodule(thing)
        file = module.__name__.replace(".", "/") + ".py" if module else "?"
        source = inspect.cleandoc("\n" + inspect.getsource(thing))  # type: ignore[arg-type]
        parts.append(f"`{file}`\n\n```python\n{source}\n```")
    return Markdown("\n\n".join(parts))
