"""Chapter 05's exercises and questions."""

from course_lib.checks.exercise import Exercise, Option, Question

__all__ = ["EXERCISES", "QUESTIONS"]

EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        id="05.1",
        title="Truncation that parts nothing and keeps the order",
        kind="implement",
        minutes=15,
        answer_name="truncate",
        hints=(
            "Find the cut first, then look at what stands before it. `safe_cut(messages, index)` moves an index to the "
            "left, out of a batch.",
            "Before the cut stand the first message and the others. If there are no others, nothing is left out, and "
            "there is nothing to note.",
            "`cut = safe_cut(messages, len(messages) - keep)`; with `cut <= 1` return `messages`, else "
            "`(messages[0], note, *messages[cut:])`, and the note counts `cut - 1` messages. A `keep` beyond the "
            "length makes the index negative: `max(0, …)`.",
        ),
    ),
    Exercise(
        id="05.2",
        title="Placeholders that lie",
        kind="fix",
        minutes=12,
        answer_name="shrink_results",
        hints=(
            "Try it on a message with an error, on one with a text behind its result, and with a `keep` that is larger "
            "than the conversation.",
            "Go block by block: only a result that is no error and longer than its placeholder is replaced; every "
            "other block stays. `dataclasses.replace(message, content=…)` keeps the rest of a message.",
            "A function for one block: `if not isinstance(block, ToolResultBlock) or block.is_error: return block`, "
            "then make the placeholder, and return whichever is shorter. For the cut: "
            "`end = max(0, len(messages) - keep)`.",
        ),
    ),
    Exercise(
        id="05.3",
        title="Compress at whole characters",
        kind="implement",
        minutes=18,
        answer_name="compress",
        hints=(
            "Take the text apart with `whole_characters(text)` and put beginning and end together again from the list. "
            "Then nothing can be parted.",
            "Write a helper that makes the result for a given number of characters at each end, notice and all. Count "
            "*its* tokens: that is what has to fit.",
            "Start with 0 characters at each end and take one more as long as `count(made(size + 1)) <= max_tokens` "
            "and beginning and end do not meet.",
        ),
    ),
    Exercise(
        id="05.4",
        title="To the end, within a budget",
        kind="tune",
        minutes=12,
        answer_name="settings",
        hints=(
            "Change one setting at a time and print `try_settings(settings)`. First get `orders_broken` to 0.",
            "What is sent in all depends on how long the requests are. Two settings make them shorter: keep less, or "
            "begin earlier. But who forgets too much works twice.",
            "Truncation with a pinned order, very few messages kept, and a ratio of about 0.4.",
        ),
    ),
    Exercise(
        id="05.5",
        title="Rank the five",
        kind="predict",
        minutes=10,
        answer_name="ranking",
        hints=(
            "Ask of each strategy: how many results of 3,000 tokens does it leave whole? One round has two messages.",
            "Folding keeps the last 4 messages, selective retention 6, summarisation 10, truncation 20. Compression "
            "keeps all results, at 2,000 tokens each.",
            "The results decide: 2, 3, 5 and 10 whole ones, and 24 of two thirds. What selective retention keeps of "
            "the older rounds is less than two whole results.",
        ),
    ),
)

QUESTIONS: tuple[Question, ...] = (
    Question(
        id="05.a",
        text="A strategy breaks a tool pair. What is the history after `apply`?",
        right=1,
        options=(
            Option(
                "What the strategy returned, with its pairs mended by `repair`.",
                "`apply` mends nothing: a strategy that breaks pairs has a bug to be seen.",
            ),
            Option(
                "The very same messages as before.",
                "Right. A compaction that fails must lose nothing, and the event says why it failed.",
            ),
            Option(
                "What the strategy returned, without the broken pair.",
                "Then a bug in a strategy would quietly cost a part of the conversation.",
            ),
        ),
    ),
    Question(
        id="05.b",
        text="A summary does not hold the order that the user gave. What is the likeliest reason?",
        right=2,
        options=(
            Option("The model's window was too small.", "A long conversation is given in pieces, each read in full."),
            Option("The order was too old.", "A summary is made of the older part: that is where old things are."),
            Option(
                "Nobody asked for it.",
                "Right. What a prompt does not ask for survives by luck only.",
            ),
        ),
    ),
    Question(
        id="05.c",
        text="A run under a strategy kept 100 % of the facts and was refused half way. What does that say?",
        right=0,
        options=(
            Option(
                "It gave up too little to finish the job.",
                "Right. Keeping everything is easy for who does not finish: facts count only beside the outcome.",
            ),
            Option("It is the best of the strategies where memory matters.", "Of a job that it could not do."),
            Option("The facts that were looked for were the wrong ones.", "They were the ones that the job needs."),
        ),
    ),
)
