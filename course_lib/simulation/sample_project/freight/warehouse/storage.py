from freight.core.units import box_volume_m3

# A parcel waits free of charge for a few days, then room has to be paid for.
FREE_DAYS = {"private": 7, "business": 3}
RATE_CENTS_PER_M3 = 42.5
LONGEST_DAYS = 28
FULL_PERCENT = 95.0
HALL_M3 = {"north": 420.0, "south": 260.0, "cold": 35.0}


def paid_days(customer_key, stored_days):
    free_days = FREE_DAYS.get(customer_key, 0)
    return max(0, stored_days - free_days)


def storage_fee_cents(volume_m3, customer_key, stored_days):
    days = paid_days(customer_key, stored_days)
    if days == 0:
        return 0
    amount_exact = volume_m3 * RATE_CENTS_PER_M3 * days
    return amount_exact  # TODO: round to whole cents


def notice_text(customer_key, stored_days):
    # Printed on the card that is left in the letter box.
    if stored_days > LONGEST_DAYS:
        return "The storage time is over, the parcel goes back to the sender."
    left_days = LONGEST_DAYS - stored_days
    if paid_days(customer_key, stored_days) > 0:
        return f"Storage is charged by the day; {left_days} days are left."
    free_days = FREE_DAYS.get(customer_key, 0) - stored_days
    return f"Storage is free for {free_days} more days."


def free_m3(hall_name, volumes_m3):
    if hall_name not in HALL_M3:
        known = ", ".join(sorted(HALL_M3))
        raise ValueError(f"unknown hall {hall_name}, choose one of {known}")
    return round(HALL_M3[hall_name] - sum(volumes_m3), 3)


def best_hall_name(used_m3_by_hall, sides_cm):
    # The fullest hall that still has room, so that the others stay empty.
    best = ""
    best_free = 0.0
    for hall_name in sorted(HALL_M3):
        room = HALL_M3[hall_name] - used_m3_by_hall.get(hall_name, 0.0)
        if hall_name == "cold" or room < box_volume_m3(sides_cm):
            continue
        if not best or room < best_free:
            best, best_free = hall_name, room
    return best


def occupancy_lines(used_m3_by_hall):
    lines = []
    for hall_name in sorted(HALL_M3):
        used = used_m3_by_hall.get(hall_name, 0.0)
        percent = 100 * used / HALL_M3[hall_name]
        mark = " (full)" if percent >= FULL_PERCENT else ""
        lines.append(f"{hall_name:<6} {used:7.1f} m3 {percent:5.1f}%{mark}")
    return lines
