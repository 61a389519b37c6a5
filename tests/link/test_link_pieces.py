"""The agent cut into functions: the cut itself, and what of the agent a host compiles."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from checkrunner.link.payload import LATER
from checkrunner.link.pieces import Piece, cut_module, cut_source, packed

AGENT = Path(__file__).resolve().parents[2] / "remote" / "agent.py"
PARTS = [AGENT.with_name(f"{name}.py") for name in LATER]
MAIN = b'\n\nif __name__ == "__main__":\n    main()\n'


def functions(source: bytes) -> set[tuple[str, str, int, int]]:
    """(class, name, first line, last line) of each function of the source, as Python's parser finds them."""
    found = set()
    for node in ast.parse(source).body:
        owner = node.name if isinstance(node, ast.ClassDef) else ""
        for one in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(one, ast.FunctionDef):
                assert one.end_lineno is not None
                found.add((owner, one.name, one.lineno, one.end_lineno))
    return found


def places(pieces: list[Piece]) -> set[tuple[str, str, int, int]]:
    return {(p.owner.decode(), p.name.decode(), p.line, p.line + p.text.count(b"\n") - 1) for p in pieces}


def test_every_function_of_the_agent_is_cut_out() -> None:
    source = AGENT.read_bytes()
    rest, pieces = cut_source(source)
    assert places(pieces) == functions(source)
    assert functions(rest) == set()
    assert b"\0" not in source, "the parts of the payload are separated by it"
    assert rest.count(b"\n") == source[: source.index(MAIN) + 1].count(b"\n"), "lines keep their numbers"


@pytest.mark.parametrize("part", PARTS, ids=lambda path: path.name)
def test_every_function_of_a_later_part_is_cut_out(part: Path) -> None:
    source = part.read_bytes()
    rest, pieces = cut_module(source)
    assert places(pieces) == functions(source)
    assert functions(rest) == set()
    assert b"\0" not in source, "the pieces of a part are separated by it"
    assert rest.count(b"\n") == source.count(b"\n"), "lines keep their numbers"
    assert len(pieces) > 5


@pytest.mark.parametrize("part", [AGENT, *PARTS], ids=lambda path: path.name)
def test_the_agent_keeps_the_rules_of_a_source_that_is_cut(part: Path) -> None:
    """No statement outside of functions calls a function of the file, and defaults are constants."""
    tree = ast.parse(part.read_bytes())
    named = {name for _, name, _, _ in functions(part.read_bytes())}
    outside = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for function in outside:
        for default in [*function.args.defaults, *[d for d in function.args.kw_defaults if d]]:
            assert not [n for n in ast.walk(default) if isinstance(n, ast.Call | ast.List | ast.Dict)], function.name
    statements = [s for node in tree.body for s in (node.body if isinstance(node, ast.ClassDef) else [node])]
    for statement in statements[:-1] if part == AGENT else statements:  # the last one of the agent calls main()
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
            calls = {n.func.id for n in ast.walk(statement) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
            assert not calls & named


def test_a_method_keeps_its_class_its_decorator_and_its_line() -> None:
    source = (
        b"class A(object):\n    x = 1\n\n    @staticmethod\n    def f(a, b=2):\n        return a\n\n    # after\n"
        + MAIN
    )
    rest, (piece,) = cut_source(source)
    assert (piece.owner, piece.name, piece.decorator, piece.line) == (b"A", b"f", b"staticmethod", 5)
    assert packed([piece]) == [b"4 A @staticmethod\n def f(a,b=2):\n  return a"]
    assert rest.split(b"\n") == [
        b"class A(object):", b"    x = 1", b"", b"", b"    pass", b"", b"", b"    # after", b"", b"",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "left",
    [
        b"@trace\ndef f():\n    pass\n",
        b"class A(object):\n    @f.setter\n    def f(self):\n        pass\n",
        b"if 1:\n    def f():\n        pass\n",
        b"class A(object):\n    if 1:\n        def f(self):\n            pass\n",
        b"class A(object):\n    x = 1\n\n\nif 1:\n    def f():\n        pass\n",
    ],
)
def test_what_is_not_known_stays(left: bytes) -> None:
    rest, pieces = cut_source(left + MAIN)
    assert pieces == []
    assert left.strip() in rest


@pytest.mark.parametrize("source", [b"def f():\n    pass\n\n\nf()\n", b"x = 1\n", MAIN + b"    more()\n"])
def test_a_source_without_a_main_is_left_whole(source: bytes) -> None:
    assert cut_source(source) == (source, [])


def test_a_signature_of_several_lines_is_no_end() -> None:
    source = b"def f(\n    a,\n):\n    return a\n\n\nx = 1\n" + MAIN
    rest, (piece,) = cut_source(source)
    assert piece.text == b"def f(\n    a,\n):\n    return a\n"
    assert rest == b"\n\n\n\n\n\nx = 1\n\n"
