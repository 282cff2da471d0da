"""Assertions that several test files share."""

ROUNDING_HINT = (
    "half a cent rounds up here: use half_up_cents from freight.core.money, not round()"
)


def assert_whole_cents(case, actual, expected):
    difference = f"{actual} != {expected}"
    if isinstance(actual, float):
        case.fail(f"{difference} : price must be whole cents")
    if actual == expected - 1:
        case.fail(f"{difference} : {ROUNDING_HINT}")
    case.assertEqual(actual, expected)


def assert_answers(case, function, values, expected):
    for value in values:
        actual = function(value)
        if actual is not expected:
            call = f"{function.__name__}({value!r})"
            case.fail(f"{call} returned {actual}, expected {expected}")
