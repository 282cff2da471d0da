"""Does every strategy keep to the rules on any history? Run by hand (`make bench`); takes about ten minutes.

    python3 -m course_lib bench properties [HISTORIES [SEED]]

Makes as many random histories for each strategy and each ladder as asked for (10,000), with random settings, and checks
on each what the tests check on a few: `compaction_histories.check_strategy` and `check_ladder`. A history that breaks a
rule is printed as its moves, so that it can become a test.
"""

import multiprocessing
import random
import sys
import time
from collections import Counter

from compaction_histories import (
    COUNTERS,
    ENDINGS,
    KEEPS,
    LADDERS,
    MOVES,
    RECENTS,
    STRATEGIES,
    build_history,
    check_ladder,
    check_strategy,
)

HISTORIES = 10_000
LENGTHS = (0, 1, 3, 8, 20, 40)  # moves
WINDOWS = (1_000, 8_000, 40_000)


def random_case(chance):
    """The moves, the ending, whether answers have a usage, the settings, and the counter's name."""
    length = chance.choice(LENGTHS)
    moves = [chance.choice(MOVES)] * length if chance.random() < 0.2 else chance.choices(MOVES, k=length)
    options = (chance.choice(KEEPS), chance.choice(RECENTS), chance.random() < 0.7)
    return moves, chance.choice(ENDINGS), chance.random() < 0.5, options, chance.choice(sorted(COUNTERS))


def check_many(name, histories, seed):
    """Check one strategy or ladder on so many histories; return its name, outcomes, and the cases that broke a rule."""
    chance = random.Random(f"{seed} {name}")
    outcomes, broken = Counter(), []
    for _ in range(histories):
        moves, ending, with_usage, options, counter = case = random_case(chance)
        messages = build_history(moves, ending, with_usage)
        try:
            if name in STRATEGIES:
                outcomes[check_strategy(name, options, messages, counter).outcome] += 1
            else:
                outcomes[check_ladder(name, options, messages, counter, chance.choice(WINDOWS)).outcome] += 1
        except Exception as error:
            broken.append((case, repr(error)[:300]))
    return name, outcomes, broken


def main(histories=HISTORIES, seed=1):
    """Check all, print a table; return 1 if any history broke a rule."""
    start, failures = time.perf_counter(), 0
    with multiprocessing.Pool() as pool:
        jobs = [pool.apply_async(check_many, (name, histories, seed)) for name in (*STRATEGIES, *LADDERS)]
        for job in jobs:
            name, outcomes, broken = job.get()
            told = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(outcomes.items()))
            print(f"{name:26} {histories:,} histories: {told}; {len(broken)} broke a rule", flush=True)
            for case, error in broken[:3]:
                print(f"    {case}\n    {error}")
            failures += len(broken)
    print(f"{time.perf_counter() - start:,.0f} s")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
