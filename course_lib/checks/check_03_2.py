"""03.2 record_chars: everything that a message in OpenAI's shape sends as text."""

import json

from course_lib.checks.expectations import Mistake, expect


def call(name, **arguments):
    """Return a tool call as OpenAI writes it."""
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def size(*calls):
    """The characters of the names and arguments of the calls."""
    return sum(len(one["function"]["name"]) + len(one["function"]["arguments"]) for one in calls)


def test_a_text(answer):
    """A message that only says something."""
    expect(answer, {"role": "user", "content": "How far is it?"}, returns=14)


def test_the_arguments_of_a_call(answer):
    """Name and arguments stand one level down, in "function"."""
    one = call("write_file", path="a.txt", text="a line\n" * 30)
    name_only = Mistake(len("write_file"), "Only the name of the call is counted; its arguments are most of it.")
    arguments_only = Mistake(size(one) - len("write_file"), "The arguments are counted; the name of the call is not.")
    nothing = Mistake(0, 'Look at a record: name and arguments are in the call\'s "function", one level down.')
    record = {"role": "assistant", "content": None, "tool_calls": [one]}
    expect(answer, record, returns=size(one), mistakes=(nothing, name_only, arguments_only))


def test_text_and_several_calls(answer):
    """What is said and every call of a batch count together."""
    calls = [call("grep", pattern="TODO"), call("ls", path="src")]
    first = Mistake(7 + size(calls[0]), "Only the first call of the batch is counted.")
    last = Mistake(7 + size(calls[1]), "Only the last call of the batch is counted.")
    no_text = Mistake(size(*calls), "The calls are counted; what the message says beside them is not.")
    record = {"role": "assistant", "content": "I look.", "tool_calls": calls}
    expect(answer, record, returns=7 + size(*calls), mistakes=(first, last, no_text))


def test_content_in_parts(answer):
    """A content may be a list of parts, each with its text; a part without a text counts nothing here."""
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    parts = [{"type": "text", "text": "What is this?"}, image, {"type": "text", "text": "And this?"}]
    number = Mistake(len(parts), "`len` of a list is the number of its parts, not of its characters.")
    nothing = Mistake(0, "A content that is a list of parts counts as nothing.")
    expect(answer, {"role": "user", "content": parts}, returns=22, mistakes=(number, nothing))


def test_a_result(answer):
    """A tool's result is a message of its own, and its text is its content."""
    expect(answer, {"role": "tool", "tool_call_id": "c1", "content": "x" * 500}, returns=500)


def test_nothing_at_all(answer):
    """Null where a list or a text could be, and keys that are missing, are no characters and no error."""
    crashed = Mistake(TypeError, "A key may be there with the value None: `.get(key, default)` then gives None.")
    expect(answer, {"role": "assistant", "content": None, "tool_calls": None}, returns=0, mistakes=(crashed,))
    expect(answer, {"role": "assistant"}, returns=0)
