import unittest

from freight.pricing.discounts import (
    combined_percent,
    discount_cents,
)
from freight.pricing.fuel import (
    fuel_surcharge_cents,
)
from freight.pricing.insurance import offer_text
from freight.pricing.zones import base_rate_cents, delivery_zone

from .helpers import assert_whole_cents


class ZoneTests(unittest.TestCase):
    def test_zone(self):
        zones = [delivery_zone("DE", "30159"), delivery_zone("DE", "80331")]
        zones += [delivery_zone("NL", "3011 AB"), delivery_zone("CH", "8001")]
        self.assertEqual(zones, ["A", "B", "C", "E"])

    def test_rate(self):
        self.assertEqual(base_rate_cents("A", 2.0), 490)
        self.assertEqual(base_rate_cents("B", 33.0), 1933)


class FuelTests(unittest.TestCase):
    def test_surcharge(self):
        assert_whole_cents(self, fuel_surcharge_cents(2020, 190), 253)


class DiscountTests(unittest.TestCase):
    def test_never_below_the_lowest_price(self):
        self.assertEqual(discount_cents(400, 20.0), 10)

    def test_combined(self):
        self.assertEqual(combined_percent(7.0, 10.0), 16.3)
        self.assertEqual(combined_percent(18.0, 10.0), 20.0)


class InsuranceTests(unittest.TestCase):
    def test_offer(self):
        text = "Cover up to EUR 2,500.00 for EUR 18.00."
        self.assertEqual(offer_text(250000, "floor lamp"), text)
