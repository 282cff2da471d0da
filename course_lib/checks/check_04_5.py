"""04.5 predicted_share: what tool results take of a session's last request."""

from course_lib.checks.expectations import Mistake, expect_value
from course_lib.checks.practice_tools import Session, last_request

SESSION = Session(
    system_tokens=2_000,
    tools_tokens=3_000,
    order_tokens=100,
    answer_tokens=150,
    results=((18, 1_500), (8, 900), (4, 50)),
)


def test_the_prediction(answer):
    """The prediction is within 10 % of the share in a session that really ran."""
    made = last_request(SESSION)
    results = made.tokens_by_part["tool_results"]
    growing = made.growing_tokens
    mistakes = (
        Mistake(lambda got: 1 < got <= 100, "A share is wanted, from 0 to 1: 25 % is 0.25."),
        Mistake(
            lambda got: abs(got - results / growing) < 0.02,
            "The fixed cost is missing: system prompt and tool definitions are part of the request as well.",
        ),
        Mistake(
            lambda got: 0.4 <= got <= 0.6,
            "40 to 60 % is what many sessions have, but it is no law: add up what this one read and wrote.",
        ),
        Mistake(
            lambda got: got > 0.95, "Is it really nearly all? The model writes too, and the fixed cost is always there."
        ),
    )
    expect_value(answer, near=(made.share("tool_results"), 0.1), mistakes=mistakes)
