"""06.3 maintain: no model call where none can help, and the reason said once."""

import re

from course_lib.checks.expectations import Mistake, expect_that, expect_value
from course_lib.messages import message_text, user

SUMMARY = user("a summary", kind="summary")


def letters(messages):
    """Return one token a letter."""
    return sum(len(message_text(message)) for message in messages)


def play(answer, messages, fixed_tokens, limit_tokens, turns=5):
    """Call the answer before each of some requests, as an agent does; return the end and how often a model wrote."""
    written = []

    def summarise(older):
        written.append(older)
        return SUMMARY

    notes = ()
    for _ in range(turns):
        messages, notes = expect_that(
            answer,
            messages,
            notes,
            letters,
            fixed_tokens,
            limit_tokens,
            summarise,
            holds=lambda got: len(got) == 2 and isinstance(got[0], tuple) and isinstance(got[1], tuple),
            says="a tuple of messages and a tuple of notes",
        )
    return messages, notes, written


def numbers(note):
    """Return the numbers in a note, with or without commas."""
    return {int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*\d|\d", note)}


def test_below_the_limit(answer):
    """Nothing happens."""
    chat = (user("x" * 30), user("y" * 30), user("z" * 30))
    messages, notes, written = play(answer, chat, fixed_tokens=5, limit_tokens=100)
    expect_value((messages, notes, len(written)), equals=(chat, (), 0))


def test_a_summary_that_helps(answer):
    """What is older than the last two messages gives way to one summary, once."""
    chat = tuple(user(letter * 40) for letter in "abcde")
    messages, notes, written = play(answer, chat, fixed_tokens=100, limit_tokens=250)
    idle = Mistake(
        chat, "It never compacts. The floor is what has to stay: the fixed tokens and the *last two* messages."
    )
    expect_value(messages, equals=(SUMMARY, *chat[-2:]), mistakes=(idle,))
    expect_value(written, equals=[chat[:-2]])
    expect_value(notes, equals=(), mistakes=(Mistake(lambda got: got, "A note, although a summary helped."),))


def test_the_empty_chat(answer):
    """System prompt and tools alone are above the limit: no model is called for a chat that says 'hi'."""
    chat = (user("hi"),)
    messages, notes, written = play(answer, chat, fixed_tokens=80_000, limit_tokens=70_000)
    paid = Mistake(
        lambda count: count > 0,
        "A model was paid in five turns for a chat that says 'hi'. What stays in any case is too long already: look "
        "at that before you call.",
    )
    expect_value(len(written), equals=0, mistakes=(paid,))
    expect_value(messages, equals=chat)
    silent = Mistake(0, "Nobody was told why nothing is done. Add one note.")
    nagging = Mistake(lambda count: count > 1, "The user was told in every turn. Say it once: is there a note already?")
    expect_value(len(notes), equals=1, mistakes=(silent, nagging))
    vague = Mistake(lambda _: True, "The note should name both numbers, so that the user can see what to change.")
    expect_value(
        notes[0],
        holds=lambda note: {80_000, 70_000} <= numbers(note),
        says="a sentence with the numbers 80000 and 70000",
        mistakes=(vague,),
    )


def test_the_last_two_messages_are_the_floor(answer):
    """Fixed tokens and the last two messages reach the limit together, so no summary of the rest can help."""
    chat = (user("a" * 500), user("b" * 30), user("c" * 170))
    messages, notes, written = play(answer, chat, fixed_tokens=100, limit_tokens=300)
    paid = Mistake(
        lambda count: count > 0,
        "A summary was paid for, and it is too long all the same: the last two messages stay, and they are too long "
        "together with what is fixed.",
    )
    expect_value(len(written), equals=0, mistakes=(paid,))
    expect_value((messages, len(notes)), equals=(chat, 1))


def test_hardly_worth_a_call(answer):
    """The older part has less than a tenth of the messages' tokens: no call, and nothing to complain about."""
    chat = (user("a" * 9), user("b" * 60), user("c" * 60))
    messages, notes, written = play(answer, chat, fixed_tokens=100, limit_tokens=225)
    paid = Mistake(
        lambda count: count > 0,
        "A summary of 9 tokens in 129 was paid for. If the older part is less than a tenth, it is not worth a call.",
    )
    expect_value(len(written), equals=0, mistakes=(paid,))
    noted = Mistake(lambda got: got[1], "A note says that nothing can help. That is not so: it is not worth it yet.")
    expect_value((messages, notes), equals=(chat, ()), mistakes=(noted,))


def test_exactly_a_tenth_is_worth_it(answer):
    """With a tenth it pays."""
    chat = (user("a" * 12), user("b" * 54), user("c" * 54))
    messages, _, written = play(answer, chat, fixed_tokens=100, limit_tokens=220, turns=1)
    expect_value((messages, len(written)), equals=((SUMMARY, *chat[-2:]), 1))
