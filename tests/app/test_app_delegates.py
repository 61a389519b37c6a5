"""The hosts that checks are delegated to: found in real inventories, settled, masked."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrunner.app.delegates import Delegates
from checkrunner.app.linting import lint_playbook
from checkrunner.app.prepare import Prepared, Request, prepare
from checkrunner.app.run import make_redactor
from checkrunner.model.errors import LoadError, UnknownNameError, UnsupportedError
from checkrunner.model.inventory import Host
from checkrunner.model.sources import Secret
from checkrunner.settings import resolve_settings

INVENTORY = """
all:
  hosts:
    web1: {pool: lb1, ansible_connection: local}
    web2: {pool: lb2, ansible_connection: local}
    lb1: {ansible_host: "{{ net }}.1", ansible_become_password: "{{ secret }}"}
    lb2: {ansible_host: "{{ net }}.2", ansible_user: "{{ nobody_knows }}"}
    lb3: {ansible_host: "{{ net }}.3", ansible_password: !env LB3}
  vars: {net: 10.0.0, secret: become-secret}
"""
ENVIRON = {"LB3": "third-secret"}


def request(folder: Path, where: str, *, more: str = "", limit: str = "web1", key: str = "hosts: web*") -> Request:
    (folder / "p.yml").write_text(
        f"- {key}\n  checks:\n    - {{id: a, run: 'true', register: a}}\n"
        f"    - id: there\n      run: 'true'\n      delegate_to: {where}\n{more}"
    )
    (folder / "inv.yml").write_text(INVENTORY)
    settings = resolve_settings({"inventory": (str(folder / "inv.yml"),)}, environ=ENVIRON, cwd=folder)
    return Request(playbook=str(folder / "p.yml"), settings=settings, limit=limit)


def delegates(prepared: Prepared) -> Delegates:
    assert prepared.delegates is not None
    return prepared.delegates


def opened(host: Host) -> bool:
    """Whether the password to become somebody there is known, and not only as it was written."""
    password = host.options["become_password"]
    return isinstance(password, Secret) and password.reveal() == "become-secret"


def test_a_playbook_that_delegates_nothing_has_none(tmp_path: Path) -> None:
    asked = request(tmp_path, "x")
    (tmp_path / "p.yml").write_text("- hosts: web1\n  checks: [{run: 'true'}]\n")

    assert prepare(asked).delegates is None


@pytest.mark.parametrize("where", ["lb1", '"{{ pool }}"', '"{{ hostless | default(pool) }}"'])
def test_those_that_can_be_known_are_settled_before_the_run(tmp_path: Path, where: str) -> None:
    found = delegates(prepare(request(tmp_path, where)))

    assert found.known["lb1"].address == "10.0.0.1"
    assert list(found.unselected()) == ["lb1"]


def test_those_that_turn_up_later_are_settled_then(tmp_path: Path) -> None:
    prepared = prepare(request(tmp_path, '"lb{{ a.rc + 1 }}"'))
    found = delegates(prepared)
    redactor = make_redactor(prepared)
    assert not found.known

    found.redactor = redactor

    assert found.host("lb3").address == "10.0.0.3"
    assert found.host("lb3") is found.host("lb3")
    assert "third-secret" not in redactor.redact("is third-secret here")


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "::1"])
def test_this_machine_needs_no_entry(tmp_path: Path, name: str) -> None:
    found = delegates(prepare(request(tmp_path, f'"{name}"')))

    assert found.host(name).transport == "local"


def test_an_entry_for_this_machine_wins(tmp_path: Path) -> None:
    asked = request(tmp_path, "localhost")
    (tmp_path / "inv.yml").write_text(INVENTORY.replace("  vars:", "    localhost: {ansible_host: 10.9.9.9}\n  vars:"))

    host = delegates(prepare(asked)).host("localhost")

    assert (host.address, host.transport) == ("10.9.9.9", "ssh")


def test_a_name_that_nobody_has_is_told_at_its_place(tmp_path: Path) -> None:
    asked = request(tmp_path, "lb11")

    with pytest.raises(LoadError) as caught:
        prepare(asked)
    problems = [problem for problem in lint_playbook(asked) if "delegate_to" in problem.message]

    assert (caught.value.source.line, caught.value.source.column) == (6, 20)
    assert caught.value.hint == "Did you mean 'lb1'?"
    assert [problem.source for problem in problems] == [caught.value.source]


def test_a_name_that_only_a_template_comes_to_is_no_error_yet(tmp_path: Path) -> None:
    found = delegates(prepare(request(tmp_path, "\"{{ 'nobody' if pool == 'lb1' else 'lb1' }}\"")))

    with pytest.raises(UnknownNameError):
        found.host("nobody")
    with pytest.raises(UnsupportedError, match="nobody: no host is called 'nobody'"):
        found.find(lambda host: host, "nobody")


def test_settings_that_cannot_be_used_are_errors_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"nobody_knows.*of host lb2"):
        prepare(request(tmp_path, "lb2"))


def test_they_concern_nobody_but_those_who_delegate_there(tmp_path: Path) -> None:
    found = delegates(prepare(request(tmp_path, '"{{ pool }}"', limit="web1")))

    with pytest.raises(UnsupportedError, match="nobody_knows"):
        found.find(lambda host: host, "lb2")
    assert found.find(lambda host: host, "lb3").address == "10.0.0.3"


@pytest.mark.parametrize("become", [False, True])
def test_a_password_to_become_somebody_is_opened_only_where_a_check_needs_it(tmp_path: Path, become: bool) -> None:
    found = delegates(prepare(request(tmp_path, "lb1", more="      become: true\n" if become else "")))

    assert opened(found.host("lb1")) is become


@pytest.mark.parametrize("become", [False, True])
def test_also_of_a_host_that_plays_select(tmp_path: Path, become: bool) -> None:
    more = ("      become: true\n" if become else "") + "- hosts: lb1\n  checks: [{id: own, run: 'true'}]\n"
    prepared = prepare(request(tmp_path, "lb1", more=more, limit="web1,lb1"))

    host = delegates(prepared).host("lb1")
    own = next(plan.host for plan in prepared.plan.hosts if plan.host.name == "lb1")
    assert opened(host) is become
    assert not opened(own)
    assert host.address == own.address == "10.0.0.1"
    assert not delegates(prepared).unselected()


def test_their_secrets_are_masked(tmp_path: Path) -> None:
    prepared = prepare(request(tmp_path, "lb3"))

    assert "third-secret" not in make_redactor(prepared).redact("is third-secret here")
