"""Code that is read at one go: no file of the package over 350 lines, no function over 60."""

import ast
from pathlib import Path

import nalm

PACKAGE = Path(nalm.__file__).parent
LONGEST_FILE, LONGEST_FUNCTION = 350, 60
LONG_FILES: set[str] = set()
"""Those that are still too long, and no others."""
LONG_FUNCTIONS = {"training/solve.py: solve", "training/train.py: train"}
"""Those that are still too long, and no others."""


def sources():
    """The text of every file of the package, by its path in it."""
    files = sorted(PACKAGE.rglob("*.py"))
    return {file.relative_to(PACKAGE).as_posix(): file.read_text(encoding="utf-8") for file in files}


def functions(text):
    """Every function with its length, decorators and docstring included."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min(part.lineno for part in (node, *node.decorator_list))
            yield node.name, node.end_lineno - first + 1


def too_long(text):
    return [name for name, length in functions(text) if length > LONGEST_FUNCTION]


def test_files_are_short_but_for_those_that_are_known():
    long = {name for name, text in sources().items() if len(text.splitlines()) > LONGEST_FILE}
    assert long == LONG_FILES


def test_functions_are_short_but_for_those_that_are_known():
    long = {f"{name}: {function}" for name, text in sources().items() for function in too_long(text)}
    assert long == LONG_FUNCTIONS


def test_a_function_is_measured_from_its_decorator_to_its_end():
    body = "    pass\n" * (LONGEST_FUNCTION - 2)
    assert too_long(f"@one\ndef f():\n{body}") == []
    assert too_long(f"class C:\n    pass\n\n@one\nasync def f():\n{body}    pass\n") == ["f"]
