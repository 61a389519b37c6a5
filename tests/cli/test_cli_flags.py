"""Options that verbs share: each becomes a parameter of the verb, and words again."""

from __future__ import annotations

import dataclasses

import typer.main

from checkrunner.cli.flags import arguments_of
from checkrunner.cli.main import app
from checkrunner.cli.run_flags import RunFlags
from checkrunner.setting_table import SETTINGS


def test_a_verb_has_the_options_in_the_place_of_the_parameter() -> None:
    group = typer.main.get_command(app)
    names = [parameter.name for parameter in group.commands["run"].params]  # type: ignore[attr-defined]  # typer's own

    assert names[:2] == ["playbook", "inventory"]
    assert {field.name for field in dataclasses.fields(RunFlags)} < set(names)
    assert "flags" not in names


def test_each_field_is_a_setting_or_is_said_to_be_none() -> None:
    fields = {field.name for field in dataclasses.fields(RunFlags)}

    assert fields - set(SETTINGS) == {
        "limit", "extra_vars", "tags", "skip_tags", "allow_empty", "output", "perfdata", "metrics",
    }  # fmt: skip


def test_flags_become_the_words_that_give_them() -> None:
    flags = RunFlags(inventory=["a b.yml", "web[1-9],"], limit="-x", become=True, forks="7")

    assert arguments_of(flags) == [
        "--inventory", "a b.yml", "--inventory", "web[1-9],", "--limit=-x", "--become", "--forks", "7",
    ]  # fmt: skip
    assert arguments_of(RunFlags()) == []
