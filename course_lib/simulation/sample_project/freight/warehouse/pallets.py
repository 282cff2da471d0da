from freight.core.units import format_weight_text

# Euro pallets, loaded up to the height of the trailer door.
EMPTY_PALLET_KG = 25.0
MAX_LOAD_KG = 700.0
MAX_HEIGHT_CM = 180.0
BASE_HEIGHT_CM = 14.5
PLACES_PER_TRAILER = 33
TRAILER_PAYLOAD_KG = 24000.0


class Pallet:
    def __init__(self, city):
        self.city = city
        self.weights_kg = []
        self.height_cm = BASE_HEIGHT_CM

    def __len__(self):
        return len(self.weights_kg)

    def total_kg(self):
        return round(EMPTY_PALLET_KG + sum(self.weights_kg), 2)

    def can_take(self, weight_kg, layer_cm):
        if sum(self.weights_kg) + weight_kg > MAX_LOAD_KG:
            return False
        return self.height_cm + layer_cm <= MAX_HEIGHT_CM

    def add_layer(self, weight_kg, layer_cm):
        if not self.can_take(weight_kg, layer_cm):
            raise ValueError(f"the pallet to {self.city} is full")
        self.weights_kg.append(weight_kg)
        self.height_cm += layer_cm


def stacked_pallets(city, weights_kg, layer_cm):
    # One layer of parcels for each weight, the heavy layers at the bottom.
    if weights_kg and max(weights_kg) > MAX_LOAD_KG:
        raise ValueError("a single layer is too heavy for a pallet")
    pallets = [Pallet(city)]
    for weight_kg in sorted(weights_kg, reverse=True):
        if not pallets[-1].can_take(weight_kg, layer_cm):
            pallets.append(Pallet(city))
        pallets[-1].add_layer(weight_kg, layer_cm)
    return pallets


def loading_lines(pallets):
    # Last city of the tour first, because it stands deepest in the trailer.
    lines = []
    loaded_kg = 0.0
    for place, pallet in enumerate(reversed(pallets), start=1):
        is_full = place > PLACES_PER_TRAILER
        if is_full or loaded_kg + pallet.total_kg() > TRAILER_PAYLOAD_KG:
            lines.append(f"stays behind: {pallet.city}")
            continue
        loaded_kg += pallet.total_kg()
        weight = format_weight_text(pallet.total_kg())
        load = f"{weight} in {len(pallet)} layer(s)"
        lines.append(f"place {place}: {pallet.city}, {load}")
    lines.append(f"loaded: {format_weight_text(loaded_kg)}")
    return lines
