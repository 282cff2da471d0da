# toolchest 2.4.1, geogrid
import math

DEFAULT_SIZE = 25.0


def cell_of(east, north, size=DEFAULT_SIZE):
    column = math.floor(east / size)
    row = math.floor(north / size)
    return f"{column}:{row}"


def split_cell(cell):
    column, row = cell.split(":")
    return int(column), int(row)


def centre_of(cell, size=DEFAULT_SIZE):
    column, row = split_cell(cell)
    return (column + 0.5) * size, (row + 0.5) * size


def neighbours(cell):
    column, row = split_cell(cell)
    found = []
    for step_north in (-1, 0, 1):
        for step_east in (-1, 0, 1):
            if step_north or step_east:
                found.append(f"{column + step_east}:{row + step_north}")
    return found


def steps_between(first, second):
    first_column, first_row = split_cell(first)
    second_column, second_row = split_cell(second)
    return max(abs(first_column - second_column), abs(first_row - second_row))


def group_points(points, size=DEFAULT_SIZE):
    cells = {}
    for name in sorted(points):
        east, north = points[name]
        cells.setdefault(cell_of(east, north, size), []).append(name)
    return cells
