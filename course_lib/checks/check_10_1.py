"""10.1 is_too_long: five shapes of one refusal, and what only sounds like it."""

import pytest

from course_lib.checks.expectations import Mistake, expect


def anthropic(message, kind="invalid_request_error"):
    """Return a body as Anthropic sends it."""
    return {"type": "error", "error": {"type": kind, "message": message}}


def openai(message, code=None, kind="invalid_request_error"):
    """Return a body as OpenAI sends it."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


NO_RECORD = (
    Mistake(AttributeError, "The body, and the error in it, is not always a dictionary: it may be a text, or nothing."),
    Mistake(TypeError, "The body, and the error in it, is not always a dictionary: it may be a text, or nothing."),
)
WORDS = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."
FLAT = {"object": "error", "message": WORDS, "type": "BadRequestError", "code": 400}
LLAMA = {"error": {"code": 400, "message": "(no words)", "type": "exceed_context_size_error", "n_ctx": 8192}}
RATE = "Request too large on tokens per min (TPM): Limit 30000, Requested 41000. prompt is too long: try later"


@pytest.mark.parametrize(
    ("status", "body", "cause"),
    [
        (413, "<html>Request Entity Too Large</html>", "The body may be any text here. Status 413 is enough."),
        (413, None, "There is no body at all. Status 413 is enough."),
        (400, openai("(no words)", "context_length_exceeded"), "The words say nothing, but the `code` does."),
        (400, LLAMA, "The words say nothing, but the `type` does."),
        (
            200,
            openai("(no words)", "context_length_exceeded"),
            "Inside a stream the status is 200. The `code` decides.",
        ),
        (400, anthropic("prompt is too long: 205000 tokens > 200000 maximum"), "The words are those of Anthropic."),
        (400, FLAT, 'There is no "error" around this one: the body is the error itself.'),
        (400, {"error": "prompt too long; exceeded max context length by 9 tokens"}, "The error is a text, no dict."),
        (400, openai(f"Error from the server behind: {WORDS}"), "The words may stand anywhere in the message."),
    ],
)
def test_too_long(answer, status, body, cause):
    """Each of the five shapes, in all the ways that it can be wrapped."""
    expect(answer, status, body, returns=True, mistakes=(Mistake(False, cause), *NO_RECORD))


@pytest.mark.parametrize(
    ("status", "body", "cause"),
    [
        (429, openai(RATE, "rate_limit_exceeded", "tokens"), "A rate limit (429) is no overflow: waiting helps."),
        (
            400,
            anthropic("max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens"),
            "This is about the longest answer. A shorter conversation does not help.",
        ),
        (
            400,
            openai(
                "Invalid 'tools[0].description': string too long. Expected at most 1024.", "string_above_max_length"
            ),
            "A description is too long here, not the conversation.",
        ),
        (401, anthropic("invalid x-api-key", "authentication_error"), "A wrong key is another story."),
        (503, "<html>prompt service down</html>", "The server is down. Not every text is about length."),
        (529, None, "There is nothing that says so."),
        (400, {}, "There is nothing that says so."),
        (400, {"error": None}, "There is nothing that says so."),
    ],
)
def test_something_else(answer, status, body, cause):
    """Refusals that a shorter conversation does not mend."""
    expect(answer, status, body, returns=False, mistakes=(Mistake(True, cause), *NO_RECORD))
