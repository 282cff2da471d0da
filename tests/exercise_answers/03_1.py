# %% right: each class counted by itself
import re


def estimate(text):
    def is_random(run):
        return run != run.lower() and len(re.findall("[a-z][A-Z0-9]|[A-Z0-9][a-z]", run)) > len(run) / 6

    runs = [run for run in re.findall(r"[A-Za-z0-9+/]{24,}", text) if is_random(run)]
    for run in runs:
        text = text.replace(run, "", 1)
    found = 0.68 * sum(map(len, runs))
    prices = {
        r"[0-9]{1,3}": 1,
        r"[A-Z]?[a-z]+|[A-Z]+": 1.1,
        r"\s{2,}|\n| (?=[0-9])": 1,
        r"[^\w\s]+(?<![^ -~])": 0.9,
        r"[\u4e00-\u9fff]": 0.85,
        r"[\u3040-\u30ff\uac00-\ud7af]": 0.7,
        r"[\u0370-\u06ff]": 0.35,
        r"[\u2600-\u27ff\ud800-\udfff\U0001f000-\U0001ffff]": 1.7,
        r"[\u2000-\u206f\u3000-\u303f\uff00-\uffef]": 1,
    }
    return found + sum(price * len(re.findall(pattern, text)) for pattern, price in prices.items())


# %% wrong: nearly a token by itself
def estimate(text):
    return len(text) / 3.2


# %% wrong: run of up to three digits
def estimate(text):
    asian = sum("\u3040" <= char <= "\ud7af" for char in text)
    emoji = sum(char > "\u2600" and not "\u3040" <= char <= "\ud7af" for char in text)
    return (len(text) - asian - emoji) / 2.9 + 0.85 * asian + 1.5 * emoji


# %% wrong: A run of blanks is one token
def estimate(text):
    return len(text) / 1.3


# %% wrong: a number of tokens
def estimate(text):
    return None if text else 0
