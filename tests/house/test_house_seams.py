"""Each seam has a conformance check, and each check is run by a test: a contract that nobody checks is a wish."""

from __future__ import annotations

import ast
import re

import pytest
from house_tree import ROOT, tracked

from checkrunner import testing
from checkrunner.model import seams


def check_of(seam: str) -> str:
    return "check_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", seam).lower()


def test_there_is_a_check_for_each_seam_and_no_other() -> None:
    checks = {name for name in testing.__all__ if name.startswith("check_")}

    assert checks == {check_of(seam) for seam in seams.__all__}


def test_the_check_of_each_seam_is_run() -> None:
    called = {
        node.func.id
        for path in tracked()
        if path.suffix == ".py" and (ROOT / "tests" in path.parents or path.parent.name == "testing")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }

    assert {check_of(seam) for seam in seams.__all__} - called == set()


@pytest.mark.parametrize("seam", seams.__all__)
def test_each_seam_is_used(seam: str) -> None:
    users = [
        path
        for path in tracked()
        if path.suffix == ".py" and ROOT / "checkrunner" in path.parents and path.name not in {"seams.py"}
        if path.parent.name != "testing" and re.search(rf"\b{seam}\b", path.read_text(encoding="utf-8"))
    ]

    assert users, f"nothing knows {seam}"
