import unittest

from freight.billing.credit_notes import credit_invoice, left_open_cents
from freight.billing.dunning import (
    late_fee_cents,
    needs_reminder,
    reminder_text,
)
from freight.billing.invoices import Invoice, merge_invoice
from freight.billing.vat import is_reverse_charge, vat_cents

from .helpers import assert_whole_cents


def sample_invoice(invoice_id="R100", issue_index=10):
    invoice = Invoice(invoice_id, "Brandt Books", issue_index)
    invoice.add_line("2 parcels to Bremen", 1180)
    invoice.add_line("1 parcel to Vienna", 1590)
    return invoice


class InvoiceTests(unittest.TestCase):
    def test_total(self):
        self.assertEqual(str(sample_invoice()), "R100 Brandt Books: EUR 27.70")

    def test_merge(self):
        first, second = sample_invoice(), sample_invoice("R101", 12)
        merged = merge_invoice([second, first], "M1")
        self.assertEqual(merged.total_cents(), 5540)
        self.assertEqual(merged.line_texts[0], "2 parcels to Bremen (R100)")


class CreditTests(unittest.TestCase):
    def test_credit_takes_everything_back(self):
        invoice = sample_invoice()
        credit = credit_invoice(invoice, "lost", 20)
        self.assertEqual(left_open_cents(invoice, [credit]), 0)


class DunningTests(unittest.TestCase):
    def test_late_fee(self):
        assert_whole_cents(self, late_fee_cents(100040, 50), 1251)

    def test_reminders_are_sent_once(self):
        self.assertTrue(needs_reminder(8, 0))
        self.assertFalse(needs_reminder(8, 1))

    def test_last_reminder(self):
        self.assertIn("prepayment", reminder_text(sample_invoice(), 60))


class VatTests(unittest.TestCase):
    def test_standard_rate(self):
        self.assertEqual(vat_cents(1050, "DE"), 200)

    def test_reverse_charge(self):
        self.assertTrue(is_reverse_charge("AT", "ATU12345678"))
        self.assertFalse(is_reverse_charge("DE", "DE123456789"))
