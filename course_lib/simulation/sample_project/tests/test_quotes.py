import unittest

from freight.core.parcel import Parcel
from freight.pricing.quotes import cheapest_zone, draft_parcel, quote_cents
from freight.pricing.volumetric import (
    chargeable_weight_kg,
)

CHEAP_DIESEL = 120


class VolumetricTests(unittest.TestCase):
    def test_light_box_is_charged_by_size(self):
        parcel = Parcel("HF-1", 1.0, [50, 40, 30], "Bremen")
        self.assertEqual(chargeable_weight_kg(parcel), 12.0)


class QuoteTests(unittest.TestCase):
    def test_quote(self):
        parcel = draft_parcel("4 kg", "30x20x20", "Berlin")
        self.assertEqual(quote_cents(parcel, "B", CHEAP_DIESEL), 690)

    def test_frequent_sender(self):
        parcel = draft_parcel("4 kg", "30x20x20", "Berlin")
        self.assertEqual(quote_cents(parcel, "B", CHEAP_DIESEL, 200), 608)

    def test_cheapest_zone(self):
        parcel = draft_parcel("4 kg", "30x20x20", "Antwerp")
        self.assertEqual(cheapest_zone(parcel, ["E", "C", "D"]), "C")
