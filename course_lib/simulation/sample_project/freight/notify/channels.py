import re

# Order of preference when a customer has not chosen anything.
CHANNELS = ("email", "sms", "letter")
COST_CENTS = {"email": 0, "sms": 7, "letter": 95}
# The gateway gives a discount on long lists.
BULK_COUNT = 100
BULK_PERCENT = 10
# Nobody is woken up for a parcel: no text messages from 21:00 to 07:30.
QUIET_START_MINUTES = 21 * 60
QUIET_END_MINUTES = 7 * 60 + 30
DAY_MINUTES = 24 * 60


def has_valid_email(contact_text):
    return re.fullmatch(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+", contact_text) is not None


def clean_phone_text(contact_text, country_code="49"):
    digits = re.sub(r"\D", "", contact_text)
    if contact_text.strip().startswith("+"):
        return f"+{digits}"
    if digits.startswith("00"):
        return f"+{digits[2:]}"
    return f"+{country_code}{digits.lstrip('0')}"


def channel_name(contact_text):
    if has_valid_email(contact_text):
        return "email"
    if len(re.sub(r"\D", "", contact_text)) >= 7:
        return "sms"
    return "letter"


def is_quiet(clock_minutes):
    clock = clock_minutes % DAY_MINUTES
    return clock >= QUIET_START_MINUTES or clock < QUIET_END_MINUTES


def send_minutes(channel_key, wanted_minutes):
    # Minutes since midnight of the first day; may fall on the next day.
    if channel_key != "sms" or not is_quiet(wanted_minutes):
        return wanted_minutes
    day, clock = divmod(wanted_minutes, DAY_MINUTES)
    if clock >= QUIET_START_MINUTES:
        day += 1
    return day * DAY_MINUTES + QUIET_END_MINUTES


def allowed_names(contact_text, refused_names):
    # Letters are always allowed, the terms say so.
    best = CHANNELS.index(channel_name(contact_text))
    names = []
    for name in CHANNELS[best:]:
        if name == "letter" or name not in refused_names:
            names.append(name)
    return names


def campaign_cost_cents(contact_texts):
    # What it costs to reach everybody who waits for a parcel.
    total = 0
    for contact in contact_texts:
        total += COST_CENTS[channel_name(contact)]
    if len(contact_texts) >= BULK_COUNT:
        total -= total * BULK_PERCENT // 100
    return total
