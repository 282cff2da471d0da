"""Chapter 10's exercises and questions."""

from course_lib.checks.exercise import Exercise, Option, Question

__all__ = ["EXERCISES", "QUESTIONS"]

EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        id="10.1",
        title="Too long, in five shapes",
        kind="implement",
        minutes=15,
        answer_name="is_too_long",
        hints=(
            "Three questions, in this order: the status 413, then the names (`type` and `code`), then the words. What "
            "is sure comes first.",
            'The error may be in `body["error"]`, be the body itself, or be a text. Bring all three to one form first: '
            "the names, and the words.",
            '`error = body.get("error", body) if isinstance(body, dict) else body`. Then, if `error` is a dict: '
            '`names = {error.get("type"), error.get("code")}` and `words = error.get("message")`, else no names, and '
            "the error is the words. Words count for a status of 400 only.",
        ),
    ),
    Exercise(
        id="10.2",
        title="Who comes back, and how much of it",
        kind="implement",
        minutes=14,
        answer_name="share_out",
        hints=(
            "Go through the files, then through the skills, and keep account of what is left. Each gets the smallest "
            "of several numbers.",
            "Take out the files in `shown` *before* you count to `limits.max_files`. Skills have a room of their own, "
            "which is never larger than what is left of the joint cap.",
            "`given[name] = min(tokens, limits.max_file_tokens, left)` and `left -= given[name]` for files; for skills "
            "start with `room = min(limits.max_skills_tokens, left)`, and give `min(tokens, room)`. In the end leave "
            "out whoever got 0.",
        ),
    ),
    Exercise(
        id="10.3",
        title="Booked twice",
        kind="fix",
        minutes=15,
        answer_name="serve",
        hints=(
            "What stands in the history when the second request is refused? Is the order in it? Was it begun?",
            "Note when the model has answered for the first time. Until then, the order must be in what is sent, once. "
            "From then on, never add it. And look whether `shorten` did anything at all.",
            "In the `except`: `shorter = shorten(messages)`; `if shorter == messages: raise`; "
            "`if not begun and user(order) not in shorter: shorter = (*shorter, user(order))`. After an answer: "
            "`begun = True`.",
        ),
    ),
    Exercise(
        id="10.4",
        title="Restore within 10,000 tokens",
        kind="tune",
        minutes=10,
        answer_name="limits",
        hints=(
            "Print `try_limits(…)` for the defaults. What comes back that nobody needs, and which limit would keep it "
            "small?",
            "Which is the oldest file that is needed, and how many are newer? Which is the largest that is needed? "
            "Each mark around a text takes about ten tokens more than the text itself.",
            "Six files. Each a little above the largest file that is needed, far below `big.log`. Skills: enough for "
            "the first.",
        ),
    ),
    Exercise(
        id="10.5",
        title="Which step will save it?",
        kind="predict",
        minutes=10,
        answer_name="steps",
        hints=(
            "Ask of each conversation: what is it full of? Results, the model's words, or the user's?",
            "Shrinking takes results above 500 tokens, all down to one height. Collapsing takes old rounds, whatever "
            "is in them, but nothing that the user said. The summary takes in what is old.",
            "Two are saved by shrinking, two by collapsing. One needs the summary, and one cannot be saved.",
        ),
    ),
)

QUESTIONS: tuple[Question, ...] = (
    Question(
        id="10.a",
        text="A provider answers 429: too many tokens per minute. What should a recovery do?",
        right=2,
        options=(
            Option(
                "Shrink the largest result, then send it again.",
                "The window is not full. What is forgotten now is forgotten for good.",
            ),
            Option("Write a summary of the oldest half.", "That is one request more, in a minute that has none left."),
            Option(
                "Nothing: waiting is what helps.",
                "Right. It is no overflow, whatever the words say about tokens.",
            ),
        ),
    ),
    Question(
        id="10.b",
        text="Why does a recovery free more than the provider says is too much?",
        right=0,
        options=(
            Option(
                "Otherwise the next refusal comes a few rounds later.",
                "Right. Every refusal is a round trip for nothing, and every repair costs the cache.",
            ),
            Option("Providers count wrong, some by more than a tenth.", "Theirs is the count that decides."),
            Option(
                "The summary that follows needs room for its own text.",
                "It is not even written when a gentler step was enough.",
            ),
        ),
    ),
    Question(
        id="10.c",
        text="A compaction has just been done. What should become of the note of which files were read?",
        right=1,
        options=(
            Option(
                "Cleared, since the texts are gone from the history.",
                "Then the next edits are refused as 'not read yet', though the files are what they were.",
            ),
            Option(
                "Kept: it speaks of the files on disk, and is compared with them.",
                "Right. A file that has changed is refused all the same.",
            ),
            Option(
                "Kept for the files that were restored, and cleared for all of the others.",
                "The others have not changed either. An edit must match the file's text anyway.",
            ),
        ),
    ),
)
