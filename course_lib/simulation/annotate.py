r"""The offline model's one skill: bring a Python module up to the house standard, as a list of exact text edits.

It works from the text of the module and from what the caller knows, and from nothing else: names decide the types, the
name of a function decides its docstring, and a rule or a lesson that the caller does not know is not applied.

    >>> edits = improve("import math\n\ndef price_cents(weight_kg):\n    return 5\n", path="freight/a.py")
    >>> edits[-1].new_text.splitlines()[0]
    'def price_cents(weight_kg: float) -> int:'

What this leaves out on purpose: any knowledge of the workspace. It would work on your module too.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from course_lib.simulation.naming import class_name_words, phrase, sentence, type_of_name
from course_lib.simulation.wording import Lesson

__all__ = ["Edit", "Known", "has_rounding_stub", "has_todo_stub", "improve"]


@dataclass(frozen=True)
class Edit:
    """Replace `old_text`, which stands once in the file, by `new_text`."""

    old_text: str
    new_text: str


@dataclass(frozen=True, kw_only=True)
class Known:
    """What the one who edits knows: words to avoid and what to write for them, and the lesson on rounding."""

    word_rules: Mapping[str, str] = field(default_factory=dict)
    lesson: Lesson | None = None


_TODO_ROUND = re.compile(r"^(?P<indent> +)return (?P<value>\w+)  # TODO: round to whole cents$", re.MULTILINE)
_TODO_VALUES = re.compile(r"^(?P<indent> +)return False  # TODO: True for (?P<values>'.*')$", re.MULTILINE)
_PLAIN_ROUND = re.compile(r"^(?P<indent> +)return round\((?P<value>\w+)\)$", re.MULTILINE)


def improve(text: str, *, path: str, known: Known | None = None) -> tuple[Edit, ...]:
    """Return the edits that give each function and class hints and a docstring, and carry out its TODO remarks.

    Args:
        text: the whole module.
        path: where it lies; its docstring is made from it.
        known: rules and lessons to apply.

    Raises:
        SyntaxError: the text is no Python module (cut off, for example).
    """
    known = known or Known()
    tree = ast.parse(text)
    lines = text.splitlines()
    edits = [*_module_edit(tree, lines, path)]
    for node, owner in _definitions(tree):
        old, new = lines[node.lineno - 1], _documented(node, owner, lines, _classes(tree))
        if old != new:
            edits.append(_unique(old, new, node.lineno, lines, text))
    edits = [Edit(e.old_text, _reworded(e, known.word_rules)) for e in edits]
    return (*edits, *_repairs(text, lines, known))


def has_todo_stub(text: str) -> str:
    """Return the name of the first function that is still a stub with a TODO remark, or an empty string."""
    match = _TODO_VALUES.search(text)
    names = re.findall(r"def (\w+)\(", text[: match.start()]) if match else []
    return names[-1] if names else ""


def has_rounding_stub(text: str) -> bool:
    """Return whether a remark in the module asks for rounding, and leaves open how."""
    return bool(_TODO_ROUND.search(text))


def _definitions(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef | ast.ClassDef, str]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node, ""
        if isinstance(node, ast.ClassDef):
            yield from ((inner, node.name) for inner in node.body if isinstance(inner, ast.FunctionDef))


def _classes(tree: ast.Module) -> dict[str, str]:
    """Class names that the module imports or defines (those in quotes: they may stand below), by snake_case form."""
    imported = [a.asname or a.name for node in tree.body if isinstance(node, ast.ImportFrom) for a in node.names]
    classes = {_snake(name): name for name in imported if name[:1].isupper() and name != name.upper()}
    return classes | {_snake(n.name): f'"{n.name}"' for n in tree.body if isinstance(n, ast.ClassDef)}


def _snake(name: str) -> str:
    return class_name_words(name).replace(" ", "_")


def _module_edit(tree: ast.Module, lines: Sequence[str], path: str) -> Iterator[Edit]:
    if ast.get_docstring(tree) is not None or not lines:
        return
    folder, _, stem = path.removesuffix(".py").rpartition("/")
    names = list(dict.fromkeys(phrase(node.name) for node, owner in _definitions(tree) if not owner))
    part = f"{phrase(stem).capitalize()}, part of {folder.rpartition('/')[2] or 'the project'}"
    about = f": {', '.join(names[:3])}" if names else ""
    yield _unique(lines[0], f'"""{part}{about}."""\n{lines[0]}', 1, lines, "\n".join(lines))


def _documented(
    node: ast.FunctionDef | ast.ClassDef, owner: str, lines: Sequence[str], classes: Mapping[str, str]
) -> str:
    """The `def` or `class` line with hints, and a docstring below it where there is none."""
    line = lines[node.lineno - 1]
    if isinstance(node, ast.ClassDef):
        new, docstring = line, f"One {class_name_words(node.name)}."
    elif node.name == "__init__":
        new, docstring = _signature(node, line, classes), f"Keep the values of the {class_name_words(owner)}."
    elif node.name == "__str__":
        new, docstring = (
            _signature(node, line, classes),
            f"Return the text that stands for the {class_name_words(owner)}.",
        )
    else:
        parameters = [argument.arg for argument in node.args.args if argument.arg not in ("self", "cls")]
        subject = parameters or ([_snake(owner)] if owner else [])
        new, docstring = _signature(node, line, classes), sentence(node.name, subject)
    if ast.get_docstring(node) is None:
        new += f'\n{" " * node.body[0].col_offset}"""{docstring}"""'
    return new


def _signature(node: ast.FunctionDef, line: str, classes: Mapping[str, str]) -> str:
    if node.returns is not None:
        return line
    arguments = node.args.args
    defaults = [None] * (len(arguments) - len(node.args.defaults)) + list(node.args.defaults)
    parameters = []
    for argument, default in zip(arguments, defaults, strict=True):
        hint = "" if argument.arg in ("self", "cls") else f": {type_of_name(argument.arg, classes)}"
        parameters.append(
            argument.arg + hint + (f" = {line[default.col_offset : default.end_col_offset]}" if default else "")
        )
    return f"{' ' * node.col_offset}def {node.name}({', '.join(parameters)}) -> {_return_type(node, classes)}:"


def _return_type(node: ast.FunctionDef, classes: Mapping[str, str]) -> str:
    special = {"__init__": "None", "__str__": "str", "__repr__": "str", "__len__": "int"}
    if node.name in special:
        return special[node.name]
    returns_value = any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(node))
    return type_of_name(node.name, classes) if returns_value else "None"


def _unique(old: str, new: str, line_number: int, lines: Sequence[str], text: str) -> Edit:
    """The edit, with as many lines of context below as make its old text unique in the file."""
    for line in lines[line_number:]:
        if text.count(old) == 1:
            break
        old, new = f"{old}\n{line}", f"{new}\n{line}"
    return Edit(old, new)


def _reworded(edit: Edit, rules: Mapping[str, str]) -> str:
    """The new text, with the words to avoid replaced in what is new: the docstrings."""

    def in_docstring(match: re.Match[str]) -> str:
        return re.sub(r"[A-Za-z]+", lambda word: _other_word(word[0], rules), match[0])

    return re.sub(r'"""(?:[^"]|"(?!""))*"""', in_docstring, edit.new_text)


def _other_word(word: str, rules: Mapping[str, str]) -> str:
    for avoided, wanted in rules.items():
        if word.lower() in (avoided, avoided + "s"):
            other = wanted + word[len(avoided) :]
            return other.capitalize() if word[0].isupper() else other
    return word


def _repairs(text: str, lines: Sequence[str], known: Known) -> Iterator[Edit]:
    """Edits that carry out TODO remarks; rounding by the lesson's helper or, not knowing better, by round()."""
    for match in _TODO_VALUES.finditer(text):
        parameter = re.findall(r"def \w+\((\w+)", text[: match.start()])[-1]
        comma = "" if "," in match["values"] else ","
        yield Edit(match[0], f"{match['indent']}return {parameter} in ({match['values']}{comma})")
    rounding = known.lesson.helper if known.lesson else "round"
    targets = [*_TODO_ROUND.finditer(text), *(_PLAIN_ROUND.finditer(text) if known.lesson else ())]
    for match in targets:
        yield Edit(match[0], f"{match['indent']}return {rounding}({match['value']})")
    if targets and known.lesson and not re.search(rf"import .*\b{known.lesson.helper}\b", text):
        last_import = [line for line in lines if re.match(r"from \S+ import \S", line)][-1:]
        yield from (
            Edit(line, f"{line}\nfrom {known.lesson.module} import {known.lesson.helper}") for line in last_import
        )
