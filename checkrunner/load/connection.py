"""Connection settings out of a host's variables: ``ansible_host`` and its kin, with or without the prefix."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from checkrunner.load.draft import Assigned
from checkrunner.load.secrets import Covered, Sealed
from checkrunner.model.connections import EXEC_OPTIONS
from checkrunner.model.errors import LoadError
from checkrunner.model.inventory import Host, Setting, empty
from checkrunner.model.sources import Secret, SourceRef

__all__ = ["CONNECTION_VARIABLES", "build_host", "settle", "shown_vars"]

_Fail = Callable[[SourceRef, str, str], LoadError]

CONNECTION_VARIABLES: Mapping[str, tuple[str, ...]] = {
    # The later name wins, as in Ansible: what is meant for SSH alone is the closer one.
    "address": ("host", "ansible_host", "ansible_ssh_host"),
    "port": ("port", "ansible_port", "ansible_ssh_port"),
    "user": ("user", "ansible_user", "ansible_ssh_user"),
    "private_key_file": (
        "private_key_file",
        "ssh_private_key_file",
        "ansible_private_key_file",
        "ansible_ssh_private_key_file",
    ),
    "password": ("password", "ssh_pass", "ansible_password", "ansible_ssh_pass", "ansible_ssh_password"),
    "transport": ("connection", "ansible_connection"),
}
"""The variables of each field of a host, the winning one last."""

_SECRETS = frozenset(
    (
        *CONNECTION_VARIABLES["password"],
        "become_pass",
        "become_password",
        "ansible_become_pass",
        "ansible_become_password",
        "ansible_su_pass",
        "ansible_sudo_pass",
        "ansible_private_key",
        "ansible_private_key_passphrase",
        "ansible_ssh_private_key",
        "ansible_ssh_private_key_passphrase",
    )
)
_BARE_OPTIONS = frozenset(
    {
        "become",
        "become_method",
        "become_pass",
        "become_password",
        "become_user",
        "host_key_checking",
        "python_interpreter",
        "ssh_args",
        "ssh_common_args",
        "ssh_extra_args",
    }
)
_TEXT_OPTIONS = _BARE_OPTIONS - _SECRETS
_OPTION_NAMES = {"ssh_host_key_checking": "host_key_checking", "become_pass": "become_password"}
_READ_OPTIONS = EXEC_OPTIONS | {
    "become",
    "become_method",
    "become_password",
    "become_user",
    "host_key_checking",
    "ssh_common_args",
    "ssh_extra_args",
}
"""The options that something here acts on: of the others a template stays as it is, and need not be one that works."""

_TRANSPORT_OF = {
    "smart": "ssh",
    "paramiko": "ssh",
    "paramiko_ssh": "ssh",
    "ansible.builtin.local": "local",
    "ansible.builtin.paramiko_ssh": "ssh",
    "ansible.builtin.smart": "ssh",
    "ansible.builtin.ssh": "ssh",
    "ansible.netcommon.paramiko": "ssh",
    "ansible.netcommon.paramiko_ssh": "ssh",
    "community.docker.docker": "docker",
    "community.docker.nsenter": "nsenter",
    "community.general.docker": "docker",
    "community.general.kubectl": "kubectl",
    "community.kubernetes.kubectl": "kubectl",
    "containers.podman.podman": "podman",
    "kubernetes.core.kubectl": "kubectl",
}
"""Connections of Ansible and what they are called as a transport; any other word is the name of one. Whether there is
such a transport counts only where the host is to be reached."""

_SEEN = "a secret in the arguments of a program is seen by every user of this machine"

_LONE_NAME = re.compile(r"\s*\{\{[^'\"{}]*\}\}\s*")
"""A template without any text of its own: it says where a password is, and holds none."""

_FIELD_NAMES = frozenset(name for names in CONNECTION_VARIABLES.values() for name in names)


def build_host(
    name: str, variables: Mapping[str, Assigned], groups: Iterable[str], source: SourceRef, fail: _Fail
) -> Host:
    """The host of merged variables. Raises what `fail` makes for a setting that cannot be used."""
    found = {field: _winner(variables, names) for field, names in CONNECTION_VARIABLES.items()}
    unsettled = _unsettled(variables, found, fail)
    password = None if "password" in unsettled else found["password"]
    return Host(
        name=name,
        address=_text(found["address"], fail) or name,
        transport=_transport(found["transport"], fail),
        port=None if "port" in unsettled else _port(found["port"], fail),
        user=_text(found["user"], fail),
        private_key_file=_text(found["private_key_file"], fail),
        password=None if password is None else _password(password, fail),
        groups=tuple(groups),
        vars=MappingProxyType(shown_vars(variables)),
        options=MappingProxyType(_options(variables)),
        unsettled=unsettled,
        source=source,
    )


def settle(host: Host, values: Mapping[str, Any], fail: Callable[[Setting, str, str], LoadError]) -> Host:
    """The host with the values that its unsettled settings have. What `values` does not have stays unsettled.

    Raises what `fail` makes for a value that the setting cannot have.
    """
    changes: dict[str, Any] = {}
    options = dict(host.options)
    for field, value in values.items():
        setting = host.unsettled[field]
        assigned = None if value is None else Assigned(value, str(value), setting.source)

        def fail_here(_ref: SourceRef, message: str, hint: str, *, about: Setting = setting) -> LoadError:
            return fail(about, message, hint)

        if field == "address":
            changes[field] = _text(assigned, fail_here) or host.name
        elif field == "port":
            changes[field] = _port(assigned, fail_here)
        elif field == "transport":
            changes[field] = _transport(assigned, fail_here)
        elif field == "password":
            changes[field] = None if assigned is None else _password(assigned, fail_here)
        elif field in CONNECTION_VARIABLES:
            changes[field] = _text(assigned, fail_here)
        elif field == "become_password":
            options[field] = None if assigned is None else _password(assigned, fail_here)
        elif field in EXEC_OPTIONS and isinstance(value, Secret):
            raise fail(setting, _SEEN, "Give the program its secrets by a file or its own configuration")
        else:
            options[field] = value.reveal() if isinstance(value, Secret) else value
    left = {field: setting for field, setting in host.unsettled.items() if field not in values}
    return replace(host, **changes, options=MappingProxyType(options), unsettled=MappingProxyType(left))


def _unsettled(
    variables: Mapping[str, Assigned], found: Mapping[str, Assigned | None], fail: _Fail
) -> Mapping[str, Setting]:
    settings = None
    options = [(_option(name), variables[name]) for name in _option_names(variables)]
    for field, assigned in (*found.items(), *options):
        if assigned is None or (field not in CONNECTION_VARIABLES and field not in _READ_OPTIONS):
            continue
        closed = isinstance(assigned.value, Sealed) and not assigned.value.is_open and field != "password"
        if closed or _is_template(assigned):
            settings = {} if settings is None else settings
            settings[field] = _setting(variables, assigned, fail)
        elif settings:
            settings.pop(field, None)  # of an option, a stronger name
    return MappingProxyType(settings) if settings else empty()


def _setting(variables: Mapping[str, Assigned], assigned: Assigned, fail: _Fail) -> Setting:
    name = next(name for name, other in variables.items() if other is assigned)
    value = _hidden(name, assigned)
    if isinstance(value, list):
        value = tuple(value)
    line_text = "" if _by_a_secret(variables, assigned) else fail(assigned.ref, "", "").line_text
    return Setting(name=name, value=value, source=assigned.ref, line_text=line_text)


def _by_a_secret(variables: Mapping[str, Assigned], assigned: Assigned) -> bool:
    """Whether the line of a setting in its file holds a secret, be it another setting's."""
    place = (assigned.ref.path, assigned.ref.line)
    beside = [(name, other) for name, other in variables.items() if (other.ref.path, other.ref.line) == place]
    return any(isinstance(_hidden(name, other), Secret | Covered) for name, other in beside)


def _is_template(assigned: Assigned) -> bool:
    """Whether a setting is rendered before it is used. What is encrypted and not opened may turn out to be one."""
    value = assigned.value
    if isinstance(value, list):
        return any(isinstance(word, Secret) or (isinstance(word, str) and _has_braces(word)) for word in value)
    if isinstance(value, Secret):
        return value.is_open and value.is_written and _has_braces(value.reveal())
    return isinstance(value, str) and _has_braces(value)


def _has_braces(text: str) -> bool:
    return "{{" in text or "{%" in text


def shown_vars(variables: Mapping[str, Assigned]) -> dict[str, Any]:
    """Values by name; what is secret by its meaning is a Secret."""
    return {name: _hidden(name, assigned) for name, assigned in variables.items()}


def _hidden(name: str, assigned: Assigned) -> Any:
    if name not in _SECRETS or assigned.value is None or isinstance(assigned.value, Secret):
        return assigned.value
    if _is_template(assigned):
        return assigned.value if _LONE_NAME.fullmatch(assigned.value) else Covered(assigned.value)
    return Secret(_written(assigned))


def _password(assigned: Assigned, fail: _Fail) -> Secret:
    """What is not opened yet stays so until the password is used."""
    if isinstance(assigned.value, Sealed):
        return assigned.value
    return Secret(_text(assigned, fail) or "")


def _written(assigned: Assigned) -> str:
    """A setting that is a text: `password=007` and `password: 007` mean what they say."""
    if isinstance(assigned.value, Secret):
        return assigned.value.reveal() if assigned.value.is_open else str(assigned.value)
    return assigned.value if isinstance(assigned.value, str) else assigned.text


def _shown(assigned: Assigned, text: str) -> str:
    """A wrong setting as a message may hold it."""
    return str(assigned.value) if isinstance(assigned.value, Secret) else repr(text)


def _winner(variables: Mapping[str, Assigned], names: Iterable[str]) -> Assigned | None:
    found = None
    for name in names:
        assigned = variables.get(name)
        found = assigned if assigned is not None and assigned.value is not None else found
    return found


def _form(value: object) -> str:
    return "a list" if isinstance(value, list) else "a mapping"


def _text(assigned: Assigned | None, fail: _Fail) -> str | None:
    if assigned is None:
        return None
    if isinstance(assigned.value, list | dict):
        raise fail(assigned.ref, f"a connection setting is a text, this is {_form(assigned.value)}", "")
    return _written(assigned) or None


def _port(assigned: Assigned | None, fail: _Fail) -> int | None:
    text = _text(assigned, fail)
    if assigned is None or text is None:
        return None
    if isinstance(assigned.value, bool) or not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
        raise fail(assigned.ref, f"{_shown(assigned, text)} is not a port", "A port is a number from 1 to 65535.")
    return int(text)


def _transport(assigned: Assigned | None, fail: _Fail) -> str:
    text = _text(assigned, fail)
    if assigned is None or text is None:
        return "ssh"
    return _TRANSPORT_OF.get(text, text)


def _option_names(variables: Mapping[str, Assigned]) -> list[str]:
    """The variables that are options. Prefixed names come last, so that they win."""
    bare = [name for name in variables if name in _BARE_OPTIONS]
    own = [name for name in variables if name in EXEC_OPTIONS and name.startswith("checkrunner_")]
    return bare + own + [name for name in variables if name.startswith("ansible_") and name not in _FIELD_NAMES]


def _option(name: str) -> str:
    option = name.removeprefix("ansible_")
    return _OPTION_NAMES.get(option, option)


def _options(variables: Mapping[str, Assigned]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for name in _option_names(variables):
        value = _hidden(name, variables[name])
        if _option(name) in _TEXT_OPTIONS and isinstance(value, Secret) and value.is_open:
            value = value.reveal()
        options[_option(name)] = value
    return options
