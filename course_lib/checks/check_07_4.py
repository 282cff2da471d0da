"""07.4 appended: every line a record, whatever the last writer left."""

import json

from hypothesis import given
from hypothesis import strategies as st

from course_lib.checks.expectations import Mistake, expect_that

ONE, TWO, NEW = ({"n": n, "text": text} for n, text in ((1, "one"), (2, "zwei – 二"), (3, "new")))


def line(record):
    """Return a record as a line of the log, with its end."""
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def records(content):
    """Return the records of a log; ValueError where a line is none."""
    assert content.endswith(b"\n")
    return [json.loads(one) for one in content.split(b"\n")[:-1]]


GLUED = Mistake(
    lambda got: got.count(b"\n") < 2 or b'}{"n"' in got.replace(b" ", b"") or not _reads(got.split(b"\n")[-2]),
    "The new record was glued to what stood there without a line end: two records in one line, and none can be read.",
)
SEALED = Mistake(
    lambda got: not all(map(_reads, got.split(b"\n")[:-1])),
    "The half record got a line end and stays in the log for good: every reader has to cope with it. Take it out.",
)


def _reads(text):
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def expect_records(answer, content, wanted, mistakes=(GLUED, SEALED)):
    """Expect just these records in the new content, a line each."""
    expect_that(
        answer,
        content,
        NEW,
        holds=lambda got: isinstance(got, bytes) and records(got) == wanted,
        says=f"a log with {len(wanted)} records, each in a line of its own",
        mistakes=mistakes,
    )


def test_a_sound_log(answer):
    """Behind whole lines, and in an empty log, a line is added."""
    expect_records(answer, b"", [NEW])
    expect_records(answer, line(ONE) + line(TWO), [ONE, TWO, NEW])


def test_a_torn_last_line(answer):
    """Half a record at the end goes; those before it, and the new one, are there."""
    torn = line(ONE) + line(TWO)[:9]
    gone = Mistake(lambda got: ONE not in records(got), "A record that was whole is gone: only the torn line may go.")
    expect_records(answer, torn, [ONE, NEW], mistakes=(GLUED, SEALED, gone))
    expect_records(answer, line(ONE) + b"{", [ONE, NEW])
    expect_records(answer, line(ONE)[:5], [NEW])


def test_torn_within_a_character(answer):
    """A kill does not care for characters: the torn line may end in half of one."""
    whole = line(TWO)
    half = whole[: whole.index("二".encode()) + 1]
    decoded = Mistake(
        UnicodeDecodeError, "The torn line ends within a character and cannot be decoded. json.loads takes bytes, too."
    )
    expect_records(answer, line(ONE) + half, [ONE, NEW], mistakes=(decoded, GLUED, SEALED))


def test_a_whole_record_without_its_line_end(answer):
    """A last line that is whole and lacks only its end is a record like any other."""
    lost = Mistake(
        lambda got: TWO not in records(got),
        "The last record was whole, only its line end was missing, and now it is gone. Is it a record? Then it stays.",
    )
    expect_records(answer, line(ONE) + line(TWO)[:-1], [ONE, TWO, NEW], mistakes=(GLUED, lost))


def test_what_stood_before_is_untouched(answer):
    """Not one byte of the whole lines changes, odd spacing and all."""
    odd = b'{ "n":1 , "text" : "\\u00e9" }\n'
    rewritten = Mistake(lambda got: not got.startswith(odd), "The whole lines were rewritten: leave every byte.")
    expect_that(
        answer,
        odd + b'{"n": 2',
        NEW,
        holds=lambda got: got.startswith(odd) and len(records(got)) == 2,
        says="the whole lines byte for byte, then the new one",
        mistakes=(GLUED, rewritten, SEALED),
    )


@given(st.lists(st.text(max_size=9), min_size=1, max_size=4), st.integers(0, 60))
def test_wherever_it_was_torn(answer, texts, cut):
    """Fifty logs, torn anywhere: what was whole is there, and the new record."""
    written = [{"n": n, "text": text} for n, text in enumerate(texts)]
    content = b"".join(map(line, written))
    content = content[: max(0, len(content) - cut)]
    whole = [json.loads(one) for one in content.split(b"\n") if _reads(one)]
    expect_records(answer, content, [*whole, NEW])
