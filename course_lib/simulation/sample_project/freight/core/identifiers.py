from vendor.checkdigit import append_mod11, is_mod11

# A parcel id reads HF-DDD-SSSSSSS-C: depot, serial number, check digit.
PREFIX = "HF"
DEPOT_NAMES = {
    "101": "Hanover",
    "205": "Leipzig",
    "310": "Rotterdam",
}
SERIAL_WIDTH = 7
LAST_SERIAL = 10**SERIAL_WIDTH - 1


def build_parcel_id(depot_code, serial_index):
    if depot_code not in DEPOT_NAMES:
        raise ValueError(f"unknown depot: {depot_code}")
    if not 0 <= serial_index <= LAST_SERIAL:
        raise ValueError(f"serial number out of range: {serial_index}")
    serial = str(serial_index).zfill(SERIAL_WIDTH)
    digits = append_mod11(depot_code + serial)
    return f"{PREFIX}-{depot_code}-{serial}-{digits[-1]}"


def clean_parcel_id(scanned_text):
    # Scanners drop the hyphens, people type blanks and lower case.
    compact = "".join(mark for mark in scanned_text.upper() if mark.isalnum())
    if compact.startswith(PREFIX):
        compact = compact[len(PREFIX) :]
    if len(compact) != 3 + SERIAL_WIDTH + 1:
        raise ValueError(f"not a parcel id: {scanned_text.strip()}")
    return f"{PREFIX}-{compact[:3]}-{compact[3:-1]}-{compact[-1]}"


def is_valid_parcel_id(parcel_id):
    parts = parcel_id.split("-")
    if len(parts) != 4 or parts[0] != PREFIX:
        return False
    if parts[1] not in DEPOT_NAMES or len(parts[2]) != SERIAL_WIDTH:
        return False
    return is_mod11("".join(parts[1:]))


def depot_name(parcel_id):
    if not is_valid_parcel_id(parcel_id):
        raise ValueError(f"the check digit of {parcel_id} is wrong")
    return DEPOT_NAMES[parcel_id.split("-")[1]]


def serial_index(parcel_id):
    return int(parcel_id.split("-")[2])


def missing_ids(parcel_ids):
    # Numbers that were skipped between the first and the last label of a roll.
    wanted = min(parcel_ids)
    last_id = max(parcel_ids)
    missing = []
    while wanted != last_id:
        wanted = next_parcel_id(wanted)
        if wanted not in parcel_ids:
            missing.append(wanted)
    return missing


def next_parcel_id(parcel_id):
    depot_code = parcel_id.split("-")[1]
    following = serial_index(parcel_id) + 1
    if following > LAST_SERIAL:
        # The range starts again after ten million parcels of one depot.
        following = 0
    return build_parcel_id(depot_code, following)
