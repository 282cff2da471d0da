"""Chapter 01's exercises and questions."""

from course_lib.checks.exercise import Exercise, Option, Question

__all__ = ["EXERCISES", "QUESTIONS"]

EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        id="01.1",
        title="Find the broken pairs",
        kind="implement",
        minutes=15,
        answer_name="find_broken_pairs",
        hints=(
            "Go through the messages in order and remember one thing only: which calls the message before made.",
            "At each message compare two sets: the ids called in the message before, and the ids answered here. "
            "What stands in only one of them is broken.",
            "`called ^ answered` is what is in exactly one of two sets. Collect it at every message; after the last "
            "one, whatever it called is open and broken as well.",
        ),
    ),
    Exercise(
        id="01.2",
        title="A cut that parts a batch",
        kind="fix",
        minutes=10,
        answer_name="nearest_cut",
        hints=(
            "Take a batch of two results of which only one has its call in the kept part. What do the sets look like?",
            "`called & answered` is true as soon as *one* id is in both. Is one enough?",
            "Every answered call must be among the called ones: one set has to be contained in the other, `<=`.",
        ),
    ),
    Exercise(
        id="01.3",
        title="Head and tail",
        kind="fix",
        minutes=15,
        answer_name="head_and_tail",
        hints=(
            "Try it on a batch of two results, with a tail of 0, and with head and tail longer than the conversation.",
            "Work with two indexes, where the head ends and where the tail starts, and move them out of batches: "
            "the tail's start forward over all leading results, the head's end back to before a call whose results "
            "are not all in the head. `messages[-0:]` is everything.",
            "First: `if head + tail >= len(messages): return messages`. Then `start = len(messages) - tail` and "
            "`while start < len(messages) and tool_results(messages[start]): start += 1`. For the head: as long as the "
            "message behind its end holds a result, or its last message a call, make it one shorter.",
        ),
    ),
    Exercise(
        id="01.4",
        title="As much memory as the budget allows",
        kind="tune",
        minutes=8,
        answer_name="keep_messages",
        hints=(
            "Print `max(request_sizes(n))` for some `n`. Why the largest?",
            "It grows with `n`. You look for the last `n` at which it is not above `BUDGET_TOKENS`.",
            "`max(n for n in range(1, 80) if max(request_sizes(n)) <= BUDGET_TOKENS)`",
        ),
    ),
    Exercise(
        id="01.5",
        title="What does a run send?",
        kind="predict",
        minutes=7,
        answer_name="predicted_tokens",
        hints=(
            "Write down the first three requests: 1,000, 1,500, 2,000. How long is the last one?",
            "From the first request to the last they grow evenly. What is their average?",
            "The average of the first (1,000) and the last (1,000 + 39 × 500), times 40.",
        ),
    ),
)

QUESTIONS: tuple[Question, ...] = (
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
