import re

from vendor.minitable import render

# Shelf codes read aisle, bay, level: "B-07-2".
SHELF_PATTERN = re.compile(r"([A-H])-(\d{2})-([1-5])")
STEP_MINUTES = 1
LADDER_MINUTES = 3
LADDER_LEVEL = 4


def is_valid_shelf_code(shelf_code):
    return SHELF_PATTERN.fullmatch(shelf_code) is not None


def aisle_index(shelf_code):
    if not is_valid_shelf_code(shelf_code):
        raise ValueError(f"not a shelf code: {shelf_code}")
    return ord(shelf_code[0]) - ord("A")


def needs_ladder(shelf_code):
    return int(shelf_code[-1]) >= LADDER_LEVEL


def walking_codes(shelf_codes):
    # Up one aisle and down the next, so that nobody walks an empty way.
    aisles = {}
    for shelf_code in sorted(set(shelf_codes)):
        aisles.setdefault(aisle_index(shelf_code), []).append(shelf_code)
    ordered = []
    for number, index in enumerate(sorted(aisles)):
        codes = aisles[index]
        ordered.extend(reversed(codes) if number % 2 else codes)
    return ordered


def crossed_aisle_count(shelf_codes):
    # Every change of aisle means a walk along the cross corridor.
    crossed = 0
    route = walking_codes(shelf_codes)
    for previous, following in zip(route, route[1:]):
        crossed += abs(aisle_index(following) - aisle_index(previous))
    return crossed


def picking_minutes(shelf_codes):
    # A picker needs a minute for each shelf and for each aisle that is passed.
    minutes = crossed_aisle_count(shelf_codes) * STEP_MINUTES
    for shelf_code in walking_codes(shelf_codes):
        minutes += LADDER_MINUTES if needs_ladder(shelf_code) else STEP_MINUTES
    return minutes


def pick_list_text(code_by_parcel):
    # One row for each parcel, in the order of the walk.
    order = walking_codes(list(code_by_parcel.values()))
    rows = []
    for parcel_id in sorted(code_by_parcel):
        shelf_code = code_by_parcel[parcel_id]
        ladder = "ladder" if needs_ladder(shelf_code) else ""
        # Several parcels on one shelf share a stop.
        rows.append((order.index(shelf_code) + 1, shelf_code, parcel_id, ladder))
    rows.sort()
    footer = (len(set(order)), "stops", f"{picking_minutes(order)} min", "")
    return render(("stop", "shelf", "parcel", "note"), rows, footer)
