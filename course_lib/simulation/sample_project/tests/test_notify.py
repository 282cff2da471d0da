import unittest

from freight.notify.channels import (
    campaign_cost_cents,
    channel_name,
    send_minutes,
)
from freight.notify.retries import (
    attempt_minutes,
    retry_channel_key,
    wait_minutes,
)
from freight.notify.templates import sms_texts


class ChannelTests(unittest.TestCase):
    def test_channel(self):
        contacts = ("mira@voss.example", "0511 123456", "gate 2")
        names = [channel_name(contact) for contact in contacts]
        self.assertEqual(names, ["email", "sms", "letter"])
        self.assertEqual(campaign_cost_cents(contacts), 102)

    def test_quiet_night(self):
        self.assertEqual(send_minutes("sms", 22 * 60), 24 * 60 + 450)
        self.assertEqual(send_minutes("email", 22 * 60), 22 * 60)


class RetryTests(unittest.TestCase):
    def test_waits_grow_up_to_the_limit(self):
        waits = [wait_minutes(number) for number in range(6)]
        self.assertEqual(waits, [0, 5, 15, 45, 135, 240])
        self.assertEqual(attempt_minutes(3), 65)

    def test_blocked_email_becomes_sms(self):
        self.assertEqual(retry_channel_key("email", 1, "Blocked"), "sms")


class TemplateTests(unittest.TestCase):
    def test_long_sms_is_cut_between_words(self):
        pieces = sms_texts("word " * 20)
        self.assertEqual([len(piece) for piece in pieces], [69, 29])
