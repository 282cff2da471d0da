"""What the tests of the readers ask of a stream of events."""

from course_lib.session_logs.records import Oddity


def of(kind, events):
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]


def kinds(events):
    """The kinds of the oddities, in order."""
    return [event.kind for event in of(Oddity, events)]
