"""02.1 assemble: sections in order, what is missing named, what is unknown refused."""

from hypothesis import given
from hypothesis import strategies as st

from course_lib.checks.expectations import Mistake, expect, expect_raises, expect_value

ORDER = ("identity", "environment", "recovery")


def test_all_sections_in_order(answer):
    """Sections come out in the order that is asked for, whatever order they are given in."""
    texts = {"recovery": "Read errors.", "identity": "You work in a loop.", "environment": "No shell."}
    right = "# identity\n\nYou work in a loop.\n\n# environment\n\nNo shell.\n\n# recovery\n\nRead errors."
    given_order = "# recovery\n\nRead errors.\n\n# identity\n\nYou work in a loop.\n\n# environment\n\nNo shell."
    mistakes = (
        Mistake((given_order, ()), "The sections came in the order of `texts`. `order` decides."),
        Mistake(lambda got: isinstance(got, str), "Return two things: the text, and the tuple of missing names."),
        Mistake((right, []), "The missing names are a list here; make it a tuple."),
        Mistake(lambda got: got[0] == right + "\n\n", "There is an empty line too much at the end: join the pieces."),
    )
    expect(answer, texts, ORDER, returns=(right, ()), mistakes=mistakes)


def test_a_section_that_is_absent(answer):
    """A section without a text is left out, and named."""
    texts = {"identity": "You work in a loop.", "recovery": "Read errors."}
    right = "# identity\n\nYou work in a loop.\n\n# recovery\n\nRead errors."
    mistakes = (
        Mistake(KeyError, "A section that is not in `texts` is no error: it is missing. `texts.get(name)` helps."),
        Mistake((right, ()), "It was left out, but not named: add it to the missing ones."),
        Mistake(lambda got: "# environment" in got[0], "The heading of the missing section stayed behind."),
    )
    expect(answer, texts, ORDER, returns=(right, ("environment",)), mistakes=mistakes)


def test_texts_with_nothing_in_them(answer):
    """None, an empty text and one of blanks only are all missing."""
    mistakes = (
        Mistake(
            lambda got: "\n\n \n" in got[0], "A text of nothing but blanks counts as empty: look at `text.strip()`."
        ),
        Mistake((AttributeError), "A text may be `None`. `(text or '')` makes it a string."),
        Mistake(lambda got: "None" in got[0], "A text may be `None`; here the word got into the prompt."),
        Mistake(lambda got: "environment" not in got[1], "An empty text is missing as much as an absent one: name it."),
    )
    texts = {"identity": None, "environment": "", "recovery": " \n\t "}
    expect(answer, texts, ORDER, returns=("", ORDER), mistakes=mistakes)


def test_blanks_around_a_text(answer):
    """Blanks at both ends of a text are taken off."""
    mistake = Mistake(lambda got: "loop.\n" in got[0], "Blanks at the ends of a text stayed: strip it.")
    texts = {"identity": "\n  You work in a loop.\n\n"}
    expect(answer, texts, ("identity",), returns=("# identity\n\nYou work in a loop.", ()), mistakes=(mistake,))


def test_a_section_that_order_does_not_know(answer):
    """A name that is not in the order is refused, and not silently dropped."""
    mistake = Mistake(
        lambda _: True, "`identiti` was silently dropped. A misspelt section must be an error, or nobody will notice."
    )
    error = expect_raises(answer, {"identiti": "You."}, ORDER, raises=ValueError, mistakes=(mistake,))
    expect_value(str(error), holds=lambda text: "identiti" in text, says="an error that names the section")


texts = st.dictionaries(st.sampled_from("abcde"), st.one_of(st.none(), st.sampled_from(["", " ", "x", "two\n\nparts"])))


@given(texts, st.permutations("abcde"))
def test_any_sections(answer, given_texts, order):
    """Sections of all kinds, in any order."""
    there = [name for name in order if (given_texts.get(name) or "").strip()]
    text = "\n\n".join(f"# {name}\n\n{given_texts[name].strip()}" for name in there)
    expect(answer, given_texts, tuple(order), returns=(text, tuple(n for n in order if n not in there)))
