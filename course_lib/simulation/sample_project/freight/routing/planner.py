from freight.routing.distances import nearest_city, road_distance_km
from freight.routing.legs import Leg, total_distance_km, tour_minutes

COST_CENTS_PER_KM = 85.0
LONGEST_DAY_MINUTES = 10 * 60
FAST_FROM_KM = 80.0
FAST_KMH = 72.0
SLOW_KMH = 48.0


def nearest_first_cities(depot_city, cities):
    # A quick first plan: always drive to the closest city that is left.
    order = [depot_city]
    left = sorted(set(cities) - {depot_city})
    while left:
        following = nearest_city(order[-1], left)
        order.append(following)
        left.remove(following)
    return order


def round_trip_km(cities):
    # From the last city back to the first one, as the van has to come home.
    total = 0.0
    for start_city, end_city in zip(cities, cities[1:] + cities[:1]):
        total += road_distance_km(start_city, end_city)
    return round(total, 1)


def improved_cities(cities):
    # Turn parts of the tour around as long as that makes it shorter.
    best = list(cities)
    is_better = True
    while is_better:
        is_better = False
        for start in range(1, len(best) - 1):
            for end in range(start + 1, len(best)):
                turned = best[start : end + 1][::-1]
                candidate = best[:start] + turned + best[end + 1 :]
                if round_trip_km(candidate) < round_trip_km(best):
                    best = candidate
                    is_better = True
    return best


def tour_legs(cities):
    # Long legs are driven on motorways and therefore faster.
    legs = []
    for start_city, end_city in zip(cities, cities[1:]):
        distance_km = road_distance_km(start_city, end_city)
        speed_kmh = FAST_KMH if distance_km >= FAST_FROM_KM else SLOW_KMH
        legs.append(Leg(start_city, end_city, distance_km, speed_kmh))
    return legs


def route_cost_cents(legs):
    amount_exact = total_distance_km(legs) * COST_CENTS_PER_KM
    return amount_exact  # TODO: round to whole cents


def is_day_tour(legs):
    return tour_minutes(legs) <= LONGEST_DAY_MINUTES


def tour_text(legs):
    # Handed to the driver together with the parcels.
    lines = []
    for number, leg in enumerate(legs, start=1):
        lines.append(f"{number}. {leg}")
    lines.append(f"Total {total_distance_km(legs):g} km")
    hours, minutes = divmod(tour_minutes(legs), 60)
    lines.append(f"Back after {hours} h {minutes:02d} min")
    if not is_day_tour(legs):
        lines.append("Overnight stay needed")
    return "\n".join(lines)
