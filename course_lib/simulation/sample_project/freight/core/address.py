import re

POSTAL_PATTERNS = {
    "AT": r"\d{4}",
    "BE": r"\d{4}",
    "CH": r"\d{4}",
    "DE": r"\d{5}",
    "FR": r"\d{5}",
    "GB": r"[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}",
    "NL": r"\d{4} [A-Z]{2}",
}


class Address:
    def __init__(self, name, street_line, postal_code, city, country="DE"):
        self.name = name.strip()
        self.street_line = street_line.strip()
        self.postal_code = postal_code.strip().upper()
        self.city = city.strip()
        self.country = country.upper()

    def __str__(self):
        return ", ".join(self.label_lines())

    def label_lines(self):
        lines = [self.name, self.street_line, f"{self.postal_code} {self.city}"]
        if self.country != "DE":
            lines.append(self.country)
        return lines

    def has_valid_code(self):
        pattern = POSTAL_PATTERNS.get(self.country)
        if pattern is None:
            # No rule for this country: accept anything that is not empty.
            return bool(self.postal_code)
        return re.fullmatch(pattern, self.postal_code) is not None


def split_town_texts(town_line):
    # "3011 AB Rotterdam": the code ends before the first ordinary word.
    words = town_line.split()
    position = 0
    while position < len(words):
        word = words[position]
        has_digit = any(character.isdigit() for character in word)
        if not has_digit and not (len(word) == 2 and word.isupper()):
            break
        position += 1
    return [" ".join(words[:position]), " ".join(words[position:])]


def parse_address(address_text):
    parts = [part.strip() for part in address_text.split(";")]
    if len(parts) not in (3, 4):
        raise ValueError("an address reads: name; street; town; country")
    country = parts[3] if len(parts) == 4 else "DE"
    postal_code, city = split_town_texts(parts[2])
    return Address(parts[0], parts[1], postal_code, city, country)


def address_key(address):
    # Two parcels with the same key go to the same door.
    street = address.street_line.lower().replace("str.", "strasse")
    compact = re.sub(r"[^a-z0-9]", "", street)
    postal_code = address.postal_code.replace(" ", "")
    return f"{address.country}-{postal_code}-{compact}"
