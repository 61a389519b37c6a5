"""What is around a check: keys of blocks and inclusions, handed on to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from checkrunner.load.nodes import YamlMap
from checkrunner.model.playbook import Become, Check
from checkrunner.model.results import Severity
from checkrunner.model.sources import SourceRef, Template

if TYPE_CHECKING:  # it is loaded only to read a playbook
    from checkrunner.load.schema_checks import CheckModel, SharedModel

__all__ = ["Scope", "needs_of"]

_NOT_SAID = Become()
_INNER = ("cwd", "timeout", "session", "severity", "run_once", "delegate_to", "why", "fix")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The keys of all that is around a check, put together: conditions and labels are joined, the outer ones first,
    variables and environment merged; of the others the innermost counts.

    `exact` are the mappings that say `become: exact`, which is not for every check.
    """

    when: tuple[Template, ...] = ()
    vars: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    needs: Mapping[str, SourceRef] = field(default_factory=dict)
    requires: tuple[str, ...] = ()
    env: Mapping[str, Any] = field(default_factory=dict)
    become: Become = _NOT_SAID
    one: Mapping[str, Any] = field(default_factory=dict)
    exact: tuple[tuple[SharedModel, YamlMap], ...] = ()

    def inner(self, model: SharedModel, node: YamlMap) -> Scope:
        """The scope within a block or inclusion of this one."""
        own = {key: getattr(model, key) for key in _INNER if getattr(model, key) is not None}
        return Scope(
            when=(*self.when, *(model.when or ())),
            vars={**self.vars, **model.vars},
            tags=_joined(self.tags, model.tags),
            needs={**self.needs, **needs_of(model, node)},
            requires=_joined(self.requires, model.requires),
            env={**self.env, **(model.env or {})},
            become=_merged(self.become, model),
            one={**self.one, **own},
            exact=self.exact if model.become is None else ((model, node),) if model.become == "exact" else (),
        )

    def apply(self, check: Check, model: CheckModel) -> Check:
        """The check with what is around it."""
        one = {key: value for key, value in self.one.items() if key not in model.model_fields_set}
        if "timeout" in one:
            one["timeout_s"] = one.pop("timeout")
        if "severity" in one:
            one["severity"] = Severity(one["severity"])
        return replace(
            check,
            when=(*self.when, *check.when),
            vars=MappingProxyType({**self.vars, **check.vars}) if self.vars else check.vars,
            tags=_joined(self.tags, check.tags),
            needs=_joined(tuple(self.needs), check.needs),
            requires=_joined(self.requires, check.requires),
            env=MappingProxyType({**self.env, **check.env}) if self.env else check.env,
            become=_merged(self.become, model),
            **one,
        )


def needs_of(model: SharedModel | CheckModel, node: YamlMap) -> dict[str, SourceRef]:
    """The ids that a mapping says are needed, each with its place."""
    if not model.needs:
        return {}
    written = node["needs"]
    if isinstance(written, list):
        return {name: item.ref for name, item in zip(model.needs, written, strict=True)}
    return {name: written.place(written.raw.find(name)) for name in model.needs}


def _joined(outer: tuple[str, ...], inner: list[str] | tuple[str, ...] | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*outer, *(inner or ()))))


def _merged(outer: Become, model: SharedModel | CheckModel) -> Become:
    said = model.become is not None
    return Become(
        become=bool(model.become) if said else outer.become,
        exact=model.become == "exact" if said else outer.exact,
        user=model.become_user or outer.user,
        method=model.become_method or outer.method,
    )
