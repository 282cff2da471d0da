"""The offline model's skill: from a module's text to exact edits."""

import ast

import pytest

from course_lib.simulation.annotate import Known, has_todo_stub, improve
from course_lib.simulation.naming import sentence, type_of_name
from course_lib.simulation.wording import Lesson

LESSON = Lesson("half_up_cents", "freight.core.money")


def apply(text, edits):
    """Apply the edits one after another, as the edit tool would."""
    for edit in edits:
        assert text.count(edit.old_text) == 1, edit
        text = text.replace(edit.old_text, edit.new_text)
    return text


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("weight_kg", "float"),
        ("weights_kg", "list[float]"),
        ("price_cents", "int"),
        ("prices_cents", "list[int]"),
        ("zone_codes", "list[str]"),
        ("cities", "list[str]"),
        ("statuses", "list[str]"),
        ("rate_cents_by_zone", "dict[str, int]"),
        ("parcels_by_city", "dict[str, list[Parcel]]"),
        ("first_parcel", "Parcel"),
        ("parcels", "list[Parcel]"),
        ("is_final", "bool"),
        ("address_text", "str"),
        ("mystery", "object"),
    ],
)
def test_a_name_decides_the_type(name, expected):
    """Units, plurals, question words and class names give the type; anything else is an object."""
    assert type_of_name(name, {"parcel": "Parcel"}) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("chargeable_weight_kg", "Return the chargeable weight in kilograms."),
        ("parse_cents", "Parse the cents."),
        ("is_final", "Tell whether it is final."),
        ("prices_by_zone", "Return the prices by zone."),
    ],
)
def test_a_name_gives_one_plain_sentence(name, expected):
    """A docstring is one imperative sentence with a full stop."""
    assert sentence(name, []) == expected


MODULE = """\
from freight.core.units import Box

# Parcels over this weight are refused.
LIMIT_KG = 30.0


class Parcel:
    def __init__(self, weight_kg, city="Bremen"):
        self.weight_kg = weight_kg
        self.city = city

    def is_heavy(self):
        return self.weight_kg > LIMIT_KG


def parcel_weights_kg(parcels, box=None):
    return [parcel.weight_kg for parcel in parcels]


def price_cents(parcel, rate_ratio):
    amount_exact = parcel.weight_kg * rate_ratio
    return amount_exact  # TODO: round to whole cents
"""


def test_everything_gets_hints_and_docstrings():
    """After the edits every function is annotated, everything has a docstring, and nothing is left to do."""
    known = Known(lesson=LESSON)
    improved = apply(MODULE, improve(MODULE, path="freight/core/parcel.py", known=known))
    tree = ast.parse(improved)
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef)]
    assert all(map(ast.get_docstring, nodes))
    assert all(n.returns for n in nodes if isinstance(n, ast.FunctionDef))
    assert 'def parcel_weights_kg(parcels: list["Parcel"], box: Box = None) -> list[float]:' in improved
    assert improve(improved, path="freight/core/parcel.py", known=known) == ()


def test_the_code_itself_stays_the_same():
    """Without hints and docstrings the edited module is the module it was."""
    text = MODULE.replace("  # TODO: round to whole cents", "")
    improved = ast.parse(apply(text, improve(text, path="freight/core/parcel.py")))
    for node in ast.walk(improved):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = node.body[1:]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            for argument in node.args.args:
                argument.annotation = None
    assert ast.unparse(improved) == ast.unparse(ast.parse(text))


@pytest.mark.parametrize(("rules", "avoided", "wanted"), [({}, True, False), ({"parcel": "shipment"}, False, True)])
def test_a_word_rule_changes_new_text_only(rules, avoided, wanted):
    """Docstrings follow a rule that is known, names and comments stay as they are."""
    edits = improve(MODULE, path="freight/core/parcel.py", known=Known(word_rules=rules))
    docstrings = " ".join(
        filter(
            None,
            (
                ast.get_docstring(n)
                for n in ast.walk(ast.parse(apply(MODULE, edits)))
                if hasattr(n, "body") and not isinstance(n, ast.Lambda | ast.If)
            ),
        )
    ).lower()
    assert ("parcel" in docstrings, "shipment" in docstrings) == (avoided, wanted)
    assert "def parcel_weights_kg(" in apply(MODULE, edits)
    assert "# Parcels over this weight" in apply(MODULE, edits)


def test_rounding_without_the_lesson_goes_wrong():
    """Who does not know better rounds with round(), and needs no import for it."""
    improved = apply(MODULE, improve(MODULE, path="freight/a.py"))
    assert "return round(amount_exact)\n" in improved


def test_rounding_with_the_lesson_goes_right_and_mends_the_wrong_turn():
    """With the lesson the helper is used and imported, at once or in place of an earlier round()."""
    for text in (MODULE, apply(MODULE, improve(MODULE, path="freight/a.py"))):
        improved = apply(text, improve(text, path="freight/a.py", known=Known(lesson=LESSON)))
        assert "return half_up_cents(amount_exact)\n" in improved
        assert improved.count("from freight.core.money import half_up_cents\n") == 1


@pytest.mark.parametrize(
    ("values", "expected"),
    [("'lost'", "return status in ('lost',)"), ("'lost', 'found'", "return status in ('lost', 'found')")],
)
def test_a_stub_is_filled_in_from_its_remark(values, expected):
    """A stub that says for which values it is true becomes that test."""
    stub = f"def is_final(status):\n    return False  # TODO: True for {values}\n"
    text = f"def can_wait(status):\n    return True\n\n\n{stub}"
    assert has_todo_stub(text) == "is_final"
    assert expected in apply(text, improve(text, path="freight/a.py"))


@pytest.mark.parametrize("text", ["", "x = 1\n", "# only a comment\n", "def f(a):\n    return a\n" * 2])
def test_odd_modules_are_edited_without_harm(text):
    """Empty modules, bare statements and repeated definitions give edits that apply cleanly, or none."""
    ast.parse(apply(text, improve(text, path="odd.py")))


def test_a_cut_off_module_is_refused():
    """Half a module is no basis for edits."""
    with pytest.raises(SyntaxError):
        improve("def f(a:\n", path="freight/a.py")
