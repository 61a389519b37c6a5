"""The names that a host's templates can read: its variables, resolved when first asked for, and registered results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from checkrunner.model.errors import TemplateError, UsageError
from checkrunner.model.inventory import Host
from checkrunner.model.sources import NOWHERE, Secret, Template
from checkrunner.plan.faults import restated
from checkrunner.plan.texts import Templates
from checkrunner.plan.values import OMIT, Hidden, Lazy

__all__ = [
    "MAGIC",
    "Names",
    "Variables",
    "connection_names",
    "expand",
    "holds_template",
    "host_variables",
    "names_read",
]

MAGIC: tuple[str, ...] = (
    "inventory_hostname",
    "inventory_hostname_short",
    "group_names",
    "groups",
    "hostvars",
    "ansible_play_name",
    "ansible_play_hosts",
    "ansible_play_hosts_all",
    "ansible_play_batch",
    "play_hosts",
    "inventory_dir",
    "inventory_file",
    "playbook_dir",
    "ansible_check_mode",
    "ansible_diff_mode",
    "ansible_verbosity",
    "ansible_version",
)
"""Variables that every host has and nobody can set."""

_PLAIN = (int, float, type(None), Lazy)


def holds_template(value: object) -> bool:
    """Whether a variable's value must be rendered before it can be used."""
    if isinstance(value, str):
        return "{{" in value or "{%" in value or "{#" in value
    if isinstance(value, Template):
        return not value.is_static
    if isinstance(value, Mapping):
        return any(holds_template(item) for item in value.values())
    return isinstance(value, (list, tuple)) and any(holds_template(item) for item in value)


def names_read(templates: Templates, value: Any) -> frozenset[str]:
    """The names that the templates in a value read, also those in an open secret that was written as a template. One
    that cannot be parsed reads nothing: whoever renders it gets to know."""
    if isinstance(value, Secret):
        return names_read(templates, value.reveal()) if value.is_open and value.is_written else frozenset()
    if isinstance(value, (str, Template)):
        if not holds_template(value):
            return frozenset()
        try:
            return templates.names_in(Template(text=value) if isinstance(value, str) else value)
        except TemplateError:
            return frozenset()
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
    return frozenset().union(*(names_read(templates, item) for item in items))


class Variables(Lazy, Mapping[str, Any]):
    """Layers of variables, the first that has a name wins. A value that is a template is rendered over the same
    variables when it is first read; one that leads back to itself is a TemplateError. Those of the layer `inert` are
    finished values: nothing in them is a template."""

    __slots__ = ("_cache", "_inert", "_layers", "_open", "_templates")

    def __init__(
        self, layers: Sequence[Mapping[str, Any]], templates: Templates, *, inert: Mapping[str, Any] | None = None
    ) -> None:
        self._layers = layers
        self._inert = inert
        self._templates = templates
        self._cache: dict[str, Any] = {}
        self._open: list[str] = []

    def __getitem__(self, name: str) -> Any:
        if name in self._cache:
            return self._cache[name]
        for layer in self._layers:
            if name in layer:
                value = layer[name]
                if layer is self._inert:
                    return value
                break
        else:
            raise KeyError(name)
        if isinstance(value, _PLAIN) or (isinstance(value, str) and not holds_template(value)):
            return value
        self._cache[name] = resolved = self._resolve(name, value)
        return resolved

    def __contains__(self, name: object) -> bool:
        return any(name in layer for layer in self._layers)

    def __iter__(self) -> Iterator[str]:
        return iter({name: None for layer in self._layers for name in layer})

    def __len__(self) -> int:
        return len(set().union(*self._layers))

    def _resolve(self, name: str, value: Any) -> Any:
        if name in self._open:
            around = " -> ".join([*self._open[self._open.index(name) :], name])
            msg = f"variable {name!r} needs itself: {around}"
            raise TemplateError(msg, hint="Give one of them a value of its own")
        self._open.append(name)
        try:
            return expand(value, self, self._templates, name)
        except TemplateError as error:
            if error.source.line or error.message.startswith("variable "):
                raise
            msg = f"variable {name!r}: {error.message}"
            raise restated(error, msg, NOWHERE, "") from error
        finally:
            self._open.pop()


def expand(value: Any, names: Mapping[str, Any], templates: Templates, name: str) -> Any:
    """A written value of any shape with its templates rendered over `names`: the value of the variable `name`. Secrets
    in it are hidden."""
    if isinstance(value, str):
        return templates.value_of(Template(text=value), names, name) if holds_template(value) else value
    if isinstance(value, Template):
        return templates.value_of(value, names, name)
    if isinstance(value, Secret):
        return Hidden(_rendered(value, names, templates, name), name)
    if isinstance(value, Mapping):
        made = {key: expand(item, names, templates, name) for key, item in value.items()}
        return {key: item for key, item in made.items() if item is not OMIT}
    if isinstance(value, (list, tuple)):
        return [item for item in (expand(item, names, templates, name) for item in value) if item is not OMIT]
    return value


def _rendered(secret: Secret, names: Mapping[str, Any], templates: Templates, name: str) -> Secret:
    """The secret itself, or what it comes to where it is a template. Errors show nothing of it."""
    try:
        text = secret.reveal() if secret.is_written else ""
    except UsageError:
        return secret  # whoever makes use of it gets to know
    if not holds_template(text):
        return secret
    try:
        value = templates.value_of(Template(text=text), names, name)
    except TemplateError:
        message = f"variable {name!r}: the template that it holds, encrypted, cannot be rendered; it is not shown"
        raise TemplateError(message, hint="Look at it with `ansible-vault view`") from None
    return value.secret() if isinstance(value, Hidden) else Secret(str(value))


class Names(Mapping[str, Any]):
    """Variables with registered results before them."""

    __slots__ = ("_base", "_top")

    def __init__(self, top: Mapping[str, Any], base: Mapping[str, Any]) -> None:
        self._top, self._base = top, base

    def __getitem__(self, name: str) -> Any:
        return self._top[name] if name in self._top else self._base[name]

    def __contains__(self, name: object) -> bool:
        return name in self._top or name in self._base

    def __iter__(self) -> Iterator[str]:
        yield from self._top
        yield from (name for name in self._base if name not in self._top)

    def __len__(self) -> int:
        return len(self._top) + sum(name not in self._top for name in self._base)


def host_variables(
    host: Host,
    play_vars: Mapping[str, Any],
    extra_vars: Mapping[str, Any],
    templates: Templates,
    more: Sequence[Mapping[str, Any]] = (),
    *,
    found: Mapping[str, Any] | None = None,
    check_vars: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> Variables:
    """A host's variables in a play: extra variables before those `found` out during the run (finished values: results,
    facts, items of loops), a check's own, the play's, the inventory's and the `defaults` of parameters. `more` are
    names that nobody can set, as `MAGIC` are; the weakest of all are those of `connection_names`."""
    magic = {"inventory_hostname": host.name, "group_names": [g for g in host.groups if g != "all"]}
    inner = [layer for layer in (found, check_vars) if layer is not None]
    layers = (magic, *more, extra_vars, *inner, play_vars, host.vars, defaults or {}, connection_names(host))
    return Variables(layers, templates, inert=found)


def connection_names(host: Host) -> Mapping[str, Any]:
    """How the host is reached, under Ansible's names, where its variables do not say so anyway."""
    found: dict[str, Any] = {"ansible_host": host.address}
    if host.port is not None:
        found["ansible_port"] = host.port
    if host.user is not None:
        found["ansible_user"] = host.user
    return found
