"""How an agent's context is managed, step by step: a small library to read like a book.

`READING_ORDER` is the table of contents. Each module imports only modules before it, so a reader who goes
through them in this order never meets a name that was not explained; a test holds every module to it.
Importing the package itself does nothing: every name is imported from the module that explains it.

The leaves (`providers`, `simulation`, `widgets`, `learner`, `checks`, `environment`, the command line) build on the
book and are never imported by it.
"""

__version__ = "0.1.0"

READING_ORDER = (
    "errors",  # what can go wrong, and the way out
    "messages",  # chapter 01: the values a conversation is made of
    "wire_anthropic",  # chapter 01: the conversation in the shape of Anthropic's API
    "wire_openai",  # chapter 01: the same in OpenAI's, which many servers speak
    "tool_pairs",  # chapter 01: a call and its result are one thing
    "tokens",  # chapter 03: how long is a text, a message, a request?
    "window",  # chapter 04: what fills the context window
    "client",  # chapter 01: one request, one response
    "events",  # chapter 01: what happens in a run, as values
    "agent",  # chapter 01: the loop
)
