from freight.core.money import format_money_text
from freight.core.parcel import Parcel
from freight.core.units import parse_sides_cm, parse_weight_kg
from freight.pricing.discounts import discount_cents, volume_percent
from freight.pricing.fuel import fuel_surcharge_cents
from freight.pricing.insurance import premium_cents
from freight.pricing.volumetric import chargeable_weight_kg
from freight.pricing.zones import base_rate_cents

OVERSIZE_CENTS = 1450
SMALL_CENTS = 120
# Used until the parcel gets its real id at the counter.
DRAFT_ID = "draft"


def draft_parcel(weight_text, size_text, city):
    weight_kg = parse_weight_kg(weight_text)
    return Parcel(DRAFT_ID, weight_kg, parse_sides_cm(size_text), city)


def parcel_base_cents(parcel, zone):
    # What does not fit on the belt costs extra, wherever it goes.
    base = base_rate_cents(zone, chargeable_weight_kg(parcel))
    if parcel.is_oversize():
        return base + OVERSIZE_CENTS
    if not parcel.can_use_belt():
        return base + SMALL_CENTS
    return base


def quote_cents(parcel, zone, diesel_cents, sent_count=0):
    base = parcel_base_cents(parcel, zone)
    base -= discount_cents(base, volume_percent(sent_count))
    surcharge = fuel_surcharge_cents(base, diesel_cents)
    return base + surcharge + premium_cents(parcel.value_cents, "standard")


def quote_lines(parcel, zone, diesel_cents, sent_count=0):
    base = parcel_base_cents(parcel, zone)
    discount = discount_cents(base, volume_percent(sent_count))
    entries = [
        (f"Zone {zone}, {chargeable_weight_kg(parcel):g} kg", base),
        ("Discount", -discount),
        ("Fuel", fuel_surcharge_cents(base - discount, diesel_cents)),
        ("Insurance", premium_cents(parcel.value_cents, "standard")),
    ]
    lines = []
    for title, amount_cents in entries:
        if amount_cents:
            lines.append(f"{title}: {format_money_text(amount_cents)}")
    return lines


def cheapest_zone(parcel, zones):
    # For customers who can hand in a parcel on either side of a border.
    weight_kg = chargeable_weight_kg(parcel)
    return min(zones, key=lambda zone: (base_rate_cents(zone, weight_kg), zone))


def order_total_cents(parcels, zone, diesel_cents):
    # All parcels of an order count towards the discount of the order itself.
    if not parcels:
        raise ValueError("an order holds at least one parcel")
    count = len(parcels)
    return sum(quote_cents(parcel, zone, diesel_cents, count) for parcel in parcels)
