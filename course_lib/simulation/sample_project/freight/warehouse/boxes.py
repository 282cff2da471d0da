from freight.core.units import box_volume_m3

# Inner sides of the boxes we sell, in centimetres, smallest first.
BOX_SIDES_CM = {
    "S": [25.0, 17.5, 10.0],
    "M": [37.5, 30.0, 13.5],
    "L": [45.0, 35.0, 20.0],
    "XL": [60.0, 40.0, 40.0],
}
BOX_PRICES_CENTS = {"S": 149, "M": 199, "L": 249, "XL": 399}
# Room for paper on every side.
PADDING_CM = 1.0
SEPARATE = "none"


def can_hold(box_key, sides_cm):
    needed = sorted(side + 2 * PADDING_CM for side in sides_cm)
    inner = sorted(BOX_SIDES_CM[box_key])
    return all(side <= room for side, room in zip(needed, inner))


def smallest_box_key(sides_cm):
    for box_key in BOX_SIDES_CM:
        if can_hold(box_key, sides_cm):
            return box_key
    # Sent as it is, with the label on the goods.
    return SEPARATE


def best_box_keys(sides_cm, item_count):
    # Equal items, for example books: all in one stack on their flat side, and
    # a second box as soon as the stack is too high for the biggest one.
    flat = sorted(sides_cm, reverse=True)
    boxes = []
    left = item_count
    while left > 0:
        packed = left
        while packed and smallest_box_key([*flat[:2], flat[2] * packed]) == SEPARATE:
            packed -= 1
        if packed == 0:
            return [SEPARATE] * item_count
        boxes.append(smallest_box_key([*flat[:2], flat[2] * packed]))
        left -= packed
    return boxes


def empty_ratio(box_key, sides_cm):
    inner_m3 = box_volume_m3(BOX_SIDES_CM[box_key])
    return round(1 - box_volume_m3(sides_cm) / inner_m3, 3)


def packed_loads_kg(weights_kg, limit_kg):
    # First fit, heaviest first: good enough for the handful of items that
    # usually make up one parcel.
    loads = []
    for weight_kg in sorted(weights_kg, reverse=True):
        if weight_kg > limit_kg:
            raise ValueError(f"{weight_kg:g} kg do not fit into any box")
        for position, load_kg in enumerate(loads):
            if load_kg + weight_kg <= limit_kg + 1e-9:
                loads[position] = round(load_kg + weight_kg, 3)
                break
        else:
            loads.append(weight_kg)
    return loads


def packing_price_cents(box_keys):
    price_cents = sum(BOX_PRICES_CENTS.get(box_key, 0) for box_key in box_keys)
    # Ten boxes or more are sold at a tenth less, rounded down.
    if len(box_keys) >= 10:
        price_cents -= price_cents // 10
    return price_cents
