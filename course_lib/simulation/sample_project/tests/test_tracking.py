import unittest

from freight.routing.legs import Leg
from freight.tracking.claims import compensation_cents
from freight.tracking.events import (
    history_lines,
    latest_event,
    parse_event,
    wrong_events,
)
from freight.tracking.progress import arrival_text, bar_text
from freight.tracking.statuses import (
    can_change,
    is_final,
    shortest_path_statuses,
)

from .helpers import assert_answers, assert_whole_cents

TOUR = [Leg("Hanover", "Bremen", 130.0), Leg("Bremen", "Hamburg", 130.0)]


class StatusTests(unittest.TestCase):
    def test_is_final(self):
        assert_answers(self, is_final, ("announced", "at_depot", "delayed"), False)
        assert_answers(self, is_final, ("delivered", "returned", "lost"), True)

    def test_changes(self):
        self.assertTrue(can_change("announced", "collected"))
        self.assertFalse(can_change("announced", "delivered"))

    def test_path(self):
        path = shortest_path_statuses("collected", "at_depot")
        self.assertEqual(path, ["collected", "in_transit", "at_depot"])


class EventTests(unittest.TestCase):
    def test_order_of_arrival_does_not_matter(self):
        late = parse_event("hf-1 | AT_DEPOT | Bremen | 1600")
        early = parse_event("HF-1|in_transit|Hanover|1500")
        self.assertIs(latest_event([late, early]), late)
        line = "day 1 02:40 Bremen: waiting at the depot (+1 h 40 min)"
        self.assertEqual(history_lines([late, early])[1], line)

    def test_wrong_scan(self):
        events = [parse_event("HF-1|announced|Hanover|1")]
        events.append(parse_event("HF-1|delivered|Hanover|2"))
        self.assertEqual(wrong_events(events), events[1:])


class ProgressTests(unittest.TestCase):
    def test_bar(self):
        self.assertEqual(bar_text(TOUR, "Bremen", 10), "[#####.....] 50%")

    def test_arrival(self):
        text = "The parcel reaches Hamburg at 10:20."
        self.assertEqual(arrival_text(TOUR, "Bremen", 480), text)


class ClaimTests(unittest.TestCase):
    def test_compensation(self):
        assert_whole_cents(self, compensation_cents(5009, 50.0, 5.0), 2505)
