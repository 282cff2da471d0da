import math

from vendor.geogrid import cell_of, steps_between

# Kilometres east and north of the Hanover depot on a flat map.
POSITIONS_KM = {
    "Hanover": (0.0, 0.0),
    "Hamburg": (18.0, 131.0),
    "Bremen": (-62.0, 78.0),
    "Berlin": (249.0, 17.0),
    "Leipzig": (183.0, -115.0),
    "Cologne": (-195.0, -160.0),
    "Frankfurt": (-75.0, -251.0),
    "Munich": (130.0, -471.0),
    "Rotterdam": (-362.0, -50.0),
    "Antwerp": (-371.0, -128.0),
    "Vienna": (505.0, -440.0),
    "Zurich": (-84.0, -556.0),
    "Gdansk": (590.0, 240.0),
}
# Roads are longer than a straight line, in a town more than in the country.
SHORT_DETOUR_RATIO = 1.35
LONG_DETOUR_RATIO = 1.2
SHORT_KM = 50.0


def air_distance_km(start_city, end_city):
    for city in (start_city, end_city):
        if city not in POSITIONS_KM:
            raise ValueError(f"unknown city: {city}")
    east, north = POSITIONS_KM[start_city]
    other_east, other_north = POSITIONS_KM[end_city]
    return math.hypot(east - other_east, north - other_north)


def road_distance_km(start_city, end_city):
    air_km = air_distance_km(start_city, end_city)
    ratio = SHORT_DETOUR_RATIO if air_km < SHORT_KM else LONG_DETOUR_RATIO
    return round(air_km * ratio, 1)


def grid_key(city):
    east, north = POSITIONS_KM[city]
    return cell_of(east, north, 100.0)


def is_same_region(first_city, second_city):
    # Parcels between neighbouring cells skip the night sorting.
    return steps_between(grid_key(first_city), grid_key(second_city)) <= 1


def nearest_city(start_city, cities):
    others = [city for city in cities if city != start_city]
    if not others:
        raise ValueError("there is no other city to choose from")
    return min(others, key=lambda city: (road_distance_km(start_city, city), city))


def distance_km_by_city(start_city):
    found = {}
    for city in sorted(POSITIONS_KM):
        if city != start_city:
            found[city] = road_distance_km(start_city, city)
    return found
