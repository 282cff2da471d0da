from freight.core.units import format_duration_text

# The general terms limit what is paid for a kilogram of lost goods.
LIMIT_CENTS_PER_KG = 1000
REPORT_DAYS = {"damage": 7, "delay": 21, "loss": 30}
# A parcel that nobody has scanned for so long counts as lost.
LOST_AFTER_DAYS = 14
DELAY_CENTS_PER_DAY = 300
ANSWER_MINUTES = 2 * 24 * 60
CLAIM_TITLES = {"damage": "Damage", "delay": "A delay", "loss": "A loss"}


def liability_limit_cents(weight_kg):
    return int(weight_kg * LIMIT_CENTS_PER_KG)


def is_in_time(claim_key, passed_days):
    if claim_key not in REPORT_DAYS:
        raise ValueError(f"unknown kind of claim: {claim_key}")
    return passed_days <= REPORT_DAYS[claim_key]


def is_presumed_lost(last_scan_index, today_index):
    return today_index - last_scan_index > LOST_AFTER_DAYS


def compensation_cents(value_cents, damage_percent, weight_kg):
    if not 0 <= damage_percent <= 100:
        raise ValueError("the damage is a share between 0 and 100 percent")
    limit_cents = liability_limit_cents(weight_kg)
    amount_exact = min(value_cents * damage_percent / 100, limit_cents)
    return amount_exact  # TODO: round to whole cents


def delay_refund_cents(price_cents, late_days):
    # Never more than the price that was paid for the parcel.
    if late_days <= 0:
        return 0
    refund = late_days * DELAY_CENTS_PER_DAY
    if late_days > LOST_AFTER_DAYS:
        # By then it should have been treated as a loss: the full price.
        refund = price_cents
    return min(price_cents, refund)


def missing_paper_text(claim_key, document_names):
    # What the customer still has to send before the claim can be checked.
    needed = ["invoice"]
    if claim_key == "damage":
        needed += ["photo of the goods", "photo of the box"]
    elif claim_key == "loss":
        needed.append("search form")
    missing = [name for name in needed if name not in document_names]
    return ", ".join(missing)


def answer_message(claim_key, passed_days, waiting_minutes):
    title = CLAIM_TITLES.get(claim_key, claim_key)
    if not is_in_time(claim_key, passed_days):
        limit = REPORT_DAYS[claim_key]
        return f"{title} has to be reported within {limit} days."
    # The service desk promises an answer within two days.
    waiting = format_duration_text(waiting_minutes)
    if waiting_minutes > ANSWER_MINUTES:
        return f"We are sorry: your report has been with us for {waiting}."
    left = format_duration_text(ANSWER_MINUTES - waiting_minutes)
    return f"{title} was reported {waiting} ago. We answer within {left}."
