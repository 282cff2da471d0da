# Parcels sent in the last calendar month, and the discount they earn.
VOLUME_STEPS = ((500, 18.0), (200, 12.0), (50, 7.0), (10, 3.0))
COUPONS = {"WELCOME": 10.0, "AUTUMN": 5.0, "REPEAT": 7.5}
MAX_DISCOUNT_PERCENT = 20.0
LOWEST_PRICE_CENTS = 390


def volume_percent(parcel_count):
    for needed, percent in VOLUME_STEPS:
        if parcel_count >= needed:
            return percent
    return 0.0


def is_valid_coupon_code(coupon_code, order_count):
    code = coupon_code.strip().upper()
    if code == "WELCOME":
        # Only for the very first order.
        return order_count == 0
    return code in COUPONS


def coupon_percent(coupon_code, order_count):
    if not is_valid_coupon_code(coupon_code, order_count):
        return 0.0
    return COUPONS[coupon_code.strip().upper()]


def combined_percent(first_percent, second_percent):
    # The second discount applies to what the first one has left.
    left_ratio = (1 - first_percent / 100) * (1 - second_percent / 100)
    return min(MAX_DISCOUNT_PERCENT, round((1 - left_ratio) * 100, 4))


def discount_cents(price_cents, discount_percent):
    # Cut to whole cents; no parcel is carried for less than the lowest price.
    wanted = int(price_cents * discount_percent // 100)
    return max(0, min(wanted, price_cents - LOWEST_PRICE_CENTS))


def reduced_prices_cents(prices_cents, parcel_count, extra_percent=0.0):
    # A coupon counts once an order and is used up by the dearest parcel.
    percent = volume_percent(parcel_count)
    dearest = max(prices_cents, default=0)
    result = []
    for price in prices_cents:
        used_percent = percent
        if extra_percent and price == dearest:
            used_percent = combined_percent(percent, extra_percent)
            extra_percent = 0.0
        result.append(price - discount_cents(price, used_percent))
    return result


def next_step_text(parcel_count):
    # The steps run from the highest to the lowest, so the last one that is
    # still out of reach is the nearest.
    missing = 0
    reward = 0.0
    for needed, percent in VOLUME_STEPS:
        if parcel_count < needed:
            missing, reward = needed - parcel_count, percent
    if missing == 0:
        return "You have reached our best discount."
    return f"{missing} more parcels this month and you save {reward:g}%."
