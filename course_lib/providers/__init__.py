"""Real models behind the course's one protocol: Anthropic, OpenAI, and every server that speaks like OpenAI.

The leaf that knows HTTP. Read it after chapter 01, or never: all chapters run on the offline model.

    settings          which provider, which model, which key: environment variables, or an object
    anthropic_client  `AnthropicClient`, on Anthropic's SDK
    openai_client     `OpenAIClient`, on OpenAI's SDK; with a base address also Ollama, llama.cpp, vLLM, DeepSeek, Qwen
    sdk_calls         what both clients share: every exception of an SDK becomes one of `course_lib.errors`
    error_shapes      which error is it? one recogniser for the error bodies of all of them
    refusals          the same the other way round: how each provider would refuse a request, without asking it

Importing this package imports no SDK; making a client does. A key is never printed, logged or stored.
"""
