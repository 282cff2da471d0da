"""Fit the estimator's constants to the tuning half of the samples, and print them beside the present ones.

    python tests/fit_token_estimator.py

For each piece of a text, tiktoken says how many tokens begin in it; a straight line through these, over the characters
of the piece, gives a class its two constants. The held-out half is not looked at. Classes with few pieces in the tuning
half (marked "few") were set by hand, on the high side; those that cost one token whatever their length are left at one.
"""

from collections import Counter, defaultdict

import tiktoken

from course_lib.simulation.token_samples import TUNED_KINDS, samples
from course_lib.token_estimator import TEXT_CLASSES, text_pieces
from course_lib.tokens import DEFAULT_ENCODING, TiktokenCounter

FEW = 30  # pieces, below which a line through them says little


def measured_pieces(texts):
    """Return, for each class, (characters, tokens that begin in it) of each piece of the texts."""
    TiktokenCounter()  # puts the vocabulary where tiktoken looks for it
    encoding = tiktoken.get_encoding(DEFAULT_ENCODING)
    found = defaultdict(list)
    for text in texts:
        _, offsets = encoding.decode_with_offsets(encoding.encode_ordinary(text))
        starts, place = Counter(offsets), 0
        for name, piece in text_pieces(text):
            found[name].append((len(piece), sum(starts[i] for i in range(place, place + len(piece)))))
            place += len(piece)
    return found


def line(points):
    """Return (tokens a piece, tokens a character) of the least-squares line; a flat one if all lengths are equal."""
    lengths, tokens = [length for length, _ in points], [token for _, token in points]
    mean_length, mean_tokens = sum(lengths) / len(points), sum(tokens) / len(points)
    spread = sum((length - mean_length) ** 2 for length in lengths)
    if spread == 0:
        return mean_tokens, 0.0
    per_char = sum((length - mean_length) * (token - mean_tokens) for length, token in points) / spread
    return mean_tokens - per_char * mean_length, per_char


def fitted():
    """Return (pieces, tokens a piece, tokens a character) for each class that the tuning half has pieces of."""
    pieces = measured_pieces(text for kind in TUNED_KINDS for text in samples(kind, "tuning"))
    return {name: (len(points), *line(points)) for name, points in pieces.items()}


def main():
    """Print the constants."""
    found = fitted()
    print(f"{'class':14}{'pieces':>8}{'fitted':>16}{'present':>16}")
    for one in TEXT_CLASSES:
        pieces, per_piece, per_char = found.get(one.name, (0, float("nan"), float("nan")))
        note = "  few" if pieces < FEW else ""
        print(f"{one.name:14}{pieces:8}{per_piece:9.2f}{per_char:7.2f}{one.per_piece:9.2f}{one.per_char:7.2f}{note}")


if __name__ == "__main__":
    main()
