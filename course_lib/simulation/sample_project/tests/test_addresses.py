import unittest

from freight.core.address import Address, address_key, parse_address
from freight.warehouse.labels import (
    parcel_label_lines,
    route_code,
)


class AddressTests(unittest.TestCase):
    def test_parse_domestic(self):
        address = parse_address("Mira Voss; Hafenweg 4; 20457 Hamburg")
        self.assertEqual(str(address), "Mira Voss, Hafenweg 4, 20457 Hamburg")

    def test_parse_abroad_keeps_country(self):
        address = parse_address("Jan Smit; Kade 12; 3011 AB Rotterdam; nl")
        self.assertEqual(address.postal_code, "3011 AB")
        self.assertEqual(address.label_lines()[-1], "NL")

    def test_valid_codes(self):
        self.assertTrue(Address("A", "B", "sw1a 2aa", "London", "gb").has_valid_code())
        self.assertFalse(Address("A", "B 1", "2045", "Hamburg").has_valid_code())

    def test_key_ignores_spelling(self):
        first = Address("A", "Lange Str. 5", "30159", "Hanover")
        second = Address("B", "lange strasse 5", "30159", "Hanover")
        self.assertEqual(address_key(first), address_key(second))


class LabelTests(unittest.TestCase):
    def test_route_code(self):
        address = Address("Jan Smit", "Kade 12", "3011 AB", "Rotterdam", "NL")
        self.assertEqual(route_code(address), "NL-3011")

    def test_label_lines(self):
        address = Address("Mira Voss", "Hafenweg 4", "20457", "Hamburg")
        lines = parcel_label_lines("HF-101-0000042-0", address, 2.5)
        self.assertEqual(lines[0], "DE-204                    2.5 kg")
        self.assertEqual(lines[-1], "*HF10100000420*")
