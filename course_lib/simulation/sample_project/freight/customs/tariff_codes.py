CHAPTER_NAMES = {
    "04": "dairy products and honey",
    "09": "coffee, tea and spices",
    "18": "cocoa and chocolate",
    "22": "beverages",
    "24": "tobacco",
    "33": "perfumes and soap",
    "39": "plastic goods",
    "42": "leather goods",
    "49": "printed books",
    "61": "knitted clothing",
    "62": "woven clothing",
    "64": "footwear",
    "84": "machinery and parts",
    "85": "electrical machinery",
    "90": "optical instruments",
    "93": "arms and ammunition",
    "95": "toys and games",
}
# Parcels with these goods are turned away at the counter.
REFUSED_CHAPTERS = ("24", "93")
VALID_LENGTHS = (6, 8, 10)


def clean_tariff_code(entered_text):
    digits = "".join(mark for mark in entered_text if mark not in " .-")
    if not digits.isdigit() or len(digits) not in VALID_LENGTHS:
        raise ValueError(f"not a tariff code: {entered_text}")
    return digits


def chapter_code(tariff_code):
    return clean_tariff_code(tariff_code)[:2]


def chapter_name(tariff_code):
    return CHAPTER_NAMES.get(chapter_code(tariff_code), "other goods")


def is_refused(tariff_code):
    return chapter_code(tariff_code) in REFUSED_CHAPTERS


def format_code_text(tariff_code):
    # Printed in groups: 6109 10 00.
    digits = clean_tariff_code(tariff_code)
    groups = [digits[:4]]
    for start in range(4, len(digits), 2):
        groups.append(digits[start : start + 2])
    return " ".join(groups)


def matching_codes(search_text):
    # Chapters whose name holds every word that was typed; when there are none,
    # chapters that hold at least one of them.
    words = search_text.lower().split()
    full = []
    partial = []
    for code, name in CHAPTER_NAMES.items():
        hits = [word for word in words if word in name]
        if hits and len(hits) == len(words):
            full.append(code)
        elif hits:
            partial.append(code)
    return full or partial


def common_code(tariff_codes):
    # Mixed goods are declared under the longest shared beginning.
    cleaned = sorted(clean_tariff_code(code) for code in tariff_codes)
    if not cleaned:
        return ""
    # In sorted order only the two ends have to be compared.
    shared = 0
    for first, last in zip(cleaned[0], cleaned[-1]):
        if first != last:
            break
        shared += 1
    return cleaned[0][: shared - shared % 2]
