"""Questions for understanding: two to four a chapter, with a word on every option.

Source: chapters 00 and 01.
"""

from dataclasses import dataclass

from course_lib.errors import SettingsError

__all__ = ["QUESTIONS", "Option", "Question", "find_question"]


@dataclass(frozen=True)
class Option:
    """One possible answer, and why it is right or wrong."""

    text: str
    explanation: str


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question; `right` is the 0-based place of its right option."""

    id: str
    text: str
    options: tuple[Option, ...]
    right: int


QUESTIONS: tuple[Question, ...] = (
    Question(
        id="00.a",
        text="The run of chapter 00 was refused. Why did “please go on” not help?",
        right=1,
        options=(
            Option(
                "The model had forgotten the task.",
                "The task was in the request, at the very top. The request was never read.",
            ),
            Option(
                "The next request carries everything the refused one did, and one message more.",
                "Right. Nothing in the loop makes a conversation shorter.",
            ),
            Option(
                "The provider blocks an agent after an error.",
                "A refusal concerns one request. A shorter one would be answered.",
            ),
        ),
    ),
    Question(
        id="00.b",
        text="With the oldest messages dropped, the agent wrote 'parcel' again. What had happened?",
        right=2,
        options=(
            Option("It had grown tired of the rule.", "It decides by the same rules in every round."),
            Option("Its tests no longer checked the wording.", "They never did. No test would have noticed."),
            Option(
                "The message with the order was not in the request any more.",
                "Right. What is not in the request does not exist for the model.",
            ),
        ),
    ),
    Question(
        id="00.c",
        text="What does a window four times as large give you?",
        right=0,
        options=(
            Option(
                "Room for a longer run, each of whose requests can cost up to four times as much.",
                "Right. This job fitted; a longer one will not, and every request sends everything.",
            ),
            Option(
                "A run that never ends.", "It too is refused, once the conversation has grown to four times the size."
            ),
            Option("The same run at the same price.", "The rounds that are added send the longest requests of all."),
        ),
    ),
    Question(
        id="01.a",
        text="A model calls three tools at once. When may the next request be sent?",
        right=2,
        options=(
            Option("When the first result is there.", "Then two calls have no result, and both providers refuse."),
            Option(
                "At once; results may follow later.",
                "A result that comes a message too late is refused like a missing one.",
            ),
            Option(
                "When all three calls have a result in the next message, an error text if need be.",
                "Right. A batch is answered as a whole.",
            ),
        ),
    ),
    Question(
        id="01.b",
        text="A run of 40 rounds sent 450,000 tokens. About how many will a run of 80 rounds send?",
        right=0,
        options=(
            Option("1,800,000", "Right. Twice the rounds, four times the tokens: the sum grows with the square."),
            Option("900,000", "That would be so if each request had the same size. They grow."),
            Option("500,000", "That would be so if only the new messages were sent. Everything is sent again."),
        ),
    ),
    Question(
        id="01.c",
        text="Why does it matter that an untouched message stays the same object?",
        right=1,
        options=(
            Option("Python compares objects by identity.", "Equal messages compare equal, whichever object they are."),
            Option(
                "One can see which beginning of the request is unchanged.",
                "Right. The unchanged beginning is what a provider's cache can reuse.",
            ),
            Option("It makes the request shorter.", "The text is sent in full either way."),
        ),
    ),
)


def find_question(question_id: str) -> Question:
    """Return the question with this id.

    Raises:
        SettingsError: there is none; the message lists those there are.
    """
    for question in QUESTIONS:
        if question.id == question_id:
            return question
    raise SettingsError(f"there is no question {question_id!r}: the questions are {', '.join(q.id for q in QUESTIONS)}")
