import unittest

from freight.warehouse.boxes import (
    best_box_keys,
    packed_loads_kg,
)
from freight.warehouse.pallets import loading_lines, stacked_pallets
from freight.warehouse.picking import pick_list_text, walking_codes
from freight.warehouse.storage import (
    best_hall_name,
    storage_fee_cents,
)

from .helpers import assert_whole_cents


class BoxTests(unittest.TestCase):
    def test_stack_of_books(self):
        self.assertEqual(best_box_keys([30, 25, 10], 6), ["XL", "M"])

    def test_first_fit(self):
        self.assertEqual(packed_loads_kg([2.0, 7.0, 3.0, 8.0], 10.0), [10.0, 10.0])


class PalletTests(unittest.TestCase):
    def test_heavy_layers_need_a_second_pallet(self):
        pallets = stacked_pallets("Bremen", [300.0, 350.0, 120.0], 30.0)
        self.assertEqual([len(pallet) for pallet in pallets], [2, 1])
        text = "place 1: Bremen, 145.0 kg in 1 layer(s)"
        self.assertEqual(loading_lines(pallets)[0], text)


class PickingTests(unittest.TestCase):
    def test_walk_turns_around(self):
        codes = walking_codes(["A-01-1", "B-01-1", "B-09-1", "A-05-2"])
        self.assertEqual(codes, ["A-01-1", "A-05-2", "B-09-1", "B-01-1"])

    def test_list(self):
        lines = pick_list_text({"HF-2": "A-01-1", "HF-1": "A-03-4"}).split("\n")
        self.assertEqual(lines[2], "   1  A-01-1  HF-2")
        self.assertEqual(lines[3], "   2  A-03-4  HF-1    ladder")


class StorageTests(unittest.TestCase):
    def test_storage_fee(self):
        assert_whole_cents(self, storage_fee_cents(1.0, "private", 12), 213)

    def test_fullest_hall_first(self):
        self.assertEqual(best_hall_name({"south": 200.0}, [100, 100, 100]), "south")
