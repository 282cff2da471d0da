import unittest

from freight.core.identifiers import (
    build_parcel_id,
    depot_name,
    is_valid_parcel_id,
    missing_ids,
)


class ParcelIdTests(unittest.TestCase):
    def test_built_id_is_valid(self):
        parcel_id = build_parcel_id("310", 1234567)
        self.assertTrue(is_valid_parcel_id(parcel_id))
        self.assertEqual(depot_name(parcel_id), "Rotterdam")

    def test_wrong_digit_is_found(self):
        parcel_id = build_parcel_id("101", 42)
        self.assertFalse(is_valid_parcel_id(parcel_id.replace("42-", "43-")))

    def test_missing_ids(self):
        rolls = [build_parcel_id("101", number) for number in (5, 6, 8)]
        self.assertEqual(missing_ids(rolls), [build_parcel_id("101", 7)])
