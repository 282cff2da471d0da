"""Show a piece of the library in a notebook: its code stands in one place only.

Source: chapter 01.
"""

import inspect

from IPython.display import Markdown

__all__ = ["show_source"]


def show_source(*objects: object, in_one_block: bool = False) -> Markdown:
    """Return the source of functions, classes, methods or properties, as it is in the library, with its file.

    Args:
        objects: what to show, in this order.
        in_one_block: under one heading, as for several methods of one class; by default each has its own.
    """
    files, sources = [], []
    for thing in objects:
        code = thing.fget if isinstance(thing, property) and thing.fget else thing
        module = inspect.getmodule(code)
        files.append(module.__name__.replace(".", "/") + ".py" if module else "?")
        sources.append(inspect.cleandoc("\n" + inspect.getsource(code)))  # type: ignore[arg-type]
    if in_one_block:
        files, sources = [", ".join(dict.fromkeys(files))], ["\n\n".join(sources)]
    parts = [f"`{file}`\n\n```python\n{source}\n```" for file, source in zip(files, sources, strict=True)]
    return Markdown("\n\n".join(parts))
