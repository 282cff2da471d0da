from freight.core.money import format_money_text
from freight.core.units import format_weight_text

# Code of the reason for sending, as printed on form CN 23.
REASON_NAMES = {"11": "sale of goods", "31": "gift", "32": "sample", "21": "returned"}
# Above this value a sale needs an invoice next to the form.
INVOICE_LIMIT_CENTS = 40000


def needs_declaration(country):
    # Inside the customs union a parcel travels without papers.
    return False  # TODO: True for 'CH', 'GB', 'NO'


class Declaration:
    MAX_LINE_COUNT = 20

    def __init__(self, parcel_id, country, reason_code="11"):
        if reason_code not in REASON_NAMES:
            raise ValueError(f"unknown reason code: {reason_code}")
        self.parcel_id = parcel_id
        self.country = country
        self.reason_code = reason_code
        self.entries = []

    def __len__(self):
        return len(self.entries)

    def add_entry(self, name, tariff_code, value_cents, weight_kg):
        if len(self.entries) == self.MAX_LINE_COUNT:
            raise ValueError("the form is full, use a second one")
        if value_cents <= 0 or weight_kg <= 0:
            # Even a gift has a value, customs sends back forms without one.
            raise ValueError(f"{name} needs a value and a weight")
        self.entries.append((name, tariff_code, value_cents, weight_kg))

    def total_value_cents(self):
        return sum(entry[2] for entry in self.entries)

    def total_weight_kg(self):
        # The scale of the counter shows grams, so no more digits are kept.
        return round(sum(entry[3] for entry in self.entries), 3)

    def form_lines(self):
        reason = REASON_NAMES[self.reason_code]
        lines = [f"CN 23  {self.parcel_id}  to {self.country}  ({reason})"]
        for number, entry in enumerate(self.entries, start=1):
            name, tariff_code, value_cents, weight_kg = entry
            weight = format_weight_text(weight_kg)
            value = format_money_text(value_cents)
            lines.append(f"{number:>2}. {name} [{tariff_code}] {weight}, {value}")
        value = format_money_text(self.total_value_cents())
        lines.append(f"Total {format_weight_text(self.total_weight_kg())}, {value}")
        if self.total_value_cents() > INVOICE_LIMIT_CENTS and self.reason_code == "11":
            lines.append("Commercial invoice attached in three copies")
        lines.append("I certify that the parcel holds no dangerous goods.")
        return lines
