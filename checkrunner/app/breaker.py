"""The use cases of `history suppressed` and `history resume`: checks that are not run on hosts where they do harm."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from checkrunner.app.choosing import chosen
from checkrunner.history.store import Store
from checkrunner.model.errors import UsageError
from checkrunner.model.history import Suppression
from checkrunner.model.people import Striking

__all__ = ["resume_checks", "suppressed_checks"]


def suppressed_checks(store: Store, now: datetime, playbook: str = "") -> tuple[Sequence[Suppression], list[Striking]]:
    """Checks that are not run now, and those that have done harm and are run: not often enough yet, or once more."""
    suppressed = store.suppressions(now, playbook)
    held = {(one.playbook, one.host, one.check) for one in suppressed}
    others = [
        Striking(playbook=of, host=host, check=check, strikes=strikes, reason=reason)
        for of, host, check, strikes, reason in store.strikes(playbook)
        if (of, host, check) not in held
    ]
    return suppressed, others


def resume_checks(store: Store, host: str, check: str, playbook: str = "") -> list[tuple[str, str, str]]:
    """Let checks run again on hosts (names, or patterns with ``*``), and forget the harm that they did. Returns
    playbook, host and check of each. Raises UnknownNameError where nothing of that name has done any."""
    struck = [(of, name, key) for of, name, key, _, _ in store.strikes(playbook)]
    if not struck:
        raise UsageError("no check has done harm on a host", hint="There is nothing to resume")
    cells = set(chosen({(name, key): None for _, name, key in struck}, [host], [check], what="a check that did harm"))
    if not cells:
        raise UsageError(
            f"{check} has done no harm on {host}", hint="`checkrunner history suppressed` lists what has done any"
        )
    resumed = [one for one in struck if one[1:] in cells]
    store.resume(resumed)
    return resumed
