import re

from freight.core.money import format_money_text, half_up_cents

HOME_COUNTRY = "DE"
STANDARD_PERCENT = {
    "AT": 20.0,
    "BE": 21.0,
    "DE": 19.0,
    "FR": 20.0,
    "LU": 17.0,
    "NL": 21.0,
}
CODE_PATTERNS = {
    "AT": r"ATU\d{8}",
    "BE": r"BE[01]\d{9}",
    "DE": r"DE\d{9}",
    "FR": r"FR[0-9A-Z]{2}\d{9}",
    "LU": r"LU\d{8}",
    "NL": r"NL\d{9}B\d{2}",
}


def is_valid_vat_code(vat_code):
    compact = vat_code.replace(" ", "").replace(".", "").upper()
    pattern = CODE_PATTERNS.get(compact[:2])
    return pattern is not None and re.fullmatch(pattern, compact) is not None


def is_reverse_charge(country, vat_code):
    # Business customers elsewhere in the union pay the tax themselves.
    if country == HOME_COUNTRY or country not in STANDARD_PERCENT:
        return False
    return is_valid_vat_code(vat_code) and vat_code.upper().startswith(country)


def vat_percent(country, vat_code=""):
    if country not in STANDARD_PERCENT:
        # A parcel that leaves the union is free of tax.
        return 0.0
    if vat_code and is_reverse_charge(country, vat_code):
        return 0.0
    return STANDARD_PERCENT[country]


def vat_cents(net_cents, country, vat_code=""):
    return half_up_cents(net_cents * vat_percent(country, vat_code) / 100)


def included_vat_cents(paid_cents, country):
    percent = vat_percent(country)
    return half_up_cents(paid_cents * percent / (100 + percent))


def reverse_charge_text(country, vat_code):
    # Has to be printed on the invoice, or the tax office asks for the tax.
    if not is_reverse_charge(country, vat_code):
        return ""
    return f"Reverse charge: tax is due by the customer, {vat_code.upper()}."


def vat_summary_lines(net_cents_by_country):
    lines = []
    total_cents = 0
    for country in sorted(net_cents_by_country):
        net_cents = net_cents_by_country[country]
        tax_cents = vat_cents(net_cents, country)
        total_cents += tax_cents
        percent = f"{vat_percent(country):g}%"
        lines.append(f"{country} {percent:>4} {format_money_text(tax_cents):>12}")
    lines.append(f"sum     {format_money_text(total_cents):>12}")
    return lines
