"""The use case of `lint`: everything that can be known of a playbook without connecting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from checkrunner.app.clear_secrets import secrets_in_clear
from checkrunner.app.connections import settle_connections
from checkrunner.app.delegates import with_delegates
from checkrunner.app.links import Links
from checkrunner.app.params import SetParams, set_params
from checkrunner.app.prepare import Request, read_inventory
from checkrunner.app.secrets import make_secrets, try_secrets
from checkrunner.app.shellsyntax import shell_problems
from checkrunner.app.surroundings import make_surroundings, make_templates
from checkrunner.findings.fold import fold
from checkrunner.findings.hostnotes import fold_notes
from checkrunner.judge.value_problems import value_problems
from checkrunner.link.transports import unsupported
from checkrunner.load.extra_vars import parse_extra_vars
from checkrunner.load.inventory import localhost
from checkrunner.load.origins import InventoryOrigins
from checkrunner.load.patterns import select
from checkrunner.load.playbook import Reading, find_playbook, read_playbook
from checkrunner.load.secrets import SecretReader
from checkrunner.model.errors import (
    InventoryError,
    LoadError,
    NoHostsError,
    PlaybookError,
    UnknownNameError,
    UsageError,
)
from checkrunner.model.inventory import Host, Inventory
from checkrunner.model.playbook import Play, Playbook
from checkrunner.model.problems import Level, Problem
from checkrunner.plan.build import Plan, build_plan
from checkrunner.plan.called_hosts import unknown_names
from checkrunner.plan.excerpts import excerpt
from checkrunner.plan.lint import in_file, lint, undocumented
from checkrunner.plan.rules import RULES, in_order

__all__ = ["EXIT_CODES", "LINT_RULES", "lint_playbook", "not_linted"]

LINT_RULES = RULES
"""What is looked for, by id."""

EXIT_CODES = {Level.ERROR: 64, Level.WARNING: 1, Level.INFO: 0}
"""What `lint` ends with for the worst problem found; 0 for none."""

_ANY = Host(name="any host", address="any host")
_NO_INVENTORY = "No inventory was given: name one with -i"


def lint_playbook(request: Request) -> Sequence[Problem]:
    """All problems of the playbook, and those of the inventory's connection settings for the hosts it selects.

    What is wrong in one place hides nothing that is wrong in another: plays and checks that cannot be read are left
    out, and plays whose pattern selects nobody are looked at as for a host of which nothing is known. Raises UsageError
    for a playbook that is not there and for wrong arguments.
    """
    secrets = request.secrets or make_secrets(request.settings, dry=True)
    try:
        reading = read_playbook(find_playbook(request.playbook), secrets=secrets)
    except PlaybookError as error:
        if not error.source.line:
            raise
        return in_order(_of_load(error, "playbook"))
    inventory, origins, problems = _inventory(request, secrets)
    problems += [problem for error in reading.errors for problem in _of_load(error, "playbook")]
    problems += [Problem(level=Level.WARNING, rule="inventory", message=warning) for warning in origins.warnings]
    known = bool(request.settings.inventory) and inventory is not None
    extra_vars = parse_extra_vars(request.extra_vars, secrets)
    params = set_params(reading.playbook, extra_vars, inventory or localhost())
    hosts, wrong = _hosts(request, reading.playbook, params.inventory, known)
    problems += [*wrong, *_of_params(params, hosts)]
    for number, (found, guess) in enumerate(_plans(request, reading.playbook, hosts, known, params)):
        settled = settle_connections(found)
        plan, delegates = with_delegates(settled.plan, params.inventory)
        wrong_hosts = delegates.errors if delegates is not None and known else []
        problems += [problem for error in settled.errors for problem in _of_load(error, "connection")]
        problems += [problem for error in wrong_hosts for problem in _of_load(error, "unknown-host")]
        problems += _of_secrets(plan, secrets)
        problems += _of_plan(request, reading, plan, guess=guess, first=number == 0)
        if known and number == 0:
            problems += in_file(reading.playbook, unknown_names(plan, params.inventory))
    problems += in_file(reading.playbook, undocumented(reading.playbook))
    problems += in_file(reading.playbook, secrets_in_clear(reading.playbook))
    return in_order(problems)


def not_linted(error: UsageError) -> Sequence[Problem]:
    """The same as problems, where `lint_playbook` raises it."""
    if isinstance(error, LoadError):
        return _of_load(error, "playbook" if isinstance(error, PlaybookError) else "arguments")
    rule = "playbook" if isinstance(error, UnknownNameError) and error.kind == "playbook" else "arguments"
    return [Problem(level=Level.ERROR, rule=rule, message=error.message, hint=error.hint)]


def _of_load(error: LoadError, rule: str) -> list[Problem]:
    return [
        Problem(level=Level.ERROR, rule=rule, message=e.message, source=e.source, line_text=e.line_text, hint=e.hint)
        for e in error.errors
    ]


def _inventory(request: Request, secrets: SecretReader) -> tuple[Inventory | None, InventoryOrigins, list[Problem]]:
    try:
        found = read_inventory(request.settings.inventory, secrets=secrets, playbook_dir=request.playbook_dir)
    except InventoryError as error:
        return None, InventoryOrigins(), _of_load(error, "inventory")
    return *found, []


def _hosts(
    request: Request, playbook: Playbook, inventory: Inventory, known: bool
) -> tuple[list[tuple[Host, ...]], list[Problem]]:
    """The hosts of each play, and a problem for each play without any."""
    hosts: list[tuple[Host, ...]] = []
    problems = []
    for play in playbook.plays:
        try:
            hosts.append(select(inventory, play.hosts, request.limit))
        except (NoHostsError, UsageError) as error:
            hosts.append(())
            problems.append(_nobody(playbook, play, error, known))
    limited = request.limit is not None and any(hosts)
    if request.allow_empty or limited or not known:
        problems = [replace(problem, level=Level.WARNING) for problem in problems]
    return hosts, problems


def _nobody(playbook: Playbook, play: Play, error: NoHostsError | UsageError, known: bool) -> Problem:
    source, line_text = excerpt(playbook, play.hosts_source, "")
    hint = error.hint if known else _NO_INVENTORY
    return Problem(
        level=Level.ERROR,
        rule="host-pattern",
        message=error.message,
        source=source,
        line_text=line_text,
        hint=hint,
    )


def _of_params(params: SetParams, hosts: Sequence[tuple[Host, ...]]) -> list[Problem]:
    """Values that parameters cannot have. That a required one is not set is no fault of the playbook."""
    names = {host.name for some in hosts for host in some}
    errors = [*params.errors, *(error for name, error in params.wrong_hosts.items() if name in names)]
    return [Problem(level=Level.ERROR, rule="parameter", message=e.message, hint=e.hint) for e in errors]


def _plans(
    request: Request, playbook: Playbook, hosts: Sequence[tuple[Host, ...]], known: bool, params: SetParams
) -> list[tuple[Plan, bool]]:
    """The plan for the hosts there are, and one for the plays that have none; each with whether hosts are guessed."""
    options = request.settings.run_options()
    plans = []
    some_host = replace(_ANY, vars=params.defaults)
    empty = [() if some else (some_host,) for some in hosts]
    for some, guess in ((hosts, not known), (empty, True)):
        if any(some):
            plan = build_plan(
                playbook,
                some,
                extra_vars=params.extra_vars,
                options=options,
                templates=make_templates(request.settings),
                surroundings=make_surroundings(params.inventory, playbook.path),
            )
            plans.append((plan, guess))
    return plans


def _of_secrets(plan: Plan, secrets: SecretReader) -> list[Problem]:
    errors, warnings = try_secrets(plan, secrets)
    problems = [Problem(level=Level.WARNING, rule="secret", message=warning) for warning in warnings]
    for error in errors:
        if isinstance(error, LoadError):
            problems += _of_load(error, "secret")
        else:
            problems.append(Problem(level=Level.ERROR, rule="secret", message=error.message, hint=error.hint))
    return problems


def _of_plan(request: Request, reading: Reading, plan: Plan, *, guess: bool, first: bool) -> list[Problem]:
    hosts = [host.host for host in plan.hosts if host.host.name != _ANY.name]
    problems = _of_connections(Links(request.settings), hosts)
    found = lint(plan, also=value_problems, guess=guess, lost=reading.lost, whole=first and not reading.errors)
    # What checks need was looked at when the file was read; where that found errors, checks are missing here.
    problems += [problem for problem in found if problem.rule != "needs" or not reading.errors]
    problems += shell_problems(plan)
    return problems


def _of_connections(links: Links, hosts: Sequence[Host]) -> list[Problem]:
    notes: list[tuple[Host, Sequence[str]]] = []
    wrong: dict[str, Problem] = {}
    for host in hosts:
        try:
            missing = unsupported(host)
            notes.append((host, [str(missing)] if missing else links.warnings(host)))
        except UsageError as error:
            problem = Problem(level=Level.ERROR, rule="connection", message=error.message, hint=error.hint)
            wrong[error.message] = problem
    folded = [f"{fold(note.names)}: {note.text}" for note in fold_notes(notes)]
    return [*wrong.values(), *(Problem(level=Level.WARNING, rule="connection", message=text) for text in folded)]
