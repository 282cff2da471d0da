from freight.billing.invoices import Invoice

# Days are counted from the first day of the books.
YEARLY_PERCENT = 9.0
BANK_YEAR_DAYS = 360
LAST_CHANCE_DAYS = 10
REMINDER_STEPS = (
    (7, "friendly reminder"),
    (21, "second reminder"),
    (35, "last reminder"),
)


def invoice_late_days(invoice, today_index):
    due_index = invoice.issue_index + Invoice.PAYMENT_DAYS
    return max(0, today_index - due_index)


def reminder_index(late_days):
    # 0 means that nothing has to be sent yet.
    reached = 0
    for number, (first_day, _) in enumerate(REMINDER_STEPS, start=1):
        if late_days >= first_day:
            reached = number
    return reached


def needs_reminder(late_days, sent_count):
    return reminder_index(late_days) > sent_count


def late_fee_cents(open_cents, late_days):
    if late_days <= 0 or open_cents <= 0:
        return 0
    # Interest by the bank calendar, on the whole open amount.
    amount_exact = open_cents * YEARLY_PERCENT * late_days / (100 * BANK_YEAR_DAYS)
    return amount_exact  # TODO: round to whole cents


def late_invoices(invoices, today_index):
    # The oldest debt first; invoices without a positive amount are settled.
    late = []
    for invoice in sorted(invoices, key=lambda invoice: invoice.issue_index):
        if invoice.total_cents() > 0 and invoice_late_days(invoice, today_index) > 0:
            late.append(invoice)
    return late


def open_cents_by_name(invoices, today_index):
    # Decides whom the accountant calls before the letters go out.
    totals = {}
    for invoice in late_invoices(invoices, today_index):
        totals[invoice.name] = totals.get(invoice.name, 0) + invoice.total_cents()
    return totals


def reminder_text(invoice, today_index):
    late_days = invoice_late_days(invoice, today_index)
    step = reminder_index(late_days)
    if step == 0:
        return ""
    title = REMINDER_STEPS[step - 1][1].capitalize()
    lines = [
        f"{title} for invoice {invoice.invoice_id}",
        f"Dear {invoice.name},",
        f"Payment was due {late_days} days ago.",
    ]
    if step > 1:
        lines.append("Interest is added to the open amount.")
    if step == len(REMINDER_STEPS):
        lines.append("New parcels are only accepted against prepayment.")
        lines.append(f"Without payment within {LAST_CHANCE_DAYS} days we take action.")
    return "\n".join(lines)
