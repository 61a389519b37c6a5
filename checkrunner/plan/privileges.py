"""Whose privileges a check asks for: check over play over inventory over the run's own settings."""

from __future__ import annotations

import shlex

from checkrunner.model.errors import TemplateError
from checkrunner.model.inventory import Host
from checkrunner.model.metadata import truth
from checkrunner.model.plan import Account
from checkrunner.model.playbook import Become
from checkrunner.plan.shape import Shape

__all__ = ["account", "exact_command", "wants_exact"]


def account(shape: Shape, host: Host | None = None, run: Become | None = None) -> Account | None:
    """Whom the check is to run as; None for the account that logs in. Without `host`: as the playbook says."""
    layers = (shape.check.become, shape.play.become)
    options = host.options if host else {}
    run = run or Become()
    said = (*(layer.become for layer in layers), options.get("become"), run.become)
    if not truth(next((value for value in said if value is not None), False)):
        return None
    users = (*(layer.user for layer in layers), options.get("become_user"), run.user)
    methods = (*(layer.method for layer in layers), options.get("become_method"), run.method)
    return Account(
        user=str(next((user for user in users if user), "root")),
        # Ansible's full names end with the short ones: community.general.doas
        method=str(next((method for method in methods if method), "sudo")).rpartition(".")[2],
    )


def wants_exact(shape: Shape) -> bool:
    """Whether only the command itself is to run with the privileges: as the first of check and play says that says
    anything of them."""
    for layer in (shape.check.become, shape.play.become):
        if layer.become is not None:
            return layer.exact
    return False


def exact_command(shape: Shape, command: str, wanted: Account, login: str | None) -> str:
    """`command`, an argv as shell text, run by sudo or doas itself. Where `login`, the account that logs in, is that
    user already nothing is put before it; where it is not known, the host finds out.

    Raises TemplateError for su, which runs no command without a shell, and for other methods.
    """
    if wanted.method not in ("sudo", "doas"):
        message = f"check {shape.check.id!r}: `become: exact` is for sudo and doas, not for {wanted.method}"
        raise TemplateError(message, source=shape.check.source)
    user = shlex.quote(wanted.user)
    # English, for us to see that it was refused; the encoding and the order of the locale stay.
    asked = f"LANGUAGE=en {wanted.method} -n -u {user} -- {command}"
    if login is not None:
        return command if login == wanted.user else asked
    return f'if [ "$(id -un)" = {user} ]; then {command}; else {asked}; fi'
