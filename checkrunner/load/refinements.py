"""Finished models to the words of `model`: loops and retries, values and thresholds, comparisons with other hosts and
with baselines."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from checkrunner.load.nodes import YamlMap
from checkrunner.model.playbook import BaselineRule, Check, Loop, Until
from checkrunner.model.results import Stream
from checkrunner.model.sources import SourceRef, Template
from checkrunner.model.values import Aggregate, Consensus, Extract, Levels, Lookup, Parse, ParseAs, Quorum

if TYPE_CHECKING:  # whoever has read a model has loaded it
    from checkrunner.load.schema_checks import CheckModel
    from checkrunner.load.schema_values import ExtractModel

__all__ = ["refined"]

_RETRIES = 3
_DELAY_S = 5.0
_ALL = "all"


def refined(check: Check, model: CheckModel, node: YamlMap) -> Check:
    """The check with its loop, its values and what it is compared with. `node` tells where they were written."""
    return replace(
        check,
        loop=_loop(model, node),
        until=_until(model, node),
        parse=_parse(model, node),
        extracts=_extracts(model, node),
        levels=_levels(model, node),
        consensus=_consensus(model, node),
        quorum=_quorum(model, node),
        baseline=_baseline(model, node),
    )


def _loop(model: CheckModel, node: YamlMap) -> Loop | None:
    """The loop of a check, if it has one."""
    if model.loop is None:
        return None
    control = model.loop_control
    items = model.loop if isinstance(model.loop, Template) else tuple(model.loop)
    if control is None:
        return Loop(items=items, source=_key(node, "loop"))
    return Loop(
        items=items,
        variable=control.loop_var,
        index_variable=control.index_var,
        label=control.label,
        pause_s=control.pause or 0.0,
        source=_key(node, "loop"),
    )


def _until(model: CheckModel, node: YamlMap) -> Until | None:
    """What a check is run again for, if for anything."""
    if not model.until:
        return None
    return Until(
        conditions=tuple(model.until),
        retries=_RETRIES if model.retries is None else model.retries,
        delay_s=_DELAY_S if model.delay is None else model.delay,
        source=_key(node, "until"),
    )


def _parse(model: CheckModel, node: YamlMap) -> Parse | None:
    """How the output is read, if it is."""
    if model.parse is None:
        return None
    kind, _, parser = model.parse.as_.partition(":")
    return Parse(
        kind=ParseAs(kind),
        stream=Stream(model.parse.stream),
        parser=parser.replace("-", "_"),
        pattern=model.parse.pattern,
        delimiter=model.parse.delimiter.text if model.parse.delimiter else None,
        source=_key(node, "parse"),
    )


def _extracts(model: CheckModel, node: YamlMap) -> tuple[Extract, ...]:
    """The values that are taken from the output, in the order of the file."""
    if not model.extract:
        return ()
    stream = model.parse.stream if model.parse else "stdout"
    return tuple(
        _extract(name, extract, stream, _below(node, "extract", name)) for name, extract in model.extract.items()
    )


def _extract(name: str, model: ExtractModel, parsed: str, source: SourceRef) -> Extract:
    if model.regex is not None:
        lookup, query, stream = Lookup.REGEX, model.regex, model.stream or "stdout"
    elif model.column is not None:
        lookup, query, stream = Lookup.COLUMN, model.column, parsed
    else:
        assert model.jmespath is not None
        lookup, query, stream = Lookup.JMESPATH, model.jmespath, parsed
    return Extract(
        name=name,
        lookup=lookup,
        query=query,
        where=model.where,
        kind=model.type,
        unit=model.unit.text.strip() if model.unit else "",
        agg=Aggregate(model.agg),
        stream=Stream(stream),
        missing=model.missing,
        source=source,
    )


def _levels(model: CheckModel, node: YamlMap) -> tuple[Levels, ...]:
    """The thresholds of values."""
    return tuple(
        Levels(name=name, warn=levels.warn, crit=levels.crit, source=_below(node, "levels", name))
        for name, levels in (model.levels or {}).items()
    )


def _consensus(model: CheckModel, node: YamlMap) -> Consensus | None:
    """How hosts are compared with each other, if they are."""
    found = model.consensus
    if found is None:
        return None
    return Consensus(
        by=found.by.text.strip() if found.by else _ALL,
        on=found.on.text.strip() if found.on else "stdout",
        minimum=found.min,
        source=_key(node, "consensus"),
    )


def _quorum(model: CheckModel, node: YamlMap) -> Quorum | None:
    """How many hosts must be ok, if not all."""
    found = model.quorum
    if found is None:
        return None
    return Quorum(
        count=found.min.count,
        fraction=found.min.fraction,
        by=found.by.text.strip() if found.by else _ALL,
        source=_key(node, "quorum"),
    )


def _baseline(model: CheckModel, node: YamlMap) -> BaselineRule | None:
    """How the output is compared with what was accepted, if it is."""
    found = model.baseline
    if found is None:
        return None
    return BaselineRule(ignore=tuple(found.ignore or ()), ordered=found.ordered, source=_key(node, "baseline"))


def _key(node: YamlMap, key: str) -> SourceRef:
    return node.keys_at[key].ref if key in node.keys_at else node.ref


def _below(node: YamlMap, key: str, name: str) -> SourceRef:
    inner = node.get(key)
    return _key(inner, name) if isinstance(inner, YamlMap) else node.ref
