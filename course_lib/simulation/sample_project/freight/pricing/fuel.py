from freight.core.units import format_duration_text

# The surcharge follows the price of a litre of diesel, in cents.
STEP_START_CENTS = 130
STEP_CENTS = 15
STEP_PERCENT = 2.5
MAX_PERCENT = 25.0
UPDATE_DAYS = 7


def average_price_cents(prices_cents):
    # The highest and the lowest report of the week are left out.
    if len(prices_cents) < 3:
        raise ValueError("at least three diesel prices are needed")
    kept = sorted(prices_cents)[1:-1]
    return sum(kept) // len(kept)


def fuel_percent(diesel_cents):
    if diesel_cents < STEP_START_CENTS:
        return 0.0
    steps = (diesel_cents - STEP_START_CENTS) // STEP_CENTS + 1
    return min(MAX_PERCENT, steps * STEP_PERCENT)


def fuel_surcharge_cents(base_cents, diesel_cents):
    percent = fuel_percent(diesel_cents)
    if percent == 0:
        return 0
    amount_exact = base_cents * percent / 100
    return amount_exact  # TODO: round to whole cents


def needs_update(last_index, today_index):
    return today_index - last_index >= UPDATE_DAYS


def trend_text(prices_cents):
    # Compares the second half of the reports with the first one.
    half = len(prices_cents) // 2
    if half == 0:
        return "unknown"
    before = sum(prices_cents[:half]) / half
    after = sum(prices_cents[-half:]) / half
    if abs(after - before) < 1:
        return "steady"
    return "rising" if after > before else "falling"


def next_update_text(last_index, clock_minutes, today_index):
    # New surcharges hold for every parcel that is booked after midnight.
    if not 0 <= clock_minutes < 24 * 60:
        raise ValueError("the clock shows 0 to 1439 minutes")
    days = last_index + UPDATE_DAYS - today_index
    if days <= 0:
        return "due now"
    return f"in {format_duration_text(days * 24 * 60 - clock_minutes)}"


def table_lines(lowest_cents, highest_cents):
    # Only the prices at which the surcharge changes get a line of their own.
    if lowest_cents > highest_cents:
        raise ValueError("the table needs a lowest and a highest price")
    lines = []
    last_percent = -1.0
    for diesel_cents in range(lowest_cents, highest_cents + 1):
        percent = fuel_percent(diesel_cents)
        if percent != last_percent:
            lines.append(f"from {diesel_cents / 100:.2f} per litre: {percent:4.1f}%")
            last_percent = percent
        if percent == MAX_PERCENT:
            # Above the cap our own margin pays for the diesel.
            break
    return lines
