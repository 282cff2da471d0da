# %% right: ids first, then the messages
def merge_records(records):
    pieces = {}
    for record in records:
        message = record["message"]
        if message["role"] == "assistant":
            pieces.setdefault(message["id"], []).append(message)
    merged, seen = [], set()
    for record in records:
        message = record["message"]
        if message["role"] == "assistant":
            if message["id"] in seen:
                continue
            seen.add(message["id"])
            own = pieces[message["id"]]
            blocks = [block for piece in own for block in piece["content"]]
            merged.append({"role": "assistant", "content": blocks, "usage": own[-1]["usage"]})
        elif isinstance(message["content"], str):
            merged.append({"role": "user", "content": message["content"]})
        elif merged and merged[-1]["role"] == "user" and isinstance(merged[-1]["content"], list):
            merged[-1] = {"role": "user", "content": merged[-1]["content"] + message["content"]}
        else:
            merged.append({"role": "user", "content": list(message["content"])})
    return merged


# %% wrong: look at the ids
def merge_records(records):
    merged = []
    for record in records:
        message = dict(record["message"])
        message.pop("id", None)
        merged.append(message)
    return merged


# %% wrong: Only one piece was kept
def merge_records(records):
    merged, seen = [], set()
    for record in records:
        message = dict(record["message"])
        id_ = message.pop("id", None)
        if id_ is None or id_ not in seen:
            merged.append(message)
        seen.add(id_)
    return merged


# %% wrong: take the last one's
def merge_records(records):
    merged, answers, results = [], {}, None
    for record in records:
        message = record["message"]
        if message["role"] == "assistant":
            if message["id"] not in answers:
                answers[message["id"]] = {"role": "assistant", "content": [], "usage": message["usage"]}
                merged.append(answers[message["id"]])
                results = None
            answers[message["id"]]["content"].extend(message["content"])
        elif isinstance(message["content"], list):
            if results is None:
                results = {"role": "user", "content": []}
                merged.append(results)
            results["content"].extend(message["content"])
        else:
            merged.append({"role": "user", "content": message["content"]})
            results = None
    return merged


# %% wrong: billed once
def merge_records(records):
    merged, answers, results = [], {}, None
    for record in records:
        message = record["message"]
        if message["role"] == "assistant":
            if message["id"] not in answers:
                answers[message["id"]] = {"role": "assistant", "content": [], "usage": {}}
                merged.append(answers[message["id"]])
                results = None
            answer = answers[message["id"]]
            answer["content"].extend(message["content"])
            for name, tokens in message["usage"].items():
                answer["usage"][name] = answer["usage"].get(name, 0) + tokens
        elif isinstance(message["content"], list):
            if results is None:
                results = {"role": "user", "content": []}
                merged.append(results)
            results["content"].extend(message["content"])
        else:
            merged.append({"role": "user", "content": message["content"]})
            results = None
    return merged


# %% wrong: not for the record before
def merge_records(records):
    merged, last_id = [], None
    for record in records:
        message = record["message"]
        if message["role"] == "assistant":
            if message["id"] == last_id:
                merged[-1]["content"].extend(message["content"])
                merged[-1]["usage"] = message["usage"]
            else:
                merged.append({"role": "assistant", "content": list(message["content"]), "usage": message["usage"]})
            last_id = message["id"]
        else:
            merged.append({"role": "user", "content": message["content"]})
            last_id = None
    return merged


# %% wrong: one user message
def merge_records(records):
    merged, answers = [], {}
    for record in records:
        message = record["message"]
        if message["role"] == "assistant":
            if message["id"] not in answers:
                answers[message["id"]] = {"role": "assistant", "content": [], "usage": None}
                merged.append(answers[message["id"]])
            answers[message["id"]]["content"].extend(message["content"])
            answers[message["id"]]["usage"] = message["usage"]
        else:
            merged.append({"role": "user", "content": message["content"]})
    return merged


# %% wrong: different answers
def merge_records(records):
    merged, answers, results = [], {}, None
    for record in records:
        message = record["message"]
        if message["role"] == "assistant":
            if message["id"] not in answers:
                answers[message["id"]] = {"role": "assistant", "content": [], "usage": None}
                merged.append(answers[message["id"]])
            answers[message["id"]]["content"].extend(message["content"])
            answers[message["id"]]["usage"] = message["usage"]
        elif isinstance(message["content"], list):
            if results is None:
                results = {"role": "user", "content": []}
                merged.append(results)
            results["content"].extend(message["content"])
        else:
            merged.append({"role": "user", "content": message["content"]})
    return merged
