from freight.core.units import format_duration_text
from freight.tracking.statuses import can_change, status_label

SEPARATOR = "|"
DAY_MINUTES = 24 * 60
# A parcel that rests longer than two days gets a mark in its history.
SUSPICIOUS_MINUTES = 2 * DAY_MINUTES


class Event:
    def __init__(self, parcel_id, status, city, time_minutes):
        self.parcel_id = parcel_id
        self.status = status
        self.city = city
        # Minutes since midnight of the first day of the books.
        self.time_minutes = time_minutes

    def __str__(self):
        day, clock = divmod(self.time_minutes, DAY_MINUTES)
        hours, minutes = divmod(clock, 60)
        label = status_label(self.status)
        return f"day {day} {hours:02d}:{minutes:02d} {self.city}: {label}"


def parse_event(scan_line):
    # One line of the scanner, for example:
    # HF-101-0000042-7 | at_depot | Hanover | 2890
    parts = [part.strip() for part in scan_line.split(SEPARATOR)]
    if len(parts) != 4 or not parts[3].isdigit():
        raise ValueError(f"not a scan line: {scan_line.strip()}")
    parcel_id, status, city, minutes = parts
    if not parcel_id or not city:
        raise ValueError("a scan needs a parcel and a city")
    return Event(parcel_id.upper(), status.lower(), city, int(minutes))


def sorted_events(events):
    # Scanners send late, so the order of arrival means nothing.
    return sorted(events, key=lambda event: (event.time_minutes, event.status))


def latest_event(events):
    if not events:
        raise ValueError("the parcel has not been scanned yet")
    return sorted_events(events)[-1]


def wrong_events(events):
    # Scans that do not fit the status before them.
    wrong = []
    status = ""
    for event in sorted_events(events):
        if status and not can_change(status, event.status):
            # Compare the next scan with the last one that made sense.
            wrong.append(event)
        else:
            status = event.status
    return wrong


def history_lines(events):
    lines = []
    last_minutes = -1
    for event in sorted_events(events):
        line = str(event)
        if last_minutes >= 0:
            waited = event.time_minutes - last_minutes
            line += f" (+{format_duration_text(waited)})"
            if waited > SUSPICIOUS_MINUTES:
                line += " !"
        lines.append(line)
        last_minutes = event.time_minutes
    return lines
