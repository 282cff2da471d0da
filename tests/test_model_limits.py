"""How much a model holds: the dated table, the settings that use it, and the provider's own word."""

import json
import re
from datetime import date

import httpx2
import pytest

from course_lib.environment.doctor import probe_settings
from course_lib.providers.model_limits import TABLE, limits_of, look_up_limits, table_limits
from course_lib.providers.settings import ProviderSettings, settings_from_environment

ROWS = json.loads(TABLE.read_text(encoding="utf-8"))
SECRET = "plain-0123456789-do-not-show"


def settings_of(model, **variables):
    """The settings for a model of Anthropic's."""
    environ = {"COURSE_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": SECRET, "COURSE_MODEL": model}
    return settings_from_environment({**environ, **variables})


def test_the_table_is_dated_and_makes_sense():
    """A day, a default, and rows that are all different, with an answer that is smaller than the window."""
    assert date.fromisoformat(ROWS["as_of"]) >= date(2026, 11, 1)
    prefixes = [row["prefix"] for row in ROWS["models"]]
    assert len(set(prefixes)) == len(prefixes) > 20
    for row in (*ROWS["models"], ROWS["default"]):
        assert 0 < row["max_output_tokens"] < row["context_tokens"], row


@pytest.mark.parametrize("row", ROWS["models"], ids=lambda row: row["prefix"])
def test_every_row_is_found_by_its_name_and_by_a_dated_one(row):
    """Exactly, with a date behind it, in capitals, and behind a router's prefix."""
    for name in (row["prefix"], f"{row['prefix']}-20261130", row["prefix"].upper(), f"vendor/{row['prefix']}"):
        limits = table_limits(name)
        assert (limits.context_tokens, limits.max_output_tokens) == (row["context_tokens"], row["max_output_tokens"])
        assert limits.source == "table"
        assert ROWS["as_of"] in limits.note


@pytest.mark.parametrize("row", ROWS["models"], ids=lambda row: row["prefix"])
def test_a_newer_number_is_another_model(row):
    """What goes on with a digit, a letter or a dot has no row: better the default than a wrong window."""
    longer = {other["prefix"] for other in ROWS["models"]}
    for rest in ("9", ".9", "x"):
        if not any((row["prefix"] + rest).startswith(prefix + "-") for prefix in longer):
            assert table_limits(row["prefix"] + rest).source == "default"


@pytest.mark.parametrize("model", ["", "some-model", "gpt", "claude", "vendor/", "模型"])
def test_an_unknown_model_gets_a_default_that_says_so(model):
    """The note names the model, the day of the table, the number, and the way out."""
    limits = table_limits(model)
    assert (limits.context_tokens, limits.source) == (ROWS["default"]["context_tokens"], "default")
    words = f"{model!r} is not in the table of {ROWS['as_of']}: 128,000 tokens are assumed; set COURSE_WINDOW_TOKENS"
    assert words in limits.note


def test_the_default_is_not_larger_than_a_current_window():
    """It is on the safe side of every row."""
    assert ROWS["default"]["context_tokens"] <= min(row["context_tokens"] for row in ROWS["models"])
    assert ROWS["default"]["context_tokens"] == ProviderSettings.window_tokens


def test_the_settings_take_the_window_from_the_table():
    """And the variable is stronger."""
    row = max(ROWS["models"], key=lambda row: row["context_tokens"])
    assert settings_of(row["prefix"]).window_tokens == row["context_tokens"] > ProviderSettings.window_tokens
    assert settings_of(row["prefix"], COURSE_WINDOW_TOKENS="50000").window_tokens == 50_000
    assert settings_of("some-model").window_tokens == ROWS["default"]["context_tokens"]


def test_a_server_with_a_known_window_uses_the_table_too():
    """A hosted server's models stand in it; one that was started by hand must be asked for its window."""
    environ = {"COURSE_PROVIDER": "deepseek", "COURSE_API_KEY": SECRET, "COURSE_MODEL": "deepseek-v4-pro"}
    assert settings_from_environment(environ).window_tokens == table_limits("deepseek-v4-pro").context_tokens > 500_000


def test_the_settings_say_where_the_window_comes_from():
    """The table, the default, the variable, or nobody: the offline model holds what it is told."""
    assert limits_of(settings_of("claude-opus-5")).source == "table"
    assert "are assumed" in limits_of(settings_of("some-model")).note
    given = limits_of(settings_of("some-model", COURSE_WINDOW_TOKENS="50000"))
    assert (given.source, given.context_tokens, given.note) == (
        "settings",
        50_000,
        "'some-model' holds 50,000 tokens, as set",
    )
    assert limits_of(ProviderSettings()).note == "the offline model holds what it is told to hold"


def test_the_doctor_says_what_is_assumed():
    """Nobody has to read the table to learn that a model is not in it."""
    environ = {"COURSE_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": SECRET, "COURSE_MODEL": "some-model"}
    finding = probe_settings(environ)
    assert finding.ok
    assert "128,000 tokens are assumed" in finding.what
    assert probe_settings({}).what == "model: the settings are fine"


def answering(status, body, seen=None):
    """An HTTP client that answers every request so."""

    def handler(request):
        if seen is not None:
            seen.append(request)
        return httpx2.Response(status, json=body)

    return httpx2.Client(transport=httpx2.MockTransport(handler))


def model_info(**more):
    """What Anthropic's Models API says of a model."""
    said = {"id": "some-model", "type": "model", "display_name": "Some", "created_at": "2026-11-01T00:00:00Z"}
    return {**said, "lifecycle": "active", "max_input_tokens": 345_000, "max_tokens": 64_000, **more}


def test_the_provider_is_asked_for_this_model():
    """Its word is taken, and the note says whose it is."""
    seen = []
    limits = look_up_limits(settings_of("some-model"), http_client=answering(200, model_info(), seen))
    assert [(request.method, request.url.path) for request in seen] == [("GET", "/v1/models/some-model")]
    assert (limits.context_tokens, limits.max_output_tokens, limits.source) == (345_000, 64_000, "provider")
    assert limits.note == "'some-model' holds 345,000 tokens, says the provider"


def test_a_provider_that_says_only_the_window_is_enough():
    """The longest answer is then the settings' own."""
    limits = look_up_limits(settings_of("some-model"), http_client=answering(200, model_info(max_tokens=None)))
    assert (limits.context_tokens, limits.max_output_tokens) == (345_000, 8_192)


@pytest.mark.parametrize("said", [None, "many", 0, -5, True, 1.5, [200_000]], ids=str)
def test_an_answer_without_a_window_falls_back_to_the_table(said):
    """Null, words and nonsense are no window."""
    limits = look_up_limits(settings_of("claude-opus-5"), http_client=answering(200, model_info(max_input_tokens=said)))
    assert limits.context_tokens == table_limits("claude-opus-5").context_tokens
    assert "(the provider was asked: it did not say)" in limits.note


@pytest.mark.parametrize(
    ("status", "kind", "name"),
    [
        (404, "not_found_error", "InvalidRequestError"),
        (401, "authentication_error", "AuthenticationError"),
        (400, "invalid_request_error", "InvalidRequestError"),
    ],
)
def test_a_refusal_falls_back_and_says_why(status, kind, name):
    """The table's number, the refusal's name and words, and never the key."""
    body = {"type": "error", "error": {"type": kind, "message": f"no such thing {SECRET}"}}
    limits = look_up_limits(settings_of("some-model"), http_client=answering(status, body))
    assert limits.source == "default"
    assert f"(the provider was asked: {name}: " in limits.note
    assert SECRET not in limits.note


def test_no_connection_falls_back_too():
    """Without a network the table has to do."""

    def unreachable(request):
        raise httpx2.ConnectError("refused", request=request)

    client = httpx2.Client(transport=httpx2.MockTransport(unreachable))
    limits = look_up_limits(settings_of("claude-opus-5", COURSE_MAX_RETRIES="0"), http_client=client)
    assert limits.source == "table"
    assert re.search(r"the provider was asked: ConnectionFailedError", limits.note)


@pytest.mark.parametrize(
    "settings",
    [
        ProviderSettings(),
        ProviderSettings(provider="anthropic", model="some-model"),
        ProviderSettings(provider="openai", model="some-model", api_key=SECRET),
    ],
    ids=["offline", "no key", "openai"],
)
def test_nobody_is_asked_without_a_key_or_where_nobody_answers(settings):
    """The offline model, a client without a key, and an API that does not tell."""
    seen = []
    assert look_up_limits(settings, http_client=answering(200, model_info(), seen)) == limits_of(settings)
    assert seen == []
