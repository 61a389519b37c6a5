"""Jinja2's sandbox as checkrunner has it: bounded, strict, with Ansible's filters, and sure of what a host wrote.

Beside `templates` the only module that knows Jinja2.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from typing import Any

from jinja2 import Environment, pass_context
from jinja2.exceptions import UndefinedError
from jinja2.filters import do_unique, make_attrgetter
from jinja2.lexer import TOKEN_STRING, TOKEN_VARIABLE_BEGIN, TOKEN_VARIABLE_END, Lexer
from jinja2.nativetypes import NativeCodeGenerator
from jinja2.runtime import Context, StrictUndefined, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing, pass_environment

from checkrunner.model.sources import Secret
from checkrunner.plan import filters_regex, filters_text
from checkrunner.plan.bounds import Steps, guard_call, guard_operator, guard_size
from checkrunner.plan.filters import FILTERS, LEFT_OUT, TESTS
from checkrunner.plan.filters_lists import unique as unique_of_any
from checkrunner.plan.filters_times import now, time_filters
from checkrunner.plan.lookups import look_up
from checkrunner.plan.outside import Outside
from checkrunner.plan.taint import taint
from checkrunner.plan.templates_values import VIEWS, for_text, put_together, text_of
from checkrunner.plan.values import (
    OMIT,
    Hidden,
    Remote,
    RemotePieces,
)

__all__ = ["GLOBALS", "JinjaContext", "JinjaEnvironment", "NativeEnvironment"]

GLOBALS: tuple[str, ...] = ("range", "dict", "namespace", "lookup", "now", "omit", "q", "query", "undef")
"""Names that are there in every text."""

_FROM_JINJA = ("range", "dict", "namespace")
_TRUSTED = ("quote", "unquoted")
"""Filters whose result is not a host's text any more."""

_ITEM_BY_ITEM = frozenset({"map", "select", "reject", "selectattr", "rejectattr"})
"""Filters that give entries as they are, or as another filter has made them."""

_MAY_LACK = frozenset({"d", "default", "mandatory", "ternary", "type_debug"})
_OF_TEXT = frozenset(
    {
        *filters_text.FILTERS,
        *filters_regex.FILTERS,
        "capitalize",
        "format",
        "lower",
        "replace",
        "string",
        "title",
        "trim",
    }
    | {"truncate", "upper", "urlencode", "wordcount", "wordwrap", "center"}
)
"""Filters that make a text of what they are given."""

_TESTS_OF_LACK = frozenset({"defined", "undefined"})


class _Undefined(StrictUndefined):
    """Strict, but what is below something undefined is undefined too, and so is what a filter makes of it: so
    ``a.b.c | trim | default(0)`` works."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, key: object) -> Any:
        return self


class JinjaContext(Context):
    """Names are read from any mapping, and secrets are wrapped."""

    def resolve_or_missing(self, key: str) -> Any:
        """The value of a name."""
        if key in self.vars:
            return self.vars[key]
        try:
            value = self.parent[key]
        except KeyError:
            return self.environment.globals.get(key, missing)
        return Hidden(value, key) if isinstance(value, Secret) else value


class _Lexer(Lexer):
    """Takes backslashes in the strings of ``{{ }}`` as they are, as Ansible does: ``'\\1'`` there is a group of a
    pattern. In statements and expressions they are what they are in Python."""

    def tokeniter(
        self, source: str, name: str | None, filename: str | None = None, state: str | None = None
    ) -> Iterator[tuple[int, str, str]]:
        within = False
        for line, token, text in super().tokeniter(source, name, filename, state):
            within = token == TOKEN_VARIABLE_BEGIN or (within and token != TOKEN_VARIABLE_END)
            yield line, token, text.replace("\\", "\\\\") if within and token == TOKEN_STRING else text


@pass_environment
def _joined(environment: Environment, value: Any, d: str = "", attribute: str | int | None = None) -> str:
    items = value if attribute is None else map(make_attrgetter(environment, attribute), value)
    texts = [text_of(item) for item in items]
    glue = text_of(d)
    if not any(isinstance(text, Remote) for text in (glue, *texts)):
        return glue.join(texts)
    return RemotePieces.of([part for text in texts for part in (glue, text)][1:])


@pass_environment
def _unique(
    environment: JinjaEnvironment, value: Any, case_sensitive: bool | None = None, attribute: Any = None
) -> list[Any]:
    try:
        return list(do_unique(environment, value, bool(case_sensitive), attribute))
    except TypeError:
        if case_sensitive is False or attribute:
            raise
        return unique_of_any(value)


@pass_environment
def _extract(environment: JinjaEnvironment, item: Any, container: Any, morekeys: Any = None) -> Any:
    more = [] if morekeys is None else morekeys if isinstance(morekeys, list) else [morekeys]
    for key in (item, *more):
        container = environment.getitem(container, key)
    return container


def _mandatory(value: Any, msg: str | None = None) -> Any:
    if isinstance(value, Undefined):
        if msg is not None:
            raise ValueError(msg)
        str(value)  # raises: it is strict
    return value


def _type_debug(value: object) -> str:
    if isinstance(value, Undefined):
        return "Undefined"
    if isinstance(value, (str, bytes)):
        return "str" if isinstance(value, str) else "bytes"
    return "dict" if isinstance(value, Mapping) else type(value).__name__


def _indented(indent: Callable[..., Any]) -> Callable[..., Any]:
    """Jinja2's own would add a line to a list that it is given, for good."""

    @functools.wraps(indent)
    def indented(text: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(text, (str, Hidden)):
            msg = f"indent needs a text, not {type(text).__name__}"
            raise TypeError(msg)
        return indent(str(text), *args, **kwargs)

    return indented


def _undef(hint: str | None = None) -> Undefined:
    return _Undefined(hint or "this variable has no value yet: it must be given one")


class JinjaEnvironment(ImmutableSandboxedEnvironment):
    """`steps` are counted over all that one rendering does."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})
    context_class = JinjaContext
    concat = staticmethod(put_together)

    def __init__(self, steps: Steps, outside: Outside) -> None:
        super().__init__(
            undefined=_Undefined, keep_trailing_newline=True, trim_blocks=True, finalize=for_text, cache_size=0
        )
        self.steps = steps
        self.globals = {name: self.globals[name] for name in _FROM_JINJA}
        self.globals |= {"now": functools.partial(now, outside), "omit": OMIT, "undef": _undef}
        self.globals |= {"lookup": _looking(outside, False)}
        self.globals |= dict.fromkeys(("query", "q"), _looking(outside, True))
        own: dict[str, Callable[..., Any]] = {n: f for n, f in self.filters.items() if n not in LEFT_OUT}
        own["indent"] = _indented(own["indent"])
        with_engine: dict[str, Callable[..., Any]] = {
            "extract": _extract,
            "join": _joined,
            "mandatory": _mandatory,
            "type_debug": _type_debug,
        }
        own.update({**FILTERS, **time_filters(outside), **with_engine, "unique": _unique})
        tests: Any = {**self.tests, **TESTS}
        self.filters = {name: self._bounded(name, function) for name, function in own.items()}
        self.tests = {name: _strict(name, test) for name, test in tests.items()}
        for table in (self.filters, self.tests):
            table.update({f"ansible.builtin.{name}": function for name, function in table.items()})
        self.filters["community.general.json_query"] = self.filters["json_query"]
        self.filters["_concat"] = self._concat
        self.filters["_steps"] = steps.count

    @functools.cached_property
    def lexer(self) -> Lexer:
        """Made once: it depends on nothing that changes."""
        return _Lexer(self)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ARG002 - as the base
        """An operator, its result bounded."""
        guard_operator(operator, left, right)
        if operator == "+" and isinstance(left, str) and isinstance(right, str):
            result: Any = put_together((left, right))
        else:
            result = taint(self.binop_table[operator](left, right), (left, right))
        self.steps.take(result)
        return result

    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """A function or method, its result bounded."""
        # The sandbox's own `format` is a wrapper around the text's method.
        owner = getattr(getattr(function, "__wrapped__", function), "__self__", None)
        if isinstance(owner, (str, date)):
            guard_call(getattr(function, "__name__", ""), (owner, *args), kwargs)
        result = self._whole(super().call(context, function, *args, **kwargs))
        self.steps.take(result)
        if isinstance(owner, str) and getattr(function, "__name__", "") == "join" and args:
            return _joined(self, args[0], owner)
        return taint(result, (owner, *args, *kwargs.values()))

    def _whole(self, result: Any) -> Any:
        """A list of what comes one after another, as filters of Ansible give it."""
        return list(self.steps.count(result)) if isinstance(result, (Iterator, *VIEWS)) else result

    def _concat(self, parts: list[Any]) -> str:
        guard_size(parts)
        text = put_together(text_of(part) for part in parts)
        self.steps.take(text)
        return text

    def _bounded(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        skip = 1 if hasattr(function, "jinja_pass_arg") else 0

        @functools.wraps(function)
        def bounded(*args: Any, **kwargs: Any) -> Any:
            given = args[skip:]
            if name not in _MAY_LACK:
                lack = _undefined_in((*given, *kwargs.values()), deeper=name in _OF_TEXT)
                if lack is not None:
                    return lack
            guard_size(given)
            guard_call(name, given, kwargs)
            try:
                result = self._whole(function(*args, **kwargs))
            except UndefinedError as error:
                return _Undefined(error.message)
            self.steps.take(result)
            if name in _ITEM_BY_ITEM:
                return result
            if name in _TRUSTED:
                return str.__str__(result) if isinstance(result, str) else result
            return taint(result, (*given, *kwargs.values()))

        return bounded


class _NativeCode(NativeCodeGenerator):
    def _output_const_repr(self, group: Iterable[Any]) -> str:
        parts = [part for part in group if part is not None]
        return repr(parts[0] if len(parts) == 1 else "".join(map(str, parts)))


class NativeEnvironment(JinjaEnvironment):
    """Gives what the parts of a text come to as they are, not as texts."""

    code_generator_class = _NativeCode

    def __init__(self, steps: Steps, outside: Outside) -> None:
        super().__init__(steps, outside)
        self.finalize = None


def _undefined_in(values: Iterable[Any], *, deeper: bool) -> Undefined | None:
    """The first value that is undefined; with `deeper` also one in a list, of which a text would be made."""
    for value in values:
        if isinstance(value, Undefined):
            return value
        if deeper and isinstance(value, (list, tuple)):
            found = _undefined_in(value, deeper=False)
            if found is not None:
                return found
    return None


def _refuse_undefined(values: Iterable[Any]) -> None:
    found = _undefined_in(values, deeper=False)
    if found is not None:
        str(found)  # raises: it is strict


def _strict(name: str, test: Callable[..., Any]) -> Callable[..., Any]:
    """The test, which what is undefined does not even get to, but for those that are about it."""
    if name in _TESTS_OF_LACK:
        return test

    @functools.wraps(test)
    def strict(*args: Any, **kwargs: Any) -> Any:
        _refuse_undefined((*args, *kwargs.values()))
        return test(*args, **kwargs)

    return strict


def _looking(outside: Outside, as_list: bool) -> Callable[..., Any]:
    @pass_context
    def looking(context: Context, plugin: str, *terms: Any, wantlist: bool = as_list, **options: Any) -> Any:
        def value_of(name: str) -> Any:
            value = context.resolve_or_missing(name)
            if value is missing:
                raise KeyError(name)
            return value

        found = look_up(plugin, terms, options, outside=outside, value_of=value_of)
        if wantlist:
            return found
        if len(found) == 1:
            return found[0]
        return _joined(context.environment, found, ",") if all(isinstance(item, str) for item in found) else found

    return looking
