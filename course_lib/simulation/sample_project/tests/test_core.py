import unittest

from freight.core.money import (
    format_money_text,
    half_up_cents,
    parse_cents,
    split_shares_cents,
    weighted_shares_cents,
)
from freight.core.parcel import Parcel, parcels_by_city
from freight.core.units import (
    parse_sides_cm,
    parse_weight_kg,
)


class MoneyTests(unittest.TestCase):
    def test_ties(self):
        self.assertEqual([half_up_cents(value) for value in (0.5, 1.5, 2.4)], [1, 2, 2])

    def test_parse_and_format(self):
        self.assertEqual(parse_cents("EUR 1,204.5"), 120450)
        self.assertEqual(format_money_text(-120450), "-EUR 1,204.50")

    def test_shares_add_up(self):
        self.assertEqual(split_shares_cents(1000, 3), [334, 333, 333])
        self.assertEqual(weighted_shares_cents(1000, [1.0, 2.0]), [333, 667])


class UnitTests(unittest.TestCase):
    def test_parse_weight(self):
        self.assertEqual(parse_weight_kg("900 g"), 0.9)
        self.assertEqual(parse_weight_kg("3 lb"), 1.361)

    def test_parse_sides(self):
        self.assertEqual(parse_sides_cm("16 x 12 x 8 in"), [40.6, 30.5, 20.3])
        self.assertEqual(parse_sides_cm("40x30x20"), [40.0, 30.0, 20.0])


class ParcelTests(unittest.TestCase):
    def test_groups_are_sorted(self):
        light = Parcel("HF-1", 1.0, [20, 20, 20], "Bremen")
        heavy = Parcel("HF-2", 9.0, [20, 20, 20], "Bremen")
        other = Parcel("HF-3", 1.0, [20, 20, 20], "Berlin")
        groups = parcels_by_city([light, heavy, other])
        self.assertEqual(list(groups), ["Berlin", "Bremen"])
        self.assertEqual(groups["Bremen"], [heavy, light])
