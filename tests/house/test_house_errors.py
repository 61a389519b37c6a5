"""The error tree is drawn three times: in code, in the module's docstring, in the manual. They must be one tree."""

from __future__ import annotations

import re
import textwrap

from house_tree import ROOT

from checkrunner.model import errors
from checkrunner.model.errors import CheckrunnerError

EXIT_CODES = ROOT / "docs" / "exit-codes.md"


def descendants(cls: type[CheckrunnerError]) -> dict[str, str]:
    """Class name to its base's name, for the whole tree as the code has it."""
    found: dict[str, str] = {}
    for sub in cls.__subclasses__():
        if sub.__module__ == errors.__name__:
            found[sub.__name__] = cls.__name__
            found |= descendants(sub)
    return found


def drawn(text: str) -> dict[str, str]:
    """Class name to its base's name, read from the drawing: the base is the nearest name above and further left."""
    found: dict[str, str] = {}
    stack: list[tuple[int, str]] = []
    for line in text.splitlines():
        names = [(match.start(), match.group()) for match in re.finditer(r"\b[A-Z][A-Za-z]*Error\b", line)]
        # What comes after the first word and its exit code is explanation, unless it is another branch.
        names = [(at, name) for at, name in names if at == names[0][0] or line[at - 3 : at] in {"├─ ", "└─ "}]
        for at, name in names:
            if at == names[0][0]:
                stack = [(column, base) for column, base in stack if column < at]
            if stack:
                found[name] = stack[-1][1] if at == names[0][0] else found[names[0][1]]
            if at == names[0][0]:
                stack.append((at, name))
    return found


def drawing(text: str) -> str:
    """The lines of the tree: from the root to the first blank line."""
    lines = textwrap.dedent(text).splitlines()
    start = next(number for number, line in enumerate(lines) if line.strip().startswith("CheckrunnerError ("))
    end = next((number for number in range(start, len(lines)) if not lines[number].strip()), len(lines))
    return textwrap.dedent("\n".join(lines[start:end]))


def test_the_docstring_draws_the_tree_that_the_code_has() -> None:
    assert drawn(drawing(errors.__doc__ or "")) == descendants(CheckrunnerError)


def test_a_drawing_that_lacks_a_class_would_be_noticed() -> None:
    text = drawing(errors.__doc__ or "").replace("HostKeyError", "")

    assert drawn(text) != descendants(CheckrunnerError)


def test_drawn_exit_codes_are_those_of_the_classes() -> None:
    marked = re.findall(r"\b([A-Z][A-Za-z]*Error) \((\d+)\)", drawing(errors.__doc__ or ""))

    assert {name: int(code) for name, code in marked} == {name: getattr(errors, name).exit_code for name, _ in marked}
    # Every class whose code differs from its base's must carry the mark.
    changes = {
        name
        for name, base in descendants(CheckrunnerError).items()
        if getattr(errors, name).exit_code != getattr(errors, base).exit_code
    }
    assert changes | {"CheckrunnerError"} == {name for name, _ in marked}


def test_the_manual_lists_every_error_with_its_exit_code() -> None:
    rows = re.findall(r"^\| `(\w+Error)` \| (\d+) \|", EXIT_CODES.read_text(encoding="utf-8"), re.MULTILINE)

    names = {"CheckrunnerError", *descendants(CheckrunnerError)}
    assert {name: int(code) for name, code in rows} == {name: getattr(errors, name).exit_code for name in names}


def test_the_manual_lists_every_exit_code() -> None:
    rows = re.findall(r"^\| (\d+) \|", EXIT_CODES.read_text(encoding="utf-8"), re.MULTILINE)

    assert [int(code) for code in rows] == [0, 1, 2, 3, 4, 64, 70, 75, 130]
