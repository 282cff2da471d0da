"""03.3 window_tokens: from a provider's usage to the tokens in the window, each once."""

from course_lib.checks.expectations import Mistake, expect

OPENAI = {"prompt_tokens": 10_000, "completion_tokens": 300, "prompt_tokens_details": {"cached_tokens": 9_000}}
RESPONSES = {"input_tokens": 10_000, "output_tokens": 300, "input_tokens_details": {"cached_tokens": 9_000}}
ANTHROPIC = {
    "input_tokens": 1_000,
    "output_tokens": 300,
    "cache_read_input_tokens": 8_000,
    "cache_creation_input_tokens": 500,
}
TWICE = "The cached tokens are counted twice: this provider's prompt count already includes them."
CHEAPER = "Cached tokens are cheaper, but they are in the window like all others."


def test_openai_chat(answer):
    """The prompt count includes the cached part."""
    expect(answer, OPENAI, returns=10_300, mistakes=(Mistake(19_300, TWICE), Mistake(1_300, CHEAPER)))


def test_openai_responses(answer):
    """The same for the Responses API, whose keys are named like Anthropic's."""
    expect(answer, RESPONSES, returns=10_300, mistakes=(Mistake(19_300, TWICE), Mistake(1_300, CHEAPER)))


def test_anthropic(answer):
    """Its buckets are disjoint: all of them are in the window."""
    mistakes = (
        Mistake(
            1_300, "Anthropic's input_tokens are only what no cache had. What was read from it is in the window too."
        ),
        Mistake(9_300, "What was written to the cache was read by the model as well: cache_creation_input_tokens."),
        Mistake(1_800, "What was read from the cache is in the window as well: cache_read_input_tokens."),
    )
    expect(answer, ANTHROPIC, returns=9_800, mistakes=mistakes)


def test_no_cache(answer):
    """Where nothing is cached, the keys may be missing, null, or zero."""
    crashed = Mistake(TypeError, "A key may be there with the value None.")
    none = {"cache_read_input_tokens": None, "cache_creation_input_tokens": None}
    expect(answer, {"input_tokens": 700, "output_tokens": 20, **none}, returns=720, mistakes=(crashed,))
    expect(answer, {"input_tokens": 700, "output_tokens": 20}, returns=720)
    expect(answer, {"prompt_tokens": 700, "completion_tokens": 20, "prompt_tokens_details": None}, returns=720)
    zero = {"prompt_tokens": 700, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 0}}
    expect(answer, zero, returns=720)


def test_reasoning_is_part_of_the_answer(answer):
    """The completion count includes the reasoning tokens, which the details only name."""
    usage = {**OPENAI, "completion_tokens_details": {"reasoning_tokens": 250}}
    twice = Mistake(10_550, "The reasoning tokens are counted twice: the completion count includes them.")
    expect(answer, usage, returns=10_300, mistakes=(twice, Mistake(19_300, TWICE)))


def test_everything_from_the_cache(answer):
    """A request that was read from the cache as a whole is as long as any other."""
    usage = {"input_tokens": 0, "output_tokens": 10, "cache_read_input_tokens": 5_000, "cache_creation_input_tokens": 0}
    expect(answer, usage, returns=5_010, mistakes=(Mistake(10, CHEAPER),))
