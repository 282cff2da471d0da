from freight.core.parcel import Parcel
from freight.core.units import box_volume_m3, round_up_kg

# A parcel lighter than this per cubic metre fills the van before the scale.
BULKY_KG_PER_M3 = 200.0
BULKY_FACTOR = 1.1
MINIMUM_KG = 1.0
# Empty corners: only this share of a van can really be loaded.
LOADABLE_RATIO = 0.85


def volumetric_weight_kg(sides_cm):
    return box_volume_m3(sides_cm) * 1_000_000 / Parcel.VOLUME_DIVISOR


def chargeable_weight_kg(parcel):
    heavier = max(parcel.weight_kg, volumetric_weight_kg(parcel.sides_cm))
    return round_up_kg(max(MINIMUM_KG, heavier))


def is_bulky(parcel):
    return parcel.weight_kg < parcel.volume_m3() * BULKY_KG_PER_M3


def total_chargeable_kg(parcels):
    # Parcels handed in together are weighed together, which is cheaper for
    # the customer when light and heavy ones are mixed.
    scale_kg = sum(parcel.weight_kg for parcel in parcels)
    volume_kg = sum(volumetric_weight_kg(parcel.sides_cm) for parcel in parcels)
    return round_up_kg(max(MINIMUM_KG, scale_kg, volume_kg))


def van_fill_ratio(parcels, van_m3):
    if van_m3 <= 0:
        raise ValueError("a van without room cannot be loaded")
    # Bulky parcels cannot be stacked and block a little more than their size.
    used_m3 = 0.0
    for parcel in parcels:
        factor = BULKY_FACTOR if is_bulky(parcel) else 1.0
        used_m3 += parcel.volume_m3() * factor
    return round(used_m3 / (van_m3 * LOADABLE_RATIO), 3)


def largest_parcel(parcels):
    if not parcels:
        raise ValueError("there are no parcels to compare")
    largest = parcels[0]
    for parcel in parcels[1:]:
        if parcel.volume_m3() > largest.volume_m3():
            largest = parcel
    return largest


def van_count(parcels, van_m3, payload_kg):
    # A rough figure for the morning plan: room and weight are checked apart,
    # whichever needs more vans decides.
    weight_kg = sum(parcel.weight_kg for parcel in parcels)
    needed = van_fill_ratio(parcels, van_m3)
    needed = max(needed, weight_kg / payload_kg)
    full = int(needed)
    return full + 1 if needed > full else full
