from freight.core.units import box_volume_m3, format_weight_text

# Limits of the sorting belt. Anything larger is handled by hand.
MAX_WEIGHT_KG = 31.5
MAX_SIDE_CM = 120.0
MAX_GIRTH_CM = 300.0
# Below these sizes a parcel slips through the rollers of the belt.
MIN_LONGEST_CM = 15.0
MIN_MIDDLE_CM = 11.0


class Parcel:
    # Cubic centimetres that are charged like one kilogram.
    VOLUME_DIVISOR = 5000

    def __init__(self, parcel_id, weight_kg, sides_cm, city, value_cents=0):
        if weight_kg <= 0:
            raise ValueError("a parcel weighs more than nothing")
        if len(sides_cm) != 3 or min(sides_cm) <= 0:
            raise ValueError("a parcel has three sides")
        if value_cents < 0:
            raise ValueError("the value of a parcel cannot be negative")
        self.parcel_id = parcel_id
        self.weight_kg = weight_kg
        # Longest side first, whatever order the customer used.
        self.sides_cm = sorted(sides_cm, reverse=True)
        self.city = city
        self.value_cents = value_cents

    def __str__(self):
        size = " x ".join(f"{side:g}" for side in self.sides_cm)
        weight = format_weight_text(self.weight_kg)
        return f"{self.parcel_id}: {weight}, {size} cm, to {self.city}"

    def volume_m3(self):
        return box_volume_m3(self.sides_cm)

    def girth_cm(self):
        longest, middle, shortest = self.sides_cm
        return longest + 2 * (middle + shortest)

    def is_oversize(self):
        if self.weight_kg > MAX_WEIGHT_KG:
            return True
        return self.sides_cm[0] > MAX_SIDE_CM or self.girth_cm() > MAX_GIRTH_CM

    def can_use_belt(self):
        if self.is_oversize():
            return False
        longest, middle, _ = self.sides_cm
        return longest >= MIN_LONGEST_CM and middle >= MIN_MIDDLE_CM


def parcels_by_city(parcels):
    # Cities in alphabetical order, the same on every run of the loading plan.
    groups = {}
    for city in sorted({parcel.city for parcel in parcels}):
        groups[city] = [parcel for parcel in parcels if parcel.city == city]
    for group in groups.values():
        # Heavy parcels are loaded first.
        group.sort(key=lambda parcel: (-parcel.weight_kg, parcel.parcel_id))
    return groups
