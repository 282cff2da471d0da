"""Small logs of our own, one for each format: the same short session, as each program would have written it.

Somebody asks what is in two files, the model calls a tool twice, and answers. What a program logs beside that is there
as well. Each function returns the JSON values of the file, one a line; a list with one value is a document.
"""

import json

QUESTION, ANSWER, SYSTEM = "What is in a.txt and b.txt?", "Two greetings.", "You are careful."
RESULTS = {"c1": "hello", "c2": "good day"}


def claude(kind, uuid, parent, message=None, **fields):
    """One record of Claude Code."""
    record = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "isSidechain": False, **fields}
    return record if message is None else {**record, "message": message}


def claude_answer(message_id, block, *, output=5, stop=None, read=0, **fields):
    """The message of one assistant record: one block, and the usage that every piece repeats."""
    usage = {
        "input_tokens": 3,
        "cache_creation_input_tokens": 100,
        "cache_read_input_tokens": read,
        "output_tokens": output,
    }
    message = {"id": message_id, "role": "assistant", "model": "m", "content": [block], "usage": usage}
    return {**message, "stop_reason": stop, **fields}


def claude_result(tool_use_id, content, **fields):
    """The message of one result record."""
    block = {"type": "tool_result", "tool_use_id": tool_use_id, "content": content, **fields}
    return {"role": "user", "content": [block]}


def text(words):
    """A text block."""
    return {"type": "text", "text": words}


def call(tool_use_id, path):
    """A call in Anthropic's shape."""
    return {"type": "tool_use", "id": tool_use_id, "name": "read_file", "input": {"path": path}}


def claude_code():
    """Claude Code: pieces of one answer with results between them, usage on each piece, notes in the chain."""
    return [
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}, "isSnapshotUpdate": False},
        claude("user", "u1", None, {"role": "user", "content": QUESTION}),
        claude("assistant", "a1", "u1", claude_answer("m1", {"type": "thinking", "thinking": "hm", "signature": "s"})),
        claude("assistant", "a2", "a1", claude_answer("m1", call("c1", "a.txt"), output=9)),
        claude("progress", "p1", "a2", data={"type": "hook_progress"}),
        claude("user", "r1", "a2", claude_result("c1", RESULTS["c1"]), toolUseResult={"file": "hello" * 9}),
        claude("assistant", "a3", "a2", claude_answer("m1", call("c2", "b.txt"), output=20, stop="tool_use")),
        claude("user", "r2", "a3", claude_result("c2", RESULTS["c2"]), toolUseResult="good day"),
        claude("system", "y1", "r2", subtype="turn_duration", durationMs=3),
        claude(
            "assistant", "a4", "r2", claude_answer("m2", {"type": "text", "text": ANSWER}, read=100, stop="end_turn")
        ),
    ]


def codex_item(kind, **payload):
    """One response item of a rollout."""
    return {"timestamp": "t", "type": "response_item", "payload": {"type": kind, **payload}}


def codex_tokens(input_tokens, cached, output, total):
    """A token_count event; `total` is the sum of all inputs so far."""
    last = {"input_tokens": input_tokens, "cached_input_tokens": cached, "output_tokens": output}
    info = {"last_token_usage": last, "total_token_usage": {"input_tokens": total, "output_tokens": output}}
    return {"timestamp": "t", "type": "event_msg", "payload": {"type": "token_count", "info": info}}


def codex():
    """Codex CLI: outputs before the token count, copies for the screen, a count without info and a repeated one."""
    content = [{"type": "input_text", "text": QUESTION}]
    return [
        {"type": "session_meta", "payload": {"id": "s1", "base_instructions": {"text": SYSTEM}}},
        {"type": "turn_context", "payload": {"model": "m"}},
        codex_item("message", role="user", content=content),
        {"type": "event_msg", "payload": {"type": "user_message", "message": QUESTION}},
        {"type": "event_msg", "payload": {"type": "token_count", "info": None}},
        codex_item("reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
        codex_item("function_call", name="read_file", arguments='{"path": "a.txt"}', call_id="c1"),
        codex_item("function_call", name="read_file", arguments='{"path": "b.txt"}', call_id="c2"),
        codex_item("function_call_output", call_id="c1", output=RESULTS["c1"]),
        codex_item("function_call_output", call_id="c2", output=RESULTS["c2"]),
        codex_tokens(103, 0, 20, 103),
        codex_tokens(103, 0, 20, 103),
        codex_item("message", role="assistant", content=[{"type": "output_text", "text": ANSWER}]),
        codex_tokens(203, 100, 5, 306),
    ]


def pi_message(**message):
    """One message line of Pi."""
    return {"type": "message", "timestamp": "t", "message": message}


def pi():
    """Pi: one result a line, a note between."""
    calls = [{"type": "toolCall", "id": i, "name": "read_file", "arguments": {"path": p}} for i, p in PATHS]
    return [
        {"type": "session", "id": "s1", "cwd": "/w", "modelId": "m"},
        pi_message(role="user", content=[{"type": "text", "text": QUESTION}]),
        pi_message(
            role="assistant",
            content=[{"type": "thinking", "thinking": "hm", "thinkingSignature": "s"}, *calls],
            usage={"input": 3, "output": 20, "cacheRead": 0, "cacheWrite": 100},
            stopReason="toolUse",
            model="m",
        ),
        {"type": "thinking_level_change", "thinkingLevel": "low"},
        pi_message(role="toolResult", toolCallId="c1", content=[{"type": "text", "text": "hello"}], isError=False),
        pi_message(role="toolResult", toolCallId="c2", content=[{"type": "text", "text": "good day"}], isError=False),
        pi_message(
            role="assistant",
            content=[{"type": "text", "text": ANSWER}],
            usage={"input": 3, "output": 5, "cacheRead": 100, "cacheWrite": 100},
            stopReason="stop",
            model="m",
        ),
    ]


PATHS = (("c1", "a.txt"), ("c2", "b.txt"))


def gemini_messages():
    """The messages of Gemini CLI: call and result in one."""
    tool_calls = [
        {
            "id": i,
            "name": "read_file",
            "args": {"path": path},
            "status": "success",
            "result": [{"functionResponse": {"id": i, "name": "read_file", "response": {"output": RESULTS[i]}}}],
        }
        for i, path in PATHS
    ]
    tokens = {"input": 103, "output": 12, "cached": 0, "thoughts": 8, "tool": 0, "total": 123}
    later = {"input": 203, "output": 5, "cached": 100, "thoughts": 0, "tool": 0, "total": 208}
    return [
        {"id": "1", "type": "user", "content": [{"text": QUESTION}]},
        {
            "id": "2",
            "type": "gemini",
            "content": "",
            "thoughts": [{"subject": "hm", "description": ""}],
            "tokens": tokens,
            "model": "m",
            "toolCalls": tool_calls,
        },
        {"id": "3", "type": "info", "content": "a note for the person"},
        {"id": "4", "type": "gemini", "content": ANSWER, "tokens": later, "model": "m"},
    ]


def gemini_old():
    """Gemini CLI, one document."""
    return [{"sessionId": "s1", "projectHash": "h", "messages": gemini_messages()}]


def gemini_new():
    """Gemini CLI, one record a line: patches, and the message with calls written twice."""
    first, answer, *rest = gemini_messages()
    early = {key: value for key, value in answer.items() if key != "toolCalls"}
    patch = {"$set": {"lastUpdated": "t"}}
    return [{"sessionId": "s1", "projectHash": "h", "kind": "main"}, first, patch, early, patch, answer, patch, *rest]


def chat_messages():
    """The messages of Chat Completions."""
    calls = [
        {"id": i, "type": "function", "function": {"name": "read_file", "arguments": json.dumps({"path": path})}}
        for i, path in PATHS
    ]
    return [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": RESULTS["c1"]},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": RESULTS["c2"]}]},
        {"role": "assistant", "content": ANSWER},
    ]


def completion(message, number, prompt, cached, output):
    """A response of Chat Completions."""
    usage = {"prompt_tokens": prompt, "completion_tokens": output, "prompt_tokens_details": {"cached_tokens": cached}}
    return {
        "id": f"r{number}",
        "object": "chat.completion",
        "model": "m",
        "choices": [{"message": message}],
        "usage": usage,
    }


def chat_tools():
    """The tool definitions of Chat Completions."""
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    return [{"type": "function", "function": {"name": "read_file", "description": "Reads.", "parameters": schema}}]


def chat_requests():
    """Chat Completions: every request repeats the whole prefix."""
    messages = chat_messages()
    request = {"model": "m", "tools": chat_tools()}
    return [
        {"request": {**request, "messages": messages[:2]}, "response": completion(messages[2], 1, 103, 0, 20)},
        {"request": {**request, "messages": messages[:5]}, "response": completion(messages[5], 2, 203, 100, 5)},
    ]


def chat_log():
    """One call of an OpenHands-like log."""
    messages = chat_messages()
    return [
        {
            "messages": messages[:5],
            "tools": chat_tools(),
            "context_window": 200_000,
            "response": completion(messages[5], 2, 203, 100, 5),
            "cost": 0.1,
        }
    ]


def responses_items():
    """Input items of the Responses API, answer included."""
    calls = [
        {"type": "function_call", "call_id": i, "name": "read_file", "arguments": json.dumps({"path": path})}
        for i, path in PATHS
    ]
    outputs = [{"type": "function_call_output", "call_id": i, "output": result} for i, result in RESULTS.items()]
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]}
    reasoning = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
    return [{"role": "user", "content": QUESTION}, reasoning, *calls, *outputs, answer]


def responses_response(number, output, input_tokens, cached, output_tokens):
    """A response of the Responses API."""
    usage = {
        "input_tokens": input_tokens,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": output_tokens,
    }
    return {"id": f"r{number}", "object": "response", "model": "m", "output": output, "usage": usage}


def responses_requests():
    """Responses API: the second request holds only what is new."""
    items = responses_items()
    tools = [{"type": "function", **chat_tools()[0]["function"]}]
    first = {"model": "m", "instructions": SYSTEM, "tools": tools, "input": items[:1]}
    second = {**first, "previous_response_id": "r1", "input": items[4:6]}
    return [
        {"request": first, "response": responses_response(1, items[1:4], 103, 0, 20)},
        {"request": second, "response": responses_response(2, items[6:], 203, 100, 5)},
    ]


def anthropic_messages():
    """The messages of Anthropic's API: all results in one."""
    results = [{"type": "tool_result", "tool_use_id": i, "content": result} for i, result in RESULTS.items()]
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    return [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": [thinking, call("c1", "a.txt"), call("c2", "b.txt")]},
        {"role": "user", "content": results},
        {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
    ]


def anthropic_response(number, message, read, output):
    """A response of the Messages API."""
    usage = {
        "input_tokens": 3,
        "cache_creation_input_tokens": 100,
        "cache_read_input_tokens": read,
        "output_tokens": output,
    }
    return {**message, "type": "message", "id": f"r{number}", "model": "m", "stop_reason": "end_turn", "usage": usage}


def anthropic_requests():
    """A trace of Anthropic's API: every request repeats the prefix, and a call for a title stands between."""
    messages = anthropic_messages()
    tools = [{"name": "read_file", "description": "Reads.", "input_schema": {"type": "object"}}]
    body = {"model": "m", "max_tokens": 9, "system": [{"type": "text", "text": SYSTEM}], "tools": tools}
    title = {"model": "small", "max_tokens": 9, "messages": [{"role": "user", "content": "Title?"}]}
    url = "https://api.anthropic.com/v1/messages"
    return [
        {"request": {"url": url, "body": title}, "response": {"body": anthropic_response(0, {"content": []}, 0, 0)}},
        {
            "request": {"url": url, "body": {**body, "messages": messages[:1]}},
            "response": {"body": anthropic_response(1, messages[1], 0, 20)},
        },
        {
            "request": {"url": url, "body": {**body, "messages": messages[:3]}},
            "response": {"body": anthropic_response(2, messages[3], 100, 5)},
        },
    ]


def tau_bench():
    """tau-bench: a list of runs."""
    return [[{"task_id": 0, "trial": 0, "reward": 1.0, "info": {}, "traj": chat_messages()}]]


def swe_agent():
    """SWE-agent: a list of ids on a result."""
    history = [{**message, "agent": "main"} for message in chat_messages()]
    for message in history:
        if "tool_call_id" in message:
            message["tool_call_ids"] = [message.pop("tool_call_id")]
    return [{"environment": "e", "trajectory": [{"action": "x"}], "history": history, "info": {"submission": "diff"}}]


def mini_swe_agent():
    """mini-swe-agent 1.1: calls, usage inside the message, an exit message that was never sent."""
    messages = chat_messages()
    messages[2]["extra"] = {"response": completion(chat_messages()[2], 1, 103, 0, 20)}
    messages[5]["extra"] = {"response": completion(chat_messages()[5], 2, 203, 100, 5)}
    messages.append({"role": "exit", "content": "diff --git", "extra": {"exit_status": "Submitted"}})
    return [{"trajectory_format": "mini-swe-agent-1.1", "messages": messages, "info": {"submission": "diff --git"}}]


SAMPLES = {
    "Claude Code": claude_code,
    "Codex CLI": codex,
    "Pi": pi,
    "Gemini CLI old": gemini_old,
    "Gemini CLI new": gemini_new,
    "OpenAI Chat Completions": lambda: [chat_messages()],
    "OpenAI Chat Completions, a message a line": chat_messages,
    "OpenAI Chat Completions, requests": chat_requests,
    "OpenAI Chat Completions, one call": chat_log,
    "OpenAI Responses": responses_requests,
    "OpenAI Responses, items": lambda: [responses_items()],
    "OpenAI Responses, an item a line": responses_items,
    "Anthropic Messages": anthropic_requests,
    "Anthropic Messages, a list": lambda: [anthropic_messages()],
    "Anthropic Messages, a message a line": anthropic_messages,
    "tau-bench trajectories": tau_bench,
    "SWE-agent trajectory": swe_agent,
    "mini-swe-agent trajectory": mini_swe_agent,
}
BILLED = {name for name in SAMPLES if name.endswith(("requests", "old", "new"))} | {
    "Claude Code",
    "Codex CLI",
    "Pi",
    "OpenAI Responses",
    "Anthropic Messages",
    "mini-swe-agent trajectory",
}


def lines(values):
    """The values as the bytes of a file, one a line."""
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)
