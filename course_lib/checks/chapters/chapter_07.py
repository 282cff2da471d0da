"""Chapter 07's exercises and questions."""

from course_lib.checks.exercise import Exercise, Option, Question

__all__ = ["EXERCISES", "QUESTIONS"]

EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        id="07.1",
        title="Where to split",
        kind="implement",
        minutes=15,
        answer_name="split_point",
        hints=(
            "Go through the log from its beginning and keep a set of the calls that are open: called, and without a "
            "result so far.",
            "Before each message, an index is good when the set is empty. Remember the last good one that still leaves "
            "`keep` messages behind it.",
            "`for index, message in enumerate(messages[: max(0, len(messages) - keep) + 1])`: if nothing is open, "
            "`best = index`; then add the ids of `tool_uses(message)` and take away the `tool_use_id`s of "
            "`tool_results(message)`. Start with `best = 0`; and an index of `len(messages)` is a place, too.",
        ),
    ),
    Exercise(
        id="07.2",
        title="The parser that no bad summary passes",
        kind="implement",
        minutes=18,
        answer_name="parse_summary",
        hints=(
            "Take it step by step, each with its own `raise ValueError(…)`: analysis away, count the tags, look at "
            "what stands outside, look at what stands inside.",
            'For the analysis: `re.sub(r"<analysis>.*?</analysis>", "", text, flags=re.DOTALL)`. For the tags: '
            '`before, opened, rest = text.partition("<summary>")` gives you the three parts, and again for the end.',
            "A line says something when it does not start with `#` and is not one of none, n/a and nothing after you "
            'took spaces, dashes, stars and dots from both ends and made it small: `line.strip(" \\t-*.").lower()`.',
        ),
    ),
    Exercise(
        id="07.3",
        title="An exception's text as a memory",
        kind="fix",
        minutes=12,
        answer_name="compact",
        hints=(
            "List the ways in which there is no summary: nothing is old, the call raises, the answer is blank, the "
            "answer is too long. Each ends in `return messages, reason`.",
            "In the `except` there is no text to go on with, so return there. An exception may have no words: "
            '`f"{type(error).__name__}: {error}"` is never empty.',
            'The size of what goes: `sum(len(message_text(message)) for message in older)`. And `"".strip()` is false.',
        ),
    ),
    Exercise(
        id="07.4",
        title="The torn line that swallows the next record",
        kind="fix",
        minutes=12,
        answer_name="appended",
        hints=(
            "Part the content into the whole lines and what stands behind the last line end. Only the second piece can "
            "be torn.",
            'The piece is `content[content.rfind(b"\\n") + 1 :]`. Empty: fine. A record: it lacks only its line end. '
            "Anything else: it goes.",
            "`json.loads(piece)` takes bytes and raises ValueError when it is no JSON (also when a character is torn). "
            'A record keeps its bytes and gets `b"\\n"`; for anything else cut the content before it.',
        ),
    ),
    Exercise(
        id="07.5",
        title="Nine tenths of the facts in a thousand tokens",
        kind="tune",
        minutes=10,
        answer_name="summary_settings",
        hints=(
            "Print `try_summary(summary_settings)` after each change. First get `tokens` under the cap: what is left "
            "apart from the summary?",
            "Then look at `missing`: it names kinds of facts. The writer knows the usual words for them: rules, files, "
            "lessons, errors.",
            "Keep 2 messages, give the summary 300 tokens, and ask for the user's rules, the files that are done, the "
            "lessons that were learned, and the errors.",
        ),
    ),
)

QUESTIONS: tuple[Question, ...] = (
    Question(
        id="07.a",
        text="A summary call fails for the third time. What does the model see in its next request?",
        right=0,
        options=(
            Option(
                "The history as it was.", "Right. What failed changes nothing; what to do about it is another matter."
            ),
            Option("A note that the summary failed.", "Then a note would stand where the whole past has been."),
            Option(
                "The last messages only.",
                "That is truncation. A caller may decide on it, but a failed summary does not do it by itself.",
            ),
        ),
    ),
    Question(
        id="07.b",
        text="Why are the user's requests copied by rules, when the prompt asks for them word for word?",
        right=1,
        options=(
            Option(
                "It saves tokens in the summary.", "It costs some: the requests often stand in the summary as well."
            ),
            Option(
                "A model may not heed the prompt.",
                "Right. What can be done by a rule need not be hoped for, and a lost order is the dearest loss.",
            ),
            Option(
                "Models are not able to copy a text word for word.",
                "They are, most of the time. That is just it: most of the time.",
            ),
        ),
    ),
    Question(
        id="07.c",
        text="A session was compacted twice, then its process was killed. What does a resume rebuild?",
        right=2,
        options=(
            Option(
                "Every message in the log, in the order in which it was appended.",
                "That undoes both compactions, and the first request may be too long.",
            ),
            Option(
                "The snapshot from before the second compaction.",
                "A snapshot is there to be looked at. It is what was made shorter.",
            ),
            Option(
                "The newest boundary's view, and all after it.",
                "Right. The boundary says which messages the agent saw from there on; later ones follow it.",
            ),
        ),
    ),
)
