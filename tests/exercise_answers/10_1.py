# %% right: step by step
def is_too_long(status, body):
    if status == 413:
        return True
    error = body
    if isinstance(body, dict) and "error" in body:
        error = body["error"]
    if isinstance(error, dict):
        if error.get("code") == "context_length_exceeded" or error.get("type") == "exceed_context_size_error":
            return True
        error = error.get("message")
    if status != 400 or not isinstance(error, str):
        return False
    return any(part in error for part in ("is too long:", "maximum context length is", "exceeded max context length"))


# %% wrong: no overflow: waiting helps
def is_too_long(status, body):
    text = str(body)
    known = ("context_length_exceeded", "exceed_context_size_error", "prompt is too long", "context length")
    return status == 413 or any(part in text for part in known)


# %% wrong: the `code` does
def is_too_long(status, body):
    text = str(body)
    return status == 413 or (status == 400 and ("is too long" in text or "context length" in text))


# %% wrong: The `code` decides
def is_too_long(status, body):
    text = str(body)
    known = ("context_length_exceeded", "exceed_context_size_error", "prompt is too long:", "context length")
    return status == 413 or (status == 400 and any(part in text for part in known))


# %% wrong: the body is the error itself
def is_too_long(status, body):
    if status == 413:
        return True
    error = body.get("error") if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return "exceeded max context length" in str(error)
    if error.get("code") == "context_length_exceeded" or error.get("type") == "exceed_context_size_error":
        return True
    message = error.get("message", "")
    return status == 400 and ("prompt is too long" in message or "maximum context length is" in message)


# %% wrong: A description is too long here
def is_too_long(status, body):
    text = str(body)
    known = ("context_length_exceeded", "exceed_context_size_error")
    if status == 413 or any(part in text for part in known):
        return True
    return status == 400 and ("too long" in text or "context length" in text)


# %% wrong: is not always a dictionary
def is_too_long(status, body):
    error = body.get("error", body)
    return status == 413 or "too long" in str(error)
