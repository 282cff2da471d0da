"""How fast are session logs read and X-rayed, and how much memory does a large folder take? Run by hand.

    python3 -m course_lib bench logs [MEGABYTES [LOG]]

Logs are made from the sample session, as large as wanted (64 MB in all by default; 1000 takes several minutes). A log
of your own can be measured too. Reading JSON alone, line by line, is what nobody can be faster than.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from course_lib.session_logs.reading import read_session
from course_lib.session_logs.report_text import report_as_text
from course_lib.session_logs.sample import sample_session_path
from course_lib.session_logs.xray import xray
from course_lib.tokens import MessageCounter, TiktokenCounter, chars_counter

FILE_MEGABYTES = 4
WANTED_SECONDS = 2  # for such a file, in all
# The command in a process of its own, which says at its end how much memory it had at most.
MEASURED = """
import sys
from course_lib.cli import main
status = main(["xray", sys.argv[1], "--output", sys.argv[2]])
import resource
kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(kilobytes // (1 if sys.platform != "darwin" else 1024), status)
"""


def write_log(path, megabytes):
    """Write a log of this size: the sample again and again, each time with ids of its own, one session in all."""
    lines = sample_session_path().read_text(encoding="utf-8").splitlines()
    copies = 0
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < megabytes * 2**20:
            copies += 1
            for line in lines:
                record = json.loads(line)
                for key in ("uuid", "parentUuid", "logicalParentUuid"):
                    if record.get(key):
                        record[key] = f"{copies}-{record[key]}"
                message = record.get("message", {})
                if "id" in message:
                    message["id"] = f"{message['id']}-{copies}"
                file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")


def seconds(function, times=3):
    """Return the least time of a few that the function took."""
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        spent.append(time.perf_counter() - start)
    return min(spent)


def speed(path):
    """Print how long one log takes, step by step."""
    megabytes = path.stat().st_size / 2**20
    counter = MessageCounter(TiktokenCounter())
    quick = MessageCounter(chars_counter(4))

    def only_json():
        with path.open(encoding="utf-8") as file:
            for line in file:
                json.loads(line)

    steps = {
        "JSON alone, line by line": only_json,
        "read as events": lambda: [None for _ in read_session(path)],
        "X-ray, characters counted": lambda: xray(path, counter=quick),
        "X-ray, tokens counted": lambda: xray(path, counter=counter),
        "X-ray and report": lambda: report_as_text(xray(path, counter=counter)),
    }
    print(f"{path.name}: {megabytes:.1f} MB")
    base = 0.0
    for name, step in steps.items():
        spent = seconds(step)
        base = base or spent
        print(f"  {name:28}{spent:8.2f} s{megabytes / spent:8.1f} MB/s{spent / base:8.1f} times JSON alone")
    print(f"  wanted: at most {WANTED_SECONDS} s for {FILE_MEGABYTES} MB")


def memory(path):
    """Return the most memory, in MB, that the command takes for a log or a folder, and its seconds."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.txt")
        start = time.perf_counter()
        words = [sys.executable, "-c", MEASURED, str(path), str(report)]
        result = subprocess.run(words, capture_output=True, text=True, check=True)
        return int(result.stdout.split()[0]) / 1024, time.perf_counter() - start


def main():
    """Measure everything and print a table."""
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    with tempfile.TemporaryDirectory() as folder:
        one = Path(folder, "one.jsonl")
        write_log(one, FILE_MEGABYTES)
        speed(Path(sys.argv[2]) if len(sys.argv) > 2 else one)
        if sys.platform == "win32":
            return
        print("memory of the whole command, at most:")
        many = Path(folder, "many")
        many.mkdir()
        count = max(1, total // FILE_MEGABYTES)
        for number in range(count):
            (many / f"{number}.jsonl").hardlink_to(one)
            if number + 1 in (1, count):
                used, spent = memory(many)
                print(f"  {number + 1:>5} logs, {(number + 1) * FILE_MEGABYTES:>6,} MB{used:8.0f} MB in {spent:.1f} s")
        for megabytes in (FILE_MEGABYTES, total):
            large = Path(folder, "large.jsonl")
            write_log(large, megabytes)
            used, spent = memory(large)
            print(f"  {1:>5} log,  {megabytes:>6,} MB{used:8.0f} MB in {spent:.1f} s")


if __name__ == "__main__":
    main()
