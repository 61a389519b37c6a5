"""How the hosts of a plan are reached: settings that are templates, or secrets, get their values before it runs."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace

from checkrunner.link.transports import unsupported
from checkrunner.load.connection import settle
from checkrunner.model.connections import SETTINGS_OF
from checkrunner.model.errors import LoadError
from checkrunner.model.inventory import Host, empty
from checkrunner.model.sources import Secret, SourceRef
from checkrunner.plan.build import Plan
from checkrunner.plan.connections import SettingNames, setting_error, value_of_setting
from checkrunner.plan.hostplan import HostPlan
from checkrunner.plan.privileges import account

__all__ = ["Settled", "Settling", "settle_connections"]

_EVERYWHERE = frozenset({"become", "become_method", "become_user"})
"""What counts of a host however it is reached."""

_OF_BECOME = frozenset({"become_password"})
"""What counts only where a check of the host runs as another user: no password is opened for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A plan whose hosts can be reached. `errors` are those of settings that have no usable value, each once for all
    hosts; `masks` the secrets that went into settings."""

    plan: Plan
    errors: tuple[LoadError, ...] = ()
    masks: tuple[Secret, ...] = ()


def settle_connections(plan: Plan) -> Settled:
    """Settle what is unsettled of the plan's hosts, as far as it is needed to reach them. Opens secrets for it.

    A host whose connection is not supported needs nothing. Connects nothing.
    """
    if not any(_is_open(host.host) for host in plan.hosts):
        return Settled(plan=plan)
    settling = Settling()
    hosts = tuple(settling.settled(host) if _is_open(host.host) else host for host in plan.hosts)
    return Settled(plan=replace(plan, hosts=hosts), errors=settling.errors(), masks=tuple(settling.masks))


def _is_open(host: Host) -> bool:
    """Whether anything of how the host is reached is still to be found out."""
    return bool(host.unsettled) or (host.password is not None and not host.password.is_open)


class Settling:
    """Settles hosts one by one. `masks` are the secrets that went into settings so far."""

    def __init__(self) -> None:
        self.masks: dict[Secret, None] = {}
        self._found: dict[tuple[SourceRef, str, str], tuple[LoadError, list[str]]] = {}

    def settled(self, plan: HostPlan) -> HostPlan:
        """The host's plan with what is needed to reach the host. Errors are kept."""
        names = SettingNames(plan)
        host = self._with(plan.host, {"transport"}, names)
        if unsupported(host):
            return plan.reached_as(replace(host, password=None, unsettled=empty()))
        if host.transport in SETTINGS_OF:
            host = replace(self._with(host, SETTINGS_OF[host.transport] | _EVERYWHERE, names), password=None)
        else:
            host = self._with(host, host.unsettled.keys() - _OF_BECOME, names)
        run = plan.setup.options.become
        if any(account(entry.shape, host, run) for entry in plan.track.entries):
            host = self._with(host, _OF_BECOME, names)
        return plan.reached_as(replace(host, unsettled=empty()))

    def _with(self, host: Host, wanted: Container[str], names: SettingNames) -> Host:
        for field, setting in host.unsettled.items():
            if field not in wanted:
                continue
            try:
                value = value_of_setting(setting, names)
                host = settle(host, {field: value}, setting_error)
            except LoadError as error:
                key = (error.source, error.message, setting.name)
                self._found.setdefault(key, (error, []))[1].append(host.name)
            else:
                if isinstance(value, Secret):
                    self.masks[value] = None
        return host

    def errors(self) -> tuple[LoadError, ...]:
        """Those since the last time, each once, in the order of the files, with the first of its hosts and how many
        more it has."""
        errors = [_of_hosts(error, name, hosts) for (_, _, name), (error, hosts) in self._found.items()]
        self._found.clear()
        return tuple(sorted(errors, key=lambda e: (e.source.path, e.source.line, e.source.column)))


def _of_hosts(error: LoadError, setting: str, hosts: list[str]) -> LoadError:
    more = f" and {len(hosts) - 1} more" if len(hosts) > 1 else ""
    message = f"{error.message} ({setting} of host {hosts[0]}{more})"
    return type(error)(message, source=error.source, line_text=error.line_text, hint=error.hint)
