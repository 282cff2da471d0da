from freight.core.money import half_up_cents

# Goods below the allowance enter free of duty. Amounts in euro cents.
ALLOWANCE_CENTS = {"CH": 15000, "GB": 15500, "NO": 0}
IMPORT_TAX_PERCENT = {"CH": 8.1, "GB": 20.0, "NO": 25.0}
# By chapter of the tariff. Chapters that are not listed are free.
DUTY_PERCENT = {
    "33": 6.5,
    "42": 3.0,
    "61": 12.0,
    "62": 12.0,
    "64": 8.0,
    "85": 2.5,
    "95": 4.7,
}
HANDLING_CENTS = 600


def duty_percent(tariff_code):
    return DUTY_PERCENT.get(tariff_code[:2], 0.0)


def is_duty_free(value_cents, country):
    if country not in ALLOWANCE_CENTS:
        return True
    return value_cents <= ALLOWANCE_CENTS[country]


def duty_cents(value_cents, tariff_code, country):
    if is_duty_free(value_cents, country):
        return 0
    return half_up_cents(value_cents * duty_percent(tariff_code) / 100)


def import_tax_cents(value_cents, duty_paid_cents, country):
    # The duty itself is taxed as well, and so is the freight inside the value.
    percent = IMPORT_TAX_PERCENT.get(country, 0.0)
    return half_up_cents((value_cents + duty_paid_cents) * percent / 100)


def landed_cost_cents(value_cents, tariff_code, country):
    duty = duty_cents(value_cents, tariff_code, country)
    tax = import_tax_cents(value_cents, duty, country)
    # Handling is charged only when there was something to collect.
    handling = HANDLING_CENTS if duty + tax else 0
    return value_cents + duty + tax + handling


def cheapest_country(value_cents, tariff_code):
    # Decides which branch abroad sends out a parcel for the whole region. When
    # two of them cost the same, the first in alphabetical order wins.
    best = ""
    best_cost = 0
    for country in sorted(ALLOWANCE_CENTS):
        cost = landed_cost_cents(value_cents, tariff_code, country)
        if not best or cost < best_cost:
            best, best_cost = country, cost
    return best


def duty_cents_by_country(value_cents, tariff_code):
    result = {}
    for country in sorted(ALLOWANCE_CENTS):
        result[country] = duty_cents(value_cents, tariff_code, country)
    return result
