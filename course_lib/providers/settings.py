"""Which model answers? One small object, or a few environment variables (chapter 12).

    COURSE_PROVIDER            offline (the default), anthropic, openai, or a server that speaks like OpenAI:
                               ollama, llamacpp, vllm, deepseek, qwen
    COURSE_MODEL               the model's name, as the provider writes it; no name is built in, since names retire
    COURSE_BASE_URL            another address for the provider's API; with "openai" any compatible server
    COURSE_API_KEY             the key for such a server; ANTHROPIC_API_KEY and OPENAI_API_KEY are read for those two,
                               and sent to nobody else
    COURSE_WINDOW_TOKENS       tokens of the model's window; without it, `model_limits` has them in a dated table. For a
                               server of your own, the number it was started with
    COURSE_MAX_OUTPUT_TOKENS   the most that one answer may have
    COURSE_TIMEOUT_SECONDS     how long to wait for the server to send something
    COURSE_MAX_RETRIES         how often the SDK asks again after 408, 409, 429 and 5xx
    COURSE_STREAM              yes or no: have the answer sent piece by piece
    COURSE_THINKING_TOKENS     tokens for thinking (anthropic only; 0 is off)
    COURSE_SEND_REASONING      yes or no: send thinking back to a server that speaks like OpenAI (deepseek: yes)
    COURSE_JOIN_USERS          yes or no: one message of several of the user in a row (ollama, llamacpp, vllm: yes)

    >>> settings = settings_from_environment({"COURSE_PROVIDER": "ollama", "COURSE_MODEL": "some-model",
    ...                                       "COURSE_WINDOW_TOKENS": "8192"})
    >>> settings.provider, settings.base_url, settings.window_tokens
    ('openai', 'http://127.0.0.1:11434/v1', 8192)

The window of a server of your own has no default: Ollama cuts a longer prompt without saying so, so no error would ever
tell you that the number here is wrong.

What this leaves out on purpose: files with settings or keys. A key lives in the environment, and in an `ApiKey`.
Source: chapter 12; addresses and variables from the servers' documentation of November 2026.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NoReturn, get_args
from urllib.parse import urlsplit

from course_lib.client import LLMClient
from course_lib.errors import SettingsError
from course_lib.providers.model_limits import table_limits

if TYPE_CHECKING:
    import httpx2

__all__ = ["PRESETS", "ApiKey", "Preset", "ProviderSettings", "make_client", "settings_from_environment"]

Provider = Literal["offline", "anthropic", "openai"]
_OWN_ADDRESSES = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1"}
_YES, _NO = {"1", "yes", "true", "on"}, {"0", "no", "false", "off"}


class ApiKey:
    """A key that can be used, but neither shown nor stored: only `reveal` gives it away.

    It is kept in a closure, so that tools which list an object's attributes find no text either. A key with characters
    that no HTTP header can hold is a `SettingsError`.
    """

    __slots__ = ("reveal",)
    reveal: Callable[[], str]

    def __init__(self, value: str = "") -> None:
        text = value.strip()  # a line end that came along when the key was copied
        if not (text.isascii() and text.isprintable()) or " " in text:
            raise SettingsError("the API key has characters that no key has: copy it again, without quotes or spaces")
        self.reveal = lambda: text

    def __bool__(self) -> bool:
        return bool(self.reveal())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ApiKey) and self.reveal() == other.reveal()

    def __repr__(self) -> str:
        return "ApiKey(set)" if self else "ApiKey(none)"

    def __deepcopy__(self, memo: object) -> "ApiKey":
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a key is never stored: put it into the environment of the other process")


@dataclass(frozen=True)
class Preset:
    """A server that speaks like OpenAI: its address, whether it wants a key, and who chose its window.

    With `chosen_window`, whoever started the server did, so that no table can know it.
    """

    base_url: str
    needs_key: bool = False
    chosen_window: bool = True
    send_reasoning: bool = False
    join_users: bool = False


PRESETS: dict[str, Preset] = {
    # These three apply the model's own chat template, and some refuse two messages of one role in a row.
    "ollama": Preset("http://127.0.0.1:11434/v1", join_users=True),
    "llamacpp": Preset("http://127.0.0.1:8080/v1", join_users=True),
    "vllm": Preset("http://127.0.0.1:8000/v1", join_users=True),
    # its thinking models refuse a conversation whose answers come back without their reasoning
    "deepseek": Preset("https://api.deepseek.com", needs_key=True, chosen_window=False, send_reasoning=True),
    "qwen": Preset("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", needs_key=True, chosen_window=False),
}


@dataclass(frozen=True, kw_only=True)
class ProviderSettings:
    """Everything that a client needs to know.

    Args:
        provider: who is asked; "offline" is the model of `course_lib.simulation`.
        model: the model's name; empty only for "offline".
        base_url: another address than the provider's own.
        api_key: the key; a string is taken as one.
        window_tokens: tokens of the model's window, request and answer together.
        max_output_tokens: the most that one answer may have; a larger `max_tokens` of a request is lowered to it.
        timeout_seconds: how long the server may send nothing.
        max_retries: how often the SDK asks again.
        stream: have the answer sent piece by piece.
        thinking_tokens: Anthropic's budget for thinking, 0 or at least 1,024; a request whose `max_tokens` leaves no
            room for it goes without thinking.
        send_reasoning: send thinking back as `reasoning_content` (OpenAI's shape only; DeepSeek wants it).
        join_users: make one message of several of the user in a row (OpenAI's shape only; some chat templates want it).

    Raises:
        SettingsError: a value that makes no sense, with its name, its variable and the way out.
    """

    provider: Provider = "offline"
    model: str = ""
    base_url: str = ""
    api_key: ApiKey = field(default_factory=ApiKey)
    window_tokens: int = 128_000
    max_output_tokens: int = 8_192
    timeout_seconds: float = 600.0
    max_retries: int = 2
    stream: bool = False
    thinking_tokens: int = 0
    send_reasoning: bool = False
    join_users: bool = False

    def __post_init__(self) -> None:
        key: object = self.api_key
        if isinstance(key, str):  # left as a string, it would stand in the repr
            object.__setattr__(self, "api_key", ApiKey(key))
        _require(self.provider in get_args(Provider), self, "provider", f"expected {', '.join(get_args(Provider))}")
        _require(bool(self.model) or self.provider == "offline", self, "model", "give the model's name")
        _check_address(self.base_url)
        _require(self.window_tokens > 1, self, "window_tokens", "expected the tokens that the model can hold")
        room = 0 < self.max_output_tokens < self.window_tokens
        _require(room, self, "max_output_tokens", f"expected 1 to {self.window_tokens - 1}, less than window_tokens")
        _require(0 < self.timeout_seconds < inf, self, "timeout_seconds", "expected more than 0")
        _require(self.max_retries >= 0, self, "max_retries", "expected 0 or more")
        if self.thinking_tokens:
            _require(self.provider != "openai", self, "thinking_tokens", "only anthropic takes a budget: set it to 0")
            enough = 1_024 <= self.thinking_tokens < self.max_output_tokens
            _require(enough, self, "thinking_tokens", "expected 0, or at least 1024 and less than max_output_tokens")

    @property
    def address(self) -> str:
        """Where requests go: `base_url`, or else the provider's own address."""
        return self.base_url or _OWN_ADDRESSES.get(self.provider, "")


def _require(fits: bool, settings: ProviderSettings, name: str, expected: str) -> None:
    if not fits:
        raise SettingsError(f"{name} ({_variable(name)}) is {getattr(settings, name)!r}: {expected}")


def _check_address(base_url: str) -> None:
    address = urlsplit(base_url)
    if "@" in address.netloc:  # not shown: what stands before the @ is a password
        raise SettingsError("base_url (COURSE_BASE_URL) has a name or a key inside: put the key into COURSE_API_KEY")
    if base_url and (address.scheme not in ("http", "https") or not address.hostname):
        raise SettingsError(f"base_url (COURSE_BASE_URL) is {base_url!r}: expected http://… or https://…")


def _variable(name: str) -> str:
    return f"COURSE_{name.upper()}"


def settings_from_environment(environ: Mapping[str, str] = os.environ) -> ProviderSettings:
    """Return the settings that the variables above say; without any, the offline model's.

    Raises:
        SettingsError: a variable that is missing or makes no sense, with its name, its value and the way out.
    """
    said = {f.name: text for f in fields(ProviderSettings) if (text := environ.get(_variable(f.name), "").strip())}
    name = said.pop("provider", "offline").lower()
    if name not in (*get_args(Provider), *PRESETS):
        raise SettingsError(f"COURSE_PROVIDER is {name!r}: use {', '.join((*get_args(Provider), *PRESETS))}")
    own = Preset(said.get("base_url", ""), needs_key=name != "offline" and "base_url" not in said)
    preset = PRESETS.get(name, own)
    values: dict[str, Any] = {"provider": "openai" if name in PRESETS else name, "base_url": preset.base_url}
    values |= {"send_reasoning": preset.send_reasoning, "join_users": preset.join_users}
    values |= {key: _parsed(key, text) for key, text in said.items() if key != "api_key"}
    if name != "offline":
        if "model" not in said:
            raise SettingsError(f"COURSE_MODEL is not set: set it to the name of a model of {name!r}")
        values["api_key"] = _key(name, preset, environ)
        if preset.base_url and preset.chosen_window and "window_tokens" not in said:
            raise SettingsError(
                f"COURSE_WINDOW_TOKENS is not set: set it to the window that {name!r} was started with "
                "(Ollama: num_ctx or OLLAMA_CONTEXT_LENGTH, llama.cpp: -c, vLLM: --max-model-len)"
            )
        values.setdefault("window_tokens", table_limits(said["model"]).context_tokens)
    if "max_output_tokens" not in said:  # a small window keeps most of itself for reading
        quarter = values.get("window_tokens", ProviderSettings.window_tokens) // 4
        values["max_output_tokens"] = max(1, min(ProviderSettings.max_output_tokens, quarter))
    return ProviderSettings(**values)


def _parsed(name: str, text: str) -> object:
    """The text of a variable as the type of its setting."""
    kind: Any = type(getattr(ProviderSettings, name, ""))
    if kind is bool:
        if text.lower() not in _YES | _NO:
            raise SettingsError(f"{_variable(name)} is {text!r}: expected yes or no")
        return text.lower() in _YES
    try:
        return kind(text)
    except ValueError:
        raise SettingsError(f"{_variable(name)} is {text!r}: expected a{' whole' * (kind is int)} number") from None


def _key(name: str, preset: Preset, environ: Mapping[str, str]) -> ApiKey:
    """The key for this address. The two providers' own keys go to nobody else's address."""
    variable = "COURSE_API_KEY" if preset.base_url else f"{name.upper()}_API_KEY"
    key = ApiKey(environ.get(variable, ""))
    if preset.needs_key and not key:
        raise SettingsError(f"{variable} is not set: set it to your key for {name!r}, or set COURSE_PROVIDER=offline")
    return key


def make_client(
    settings: ProviderSettings,
    *,
    on_text: Callable[[str], None] | None = None,
    http_client: "httpx2.Client | None" = None,
) -> LLMClient:
    """Return a client for the settings; only now is the provider's SDK imported.

    Args:
        settings: who is asked, and how; "offline" is no provider, and a `SettingsError`.
        on_text: called with each piece of text as it arrives; the answer is streamed then.
        http_client: an HTTP client of your own, for proxies and for tests.
    """
    if settings.provider == "anthropic":
        from course_lib.providers.anthropic_client import AnthropicClient

        return AnthropicClient(settings, on_text=on_text, http_client=http_client)
    if settings.provider == "openai":
        from course_lib.providers.openai_client import OpenAIClient

        return OpenAIClient(settings, on_text=on_text, http_client=http_client)
    raise SettingsError("provider is 'offline': the offline model is made by course_lib.simulation, not by a provider")
