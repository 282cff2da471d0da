import unittest

from freight.billing.csv_export import (
    decimal_text,
    export_text,
    field_texts,
    parse_decimal_cents,
    quote_text,
)
from freight.billing.invoices import Invoice


class CsvTests(unittest.TestCase):
    def test_decimal_comma(self):
        self.assertEqual(decimal_text(-1205), "-12,05")
        self.assertEqual(parse_decimal_cents("1.204,5"), 120450)

    def test_fields_come_back(self):
        fields = ["R1", 'a "small" one; blue', ""]
        line = ";".join(quote_text(field) for field in fields)
        self.assertEqual(field_texts(line), fields)

    def test_export_is_sorted(self):
        invoices = [Invoice("R2", "Otte", 4), Invoice("R1", "Otte", 3)]
        for invoice in invoices:
            invoice.add_line("1 parcel", 590)
        lines = export_text(invoices).splitlines()
        self.assertEqual(lines[0], "invoice;customer;day;text;amount EUR")
        self.assertEqual(lines[1], "R1;Otte;3;1 parcel;5,90")
