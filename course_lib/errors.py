"""Every error the course raises on purpose, in one tree.

    CourseError
    ├── MessageFormatError         a value or a provider's record that is no message
    ├── SettingsError              a setting that is missing or makes no sense
    ├── TokenizerDataError         the shipped vocabulary cannot be used
    ├── ToolError                  a tool refuses its input: the agent turns it into an error result
    ├── WorkspaceError             a workspace folder that cannot be made or used
    ├── TranscriptError            a session's transcript cannot be written, read, or is open elsewhere
    ├── CompactionError            a conversation could not be made shorter; it is as it was
    │   ├── NothingToDoError           there was nothing to make shorter
    │   └── SummaryError               a model's summary that cannot be used; its `fault` says why
    ├── …                          the leaves add their own: an unknown exercise, a learner's folder in the way
    └── ModelError                 a model call that gave no usable answer
        ├── InvalidRequestError        refused as malformed: sending it again cannot help
        │   ├── PairingError               a tool call without its result, or the reverse
        │   └── ContextOverflowError       the request is longer than the window
    │       └── RecoveryExhaustedError     … and nothing that was tried made it short enough
        ├── AuthenticationError        no key, a wrong key, or no right to the model
        ├── RateLimitError             too many requests: wait `retry_after_seconds`
        ├── OverloadedError            the provider is busy or broken: try later
        ├── ConnectionFailedError      no connection, or no answer in time
        └── BrokenResponseError        an answer that is not whole
            ├── StreamCutError             the stream ended before the answer did
            └── EmptyResponseError         an answer with nothing in it

A message names the value, the place and the way out. Nothing here ever holds a key.
Source: chapter 01; the shapes behind the model errors are in `course_lib.providers.refusals`.
"""

__all__ = [
    "AuthenticationError",
    "BrokenResponseError",
    "CompactionError",
    "ConnectionFailedError",
    "ContextOverflowError",
    "CourseError",
    "EmptyResponseError",
    "InvalidRequestError",
    "MessageFormatError",
    "ModelError",
    "NothingToDoError",
    "OverloadedError",
    "PairingError",
    "RateLimitError",
    "RecoveryExhaustedError",
    "SettingsError",
    "StreamCutError",
    "SummaryError",
    "TokenizerDataError",
    "ToolError",
    "TranscriptError",
    "WorkspaceError",
]


class CourseError(Exception):
    """The root: catching it catches what the course raises on purpose, and no bug."""


class MessageFormatError(CourseError, ValueError):
    """A value that is not a message, or a provider's record that cannot be read as one."""


class SettingsError(CourseError, ValueError):
    """A setting that is missing or makes no sense."""


class TokenizerDataError(CourseError):
    """The vocabulary that ships with the course cannot be unpacked or read."""


class ToolError(CourseError):
    """A tool's refusal. The agent sends its text to the model as an error result."""


class WorkspaceError(CourseError):
    """A workspace folder that cannot be made or used."""


class TranscriptError(CourseError):
    """A session's transcript that cannot be written, cannot be read, or is open in another process."""


class CompactionError(CourseError):
    """A conversation could not be made shorter, or what came out could not be used; the history is as it was."""


class NothingToDoError(CompactionError):
    """There was nothing to make shorter: no failure, and nothing was paid for."""


class SummaryError(CompactionError):
    """A model's summary that cannot be used.

    Args:
        message: what is wrong with it.
        fault: the kind of fault, one of `summary_text.SummaryFault`.
    """

    def __init__(self, message: str, *, fault: str) -> None:
        super().__init__(message)
        self.fault = fault


class ModelError(CourseError):
    """A model call that gave no usable answer.

    Args:
        message: what happened, and the way out.
        status: the HTTP status, when there was one.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class InvalidRequestError(ModelError):
    """The provider refuses the request as malformed; the same request will be refused again."""


class PairingError(InvalidRequestError):
    """A tool call without its result, a result without its call, or one of them out of place."""


class ContextOverflowError(InvalidRequestError):
    """The request (with the room kept for the answer) is longer than the model's window.

    Args:
        message: the provider's words.
        request_tokens: tokens of the request, when the provider said them.
        limit_tokens: tokens that would have fitted, when the provider said them.
        status: the HTTP status, when there was one.
    """

    def __init__(
        self,
        message: str,
        *,
        request_tokens: int | None = None,
        limit_tokens: int | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message, status=status)
        self.request_tokens = request_tokens
        self.limit_tokens = limit_tokens


class RecoveryExhaustedError(ContextOverflowError):
    """Nothing that was tried made the request short enough; the message lists it, and what would help."""


class AuthenticationError(ModelError):
    """No key, a wrong key, or no right to use the model. The message never holds the key."""


class RateLimitError(ModelError):
    """Too many requests or tokens in a given time.

    Args:
        message: the provider's words.
        retry_after_seconds: how long to wait, when the provider said it.
        status: the HTTP status, when there was one.
    """

    def __init__(self, message: str, *, retry_after_seconds: float | None = None, status: int | None = None) -> None:
        super().__init__(message, status=status)
        self.retry_after_seconds = retry_after_seconds


class OverloadedError(ModelError):
    """The provider is busy or broken (5xx); the request itself may be fine."""


class ConnectionFailedError(ModelError):
    """No connection to the server, or no answer within the time-out."""


class BrokenResponseError(ModelError):
    """An answer arrived, but not a whole one."""


class StreamCutError(BrokenResponseError):
    """The stream ended before the model said that it had finished."""


class EmptyResponseError(BrokenResponseError):
    """The answer holds no text, no thinking and no tool call."""
