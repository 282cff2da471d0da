# toolchest 2.4.1, minitable
GAP = "  "


def column_widths(rows):
    widths = []
    for row in rows:
        for position, cell in enumerate(row):
            if position == len(widths):
                widths.append(0)
            widths[position] = max(widths[position], len(str(cell)))
    return widths


def is_number(cell):
    text = str(cell).lstrip("-").replace(".", "", 1).replace(",", "")
    return text.isdigit()


def format_row(row, widths):
    cells = []
    for cell, width in zip(row, widths):
        text = str(cell)
        cells.append(text.rjust(width) if is_number(cell) else text.ljust(width))
    return GAP.join(cells).rstrip()


def rule(widths, mark="-"):
    return GAP.join(mark * width for width in widths)


def render(header, rows, footer=None):
    everything = [header] + list(rows)
    if footer is not None:
        everything.append(footer)
    widths = column_widths(everything)
    lines = [format_row(header, widths), rule(widths)]
    lines.extend(format_row(row, widths) for row in rows)
    if footer is not None:
        lines.append(rule(widths, "="))
        lines.append(format_row(footer, widths))
    return "\n".join(lines)
