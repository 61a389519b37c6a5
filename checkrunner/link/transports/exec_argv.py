"""The programs that lead into a host, and their arguments: out of a host's settings, under Ansible's names for them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from checkrunner.model.errors import InventoryError, UnreachableError
from checkrunner.model.inventory import Host

__all__ = ["RECIPES", "Recipe", "idle_settings"]

_NAMESPACES = ("--mount", "--uts", "--ipc", "--net", "--pid")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one kind of program is called. `argv` is everything before ``/bin/sh``; it raises InventoryError for settings
    that cannot be used, and UnreachableError where they name nothing. `what` it leads to, which `named` tells.
    `passes_on`: it is a client of what runs the processes there, and no parent of theirs. `has_user` says whether a
    user can be chosen."""

    argv: Callable[[Host], list[str]]
    what: str
    named: str
    passes_on: bool = False
    has_user: bool = False


def _exec(host: Host) -> list[str]:
    name = "checkrunner_exec"
    value = host.options.get(name)
    if isinstance(value, str):
        argv = _split(host, name)
    elif isinstance(value, Sequence):
        argv = [_word(host, name, word, at) for at, word in enumerate(value, 1)]
    elif value is None:
        raise _wrong(
            host,
            "the connection 'exec' needs the variable checkrunner_exec",
            "A program with its arguments, behind which `/bin/sh -c ...` is put: [ip, netns, exec, blue]",
        )
    else:
        raise _wrong(host, f"{name} is neither a list nor a text", "Write [program, argument, ...]")
    if not argv or not argv[0]:
        raise _wrong(host, f"{name} names no program", "Write [program, argument, ...]")
    return argv


def _docker(host: Host) -> list[str]:
    container = _target(host, "container", _text(host, "docker_host") or host.address)
    user = _text(host, "docker_user") or host.user
    as_user = ["-u", user] if user else []
    return ["docker", *_split(host, "docker_extra_args"), "exec", "-i", *as_user, container]


def _podman(host: Host) -> list[str]:
    container = _target(host, "container", host.address)
    program = _text(host, "podman_executable") or "podman"
    as_user = ["--user", host.user] if host.user else []
    return [program, *_split(host, "podman_extra_args"), "exec", "-i", *as_user, container]


_KUBECTL_FLAGS: Mapping[str, tuple[str, ...]] = {
    "--namespace": ("kubectl_namespace",),
    "--kubeconfig": ("kubectl_kubeconfig", "kubectl_config"),
    "--context": ("kubectl_context",),
    "--server": ("kubectl_host", "kubectl_server"),
    "--username": ("kubectl_username", "kubectl_user"),
    "--client-certificate": ("kubectl_cert_file", "kubectl_client_cert"),
    "--client-key": ("kubectl_key_file", "kubectl_client_key"),
    "--certificate-authority": ("kubectl_ssl_ca_cert", "kubectl_ca_cert"),
}
"""Of several names for one thing the later wins, as everywhere."""


def _kubectl(host: Host) -> list[str]:
    pod = _target(host, "pod", _text(host, "kubectl_pod") or host.address)
    argv = ["kubectl"]
    for flag, names in _KUBECTL_FLAGS.items():
        value = _winner(host, names)
        argv += [f"{flag}={value}"] if value else []
    checked = _winner(host, ("kubectl_verify_ssl", "kubectl_validate_certs"))
    if checked:
        argv.append(f"--insecure-skip-tls-verify={'false' if _is_true(host, checked) else 'true'}")
    container = _text(host, "kubectl_container")
    within = [f"--container={container}"] if container else []
    return [*argv, *_split(host, "kubectl_extra_args"), "exec", "-i", pod, *within, "--"]


def _process_in(host: Host, path: str) -> str:
    """The process that a file names now: it has a new one when what it tells of is started again."""
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        raise UnreachableError(
            f"{host.name}: the file of the process to enter cannot be read: {error}",
            hint="See checkrunner_nsenter_target, and whether what it is to enter runs",
        ) from error


def _nsenter(host: Host) -> list[str]:
    target = _winner(host, ("nsenter_pid", "checkrunner_nsenter_target")) or "1"
    if target.startswith("/"):
        target = _process_in(host, target)
    if not re.fullmatch("[1-9][0-9]{0,9}", target, re.ASCII):
        raise _wrong(
            host, f"{target!r} is no process id", "checkrunner_nsenter_target is one, or the path of a file with one"
        )
    return ["nsenter", f"--target={target}", *_NAMESPACES, "--"]


RECIPES: Mapping[str, Recipe] = {
    "exec": Recipe(argv=_exec, what="target", named="checkrunner_exec"),
    "docker": Recipe(argv=_docker, what="container", named="its name, or ansible_host", passes_on=True, has_user=True),
    "podman": Recipe(argv=_podman, what="container", named="its name, or ansible_host", passes_on=True, has_user=True),
    "kubectl": Recipe(
        argv=_kubectl,
        what="pod",
        named="its name, ansible_kubectl_namespace and ansible_kubectl_container",
        passes_on=True,
    ),
    "nsenter": Recipe(argv=_nsenter, what="process", named="checkrunner_nsenter_target"),
}
"""By the name of the transport."""


def idle_settings(host: Host) -> list[str]:
    """What is set for the host and has no meaning where a program leads to it, one sentence each."""
    way = f"{host.name} is reached by {host.transport}"
    out = []
    if host.port is not None:
        out.append(f"{way}: its port {host.port} is not used")
    if host.user is not None and not RECIPES[host.transport].has_user:
        out.append(f"{way}, which chooses no user: user {host.user!r} is not used")
    if host.private_key_file is not None:
        out.append(f"{way}: its private key is not used")
    return out


def _text(host: Host, option: str) -> str:
    """A setting as a text, "" where it is not set."""
    value = host.options.get(option)
    if value is None:
        return ""
    if isinstance(value, list | tuple | Mapping):
        raise _wrong(host, f"{_variable(option)} is a text, not a list or mapping", "")
    return str(value)


def _winner(host: Host, options: Sequence[str]) -> str:
    found = ""
    for option in options:
        found = _text(host, option) or found
    return found


def _split(host: Host, option: str) -> list[str]:
    text = _text(host, option)
    try:
        return shlex.split(text)
    except ValueError as error:
        hint = "It is split as a shell does: a list needs no quotes" if option == "checkrunner_exec" else ""
        raise _wrong(host, f"{_variable(option)} cannot be split into words: {error}", hint) from error


def _word(host: Host, name: str, word: object, at: int) -> str:
    if isinstance(word, str | int) and not isinstance(word, bool):
        return str(word)
    raise _wrong(host, f"word {at} of {name} is no text: {word!r}", "Quote it")


def _target(host: Host, kind: str, name: str) -> str:
    if name.startswith("-") or not name.strip():
        raise _wrong(host, f"{name!r} is no name of a {kind}", "It is ansible_host, or the host's name")
    return name


def _is_true(host: Host, text: str) -> bool:
    if text.lower() in ("true", "yes", "on", "1"):
        return True
    if text.lower() in ("false", "no", "off", "0"):
        return False
    raise _wrong(host, f"ansible_kubectl_validate_certs is true or false, not {text!r}", "")


def _variable(option: str) -> str:
    return option if option.startswith("checkrunner_") else f"ansible_{option}"


def _wrong(host: Host, message: str, hint: str) -> InventoryError:
    return InventoryError(f"{host.name}: {message}", source=host.source, hint=hint)
