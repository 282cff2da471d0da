"""The offline model: it finishes a real task, knows only what the request shows, and is as strict as the APIs."""

from dataclasses import replace

import pytest

from course_lib.client import Request
from course_lib.errors import ContextOverflowError, InvalidRequestError, PairingError
from course_lib.events import record_run
from course_lib.messages import ToolResultBlock, ToolUseBlock, assistant, message_text, tool_results, tool_uses, user
from course_lib.simulation.offline_model import OfflineModel
from course_lib.simulation.scenario import REFACTORING, build_agent, measure_outcome, repeated_reads
from course_lib.simulation.workspace import make_workspace
from course_lib.window import Window

LARGE = replace(REFACTORING, window=Window(context_tokens=128_000, reserve_tokens=2_000))
LISTING = "freight/billing/vat.py\nfreight/core/address.py\nfreight/core/money.py\nvendor/geogrid.py\n4 files"
ADDRESS = "def parcel_weight_kg(parcel_count):\n    return parcel_count * 2.0\n"


@pytest.fixture(scope="module")
def whole_run():
    """One run in a large window, with what it left behind."""
    with make_workspace() as workspace:
        before = workspace.snapshot()
        run = record_run(build_agent(workspace, scenario=LARGE).run(LARGE.task))
        return run, measure_outcome(workspace, before)


@pytest.fixture(scope="module")
def model():
    """The offline model with room for everything."""
    return OfflineModel(window_tokens=128_000)


def ask(model, *messages):
    """Return what the model says and calls, given the messages."""
    return model.complete(messages, system=REFACTORING.system).message


def paths(message):
    """Return the paths that the message's calls name."""
    return [call.input.get("path") for call in tool_uses(message)]


def called(name, arguments, result, number=90):
    """Return a call and its result as two messages."""
    call = ToolUseBlock(f"call_{number}", name, arguments)
    return assistant(call), user(ToolResultBlock(call.id, result))


def listed(text=LISTING, number=90):
    """Return a look at the files, as two messages."""
    return called("list_files", {"path": "."}, text, number)


def read(path, text, number=91):
    """Return a file that was read, as two messages."""
    return called("read_file", {"path": path}, f"{path} ({len(text.splitlines())} lines)\n{text}", number)


def test_it_finishes_the_task_with_every_constraint_kept(whole_run):
    """With all of the conversation in sight the whole task is done in fifty to a hundred rounds."""
    run, outcome = whole_run
    assert run.error is None
    assert run.events[-1].is_complete
    assert 50 <= run.rounds <= 100
    assert outcome.is_complete, outcome
    assert repeated_reads(run) == 0


def test_the_same_run_happens_again(whole_run):
    """A second run, in another folder, says and does exactly the same."""
    with make_workspace() as workspace:
        again = record_run(build_agent(workspace, scenario=LARGE).run(LARGE.task))
    assert again.requests[-1].messages == whole_run[0].requests[-1].messages


def test_its_answer_depends_on_the_request_alone(whole_run):
    """Asked out of order, by a fresh model, each request gets the answer it got in the run."""
    run, _ = whole_run
    for request, response in list(zip(run.requests, run.responses, strict=True))[::-9]:
        fresh = OfflineModel(window_tokens=LARGE.window.context_tokens)
        again = fresh.complete(
            request.messages, system=request.system, tools=request.tools, max_tokens=request.max_tokens
        )
        assert again == response


def test_it_dies_in_the_small_window():
    """With nothing managed the run of chapter 00 ends in the middle, with an overflow and work left to do."""
    with make_workspace() as workspace:
        before = workspace.snapshot()
        run = record_run(build_agent(workspace).run(REFACTORING.task))
        outcome = measure_outcome(workspace, before)
    assert isinstance(run.error, ContextOverflowError)
    assert 0 < outcome.modules_done < outcome.modules_total


def test_without_a_task_it_asks_for_one(model):
    """It does not invent work."""
    reply = ask(model, user("Hello!"))
    assert not tool_uses(reply)
    assert message_text(reply).endswith("?")


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("Use the word 'shipment', not 'parcel', in all new text.", "shipment"),
        ("Note from the user: say shipment instead of parcel.", "shipment"),
        ("", "parcel"),
    ],
)
def test_the_wording_order_holds_only_while_it_is_in_sight(model, order, expected):
    """Take the order out of the request and the model writes the word that it finds in the code."""
    history = (user(f"Add docstrings to all modules. {order}"), *listed(), *read("freight/core/address.py", ADDRESS))
    done = user("freight/billing/vat.py is done.")
    new_text = tool_uses(ask(model, *history, done))[-1].input["new_text"]
    assert f"the {expected} weight" in new_text


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("Never touch anything under vendor/.", []),
        ("The vendor/ folder is off limits.", []),
        ("", ["vendor/geogrid.py"]),
    ],
)
def test_a_folder_is_spared_only_while_the_order_is_in_sight(model, order, expected):
    """Take the order out of the request and the model goes on into the forbidden folder."""
    history = (
        user(f"Add docstrings to all modules. {order}"),
        *listed(),
        user("Done: freight/billing/vat.py, freight/core/address.py, freight/core/money.py"),
    )
    assert [path for path in paths(ask(model, *history)) if path] == expected


def test_without_the_list_of_done_files_it_starts_again(model):
    """A summary that says what is done saves work; without that sentence the model begins at the first file."""
    task = user("Add docstrings to all modules.")
    reminded = ask(model, task, *listed(), user("Already finished: freight/billing/vat.py, freight/core/address.py"))
    forgetful = ask(
        model, task, *listed(), user("Some modules."), *called("run_command", {}, "3 tests, 0 failures", 92)
    )
    assert paths(reminded) == ["freight/core/money.py"]
    assert paths(forgetful) == ["freight/billing/vat.py"]


@pytest.mark.parametrize(
    "result",
    [
        "[old tool result cleared]",
        "freight/core/address.py (2 lines)\ndef parcel_weight_kg(parcel_count):\n",
        "freight/core/address.py (900 lines)\n" + ADDRESS,
        "",
    ],
)
def test_a_file_that_was_shortened_is_read_again(model, result):
    """It edits nothing that it cannot see in full."""
    history = (
        user("Add docstrings to all modules. freight/billing/vat.py is done."),
        *listed(),
        *called("read_file", {"path": "freight/core/address.py"}, result or "(no output)", 91),
    )
    reply = ask(model, *history)
    assert [call.name for call in tool_uses(reply)] == ["read_file"]
    assert paths(reply) == ["freight/core/address.py"]


def test_a_failed_edit_makes_it_look_again(model):
    """An error result on an edit means that the file is not what it was thought to be."""
    call = ToolUseBlock("call_95", "edit_file", {"path": "freight/core/address.py", "old_text": "x", "new_text": "y"})
    history = (
        user("Add docstrings to all modules. freight/billing/vat.py is done."),
        *listed(),
        *read("freight/core/address.py", ADDRESS),
        assistant(call),
        user(ToolResultBlock(call.id, "old_text is not in the file", is_error=True)),
    )
    assert paths(ask(model, *history)) == ["freight/core/address.py"]


def test_a_lesson_is_used_only_while_it_is_in_sight(model):
    """What a test taught early is applied later, if it can still be read, in whatever words."""
    function = "def fee_cents(a_exact):\n    return a_exact  # TODO: round to whole cents\n"
    text = f"from freight.core.units import x\n\n\n{function}"
    history = (user("Add docstrings to all modules. freight/billing/vat.py is done."), *listed())
    file = read("freight/core/address.py", text)
    lesson = user("Errors and fixes: prices are rounded half up, with half_up_cents of freight.core.money.")
    edits = [str(call.input["new_text"]) for call in tool_uses(ask(model, *history, *file))]
    knowing = [str(call.input["new_text"]) for call in tool_uses(ask(model, *history, lesson, *file))]
    assert any("return round(a_exact)" in edit for edit in edits)
    assert any("return half_up_cents(a_exact)" in edit for edit in knowing)


def test_a_module_that_is_wrongly_called_open_does_not_end_the_work(model):
    """A summary may be stale: a file that needs nothing is passed over, and the next one is taken."""
    finished = '"""Address."""\n\n\ndef price_cents(weight_kg: float) -> int:\n    """Return it."""\n    return 5\n'
    history = (
        user("Add docstrings to all modules. Done: freight/billing/vat.py. Still open: freight/core/address.py"),
        *listed(),
        *read("freight/core/address.py", finished),
    )
    assert paths(ask(model, *history)) == ["freight/core/money.py"]


def test_what_was_overlooked_is_found_and_done(model):
    """When tests fail although everything seems done, the model looks for remarks and opens those files."""
    history = (
        user("Add docstrings. Never touch vendor/. Done: freight/billing/vat.py, freight/core/address.py."),
        user("Finished: freight/core/money.py"),
        *listed(),
        *called("run_command", {}, "4 of 4 modules up to standard", 92),
        *called("run_command", {}, "FAIL test_a.T.test_b\n3 tests, 1 failure", 93),
    )
    looking = ask(model, *history)
    assert [call.input.get("pattern") for call in tool_uses(looking)] == ["TODO"]
    found = called("grep", {"pattern": "TODO"}, "freight/core/money.py:4: # TODO: round\n1 match in 1 of 4 files", 94)
    assert paths(ask(model, *history, *found)) == ["freight/core/money.py"]


def test_who_wrote_the_context_makes_no_difference(model):
    """The marks that compactions leave on their messages tell the model nothing."""
    text = "Add docstrings to all modules. Done: freight/billing/vat.py"
    answers = {ask(model, user(text, kind=kind), *listed()) for kind in ("chat", "summary", "boundary", "restored")}
    assert len(answers) == 1


def test_call_ids_never_repeat_in_sight(whole_run):
    """Every call of a run has an id of its own."""
    ids = [call.id for message in whole_run[0].requests[-1].messages for call in tool_uses(message)]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("dialect", ["anthropic", "openai"])
def test_broken_pairs_are_refused(dialect):
    """A call without its result is refused, in the words of the provider that it stands for."""
    model = OfflineModel(dialect=dialect)
    broken = (user("Add docstrings."), assistant(ToolUseBlock("call_1", "list_files", {})), user("Well?"))
    with pytest.raises(PairingError, match=r"tool_result|tool_call_id"):
        model.complete(broken)


@pytest.mark.parametrize("dialect", ["anthropic", "openai"])
def test_the_window_is_a_sharp_edge(dialect):
    """A request that just fits is answered; with one token less of window it is refused."""
    messages = (user("Add docstrings to all modules."),)
    counter = OfflineModel().counter
    tokens = counter.request(messages)
    fits = OfflineModel(dialect=dialect, window_tokens=tokens + 500).complete(messages, max_tokens=500)
    assert fits.usage.context_tokens == tokens
    with pytest.raises(ContextOverflowError):
        OfflineModel(dialect=dialect, window_tokens=tokens + 499).complete(messages, max_tokens=500)


@pytest.mark.parametrize("messages", [(), (assistant("Hi"),), (user(""),)])
def test_malformed_requests_are_refused(model, messages):
    """What no provider accepts is not accepted here."""
    with pytest.raises(InvalidRequestError):
        model.complete(messages)


def test_usage_is_what_was_sent(whole_run):
    """The billed tokens of each call are the counted tokens of its request."""
    run, _ = whole_run
    counter = OfflineModel().counter
    for request, response in zip(run.requests[::20], run.responses[::20], strict=True):
        assert isinstance(request, Request)
        counted = counter.request(request.messages, system=request.system, tools=request.tools)
        assert response.usage.context_tokens == counted


def test_the_wrong_turn_comes_early_and_only_once(whole_run):
    """The first rounding goes wrong and teaches the lesson; with the lesson in sight no later one does."""
    run, _ = whole_run
    corrections = [i for i, r in enumerate(run.responses) if message_text(r.message).startswith("Lesson")]
    assert len(corrections) == 1
    assert corrections[0] < run.rounds / 4


def test_the_tool_results_are_the_largest_part(whole_run):
    """As in real agents, results take up most of the window."""
    counter = OfflineModel().counter
    messages = whole_run[0].requests[-1].messages
    results = sum(counter.block(block) for message in messages for block in tool_results(message))
    assert 0.4 < results / counter.messages(messages) < 0.75
