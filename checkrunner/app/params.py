"""Parameters of a playbook: what they are, and what they are set to by the command line and the inventory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from checkrunner.findings.fold import fold
from checkrunner.load.playbook import find_playbook, load_playbook
from checkrunner.load.secrets import SecretReader
from checkrunner.model.errors import UsageError, nearest
from checkrunner.model.inventory import Host, Inventory, empty
from checkrunner.model.playbook import Param, Playbook
from checkrunner.model.sources import Secret

__all__ = ["HELP", "SetParams", "params_of", "read_params", "refuse_near_misses", "set_params"]

HELP = "`checkrunner run PLAYBOOK --help-params` lists the parameters."


@dataclass(frozen=True, slots=True, kw_only=True)
class SetParams:
    """Variables with the parameters among them as finished values: those of the command line, and the inventory's with
    the defaults below them. `errors` are values that a parameter cannot have; `unset` are required ones without any
    value on a host, with the hosts."""

    extra_vars: Mapping[str, Any]
    inventory: Inventory
    defaults: Mapping[str, Any] = field(default_factory=empty)
    errors: tuple[UsageError, ...] = ()
    wrong_hosts: Mapping[str, UsageError] = field(default_factory=empty)
    required: frozenset[str] = frozenset()

    def check(self, hosts: Iterable[Host]) -> None:
        """Raises UsageError for a value that a parameter cannot have, on the command line or on one of these hosts,
        and for required ones that have none there."""
        if self.errors:
            raise self.errors[0]
        names = {host.name: host for host in hosts}
        for name in names:
            if name in self.wrong_hosts:
                raise self.wrong_hosts[name]
        unset = {param: [h.name for h in names.values() if param not in h.vars] for param in sorted(self.required)}
        missing = {param: at for param, at in unset.items() if at}
        if missing:
            raise _unset(missing, len(names))


def params_of(playbook: Playbook) -> dict[str, Param]:
    """All parameters by name. They are the playbook's as a whole: what one play declares can be read by all."""
    return {param.name: param for play in playbook.plays for param in play.params}


def read_params(name_or_path: str, secrets: SecretReader | None = None) -> tuple[str, list[Param]]:
    """The path of a playbook and its parameters, in the order of the file. Raises UsageError members."""
    path = find_playbook(name_or_path)
    return path, list(params_of(load_playbook(path, secrets=secrets)).values())


def set_params(playbook: Playbook, extra_vars: Mapping[str, Any], inventory: Inventory) -> SetParams:
    """Read the values that parameters are set to as their types say. Values that are templates or secrets are taken as
    they are."""
    params = params_of(playbook)
    if not params:
        return SetParams(extra_vars=extra_vars, inventory=inventory)
    extra, errors = _set(params, extra_vars, "-e ")
    defaults = {name: param.default for name, param in params.items() if not param.required}
    hosts, wrong = {}, {}
    for name, host in inventory.hosts.items():
        hosts[name], problems = _on_host(host, params, defaults)
        if problems:
            wrong[name] = problems[0]
    local = inventory.localhost and _on_host(inventory.localhost, params, defaults)[0]
    required = {name for name, param in params.items() if param.required and name not in extra}
    return SetParams(
        extra_vars=extra,
        inventory=replace(inventory, hosts=MappingProxyType(hosts), localhost=local),
        defaults=defaults,
        errors=tuple(errors),
        wrong_hosts=wrong,
        required=frozenset(required),
    )


def refuse_near_misses(playbook: Playbook, unread: Iterable[str]) -> None:
    """Raise UsageError for a variable of the command line that no text reads and that is nearly called like a
    parameter: the parameter would keep its default in silence."""
    params = params_of(playbook)
    for name in unread:
        same = (param for param in params if param.casefold() == name.casefold())
        close = None if name in params else next(same, None) or nearest(name, params)
        if close:
            raise UsageError(f"-e {name}: no parameter is called so", hint=f"Did you mean {close!r}? {HELP}")


def _set(
    params: Mapping[str, Param], variables: Mapping[str, Any], where: str
) -> tuple[Mapping[str, Any], list[UsageError]]:
    from checkrunner.model.params import ParamError, param_value

    found = dict(variables)
    errors = []
    for name in params.keys() & variables.keys():
        value = variables[name]
        if isinstance(value, Secret) or (isinstance(value, str) and "{{" in value):
            continue
        try:
            found[name] = param_value(params[name], value)
        except ParamError as exc:
            errors.append(UsageError(f"{where}{name} {exc}", hint=exc.hint))
    return found, errors


def _on_host(host: Host, params: Mapping[str, Param], defaults: Mapping[str, Any]) -> tuple[Host, list[UsageError]]:
    own = host.vars
    errors: list[UsageError] = []
    if params.keys() & own.keys():
        own, errors = _set(params, own, f"{host.name}: ")
    return replace(host, vars=MappingProxyType({**defaults, **own})), errors


def _unset(missing: Mapping[str, list[str]], hosts: int) -> UsageError:
    names = ", ".join(missing)
    where = next(iter(missing.values()))
    some = "" if all(len(at) == hosts for at in missing.values()) else f" on {fold(where)}"
    what = "the parameter" if len(missing) == 1 else "the parameters"
    given = " ".join(f"-e {name}=..." for name in missing)
    return UsageError(
        f"{what} {names} must be set, and nothing sets {'it' if len(missing) == 1 else 'them'}{some}",
        hint=f"Write {given}. {HELP}",
    )
