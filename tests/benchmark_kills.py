"""Kill writing processes by the hundred and look for a lost record: `python tests/benchmark_kills.py [kills]`."""

import random
import sys
import tempfile
import time
from pathlib import Path

from test_journal_file import kill_writers

PER_FILE = 20


def main(kills=1_000):
    """Print how many records were acknowledged and found again; a lost one ends it with an error."""
    started, records = time.perf_counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(0, kills, PER_FILE):
            path = Path(folder) / f"{number}.jsonl"
            records += kill_writers(path, min(PER_FILE, kills - number), random.Random(number))
    print(f"{kills} kills, {records:,} acknowledged records, none lost, {time.perf_counter() - started:.0f} seconds")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
