# %% right: with one way out for every problem
from course_lib.messages import Message, TextBlock, message_text


def problem_of(older, text):
    if not text.strip():
        return "blank"
    before = sum(len(message_text(message)) for message in older)
    return "" if len(text) < before else f"{len(text)} characters instead of {before}"


def compact(messages, ask, keep):
    older = messages[: max(0, len(messages) - keep)]
    problem, text = "", ""
    if len(older) == 0:
        problem = "nothing to do"
    else:
        try:
            text = ask(older)
            problem = problem_of(older, text)
        except Exception as error:
            problem = repr(error)
    if problem:
        return messages, problem
    summary = Message("user", (TextBlock(f"[Summary]\n{text}"),), "summary")
    return (summary, *messages[len(older) :]), ""


# %% wrong: took the place of the past
from course_lib.messages import user


def compact(messages, ask, keep):
    older, recent = messages[:-keep], messages[-keep:]
    problem = ""
    try:
        text = ask(older)
    except Exception as error:
        text = problem = f"{type(error).__name__}: {error}"
    return (user(f"[Summary]\n{text}", kind="summary"), *recent), problem


# %% wrong: nobody learns
from course_lib.messages import user


def compact(messages, ask, keep):
    older, recent = messages[:-keep], messages[-keep:]
    try:
        text = ask(older)
    except Exception:
        return messages, ""
    return (user(f"[Summary]\n{text}", kind="summary"), *recent), ""


# %% wrong: not the same object
from course_lib.messages import user


def compact(messages, ask, keep):
    older, recent = messages[:-keep], messages[-keep:]
    try:
        text = ask(older)
    except Exception as error:
        return (*older, *recent), f"{type(error).__name__}: {error}"
    return (user(f"[Summary]\n{text}", kind="summary"), *recent), ""


# %% wrong: empty for some exceptions
from course_lib.messages import user


def compact(messages, ask, keep):
    older, recent = messages[:-keep], messages[-keep:]
    try:
        text = ask(older)
    except Exception as error:
        return messages, str(error)
    return (user(f"[Summary]\n{text}", kind="summary"), *recent), ""


# %% wrong: longer than what it replaces
from course_lib.messages import user


def compact(messages, ask, keep):
    older, recent = messages[:-keep], messages[-keep:]
    try:
        text = ask(older)
    except Exception as error:
        return messages, f"{type(error).__name__}: {error}"
    if not text.strip():
        return messages, "blank"
    return (user(f"[Summary]\n{text}", kind="summary"), *recent), ""


# %% wrong: nothing to summarise: look first
from course_lib.messages import message_text, user


def compact(messages, ask, keep):
    older, recent = messages[:-keep], messages[-keep:]
    try:
        text = ask(older)
    except Exception as error:
        return messages, f"{type(error).__name__}: {error}"
    if not text.strip() or len(text) >= sum(len(message_text(message)) for message in older):
        return messages, "blank or too long"
    return (user(f"[Summary]\n{text}", kind="summary"), *recent), ""


# %% wrong: The stop button
from course_lib.messages import message_text, user


def compact(messages, ask, keep):
    older, recent = messages[:-keep], messages[-keep:]
    if not older:
        return messages, "nothing is older"
    try:
        text = ask(older)
    except BaseException as error:
        return messages, f"{type(error).__name__}: {error}"
    if not text.strip() or len(text) >= sum(len(message_text(message)) for message in older):
        return messages, "blank or too long"
    return (user(f"[Summary]\n{text}", kind="summary"), *recent), ""
