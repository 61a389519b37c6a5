"""``ansible_*`` variables of an inventory that nothing acts on: typing errors, and settings that only Ansible has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from checkrunner.load.connection import CONNECTION_VARIABLES
from checkrunner.load.draft import Assigned, Draft, DraftGroup, DraftHost
from checkrunner.model.connections import EXEC_OPTIONS
from checkrunner.model.errors import nearest

__all__ = ["ACTED_ON", "ONLY_ANSIBLE", "warn_of_idle_settings"]

_PREFIX = "ansible_"
_OWN_PREFIX = "checkrunner_"
_SEEN = "every user of this machine would see it in the arguments of kubectl: write it into a kubeconfig file"
_OTHER_NAME = "write ansible_become_password"
_BECOME_PROGRAM = "sudo, doas and su are called by their names, with the options that they need"

ACTED_ON: frozenset[str] = frozenset(
    {
        *(name for names in CONNECTION_VARIABLES.values() for name in names if name.startswith(_PREFIX)),
        *(name if name.startswith(_OWN_PREFIX) else _PREFIX + name for name in EXEC_OPTIONS),
        "ansible_become",
        "ansible_become_method",
        "ansible_become_pass",
        "ansible_become_password",
        "ansible_become_user",
        "ansible_group_priority",
        "ansible_host_key_checking",
        "ansible_ssh_common_args",
        "ansible_ssh_extra_args",
        "ansible_ssh_host_key_checking",
    }
)
"""The variables that mean something here."""

_OWN = tuple(sorted(name.removeprefix(_OWN_PREFIX) for name in ACTED_ON if name.startswith(_OWN_PREFIX)))

ONLY_ANSIBLE: Mapping[str, str] = {
    "ansible_become_exe": _BECOME_PROGRAM,
    "ansible_become_flags": _BECOME_PROGRAM,
    "ansible_sudo_pass": _OTHER_NAME,
    "ansible_su_pass": _OTHER_NAME,
    "ansible_check_mode": "checks change nothing",
    "ansible_connect_timeout": "the time to connect is the setting `connect_timeout`",
    "ansible_connection_timeout": "the time to connect is the setting `connect_timeout`",
    "ansible_control_path": "connections are not shared with ssh",
    "ansible_docker_timeout": "the time to connect is the setting `connect_timeout`",
    "ansible_kubectl_api_key": _SEEN,
    "ansible_kubectl_local_env_vars": "write checkrunner_exec: [env, NAME=value, kubectl, ...]",
    "ansible_kubectl_password": _SEEN,
    "ansible_kubectl_token": _SEEN,
    "ansible_network_os": "hosts are reached by a shell",
    "ansible_pipelining": "everything is sent over one connection",
    "ansible_private_key": "the key is a file: ansible_ssh_private_key_file",
    "ansible_private_key_passphrase": "load a key with a passphrase into an ssh-agent",
    "ansible_python_interpreter": "the host's python3 is found by itself",
    "ansible_remote_tmp": "captures have a directory of their own",
    "ansible_scp_if_ssh": "no files are copied",
    "ansible_sftp_batch_mode": "no files are copied",
    "ansible_scp_executable": "no files are copied",
    "ansible_sftp_executable": "no files are copied",
    "ansible_scp_extra_args": "no files are copied",
    "ansible_sftp_extra_args": "no files are copied",
    "ansible_shell_executable": "commands are run by bash",
    "ansible_shell_type": "commands are run by bash",
    "ansible_ssh_args": "write ansible_ssh_common_args",
    "ansible_ssh_control_path": "connections are not shared with ssh",
    "ansible_ssh_executable": "the ssh program is not used",
    "ansible_ssh_pipelining": "everything is sent over one connection",
    "ansible_ssh_private_key": "the key is a file: ansible_ssh_private_key_file",
    "ansible_ssh_private_key_passphrase": "load a key with a passphrase into an ssh-agent",
    "ansible_ssh_retries": "a refused connection is tried again by itself",
    "ansible_ssh_timeout": "the time to connect is the setting `connect_timeout`",
    "ansible_ssh_transfer_method": "no files are copied",
    "ansible_ssh_use_tty": "commands have no terminal",
    "ansible_timeout": "the time to connect is the setting `connect_timeout`",
    "ansible_winrm_transport": "hosts are reached by SSH",
}
"""Settings of Ansible that are not acted on, each with why, or what is there instead."""


def warn_of_idle_settings(draft: Draft) -> None:
    """Add a warning for each such variable, at the first place that sets it."""
    found: dict[str, list[Assigned]] = {}
    for name, assigned in _settings(draft):
        found.setdefault(name, []).append(assigned)
    for name, places in found.items():
        more = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
        draft.warn(places[0].ref, f"{_about(name)}{more}")


def _settings(draft: Draft) -> Iterator[tuple[str, Assigned]]:
    owners: list[DraftGroup | DraftHost] = [*draft.groups.values(), *draft.hosts.values()]
    layers = [owner.vars for owner in owners]
    layers += [layer for folder in draft.folders for part in (folder.groups, folder.hosts) for layer in part.values()]
    for layer in layers:
        yield from ((n, a) for n, a in layer.items() if _is_setting(n) and n not in ACTED_ON)


def _is_setting(name: str) -> bool:
    """Whether a name looks like one. Those of our own are few: a variable that is near to none of them is a user's."""
    return name.startswith(_PREFIX) or (
        name.startswith(_OWN_PREFIX) and nearest(name.removeprefix(_OWN_PREFIX), _OWN) is not None
    )


def _about(name: str) -> str:
    if name in ONLY_ANSIBLE:
        return f"{name} is not acted on: {ONLY_ANSIBLE[name]}"
    # Without the prefix, which would make any two of them look alike.
    known = {other.removeprefix(_PREFIX): other for other in (*sorted(ACTED_ON), *ONLY_ANSIBLE)}
    close = nearest(name.removeprefix(_PREFIX), known)
    hint = f". Did you mean {known[close]}?" if close else ""
    return f"{name} is no setting that is known: it is a variable like any other{hint}"
