r"""Words from a log that are kept in a report: in one short line, with nothing in it that a terminal would act on.

    >>> one_line("a\n\tb \x1b[31mred"), short_label("x" * 9, 4), short_end("a/long/path.py", 8)
    ('a b �[31mred', 'xxx…', '…path.py')

Source: chapter 04.
"""

__all__ = ["one_line", "short_end", "short_label"]


def one_line(text: str) -> str:
    """Return the text in one line; what cannot be printed (control characters, half a surrogate pair) as "�"."""
    line = text if text.isprintable() and "  " not in text else " ".join(text.split())
    return line if line.isprintable() else "".join(char if char.isprintable() else "�" for char in line)


def short_label(text: str, longest: int) -> str:
    """Return the beginning of the text in one line of at most `longest` characters."""
    line = one_line(text[: 4 * longest])
    return line if len(line) <= longest and len(text) <= 4 * longest else line[: longest - 1] + "…"


def short_end(text: str, longest: int) -> str:
    """Return the end of the text, which says more of a path than its beginning, in at most `longest` characters."""
    line = one_line(text[-4 * longest :])
    return line if len(line) <= longest and len(text) <= 4 * longest else "…" + line[1 - longest :]
