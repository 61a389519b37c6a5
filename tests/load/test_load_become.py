"""How other users are written: playbook, inventory, settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrunner.load.inventory import load_inventory_with_origins
from checkrunner.load.playbook import load_playbook
from checkrunner.model.errors import PlaybookError, SettingsError
from checkrunner.model.playbook import Become
from checkrunner.model.sources import Secret
from checkrunner.settings import resolve_settings


def load(folder: Path, text: str) -> Become:
    path = folder / "play.yml"
    path.write_text(text)
    return load_playbook(str(path)).plays[0].checks[0].become


def test_exact_is_a_value_of_become(tmp_path: Path) -> None:
    text = "- hosts: all\n  checks: [{id: a, argv: [id], become: exact, become_user: app}]\n"
    assert load(tmp_path, text) == Become(become=True, exact=True, user="app")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("checks: [{id: a, run: id, become: exact}]", "`become: exact` is for checks with `argv`"),
        (
            "become: exact\n  checks: [{id: a, run: id}]",
            "`become: exact` is for checks with `argv`, which check 'a' has not",
        ),
        ("checks: [{id: a, argv: [id], become: exact, become_method: su}]", "su always starts a shell"),
        ("become: exact\n  become_method: su\n  checks: [{id: a, argv: [id]}]", "su always starts a shell"),
        ("checks: [{id: a, run: id, become: exactly}]", "true, false or exact is expected here"),
    ],
)
def test_what_exact_does_not_go_with(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(PlaybookError) as caught:
        load(tmp_path, f"- hosts: all\n  {text}\n")
    assert said in str(caught.value)
    assert caught.value.errors[0].source.line > 0


def test_exact_of_a_play_is_not_for_checks_that_say_otherwise(tmp_path: Path) -> None:
    text = "- hosts: all\n  become: exact\n  checks: [{id: a, run: id, become: true}]\n"
    assert load(tmp_path, text) == Become(become=True)


def test_what_the_inventory_says_is_acted_on(tmp_path: Path) -> None:
    path = tmp_path / "hosts.yml"
    path.write_text(
        "all: {hosts: {a: {ansible_become: true, ansible_become_method: doas, ansible_become_password: p4ss,"
        " ansible_become_exe: /opt/sudo}}}\n"
    )
    inventory, origins = load_inventory_with_origins([str(path)])
    assert inventory.hosts["a"].options["become_password"] == Secret("p4ss")
    (warning,) = origins.warnings
    assert "ansible_become_exe is not acted on: sudo, doas and su are called by their names" in warning


def test_the_password_is_taken_from_the_environment_only(tmp_path: Path) -> None:
    settings = resolve_settings({}, environ={"CHECKRUNNER_BECOME_PASSWORD": "p4ss word"}, cwd=tmp_path)
    assert settings.become_password == Secret("p4ss word")
    assert "p4ss" not in repr(settings)
    (tmp_path / "checkrunner.toml").write_text('become_password = "p4ss word"\n')
    with pytest.raises(SettingsError) as caught:
        resolve_settings({}, environ={}, cwd=tmp_path)
    assert "p4ss" not in str(caught.value)
    assert "CHECKRUNNER_BECOME_PASSWORD" in str(caught.value)


def test_the_rest_may_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "checkrunner.toml").write_text('become = true\nbecome_user = "app"\nbecome_method = "doas"\n')
    settings = resolve_settings({}, environ={}, cwd=tmp_path)
    assert settings.run_options().become == Become(become=True, user="app", method="doas")
    with pytest.raises(SettingsError, match="expected one of sudo, su, doas"):
        resolve_settings({"become_method": "ksu"}, environ={}, cwd=tmp_path)
