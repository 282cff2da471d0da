from freight.routing.legs import Leg, stop_cities, total_distance_km, tour_minutes
from freight.routing.time_windows import format_clock_text

DAY_MINUTES = 24 * 60
# How much later than planned a parcel may be before the customer hears of it.
TOLERANCE_MINUTES = 45


def done_legs(legs, city):
    # The legs that end in the city of the last scan, or before it. A parcel
    # that is still where it was collected has none.
    done = []
    for leg in legs:
        done.append(leg)
        if leg.end_city == city:
            return done
    return []


def progress_percent(legs, city):
    # By distance, not by time: customers find that easier to understand.
    whole_km = total_distance_km(legs)
    if whole_km == 0:
        return 100.0
    return round(100 * total_distance_km(done_legs(legs, city)) / whole_km, 1)


def remaining_minutes(legs, city):
    if not legs:
        return 0
    if city not in stop_cities(legs):
        raise ValueError(f"{city} is not on the way")
    left = legs[len(done_legs(legs, city)) :]
    return tour_minutes(left)


def current_leg(legs, city):
    position = len(done_legs(legs, city))
    if position == len(legs):
        # Arrived: show a leg of no length instead of none.
        return Leg(city, city, 0.0)
    return legs[position]


def needs_notice(planned_minutes, expected_minutes):
    # Early parcels are announced too, but only when the day changes.
    if expected_minutes - planned_minutes > TOLERANCE_MINUTES:
        return True
    return expected_minutes // DAY_MINUTES < planned_minutes // DAY_MINUTES


def bar_text(legs, city, mark_count=20):
    # Shown on the website: one mark for each twentieth of the way.
    percent = progress_percent(legs, city)
    filled = int(percent * mark_count / 100)
    bar = "#" * filled + "." * (mark_count - filled)
    return f"[{bar}] {percent:.0f}%"


def arrival_text(legs, city, now_minutes):
    left = remaining_minutes(legs, city)
    if left == 0:
        return f"The parcel is in {city}."
    arrival = now_minutes + left
    days = arrival // DAY_MINUTES - now_minutes // DAY_MINUTES
    clock = format_clock_text(arrival)
    target = legs[-1].end_city
    if days == 0:
        return f"The parcel reaches {target} at {clock}."
    return f"The parcel reaches {target} at {clock}, {days} day(s) from now."
