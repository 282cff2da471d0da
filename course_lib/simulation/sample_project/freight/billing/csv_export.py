from freight.billing.invoices import Invoice

# The bookkeeping program reads semicolons and decimal commas.
SEPARATOR = ";"
QUOTE = '"'


def quote_text(field_text):
    needs_quotes = any(mark in field_text for mark in (SEPARATOR, QUOTE, "\n"))
    if not needs_quotes:
        return field_text
    return QUOTE + field_text.replace(QUOTE, QUOTE * 2) + QUOTE


def decimal_text(amount_cents):
    sign = "-" if amount_cents < 0 else ""
    whole, fraction = divmod(abs(amount_cents), 100)
    return f"{sign}{whole},{fraction:02d}"


def parse_decimal_cents(entered_text):
    # Accepts what the bookkeepers type: "1.204,5" or "-3,20".
    cleaned = entered_text.strip().replace(".", "")
    sign = 1
    if cleaned.startswith("-"):
        sign, cleaned = -1, cleaned[1:]
    whole, _, fraction = cleaned.partition(",")
    if not whole.isdigit() or len(fraction) > 2:
        raise ValueError(f"not an amount: {entered_text.strip()}")
    return sign * (int(whole) * 100 + int(fraction.ljust(2, "0")))


def header_line():
    columns = ["invoice", "customer", "day", "text", f"amount {Invoice.CURRENCY}"]
    return SEPARATOR.join(columns)


def invoice_lines(invoice):
    lines = []
    for text, price_cents in zip(invoice.line_texts, invoice.prices_cents):
        fields = [
            invoice.invoice_id,
            invoice.name,
            str(invoice.issue_index),
            text,
            decimal_text(price_cents),
        ]
        lines.append(SEPARATOR.join(quote_text(field) for field in fields))
    return lines


def export_text(invoices):
    lines = [header_line()]
    for invoice in sorted(invoices, key=lambda invoice: invoice.invoice_id):
        lines.extend(invoice_lines(invoice))
    return "\n".join(lines) + "\n"


def field_texts(csv_line):
    # The reverse of quote_text, for the monthly comparison with the books.
    fields = [""]
    is_quoted = False
    position = 0
    while position < len(csv_line):
        mark = csv_line[position]
        if (
            mark == QUOTE
            and is_quoted
            and csv_line[position + 1 : position + 2] == QUOTE
        ):
            fields[-1] += QUOTE
            position += 1
        elif mark == QUOTE:
            is_quoted = not is_quoted
        elif mark == SEPARATOR and not is_quoted:
            fields.append("")
        else:
            fields[-1] += mark
        position += 1
    return fields
