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
    "vocabularies",  # chapter 03: what an exact count needs, without a download
    "tokens",  # chapter 03: how long is a text, a message, a request?
    "token_estimator",  # chapter 03: the same without a vocabulary, from what a text is made of
    "usage_count",  # chapter 03: what the provider billed, and an estimate of what came after
    "system_prompt",  # chapter 02: what the agent should always know, in sections and in one order
    "prompt_sources",  # chapter 02: the parts that are looked up: date, platform, git
    "memory_files",  # chapter 02: CLAUDE.md and AGENTS.md, and what can be odd about them
    "prompt_linter",  # chapter 02: sentences that belong in code
    "window",  # chapter 04: what fills the context window
    "retrieval",  # chapter 04: documents that were found, chosen and marked
    "client",  # chapter 01: one request, one response
    "tool_loading",  # chapter 04: tool definitions only when they are needed
    "events",  # chapter 01: what happens in a run, as values
    "agent",  # chapter 01: the loop
    "text_cuts",  # chapter 05: cut a text to a number of tokens, and say what is missing
    "history_parts",  # chapter 05: which part is old, and which must stay
    "partition",  # chapter 05: where each message went
    "compaction",  # chapter 05: a strategy edits, `apply` measures
    "transcript_text",  # chapter 05: a conversation as text, for a model that summarises it
    "digest",  # chapter 05: a summary that rules write
    "strategies",  # chapter 05: the five
    "ladder",  # chapter 06: steps from gentle to harsh, and one climb
    "manager",  # chapter 06: keep a conversation within its window
    "levels",  # chapter 06: two ladders as data
    "summary_text",  # chapter 07: what a summary is asked for, and a parser that no bad one passes
    "summarize",  # chapter 07: let a model rewrite its own memory
    "journal_file",  # chapter 07: a file of records that survives being killed
    "transcript",  # chapter 07: everything that was said, on disk, and the view from which to go on
    "microcompact",  # chapter 07: old tool results give way to a line
    "layers",  # chapter 07: micro, auto and manual as one ladder
    "prompt_cache",  # chapter 08: what is read, written and paid for in each request
    "spill",  # chapter 08: long texts in files of their own, and a tool to read them
    "tool_budget",  # chapter 08: tier 1, results that are too long go to a file
    "snip",  # chapter 08: the oldest rounds go, a mark stays
    "own_marks",  # chapter 08: a mark must not come back as a file's text
    "collapse",  # chapter 09: tier 4, the history is whole and the view is small
    "session_memory",  # chapter 09: tier 5, notes that are kept while the work goes on
    "tiers",  # chapter 09: all five as one ladder
    "restore",  # chapter 10: what a compaction takes and the work needs again
    "recovery",  # chapter 10: when the request was refused as too long
)
