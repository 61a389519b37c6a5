"""What templates get to know of this machine: the time, the environment, and where the files of a run lie."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from checkrunner.model.inventory import Host, Inventory
from checkrunner.plan.magic import Surroundings
from checkrunner.plan.outside import Outside
from checkrunner.plan.texts import Templates
from checkrunner.settings import Settings

__all__ = ["make_surroundings", "make_templates"]


def make_templates(settings: Settings) -> Templates:
    """Templates that know the time and the environment."""
    return Templates(Outside(clock=time.time, local=_local, environment=settings.environment))


def make_surroundings(inventory: Inventory, playbook: str, *, check_mode: bool = False) -> Surroundings:
    """What the texts of a playbook may read beside variables. `playbook` is its path."""
    constants = {"playbook_dir": os.path.dirname(os.path.abspath(playbook)), "ansible_check_mode": check_mode}
    return Surroundings(inventory=inventory, constants=constants, places=_places)


def _local(second: float) -> datetime:
    return datetime.fromtimestamp(second, UTC).astimezone()


def _places(host: Host) -> Mapping[str, Any]:
    return _of_file(host.source.path)


@functools.lru_cache(maxsize=256)
def _of_file(path: str) -> Mapping[str, Any]:
    if not os.path.isfile(path):
        return {}
    file = os.path.abspath(path)
    return {"inventory_file": file, "inventory_dir": os.path.dirname(file)}
