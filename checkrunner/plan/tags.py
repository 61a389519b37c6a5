"""Which checks `--tags` and `--skip-tags` leave: Ansible's rules."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from checkrunner.model.errors import UnknownNameError, UsageError
from checkrunner.model.playbook import Check, Play, Playbook

__all__ = ["SPECIAL_TAGS", "check_tags", "known_tags", "selected", "verify_tags"]

SPECIAL_TAGS: frozenset[str] = frozenset({"always", "never", "all", "tagged", "untagged"})
_UNTAGGED = frozenset({"untagged"})


def check_tags(play: Play, check: Check) -> frozenset[str]:
    """The check's tags and those that it has from its play."""
    return frozenset((*play.tags, *check.tags))


def selected(tags: Collection[str], only: Collection[str], skip: Collection[str]) -> bool:
    """Whether a check with `tags` is to be run. An empty `only` means ``all``."""
    own = frozenset(tags) or _UNTAGGED
    wanted = frozenset(only) or frozenset({"all"})
    run = (
        "always" in own
        or not own.isdisjoint(wanted)
        or ("all" in wanted and "never" not in own)
        or ("tagged" in wanted and own != _UNTAGGED and "never" not in own)
    )
    if not run or not skip:
        return run
    if "all" in skip and ("always" not in own or "always" in skip):
        return False
    return own.isdisjoint(skip) and not ("tagged" in skip and own != _UNTAGGED)


def known_tags(playbook: Playbook) -> frozenset[str]:
    """Every tag that is written in the playbook."""
    found: set[str] = set()
    for play in playbook.plays:
        todo = [*play.pre_checks, *play.checks]
        while todo:
            check = todo.pop()
            found |= check_tags(play, check)
            todo += check.on_fail
    return frozenset(found)


def verify_tags(playbook: Playbook, only: Iterable[str], skip: Iterable[str]) -> None:
    """Raise UnknownNameError for a tag that the playbook does not have, and UsageError where no check is left."""
    only, skip = list(only), list(skip)
    known = known_tags(playbook)
    for tag in (*only, *skip):
        if tag not in known and tag not in SPECIAL_TAGS:
            raise UnknownNameError("tag", tag, known)
    pairs = [(play, check) for play in playbook.plays for check in play.checks]
    if pairs and not any(selected(check_tags(play, check), only, skip) for play, check in pairs):
        asked = [f"--tags {','.join(only)}"] * bool(only) + [f"--skip-tags {','.join(skip)}"] * bool(skip)
        message = f"no check is left by {' '.join(asked)}" if asked else "every check is tagged `never`"
        raise UsageError(message, hint=f"Tags here: {', '.join(sorted(known))}" if known else "No check has tags")
