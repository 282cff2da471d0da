import math

# All money is kept in whole cents. Floats only appear inside a calculation
# and carry the ending _exact until they are turned into cents again.
CURRENCIES = ("EUR", "GBP", "CHF", "PLN")
# There is no coin below five rappen.
SMALLEST_COIN_CENTS = {"CHF": 5}


def half_up_cents(amount_exact):
    # The tariff says so: half a cent is always rounded up.
    return math.floor(amount_exact + 0.5)


def share_exact(amount_cents, share_percent):
    return amount_cents * share_percent / 100


def convert_cents(amount_cents, currency, rate_ratio):
    if currency not in CURRENCIES:
        raise ValueError(f"unknown currency: {currency}")
    coin_cents = SMALLEST_COIN_CENTS.get(currency, 1)
    return half_up_cents(amount_cents * rate_ratio / coin_cents) * coin_cents


def parse_cents(money_text):
    cleaned = money_text.strip()
    for currency in CURRENCIES:
        cleaned = cleaned.replace(currency, "")
    cleaned = cleaned.replace(" ", "").replace(",", "")
    sign = 1
    if cleaned.startswith("-"):
        sign, cleaned = -1, cleaned[1:]
    whole, _, fraction = cleaned.partition(".")
    if len(fraction) > 2 or not (whole + fraction).isdigit():
        raise ValueError(f"not an amount of money: {money_text}")
    return sign * (int(whole or "0") * 100 + int(fraction.ljust(2, "0")))


def format_money_text(amount_cents, currency="EUR"):
    sign = "-" if amount_cents < 0 else ""
    whole, fraction = divmod(abs(amount_cents), 100)
    return f"{sign}{currency} {whole:,}.{fraction:02d}"


def split_shares_cents(total_cents, share_count):
    # Spread the cents that do not divide evenly over the first shares, so
    # that the parcels of one order add up to the price of the order.
    if share_count < 1:
        raise ValueError("at least one share is needed")
    base, rest = divmod(total_cents, share_count)
    return [base + 1 if index < rest else base for index in range(share_count)]


def weighted_shares_cents(total_cents, weights_kg):
    # Heavy parcels carry more of a common cost; the last one takes the rest.
    if not weights_kg or min(weights_kg) <= 0:
        raise ValueError("every share needs a weight")
    total_kg = sum(weights_kg)
    shares = []
    left_cents = total_cents
    for weight_kg in weights_kg[:-1]:
        part_cents = half_up_cents(total_cents * weight_kg / total_kg)
        shares.append(part_cents)
        left_cents -= part_cents
    return shares + [left_cents]
