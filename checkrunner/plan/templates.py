"""The one door to Jinja2: compiles templates and expressions, runs them bounded and sandboxed.

Import it only where something is to be rendered (`texts.Templates` does): the engine costs 40 ms to load. It knows
texts and names, nothing of hosts and checks.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jinja2
from jinja2 import meta, nodes
from jinja2.exceptions import TemplateSyntaxError, UndefinedError
from jinja2.parser import Parser
from jinja2.visitor import NodeTransformer

from checkrunner.model.sources import Secret, Template
from checkrunner.plan.bounds import MAX_TEXT, BoundError, Steps
from checkrunner.plan.faults import RAW_HINT, fault_at, runtime_error, syntax_error
from checkrunner.plan.outside import Outside
from checkrunner.plan.shelltext import ShellText
from checkrunner.plan.templates_environment import GLOBALS, JinjaContext, JinjaEnvironment, NativeEnvironment
from checkrunner.plan.templates_known import reject_unknown, variables_looked_up
from checkrunner.plan.templates_values import finished, for_text, put_together
from checkrunner.plan.values import Hidden, RemotePieces, RemoteText, SecretInTextError, UnsafeTextError

__all__ = ["Engine", "Unit"]

_Names = Mapping[str, object]

_CR = "\ue00d"
"""Stands for a carriage return while the engine, which would make it a newline, has the text."""


@dataclass(slots=True, kw_only=True)
class Unit:
    """A parsed text. `free` are the names it takes from outside, `guarded` those of them that may be missing
    (``x | default(1)``, ``x is defined``), `attributes` what is read of each name (``x.rc``), and `reads` the same with
    "" for a name that is used as a whole."""

    template: Template
    expression: bool
    tree: nodes.Template
    free: frozenset[str]
    guarded: frozenset[str]
    attributes: Mapping[str, frozenset[str]]
    reads: Mapping[str, frozenset[str]]
    lone: nodes.Expr | None = None
    text_code: jinja2.Template | None = None
    value_code: jinja2.Template | None = None
    native_code: jinja2.Template | None = None


class _Bounding(NodeTransformer):
    """Rewrites loops so that their rounds count, and ``~`` so that its result is watched."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - the visitor finds it by this name
        self.generic_visit(node)
        node.iter = nodes.Filter(node.iter, "_steps", [], [], None, None, lineno=node.lineno)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802 - as above
        self.generic_visit(node)
        parts = nodes.List(node.nodes, lineno=node.lineno)
        return nodes.Filter(parts, "_concat", [], [], None, None, lineno=node.lineno)


class Engine:
    """Compiles once, runs often. One thread at a time."""

    def __init__(self, outside: Outside) -> None:
        self._steps = Steps()
        self._outside = outside
        self._environment = JinjaEnvironment(self._steps, outside)
        self._units: dict[tuple[str, bool], Unit] = {}

    def unit(self, template: Template, expression: bool) -> Unit:
        """The parsed text; raises TemplateError for syntax, unknown filters and tests."""
        key = (template.text, expression)
        unit = self._units.get(key)
        if unit is None:
            unit = self._units[key] = self._parse(template, expression)
        return unit

    def filters(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names of all filters and tests."""
        return (
            frozenset(name for name in self._environment.filters if not name.startswith("_") and "." not in name),
            frozenset(name for name in self._environment.tests if "." not in name),
        )

    def render(self, template: Template, names: _Names, *, for_shell: bool = False) -> str:
        """The text. With `for_shell`, text from a host is quoted where it enters."""
        unit = self.unit(template, expression=False)
        with _mapped(template, False, names):
            return self._text(unit, names, for_shell)

    def evaluate(self, template: Template, names: _Names) -> Any:
        """The value of an expression; a secret value is a Secret."""
        unit = self.unit(template, expression=True)
        with _mapped(template, True, names):
            value = self._value(unit, names)
        return value.secret() if isinstance(value, Hidden) else value

    def value_of(self, template: Template, names: _Names, name: str) -> Any:
        """The value of a variable whose text is a template: of any type where the text is one ``{{ ... }}``. What a
        secret went into is secret (a Hidden) as a whole."""
        unit = self.unit(template, expression=False)
        outer, Hidden.revealed = Hidden.revealed, []
        try:
            with _mapped(template, False, names):
                value = self._value(unit, names) if unit.lone is not None else self._native(unit, names)
                if not Hidden.revealed or isinstance(value, Hidden):
                    return value
                if not isinstance(value, str):
                    raise SecretInTextError(Hidden.revealed[0])
                return Hidden(Secret(value), name)
        finally:
            Hidden.revealed = outer

    def _text(self, unit: Unit, names: _Names, for_shell: bool) -> str:
        if unit.text_code is None:
            unit.text_code = self._compiled(unit.tree)
        made = ShellText()
        with self._steps:
            for chunk in unit.text_code.root_render_func(self._context(names)):
                if for_shell:
                    _put_in_shell(made, chunk)
                else:
                    made.add(chunk)
                if made.size > MAX_TEXT:
                    msg = f"the text would be longer than {MAX_TEXT:,} characters"
                    raise BoundError(msg)
        if not made.end():
            msg = "text from the host would go to a command that may run what it reads"
            raise UnsafeTextError(msg)
        return self._without_marks(unit, made.text)

    @staticmethod
    def _without_marks(unit: Unit, text: str) -> str:
        if _CR not in text or _CR in unit.template.text:
            return text
        changed = text.replace(_CR, "\r")
        return RemoteText(changed) if isinstance(text, RemoteText) else changed

    def _value(self, unit: Unit, names: _Names) -> Any:
        if unit.value_code is None:
            assert unit.lone is not None
            body: list[nodes.Node] = [nodes.Assign(nodes.Name("result", "store"), unit.lone, lineno=1)]
            unit.value_code = self._compiled(nodes.Template(body, lineno=1))
        context = self._context(names)
        with self._steps:
            for _ in unit.value_code.root_render_func(context):
                pass
            return finished(context.vars["result"])

    def _native(self, unit: Unit, names: _Names) -> Any:
        """As in Ansible: a text of which one value alone is left is that value; a newline at its end is no text."""
        if unit.native_code is None:
            environment = self._native_environment
            unit.native_code = self._compiled(unit.tree, environment)
        with self._steps:
            context = self._context(names, self._native_environment)
            made: Iterator[Any] = unit.native_code.root_render_func(context)
            chunks = [chunk for chunk in made if chunk is not None]
            newline = len(chunks) == 2 and chunks[1] == "\n" and unit.template.text.endswith("\n")
            if (len(chunks) == 1 or newline) and not isinstance(chunks[0], str):
                return finished(chunks[0])
            self._steps.take(chunks)
            text = put_together(for_text(chunk) for chunk in chunks)
        return self._without_marks(unit, text)

    @functools.cached_property
    def _native_environment(self) -> NativeEnvironment:
        return NativeEnvironment(self._steps, self._outside)

    def _context(self, names: _Names, environment: JinjaEnvironment | None = None) -> JinjaContext:
        return JinjaContext(environment or self._environment, names, None, {})  # type: ignore[arg-type]  # reads of any mapping are enough

    def _compiled(self, tree: nodes.Template, environment: JinjaEnvironment | None = None) -> jinja2.Template:
        environment = environment or self._environment
        tree.set_environment(environment)
        return environment.from_string(tree)

    def _parse(self, template: Template, expression: bool) -> Unit:
        text = template.text
        if not expression and "${#" in text:
            message = "`{#` starts a comment of the template engine, here it looks like shell text"
            raise fault_at(template, text.index("${#") + 1, message, RAW_HINT)
        source = text.replace("\r", _CR) if "\r" in text and _CR not in text else text
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of escapes in texts, such as '\\d': they are taken as they stand
                tree = self._expression_tree(source) if expression else self._environment.parse(source)
        except TemplateSyntaxError as error:
            raise syntax_error(template, expression, error.message or "", error.lineno) from error
        except RecursionError as error:
            raise fault_at(template, 0, "nested too deeply") from error
        reject_unknown(self._environment, template, expression, tree)
        free, guarded, attributes = _survey(tree)
        _Bounding().visit(tree)
        return Unit(
            template=template,
            expression=expression,
            tree=tree,
            free=free,
            guarded=guarded,
            attributes=attributes,
            reads=_reads(tree),
            lone=_lone(tree),
        )

    def _expression_tree(self, source: str) -> nodes.Template:
        parser = Parser(self._environment, source, state="variable")
        expression = parser.parse_expression()
        if not parser.stream.eos:
            token = parser.stream.current
            message = f"chunk after expression, got {token.value!r}"
            raise TemplateSyntaxError(message, token.lineno)
        tree = nodes.Template([nodes.Output([expression], lineno=1)], lineno=1)
        tree.set_environment(self._environment)
        return tree


def _put_in_shell(shell: ShellText, chunk: str) -> None:
    pieces = chunk.pieces if isinstance(chunk, RemotePieces) else (chunk,)
    for piece in pieces:
        if not isinstance(piece, RemoteText):
            shell.add(piece)
        elif not shell.add_inert(str.__str__(piece)):
            msg = f"text from the host ({str.__repr__(piece)}) would stand where it cannot be quoted"
            raise UnsafeTextError(msg)


def _lone(tree: nodes.Template) -> nodes.Expr | None:
    """The expression, where the whole text is a single one."""
    output = tree.body[0] if len(tree.body) == 1 else None
    if isinstance(output, nodes.Output) and len(output.nodes) == 1:
        only = output.nodes[0]
        return None if isinstance(only, nodes.TemplateData) else only
    return None


def _survey(tree: nodes.Template) -> tuple[frozenset[str], frozenset[str], Mapping[str, frozenset[str]]]:
    loaded: set[str] = set()
    bound = False
    called = {id(call.node) for call in tree.find_all(nodes.Call)}
    # `now()` is the function; `now.stdout` can only be a variable, which goes before it.
    variables: set[str] = set()
    for name in tree.find_all(nodes.Name):
        if name.ctx == "load":
            loaded.add(name.name)
            if id(name) not in called and name.name != "omit":
                variables.add(name.name)
        else:
            bound = True
    free = frozenset(meta.find_undeclared_variables(tree) if bound else loaded) - ({*GLOBALS} - variables)
    looked_up, guarded = variables_looked_up(tree)
    free |= looked_up
    for node in tree.find_all((nodes.Filter, nodes.Test)):
        if node.name in ("default", "d", "defined", "undefined"):
            guarded.add(_root(node.node))
    attributes: dict[str, set[str]] = {}
    for attribute in tree.find_all(nodes.Getattr):
        if isinstance(attribute.node, nodes.Name):
            attributes.setdefault(attribute.node.name, set()).add(attribute.attr)
    for item in tree.find_all(nodes.Getitem):
        if isinstance(item.node, nodes.Name) and isinstance(item.arg, nodes.Const):
            attributes.setdefault(item.node.name, set()).add(str(item.arg.value))
    return free, free & guarded, {name: frozenset(found) for name, found in attributes.items()}


def _reads(tree: nodes.Template) -> Mapping[str, frozenset[str]]:
    """What is read of each name: its attributes, and "" where it is used as a whole. Whether a test holds for it
    (``x is failed``) is neither."""
    found: dict[str, set[str]] = {}

    def look(node: nodes.Node) -> None:
        for child in node.iter_child_nodes():
            if isinstance(child, nodes.Name):
                if isinstance(node, nodes.Getattr):
                    found.setdefault(child.name, set()).add(node.attr)
                elif isinstance(node, nodes.Getitem) and node.node is child and isinstance(node.arg, nodes.Const):
                    found.setdefault(child.name, set()).add(str(node.arg.value))
                elif isinstance(node, nodes.Test) and node.node is child:
                    found.setdefault(child.name, set())
                elif child.ctx == "load":
                    found.setdefault(child.name, set()).add("")
            look(child)

    look(tree)
    return {name: frozenset(attributes) for name, attributes in found.items()}


def _root(node: nodes.Node | None) -> str:
    while isinstance(node, (nodes.Getattr, nodes.Getitem, nodes.Filter)):
        node = node.node
    return node.name if isinstance(node, nodes.Name) else ""


class _mapped:  # noqa: N801 - used like a function
    """Turns every exception within into a TemplateError with a place."""

    __slots__ = ("_expression", "_names", "_template")

    def __init__(self, template: Template, expression: bool, names: _Names) -> None:
        self._template, self._expression, self._names = template, expression, names

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if not isinstance(error, Exception):
            return
        kind = "undefined" if isinstance(error, UndefinedError) else ""
        mapped = runtime_error(self._template, self._expression, error, self._names, kind)
        if mapped is not error:
            raise mapped from error
