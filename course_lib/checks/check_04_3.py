"""04.3 merge_records: pieces of one message are one message, billed once."""

from course_lib.checks.expectations import Mistake, expect, expect_that


def piece(id_, block, output=10):
    """Return a record with one block of an answer."""
    usage = {"input_tokens": 500, "output_tokens": output}
    return {"type": "assistant", "message": {"id": id_, "role": "assistant", "content": [block], "usage": usage}}


def text(words):
    """Return a text block."""
    return {"type": "text", "text": words}


def call(id_):
    """Return a call."""
    return {"type": "tool_use", "id": id_, "name": "read_file", "input": {}}


def outcome(id_):
    """Return a result block."""
    return {"type": "tool_result", "tool_use_id": id_, "content": "text"}


def result(id_):
    """Return a record with one result."""
    return {"type": "user", "message": {"role": "user", "content": [outcome(id_)]}}


def typed(words):
    """Return a record with what a person typed."""
    return {"type": "user", "message": {"role": "user", "content": words}}


def said(*blocks, output=10):
    """Return a merged answer."""
    usage = {"input_tokens": 500, "output_tokens": output}
    return {"role": "assistant", "content": list(blocks), "usage": usage}


def heard(content):
    """Return a merged user message."""
    return {"role": "user", "content": content}


def test_an_empty_log(answer):
    """No records, no messages."""
    expect(answer, [], returns=[])


def test_plain_messages_stay_as_they_are(answer):
    """A question and an answer in one piece."""
    expect(answer, [typed("hi"), piece("m1", text("hello"))], returns=[heard("hi"), said(text("hello"))])


def test_pieces_become_one_message(answer):
    """Three records with one message id are one message with three blocks, in order."""
    records = [typed("go"), piece("m1", text("I look.")), piece("m1", call("a")), piece("m1", call("b"))]
    split = Mistake(lambda got: len(got) == 4, "Each piece became a message of its own: look at the ids.")
    last = Mistake(lambda got: len(got) == 2 and len(got[1]["content"]) == 1, "Only one piece was kept.")
    expect(answer, records, returns=[heard("go"), said(text("I look."), call("a"), call("b"))], mistakes=(split, last))


def test_the_last_usage_counts(answer):
    """The pieces repeat the usage, and only the last one knows how long the answer became."""
    records = [piece("m1", text("a"), 1), piece("m1", text("b"), 7), piece("m1", text("c"), 42)]
    mistakes = (
        Mistake(
            lambda got: got[0]["usage"]["output_tokens"] == 1,
            "That is the first piece's usage: take the last one's.",
        ),
        Mistake(
            lambda got: got[0]["usage"]["output_tokens"] == 50 or got[0]["usage"]["input_tokens"] > 500,
            "The usages were added up. They all speak of the same call, which is billed once.",
        ),
    )
    expect(answer, records, returns=[said(text("a"), text("b"), text("c"), output=42)], mistakes=mistakes)


def test_results_between_the_pieces_are_collected_behind(answer):
    """With parallel calls, results are written between the pieces: one answer, then one message with all results."""
    records = [piece("m1", call("a")), result("a"), piece("m1", call("b")), result("b"), piece("m2", text("done"))]
    mistakes = (
        Mistake(
            lambda got: len(got) == 5,
            "The second piece began a new message, because a result stood before it. "
            "Look for the id, not for the record before.",
        ),
        Mistake(
            lambda got: [m["role"] for m in got] == ["assistant", "user", "user", "assistant"],
            "Each result became a message of its own. All results of one answer are one user message.",
        ),
        Mistake(lambda got: len(got) == 2, "The results are gone: they belong into a user message behind the answer."),
    )
    merged = [said(call("a"), call("b")), heard([outcome("a"), outcome("b")]), said(text("done"))]
    expect(answer, records, returns=merged, mistakes=mistakes)


def test_results_of_two_answers_stay_apart(answer):
    """A new answer begins a new message with results."""
    records = [piece("m1", call("a")), result("a"), piece("m2", call("b")), result("b")]
    mistake = Mistake(
        lambda got: len(got) == 3 or any(len(m["content"]) == 2 for m in got),
        "Results of different answers came into one message. A new answer ends the collection.",
    )
    merged = [said(call("a")), heard([outcome("a")]), said(call("b")), heard([outcome("b")])]
    expect(answer, records, returns=merged, mistakes=(mistake,))


def test_a_person_in_between(answer):
    """What somebody types is a message of its own, also right behind results."""
    records = [piece("m1", call("a")), result("a"), typed("stop"), piece("m2", text("I stop."))]
    merged = [said(call("a")), heard([outcome("a")]), heard("stop"), said(text("I stop."))]
    expect(answer, records, returns=merged)


def test_the_bill_of_a_long_log(answer):
    """Forty answers in up to five pieces: each is billed once."""
    records, total = [], 0
    for number in range(40):
        pieces = 1 + number % 5
        for index in range(pieces):
            records += [piece(f"m{number}", call(f"c{number}.{index}"), index + 1), result(f"c{number}.{index}")]
        total += 500 + pieces
    expect_that(
        answer,
        records,
        holds=lambda got: sum(sum(m["usage"].values()) for m in got if m["role"] == "assistant") == total,
        says=f"answers whose usages add up to {total:,} tokens, each billed once",
    )
