"""How hosts are reached where settings are templates: read from real inventories, settled for the hosts of a run."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from untagged import untagged

from checkrunner.app.inventory_output import Wanted, inventory_text
from checkrunner.app.links import Links
from checkrunner.app.linting import lint_playbook
from checkrunner.app.listing import explain_host
from checkrunner.app.prepare import Prepared, Request, prepare
from checkrunner.app.run import make_redactor
from checkrunner.app.secrets import make_secrets
from checkrunner.model.errors import LoadError, TemplateError, UnsupportedError
from checkrunner.model.inventory import Host
from checkrunner.model.plan import Step
from checkrunner.model.results import HostState
from checkrunner.model.sources import Secret
from checkrunner.settings import resolve_settings

PLAY = "- hosts: all\n  checks: [{run: 'true'}]\n"


def request(
    folder: Path, inventory: str, *, play: str = PLAY, limit: str | None = None, extra: tuple[str, ...] = ()
) -> Request:
    (folder / "p.yml").write_text(play)
    (folder / "inv.yml").write_text(inventory)
    environ = {"WHO": "from-env"}
    settings = resolve_settings({"inventory": (str(folder / "inv.yml"),)}, environ=environ, cwd=folder)
    return Request(playbook=str(folder / "p.yml"), settings=settings, limit=limit, extra_vars=extra)


def hosts(prepared: Prepared) -> dict[str, Host]:
    return {plan.host.name: plan.host for plan in prepared.plan.hosts}


def one(folder: Path, settings: str, **more: str) -> Host:
    """The host `web1.example.net` with these settings, beside `gate` in the group `gates`."""
    variables = "".join(f"    {line}\n" for line in settings.splitlines())
    inventory = (
        "gates: {hosts: {gate: {ansible_host: '{{ net }}.1', net: 10.0.0, ansible_connection: local}}}\n"
        f"all:\n  hosts: {{web1.example.net: }}\n  vars:\n{variables}"
    )
    asked = request(folder, inventory, limit="web1*", extra=tuple(f"{k}={v}" for k, v in more.items()))
    return hosts(prepare(asked))["web1.example.net"]


@pytest.mark.parametrize(
    ("template", "user"),
    [
        ("{{ inventory_hostname }}", "web1.example.net"),
        ("{{ inventory_hostname_short }}", "web1"),
        ("{{ chained }}", "own"),
        ("{{ 'a' if 'gates' in group_names else 'b' }}", "b"),
        ("{{ groups['gates'][0] }}", "gate"),
        ("{{ groups.all | length }}", "2"),
        ("{{ hostvars['gate'].ansible_host }}", "10.0.0.1"),
        ("{{ hostvars['gate']['nope'] | default('none') }}", "none"),
        ("{{ hostvars['nope'].x | default('none') }}", "none"),
        ("{{ lookup('env', 'WHO') }}", "from-env"),
        ("{{ lookup('ansible.builtin.env', 'NOT_SET', default='x') }}", "x"),
        ("{{ lookup('env', 'NOT_SET') }}", None),
        ("{{ none }}", None),
    ],
)
def test_what_templates_can_read(tmp_path: Path, template: str, user: str | None) -> None:
    found = one(tmp_path, f'ansible_user: "{template}"\nchained: "{{{{ base }}}}"\nbase: own')

    assert found.user == user


def test_places_of_inventory_and_playbook(tmp_path: Path) -> None:
    found = one(
        tmp_path,
        "ansible_ssh_private_key_file: '{{ inventory_dir }}/keys/a'\nansible_ssh_extra_args: '-F {{ playbook_dir }}/c'",
    )

    assert found.private_key_file == f"{tmp_path}/keys/a"
    assert found.options["ssh_extra_args"] == f"-F {tmp_path}/c"


def test_types_and_all_kinds_of_settings(tmp_path: Path) -> None:
    found = one(
        tmp_path,
        "x: true\nansible_port: '{{ 22 if x else 2222 }}'\nansible_connection: \"{{ 'smart' if x else 'local' }}\"\n"
        "ansible_ssh_common_args: '-J {{ hostvars.gate.net }}.1'\nansible_host_key_checking: '{{ not x }}'\n"
        "ansible_become: '{{ not x }}'",
    )

    assert (found.port, found.transport) == (22, "ssh")
    assert found.options["ssh_common_args"] == "-J 10.0.0.1"
    assert (found.options["host_key_checking"], found.options["become"]) == (False, False)
    assert not found.unsettled


def test_extra_variables_count(tmp_path: Path) -> None:
    assert one(tmp_path, "ansible_user: '{{ default_user }}'\ndefault_user: a", default_user="b").user == "b"


def test_variables_of_plays_count_where_they_agree(tmp_path: Path) -> None:
    inventory = "all: {hosts: {h: {ansible_user: '{{ who }}', who: inv}}}\n"
    plays = "- {hosts: all, vars: {who: a}, checks: [{run: x}]}\n- {hosts: all, vars: {who: %s}, checks: [{run: y}]}\n"

    assert hosts(prepare(request(tmp_path, inventory, play=plays % "a")))["h"].user == "a"
    with pytest.raises(TemplateError, match="the plays give it different values"):
        prepare(request(tmp_path, inventory, play=plays % "b"))


def test_secrets_stay_secrets(tmp_path: Path) -> None:
    inventory = (
        "all: {hosts: {h: {ansible_password: '{{ vault_password }}', vault_password: !cmd printf hunter-2, "
        "ansible_user: 'u-{{ token }}', token: !env WHO}}}\n"
    )
    prepared = prepare(request(tmp_path, inventory))
    found = hosts(prepared)["h"]

    assert found.password == Secret("hunter-2") or found.password is found.vars["vault_password"]
    assert found.user == "u-from-env"
    assert untagged(make_redactor(prepared).redact("x hunter-2 x u-from-env x from-env")) == (
        "x <secret> x <secret> x <secret>"
    )


@pytest.mark.parametrize("value", ["{{ vault_word }}", "!env WHO", "from-env"])
def test_the_password_of_become_is_rendered_where_a_check_becomes(tmp_path: Path, value: str) -> None:
    settings = f"ansible_become_password: {json.dumps(value) if value[0] == '{' else value}\nvault_word: from-env"
    inventory = "all:\n  hosts: {h: }\n  vars:\n" + "".join(f"    {line}\n" for line in settings.splitlines())
    play = "- hosts: all\n  become: true\n  checks: [{run: 'true'}]\n"
    prepared = prepare(request(tmp_path, inventory, play=play))

    password = hosts(prepared)["h"].options["become_password"]
    assert isinstance(password, Secret)
    assert password.reveal() == "from-env"
    assert untagged(make_redactor(prepared).redact("it is from-env.")) == "it is <secret>."


def test_a_method_of_become_can_be_a_template(tmp_path: Path) -> None:
    settings = "ansible_become: true\nansible_become_method: \"{{ 'do' }}as\"\nansible_become_password: '{{ nobody }}'"
    with pytest.raises(LoadError, match=r"'nobody' is not defined \(ansible_become_password"):
        one(tmp_path, settings)

    host = one(tmp_path, settings.replace("true", "false"))

    assert host.options["become_method"] == "doas"


@pytest.mark.parametrize("value", ["{{ vault_password }}", "{{ 'x' ~ vault_password }}", "a{{ vault_password }}"])
def test_a_secret_that_cannot_be_opened_is_named_at_its_place(tmp_path: Path, value: str) -> None:
    inventory = f'all:\n  hosts:\n    h: {{ansible_password: "{value}"}}\n  vars: {{vault_password: !env NOT_SET}}\n'

    with pytest.raises(LoadError, match="the environment variable 'NOT_SET' is not set") as caught:
        prepare(request(tmp_path, inventory))

    assert caught.value.source.line == 4


def test_errors_name_host_setting_and_place_once(tmp_path: Path) -> None:
    inventory = (
        "all:\n  hosts: {w1: , w2: , w3: , ok: {ansible_user: a, ansible_port: 22}}\n"
        "  vars:\n    ansible_user: '{{ defualt_user }}'\n    ansible_port: '{{ default_user }}'\n"
        "    default_user: ops\n"
    )
    with pytest.raises(TemplateError) as caught:
        prepare(request(tmp_path, inventory))
    user, port = caught.value.errors

    assert user.message == "'defualt_user' is not defined (ansible_user of host w1 and 2 more)"
    assert (user.source.line, user.source.path) == (4, str(tmp_path / "inv.yml"))
    assert user.hint == "Did you mean 'default_user'?"
    assert "defualt_user" in user.line_text
    assert port.message == "'ops' is not a port (ansible_port of host w1 and 2 more)"
    assert len(lint_playbook(request(tmp_path, inventory))) >= 2


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ ansible_user }}", "needs itself"),
        ("{{ a | nope }}", "no filter is called 'nope'"),
        ("{{ a", "not a valid template"),
        ("{{ lookup('pipe', 'id') }}", "no look-up is called 'pipe' here"),
        ("{{ hostvars['nope'].x }}", "there is no 'nope' in it"),
        ("{{ hostvars.gate._layers }}", ""),
    ],
)
def test_templates_that_cannot_be(tmp_path: Path, template: str, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        one(tmp_path, f'ansible_user: "{template}"')

    assert message in caught.value.message
    assert "(ansible_user of host web1.example.net)" in caught.value.message
    assert caught.value.source.line == 5


def test_what_is_not_needed_is_not_rendered(tmp_path: Path) -> None:
    """Not of hosts outside of the limit, of this machine, or of hosts that nothing here can reach; nor are their
    secrets opened."""
    inventory = (
        "all:\n  hosts: {here: {ansible_connection: local}, win: {ansible_connection: \"{{ 'win' ~ 'rm' }}\"}, left: }\n"
        "  vars: {ansible_host: '{{ nope }}', ansible_port: '{{ nope }}', ansible_password: !env NOT_SET,\n"
        "    ansible_python_interpreter: '{{ ansible_playbook_python }}'}\n"
    )
    prepared = prepare(request(tmp_path, inventory, limit="here,win"))

    assert {name: host.transport for name, host in hosts(prepared).items()} == {"here": "local", "win": "winrm"}
    assert all(host.password is None for host in hosts(prepared).values())


def test_a_host_without_a_transport_is_unsupported(tmp_path: Path) -> None:
    inventory = "all: {hosts: {w1: {ansible_connection: winrm}, w2: {ansible_connection: winrm}, h: }}\n"
    asked = request(tmp_path, inventory)
    links = Links(asked.settings)
    found = hosts(prepare(asked))

    with pytest.raises(UnsupportedError, match="w1: the connection 'winrm' is not supported") as caught:
        asyncio.run(links.open(found["w1"]))
    assert caught.value.state is HostState.UNSUPPORTED
    assert "docker, exec, kubectl, local, nsenter, podman and ssh" in caught.value.hint
    assert links.warnings(found["w1"]) == ()
    (problem,) = [one for one in lint_playbook(asked) if one.level != "info"]
    assert problem.message.startswith("w[1-2]: the connection 'winrm' is not supported")


def test_settings_of_programs_are_rendered_where_they_count(tmp_path: Path) -> None:
    inventory = (
        "all:\n  hosts:\n"
        "    e: {ansible_connection: exec, checkrunner_exec: [ip, netns, exec, '{{ net }}'], net: blue}\n"
        "    d: {ansible_connection: docker, ansible_host: 'web-{{ n }}', ansible_docker_extra_args: '-H {{ n }}', n: 1}\n"
        "    n: {ansible_connection: nsenter, ansible_host: '{{ nope }}', ansible_nsenter_pid: '{{ 40 + 2 }}'}\n"
        "  vars: {ansible_kubectl_pod: '{{ nope }}', ansible_password: !env NOT_SET}\n"
    )
    found = hosts(prepare(request(tmp_path, inventory)))

    assert found["e"].options["checkrunner_exec"] == ["ip", "netns", "exec", "blue"]
    assert (found["d"].address, found["d"].options["docker_extra_args"]) == ("web-1", "-H 1")
    assert found["n"].options["nsenter_pid"] == 42
    assert all(not host.unsettled and host.password is None for host in found.values())


@pytest.mark.parametrize("setting", ["checkrunner_exec: [app, '{{ token }}']", "checkrunner_exec: 'app {{ token }}'"])
def test_no_secret_becomes_an_argument(tmp_path: Path, setting: str) -> None:
    inventory = f"all: {{hosts: {{h: {{ansible_connection: exec, token: !env WHO, {setting}}}}}}}\n"

    with pytest.raises(LoadError, match="seen by every user of this machine") as caught:
        prepare(request(tmp_path, inventory))

    assert "from-env" not in str(caught.value)
    assert "checkrunner_exec of host h" in str(caught.value)


def test_a_program_that_cannot_be_one_ends_lint(tmp_path: Path) -> None:
    problems = lint_playbook(request(tmp_path, "all: {hosts: {h: {ansible_connection: exec}}}\n"))

    assert [problem.message for problem in problems if problem.level != "info"] == [
        "h: the connection 'exec' needs the variable checkrunner_exec"
    ]


def test_a_near_miss_is_named(tmp_path: Path) -> None:
    asked = request(tmp_path, "all: {hosts: {h: {ansible_connection: locla}}}\n")

    with pytest.raises(UnsupportedError) as caught:
        asyncio.run(Links(asked.settings).open(hosts(prepare(asked))["h"]))

    assert caught.value.hint == "Did you mean 'local'?"


UNSAFE_PROGRAM = """\
#!/bin/sh
echo '{"g": {"hosts": ["h"]}, "_meta": {"hostvars": {"h": {"ansible_user": {"__ansible_unsafe": "a{{ b"},'
echo '"ansible_password": {"__ansible_unsafe": "c{{ d"}, "x": {"__ansible_unsafe": "{{ nope }}"}}}}}'
"""


def test_texts_marked_as_no_templates_are_none(tmp_path: Path) -> None:
    written = (
        "all: {hosts: {h: {ansible_user: !unsafe 'a{{ b', ansible_password: !unsafe 'c{{ d', "
        "x: !unsafe '{{ nope }}'}}}\n"
    )
    play = "- hosts: all\n  checks: [{run: 'echo {{ x }}'}]\n"
    for text in (written, UNSAFE_PROGRAM):
        asked = request(tmp_path, text, play=play)
        (tmp_path / "inv.yml").chmod(0o755 if text is UNSAFE_PROGRAM else 0o644)
        prepared = prepare(asked)
        found = hosts(prepared)["h"]
        step = prepared.plan.hosts[0].resolve(prepared.plan.hosts[0].checks[0], {})

        assert (found.user, found.password) == ("a{{ b", Secret("c{{ d"))
        assert isinstance(step, Step)
        assert step.command.shell == "echo {{ nope }}"
        wanted = Wanted(sources=asked.settings.inventory, action="host", start="h")
        listed, _ = inventory_text(wanted, make_secrets(asked.settings))
        assert json.loads(listed) == {"ansible_user": "a{{ b", "ansible_password": "********", "x": "{{ nope }}"}
        assert any('x = "{{ nope }}"' in line for line in explain_host(asked.settings.inventory, "h"))
