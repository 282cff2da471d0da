import unittest

from freight.routing.distances import road_distance_km
from freight.routing.legs import Leg, tour_minutes
from freight.routing.planner import (
    improved_cities,
    round_trip_km,
    route_cost_cents,
)
from freight.routing.time_windows import (
    departure_minutes,
    waiting_minutes,
)

from .helpers import assert_whole_cents


class DistanceTests(unittest.TestCase):
    def test_road(self):
        self.assertEqual(road_distance_km("Rotterdam", "Antwerp"), 94.2)


class LegTests(unittest.TestCase):
    def test_text(self):
        leg = Leg("Hanover", "Bremen", 130.0)
        self.assertEqual(str(leg), "Hanover - Bremen, 130 km, 2 h")

    def test_rest_after_a_long_drive(self):
        self.assertEqual(tour_minutes([Leg("Hanover", "Munich", 325.0)]), 365)


class PlannerTests(unittest.TestCase):
    def test_improved_tour_is_shorter(self):
        tour = ["Hanover", "Antwerp", "Berlin", "Cologne", "Leipzig"]
        improved = improved_cities(tour)
        self.assertEqual(sorted(improved), sorted(tour))
        self.assertLess(round_trip_km(improved), round_trip_km(tour))

    def test_route_cost(self):
        legs = [Leg("Hanover", "Celle", 12.5), Leg("Celle", "Uelzen", 8.0)]
        assert_whole_cents(self, route_cost_cents(legs), 1743)


class WindowTests(unittest.TestCase):
    def test_waiting(self):
        self.assertEqual(waiting_minutes("08:00-12:30", 460), 20)
        self.assertEqual(waiting_minutes("08:00-12:30", 751), -1)

    def test_departure(self):
        self.assertEqual(departure_minutes("08:00-12:30", 470, 6), 510)
