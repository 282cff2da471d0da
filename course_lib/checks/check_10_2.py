"""10.2 share_out: the newest files, the skills, and four caps that each bind somewhere."""

from hypothesis import given
from hypothesis import strategies as st

from course_lib.checks.expectations import Mistake, expect, expect_that
from course_lib.restore import RestoreLimits

LIMITS = RestoreLimits(max_files=3, max_file_tokens=100, max_skills_tokens=150, max_tokens=400)


def test_everything_fits(answer):
    """Where no cap binds, everything comes back whole."""
    expect(answer, [("a", 40), ("b", 60)], [("s", 50)], LIMITS, returns={"a": 40, "b": 60, "s": 50})


def test_too_many_files(answer):
    """Only the newest files come back, and their number is a limit of its own."""
    files = [("a", 10), ("b", 10), ("c", 10), ("d", 10)]
    oldest = Mistake(lambda got: "a" not in got, "The newest come first in the list, and they are the ones to keep.")
    expect(answer, files, [], LIMITS, returns={"a": 10, "b": 10, "c": 10}, mistakes=(oldest,))


def test_files_that_are_still_shown(answer):
    """A file that the history still shows gets nothing, and takes no place."""
    files = [("a", 10), ("b", 10), ("c", 10), ("d", 10), ("e", 10)]
    mistakes = (
        Mistake(lambda got: "b" in got, "`b` is still in the history. It need not be sent twice."),
        Mistake({"a": 10, "c": 10}, "A file that is still shown took one of the three places. Leave it out first."),
    )
    expect(answer, files, [], LIMITS, {"b"}, returns={"a": 10, "c": 10, "d": 10}, mistakes=mistakes)


def test_a_long_file(answer):
    """A long file is cut to its cap."""
    whole = Mistake(lambda got: got.get("a") == 250, "`a` came back with more than `max_file_tokens`.")
    gone = Mistake(lambda got: "a" not in got, "A file that is too long is cut, not left out.")
    expect(answer, [("a", 250), ("b", 10)], [], LIMITS, returns={"a": 100, "b": 10}, mistakes=(whole, gone))


def test_skills_together(answer):
    """Their cap is for all skills together, not for each."""
    each = Mistake(
        lambda got: got.get("s") == 100 and got.get("t") == 100,
        "The cap of the skills is for all of them together. Each skill takes a part of it.",
    )
    expect(answer, [], [("s", 100), ("t", 100), ("u", 9)], LIMITS, returns={"s": 100, "t": 50}, mistakes=(each,))


def test_the_joint_cap(answer):
    """Files and skills within their own caps can still be too much together."""
    files, skills = [("a", 100), ("b", 100), ("c", 90)], [("s", 70), ("t", 70)]
    mistakes = (
        Mistake(lambda got: sum(got.values()) > 400, "All of it together is more than `max_tokens`."),
        Mistake(lambda got: "t" not in got, "There is room left for a part of the last skill."),
    )
    expect(answer, files, skills, LIMITS, returns={"a": 100, "b": 100, "c": 90, "s": 70, "t": 40}, mistakes=mistakes)


def test_a_joint_cap_that_the_files_use_up(answer):
    """The joint cap may bind among the files already; who gets nothing is not in the answer."""
    tight = RestoreLimits(max_files=3, max_file_tokens=100, max_skills_tokens=150, max_tokens=150)
    mistakes = (
        Mistake(lambda got: 0 in got.values(), "Who gets 0 tokens does not come back: leave the name out."),
        Mistake(lambda got: min(got.values()) < 0, "There is less than nothing left for somebody."),
        Mistake(lambda got: sum(got.values()) > 150, "The files alone are more than `max_tokens`."),
    )
    expect(
        answer,
        [("a", 90), ("b", 90), ("c", 90)],
        [("s", 40)],
        tight,
        returns={"a": 90, "b": 60},
        mistakes=mistakes,
    )


SIZES = st.lists(st.integers(1, 60), max_size=6)


@given(SIZES, SIZES, st.builds(RestoreLimits, **dict.fromkeys(vars(LIMITS), st.integers(0, 90))))
def test_whatever_the_sizes(answer, files, skills, limits):
    """Fifty sessions: no cap is broken, and nobody goes away empty while there is room."""
    named = [(f"f{n}", size) for n, size in enumerate(files)]
    loaded = [(f"s{n}", size) for n, size in enumerate(skills)]

    def holds(got):
        of_files = [got.get(name, 0) for name, _ in named]
        of_skills = [got.get(name, 0) for name, _ in loaded]
        wanted = sum(min(size, limits.max_file_tokens) for size in files[: limits.max_files])
        right_files = min(wanted, limits.max_tokens)
        right_skills = min(sum(skills), limits.max_skills_tokens, limits.max_tokens - right_files)
        return (
            sum(of_files) == right_files
            and sum(of_skills) == right_skills
            and max(of_files, default=0) <= limits.max_file_tokens
            and all(got.values())
        )

    expect_that(
        answer, named, loaded, limits, holds=holds, says="every cap kept, and all the room used that the caps leave"
    )
