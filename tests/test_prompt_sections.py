"""The running task's nine sections: each changes what the offline model does, and it knows no other way to be told."""

from dataclasses import replace
from itertools import pairwise

import pytest

from course_lib.events import record_run
from course_lib.messages import ToolResultBlock, ToolUseBlock, assistant, message_text, tool_results, tool_uses, user
from course_lib.prompt_linter import lint, lint_text
from course_lib.simulation.offline_model import OfflineModel
from course_lib.simulation.perception import PATIENCE
from course_lib.simulation.prompt_sections import (
    MEMORY_FILE,
    NINE_SECTIONS,
    TASK_CONSTRAINTS,
    scenario_with,
    standard_sections,
)
from course_lib.simulation.prompt_trials import read_anew, try_prompt
from course_lib.simulation.sample_prompts import SAMPLE_PROMPTS
from course_lib.simulation.scenario import REFACTORING, build_agent
from course_lib.simulation.wording import advice, forbidden_folders, states_task, word_rules
from course_lib.simulation.workspace import make_workspace
from course_lib.system_prompt import SECTIONS, Section, build_system_prompt

MODEL = OfflineModel()
ALL_ADVICE = {"loop", "no_shell", "look_first", "evidence", "whole_task", "read_errors", "report"}
LISTING = "freight/billing/dunning.py\nfreight/core/money.py\n2 files"
ROUNDING = (
    "from freight.core.units import x\n\n\ndef fee_cents(a_exact):\n    return a_exact  # TODO: round to whole cents\n"
)


def prompt_without(*names):
    """The nine sections less those named, as text."""
    return build_system_prompt(standard_sections(without=names)).text


def ask(system, *messages):
    """What the model says and calls."""
    return MODEL.complete(messages, system=system).message


def called(name, arguments, result, number, *, is_error=False):
    """A call and its result, as two messages."""
    call = ToolUseBlock(f"call_{number}", name, arguments)
    return assistant(call), user(ToolResultBlock(call.id, result, is_error=is_error))


TASK = user(REFACTORING.task)
LISTED = (TASK, *called("list_files", {"path": "."}, LISTING, 1))
TESTED = (*LISTED, *called("run_command", {"command": "python -m tests"}, "FAIL t.T.a\n3 tests, 1 failure", 2))


def short_run(system, max_rounds=14):
    """The first rounds of a real run, and what stands in the memory file after it."""
    scenario = replace(scenario_with(system), max_rounds=max_rounds)
    with make_workspace() as workspace:
        run = record_run(build_agent(workspace, scenario=scenario, client=OfflineModel()).run(scenario.task))
        memory = workspace.root / MEMORY_FILE
        return run, memory.read_text(encoding="utf-8") if memory.exists() else ""


def edits_with(run, text):
    """How many edits of a run put the text into a file."""
    calls = [call for response in run.responses for call in tool_uses(response.message)]
    return sum(text in str(call.input.get("new_text", "")) for call in calls)


def test_there_is_a_text_for_each_stable_section():
    """The nine, in their order, and every piece of advice that the model knows is in them."""
    names = [section.name for section in standard_sections()]
    assert names == [kind.name for kind in SECTIONS if kind.is_stable]
    assert advice(NINE_SECTIONS.system) == ALL_ADVICE


def test_the_sections_say_nothing_by_accident():
    """They hold no constraint, no word rule and no task; and the linter finds nothing that belongs in code."""
    text = NINE_SECTIONS.system
    assert (forbidden_folders(text), word_rules(text), states_task(text)) == (set(), {}, False)
    assert lint(build_system_prompt(standard_sections())) == ()


def test_the_constraints_of_the_task_can_be_moved_into_the_prompt():
    """In other words than the user's, they say the same."""
    assert forbidden_folders(TASK_CONSTRAINTS) == forbidden_folders(REFACTORING.task) == {"vendor/"}
    assert word_rules(TASK_CONSTRAINTS) == word_rules(REFACTORING.task) == {"parcel": "shipment"}


def test_the_short_prompt_of_chapter_00_advises_all_but_one_thing():
    """It says nothing of evidence: that is why the wrong turn of the first chapters happens."""
    assert advice(REFACTORING.system) == ALL_ADVICE - {"evidence"}


@pytest.mark.parametrize("system", ["", prompt_without("identity")])
def test_without_identity_it_asks_whether_it_may_start(system):
    """No call, so the loop ends; the user's word lets it go on, and so does the section."""
    reply = ask(system, *LISTED)
    assert message_text(reply).endswith("?")
    assert not tool_uses(reply)
    assert tool_uses(ask(system, *LISTED, reply, user("Yes, go ahead.")))
    assert tool_uses(ask(prompt_without(), *LISTED))


def test_without_environment_it_tries_a_shell_and_learns_from_the_error():
    """The tool's own words teach it, for as long as they can be seen."""
    system = prompt_without("environment")
    (guess,) = tool_uses(ask(system, *LISTED))
    assert guess.input == {"command": 'bash -c "python -m tests"'}
    error = "program 'bash' is not allowed: start the command with python"
    after = (*LISTED, *called("run_command", guess.input, error, 2, is_error=True))
    assert tool_uses(ask(system, *after))[0].input == {"command": "python -m tests"}
    assert tool_uses(ask(prompt_without(), *LISTED))[0].input == {"command": "python -m tests"}


@pytest.mark.parametrize("times", range(1, PATIENCE + 3))
def test_without_recovery_it_repeats_a_failing_call_before_it_reads_the_error(times):
    """It repeats as often as its patience lasts, and only then the error teaches it."""
    system = prompt_without("environment", "recovery")
    history, call = LISTED, {"command": 'bash -c "python -m tests"'}
    error = "program 'bash' is not allowed: start the command with python"
    for number in range(times):
        history = (*history, *called("run_command", call, error, 2 + number, is_error=True))
    (next_call,) = tool_uses(ask(system, *history))
    assert next_call.input == (call if times <= PATIENCE else {"command": "python -m tests"})


def test_without_recovery_other_failures_and_a_success_start_the_count_anew():
    """Patience is for one and the same call."""
    failed = called("run_command", {"command": "python -m a"}, "no such module", 3, is_error=True)
    other = called("run_command", {"command": "python -m b"}, "no such module", 4, is_error=True)
    fine = called("run_command", {"command": "python -m c"}, "3 tests, 0 failures", 5)
    system = prompt_without("recovery")
    assert tool_uses(ask(system, *TESTED, *failed, *other))[0].input == {"command": "python -m b"}
    assert tool_uses(ask(system, *TESTED, *failed, *fine))[0].name == "read_file"


def test_without_tool_use_it_edits_what_it_has_not_read():
    """The error teaches it for this file only; the section would have taught it for all."""
    system = prompt_without("tool_use")
    (blind,) = tool_uses(ask(system, *TESTED))
    assert (blind.name, blind.input["path"]) == ("edit_file", "freight/billing/dunning.py")
    failed = called("edit_file", blind.input, "old_text occurs 0 times in it", 3, is_error=True)
    (look,) = tool_uses(ask(system, *TESTED, *failed))
    assert (look.name, look.input["path"]) == ("read_file", "freight/billing/dunning.py")
    assert tool_uses(ask(prompt_without(), *TESTED))[0].name == "read_file"


def test_without_uncertainty_it_takes_the_first_way_of_rounding():
    """With the section it searches the project, and what it finds is what it uses."""
    read = called(
        "read_file", {"path": "freight/billing/dunning.py"}, f"freight/billing/dunning.py (5 lines)\n{ROUNDING}", 3
    )
    guess = tool_uses(ask(prompt_without("uncertainty"), *TESTED, *read))
    assert any("return round(a_exact)" in str(call.input["new_text"]) for call in guess)
    (search,) = tool_uses(ask(prompt_without("memory"), *TESTED, *read))
    assert search.name == "grep"
    hit = "freight/core/money.py:10: def half_up_cents(amount_exact):\n1 match in 1 of 2 files"
    for found, expected in (
        (hit, "return half_up_cents(a_exact)"),
        ("0 matches in 0 of 2 files", "return round(a_exact)"),
    ):
        searched = called("grep", search.input, found, 4)
        edits = tool_uses(ask(prompt_without("memory"), *TESTED, *read, *searched))
        assert any(expected in str(call.input["new_text"]) for call in edits)


def test_without_planning_it_takes_a_part_for_the_whole():
    """It stops at the border of the first folder, and does not check."""
    done = user("freight/billing/dunning.py is done.")
    reply = ask(prompt_without("planning"), *TESTED, done)
    assert not tool_uses(reply)
    assert message_text(reply) == (
        "The modules in freight/billing are up to standard. The others can be done in the same way."
    )
    assert tool_uses(ask(prompt_without(), *TESTED, done))[0].input == {"path": "freight/core/money.py"}
    both = user("freight/billing/dunning.py and freight/core/money.py are done.")
    assert "run_command" not in [call.name for call in tool_uses(ask(prompt_without("planning"), *TESTED, both))]
    assert [call.name for call in tool_uses(ask(prompt_without(), *TESTED, both))] == ["run_command", "run_command"]


@pytest.mark.parametrize("without", [("communication",), ("communication", "planning")])
def test_without_communication_there_is_no_report(without):
    """It ends with one word, whether it did all or a part."""
    checked = called("run_command", {}, "2 of 2 modules up to standard", 3)
    passed = called("run_command", {}, "3 tests, 0 failures", 4)
    assert message_text(ask(prompt_without(*without), *TESTED, *checked, *passed)) == "Done."
    assert "All 2 modules" in message_text(ask(prompt_without(), *TESTED, *checked, *passed))


def test_a_lesson_goes_from_one_session_to_the_next():
    """The first session takes the wrong turn and notes the lesson where the prompt says; the second one reads it."""
    sections = standard_sections(without=["uncertainty"])
    first, memory = short_run(build_system_prompt(sections))
    assert edits_with(first, "return round(") == 1
    assert "half_up_cents" in memory
    remembering = build_system_prompt([*sections, Section("persistent_memory", memory)])
    second, nothing_new = short_run(remembering)
    assert edits_with(second, "return round(") == 0
    assert edits_with(second, "return half_up_cents(") >= 1
    assert nothing_new == ""  # what the prompt holds already is not noted again


def test_without_the_memory_section_nothing_is_noted():
    """It learns the lesson, and the next session starts without it."""
    run, memory = short_run(build_system_prompt(standard_sections(without=["memory", "uncertainty"])))
    assert edits_with(run, "return half_up_cents(") >= 1
    assert memory == ""


def test_with_all_sections_nothing_fails_and_no_turn_is_wrong():
    """In the first rounds of a real run, no call fails and nothing has to be mended."""
    run, memory = short_run(NINE_SECTIONS.system)
    assert not any(result.is_error for message in run.requests[-1].messages for result in tool_results(message))
    assert edits_with(run, "return round(") == 0
    assert "half_up_cents" in memory


def test_the_scenario_is_the_running_task_with_another_prompt():
    """Only the system prompt and the window differ from the first chapters'."""
    scenario = scenario_with("Be brief.", context_tokens=50_000)
    assert (scenario.task, scenario.system) == (REFACTORING.task, "Be brief.")
    assert scenario.window.context_tokens == 50_000
    assert scenario.window.reserve_tokens == REFACTORING.window.reserve_tokens


def test_a_trial_counts_what_went_wrong():
    """Failed calls, wrong turns, modules and last words are those of the run and of its files."""
    trial = try_prompt(prompt_without("environment", "recovery", "uncertainty"), max_rounds=14)
    assert (trial.rounds, trial.failed_calls, trial.wrong_turns) == (14, 1 + PATIENCE, 1)
    assert trial.modules_done == trial.outcome.modules_done >= 2
    assert trial.tokens_sent == sum(response.usage.context_tokens for response in trial.run.responses)
    assert trial.last_words == message_text(trial.run.responses[-1].message)
    assert str(trial).startswith(" 14 rounds,  3 failed calls, 1 wrong turns, ")


def test_a_trial_takes_a_hook_and_a_window():
    """What a request shows can be shortened, and a small window ends the run with its error."""
    trial = try_prompt(NINE_SECTIONS.system, max_rounds=4, project=lambda messages: messages[:1])
    assert {len(request.messages) for request in trial.run.requests} == {1}
    assert try_prompt(NINE_SECTIONS.system, context_tokens=4_000).run.error is not None


@pytest.mark.parametrize(
    ("name", "found", "missed"), [("a coding agent", 4, 0), ("a support desk", 4, 0), ("a data analyst", 3, 2)]
)
def test_the_sample_prompts_are_as_chapter_02_says(name, found, missed):
    """Each has sentences that belong in code; of the last one's, two are overlooked."""
    text = SAMPLE_PROMPTS[name]
    assert len(lint_text(text)) == found
    overlooked = [s for s in ("The sales table has 41 million rows", "Stop after the fifth failed query") if s in text]
    assert len(overlooked) == missed
    assert not any(sentence in finding.sentence for finding in lint_text(text) for sentence in overlooked)


def test_what_is_read_anew_depends_on_the_place_of_the_change():
    """Unchanged prompts leave only what is new; a change in front or behind throws all messages out of the cache."""
    run = try_prompt(NINE_SECTIONS.system, max_rounds=4).run
    sizes = [response.usage.context_tokens for response in run.responses]
    text, counter = NINE_SECTIONS.system, MODEL.counter.text
    once = read_anew(run, [text] * 4, counter)
    first = read_anew(run, [f"{n} {text}" for n in range(4)], counter)
    last = read_anew(run, [f"{text} {n}" for n in range(4)], counter)
    assert once == [sizes[0], *(b - a for a, b in pairwise(sizes))]
    tools = sum(map(MODEL.counter.tool, run.requests[0].tools))
    assert first == [sizes[0], *(size - tools for size in sizes[1:])]
    assert all(abs(a - b - counter(text)) <= 2 for a, b in zip(first[1:], last[1:], strict=True))
