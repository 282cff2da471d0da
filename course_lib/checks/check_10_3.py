"""10.3 serve: what was begun is not ordered again, what was not is, and what does not help ends."""

from course_lib.checks.expectations import Mistake, expect_raises, expect_that
from course_lib.checks.practice_recovery import cut_results, open_office
from course_lib.errors import ContextOverflowError
from course_lib.messages import assistant, message_text, user

ORDER = "Book shipment 17 to Oslo."
OLD_TALK = tuple(m for n in range(12) for m in (user(f"Hello {n}. " + "word " * 900), assistant("Hello.")))
ENDLESS = Mistake(RuntimeError, "The model is asked for ever: the order is said again after every refusal.")


def books(office, count):
    """Return a predicate: so many bookings were made."""
    return lambda _: len(office.ledger.bookings) == count


def books_again(office):
    """Return a predicate: there is more than one booking."""
    return lambda _: len(office.ledger.bookings) > 1


def is_served(office):
    """Return a predicate: one booking, and thanks for it."""
    return lambda got: len(office.ledger.bookings) == 1 and message_text(got[-1]).startswith("It is booked")


def forget(_):
    """Return a summary in place of everything: the harshest way to shorten."""
    return (user("Summary: they talked, and a receipt was sent.", kind="summary"),)


def drop_older(messages):
    """Return the last three messages, the order among them."""
    return messages[-3:]


def keep_all(messages):
    """Return the messages as they are: there was nothing to shorten."""
    return messages


def test_nothing_goes_wrong(answer):
    """With short receipts there is one booking, and thanks for it."""
    office = open_office(receipt_words=10)
    expect_that(
        answer,
        office.model,
        office.tools,
        (),
        ORDER,
        cut_results,
        holds=is_served(office),
        says="one booking, and the model's thanks as the last message",
    )


def test_a_long_receipt_is_booked_once(answer):
    """The request that brings the receipt back is refused: it is sent again, shorter, and nothing is booked again."""
    office = open_office(receipt_words=9_500)
    expect_that(
        answer,
        office.model,
        office.tools,
        (),
        ORDER,
        cut_results,
        holds=is_served(office),
        says="one booking, and the model's thanks as the last message",
        mistakes=(
            ENDLESS,
            Mistake(
                books_again(office),
                "The order was begun already. Said again, it is a new order, and its tool runs twice.",
            ),
        ),
    )


def test_the_order_stands_there_once(answer):
    """A long history makes the first request too long; the shortened one still holds the order."""
    office = open_office(receipt_words=10)
    twice = Mistake(
        lambda got: [message_text(message) for message in got].count(ORDER) > 1,
        "What was kept holds the order already, and it was added once more.",
    )
    expect_that(
        answer,
        office.model,
        office.tools,
        OLD_TALK,
        ORDER,
        drop_older,
        holds=lambda got: is_served(office)(got) and [message_text(message) for message in got].count(ORDER) == 1,
        says="one booking, and the order in the messages once",
        mistakes=(ENDLESS, twice),
    )


def test_an_order_that_nobody_has_begun_is_not_lost(answer):
    """A summary of everything has swallowed the order before the model saw it: it is said again."""
    office = open_office(receipt_words=10)
    lost = Mistake(
        books(office, 0),
        "The order vanished behind the summary before the model had seen it. Nothing was booked.",
    )
    expect_that(
        answer,
        office.model,
        office.tools,
        OLD_TALK,
        ORDER,
        forget,
        holds=books(office, 1),
        says="one booking",
        mistakes=(ENDLESS, lost),
    )


def test_an_order_that_was_begun_is_not_said_again(answer):
    """The booking is done, and a summary of everything has swallowed order and receipt: it must not be booked again."""
    office = open_office(receipt_words=9_500)
    again = Mistake(
        books_again(office),
        "The order is not in what was kept, but it was begun: its tool has run. Saying it again books it again.",
    )
    expect_that(
        answer,
        office.model,
        office.tools,
        (),
        ORDER,
        forget,
        holds=books(office, 1),
        says="one booking",
        mistakes=(ENDLESS, again),
    )


def test_what_cannot_be_shortened_ends(answer):
    """Where `shorten` changes nothing, the same request would be refused for ever: the error is passed on."""
    office = open_office(receipt_words=10)
    endless = Mistake(RuntimeError, "`shorten` changed nothing, and the same request was sent for ever.")
    returned = Mistake(lambda _: True, "It came back without a word, and without an answer of the model.")
    for history in (OLD_TALK, (user("word " * 9_000), assistant("Hello."))):
        expect_raises(
            answer,
            office.model,
            office.tools,
            history,
            ORDER,
            keep_all,
            raises=ContextOverflowError,
            mistakes=(endless, returned),
        )
