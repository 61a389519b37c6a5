"""What is sent means what the source says, in fewer bytes and on the same lines."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from checkrunner.link.shrink import shrink_python, shrink_shell

REMOTE = Path(__file__).parents[2] / "remote"


class _Bare(ast.NodeTransformer):
    """Takes docstrings away, and what stands in for one."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                del node.body[0]
        return node


def meaning(source: bytes) -> str:
    return ast.dump(_Bare().visit(ast.parse(source)))


def lines_of(source: bytes) -> list[tuple[str, int]]:
    return [
        (ast.dump(node), node.lineno)
        for node in ast.walk(_Bare().visit(ast.parse(source)))
        if isinstance(node, ast.Name | ast.Constant | ast.Attribute)
    ]


def test_the_agent_keeps_its_meaning_and_its_lines() -> None:
    source = (REMOTE / "agent.py").read_bytes()
    shrunk = shrink_python(source)
    assert meaning(shrunk) == meaning(source)
    assert lines_of(shrunk) == lines_of(source)
    assert shrunk.count(b"\n") == source.count(b"\n")
    assert len(shrunk) < 0.75 * len(source)


@pytest.mark.parametrize(
    ("source", "shrunk"),
    [
        (b"def f(a, b = 1):\n    return a - -b  # why\n", b"def f(a,b=1):\n return a--b\n"),
        (b'class A:\n    """Doc."""\n\n\nx = 1\n', b"class A:\n 0\n\n\nx=1\n"),
        (b'def f():\n    """Two\n    lines."""\n    # a\n    return "# no"\n', b'def f():\n\n\n\n return "# no"\n'),
        (b"x = '\\'# a'  # b\n", b"x='\\'# a'\n"),
        (b'x = """a\n    # b : c\n"""\n', b'x="""a\n    # b : c\n"""\n'),
        (b"f(\n    1,\n    [2],\n)\n", b"f(\n 1,\n [2],\n)\n"),
        (b"x = 1 if a else -1\n", b"x=1 if a else-1\n"),
        (b"if x:\n    pass\n    # the end\n", b"if x:\n pass\n\n"),
    ],
)
def test_what_goes_and_what_stays(source: bytes, shrunk: bytes) -> None:
    assert shrink_python(source) == shrunk
    assert meaning(source) == meaning(shrunk)


def test_the_wrapper_loses_its_comments_alone() -> None:
    source = (REMOTE / "wrapper.sh").read_bytes()
    kept = [line for line in source.splitlines() if not line.startswith(b"#") or line.startswith(b"#:")]
    assert shrink_shell(source).splitlines() == kept
