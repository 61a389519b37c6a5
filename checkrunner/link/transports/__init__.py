"""How a host is reached: `ssh`, `local`, and by a program of this machine (`exec`, `docker`, ...).

A transport is imported when it is first asked for: asyncssh alone costs more start-up time than all the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from checkrunner.model.errors import UnknownNameError, UnsupportedError, nearest
from checkrunner.model.inventory import Host
from checkrunner.model.options import LocalOptions, SshOptions
from checkrunner.model.seams import Transport

__all__ = ["TRANSPORTS", "make_transport", "unsupported"]


def _local(options: LocalOptions) -> Transport:
    from checkrunner.link.transports.local import LocalTransport

    return LocalTransport(options)


def _ssh(options: SshOptions) -> Transport:
    from checkrunner.link.transports.ssh_library import quick_library_search

    with quick_library_search():
        from checkrunner.link.transports.ssh import SshTransport
    return SshTransport(options)


def _exec(name: str, options: LocalOptions) -> Transport:
    from checkrunner.link.transports.exec import ExecTransport
    from checkrunner.link.transports.exec_argv import RECIPES

    return ExecTransport(RECIPES[name], options)


def _by_program(name: str) -> Callable[[SshOptions, LocalOptions], Transport]:
    return lambda _ssh_options, local_options: _exec(name, local_options)


TRANSPORTS: Mapping[str, Callable[[SshOptions, LocalOptions], Transport]] = {
    "local": lambda _ssh_options, local_options: _local(local_options),
    "ssh": lambda ssh_options, _local_options: _ssh(ssh_options),
    **{name: _by_program(name) for name in ("exec", "docker", "podman", "kubectl", "nsenter")},
}
"""Name, as in `Host.transport`, to what makes the transport; each takes its own group of options."""


def make_transport(name: str, *, ssh: SshOptions | None = None, local: LocalOptions | None = None) -> Transport:
    """The transport called `name`. Connects nothing. Raises UnknownNameError with the nearest known name."""
    factory = TRANSPORTS.get(name)
    if factory is None:
        raise UnknownNameError("transport", name, TRANSPORTS)
    return factory(ssh or SshOptions(), local or LocalOptions())


def unsupported(host: Host) -> UnsupportedError | None:
    """Why the host cannot be reached: its connection has no row among `TRANSPORTS`. None where it has one."""
    if host.transport in TRANSPORTS:
        return None
    close = nearest(host.transport, TRANSPORTS)
    *names, last = sorted(TRANSPORTS)
    known = f"{', '.join(names)} and {last}"
    hint = f"Did you mean {close!r}?" if close else (f"Hosts are reached by {known}: leave it out with --limit")
    return UnsupportedError(f"{host.name}: the connection {host.transport!r} is not supported", hint=hint)
