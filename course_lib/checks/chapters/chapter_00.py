"""Chapter 00's exercises and questions."""

from course_lib.checks.exercise import Exercise, Option, Question

__all__ = ["EXERCISES", "QUESTIONS"]

EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        id="00.1",
        title="What is left of the window",
        kind="implement",
        minutes=3,
        answer_name="tokens_left",
        hints=(
            "The window is one budget. Two things are taken out of it: what is used already, and what is kept free.",
            "Subtract both `used_tokens` and `reserve_tokens` from `window_tokens`. What if that goes below 0?",
            "`max(0, …)` returns its second argument, but never less than 0.",
        ),
    ),
)

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
)
