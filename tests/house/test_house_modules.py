"""What every module has: a docstring, an honest `__all__`, a size that one can read."""

from __future__ import annotations

import ast

import pytest
from house_tree import ROOT, Module, modules, tracked

MODULES = modules()
MAX_LINES = 400
MAX_FUNCTION_LINES = 40


def is_type_variable(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func) in {"TypeVar", "ParamSpec"}


def public_definitions(module: Module) -> set[str]:
    """Classes, functions, constants and type names that the module defines at its top, without a leading underscore."""
    names: set[str] = set()
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign) and not is_type_variable(node.value):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return {name for name in names if not name.startswith("_")}


def exported(module: Module) -> list[str] | None:
    for node in module.tree.body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"]:
            return [str(name) for name in ast.literal_eval(node.value)]
    return None


def passed_on(module: Module) -> set[str]:
    """Names that come from another module of the same station: a module may be the face of those beside it."""
    return {
        alias.asname or alias.name
        for node in module.tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"checkrunner.{module.station}")
        for alias in node.names
    }


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.name)
def test_all_names_what_the_module_defines(module: Module) -> None:
    is_package = module.path.endswith("__init__.py")
    names = exported(module)
    if is_package and names is None:
        assert public_definitions(module) == set(), "a package that defines something needs __all__"
        return
    assert names is not None, "no __all__"

    assert set(names) - passed_on(module) == public_definitions(module)
    assert len(names) == len(set(names))


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.name)
def test_modules_say_what_they_do(module: Module) -> None:
    assert ast.get_docstring(module.tree)


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.name)
def test_public_definitions_have_docstrings(module: Module) -> None:
    silent = [
        f"{module.path}:{node.lineno} {node.name}"
        for node in module.tree.body
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]

    assert silent == []


def test_modules_stay_small() -> None:
    # The agent is sent as one file and its largest part as another, so these may be larger.
    larger = {ROOT / "remote" / name for name in ("agent.py", "agent.sh", "states.py")}
    files = [path for path in tracked() if path.suffix in {".py", ".sh"} and path not in larger]
    lengths = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").count("\n") for path in files}

    assert {
        path: length for path, length in lengths.items() if length > MAX_LINES and not path.startswith("tests/")
    } == {}


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.name)
def test_functions_stay_small(module: Module) -> None:
    long = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            # The body counts: a command's options are a long signature and still one list.
            first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
            length = (node.end_lineno or 0) - first.lineno + 1
            if length > MAX_FUNCTION_LINES:
                long.append(f"{module.path}:{node.lineno} {node.name}: {length} lines")

    assert long == []


def test_names_that_say_nothing_are_not_used() -> None:
    empty = {"util", "utils", "common", "helper", "helpers", "manager", "misc"}

    assert [module.path for module in MODULES if set(module.name.split(".")) & empty] == []


def test_what_is_sent_to_hosts_is_no_package() -> None:
    assert [str(path) for path in tracked() if path.name == "__init__.py" and path.parent.name == "remote"] == []
