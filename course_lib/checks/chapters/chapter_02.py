"""Chapter 02's exercises and questions."""

from course_lib.checks.exercise import Exercise, Option, Question

__all__ = ["EXERCISES", "QUESTIONS"]

EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        id="02.1",
        title="Put the sections together",
        kind="implement",
        minutes=12,
        answer_name="assemble",
        hints=(
            "Go through `order`, not through `texts`: it says what comes when, and what could be missing.",
            "For each name there are two cases: a text with something in it, or none (absent, `None`, only blanks). "
            "The first goes to one list, the second to another. `(texts.get(name) or '').strip()` is the same for all.",
            "Before the loop: `unknown = set(texts) - set(order)`, and `raise ValueError` if there is one. After it, "
            "join the pieces `f'# {name}\\n\\n{text}'` with `'\\n\\n'`; return that and the tuple of missing names.",
        ),
    ),
    Exercise(
        id="02.2",
        title="No git, no agent",
        kind="fix",
        minutes=12,
        answer_name="describe_git",
        hints=(
            "Try it with each of `FakeGit(fails='missing')`, `FakeGit(fails='slow')`, "
            "`FakeGit(fails='not a git repository')` and `FakeGit(branch='')`. What comes out?",
            "Three kinds of exception, three `except` clauses, each returning a sentence. What is no trouble of git's "
            "must still be raised, so no bare `except`.",
            "`except FileNotFoundError: return 'Git is not installed.'`; the same for `subprocess.TimeoutExpired`. In "
            "`subprocess.CalledProcessError as error` look at `error.stderr`, and take its first line without "
            "`'fatal: '`. An empty branch is no error: say 'No branch is checked out.' instead of naming it.",
        ),
    ),
    Exercise(
        id="02.3",
        title="An order for the cache",
        kind="tune",
        minutes=10,
        answer_name="order",
        hints=(
            "Print `cached_tokens(order)` for the order you are given, then move `clock` to the end and print again.",
            "What changes often costs everything behind it. Sort by how often a part changes; where in that order may "
            "persistent memory stand, given the rule?",
            "First what never changes, then the date. Project memory changes more often than persistent memory, and "
            "must still come first. Then git's state, and the clock last of all.",
        ),
    ),
    Exercise(
        id="02.4",
        title="Memory before the rules",
        kind="fix",
        minutes=12,
        answer_name="memory_parts",
        hints=(
            "Call it with a text for each part, and look at where the remembered text ends up. Then with folders "
            "`a/b` and `a/bc`.",
            "`'a/bc'.startswith('a/b')` is true, but `a/b` does not contain `a/bc`. And a text of blanks is true.",
            "A folder counts if it is the working folder or `working_folder.startswith(folder + '/')`. Add the "
            "remembered text after the loop, and filter with `part.strip()`.",
        ),
    ),
    Exercise(
        id="02.5",
        title="What does a clock cost?",
        kind="predict",
        minutes=9,
        answer_name="resent_tokens",
        hints=(
            "How many tokens stand before the clock? So many come from the cache, in every request but the first.",
            "How many tokens do all 50 requests have together? It is the sum of chapter 01: 7,000, 7,400, 7,800 …",
            "All together: 50 × 7,000 + 400 × (1 + … + 49). From the cache: 49 × (4,000 + 1,000). Subtract.",
        ),
    ),
)

QUESTIONS: tuple[Question, ...] = (
    Question(
        id="02.a",
        text="Your agent must never delete a database. Where does that belong?",
        right=1,
        options=(
            Option(
                "In the constraints section of the system prompt, in capital letters.",
                "A sentence is a request, however loud. Most of the time it is followed.",
            ),
            Option(
                "In the tool, which refuses.",
                "Right. What must never happen belongs in code; a sentence in the prompt only saves refused calls.",
            ),
            Option(
                "In the project's memory file.",
                "That is a sentence as well, and anybody who can write to the project can change it.",
            ),
        ),
    ),
    Question(
        id="02.b",
        text="The system prompt ends with the time, to the minute, and is built anew for each request. What is lost?",
        right=2,
        options=(
            Option(
                "Nothing: the changing part stands last, behind all that stays the same.",
                "Last in the system prompt, but what comes behind that?",
            ),
            Option("The few tokens of the time.", "They change, too. But a cache ends at the first difference."),
            Option(
                "The whole conversation, which comes behind it.",
                "Right. Everything behind the first changed character is read anew.",
            ),
        ),
    ),
    Question(
        id="02.c",
        text="There is no CLAUDE.md in the project. What should the prompt say about it?",
        right=0,
        options=(
            Option(
                "That there is none, in one short sentence.",
                "Right. It costs a few tokens, and the model need not search or wonder.",
            ),
            Option("Nothing.", "Then a model cannot tell 'there are no rules' from 'the rules were not loaded'."),
            Option("It should not start: an error.", "Missing memory is the usual case. It may not end a session."),
        ),
    ),
)
