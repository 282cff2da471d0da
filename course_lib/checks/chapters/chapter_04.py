"""Chapter 04's exercises and questions."""

from course_lib.checks.exercise import Exercise, Option, Question

__all__ = ["EXERCISES", "QUESTIONS"]

EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        id="04.1",
        title="Effective window and usage ratio",
        kind="implement",
        minutes=8,
        answer_name="budget",
        hints=(
            "Two things are taken from the window before a conversation may use it. Which?",
            "What is left must not be negative, and dividing by nothing needs an answer of its own.",
            "`available = max(0, window_tokens - reserve_tokens - fixed_tokens)`, and the ratio is "
            "`history_tokens / available`, or `float('inf')` where `available` is 0.",
        ),
    ),
    Exercise(
        id="04.2",
        title="A threshold that ignores the reserve",
        kind="fix",
        minutes=10,
        answer_name="tokens_to_free",
        hints=(
            "Call it with the numbers of the bug report: 99,509 tokens, a window of 131,072, a reserve of 32,000. "
            "Would the request be accepted afterwards?",
            "The share is to be taken of the *effective* window. And what does `round` do with 499.5 or 499.7?",
            "`most = int(threshold * (window_tokens - reserve_tokens))`: the reserve first, and rounded down.",
        ),
    ),
    Exercise(
        id="04.3",
        title="Merge split log records",
        kind="implement",
        minutes=20,
        answer_name="merge_records",
        hints=(
            "Remember each answer under its message id: the next piece may come after some results.",
            "Keep two things while you go through the records: a dictionary from id to merged answer, and the user "
            "message that collects results at the moment. A *new* answer and a typed text end the collection.",
            "For a piece: find or make the answer of its id, put its block behind the others, and take its usage. For "
            "a record whose content is a list of results: put them into the collecting message, or make one. Make "
            "copies of lists: `[*known['content'], *message['content']]`.",
        ),
    ),
    Exercise(
        id="04.4",
        title="Tools for each phase",
        kind="tune",
        minutes=12,
        answer_name="tools_by_phase",
        hints=(
            "Begin with exactly what each phase needs and print `price(…)`. Then let two neighbouring phases share one "
            "list, and compare.",
            "Each change of the list makes the whole conversation be read anew. How few changes does the cap allow, "
            "and is it better to change early or late?",
            "One change suffices, right after `explore`: give the three later phases one list with all that any of "
            "them needs, in the same order.",
        ),
    ),
    Exercise(
        id="04.5",
        title="Share of tool results",
        kind="predict",
        minutes=7,
        answer_name="predicted_share",
        hints=(
            "Add up the results first: rounds times tokens, line by line.",
            "Then add up the whole request: results, what the model wrote in 30 rounds, the order, and the fixed cost.",
            "18 × 1,500 + 8 × 900 + 4 × 50, divided by that sum + 30 × 150 + 100 + 2,000 + 3,000.",
        ),
    ),
)

QUESTIONS: tuple[Question, ...] = (
    Question(
        id="04.a",
        text="A request has 76 % of the window's tokens. When can it still be refused as too long?",
        right=0,
        options=(
            Option(
                "When over 24 % is reserved for the answer.",
                "Right. Request and answer share the window.",
            ),
            Option("Never: it is below 100 %.", "The answer comes out of the same window."),
            Option(
                "When the last message alone is longer than all the others together.",
                "How the tokens are spread over messages does not matter.",
            ),
        ),
    ),
    Question(
        id="04.b",
        text="Why does the definition of a tool that was loaded go to the end of the list of tools?",
        right=1,
        options=(
            Option("Models choose the last tool more often.", "The reason is the price, not the choice."),
            Option(
                "So that the definitions before it stay the same beginning.",
                "Right. What a provider's cache can keep is an unchanged beginning.",
            ),
            Option("It makes the request shorter.", "The order changes no size."),
        ),
    ),
    Question(
        id="04.c",
        text="A log says that the first call read 20,000 tokens, but its messages have 300. Where are the others?",
        right=2,
        options=(
            Option(
                "In the answer, which is billed together with the request.",
                "The answer is billed apart: what a call *read* does not hold it.",
            ),
            Option("Nowhere: the log counts characters, the bill counts tokens.", "Both count tokens."),
            Option(
                "In system prompt and tool definitions.",
                "Right. Few programs log them: the difference is the fixed cost.",
            ),
        ),
    ),
)
