"""Does the conversation stay within its window, whatever the chance? Run by hand (`make bench`); takes a minute or two.

    python3 -m course_lib bench hundred_rounds [SEEDS]

Runs the simulation of chapter 06 with many seeds, counted exactly, and says how often a request was too long (never).
"""

import statistics
import sys
from collections import Counter

from course_lib.simulation.hundred_rounds import HUNDRED_ROUNDS_WINDOW, hundred_rounds
from course_lib.tokens import MessageCounter, TiktokenCounter

SEEDS = 200


def main(seeds=SEEDS):
    """Run all seeds, print a table; return 1 if a request was ever too long."""
    exact = TiktokenCounter()
    runs = [hundred_rounds(seed, counter=MessageCounter(exact)) for seed in range(seeds)]
    last = [run.statuses[-1] for run in runs]
    levels = Counter(step.level for run in runs for step in run.stats.log)
    for name, values in {
        "compactions": [status.compactions for status in last],
        "messages at the end": [status.messages for status in last],
        "tokens at the end": [status.tokens for status in last],
        "largest total of any round": [run.peak_tokens for run in runs],
    }.items():
        print(f"{name:28} {min(values):9,} to {max(values):9,}, in the middle {statistics.median(values):9,.0f}")
    print(f"{'steps applied, by level':28} {dict(sorted(levels.items()))}")
    overflows = sum(run.overflows for run in runs)
    print(f"{seeds} seeds, a window of {HUNDRED_ROUNDS_WINDOW.context_tokens:,} tokens: {overflows} overflows")
    return int(overflows > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
