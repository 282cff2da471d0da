# %% right: with the library's head and tail
from course_lib.text_cuts import head, tail


def compress(text, max_tokens, count):
    total = count(text)
    if total <= max_tokens:
        return text
    room = max_tokens - count(f"\n[… {total} of {total} tokens left out …]\n")
    while True:
        first, last = head(text, room // 2, count), tail(text, room // 2, count)
        made = f"{first}\n[… {total - count(first) - count(last)} of {total} tokens left out …]\n{last}"
        if count(made) <= max_tokens:
            return made
        room -= 2


# %% wrong: too many tokens
from course_lib.checks.practice_strategies import whole_characters


def compress(text, max_tokens, count):
    total = count(text)
    if total <= max_tokens:
        return text
    pieces = whole_characters(text)
    size = (max_tokens - 20) * 4 // 2  # four characters a token
    first, last = "".join(pieces[:size]), "".join(pieces[-size:])
    return f"{first}\n[… {total - count(first) - count(last)} of {total} tokens left out …]\n{last}"


# %% wrong: A character was parted
def compress(text, max_tokens, count):
    total = count(text)
    if total <= max_tokens:
        return text
    size = 0

    def made(size):
        first, last = text[:size], text[len(text) - size :]
        return f"{first}\n[… {total - count(first) - count(last)} of {total} tokens left out …]\n{last}"

    while count(made(size + 1)) <= max_tokens:
        size += 1
    return made(size)


# %% wrong: The notice is wrong
from course_lib.text_cuts import head, tail


def compress(text, max_tokens, count):
    total = count(text)
    if total <= max_tokens:
        return text
    room = max_tokens - 24
    first, last = head(text, room // 2, count), tail(text, room // 2, count)
    return f"{first}\n[… {total - max_tokens} of {total} tokens left out …]\n{last}"


# %% wrong: The end is missing
from course_lib.text_cuts import head


def compress(text, max_tokens, count):
    total = count(text)
    if total <= max_tokens:
        return text
    first = head(text, max_tokens - 24, count)
    return f"{first}\n[… {total - count(first)} of {total} tokens left out …]\n"


# %% wrong: needs no notice
from course_lib.text_cuts import head, tail


def compress(text, max_tokens, count):
    total = count(text)
    first, last = head(text, max_tokens // 3, count), tail(text, max_tokens // 3, count)
    return f"{first}\n[… {total - count(first) - count(last)} of {total} tokens left out …]\n{last}"
