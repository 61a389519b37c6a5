"""Whose privileges a check asks for: check over play over inventory, as in Ansible."""

from __future__ import annotations

from checkrunner.model.inventory import Host
from checkrunner.model.metadata import truth
from checkrunner.plan.shape import Shape

__all__ = ["become_user"]


def become_user(shape: Shape, host: Host | None = None) -> str | None:
    """The user that the check is to run as; None for the account that logs in. Without `host`: as the playbook says."""
    layers = (shape.check.become, shape.play.become)
    options = host.options if host else {}
    said = (*(layer.become for layer in layers), options.get("become"))
    if not truth(next((value for value in said if value is not None), False)):
        return None
    users = (*(layer.user for layer in layers), options.get("become_user"))
    return str(next((user for user in users if user), "root"))
