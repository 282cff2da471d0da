"""07.3 compact: a failed call leaves the history, and says that it failed."""

from course_lib.checks.expectations import Mistake, expect, expect_raises, expect_that
from course_lib.messages import assistant, user

HISTORY = (user("Fix the parser."), *(assistant(f"Step {number} of a long job. " * 9) for number in range(9)))
GOOD = "The parser is fixed, nine steps are done."


class Writer:
    """Stands for a model: answers with a text, or raises."""

    def __init__(self, reply):
        self.reply = reply

    def __call__(self, _):
        """Return the reply, or raise it."""
        if isinstance(self.reply, BaseException):
            raise self.reply
        return self.reply

    def __repr__(self):
        return f"a writer that {'raises' if isinstance(self.reply, BaseException) else 'returns'} {self.reply!r:.60}"


def is_left_alone(got, messages):
    """The very same history, and a reason."""
    return len(got) == 2 and got[0] is messages and isinstance(got[1], str) and bool(got[1].strip())


STORED = Mistake(
    lambda got: got[0][0].kind == "summary" and len(got[0]) == 4,
    "Something that is no summary took the place of the past. Return the messages as they came, with the reason.",
)
SILENT = Mistake(
    lambda got: not got[1], "The history is still there, but nobody learns that the call failed: return the reason."
)
COPIED = Mistake(lambda got: got[0] == HISTORY, "It is an equal history, but not the same object. Return `messages`.")


def test_it_works(answer):
    """A good summary takes the place of the older messages, and there is no problem to report."""
    expected = ((user(f"[Summary]\n{GOOD}", kind="summary"), *HISTORY[-3:]), "")
    told = Mistake(lambda got: got[0] == expected[0], "It worked, so the problem is an empty text.")
    expect(answer, HISTORY, Writer(GOOD), 3, returns=expected, mistakes=(told,))


def test_the_call_fails(answer):
    """Whatever the call raises, the history stays, and the reason can be read."""
    for error in (TimeoutError("no answer in 60 seconds"), RuntimeError("429: too many requests"), ValueError("?!")):
        expect_that(
            answer,
            HISTORY,
            Writer(error),
            3,
            holds=lambda got, messages, *_: is_left_alone(got, messages),
            says="the very same messages, and the reason as a text",
            mistakes=(STORED, SILENT, COPIED),
        )


def test_an_error_without_words(answer):
    """Some exceptions have no text; the reason is not empty all the same."""
    wordless = Mistake(
        lambda got: not got[1],
        "`str(error)` is empty for some exceptions. Their class has a name: `type(error).__name__`.",
    )
    expect_that(
        answer,
        HISTORY,
        Writer(TimeoutError()),
        3,
        holds=lambda got, messages, *_: is_left_alone(got, messages),
        says="the very same messages, and a reason that is not empty",
        mistakes=(STORED, wordless),
    )


def test_a_blank_answer(answer):
    """A blank text is no summary, and no exception either."""
    for blank in ("", "  \n"):
        expect_that(
            answer,
            HISTORY,
            Writer(blank),
            3,
            holds=lambda got, messages, *_: is_left_alone(got, messages),
            says="the very same messages, and the reason as a text",
            mistakes=(STORED, SILENT, COPIED),
        )


def test_longer_than_what_it_replaces(answer):
    """A summary has to be shorter than the texts of the messages that go."""
    grown = Mistake(
        lambda got: got[0][0].kind == "summary",
        "The summary is longer than what it replaces. Compare len(text) with the texts of the older messages.",
    )
    expect_that(
        answer,
        HISTORY,
        Writer("and then " * 900),
        3,
        holds=lambda got, messages, *_: is_left_alone(got, messages),
        says="the very same messages, and the reason as a text",
        mistakes=(grown, SILENT),
    )


def test_nothing_is_old(answer):
    """With nothing older than the last messages, the model is not even asked."""
    asked = Mistake(
        lambda got: "asked" in str(got[1]), "The model was asked, though there is nothing to summarise: look first."
    )
    expect_that(
        answer,
        HISTORY,
        Writer(AssertionError("asked for nothing")),
        10,
        holds=lambda got, messages, *_: is_left_alone(got, messages) and "asked" not in got[1],
        says="the very same messages and a reason, without a call",
        mistakes=(asked, STORED),
    )


def test_the_user_stops_it(answer):
    """An interrupt is no failed call: it goes through."""
    caught = Mistake(lambda _: True, "The stop button is no failure of the model: catch `Exception`, not everything.")
    expect_raises(answer, HISTORY, Writer(KeyboardInterrupt()), 3, raises=KeyboardInterrupt, mistakes=(caught,))
