"""Which provider, which model, which key: read from the environment, checked, and never shown."""

import copy
import json
import logging
import pickle
import pprint
import subprocess
import sys
from dataclasses import asdict, replace

import pytest

from course_lib.errors import SettingsError
from course_lib.providers.anthropic_client import AnthropicClient
from course_lib.providers.openai_client import OpenAIClient
from course_lib.providers.settings import PRESETS, ApiKey, ProviderSettings, make_client, settings_from_environment

SECRET = "sk-ant-0123456789-do-not-show"


def settings_of(**variables):
    """The settings of an environment with these variables, and a model if none is named."""
    return settings_from_environment({"COURSE_MODEL": "some-model", **variables})


@pytest.mark.parametrize("environ", [{}, {"COURSE_PROVIDER": ""}, {"COURSE_PROVIDER": " Offline "}])
def test_without_settings_the_offline_model_is_chosen(environ):
    """No variable, an empty one and "offline" are the same: no model, no key, no address."""
    assert settings_from_environment(environ) == ProviderSettings()


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_a_provider_needs_a_model_and_its_own_key(name):
    """With model and key a provider is ready, at its own address."""
    variable = f"{name.upper()}_API_KEY"
    settings = settings_of(COURSE_PROVIDER=name, **{variable: SECRET + "\n"})
    assert (settings.provider, settings.model, settings.base_url) == (name, "some-model", "")
    assert settings.address.startswith(f"https://api.{name}.com")
    assert settings.api_key.reveal() == SECRET
    with pytest.raises(SettingsError, match=f"{variable} is not set: set it to your key"):
        settings_of(COURSE_PROVIDER=name, COURSE_API_KEY=SECRET)
    with pytest.raises(SettingsError, match="COURSE_MODEL is not set: set it to the name of a model"):
        settings_from_environment({"COURSE_PROVIDER": name, variable: SECRET})


@pytest.mark.parametrize("name", PRESETS)
def test_a_compatible_server_is_openai_with_another_address(name):
    """Each preset needs no address; a window is asked for where only its owner knows it, a key where one is needed."""
    given = {"COURSE_PROVIDER": name, "COURSE_API_KEY": SECRET, "COURSE_WINDOW_TOKENS": "16000"}
    settings = settings_of(**given)
    assert (settings.provider, settings.base_url) == ("openai", PRESETS[name].base_url)
    assert (settings.window_tokens, settings.max_output_tokens) == (16_000, 4_000)
    assert settings_of(**given, COURSE_BASE_URL="http://127.0.0.1:9/v1").base_url == "http://127.0.0.1:9/v1"
    for variable, is_needed in (
        ("COURSE_API_KEY", PRESETS[name].needs_key),
        ("COURSE_WINDOW_TOKENS", PRESETS[name].chosen_window),
    ):
        fewer = {key: value for key, value in given.items() if key != variable}
        if is_needed:
            with pytest.raises(SettingsError, match=f"{variable} is not set"):
                settings_of(**fewer)
        else:
            assert settings_of(**fewer).provider == "openai"


@pytest.mark.parametrize("name", ["openai", "anthropic", "ollama", "deepseek"])
def test_a_providers_key_goes_to_no_other_address(name):
    """A key for Anthropic or OpenAI is not sent to a server that only speaks like them."""
    environ = {"ANTHROPIC_API_KEY": SECRET, "OPENAI_API_KEY": SECRET, "COURSE_API_KEY": "other-key"}
    settings = settings_of(
        COURSE_PROVIDER=name, COURSE_BASE_URL="http://127.0.0.1:9", COURSE_WINDOW_TOKENS="9000", **environ
    )
    assert settings.api_key.reveal() == "other-key"


@pytest.mark.parametrize("name", ["openai", *PRESETS])
def test_local_servers_get_one_message_of_the_user_in_a_row(name):
    """Where the model's own chat template is applied, users are joined by default; the variable says otherwise."""
    environ = {
        "COURSE_PROVIDER": name,
        "COURSE_WINDOW_TOKENS": "9000",
        "COURSE_API_KEY": SECRET,
        "OPENAI_API_KEY": SECRET,
    }
    assert settings_of(**environ).join_users == (name in {"ollama", "llamacpp", "vllm"})
    assert settings_of(**environ, COURSE_JOIN_USERS="yes").join_users
    assert not settings_of(**environ, COURSE_JOIN_USERS="no").join_users


def test_every_setting_has_its_variable():
    """Numbers, fractions and yes or no are read as what they are."""
    settings = settings_of(
        COURSE_PROVIDER="anthropic",
        ANTHROPIC_API_KEY=SECRET,
        COURSE_WINDOW_TOKENS="200_000",
        COURSE_MAX_OUTPUT_TOKENS="9000",
        COURSE_TIMEOUT_SECONDS="2.5",
        COURSE_MAX_RETRIES="0",
        COURSE_STREAM="Yes",
        COURSE_THINKING_TOKENS="2048",
        COURSE_SEND_REASONING="off",
    )
    assert settings == ProviderSettings(
        provider="anthropic",
        model="some-model",
        api_key=ApiKey(SECRET),
        window_tokens=200_000,
        max_output_tokens=9_000,
        timeout_seconds=2.5,
        max_retries=0,
        stream=True,
        thinking_tokens=2_048,
    )


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("COURSE_PROVIDER", "claud", "COURSE_PROVIDER is 'claud': use offline, anthropic, openai, ollama"),
        ("COURSE_WINDOW_TOKENS", "128k", "COURSE_WINDOW_TOKENS is '128k': expected a whole number"),
        ("COURSE_WINDOW_TOKENS", "0", r"window_tokens \(COURSE_WINDOW_TOKENS\) is 0"),
        ("COURSE_MAX_OUTPUT_TOKENS", "128000", r"COURSE_MAX_OUTPUT_TOKENS\) is 128000: expected 1 to 127999"),
        ("COURSE_MAX_OUTPUT_TOKENS", "0", r"COURSE_MAX_OUTPUT_TOKENS\) is 0"),
        ("COURSE_TIMEOUT_SECONDS", "soon", "COURSE_TIMEOUT_SECONDS is 'soon': expected a number"),
        ("COURSE_TIMEOUT_SECONDS", "0", "expected more than 0"),
        ("COURSE_TIMEOUT_SECONDS", "nan", "expected more than 0"),
        ("COURSE_MAX_RETRIES", "-1", "expected 0 or more"),
        ("COURSE_STREAM", "maybe", "COURSE_STREAM is 'maybe': expected yes or no"),
        ("COURSE_THINKING_TOKENS", "1023", "expected 0, or at least 1024"),
        ("COURSE_THINKING_TOKENS", "8192", "less than max_output_tokens"),
        ("COURSE_BASE_URL", "localhost:8080", "COURSE_BASE_URL.* is 'localhost:8080': expected http"),
        ("ANTHROPIC_API_KEY", "sk-…", "the API key has characters that no key has"),
        ("ANTHROPIC_API_KEY", "sk-a b", "the API key has characters that no key has"),
    ],
)
def test_a_value_that_makes_no_sense_is_named_with_the_way_out(variable, value, words):
    """The message says which variable, which value, and what would do."""
    environ = {"COURSE_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": SECRET, variable: value}
    if variable == "COURSE_BASE_URL":
        environ["COURSE_WINDOW_TOKENS"] = "128000"
    with pytest.raises(SettingsError, match=words):
        settings_of(**environ)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"provider": "gemini"}, "provider .* is 'gemini': expected offline, anthropic, openai"),
        ({"provider": "openai"}, "model .* is '': give the model's name"),
        ({"provider": "openai", "model": "m", "thinking_tokens": 2_048}, "only anthropic takes a budget"),
    ],
)
def test_settings_made_by_hand_are_checked_too(changes, words):
    """The checks belong to the object, not to the environment."""
    with pytest.raises(SettingsError, match=words):
        ProviderSettings(**changes)


def test_a_password_in_an_address_is_refused_and_not_shown():
    """An address is shown in many places, so nothing secret may stand in it."""
    with pytest.raises(SettingsError, match="has a name or a key inside") as caught:
        ProviderSettings(base_url=f"https://me:{SECRET}@example.org")
    assert SECRET not in str(caught.value)


def ways_to_show(thing):
    """What a notebook, a log, a debugger or a careless print would make of the object."""
    yield from (repr(thing), str(thing), f"{thing}", f"{thing!s:>40}", pprint.pformat([thing, {"key": thing}]))
    yield from (repr(getattr(thing, name)) for name in dir(thing))


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_no_way_to_show_an_object_shows_the_key(provider, caplog):
    """Key, settings and client keep the key to themselves, in logs of every level too."""
    settings = ProviderSettings(provider=provider, model="m", api_key=SECRET)
    with caplog.at_level(logging.DEBUG):
        client = make_client(settings)
        for thing in (settings.api_key, settings, client):
            logging.getLogger("test").debug("made %s with %r", thing, thing)
            assert not any(SECRET in text for text in ways_to_show(thing))
    assert SECRET not in caplog.text
    assert SECRET not in str(asdict(settings))


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_key_is_not_stored(provider):
    """Pickle, copy and JSON refuse what holds a key instead of writing it down."""
    settings = ProviderSettings(provider=provider, model="m", api_key=SECRET)
    for thing in (settings.api_key, settings, make_client(settings)):
        with pytest.raises(TypeError, match="never stored"):
            pickle.dumps(thing)
    with pytest.raises(TypeError, match="never stored"):
        copy.copy(make_client(settings))
    with pytest.raises(TypeError, match="not JSON serializable"):
        json.dumps(asdict(settings))


def test_a_key_can_be_used():
    """Settings can be changed and copied, and two of one key are equal."""
    settings = ProviderSettings(provider="openai", model="m", api_key=SECRET)
    assert replace(settings, model="other").api_key.reveal() == SECRET
    assert copy.deepcopy(settings) == settings
    assert settings.api_key == ApiKey(SECRET) != ApiKey("other")
    assert not ApiKey()
    assert (repr(ApiKey()), repr(ApiKey("x"))) == ("ApiKey(none)", "ApiKey(set)")


def test_make_client_chooses_by_the_setting():
    """One setting decides which client it is; the offline model is not made here."""
    anthropic = make_client(ProviderSettings(provider="anthropic", model="m", window_tokens=9_000))
    assert isinstance(anthropic, AnthropicClient)
    assert anthropic.window_tokens == 9_000
    assert isinstance(make_client(ProviderSettings(provider="openai", model="m")), OpenAIClient)
    with pytest.raises(SettingsError, match=r"course_lib\.simulation"):
        make_client(ProviderSettings())


def test_no_sdk_is_imported_before_a_client_is_made():
    """Settings, refusals and even the clients' modules are quick to import; the SDK comes with the first client."""
    code = (
        "import sys\n"
        "from course_lib.providers import anthropic_client, openai_client, refusals, settings\n"
        "settings.settings_from_environment({})\n"
        "print([name for name in ('anthropic', 'openai', 'httpx2', 'pydantic') if name in sys.modules])\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
