from freight.core.money import format_money_text


class Invoice:
    CURRENCY = "EUR"
    PAYMENT_DAYS = 14
    TEXT_WIDTH = 34

    def __init__(self, invoice_id, name, issue_index):
        self.invoice_id = invoice_id
        self.name = name
        self.issue_index = issue_index
        self.line_texts = []
        self.prices_cents = []

    def __str__(self):
        total = format_money_text(self.total_cents(), self.CURRENCY)
        return f"{self.invoice_id} {self.name}: {total}"

    def add_line(self, line_text, price_cents):
        if not line_text.strip():
            raise ValueError("an invoice line needs a text")
        if price_cents < 0 and not line_text.startswith(("Refund", "Discount")):
            raise ValueError(f"negative amount for {line_text.strip()}")
        self.line_texts.append(line_text.strip())
        self.prices_cents.append(price_cents)

    def total_cents(self):
        return sum(self.prices_cents)

    def shown_text(self, line_text):
        # Lists of parcel ids can get long; the paper is 48 characters wide.
        if len(line_text) <= self.TEXT_WIDTH:
            return line_text
        return line_text[: self.TEXT_WIDTH - 3].rstrip() + "..."

    def printed_lines(self):
        # The longest text decides how far right the amounts stand.
        shown = [self.shown_text(text) for text in self.line_texts]
        width = max(len(text) for text in [*shown, "Total"])
        lines = [f"Invoice {self.invoice_id}", self.name, ""]
        for text, price_cents in zip(shown, self.prices_cents):
            amount = format_money_text(price_cents, self.CURRENCY)
            lines.append(f"{text.ljust(width)}  {amount:>12}")
        lines.append("-" * (width + 14))
        total = format_money_text(self.total_cents(), self.CURRENCY)
        lines.append(f"{'Total'.ljust(width)}  {total:>12}")
        return lines


def merge_invoice(invoices, invoice_id):
    # Customers who send parcels every day get one invoice a month.
    names = sorted({invoice.name for invoice in invoices})
    if len(names) != 1:
        raise ValueError("only invoices of one customer can be merged")
    last_index = max(invoice.issue_index for invoice in invoices)
    merged = Invoice(invoice_id, names[0], last_index)
    for invoice in sorted(invoices, key=lambda invoice: invoice.issue_index):
        for text, price_cents in zip(invoice.line_texts, invoice.prices_cents):
            # The source stays visible, behind the text of the line.
            merged.add_line(f"{text} ({invoice.invoice_id})", price_cents)
    return merged
