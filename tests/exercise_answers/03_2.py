# %% right: texts collected in a list
def record_chars(record):
    texts = []
    content = record.get("content")
    if isinstance(content, str):
        texts.append(content)
    elif content:
        texts.extend(part["text"] for part in content if "text" in part)
    for call in record.get("tool_calls") or ():
        texts += [call["function"]["name"], call["function"]["arguments"]]
    return sum(map(len, texts))


# %% wrong: its arguments are most of it
def record_chars(record):
    content = record.get("content") or ""
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content)
    return len(content) + sum(len(call["function"]["name"]) for call in record.get("tool_calls") or [])


# %% wrong: number of its parts
def record_chars(record):
    total = len(record.get("content") or "")
    for call in record.get("tool_calls") or []:
        total += len(call["function"]["name"]) + len(call["function"]["arguments"])
    return total


# %% wrong: may be there with the value None
def record_chars(record):
    content = record.get("content") or ""
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content)
    total = len(content)
    for call in record.get("tool_calls", []):
        total += len(call["function"]["name"]) + len(call["function"]["arguments"])
    return total


# %% wrong: one level down
def record_chars(record):
    content = record.get("content") or ""
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content)
    total = len(content)
    for call in record.get("tool_calls") or []:
        total += len(call.get("name", "")) + len(call.get("arguments", ""))
    return total
