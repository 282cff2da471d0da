# %% right: one pattern for the form, a loop for the lines
import re


def parse_summary(text, most_chars):
    form = re.fullmatch(r"\s*(?:<analysis>.*?</analysis>)?\s*<summary>(.*)</summary>\s*", text, re.DOTALL)
    if form is None or "<summary>" in form[1] or "</summary>" in form[1]:
        raise ValueError("this does not have the form of a summary")
    summary = form[1].strip()
    if len(summary) > most_chars:
        raise ValueError("too long")
    for line in summary.split("\n"):
        plain = re.sub(r"^[\s*.-]+|[\s*.-]+$", "", line)
        if plain and not plain.startswith("#") and plain.lower() != "none" and plain.lower() != "n/a":
            return summary
    raise ValueError("it says nothing")


# %% wrong: may have been cut off
import re


def parse_summary(text, most_chars):
    text = re.sub(r"<analysis>.*?</analysis>", "", text, flags=re.DOTALL)
    found = re.search(r"<summary>(.*)</summary>", text, re.DOTALL)
    return (found[1] if found else text).strip()


# %% wrong: Throw the analysis away first
import re


def parse_summary(text, most_chars):
    found = re.search(r"<summary>(.*?)</summary>", text, re.DOTALL)
    if not found:
        raise ValueError("no summary")
    return found[1].strip()


# %% wrong: There are two summaries
import re


def parse_summary(text, most_chars):
    text = re.sub(r"<analysis>.*?</analysis>", "", text, flags=re.DOTALL)
    found = re.search(r"<summary>(.*)</summary>", text, re.DOTALL)
    if not found:
        raise ValueError("no summary")
    return found[1].strip()


# %% wrong: outside of the two parts
import re


def parse_summary(text, most_chars):
    text = re.sub(r"<analysis>.*?</analysis>", "", text, flags=re.DOTALL)
    if text.count("<summary>") != 1 or text.count("</summary>") != 1:
        raise ValueError("not one summary")
    found = re.search(r"<summary>(.*)</summary>", text, re.DOTALL)
    if not found:
        raise ValueError("no summary")
    return found[1].strip()


# %% wrong: headings and nothing under them
import re


def parse_summary(text, most_chars):
    text = re.sub(r"<analysis>.*?</analysis>", "", text, flags=re.DOTALL).strip()
    found = re.fullmatch(r"<summary>(.*)</summary>", text, re.DOTALL)
    if not found or "summary>" in found[1] or not found[1].strip():
        raise ValueError("no summary")
    return found[1].strip()


# %% wrong: that is nothing
import re


def parse_summary(text, most_chars):
    text = re.sub(r"<analysis>.*?</analysis>", "", text, flags=re.DOTALL).strip()
    found = re.fullmatch(r"<summary>(.*)</summary>", text, re.DOTALL)
    if not found or "summary>" in found[1]:
        raise ValueError("no summary")
    summary = found[1].strip()
    if not any(line.strip() and not line.startswith("#") for line in summary.splitlines()):
        raise ValueError("headings only")
    return summary


# %% wrong: also among empty sections
import re


def parse_summary(text, most_chars):
    text = re.sub(r"<analysis>.*?</analysis>", "", text, flags=re.DOTALL).strip()
    found = re.fullmatch(r"<summary>(.*)</summary>", text, re.DOTALL)
    if not found or "summary>" in found[1]:
        raise ValueError("no summary")
    summary = found[1].strip()
    lines = [line.strip(" -*.").lower() for line in summary.splitlines() if not line.startswith("#")]
    if not any(lines) or "none" in lines or "n/a" in lines:
        raise ValueError("nothing under a heading")
    return summary


# %% wrong: Only the summary counts
import re


def parse_summary(text, most_chars):
    if len(text) > most_chars:
        raise ValueError("too long")
    text = re.sub(r"<analysis>.*?</analysis>", "", text, flags=re.DOTALL).strip()
    found = re.fullmatch(r"<summary>(.*)</summary>", text, re.DOTALL)
    if not found or "summary>" in found[1]:
        raise ValueError("no summary")
    summary = found[1].strip()
    lines = [line.strip(" \t-*.").lower() for line in summary.splitlines() if not line.startswith("#")]
    if not any(line not in ("", "none", "n/a") for line in lines):
        raise ValueError("nothing said")
    return summary
