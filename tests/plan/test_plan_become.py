"""Whom checks are to run as, and how: check over play over host over run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plan_factory import make_check, make_play, plan_plays

from checkrunner.model.errors import TemplateError
from checkrunner.model.inventory import Host
from checkrunner.model.options import RunOptions
from checkrunner.model.plan import Account, Step
from checkrunner.model.playbook import Become, Check

NONE = Become()


def step(
    check: Become,
    play: Become = NONE,
    options: dict[str, object] | None = None,
    run: Become = NONE,
    user: str | None = None,
) -> Step:
    """The step of one check on one host."""
    host = Host(name="h", address="h", user=user, options=options or {})
    made: Check = replace(make_check(argv=["id", "-un"]), become=check)
    plan = plan_plays([(make_play(made, become=play), [host])], options=RunOptions(become=run))
    (one,) = plan.hosts
    found = one.resolve(one.checks[0], {})
    assert isinstance(found, Step)
    return found


@pytest.mark.parametrize(
    ("check", "play", "options", "run", "wanted"),
    [
        (Become(become=True), NONE, {}, NONE, Account(user="root", method="sudo")),
        (NONE, NONE, {}, Become(become=True, user="app", method="doas"), Account(user="app", method="doas")),
        (Become(become=False), Become(become=True), {"become": True}, Become(become=True), None),
        (Become(user="a"), Become(become=True, user="b"), {"become_user": "c"}, Become(user="d"), Account(user="a")),
        (NONE, Become(become=True), {"become_user": "c"}, Become(user="d"), Account(user="c")),
        (NONE, NONE, {"become": "yes", "become_method": "community.general.doas"}, Become(method="su"), Account(user="root", method="doas")),
        (NONE, NONE, {"become": "no"}, Become(become=True), None),
        (NONE, NONE, {}, NONE, None),
    ],
)  # fmt: skip
def test_the_closest_wins(
    check: Become, play: Become, options: dict[str, object], run: Become, wanted: Account | None
) -> None:
    command = step(check, play, options, run).command
    assert (command.become, command.exact) == (wanted, None)


def test_exact_puts_the_program_before_the_command() -> None:
    command = step(Become(become=True, exact=True, user="app"), user="ops").command
    assert command.shell == "LANGUAGE=en sudo -n -u app -- id -un"
    assert (command.become, command.exact) == (None, Account(user="app"))


def test_exact_needs_nothing_for_the_account_that_logs_in() -> None:
    assert step(Become(become=True, exact=True), user="root").command.shell == "id -un"


def test_exact_asks_the_host_who_logs_in_where_that_is_not_known() -> None:
    shell = step(Become(become=True, exact=True)).command.shell
    assert shell == 'if [ "$(id -un)" = root ]; then id -un; else LANGUAGE=en sudo -n -u root -- id -un; fi'


def test_exact_quotes_the_user() -> None:
    assert "-u '$(x)' --" in step(Become(become=True, exact=True, user="$(x)"), user="ops").command.shell


def test_exact_is_not_for_su() -> None:
    with pytest.raises(TemplateError, match="`become: exact` is for sudo and doas, not for su"):
        step(Become(become=True, exact=True), options={"become_method": "su"})
