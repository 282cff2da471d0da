import textwrap

from freight.core.address import Address
from freight.core.identifiers import depot_name
from freight.core.units import format_weight_text

LABEL_WIDTH = 32
LABEL_HEIGHT = 10
LABELS_PER_SHEET = 4
HANDLING_TEXTS = {
    "fragile": "FRAGILE - HANDLE WITH CARE",
    "upright": "THIS SIDE UP",
    "cold": "KEEP BELOW 8 DEGREES",
    "heavy": "HEAVY - TWO PERSONS",
    "battery": "CONTAINS LITHIUM CELLS",
}


def wrapped_lines(label_text):
    lines = []
    for part in label_text.splitlines():
        lines.extend(textwrap.wrap(part, LABEL_WIDTH) or [""])
    return lines


def route_code(address):
    # What the sorting belt reads: country and the first half of the code.
    if not address.has_valid_code():
        raise ValueError(f"check the postal code: {address.postal_code}")
    digits = address.postal_code.replace(" ", "")
    return f"{address.country}-{digits[: len(digits) // 2 + 1]}"


def return_address(parcel_id):
    # Parcels nobody wants go back to the depot that took them in.
    depot = depot_name(parcel_id)
    return Address("Returns desk", "Depot gate 2", "00000", depot)


def handling_line(handling_key):
    if handling_key not in HANDLING_TEXTS:
        raise ValueError(f"unknown handling mark: {handling_key}")
    return HANDLING_TEXTS[handling_key].center(LABEL_WIDTH).rstrip()


def barcode_text(parcel_id):
    return f"*{parcel_id.replace('-', '')}*"


def parcel_label_lines(parcel_id, address, weight_kg):
    # Big enough to be read from the other side of the belt.
    lines = [f"{route_code(address):<20}{format_weight_text(weight_kg):>12}"]
    lines.append("-" * LABEL_WIDTH)
    for line in address.label_lines():
        lines.extend(wrapped_lines(line))
    lines.append("-" * LABEL_WIDTH)
    lines.append(barcode_text(parcel_id))
    if len(lines) > LABEL_HEIGHT:
        raise ValueError("the address is too long for the label")
    return lines


def sheet_text(labels):
    # Labels that are printed on one sheet, with a line to cut along.
    cut_line = "- " * (LABEL_WIDTH // 2)
    parts = []
    for number, label in enumerate(labels):
        if number and number % LABELS_PER_SHEET == 0:
            # The printer starts a new sheet at a form feed.
            parts.append("\f")
        elif number:
            parts.append(cut_line.rstrip())
        parts.append(label.strip("\n"))
    return "\n".join(parts)
