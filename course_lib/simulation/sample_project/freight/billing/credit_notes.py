from freight.billing.invoices import Invoice
from freight.core.money import format_money_text

REFUND_PERCENT = {
    "late": 25.0,
    "damaged": 60.0,
    "lost": 100.0,
    "wrong price": 100.0,
}
# Smaller credits stay on the account until the next order.
PAYOUT_LIMIT_CENTS = 500


def credit_id(invoice_id, credit_index):
    return f"{invoice_id}-C{credit_index}"


def is_credit_id(document_id):
    head, _, tail = document_id.rpartition("-C")
    return bool(head) and tail.isdigit()


def refund_cents(price_cents, reason_key):
    if reason_key not in REFUND_PERCENT:
        raise ValueError(f"unknown reason for a refund: {reason_key}")
    # The part of a cent that is left over stays with us.
    return int(price_cents * REFUND_PERCENT[reason_key] // 100)


def credit_invoice(invoice, reason_key, issue_index):
    # A credit note is an invoice of its own, with every amount negative.
    number = credit_id(invoice.invoice_id, 1)
    credit = Invoice(number, invoice.name, issue_index)
    for text, price_cents in zip(invoice.line_texts, invoice.prices_cents):
        back_cents = refund_cents(price_cents, reason_key)
        if back_cents:
            credit.add_line(f"Refund ({reason_key}): {text}", -back_cents)
    return credit


def left_open_cents(invoice, credit_invoices, paid_cents=0):
    # What the customer still owes once every credit has been taken off.
    left = invoice.total_cents() - paid_cents
    for credit in credit_invoices:
        if not credit.invoice_id.startswith(f"{invoice.invoice_id}-C"):
            raise ValueError(f"{credit.invoice_id} belongs to another invoice")
        left += credit.total_cents()
    return left


def needs_payout(credit_cents, open_cents):
    # Open invoices of the customer are settled before money goes out.
    left_cents = credit_cents - open_cents
    return left_cents >= PAYOUT_LIMIT_CENTS


def credit_message(invoice, reason_key):
    back_cents = sum(refund_cents(price, reason_key) for price in invoice.prices_cents)
    if back_cents == invoice.total_cents():
        share = "the full price"
    else:
        share = f"{REFUND_PERCENT[reason_key]:g}% of the price"
    amount = format_money_text(back_cents)
    return (
        f"Dear {invoice.name}, your parcel was {reason_key}. We credit {share}, "
        f"{amount}, to invoice {invoice.invoice_id}."
    )
