"""Connection settings out of a host's variables: ``ansible_host`` and its kin, with or without the prefix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from checkrunner.load.draft import Assigned
from checkrunner.load.secrets import Sealed
from checkrunner.model.errors import InventoryError, nearest
from checkrunner.model.inventory import Host
from checkrunner.model.sources import Secret, SourceRef

__all__ = ["CONNECTION_VARIABLES", "build_host", "shown_vars"]

_Fail = Callable[[SourceRef, str, str], InventoryError]

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
_METHODS = ("sudo", "su", "doas")
_TEXT_OPTIONS = _BARE_OPTIONS - _SECRETS
_OPTION_NAMES = {"ssh_host_key_checking": "host_key_checking", "become_pass": "become_password"}
_NO_TEMPLATE = "a connection setting cannot hold a template: it is read before any text is rendered"
_NO_TEMPLATE_HINT = "Write the value itself, for each group or host that has another one."
_TRANSPORTS = {"ssh": "ssh", "smart": "ssh", "paramiko": "ssh", "paramiko_ssh": "ssh", "local": "local"}
_FIELD_NAMES = frozenset(name for names in CONNECTION_VARIABLES.values() for name in names)


def build_host(
    name: str, variables: Mapping[str, Assigned], groups: Iterable[str], source: SourceRef, fail: _Fail
) -> Host:
    """The host of merged variables. Raises what `fail` makes for a setting that cannot be used."""
    found = {field: _winner(variables, names) for field, names in CONNECTION_VARIABLES.items()}
    password = found["password"]
    return Host(
        name=name,
        address=_text(found["address"], fail) or name,
        transport=_transport(found["transport"], fail),
        port=_port(found["port"], fail),
        user=_text(found["user"], fail),
        private_key_file=_text(found["private_key_file"], fail),
        password=None if password is None else _password(password, fail),
        groups=tuple(groups),
        vars=MappingProxyType(shown_vars(variables)),
        options=MappingProxyType(_options(variables, fail)),
        source=source,
    )


def shown_vars(variables: Mapping[str, Assigned]) -> dict[str, Any]:
    """Values by name; what is secret by its meaning is a Secret."""
    return {name: _hidden(name, assigned) for name, assigned in variables.items()}


def _hidden(name: str, assigned: Assigned) -> Any:
    if name not in _SECRETS or assigned.value is None or isinstance(assigned.value, Secret):
        return assigned.value
    return Secret(_written(assigned))


def _password(assigned: Assigned, fail: _Fail) -> Secret:
    """What is not opened yet stays so until the password is used."""
    if isinstance(assigned.value, Sealed):
        return assigned.value
    return Secret(_text(assigned, fail) or "")


def _written(assigned: Assigned) -> str:
    """A setting that is a text: `password=007` and `password: 007` mean what they say."""
    if isinstance(assigned.value, Secret):
        return assigned.value.reveal()
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


def _text(assigned: Assigned | None, fail: _Fail) -> str | None:
    if assigned is None:
        return None
    if isinstance(assigned.value, list | dict):
        raise fail(assigned.ref, "this connection setting is a text, not a list or mapping", "")
    text = _written(assigned)
    if "{{" in text or "{%" in text:
        raise fail(assigned.ref, _NO_TEMPLATE, _NO_TEMPLATE_HINT)
    return text or None


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
    short = text.removeprefix("ansible.builtin.").removeprefix("ansible.netcommon.")
    if short not in _TRANSPORTS:
        close = None if isinstance(assigned.value, Secret) else nearest(short, _TRANSPORTS)
        hint = f"Did you mean {close!r}?" if close else "Supported: ssh (also smart, paramiko) and local."
        raise fail(assigned.ref, f"the connection {_shown(assigned, text)} is not supported", hint)
    return _TRANSPORTS[short]


def _options(variables: Mapping[str, Assigned], fail: _Fail) -> dict[str, Any]:
    options: dict[str, Any] = {}
    bare = [name for name in variables if name in _BARE_OPTIONS]
    prefixed = [name for name in variables if name.startswith("ansible_") and name not in _FIELD_NAMES]
    for name in (*bare, *prefixed):  # prefixed names come last, so that they win
        assigned = variables[name]
        if isinstance(assigned.value, str) and ("{{" in assigned.value or "{%" in assigned.value):
            raise fail(assigned.ref, _NO_TEMPLATE, _NO_TEMPLATE_HINT)
        option = name.removeprefix("ansible_")
        value = _method(assigned, fail) if option == "become_method" else _hidden(name, assigned)
        if option in _TEXT_OPTIONS and isinstance(value, Secret):
            value = value.reveal()
        options[_OPTION_NAMES.get(option, option)] = value
    return options


def _method(assigned: Assigned, fail: _Fail) -> str | None:
    text = _text(assigned, fail)
    if text is None:
        return None
    short = text.rpartition(".")[2]  # Ansible's full names: community.general.doas
    if short not in _METHODS:
        close = nearest(short, _METHODS)
        hint = f"Did you mean {close!r}?" if close else f"Supported: {', '.join(_METHODS)}."
        raise fail(assigned.ref, f"the become method {text!r} is not supported", hint)
    return short
