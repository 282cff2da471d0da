"""List the modules under freight/ that miss docstrings or type hints."""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def has_hints(function):
    arguments = function.args
    named = arguments.posonlyargs + arguments.args + arguments.kwonlyargs
    named += [extra for extra in (arguments.vararg, arguments.kwarg) if extra]
    for argument in named:
        if argument.arg not in ("self", "cls") and argument.annotation is None:
            return False
    return function.returns is not None


def counted(number, noun, plural):
    return f"{number} {noun if number == 1 else plural}"


def problems(source):
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ["cannot be parsed"]
    functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    bare = sum(not ast.get_docstring(function) for function in functions)
    unhinted = sum(not has_hints(function) for function in functions)
    bare_classes = sum(not ast.get_docstring(node) for node in classes)
    found = []
    if bare:
        found.append(f"{counted(bare, 'function', 'functions')} without docstring")
    if unhinted:
        many = str(unhinted) if bare else counted(unhinted, "function", "functions")
        found.append(f"{many} without type hints")
    if bare_classes:
        found.append(f"{counted(bare_classes, 'class', 'classes')} without docstring")
    if not ast.get_docstring(tree):
        found.append("no module docstring")
    return found


def main():
    modules = {}
    for path in (ROOT / "freight").rglob("*.py"):
        if path.name != "__init__.py":
            modules[path.relative_to(ROOT).as_posix()] = path
    good = 0
    for name in sorted(modules):
        found = problems(modules[name].read_text(encoding="utf-8"))
        if found:
            print(f"{name}: {', '.join(found)}")
        else:
            good += 1
    print(f"{good} of {len(modules)} modules up to standard")
    return 0 if good == len(modules) else 1


if __name__ == "__main__":
    sys.exit(main())
