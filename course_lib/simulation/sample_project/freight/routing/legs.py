from freight.core.units import format_duration_text

# A driver rests 45 minutes after four and a half hours at the wheel.
DRIVE_BLOCK_MINUTES = 270
REST_MINUTES = 45


class Leg:
    LOADING_MINUTES = 20

    def __init__(self, start_city, end_city, distance_km, speed_kmh=65.0):
        if distance_km < 0 or speed_kmh <= 0:
            raise ValueError("a leg needs a distance and a speed")
        self.start_city = start_city
        self.end_city = end_city
        self.distance_km = distance_km
        self.speed_kmh = speed_kmh

    def __str__(self):
        duration = format_duration_text(self.drive_minutes())
        ends = f"{self.start_city} - {self.end_city}"
        return f"{ends}, {self.distance_km:g} km, {duration}"

    def drive_minutes(self):
        # Started minutes count, the tour plan has no seconds.
        return -int(-self.distance_km * 60 // self.speed_kmh)


def total_distance_km(legs):
    # One digit is all that the odometers of the vans show.
    return round(sum(leg.distance_km for leg in legs), 1)


def tour_minutes(legs):
    # Parcels are loaded once at the start of each leg.
    driving = sum(leg.drive_minutes() for leg in legs)
    loading = len(legs) * Leg.LOADING_MINUTES
    # No rest is needed when the day ends together with the block.
    resting = max(0, driving - 1) // DRIVE_BLOCK_MINUTES * REST_MINUTES
    # Time at the ramp would count as rest if somebody else did the loading.
    return driving + loading + resting


def stop_cities(legs):
    if not legs:
        return []
    stops = [legs[0].start_city]
    for leg in legs:
        if leg.start_city != stops[-1]:
            raise ValueError(f"no leg leads from {stops[-1]} to {leg.start_city}")
        stops.append(leg.end_city)
    return stops


def slowest_leg(legs):
    # The first place to look at when parcels arrive late again and again.
    if not legs:
        raise ValueError("a tour has at least one leg")
    slowest = legs[0]
    for leg in legs[1:]:
        if leg.speed_kmh > slowest.speed_kmh:
            continue
        if leg.speed_kmh < slowest.speed_kmh or leg.distance_km > slowest.distance_km:
            slowest = leg
    return slowest
