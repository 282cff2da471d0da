"""04.4 tools_by_phase: what each phase needs, under the cap, and few changes."""

from itertools import pairwise

from course_lib.checks.expectations import Mistake, expect_value
from course_lib.checks.practice_tools import (
    CAP_TOKENS,
    GOAL_TOKENS,
    PHASES,
    TOOL_TOKENS,
    definitions,
    missing_tools,
    price,
)

NAMES = [phase.name for phase in PHASES]


def test_it_names_known_tools_for_each_phase(answer):
    """A dictionary from each phase's name to a list of tools, none of them twice."""
    expect_value(
        answer,
        holds=lambda chosen: (
            set(chosen) == set(NAMES)
            and all(
                isinstance(tools, list | tuple) and set(tools) <= set(TOOL_TOKENS) and len(set(tools)) == len(tools)
                for tools in chosen.values()
            )
        ),
        says=f"for each of the phases {', '.join(NAMES)} a list of names of TOOL_TOKENS, none twice",
    )


def test_each_phase_has_what_it_needs(answer):
    """No phase can do without its tools."""
    lacking = Mistake(lambda _: True, "A phase lacks a tool that it needs: look at `missing_tools(tools_by_phase)`.")
    expect_value(
        answer, holds=lambda chosen: not missing_tools(chosen), says="no phase that lacks a tool", mistakes=(lacking,)
    )


def test_no_request_is_over_the_cap(answer):
    """The definitions of one request stay within the cap."""
    too_many = Mistake(
        lambda _: True, "The definitions of a phase are over the cap together: `definitions(…)` adds up."
    )
    expect_value(
        answer,
        holds=lambda chosen: max(map(definitions, chosen.values())) <= CAP_TOKENS,
        says=f"at most {CAP_TOKENS:,} tokens of definitions in each phase",
        mistakes=(too_many,),
    )


def changes(chosen):
    """Return how often the list of tools changes from one phase to the next."""
    lists = [list(chosen[name]) for name in NAMES]
    return sum(before != after for before, after in pairwise(lists))


def test_it_is_cheap(answer):
    """The whole job stays within the goal."""
    often = Mistake(
        lambda chosen: changes(chosen) > 1,
        "The list changes more than once, and with each change the whole conversation is read anew, at the full price. "
        "Give neighbouring phases the same list, in the same order.",
    )
    late = Mistake(
        lambda chosen: changes(chosen) == 1,
        "One change is right, but it comes late: the longer the conversation, the dearer it is to read it anew.",
    )
    expect_value(
        answer,
        holds=lambda chosen: price(chosen) <= GOAL_TOKENS,
        says=f"a price of at most {GOAL_TOKENS:,} tokens",
        mistakes=(often, late),
    )
