import re

# Windows are written "08:00-12:30"; times are minutes since midnight.
WINDOW_PATTERN = re.compile(r"(\d{2}):(\d{2})-(\d{2}):(\d{2})")
DAY_MINUTES = 24 * 60
# Ringing, waiting at the door and the signature, for every single parcel.
UNLOAD_MINUTES = 4
TROLLEY_COUNT = 5
TROLLEY_MINUTES = 6


def format_clock_text(clock_minutes):
    hours, minutes = divmod(clock_minutes % DAY_MINUTES, 60)
    return f"{hours:02d}:{minutes:02d}"


def is_valid_window_text(window_text):
    match = WINDOW_PATTERN.fullmatch(window_text)
    if match is None:
        return False
    start_hour, start, end_hour, end = (int(group) for group in match.groups())
    if start_hour > 23 or end_hour > 23 or start > 59 or end > 59:
        return False
    return start_hour * 60 + start < end_hour * 60 + end


def opening_minutes(window_text):
    if not is_valid_window_text(window_text):
        raise ValueError(f"not a time window: {window_text}")
    return int(window_text[0:2]) * 60 + int(window_text[3:5])


def closing_minutes(window_text):
    if not is_valid_window_text(window_text):
        raise ValueError(f"not a time window: {window_text}")
    return int(window_text[6:8]) * 60 + int(window_text[9:11])


def waiting_minutes(window_text, arrival_minutes):
    # -1 means that the van comes too late to hand over the parcel.
    if arrival_minutes > closing_minutes(window_text):
        return -1
    return max(0, opening_minutes(window_text) - arrival_minutes)


def common_window_text(first_text, second_text):
    # Used when two customers of one house want to be served in one stop.
    start = max(opening_minutes(first_text), opening_minutes(second_text))
    end = min(closing_minutes(first_text), closing_minutes(second_text))
    if end - start < UNLOAD_MINUTES:
        return ""
    return f"{format_clock_text(start)}-{format_clock_text(end)}"


def departure_minutes(window_text, arrival_minutes, parcel_count):
    if parcel_count < 0:
        raise ValueError("the number of parcels cannot be negative")
    waiting = waiting_minutes(window_text, arrival_minutes)
    if waiting < 0:
        # Nobody is there any more: drive on at once.
        return arrival_minutes
    handled = parcel_count * UNLOAD_MINUTES
    if parcel_count > TROLLEY_COUNT:
        # The trolley has to be taken out of the van and put back again.
        handled += TROLLEY_MINUTES
    return arrival_minutes + waiting + handled
