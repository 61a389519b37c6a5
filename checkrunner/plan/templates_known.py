"""What a parsed text asks for by name and that there is not: filters, tests, look-ups, statements. Known before a value
is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from jinja2 import nodes

from checkrunner.model.errors import TemplateError, nearest
from checkrunner.model.sources import Template
from checkrunner.plan.faults import fault_at, find_name
from checkrunner.plan.filters import LEFT_OUT, LEFT_OUT_TESTS, PREFIXES
from checkrunner.plan.lookups import LookupHereError, bare_lookup
from checkrunner.plan.templates_environment import JinjaEnvironment

__all__ = ["reject_unknown", "variables_looked_up"]

_LOOKING = ("lookup", "query", "q")
_GIVEN_FILTER = {"map": 0}
_GIVEN_TEST = {"select": 0, "reject": 0, "selectattr": 1, "rejectattr": 1}
_LOOKUP_HINT = "Give the value with -e, or a file of values with -e @FILE; what is on a host, find out with a command"


def reject_unknown(environment: JinjaEnvironment, template: Template, expression: bool, tree: nodes.Template) -> None:
    """Raise TemplateError, at its place, for the first name that there is not."""
    for statement in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
        word = "from" if isinstance(statement, nodes.FromImport) else type(statement).__name__.lower()
        raise fault_at(template, find_name(template, word, expression=False), f"{word!r} is not available here")
    for name in _filters(tree):
        if name not in environment.filters or name.startswith("_"):
            raise _unknown(template, expression, name, "filter", environment.filters, LEFT_OUT)
    for name in _tests(tree):
        if name not in environment.tests:
            raise _unknown(template, expression, name, "test", environment.tests, LEFT_OUT_TESTS)
    for word, call in _lookups(tree):
        plugin = call.args[0] if call.args else None
        if isinstance(plugin, nodes.Const):
            try:
                bare_lookup(plugin.value)
            except LookupHereError as error:
                offset = max(template.text.find(str(plugin.value), template.text.find(word)), 0)
                raise fault_at(template, offset, str(error), _LOOKUP_HINT) from error


def _unknown(
    template: Template,
    expression: bool,
    name: str,
    word: str,
    table: Mapping[str, object],
    left_out: Mapping[str, str],
) -> TemplateError:
    given = re.search(rf"['\"]{re.escape(name)}['\"]", template.text)
    offset = given.start() + 1 if given else find_name(template, name, expression=expression)
    bare = next((name.removeprefix(prefix) for prefix in PREFIXES if name.startswith(prefix)), name)
    if bare in left_out:
        return fault_at(template, offset, f"the {word} {name!r} is not available: {left_out[bare]}")
    known = [other for other in table if not other.startswith("_") and "." not in other]
    close = nearest(bare, known)
    hint = f"Did you mean {close!r}?" if close else f"docs/expressions.md lists every {word}"
    return fault_at(template, offset, f"no {word} is called {name!r}", hint)


def _filters(tree: nodes.Template) -> Iterator[str]:
    for node in tree.find_all(nodes.Filter):
        yield node.name
        yield from _constant(node, _GIVEN_FILTER)


def _tests(tree: nodes.Template) -> Iterator[str]:
    for test in tree.find_all(nodes.Test):
        yield test.name
    for node in tree.find_all(nodes.Filter):
        yield from _constant(node, _GIVEN_TEST)


def _constant(node: nodes.Filter, given: Mapping[str, int]) -> Iterator[str]:
    """The name that a filter is given as a text: ``map('upper')``, ``select('match', ...)``."""
    position = given.get(node.name.removeprefix("ansible.builtin."))
    if position is not None and len(node.args) > position:
        argument = node.args[position]
        if isinstance(argument, nodes.Const) and isinstance(argument.value, str):
            yield argument.value


def _lookups(tree: nodes.Template) -> Iterator[tuple[str, nodes.Call]]:
    for call in tree.find_all(nodes.Call):
        if isinstance(call.node, nodes.Name) and call.node.name in _LOOKING:
            yield call.node.name, call


def variables_looked_up(tree: nodes.Template) -> tuple[frozenset[str], set[str]]:
    """The variables that ``lookup('vars', 'name')`` reads, as far as they are written out; and those of them that may
    be missing."""
    names: set[str] = set()
    guarded: set[str] = set()
    for _, call in _lookups(tree):
        words = [arg.value for arg in call.args if isinstance(arg, nodes.Const)]
        if words and str(words[0]).removeprefix("ansible.builtin.") == "vars":
            found = {str(word) for word in words[1:]}
            names |= found
            guarded |= found if any(option.key == "default" for option in call.kwargs) else set()
    return frozenset(names), guarded
