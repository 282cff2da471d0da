import re

# Traders in the union are known by an EORI code: country and national number.
LENGTH_RANGES = {
    "AT": (10, 10),
    "BE": (10, 10),
    "CZ": (8, 10),
    "DE": (7, 15),
    "DK": (8, 8),
    "ES": (9, 9),
    "FR": (14, 14),
    "GB": (12, 12),
    "IT": (11, 11),
    "NL": (9, 9),
    "PL": (10, 15),
}


def clean_eori_code(eori_code):
    return re.sub(r"[\s.\-/]", "", eori_code).upper()


def eori_country(eori_code):
    return clean_eori_code(eori_code)[:2]


def is_valid_eori_code(eori_code):
    compact = clean_eori_code(eori_code)
    limits = LENGTH_RANGES.get(compact[:2])
    if limits is None:
        return False
    number = compact[2:]
    if not number.isalnum() or not number[-1].isdigit():
        return False
    return limits[0] <= len(number) <= limits[1]


def has_siren_check(eori_code):
    # French codes hold a company number whose digits pass the Luhn test.
    compact = clean_eori_code(eori_code)
    if not compact.startswith("FR") or not compact[2:].isdigit():
        return False
    total = 0
    for position, mark in enumerate(reversed(compact[2:11])):
        value = int(mark) * (1 + position % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def can_clear_customs(sender_code, receiver_code):
    # A parcel needs one trader on each side of the border.
    if not is_valid_eori_code(sender_code):
        return False
    if not is_valid_eori_code(receiver_code):
        return False
    return (eori_country(sender_code) == "GB") != (eori_country(receiver_code) == "GB")


def eori_problem_text(eori_code):
    country = eori_country(eori_code)
    if country not in LENGTH_RANGES:
        return f"country {country or '?'} has no EORI codes we know of"
    shortest, longest = LENGTH_RANGES[country]
    found = len(clean_eori_code(eori_code)) - 2
    if not shortest <= found <= longest:
        wanted = str(shortest) if shortest == longest else f"{shortest} to {longest}"
        return f"{country} needs {wanted} characters, not {found}"
    return "" if is_valid_eori_code(eori_code) else "the last character is not a digit"
