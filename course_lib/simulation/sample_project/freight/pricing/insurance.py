from freight.core.money import format_money_text, half_up_cents

# Every parcel is covered up to this value without an extra charge.
FREE_COVER_CENTS = 50000
MAX_COVER_CENTS = 2500000
RATE_PERCENT = {"standard": 0.4, "fragile": 0.9, "art": 1.6}
COVER_WORDS = {
    "art": ("drawing", "etching", "painting", "print", "sculpture"),
    "fragile": ("china", "glass", "lamp", "mirror", "porcelain", "screen"),
}
REFUSED_WORDS = ("cash", "gold", "jewellery", "stamps", "vouchers")
MINIMUM_CENTS = 250
DEDUCTIBLE_CENTS = 5000


def cover_key(description_text):
    # The dearest key wins when a parcel holds several kinds of goods.
    words = description_text.lower().replace(",", " ").split()
    for cover_code in ("art", "fragile"):
        if any(word in words for word in COVER_WORDS[cover_code]):
            return cover_code
    return "standard"


def can_insure(value_cents, description_text):
    if value_cents > MAX_COVER_CENTS:
        return False
    # Things that are easy to resell are not covered by our insurer.
    words = description_text.lower().replace(",", " ").split()
    return not any(word in words for word in REFUSED_WORDS)


def premium_cents(value_cents, cover_code):
    extra_cents = value_cents - FREE_COVER_CENTS
    if extra_cents <= 0:
        return 0
    premium = half_up_cents(extra_cents * RATE_PERCENT[cover_code] / 100)
    return max(MINIMUM_CENTS, premium)


def payout_cents(value_cents, damage_percent, has_premium=True):
    # Without a premium the free cover is all there is.
    ceiling = value_cents if has_premium else min(value_cents, FREE_COVER_CENTS)
    damage = half_up_cents(value_cents * damage_percent / 100)
    return max(0, min(damage, ceiling) - DEDUCTIBLE_CENTS)


def offer_text(value_cents, description_text):
    if not can_insure(value_cents, description_text):
        return "These goods cannot be insured."
    premium = premium_cents(value_cents, cover_key(description_text))
    if value_cents > FREE_COVER_CENTS and premium == MINIMUM_CENTS:
        return f"Covered for our smallest premium, {format_money_text(premium)}."
    if premium == 0:
        free = format_money_text(FREE_COVER_CENTS)
        return f"Covered up to {free} without an extra charge."
    cover = format_money_text(value_cents)
    return f"Cover up to {cover} for {format_money_text(premium)}."
