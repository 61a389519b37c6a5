from __future__ import annotations

from pathlib import Path

import pytest

from checkrunner.load.connection import settle
from checkrunner.load.inventory import load_inventory, load_inventory_with_origins
from checkrunner.model.errors import InventoryError, LoadError
from checkrunner.model.inventory import Host, Setting
from checkrunner.model.sources import Secret


def host(tmp_path: Path, variables: str) -> Host:
    path = tmp_path / "hosts.yml"
    path.write_text(f"all: {{hosts: {{h: {{{variables}}}}}}}\n", encoding="utf-8")
    return load_inventory([str(path)]).hosts["h"]


def ini_host(tmp_path: Path, variables: str) -> Host:
    path = tmp_path / "hosts"
    path.write_text(f"h {variables}\n", encoding="utf-8")
    return load_inventory([str(path)]).hosts["h"]


def test_defaults(tmp_path: Path) -> None:
    found = host(tmp_path, "")

    assert (found.address, found.transport, found.port, found.user) == ("h", "ssh", None, None)
    assert (found.private_key_file, found.password, dict(found.options)) == (None, None, {})


@pytest.mark.parametrize("prefix", ["", "ansible_", "ansible_ssh_"])
def test_settings_with_and_without_prefix(tmp_path: Path, prefix: str) -> None:
    found = host(
        tmp_path, f"{prefix}host: 10.0.0.1, {prefix}port: 2222, {prefix}user: joe, {prefix}private_key_file: ~/k"
    )

    assert (found.address, found.port, found.user, found.private_key_file) == ("10.0.0.1", 2222, "joe", "~/k")


def test_the_prefixed_name_wins(tmp_path: Path) -> None:
    found = host(tmp_path, "ansible_user: a, user: b, ansible_port: 1, ansible_ssh_port: 2, port: 3")

    assert (found.user, found.port) == ("a", 2)


@pytest.mark.parametrize(
    ("written", "transport"),
    [
        ("ssh", "ssh"),
        ("smart", "ssh"),
        ("paramiko", "ssh"),
        ("local", "local"),
        ("ansible.builtin.ssh", "ssh"),
        # Whether there is such a transport counts only where the host is to be reached.
        ("winrm", "winrm"),
        ("community.docker.docker", "docker"),
        ("community.docker.docker_api", "community.docker.docker_api"),
        ("community.docker.nsenter", "nsenter"),
        ("containers.podman.podman", "podman"),
        ("kubernetes.core.kubectl", "kubectl"),
        ("exec", "exec"),
    ],
)
def test_transports(tmp_path: Path, written: str, transport: str) -> None:
    assert host(tmp_path, f"ansible_connection: {written}").transport == transport
    assert host(tmp_path, f"connection: {written}").transport == transport


@pytest.mark.parametrize(
    ("variables", "column", "message", "hint"),
    [
        ("ansible_port: x", 33, "'x' is not a port", "65535"),
        ("ansible_port: 0", 33, "'0' is not a port", ""),
        ("ansible_port: true", 33, "'true' is not a port", ""),
        ("ansible_user: [a]", 33, "this is a list", ""),
    ],
)
def test_settings_that_cannot_be(tmp_path: Path, variables: str, column: int, message: str, hint: str) -> None:
    with pytest.raises(InventoryError) as caught:
        host(tmp_path, variables)

    assert message in caught.value.message
    assert hint in caught.value.hint
    assert (caught.value.source.line, caught.value.source.column) == (1, column)


def test_templates_elsewhere_are_texts(tmp_path: Path) -> None:
    assert host(tmp_path, "url: 'http://{{ x }}'").vars["url"] == "http://{{ x }}"


def test_other_settings_become_options(tmp_path: Path) -> None:
    found = host(
        tmp_path,
        "ansible_ssh_common_args: -J jump, ssh_extra_args: -v, ansible_ssh_host_key_checking: false, "
        "ansible_become: true, become_user: b, ansible_become_user: app, ansible_python_interpreter: /usr/bin/python3, "
        "color: red",
    )

    assert dict(found.options) == {
        "ssh_common_args": "-J jump",
        "ssh_extra_args": "-v",
        "host_key_checking": False,
        "become": True,
        "become_user": "app",
        "python_interpreter": "/usr/bin/python3",
    }
    assert found.vars["ansible_ssh_common_args"] == "-J jump"


@pytest.mark.parametrize(
    "name", ["ansible_password", "ansible_ssh_pass", "ansible_ssh_password", "password", "ssh_pass"]
)
def test_passwords_are_secrets_everywhere(tmp_path: Path, name: str) -> None:
    found = host(tmp_path, f"{name}: hunter2")

    assert found.password == Secret("hunter2")
    assert found.vars[name] == Secret("hunter2")
    assert "hunter2" not in repr(found)


def test_become_passwords_are_secrets(tmp_path: Path) -> None:
    found = host(tmp_path, "ansible_become_pass: hunter2")

    assert found.options["become_password"] == Secret("hunter2")
    assert "hunter2" not in repr(found)


def test_group_passwords_are_secrets_in_the_group_too(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("[g]\nh\n[g:vars]\nansible_password=hunter2\n", encoding="utf-8")
    inventory = load_inventory([str(path)])

    assert inventory.hosts["h"].password == Secret("hunter2")
    assert "hunter2" not in repr(inventory)


@pytest.mark.parametrize("text", ["0123", "1_000", "1e5", "12345", "True"])
def test_passwords_are_texts_as_written(tmp_path: Path, text: str) -> None:
    assert ini_host(tmp_path, f"ansible_password={text}").password == Secret(text)
    assert host(tmp_path, f"ansible_password: {text}").password == Secret(text)


def test_templates_are_kept_for_later(tmp_path: Path) -> None:
    found = host(
        tmp_path,
        "ansible_host: '{{ ip }}', ansible_port: '{{ p }}', ansible_user: '{% if x %}a{% endif %}', "
        "ansible_password: '{{ vault }}', ansible_connection: '{{ c }}', ansible_ssh_common_args: '-J {{ j }}', "
        "become: '{{ b }}', ansible_python_interpreter: '{{ nobody_reads_it }}'",
    )

    assert {field: (s.name, s.value) for field, s in found.unsettled.items()} == {
        "address": ("ansible_host", "{{ ip }}"),
        "port": ("ansible_port", "{{ p }}"),
        "user": ("ansible_user", "{% if x %}a{% endif %}"),
        "password": ("ansible_password", "{{ vault }}"),
        "transport": ("ansible_connection", "{{ c }}"),
        "ssh_common_args": ("ansible_ssh_common_args", "-J {{ j }}"),
        "become": ("become", "{{ b }}"),
    }
    assert (found.address, found.port, found.password) == ("{{ ip }}", None, None)
    address = found.unsettled["address"]
    assert (address.source.line, address.source.column) == (1, 34)
    assert "ansible_host: '{{ ip }}'" in address.line_text


def test_a_stronger_name_settles_what_a_weaker_one_leaves_open(tmp_path: Path) -> None:
    found = host(tmp_path, "user: '{{ u }}', ansible_user: joe, become_user: '{{ b }}', ansible_become_user: app")

    assert (found.user, found.options["become_user"], dict(found.unsettled)) == ("joe", "app", {})


def test_what_a_template_of_a_password_holds_is_hidden(tmp_path: Path) -> None:
    found = host(tmp_path, "ansible_password: \"{{ x | default('hunter2') }}\", ansible_become_pass: '{{ vault }}'")

    assert "hunter2" not in repr(found)
    assert found.vars["ansible_become_pass"] == "{{ vault }}"
    assert isinstance(found.unsettled["password"].value, Secret)


def fail(setting: Setting, message: str, hint: str) -> LoadError:
    return LoadError(f"{setting.name}: {message}", source=setting.source, hint=hint)


def test_values_of_templates_are_read_as_written_ones_are(tmp_path: Path) -> None:
    found = host(
        tmp_path,
        "ansible_host: '{{ a }}', ansible_port: '{{ a }}', ansible_user: '{{ a }}', ansible_password: '{{ a }}', "
        "ansible_connection: '{{ a }}', ansible_become: '{{ a }}', ansible_ssh_extra_args: '{{ a }}'",
    )
    settled = settle(
        found,
        {
            "address": None, "port": 2222, "user": Secret("ops"), "password": "pw", "transport": "smart",
            "become": False, "ssh_extra_args": Secret("-v"),
        },
        fail,
    )  # fmt: skip

    assert (settled.address, settled.port, settled.user, settled.transport) == ("h", 2222, "ops", "ssh")
    assert settled.password == Secret("pw")
    assert (settled.options["become"], settled.options["ssh_extra_args"]) == (False, "-v")
    assert not settled.unsettled
    assert settle(found, {"port": "22"}, fail).unsettled.keys() == found.unsettled.keys() - {"port"}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("port", "x", "ansible_port: 'x' is not a port"),
        ("port", Secret("90210"), "ansible_port: ******** is not a port"),
        ("port", True, "is not a port"),
        ("address", ["a"], "ansible_host: a connection setting is a text"),
    ],
)
def test_values_of_templates_that_cannot_be(tmp_path: Path, field: str, value: object, message: str) -> None:
    found = host(tmp_path, "ansible_host: '{{ a }}', ansible_port: '{{ a }}'")

    with pytest.raises(LoadError) as caught:
        settle(found, {field: value}, fail)

    assert message in caught.value.message


def test_settings_of_programs_that_lead_to_a_host(tmp_path: Path) -> None:
    found = host(
        tmp_path,
        "checkrunner_exec: [docker, exec, -i, box], ansible_docker_extra_args: '-H {{ d }}', "
        "ansible_kubectl_namespace: shop, ansible_nsenter_pid: 7, checkrunner_nsenter_target: '{{ p }}', exec: [x]",
    )

    assert dict(found.options) == {
        "checkrunner_exec": ["docker", "exec", "-i", "box"],
        "docker_extra_args": "-H {{ d }}",
        "kubectl_namespace": "shop",
        "nsenter_pid": 7,
        "checkrunner_nsenter_target": "{{ p }}",
    }
    assert found.unsettled.keys() == {"docker_extra_args", "checkrunner_nsenter_target"}


def test_lists_with_templates_are_settled_as_a_whole(tmp_path: Path) -> None:
    found = host(tmp_path, "checkrunner_exec: [ip, netns, exec, '{{ net }}', 7]")

    setting = found.unsettled["checkrunner_exec"]
    assert setting.value == ("ip", "netns", "exec", "{{ net }}", 7)
    assert "{{ net }}" in setting.line_text
    settled = settle(found, {"checkrunner_exec": ["ip", "netns", "exec", "blue", 7]}, fail)
    assert settled.options["checkrunner_exec"] == ["ip", "netns", "exec", "blue", 7]


def test_a_list_in_ini(tmp_path: Path) -> None:
    found = ini_host(tmp_path, """ansible_connection=exec checkrunner_exec='["ip", "netns", "exec", "blue"]'""")

    assert (found.transport, found.options["checkrunner_exec"]) == ("exec", ["ip", "netns", "exec", "blue"])


@pytest.mark.parametrize(
    "variables",
    [
        "checkrunner_exec: [app, !env TOKEN]",
        "checkrunner_exec: '{{ x }}'",
        "ansible_docker_extra_args: '{{ x }}'",
        "ansible_kubectl_context: !env TOKEN",
    ],
)
def test_no_secret_goes_into_arguments(tmp_path: Path, variables: str) -> None:
    found = host(tmp_path, variables)

    (field,) = found.unsettled
    with pytest.raises(LoadError, match="seen by every user of this machine"):
        settle(found, {field: Secret("s")}, fail)


def test_misspelt_names_of_our_own_are_told_of(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("h checkrunner_exce=x checkrunner_weather=fine\n", encoding="utf-8")

    (warning,) = load_inventory_with_origins([str(path)])[1].warnings
    assert "checkrunner_exce is no setting that is known" in warning
    assert "Did you mean checkrunner_exec?" in warning


def test_no_line_with_a_secret_in_it_is_kept_for_messages(tmp_path: Path) -> None:
    found = host(tmp_path, "ansible_user: '{{ who }}', ansible_password: hunter2")

    assert found.unsettled["user"].line_text == ""
    assert "hunter2" not in repr(found)
