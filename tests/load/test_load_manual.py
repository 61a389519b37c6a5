"""The manual's tables are those of the models, its examples load, and the example inventory means what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from checkrunner.cli.params import param_lines
from checkrunner.load.connection import CONNECTION_VARIABLES
from checkrunner.load.extra_vars import parse_extra_vars
from checkrunner.load.inventory import load_inventory, load_inventory_with_origins
from checkrunner.load.patterns import select
from checkrunner.load.playbook import load_playbook
from checkrunner.load.schema import (
    BaselineModel,
    BlockModel,
    CheckModel,
    ConsensusModel,
    ExpectModel,
    ExtractModel,
    IncludeModel,
    LevelsModel,
    LoopControlModel,
    ParamModel,
    ParseModel,
    PlayModel,
    PromptModel,
    QuorumModel,
    SampleModel,
    SharedModel,
    SliceModel,
    TextModel,
    playbook_schema,
)
from checkrunner.load.schema_tasks import task_schemas
from checkrunner.model.playbook import ParamType

ROOT = Path(__file__).parent.parent.parent
PLAYBOOK = (ROOT / "docs" / "playbook.md").read_text(encoding="utf-8")
PARAMS = (ROOT / "docs" / "params.md").read_text(encoding="utf-8")
INVENTORY = (ROOT / "docs" / "inventory.md").read_text(encoding="utf-8")


MODELS: list[type[BaseModel]] = [
    *(PlayModel, ParamModel, CheckModel, ExpectModel, TextModel, SliceModel, PromptModel, SampleModel),
    *(LoopControlModel, ParseModel, ExtractModel, LevelsModel, ConsensusModel, QuorumModel, BaselineModel),
    *(SharedModel, BlockModel, IncludeModel),
]


def key_table(model: type[BaseModel]) -> str:
    """The table of a mapping's keys, as it stands in the manual."""
    rows = ["| key | default | meaning |", "|---|---|---|"]
    for name, field in own_fields(model):
        default = "required" if field.is_required() else _default(field.get_default(call_default_factory=True))
        rows.append(f"| `{field.alias or name}` | {default} | {field.description} |")
    return "\n".join(rows)


def own_fields(model: type[BaseModel]) -> list[tuple[str, FieldInfo]]:
    """What a mapping has besides the shared keys, which have a table of their own."""
    shared = SharedModel.model_fields if model in {BlockModel, IncludeModel} else {}
    return [(name, field) for name, field in model.model_fields.items() if name not in shared]


def _default(value: object) -> str:
    if value is None or value == {}:
        return "-"
    return f"`{str(value).lower()}`"


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("model", MODELS)
def test_the_tables_of_keys_are_those_of_the_models(model: type[BaseModel]) -> None:
    table = key_table(model)

    assert table in PLAYBOOK, f"put this table of {model.__name__} into docs/playbook.md:\n{table}"


@pytest.mark.parametrize("model", MODELS)
def test_every_key_is_in_some_example(model: type[BaseModel]) -> None:
    examples = "\n".join(blocks(PLAYBOOK, "yaml"))

    for name, field in own_fields(model):
        assert re.search(rf"\b{field.alias or name}:", examples), name


@pytest.mark.parametrize("text", blocks(PLAYBOOK, "yaml"))
def test_examples_of_playbooks_load(text: str, tmp_path: Path) -> None:
    for name, content in (
        ("checks/disk.yml", "- {id: disk, run: 'df -P {{ mount }}'}\n"),
        ("vars/web.yml", "port: 80\n"),
    ):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(content, encoding="utf-8")
    if not re.search(r"^(- |  )hosts:", text, re.MULTILINE):
        lines = "".join(f"    {line}\n" if line else "\n" for line in text.split("\n"))
        text = f"- hosts: all\n  checks:\n{lines}"

    assert load_playbook(str(tmp_path / "example.yml"), text).plays


def test_the_worked_example_of_parameters_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in re.findall(r"^```yaml file=(\S+)\n(.*?)^```$", PARAMS, re.MULTILINE | re.DOTALL):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    (play,) = load_playbook("database.yml").plays

    assert [check.id for check in play.checks] == [
        "data-space",
        "data-inodes",
        "log-space",
        "log-inodes",
        "lag",
        "locks",
    ]
    assert play.checks[1].needs == ("data-space",)
    assert [check.id for check in play.checks[0].on_fail] == ["data-largest"]
    assert [check.severity for check in play.checks[1:3]] == ["critical", "warning"]
    assert play.checks[2].vars == {"mount": "/var/log"}
    assert play.vars == {"database_user": "monitor"}
    shown = "\n".join(param_lines(play.params))
    assert shown in PARAMS


def test_the_types_of_parameters_are_all_described() -> None:
    assert re.findall(r"^\| `(\w+)` \|", PARAMS, re.MULTILINE) == [str(kind) for kind in ParamType]


@pytest.mark.parametrize("text", blocks(INVENTORY, "yaml"))
def test_examples_of_yaml_inventories_load(text: str, tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text(text, encoding="utf-8")

    assert load_inventory([str(tmp_path / "hosts.yml")]).hosts


@pytest.mark.parametrize("text", blocks(INVENTORY, "ini"))
def test_examples_of_ini_inventories_load(text: str, tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text(text, encoding="utf-8")
    inventory, origins = load_inventory_with_origins([str(tmp_path / "hosts")])

    assert inventory.hosts
    assert origins.warnings == ()


def test_the_table_of_connection_variables_is_complete() -> None:
    for field, names in CONNECTION_VARIABLES.items():
        cells = ", ".join(f"`{name}`" for name in reversed(names))
        assert f"| {cells} |" in INVENTORY, f"docs/inventory.md lacks the names of {field}: {cells}"


def test_the_example_inventory() -> None:
    inventory, origins = load_inventory_with_origins([str(ROOT / "inventory.example.yml")])

    assert origins.warnings == ()
    assert {host.transport for host in inventory.hosts.values()} == {"ssh", "local"}
    assert [host.name for host in select(inventory, "web:&prod:!web03")]
    for pattern in re.findall(r"checkrunner hosts '([^']+)'", INVENTORY):
        assert select(inventory, pattern), pattern


def test_the_extra_variables_of_the_manual() -> None:
    assert parse_extra_vars(["max_load=5 note='two words'"]) == {"max_load": "5", "note": "two words"}
    assert parse_extra_vars(['{"max_load": 5}']) == {"max_load": 5}


def test_the_schema_describes_every_key() -> None:
    schema = playbook_schema()
    definitions = {name: found for name, found in schema["$defs"].items() if name not in task_schemas()}

    assert set(definitions) == {model.__name__ for model in MODELS if model is not SharedModel}
    for name, definition in definitions.items():
        assert definition["additionalProperties"] is False, name
        for key, value in definition["properties"].items():
            assert value["description"], f"{name}.{key}"
    assert "register" in definitions["CheckModel"]["properties"]
    assert definitions["PlayModel"]["required"] == ["hosts", "checks"]
    assert "null" not in str(schema)
