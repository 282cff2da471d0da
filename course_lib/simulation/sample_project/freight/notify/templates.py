import string

TEMPLATES = {
    ("collected", "en"): "Dear $name, your parcel $parcel_id is on its way.",
    ("collected", "de"): "Guten Tag $name, Ihr Paket $parcel_id ist unterwegs.",
    ("delayed", "en"): "Dear $name, your parcel $parcel_id arrives $days later.",
    ("delayed", "de"): "Guten Tag $name, Ihr Paket $parcel_id kommt $days spaeter.",
    ("delivered", "en"): "Dear $name, your parcel $parcel_id was delivered.",
    ("delivered", "de"): "Guten Tag $name, Ihr Paket $parcel_id wurde zugestellt.",
    ("missed", "en"): "Dear $name, we missed you. Parcel $parcel_id is at $city.",
}
LANGUAGES = {"AT": "de", "CH": "de", "DE": "de"}
FALLBACK = "en"
SMS_LENGTH = 70


def language_code(country):
    return LANGUAGES.get(country, FALLBACK)


def template_text(event_key, country):
    language = language_code(country)
    if (event_key, language) in TEMPLATES:
        return TEMPLATES[(event_key, language)]
    if (event_key, FALLBACK) in TEMPLATES:
        return TEMPLATES[(event_key, FALLBACK)]
    raise ValueError(f"no template for {event_key}")


def field_names(template_line):
    # In the order of their first use, each name once.
    names = []
    for match in string.Template.pattern.finditer(template_line):
        name = match.group("named") or match.group("braced")
        if name and name not in names:
            names.append(name)
    return names


def fill_text(template_line, text_by_field):
    # A message with a gap in it is worse than no message.
    missing = [name for name in field_names(template_line) if name not in text_by_field]
    if missing:
        raise ValueError(f"missing in the message: {', '.join(missing)}")
    return string.Template(template_line).substitute(text_by_field)


def delay_text(late_days, country):
    is_german = language_code(country) == "de"
    if late_days == 1:
        return "einen Tag" if is_german else "one day"
    return f"{late_days} {'Tage' if is_german else 'days'}"


def sms_texts(message):
    # Cut between words; a long word is cut where the limit falls.
    pieces = []
    rest = " ".join(message.split())
    while len(rest) > SMS_LENGTH:
        cut = rest.rfind(" ", 0, SMS_LENGTH + 1)
        if cut <= 0:
            cut = SMS_LENGTH
        pieces.append(rest[:cut])
        rest = rest[cut:].lstrip()
    return pieces + [rest] if rest else pieces
