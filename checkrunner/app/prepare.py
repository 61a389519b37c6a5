"""Everything that can be known before anything connects: files read, hosts chosen, templates checked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from checkrunner.app.connections import settle_connections
from checkrunner.app.delegates import Delegates, with_delegates
from checkrunner.app.params import refuse_near_misses, set_params
from checkrunner.app.secrets import make_secrets, open_secrets
from checkrunner.app.surroundings import make_surroundings, make_templates
from checkrunner.judge.value_problems import value_problems
from checkrunner.load.extra_vars import parse_extra_vars
from checkrunner.load.inventory import load_inventory_with_origins
from checkrunner.load.origins import InventoryOrigins
from checkrunner.load.patterns import select
from checkrunner.load.playbook import find_playbook, load_playbook
from checkrunner.load.secrets import SecretReader
from checkrunner.model.errors import NoHostsError
from checkrunner.model.inventory import Host, Inventory
from checkrunner.model.playbook import Playbook
from checkrunner.model.sources import Secret
from checkrunner.plan.build import Plan, build_plan
from checkrunner.plan.unread import unread_extra_vars
from checkrunner.plan.verify import PlanError, check_plan
from checkrunner.settings import Settings

__all__ = ["Prepared", "Request", "prepare", "read_inventory", "select_hosts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the user asked for: a playbook, on which hosts, with which variables, which of its checks.

    `secrets` opens encrypted files and values; None asks nobody for a password.
    """

    playbook: str
    settings: Settings
    limit: str | None = None
    extra_vars: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    skip_tags: tuple[str, ...] = ()
    allow_empty: bool = False
    secrets: SecretReader | None = None

    @property
    def playbook_dir(self) -> str | None:
        """The directory whose group_vars/ and host_vars/ count for this playbook; none for a shipped one."""
        return os.path.dirname(self.playbook) or "." if os.path.isfile(self.playbook) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A run that is ready to start. `masks` are secrets that only the connections have. `delegates` knows the hosts
    that checks are delegated to, None where none is."""

    request: Request
    playbook: Playbook
    inventory: Inventory
    plan: Plan
    warnings: tuple[str, ...] = ()
    masks: tuple[Secret, ...] = ()
    delegates: Delegates | None = None


def read_inventory(
    sources: Sequence[str], *, secrets: SecretReader | None = None, playbook_dir: str | None = None
) -> tuple[Inventory, InventoryOrigins]:
    """The inventory of these sources; without any: this machine. Variables beside a playbook are those below
    `playbook_dir`. Raises InventoryError."""
    return load_inventory_with_origins(sources, secrets=secrets, playbook_dir=playbook_dir)


def select_hosts(
    playbook: Playbook, inventory: Inventory, *, limit: str | None, allow_empty: bool
) -> tuple[list[tuple[Host, ...]], list[str]]:
    """The hosts of each play, and a warning for each play that a limit leaves without any.

    Raises NoHostsError when no play has a host (unless `allow_empty`), or when a pattern names what does not exist.
    """
    hosts: list[tuple[Host, ...]] = []
    empty: list[NoHostsError] = []
    for play in playbook.plays:
        try:
            hosts.append(select(inventory, play.hosts, limit))
        except NoHostsError as error:
            if not allow_empty and limit is None:
                raise
            hosts.append(())
            empty.append(error)
    if not allow_empty and not any(hosts):
        raise empty[0]
    return hosts, [str(error) for error in empty]


def prepare(request: Request) -> Prepared:
    """Read, select, plan and verify. Connects nothing.

    Raises UsageError members for what is wrong in files, names and templates, and NoHostsError.
    """
    settings = request.settings
    secrets = request.secrets or make_secrets(settings)
    playbook = load_playbook(find_playbook(request.playbook), secrets=secrets)
    inventory, origins = read_inventory(settings.inventory, secrets=secrets, playbook_dir=request.playbook_dir)
    params = set_params(playbook, parse_extra_vars(request.extra_vars, secrets), inventory)
    inventory = params.inventory
    hosts, warnings = select_hosts(playbook, inventory, limit=request.limit, allow_empty=request.allow_empty)
    params.check(host for some in hosts for host in some)
    plan = build_plan(
        playbook,
        hosts,
        extra_vars=params.extra_vars,
        tags=request.tags,
        skip_tags=request.skip_tags,
        options=settings.run_options(),
        order=inventory.hosts,
        templates=make_templates(settings),
        surroundings=make_surroundings(inventory, playbook.path),
    )
    settled = settle_connections(plan)
    if settled.errors:
        raise PlanError(settled.errors) if len(settled.errors) > 1 else settled.errors[0]
    plan, delegates = with_delegates(settled.plan, inventory)
    if delegates is not None and delegates.errors:
        raise PlanError(delegates.errors) if len(delegates.errors) > 1 else delegates.errors[0]
    warnings += open_secrets(plan, secrets)
    check_plan(plan, value_problems)
    unread = unread_extra_vars(plan)
    refuse_near_misses(playbook, [name for name, _ in unread])
    mistyped = [(name, close) for name, close in unread if close]
    warnings += [f"-e {name}: no text of the playbook reads it. Did you mean {close!r}?" for name, close in mistyped]
    return Prepared(
        request=request,
        playbook=playbook,
        inventory=inventory,
        plan=plan,
        warnings=(*origins.warnings, *warnings),
        masks=settled.masks,
        delegates=delegates,
    )
