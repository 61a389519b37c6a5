"""The hosts that checks are delegated to: found by name, and made reachable, whether or not a play selects them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace

from checkrunner.app.connections import Settling
from checkrunner.findings.redact import PatternRedactor
from checkrunner.load.secrets import Sealed
from checkrunner.model.errors import LoadError, TemplateError, UnknownNameError, UnsupportedError, UsageError
from checkrunner.model.inventory import Host, Inventory
from checkrunner.model.sources import Secret
from checkrunner.plan.build import Plan
from checkrunner.plan.hostplan import Entry, HostPlan, Track
from checkrunner.plan.secret_needs import secrets_in

__all__ = ["Delegates", "with_delegates"]

_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


class Delegates:
    """Hosts by name, each settled once. `known` are those that were found before the run, `errors` what is wrong with
    them; with `redactor`, the secrets of those that turn up later are masked from then on."""

    def __init__(self, plan: Plan, inventory: Inventory, settling: Settling, entries: tuple[Entry, ...]) -> None:
        self.known: dict[str, Host] = {}
        self.errors: list[LoadError] = []
        self.redactor: PatternRedactor | None = None
        self._inventory = inventory
        self._settling = settling
        self._setup = plan.setup
        self._track = Track(entries=entries, planned=(), by_key={}, from_host=frozenset())
        self._selected = {host.host.name: host.host for host in plan.hosts}

    def host(self, name: str) -> Host:
        """The host of this name. Raises UsageError members: there is none, or a setting of it has no usable value."""
        found = self.known.get(name)
        if found is None:
            found = self.known[name] = self._settled(name)
            if self.redactor is not None:
                for secret in secrets_in((found.password, found.options, found.vars)):
                    if secret.is_open:
                        self.redactor.learn(secret)
        return found

    def find(self, usable: Callable[[Host], object], name: str) -> Host:
        """The same for who connects. `usable` raises UsageError members for settings that cannot be used. Raises
        HostError members."""
        try:
            host = self.host(name)
            usable(host)
        except UsageError as error:
            raise UnsupportedError(f"{name}: {error.message}", hint=error.hint) from error
        return host

    def unselected(self) -> dict[str, Host]:
        """Those found before the run that no play selects."""
        return {name: host for name, host in self.known.items() if name not in self._selected}

    def masks(self) -> tuple[Secret, ...]:
        """The secrets that went into their settings so far."""
        return tuple(self._settling.masks)

    def look_ahead(self, plan: Plan) -> None:
        """Find those that can be known before anything runs. What is written out and does not exist is an error; what
        a template comes to is found again when its check is run."""
        for name, entry in _names_known(plan):
            try:
                self.host(name)
            except LoadError as error:
                self.errors += error.errors
            except UsageError as error:
                where = entry.shape.check.delegate_to
                if where is not None and where.is_static:
                    message = f"delegate_to: {error.message}"
                    self.errors.append(TemplateError(message, source=where.source, hint=error.hint))

    def _settled(self, name: str) -> Host:
        host = self._found(name)
        if name in self._selected:
            # Its plays say how it is reached. A password that only delegated checks need is still to be found.
            missing = {field: host.unsettled[field] for field in host.unsettled if field == "become_password"}
            host = replace(self._selected[name], unsettled=missing)
        plan = self._settling.settled(HostPlan(host, self._track, self._setup))
        for error in self._settling.errors():
            raise error
        for secret in secrets_in((plan.host.password, plan.host.options)):
            secret.reveal()
        for secret in secrets_in(plan.host.vars):
            if isinstance(secret, Sealed) and secret.kind != "cmd":
                with contextlib.suppress(UsageError):  # it is opened for the sake of masking alone
                    secret.reveal()
        return plan.host

    def _found(self, name: str) -> Host:
        host = self._inventory.hosts.get(name)
        if host is not None:
            return host
        if name in _LOCAL_NAMES:
            local = self._inventory.hosts.get("localhost") or self._inventory.localhost
            return local or Host(name="localhost", address="localhost", transport="local")
        raise UnknownNameError("host", name, self._inventory.hosts)


def with_delegates(plan: Plan, inventory: Inventory) -> tuple[Plan, Delegates | None]:
    """The plan, knowing the hosts that its checks are delegated to; None where none is. Connects nothing."""
    entries = tuple(_delegated(plan))
    if not entries:
        return plan, None
    delegates = Delegates(plan, inventory, Settling(), entries)
    setup = replace(plan.setup, host_called=delegates.host)
    hosts = tuple(HostPlan(host.host, host.track, setup) for host in plan.hosts)
    plan = replace(plan, setup=setup, hosts=hosts)
    delegates.look_ahead(plan)
    return plan, delegates


def _delegated(plan: Plan) -> Iterator[Entry]:
    """The checks of all hosts that may run elsewhere, each once."""
    seen: set[int] = set()
    for track in {id(host.track): host.track for host in plan.hosts}.values():
        for entry in track.entries:
            if entry.shape.check.delegate_to is not None and id(entry.shape) not in seen:
                seen.add(id(entry.shape))
                yield entry


def _names_known(plan: Plan) -> Iterator[tuple[str, Entry]]:
    """The names that can be told before the run, each once."""
    names: set[str] = set()
    for host in plan.hosts:
        for entry in host.track.entries:
            where = entry.shape.check.delegate_to
            if where is None or (where.is_static and where.text in names):
                continue
            with contextlib.suppress(TemplateError):  # who runs the check gets to know
                name = plan.templates.render(where, host.variables(entry)).strip()
                if name not in names:
                    names.add(name)
                    yield name, entry
