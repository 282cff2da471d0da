# Zones: A near the depot, B rest of the country, C neighbours, D rest of the
# union, E everything that has to pass a border post.
ZONES = ("A", "B", "C", "D", "E")
NEAR_PREFIXES = ("29", "30", "31", "37", "38")
NEIGHBOURS = ("AT", "BE", "DK", "FR", "LU", "NL", "PL")
UNION = ("ES", "FI", "IE", "IT", "PT", "SE")
TRANSIT_DAYS = {"A": 1, "B": 1, "C": 2, "D": 4, "E": 6}
# Upper limits of the weight steps, and one row of prices for each zone.
WEIGHT_STEPS_KG = (2.0, 5.0, 10.0, 20.0, 31.5)
RATES_CENTS = {
    "A": (490, 590, 790, 1090, 1490),
    "B": (590, 690, 950, 1290, 1790),
    "C": (990, 1190, 1590, 2190, 2990),
    "D": (1390, 1690, 2290, 3190, 4390),
    "E": (2190, 2690, 3590, 4990, 6790),
}
EXTRA_PERCENT_PER_KG = 4


def domestic_zone(postal_code):
    return "A" if postal_code[:2] in NEAR_PREFIXES else "B"


def delivery_zone(country, postal_code):
    if country == "DE":
        return domestic_zone(postal_code)
    if country in NEIGHBOURS:
        return "C"
    return "D" if country in UNION else "E"


def transit_days(zone: str) -> int:
    """Return the working days a parcel takes to reach a zone."""
    return TRANSIT_DAYS[zone]


def base_rate_cents(zone, weight_kg):
    if zone not in RATES_CENTS:
        raise ValueError(f"unknown zone: {zone}")
    for limit_kg, rate_cents in zip(WEIGHT_STEPS_KG, RATES_CENTS[zone]):
        if weight_kg <= limit_kg:
            return rate_cents
    # Each started kilogram above the last step costs a share of its price.
    last_cents = RATES_CENTS[zone][-1]
    started = -int(-(weight_kg - WEIGHT_STEPS_KG[-1]) // 1)
    return last_cents + last_cents * EXTRA_PERCENT_PER_KG * started // 100


def rate_cents_by_zone(weight_kg):
    return {zone: base_rate_cents(zone, weight_kg) for zone in ZONES}


def reachable_zones(limit_days):
    return [zone for zone in ZONES if transit_days(zone) <= limit_days]
