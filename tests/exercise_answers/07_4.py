# %% right: with a list of lines
import json


def appended(content, record):
    lines = content.split(b"\n")
    last = lines.pop()
    if last:
        try:
            json.loads(last)
            lines.append(last)
        except ValueError:
            pass
    lines.append(json.dumps(record, separators=(",", ":")).encode("ascii"))
    return b"\n".join(lines) + b"\n"


# %% wrong: glued to what stood there
import json


def appended(content, record):
    return content + json.dumps(record).encode() + b"\n"


# %% wrong: every reader has to cope with it
import json


def appended(content, record):
    end = b"" if content.endswith(b"\n") or not content else b"\n"
    return content + end + json.dumps(record).encode() + b"\n"


# %% wrong: only its line end was missing
import json


def appended(content, record):
    end = content.rfind(b"\n") + 1
    return content[:end] + json.dumps(record).encode() + b"\n"


# %% wrong: ends within a character
import json


def appended(content, record):
    whole, end, last = content.decode().rpartition("\n")
    try:
        json.loads(last)
        last += "\n"
    except ValueError:
        last = ""
    return (whole + end + last + json.dumps(record) + "\n").encode()


# %% wrong: leave every byte
import json


def appended(content, record):
    records = []
    for line in content.split(b"\n"):
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return b"".join(json.dumps(one).encode() + b"\n" for one in [*records, record])
