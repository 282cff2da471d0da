"""Which program wrote this? Found by what the records hold, never by the file's name.

Source: chapter 04.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from course_lib.session_logs import anthropic_api, chat, claude_code, codex, gemini, pi, responses, trajectories
from course_lib.session_logs.lines import Piece, Record, SessionLogError
from course_lib.session_logs.records import LogEvent, Oddity
from course_lib.session_logs.values import dump

__all__ = ["FORMATS", "Format", "find_format"]


@dataclass(frozen=True)
class Format:
    """A kind of log: its name, how to know one of its records, how to read them all."""

    name: str
    recognises: Callable[[object], bool]
    read: Callable[[Iterable[Piece]], Iterator[LogEvent]]


_MOST_STRANGERS = 200  # how many lines may come before the first that is known
_MOST_ALIKE = 50  # how many messages may come before the first that only one API has
# The ones with envelopes of their own first: what stands inside them looks like the general ones, which come last.
FORMATS = (
    Format(claude_code.NAME, claude_code.recognises, claude_code.read),
    Format(codex.NAME, codex.recognises, codex.read),
    Format(pi.NAME, pi.recognises, pi.read),
    Format(gemini.NAME, gemini.recognises, gemini.read),
    Format(trajectories.SWE_AGENT, trajectories.recognises_swe, trajectories.read_swe),
    Format(trajectories.MINI_SWE_AGENT, trajectories.recognises_mini, trajectories.read_mini),
    Format(trajectories.TAU_BENCH, trajectories.recognises_tau, trajectories.read_tau),
    Format(trajectories.FEW_SHOT, trajectories.recognises_few_shot, trajectories.read_few_shot),
    Format(responses.NAME, responses.recognises, responses.read),
    Format(anthropic_api.NAME, anthropic_api.recognises, anthropic_api.read),
    Format(chat.NAME, chat.recognises, chat.read),
)


def find_format(pieces: Iterator[Piece], name: str) -> tuple[Format, list[Piece]]:
    """Return the format of the first record that one of the formats knows, and what was read to find it.

    Raises:
        SessionLogError: no record is known; says what was seen and which formats there are.
    """
    head: list[Piece] = []
    for piece in islice(pieces, _MOST_STRANGERS):
        head.append(piece)
        found = _format_of(piece)
        if found is not None:
            return _narrowed(found, piece, pieces, head), head
    values = [piece.value for piece in head if isinstance(piece, Record)]
    known = ", ".join(format_.name for format_ in FORMATS)
    raise SessionLogError(f"{name}: {_what_was_seen(values)}. The formats that are read: {known}")


def _format_of(piece: Piece) -> Format | None:
    if isinstance(piece, Oddity):
        return None
    return next((format_ for format_ in FORMATS if format_.recognises(piece.value)), None)


def _narrowed(found: Format, piece: Piece, pieces: Iterator[Piece], head: list[Piece]) -> Format:
    """A first message in plain text looks alike in every API: a later line may tell them apart."""
    if found.name != chat.NAME or not (isinstance(piece, Record) and chat.is_message(piece.value)):
        return found
    for later in islice(pieces, _MOST_ALIKE):
        head.append(later)
        other = _format_of(later)
        if other is not None and other.name in (responses.NAME, anthropic_api.NAME):
            return other
    return found


def _what_was_seen(values: Sequence[object]) -> str:
    if not values:
        return "no JSON in it"
    first = values[0]
    if isinstance(first, dict):
        keys = ", ".join(f"{key!r:.40}" for key in list(first)[:8]) or "none"
        return f"JSON objects of no known log (keys of the first: {keys})"
    return f"JSON of no known log, beginning with {dump(first)[:60]}"
