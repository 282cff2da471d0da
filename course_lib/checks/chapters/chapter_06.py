"""Chapter 06's exercises and questions."""

from course_lib.checks.exercise import Exercise, Option, Question

__all__ = ["EXERCISES", "QUESTIONS"]

EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        id="06.1",
        title="Climb until it is enough",
        kind="implement",
        minutes=18,
        answer_name="escalate",
        hints=(
            "Two different ratios decide: the one at the start says which levels may run, the one *now* says whether "
            "to go on. Compute the first one before the loop.",
            "In the loop: stop if the ratio is below the target; try the edit; compare the ratio before and after; "
            "only what lowered it is kept and noted.",
            "`start = ratio_of(messages)`, then `for number, (at_ratio, edit) in enumerate(levels, 1)`: skip when "
            "`start < at_ratio`, break when `ratio_of(messages) < target`, and put the edit into "
            "`try: … except CompactionError: continue`.",
        ),
    ),
    Exercise(
        id="06.2",
        title="A count that is stale",
        kind="fix",
        minutes=10,
        answer_name="Talk",
        hints=(
            "Who changes `self.messages`, and who changes `self.tokens`? Are these the same places?",
            "A number that is computed when somebody asks cannot be stale. A method with `@property` above it is read "
            "like a number.",
            "`tokens` as a property: `return sum(map(self.count, self.messages))`. In `compact`, count what the edit "
            "returned, and set `self.messages` only if that is less.",
        ),
    ),
    Exercise(
        id="06.3",
        title="The empty chat that compacts for ever",
        kind="fix",
        minutes=15,
        answer_name="maintain",
        hints=(
            "Before you pay for a summary, ask how long the request is at least, whatever the summary says.",
            "That is `fixed_tokens + count(messages[-2:])`. If it reaches the limit, no call can help: say so, unless "
            "`notes` has something already.",
            "Three early returns before the call: below the limit; floor at or above the limit (with a note, once); "
            '`count(older) < count(messages) / 10`. The note as a tuple: `(*notes, f"…")`.',
        ),
    ),
    Exercise(
        id="06.4",
        title="One ladder, two windows",
        kind="tune",
        minutes=15,
        answer_name="ladder",
        hints=(
            "Print `try_ladder` for both windows after each change. Begin with a ladder of a single step.",
            "Too early is deadly in the small window, too late is dear in the large one. Which ratio is neither?",
            "Folding from somewhere between 0.4 and 0.55 on, with a target well below.",
        ),
    ),
    Exercise(
        id="06.5",
        title="Which level?",
        kind="predict",
        minutes=10,
        answer_name="levels",
        hints=(
            "The ratio is messages over *available*: window − reserve − fixed.",
            "In states 1 to 6, 80,000 tokens are available. State 8 has only 100,000 of its 200,000.",
            "Seven of the ten ratios: 0.50, 0.80 less a hair, 0.80, 0.875, 0.9375, 0.95, 0.83. The other three you "
            "can do.",
        ),
    ),
)

QUESTIONS: tuple[Question, ...] = (
    Question(
        id="06.a",
        text="A compaction always stops just below its own trigger. What follows?",
        right=0,
        options=(
            Option(
                "The next message or two start the next one.",
                "Right, and each of them costs the prompt cache. Distance between trigger and target makes them rare.",
            ),
            Option(
                "As much as possible is kept, and nothing is paid for it.",
                "It is kept, and paid for: everything is read anew.",
            ),
            Option(
                "The window overflows after a few compactions.",
                "It does not: each request is below the trigger. It is only dear.",
            ),
        ),
    ),
    Question(
        id="06.b",
        text="A program compacts at 160,000 tokens. Then somebody gives it a model with a window of 128,000. And now?",
        right=1,
        options=(
            Option("It compacts too early, and forgets more than it has to.", "It would with a *larger* window."),
            Option(
                "It never compacts: the request is refused before.",
                "Right. A number in tokens belongs to one model; a ratio goes along.",
            ),
            Option(
                "Nothing changes: 160,000 tokens are as many for any model.",
                "As many, but more than this window has.",
            ),
        ),
    ),
    Question(
        id="06.c",
        text="System prompt and tools alone are longer than the window takes. What should a context manager do?",
        right=2,
        options=(
            Option(
                "Summarise the conversation once more before each request.", "It pays each time, and cannot help once."
            ),
            Option(
                "Shorten the system prompt until it fits.",
                "Nobody asked it to, and what it cuts may be the rule that mattered.",
            ),
            Option(
                "Say so once, with the numbers, and try nothing.",
                "Right. What cannot be made shorter has to be changed by somebody else.",
            ),
        ),
    ),
)
