"""Tools on demand: what is offered, what is loaded, and what a cache can keep of the list."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.agent import Agent, Tool
from course_lib.client import ScriptedClient
from course_lib.errors import SettingsError, ToolError
from course_lib.events import ToolFinished, record_run
from course_lib.messages import ToolResultBlock, ToolSpec, ToolUseBlock, assistant, user
from course_lib.tokens import MessageCounter
from course_lib.tool_loading import (
    FIND_TOOLS,
    ToolCatalogue,
    ToolGroup,
    ToolLoadingClient,
    definition_tokens,
    groups_from_json,
    sample_groups,
    shared_prefix_tokens,
)

COUNTER = MessageCounter(len)
ANYTHING = {"type": "object"}


def spec(name):
    """A tool that takes anything."""
    return ToolSpec(name, f"Does {name}.", ANYTHING)


READ, WRITE, GREP, MAIL, NOW = map(spec, ("read", "write", "grep", "send_mail", "now"))
CATALOGUE = ToolCatalogue(
    (ToolGroup("files", "Work on files.", (READ, WRITE, GREP)), ToolGroup("mail", "Send messages.", (MAIL,))),
    always=(NOW,),
)


def asked(*names, id_="c1", is_error=False):
    """A call of find_tools and its answer."""
    call = ToolUseBlock(id_, FIND_TOOLS, {"names": list(names)})
    return assistant(call), user(ToolResultBlock(id_, "Loaded.", is_error))


def names(tools):
    """The names of the tools, in order."""
    return [tool.name for tool in tools]


def test_a_conversation_begins_with_the_small_tool_and_what_is_always_there():
    """Nothing is loaded before it was asked for."""
    assert names(CATALOGUE.tools_for((user("go"),))) == [FIND_TOOLS, "now"]


def test_the_description_names_every_group_and_tool():
    """What the model is not told of it cannot ask for."""
    description = CATALOGUE.find_tools.description
    assert all(f"- {group.name}: {group.description}" in description for group in CATALOGUE.groups)
    assert all(tool.name in description for group in CATALOGUE.groups for tool in group.tools)
    assert "Does read." not in description


@pytest.mark.parametrize(
    ("asked_for", "loaded"),
    [
        (["write"], ["write"]),
        (["mail"], ["send_mail"]),
        (["files"], ["read", "write", "grep"]),
        (["grep", "read"], ["grep", "read"]),
        (["write", "files", "write"], ["write", "read", "grep"]),
    ],
    ids=str,
)
def test_tools_come_in_the_order_in_which_they_were_asked_for(asked_for, loaded):
    """By name or by group, each once; the answer says so as well."""
    history = (user("go"), *asked(*asked_for))
    assert names(CATALOGUE.tools_for(history)) == [FIND_TOOLS, "now", *loaded]
    assert CATALOGUE.find({"names": asked_for}) == f"Loaded: {', '.join(loaded)}."


def test_what_is_always_there_is_not_loaded_twice():
    """Asking for it is answered, and changes nothing."""
    assert names(CATALOGUE.tools_for((user("go"), *asked("now")))) == [FIND_TOOLS, "now"]


@pytest.mark.parametrize(
    "history",
    [
        (user("go"), asked("write")[0]),
        (user("go"), *asked("write", is_error=True)),
        (user("go"), asked("write")[0], user("no"), asked("write")[1]),
        (user("go"), assistant(ToolUseBlock("c1", FIND_TOOLS, {})), user(ToolResultBlock("c1", "?"))),
        (user("go"), assistant(ToolUseBlock("c1", FIND_TOOLS, {"names": "write"})), user(ToolResultBlock("c1", "?"))),
        (user("go"), assistant(ToolUseBlock("c1", FIND_TOOLS, {"names": [[], 3]})), user(ToolResultBlock("c1", "?"))),
        (user("go"), assistant(ToolUseBlock("c1", "read", {"names": ["write"]})), user(ToolResultBlock("c1", "?"))),
        (user("go"), *asked("unheard_of")),
    ],
    ids=["no answer", "an error", "too late", "no names", "no list", "strange names", "another tool", "unknown"],
)
def test_what_was_not_granted_is_not_loaded(history):
    """Only an answered call of find_tools with names that exist loads anything."""
    assert CATALOGUE.loaded_names(history) == ()


def test_parallel_calls_all_load():
    """Two calls in one message, the results in the other order."""
    first, second = (ToolUseBlock(id_, FIND_TOOLS, {"names": [name]}) for id_, name in (("a", "grep"), ("b", "mail")))
    history = (user("go"), assistant(first, second), user(ToolResultBlock("b", "ok"), ToolResultBlock("a", "ok")))
    assert CATALOGUE.loaded_names(history) == ("grep", "send_mail")


@pytest.mark.parametrize("given_names", [None, [], "files", [3], {"files": 1}])
def test_names_must_be_a_list_of_names(given_names):
    """The refusal shows what was given."""
    with pytest.raises(ToolError, match="expected a list with names"):
        CATALOGUE.find({"names": given_names})


@pytest.mark.parametrize(
    ("name", "words"), [("wirte", "did you mean write"), ("zzzz", "the groups are files, mail")], ids=str
)
def test_an_unknown_name_loads_nothing_and_shows_the_way(name, words):
    """One wrong name among right ones refuses the whole call."""
    with pytest.raises(ToolError, match=f"there is no tool '{name}', and nothing was loaded: {words}"):
        CATALOGUE.find({"names": ["read", name]})


@pytest.mark.parametrize(
    "groups",
    [
        (ToolGroup("a", "", (READ,)), ToolGroup("b", "", (READ,))),
        (ToolGroup("read", "", (READ,)),),
        (ToolGroup("a", "", (spec(FIND_TOOLS),)),),
        (ToolGroup("a", "", ()), ToolGroup("a", "", ())),
    ],
    ids=["tool twice", "group like tool", "find_tools", "group twice"],
)
def test_a_name_stands_for_one_thing(groups):
    """Else nobody knows what would be loaded."""
    with pytest.raises(SettingsError, match="names two things"):
        ToolCatalogue(groups)


@given(st.lists(st.lists(st.sampled_from(["read", "write", "grep", "files", "mail", "unheard_of"]), min_size=1)))
def test_the_list_only_grows_at_its_end(calls):
    """However a conversation goes on, the tools before stay the first ones, so a cache keeps them."""
    history, before = [user("go")], CATALOGUE.tools_for(())
    for number, asked_for in enumerate(calls):
        history += asked(*asked_for, id_=f"c{number}")
        after = CATALOGUE.tools_for(history)
        assert after[: len(before)] == before
        assert len(set(names(after))) == len(after)
        before = after


def test_after_a_compaction_the_loaded_tools_can_be_handed_on():
    """Without the calls they would be gone; named, they come first, and what is loaded anew behind them."""
    history = (user("go"), *asked("mail"))
    carried = CATALOGUE.loaded_names(history)
    shorter = (user("summary", kind="summary"), *asked("read", "mail"))
    assert names(CATALOGUE.tools_for(shorter)) == [FIND_TOOLS, "now", "read", "send_mail"]
    assert names(CATALOGUE.tools_for(shorter, loaded=(*carried, "gone"))) == [FIND_TOOLS, "now", "send_mail", "read"]


def run_with(loads):
    """Run an agent that looks for a tool first, or has all of them; return what its model got, and what happened."""
    tools = [Tool(spec, lambda _: "done") for spec in CATALOGUE.tools]
    finds = [Tool(CATALOGUE.find_tools, CATALOGUE.find)]
    calls = [ToolUseBlock("c1", "read", {}), ToolUseBlock("c2", "write", {})]
    load = [assistant(ToolUseBlock("c0", FIND_TOOLS, {"names": ["read", "write"]}))]
    script = [*(load if loads else []), *map(assistant, calls), "finished"]
    model = ScriptedClient(script)
    agent = Agent(ToolLoadingClient(model, CATALOGUE) if loads else model, tools + (finds if loads else []))
    return model, record_run(agent.run("go"))


def test_an_agent_works_with_tools_on_demand_and_does_not_know():
    """The model sees few definitions, the agent runs every tool, and the run ends well."""
    model, run = run_with(loads=True)
    assert run.error is None
    sent = [names(request.tools) for request in model.requests]
    assert sent == [[FIND_TOOLS, "now"]] + 3 * [[FIND_TOOLS, "now", "read", "write"]]
    results = [event.result for event in run.events if isinstance(event, ToolFinished)]
    assert [result.is_error for result in results] == [False] * 3


def test_the_wrapped_client_is_the_same_client():
    """Window, system prompt and reserve pass through, and tools of nobody's catalogue go along in front."""
    model = ScriptedClient(["hello"], window_tokens=9_000)
    client = ToolLoadingClient(model, CATALOGUE)
    client.complete((user("hi"),), system="brief", tools=(READ, spec("own")), max_tokens=77)
    request = model.requests[0]
    assert (client.window_tokens, request.system, request.max_tokens) == (9_000, "brief", 77)
    assert names(request.tools) == ["own", FIND_TOOLS, "now"]


def test_definitions_are_counted_in_every_round():
    """The sum over the rounds is what each round's list costs, as the counter says."""
    by_round = [(READ,), (READ, MAIL), ()]
    assert definition_tokens(by_round, counter=COUNTER) == 2 * COUNTER.tool(READ) + COUNTER.tool(MAIL)


@pytest.mark.parametrize(
    ("before", "after", "shared"),
    [
        ((), (READ,), ()),
        ((READ,), (READ, MAIL), (READ,)),
        ((READ, MAIL), (MAIL, READ), ()),
        ((READ, MAIL, NOW), (READ, NOW), (READ,)),
    ],
    ids=range(4),
)
def test_a_cache_keeps_what_both_lists_begin_with(before, after, shared):
    """Up to the first difference, and nothing behind it."""
    assert shared_prefix_tokens(before, after, counter=COUNTER) == sum(map(COUNTER.tool, shared))


def test_the_sample_tools_can_be_read():
    """What ships with the course makes a catalogue of its own, in groups."""
    groups = sample_groups()
    assert len(ToolCatalogue(groups).tools) == 14
    assert all(tool.input_schema["type"] == "object" for group in groups for tool in group.tools)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "3",
        "[3]",
        "{}x",
        '{"name": "a"}',
        '[{"name": "a", "description": "b"}]',
        '[{"name": "a", "description": "b", "tools": [{}]}]',
        '[{"name": "a", "description": "b", "tools": 3}]',
        '[{"name": "a", "description": "b", "tools": [{"name": "x", "description": "y", "input_schema": "z"}]}]',
        "[" * 100_000,
    ],
)
def test_what_is_no_list_of_groups_is_refused_with_its_place(text):
    """Broken JSON, other types, missing keys."""
    with pytest.raises(SettingsError, match=r"my\.json cannot be read"):
        groups_from_json(text, where="my.json")


def test_an_empty_list_has_no_groups():
    """Nothing to load is no error."""
    assert groups_from_json(json.dumps([])) == ()
