"""One play as it is written to `model.Play`: its keys, then its checks, then what holds among them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from checkrunner.load.entries import Built, Findings, checks_of, read_entries, validated
from checkrunner.load.fileset import FileSet
from checkrunner.load.ids import wrong_ids
from checkrunner.load.nodes import YamlList, YamlMap
from checkrunner.load.scopes import Scope
from checkrunner.load.terms import join_patterns
from checkrunner.model.errors import PlaybookError
from checkrunner.model.inventory import empty
from checkrunner.model.playbook import Param, Play

if TYPE_CHECKING:  # it is loaded only to read a playbook
    from checkrunner.load.schema_plays import PlayModel

__all__ = ["ReadPlay", "read_play"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPlay:
    """What of a play could be read. `lost` are the names that what could not be read would have given."""

    play: Play | None
    errors: tuple[PlaybookError, ...] = ()
    lost: frozenset[str] = frozenset()


def read_play(node: YamlMap, files: FileSet, earlier: Collection[str] = ()) -> ReadPlay:
    """Read a play of checks. `earlier` are the ids of the checks of plays before it."""
    from checkrunner.load.schema_plays import PlayModel

    found = Findings(files=files)
    model, rest = validated(PlayModel, node, found)
    play_model: PlayModel | None = model
    first = _entries(node, "pre_checks", found)
    built = [*first, *_entries(node, "checks", found)]
    _exact(play_model, node, built, found)
    found.errors += wrong_ids(built, len(first), earlier, files, lost=bool(found.errors))
    play = None
    if play_model is not None and len(built) > len(first):
        play = _play(play_model, rest, built, len(first), found)
    return ReadPlay(play=play, errors=tuple(found.errors), lost=frozenset(found.lost))


def _entries(node: YamlMap, key: str, found: Findings) -> list[Built]:
    written = node.get(key)
    return read_entries(written, found, Scope()) if isinstance(written, YamlList) else []


def _play(model: PlayModel, node: YamlMap, built: list[Built], first: int, found: Findings) -> Play:
    hosts = join_patterns(model.hosts)
    return Play(
        name=model.name or hosts,
        hosts=hosts,
        checks=checks_of(built[first:]),
        vars=_variables(model, found),
        tags=tuple(model.tags or ()),
        timeout_s=model.timeout,
        become=_become(model),
        pre_checks=checks_of(built[:first]),
        serial=tuple(model.serial or ()),
        forks=model.forks,
        max_fail=model.max_fail,
        params=_params(model, node, found),
        source=node.ref,
        hosts_source=node["hosts"].ref,
    )


def _params(model: PlayModel, node: YamlMap, found: Findings) -> tuple[Param, ...]:
    if not model.params:
        return ()
    from checkrunner.load.params import read_params

    return read_params(model, node, found)


def _become(model: PlayModel) -> Any:
    from checkrunner.load.checks import become_of

    return become_of(model)


def _variables(model: PlayModel, found: Findings) -> Mapping[str, Any]:
    """Those of the play, and of its files, which win."""
    variables = dict(model.vars)
    for named in model.vars_files or ():
        try:
            variables.update(found.files.variables(named))
        except PlaybookError as error:
            found.errors.append(error)
    return MappingProxyType(variables) if variables else empty()


def _exact(model: PlayModel | None, node: YamlMap, built: list[Built], found: Findings) -> None:
    """`become: exact` of a play is not for every check."""
    if model is None or model.become != "exact":
        return
    for top in built:
        for one in top.tree():
            check = one.check
            if check.become.become is not None:
                continue
            if not check.argv:
                hint = "A shell would have to run as that user, which is what `become: true` does."
                message = f"`become: exact` is for checks with `argv`, which check {check.id!r} has not"
                found.fail(node.keys_at["become"].ref, message, hint)
            elif "su" in (model.become_method, check.become.method):
                hint = "Write `become: true`, or another `become_method`."
                message = "`become: exact` is for sudo and doas: su always starts a shell"
                found.fail(node.keys_at.get("become_method", node.keys_at["become"]).ref, message, hint)
