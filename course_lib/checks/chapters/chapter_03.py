"""Chapter 03's exercises and questions."""

from course_lib.checks.exercise import Exercise, Option, Question

__all__ = ["EXERCISES", "QUESTIONS"]

EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        id="03.1",
        title="An estimator by classes",
        kind="implement",
        minutes=20,
        answer_name="estimate",
        hints=(
            "Cut the text into pieces with one regular expression, and give each class of pieces a price. Start with "
            "words, digits, blanks and everything else.",
            "Let `re.finditer` run over alternatives with names: `(?P<number>[0-9]{1,3})|(?P<word> ?[A-Za-z]+)|…`; "
            "`match.lastgroup` says which one it was. A run of blanks is one token, a run of signs about one, three "
            "digits one, a word one, a Chinese character 0.8.",
            "What is still too low are long random runs: put `(?P<random>[A-Za-z0-9+/]{20,})` in front, if they hold "
            "capitals, small letters and digits, at 0.7 tokens a character. A kana or a Hangul syllable is about 0.7, "
            "any other character 1.5.",
        ),
    ),
    Exercise(
        id="03.2",
        title="Arguments that cost nothing",
        kind="fix",
        minutes=10,
        answer_name="record_chars",
        hints=(
            "Print `to_openai([...])` for a message with a call, and look where its arguments are.",
            'A call is `{"id": …, "type": "function", "function": {"name": …, "arguments": …}}`: one level deeper than '
            "the code looks. And a content may be None, a text, or a list of parts.",
            '`function = call["function"]`, then the lengths of `function["name"]` and `function["arguments"]`. For a '
            'list: `sum(len(part.get("text", "")) for part in content)`.',
        ),
    ),
    Exercise(
        id="03.3",
        title="Counted twice",
        kind="fix",
        minutes=8,
        answer_name="window_tokens",
        hints=(
            "Add up OpenAI's usage by hand: 10,000 prompt tokens, of which 9,000 came from the cache. How many are in "
            "the window?",
            "Anthropic's buckets are disjoint, so all are added. OpenAI's details only *name* a part of the count.",
            "Take `details` out of the sum altogether; only `cache_read_input_tokens` is a bucket of its own.",
        ),
    ),
    Exercise(
        id="03.4",
        title="A count that survives an edit",
        kind="implement",
        minutes=15,
        answer_name="count_after_edit",
        hints=(
            "First find how far both histories are the same: message by message, by identity (`is`).",
            "If `before` and `after` differ at place `first`, a usage holds only in a message before `first`. When one "
            "of them just goes on longer, nothing differs, and all usages hold.",
            "Go backwards from `first - 1` to the last message with a usage, at place `i`. The answer is "
            "`usage.context_tokens + usage.output_tokens + estimate(after[i + 1:])`; without one, `estimate(after)`.",
        ),
    ),
    Exercise(
        id="03.5",
        title="Which is the longest?",
        kind="predict",
        minutes=5,
        answer_name="longest_text",
        hints=(
            "All have sixty characters. Which are made of pieces that a model met a million times?",
            "Estimate characters a token: a word about five, three digits at most three, a run of blanks all of it.",
            "In which of them is nearly every single character a piece of its own?",
        ),
    ),
)

QUESTIONS: tuple[Question, ...] = (
    Question(
        id="03.a",
        text="Why is tool output nearly always undercounted by characters / 4?",
        right=1,
        options=(
            Option(
                "It is long, so that the small errors of its many lines add up to a large one.",
                "The rule is off by a share, whatever the length.",
            ),
            Option(
                "Digits, signs and rare names have few characters a token.",
                "Right. Four characters a token is a statement about English prose.",
            ),
            Option(
                "Its framing is not counted.",
                "Framing is a few tokens a message; what is missing here is half of the text.",
            ),
        ),
    ),
    Question(
        id="03.b",
        text="An old tool result became a short note. The last answer has a usage of 40,000 tokens. What is true?",
        right=2,
        options=(
            Option(
                "The next request has about 40,000 tokens: that is what was billed.",
                "Billed for a conversation in which the old result still stood.",
            ),
            Option(
                "The usage is corrected by the provider before the next request.",
                "Nobody tells the provider; it learns of the edit when the next request comes.",
            ),
            Option(
                "The usage is stale: drop it, or subtract what the edit freed.",
                "Right. A usage is true of exactly the messages it measured.",
            ),
        ),
    ),
    Question(
        id="03.c",
        text="Your count may be 20 % too low. When may you still compact at 70 % of the limit?",
        right=0,
        options=(
            Option(
                "Whenever no single step is larger than what is left: 70 % seen are at most 88 % in truth.",
                "Right. 0.70 / 0.80 is 0.875; the rest is room for the step that comes before the next look.",
            ),
            Option(
                "Never: a count on which such a decision hangs has to be exact.",
                "Far from the limit it need not be. The experiment in the chapter survives at 70 % with such a count.",
            ),
            Option(
                "Always: 20 % is a small error, and 70 % is far from the limit.",
                "It is bearable at 70 %, and deadly at 90 %. It depends on the threshold and on the steps.",
            ),
        ),
    ),
)
