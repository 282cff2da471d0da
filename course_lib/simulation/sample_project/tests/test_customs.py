import unittest

from freight.customs.declarations import Declaration, needs_declaration
from freight.customs.duties import landed_cost_cents
from freight.customs.eori import can_clear_customs, eori_problem_text
from freight.customs.tariff_codes import common_code

from .helpers import assert_answers


class DeclarationTests(unittest.TestCase):
    def test_needs_declaration(self):
        assert_answers(self, needs_declaration, ("DE", "NL", "AT"), False)
        assert_answers(self, needs_declaration, ("CH", "GB", "NO"), True)

    def test_totals(self):
        form = Declaration("HF-1", "CH")
        form.add_entry("book", "490199", 2500, 0.4)
        form.add_entry("boots", "640391", 8900, 1.3)
        self.assertEqual(len(form), 2)
        self.assertEqual(form.total_weight_kg(), 1.7)
        self.assertIn("Total 1.7 kg, EUR 114.00", form.form_lines())


class DutyTests(unittest.TestCase):
    def test_landed_cost(self):
        self.assertEqual(landed_cost_cents(20000, "640391", "GB"), 26520)


class CodeTests(unittest.TestCase):
    def test_common_beginning(self):
        self.assertEqual(common_code(["640391", "640399", "64031900"]), "6403")

    def test_eori(self):
        self.assertTrue(can_clear_customs("DE 1234567", "GB 123 456 789 000"))
        self.assertFalse(can_clear_customs("DE1234567", "NL123456789"))
        self.assertEqual(eori_problem_text("NL1234"), "NL needs 9 characters, not 4")
