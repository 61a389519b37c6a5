"""Who may import whom. ARCHITECTURE.md says why; here it is held."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from house_tree import Import, Module, modules

MODULES = modules()
BY_NAME = {module.name for module in MODULES}

STATIONS = {"load", "plan", "link", "run", "judge", "findings", "render", "history"}
MAY_IMPORT = {
    "model": set[str](),
    "settings": {"model", "setting_table"},
    "setting_table": {"model", "ownpatterns"},
    "nodesets": set[str](),
    "queries": set[str](),
    "plainyaml": set[str](),
    "patience": set[str](),
    "ownpatterns": {"patience"},
    "load": {"model", "nodesets", "queries"},
    "plan": {"model", "queries", "plainyaml", "patience"},
    "link": {"model"},
    "run": {"model", "link"},
    "judge": {"model", "queries", "plainyaml", "patience"},
    "history": {"model", "findings"},
    "findings": {"model", "nodesets", "patience"},
    "render": {"model"},
    "app": {"model", "settings", *STATIONS},
    "cli": {"model", "settings", "app", "render"},
    "testing": {"model", *STATIONS},
    "__main__": {"cli"},
    "": set[str](),
}

# dependency: where it may be imported (a path of the package that ends in "/", or a module's path without ".py").
# A path with "*" is a prefix.
DOORS = {
    "asyncssh": ["link/transports/ssh*"],
    "cronsim": ["app/periods"],
    "filelock": ["app/lock"],
    "cryptography": ["load/vault"],
    "yaml": ["load/", "plainyaml"],
    "jinja2": ["plan/templates*", "render/html*"],
    "typer": ["cli/"],
    "rich": ["render/", "cli/"],
    "ClusterShell": ["nodesets"],
    "jmespath": ["queries"],
    "jc": ["judge/jc_parsers"],
    "psutil": ["link/transports/local", "run/limits"],
    "sqlite3": ["history/"],
    "pydantic": ["load/"],
    "pydantic_core": ["load/"],
}


def ours(imported: Import) -> str | None:
    """The station that is imported, if it is one of ours."""
    if imported.name == "checkrunner" or not imported.name.startswith("checkrunner."):
        return None
    return imported.name.split(".")[1]


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.name)
def test_stations_import_only_what_the_house_allows(module: Module) -> None:
    assert module.station in MAY_IMPORT, f"{module.path} is in no station that the house knows"
    allowed = MAY_IMPORT[module.station] | {module.station, "__version__"}

    wrong = [f"{module.path}:{i.line} imports {i.name}" for i in module.imports() if ours(i) not in {None, *allowed}]

    assert wrong == []


def inside(path: str, door: str) -> bool:
    place = path.removeprefix("checkrunner/").removesuffix(".py")
    if door.endswith("/"):
        return place.startswith(door)
    return place.startswith(door.removesuffix("*")) if door.endswith("*") else place == door


def dependency_imports() -> Iterator[tuple[str, Module, Import]]:
    for module in MODULES:
        for imported in module.imports():
            top = imported.name.split(".")[0]
            if top in DOORS:
                yield top, module, imported


def test_each_dependency_has_one_door() -> None:
    wrong = [
        f"{module.path}:{imported.line} imports {imported.name}; only {DOORS[top]} may"
        for top, module, imported in dependency_imports()
        if not any(inside(module.path, door) for door in DOORS[top])
    ]

    assert wrong == []


def test_yaml_has_one_file_for_what_people_wrote_and_one_for_what_hosts_wrote() -> None:
    files = {module.path for top, module, _ in dependency_imports() if top == "yaml"}

    assert files == {"checkrunner/load/documents.py", "checkrunner/plainyaml.py"}


def test_nothing_else_is_imported_than_dependencies_and_the_standard_library() -> None:
    import sys

    known = {*DOORS, *sys.stdlib_module_names, "checkrunner"}
    wrong = [
        f"{module.path}:{i.line} imports {i.name}"
        for module in MODULES
        for i in module.imports()
        if i.name.split(".")[0] not in known
    ]

    assert wrong == []


def test_imports_are_absolute_and_exist() -> None:
    relative = [f"{m.path}:{i.line}" for m in MODULES for i in m.imports() if i.level]
    missing = [
        f"{m.path}:{node.lineno} imports {node.module}, which is not there"
        for m in MODULES
        for node in ast.walk(m.tree)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith("checkrunner")
        and node.module not in BY_NAME
    ]

    assert relative == []
    assert missing == []


def names_used(module: Module, *names: str) -> list[str]:
    """Places where one of the dotted names (``os.environ``) is used, or imported from its module."""
    found = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in names:
            found.append(f"{module.path}:{node.lineno} {ast.unparse(node)}")
        elif isinstance(node, ast.ImportFrom):
            found += [
                f"{module.path}:{node.lineno} {node.module}.{alias.name}"
                for alias in node.names
                if f"{node.module}.{alias.name}" in names
            ]
    return found


def test_the_environment_is_read_in_settings_alone() -> None:
    readers = [
        place
        for module in MODULES
        if module.station != "settings"
        for place in names_used(module, "os.environ", "os.environb", "os.getenv", "os.putenv", "os.unsetenv")
    ]

    assert readers == []


def test_only_the_command_line_ends_the_process() -> None:
    enders = [
        place
        for module in MODULES
        if module.station not in {"cli", "__main__"}
        for place in names_used(module, "sys.exit", "os._exit", "os.abort")
    ]

    assert enders == []


def test_only_renderers_and_the_command_line_print() -> None:
    printers = [
        f"{module.path}:{node.lineno}"
        for module in MODULES
        if module.station not in {"cli", "render"}
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"print", "input"}
    ]

    assert printers == []


@pytest.mark.parametrize("station", ["plan", "judge", "findings"])
def test_pure_stations_have_no_clock_no_chance_and_no_files(station: str) -> None:
    impure = {"time", "random", "secrets", "socket", "subprocess", "asyncio", "tempfile", "shutil", "threading"}
    wrong = [
        f"{module.path}:{i.line} imports {i.name}"
        for module in MODULES
        if module.station == station
        for i in module.imports()
        if i.name.split(".")[0] in impure
    ]
    clocks = [
        place
        for module in MODULES
        if module.station == station
        for place in names_used(module, "datetime.now", "datetime.datetime.now", "datetime.utcnow", "date.today")
    ]

    assert wrong == []
    assert clocks == []
