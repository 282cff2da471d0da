"""What both clients share: a call to an SDK ends in a response, or in one of the course's errors.

The two SDKs have the same exceptions by name, but not at the same moments: a connection that breaks in the middle of a
stream is an `APIConnectionError` in OpenAI's and a bare exception of the HTTP client in Anthropic's, and a stream that
just ends raises nothing in either. So every step of a call goes through `ProviderClient._call`, which knows whether the
answer had begun.

An error from here has neither a cause nor a context: the SDK's exception holds the request, and the request the key.

What this leaves out on purpose: retries. The SDKs do them, before anything reaches this module.
Source: chapter 12; measured with openai 3.57, anthropic 2.14 and httpx2 2.16 in November 2026.
"""

import importlib
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

from course_lib.client import Response, StopReason
from course_lib.errors import (
    BrokenResponseError,
    ConnectionFailedError,
    EmptyResponseError,
    MessageFormatError,
    ModelError,
    StreamCutError,
)
from course_lib.messages import Message, TextBlock, Usage, tool_uses
from course_lib.providers.error_shapes import error_from_response, without_keys
from course_lib.providers.settings import ProviderSettings

if TYPE_CHECKING:
    import httpx2

__all__ = ["NO_KEY", "ProviderClient", "response_from", "whole_characters"]

NO_KEY = "no-key"  # the SDKs insist on one; a server of your own does not read it
CONNECT_SECONDS = 10.0
T = TypeVar("T")
_HALF = re.compile(r"[\ud800-\udfff]")  # of a pair that UTF-16 writes for one character, as JSON may bring it


class ProviderClient:
    """The part of a client that does not depend on the provider. It cannot be pickled, since it holds a key.

    Args:
        settings: model, key, address, limits.
        on_text: called with each piece of text as it arrives; the answer is streamed then.
        http_client: an HTTP client of your own, for proxies and for tests.
    """

    sdk_name: ClassVar[str]
    sdk_client_name: ClassVar[str]

    def __init__(
        self,
        settings: ProviderSettings,
        *,
        on_text: Callable[[str], None] | None = None,
        http_client: "httpx2.Client | None" = None,
    ) -> None:
        self.settings = settings
        self.on_text = on_text
        self._sdk: Any = importlib.import_module(self.sdk_name)  # only now: it takes its time
        self._client: Any = getattr(self._sdk, self.sdk_client_name)(**self._sdk_arguments(http_client))

    @property
    def window_tokens(self) -> int:
        """Tokens of the model's window, as the settings say."""
        return self.settings.window_tokens

    def __repr__(self) -> str:
        return f"{type(self).__name__}(model={self.settings.model!r}, address={self.settings.address!r})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__} holds a key and is never stored: make it again from its settings")

    def _sdk_arguments(self, http_client: Any) -> dict[str, Any]:
        """What both SDKs' clients are made with. Explicit, so that no other variable of theirs changes the address."""
        import httpx2

        seconds = self.settings.timeout_seconds
        return {
            "api_key": self.settings.api_key.reveal() or NO_KEY,
            "base_url": self.settings.address,
            "timeout": httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
            "max_retries": self.settings.max_retries,
            "http_client": http_client,
        }

    def _call(self, action: Callable[[], T], *, begun: bool = False) -> T:
        """Return what `action` returns; raise a `ModelError` for whatever the SDK raises.

        Args:
            action: one step of a call.
            begun: whether the answer had begun, so that its end is a cut.
        """
        try:
            return action()
        except Exception as error:
            problem = self._as_model_error(error, begun)
            if problem is None:
                raise
        raise problem  # outside of the except block, so that the SDK's exception is not kept as the context

    def _as_model_error(self, error: Exception, begun: bool) -> ModelError | None:
        import httpx2

        sdk, address = self._sdk, self.settings.address
        key = self.settings.api_key.reveal()
        if isinstance(error, sdk.APIStatusError):
            return error_from_response(error.status_code, error.body, headers=error.response.headers, secrets=(key,))
        if isinstance(error, sdk.APITimeoutError | httpx2.TimeoutException):
            return ConnectionFailedError(f"{address} sent nothing for {self.settings.timeout_seconds:g} seconds")
        if isinstance(error, sdk.APIConnectionError | httpx2.RequestError):
            if begun:
                return StreamCutError(f"{address} closed the connection before the answer was complete: ask again")
            return ConnectionFailedError(f"no connection to {address}: is the address right, and the server running?")
        if isinstance(error, sdk.APIError):  # OpenAI's SDK: an error inside a stream, which has no status of its own
            return error_from_response(200, error.body or str(error), secrets=(key,))
        if not begun and not isinstance(error, ValueError):
            return None  # nothing that a server sent: a bug, which must look like one
        words = without_keys(str(error)[:200], (key,))
        return BrokenResponseError(f"{address} sent what cannot be read ({type(error).__name__}: {words})")

    def _events(self, stream: Any) -> Iterator[Any]:
        """The events of a stream that has begun."""
        events = iter(stream)
        while (event := self._call(lambda: next(events, None), begun=True)) is not None:
            yield event


def whole_characters(value: Any) -> Any:
    """Return what is to be sent with every text in it as UTF-8 can hold it.

    Two halves of a character become that character, a lone half becomes "\ufffd". Everything else is as it was.
    """
    match value:
        case str() if _HALF.search(value):
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        case dict():
            return {whole_characters(key): whole_characters(inner) for key, inner in value.items()}
        case list():
            return [whole_characters(inner) for inner in value]
    return value


def response_from(read: Callable[[], Message], stop_reason: StopReason | None, *, streamed: bool) -> Response:
    """Return the response that a provider's message makes.

    Args:
        read: returns the message, with the usage that was reported.
        stop_reason: why it ended; None when nobody said so.
        streamed: whether it came as a stream.

    Raises:
        StreamCutError: a stream without a stop reason.
        EmptyResponseError: nothing in it, and no reason that explains it.
        BrokenResponseError: a message that cannot be read, or one with no stop reason.
    """
    if stop_reason is None:
        cut = "the stream ended before the model said that it had finished: ask again"
        raise (
            StreamCutError(cut) if streamed else BrokenResponseError("the answer does not say why it ended: ask again")
        )
    try:
        message = read()
    except MessageFormatError as error:
        raise BrokenResponseError(f"the answer is no message: {error}") from error
    if all(isinstance(block, TextBlock) and not block.text.strip() for block in message.content):
        if stop_reason == "max_tokens":
            raise EmptyResponseError("the answer was cut off at max_tokens before it held anything: raise max_tokens")
        if stop_reason in ("end_turn", "tool_use"):
            raise EmptyResponseError("the answer holds no text, no thinking and no tool call: ask again")
    if stop_reason in ("end_turn", "tool_use"):  # servers disagree on what to say here; the message is what counts
        stop_reason = "tool_use" if tool_uses(message) else "end_turn"
    return Response(message, stop_reason, message.usage or Usage())
