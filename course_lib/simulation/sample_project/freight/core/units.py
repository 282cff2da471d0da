import math
import re

KG_PER_UNIT = {"kg": 1.0, "g": 0.001, "t": 1000.0, "lb": 0.45359237}
CM_PER_UNIT = {"cm": 1.0, "mm": 0.1, "m": 100.0, "in": 2.54}
NUMBER_WITH_UNIT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*")


def parse_weight_kg(weight_text):
    match = NUMBER_WITH_UNIT.fullmatch(weight_text.lower())
    if match is None or match.group(2) not in KG_PER_UNIT:
        raise ValueError(f"not a weight: {weight_text}")
    return round(float(match.group(1)) * KG_PER_UNIT[match.group(2)], 3)


def parse_sides_cm(size_text):
    # "40x30x20 cm" or "16 x 12 x 8 in"; without a unit it means centimetres.
    match = re.fullmatch(r"([\d. x]+?)\s*([a-z]{2})?", size_text.lower().strip())
    if match is None:
        raise ValueError(f"not a size: {size_text}")
    unit = match.group(2) or "cm"
    if unit not in CM_PER_UNIT:
        raise ValueError(f"unknown unit of length: {unit}")
    sides = []
    for part in match.group(1).split("x"):
        sides.append(round(float(part) * CM_PER_UNIT[unit], 1))
    if len(sides) != 3:
        raise ValueError(f"a parcel has three sides, not {len(sides)}")
    return sides


def box_volume_m3(sides_cm):
    length_cm, width_cm, height_cm = sides_cm
    return length_cm * width_cm * height_cm / 1_000_000


def round_up_kg(weight_kg: float, step_kg: float = 0.5) -> float:
    """Round a weight up to the next full step of the scale."""
    # The small allowance keeps 2.0000000001 from becoming 2.5.
    return math.ceil(weight_kg / step_kg - 1e-9) * step_kg


def format_weight_text(weight_kg):
    if weight_kg < 1:
        return f"{weight_kg * 1000:.0f} g"
    if weight_kg < 1000:
        return f"{weight_kg:.1f} kg"
    return f"{weight_kg / 1000:.2f} t"


def format_duration_text(duration_minutes):
    if duration_minutes < 0:
        raise ValueError("a duration cannot be negative")
    hours, minutes = divmod(duration_minutes, 60)
    days, hours = divmod(hours, 24)
    parts = []
    for number, unit in ((days, "d"), (hours, "h"), (minutes, "min")):
        if number:
            parts.append(f"{number} {unit}")
    return " ".join(parts) or "0 min"
