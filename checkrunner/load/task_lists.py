"""Lists of tasks, blocks and inclusions as the checks of a play, in the order in which they are run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from checkrunner.load.documents import Document, parse
from checkrunner.load.files import read_file
from checkrunner.load.nodes import Node, YamlMap, YamlScalar
from checkrunner.load.quantities import slug
from checkrunner.load.secrets import SecretReader
from checkrunner.load.task_loops import WITH, read_loop
from checkrunner.load.task_modules import Call, find_call, read_args
from checkrunner.load.task_values import Values, lone_expression
from checkrunner.load.task_words import BLOCK_KEYS, TASK_KEYS
from checkrunner.model.errors import LoadError, PlaybookError
from checkrunner.model.inventory import empty
from checkrunner.model.playbook import Become, Check, Loop, Until
from checkrunner.model.sources import Secret, SourceRef, Template
from checkrunner.model.tasks import BlockPart, BlockPlace, Module, Task

__all__ = ["Handed", "TaskReader", "read_handed"]

_METHODS = ("sudo", "su", "doas")
_DEEPEST = 20
_NAME = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_META = {
    "noop": "",
    "flush_handlers": "",
    "clear_host_errors": "",
    "clear_facts": "",
    "reset_connection": "",
    "end_host": "end_host",
    "end_play": "end_play",
    "end_batch": "end_play",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """What a play, a block or an inclusion hands down to the tasks in it."""

    when: tuple[Template, ...] = ()
    vars: Mapping[str, Any] = field(default_factory=empty)
    tags: tuple[str, ...] = ()
    become: Become = Become()
    env: Mapping[str, Template | Secret] = field(default_factory=empty)
    environment: tuple[Template, ...] = ()
    ignore_errors: bool | Template = False
    ignore_unreachable: bool = False
    no_log: bool = False
    run_once: bool = False
    delegate_to: Template | None = None
    timeout_s: float | None = None
    notify: tuple[str, ...] = ()
    blocks: tuple[BlockPlace, ...] = ()
    includes: tuple[str, ...] = ()
    literal: Mapping[str, Any] = field(default_factory=empty)


def read_handed(values: Values, node: YamlMap, outer: Handed) -> Handed:
    """The keys that blocks, inclusions and tasks share, over those of what is around."""
    found = replace(outer, become=_become(values, node, outer.become))
    if "when" in node:
        found = replace(found, when=(*outer.when, *values.conditions(node["when"], "when")))
    if "vars" in node:
        own = values.variables(node["vars"])
        found = replace(
            found,
            vars=MappingProxyType({**outer.vars, **own}),
            literal=MappingProxyType({**outer.literal, **own}),
        )
    if "tags" in node:
        found = replace(found, tags=tuple(dict.fromkeys((*outer.tags, *values.words(node["tags"], "tags")))))
    if "environment" in node:
        found = _environment(values, node["environment"], found)
    if "ignore_errors" in node:
        found = replace(found, ignore_errors=_flag_or_template(values, node["ignore_errors"], "ignore_errors"))
    if "delegate_to" in node:
        found = replace(found, delegate_to=values.text(node["delegate_to"], "delegate_to"))
    if "timeout" in node:
        found = replace(found, timeout_s=values.number(node["timeout"], "timeout") or None)
    if "notify" in node:
        found = replace(found, notify=(*outer.notify, *values.names(node["notify"], "notify")))
    for key in ("ignore_unreachable", "no_log", "run_once"):
        if key in node:
            found = replace(found, **{key: values.flag(node[key], key)})
    return found


def _flag_or_template(values: Values, node: Node, what: str) -> bool | Template:
    if isinstance(node, YamlScalar) and (inner := lone_expression(node.raw)) is not None:
        return Template(text=inner.strip(), source=node.ref)
    return values.flag(node, what)


def _become(values: Values, node: YamlMap, outer: Become) -> Become:
    found = outer
    if "become" in node:
        found = replace(found, become=values.flag(node["become"], "become"))
    if "become_user" in node:
        found = replace(found, user=values.plain(node["become_user"], "become_user"))
    if "become_method" in node:
        method = values.plain(node["become_method"], "become_method").removeprefix("ansible.builtin.")
        if method not in _METHODS:
            raise values.fail(node["become_method"], f"become_method is sudo, su or doas, this is {method!r}")
        found = replace(found, method=method)
    return found


def _environment(values: Values, node: Node, outer: Handed) -> Handed:
    if isinstance(node, YamlScalar):
        if node.value is None:
            return outer
        inner = lone_expression(node.raw)
        if inner is None:
            raise values.fail(node, "environment is a mapping, or a template of one")
        expression = Template(text=inner.strip(), source=node.ref)
        return replace(outer, environment=(*outer.environment, expression))
    if isinstance(node, YamlMap):
        env = {}
        for key, value in node.items():
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key):
                raise values.fail(node.keys_at[key], f"{key!r} is not the name of an environment variable")
            secret = isinstance(value, YamlScalar) and isinstance(value.value, Secret)
            env[key] = value.value if secret else values.text(value, key)
        return replace(outer, env=MappingProxyType({**outer.env, **env}))
    for item in node:
        outer = _environment(values, item, outer)
    return outer


@dataclass(slots=True)
class _Notifying:
    """Tasks since handlers were last run that notify some: the names, and the ids of the tasks that say them."""

    by_name: dict[str, list[str]] = field(default_factory=dict)
    places: dict[str, SourceRef] = field(default_factory=dict)


class TaskReader:
    """Reads the tasks of one play, from its own file and from those that it includes.

    What is wrong in a task leaves only that out, and goes to `errors`. `included` are the documents of other files by
    their path, shared by all plays.
    """

    def __init__(self, folder: str, secrets: SecretReader | None, included: dict[str, Document]) -> None:
        self.errors: list[LoadError] = []
        self._folder = folder
        self._secrets = secrets
        self._included = included
        self._ids: dict[str, int] = {}
        self._notifying = _Notifying()
        self._handlers: list[tuple[YamlMap, Document, tuple[str, ...]]] = []
        self._open: list[str] = []
        self._handled: Handed = Handed()

    # ---- lists

    def section(self, node: Node, document: Document, handed: Handed, what: str) -> list[Check]:
        """The checks of one of the play's lists, with the handlers that its tasks notify behind them."""
        self._handled = handed
        checks = self._list(node, document, handed, what)
        return [*checks, *self._flush()]

    def _list(self, node: Node, document: Document, handed: Handed, what: str) -> list[Check]:
        checks: list[Check] = []
        values = Values(document)
        try:
            items = values.each(node, what, lambda item: item)
        except LoadError as error:
            self.errors.append(error)
            return checks
        for item in items:
            try:
                checks += self._item(item, values, handed)
            except LoadError as error:
                self.errors.append(error)
        return checks

    def _item(self, node: YamlMap, values: Values, handed: Handed) -> list[Check]:
        if {"block", "rescue", "always"} & node.keys():
            return self._block(node, values, handed)
        call = find_call(values, node)
        values.expect_keys(
            node,
            TASK_KEYS,
            "task",
            also=(*(key for key in node if not _known(key)), *(f"with_{name}" for name in WITH)),
        )
        if call.words.module is Module.INCLUDE_TASKS:
            return self._inclusion(node, call, values, handed)
        if call.words.module is Module.META:
            return self._meta(node, call, values, handed)
        return [self._task(node, call, values, read_handed(values, node, handed))]

    def _block(self, node: YamlMap, values: Values, handed: Handed) -> list[Check]:
        values.expect_keys(node, BLOCK_KEYS, "block")
        if "block" not in node:
            key = next(key for key in ("rescue", "always") if key in node)
            raise values.fail(node.keys_at[key], f"{key!r} goes with a `block`, and there is none")
        name = values.plain(node["name"], "name") if "name" in node else ""
        label = self.name(slug(name) or "block")
        inner = read_handed(values, node, handed)
        checks: list[Check] = []
        for part in BlockPart:
            if part in node:
                place = BlockPlace(block=label, part=part)
                checks += self._list(
                    node[part], values.document, replace(inner, blocks=(*inner.blocks, place)), f"`{part}`"
                )
        return checks

    # ---- tasks

    def name(self, wanted: str) -> str:
        """An id of the play that nothing else has."""
        number = self._ids[wanted] = self._ids.get(wanted, 0) + 1
        if number == 1:
            return wanted
        found = f"{wanted}-{number}"
        return self.name(found) if found in self._ids else self._remember(found)

    def _remember(self, name: str) -> str:
        self._ids[name] = 1
        return name

    def _task(self, node: YamlMap, call: Call, values: Values, handed: Handed) -> Check:
        args = read_args(values, call)
        module = call.words.module
        if module is Module.SCRIPT:
            args |= self._script(args["cmd"], values, handed)
        name = values.plain(node["name"], "name") if "name" in node else call.shown
        if call.local:
            handed = replace(handed, delegate_to=Template(text="localhost", source=call.source))
        failed = values.conditions(node["failed_when"], "failed_when") if "failed_when" in node else ()
        changed = values.conditions(node["changed_when"], "changed_when") if "changed_when" in node else ()
        task = Task(
            module=module,
            args=MappingProxyType(args),
            blocks=handed.blocks,
            failed_when=failed or None,
            changed_when=changed or None,
            ignore_errors=handed.ignore_errors,
            ignore_unreachable=handed.ignore_unreachable,
            no_log=handed.no_log,
            environment=handed.environment,
            includes=handed.includes,
            source=node.ref,
        )
        loop = read_loop(values, node)
        check = self._check(name, task, handed, node)
        check = replace(
            check,
            run=args.get("cmd"),
            argv=args.get("argv", ()),
            register=values.variable(node["register"], "register") if "register" in node else None,
            loop=loop,
            until=self._until(node, values, handed),
            timeout_s=self._timeout(node, values, handed),
        )
        for notified in handed.notify:
            self._notifying.by_name.setdefault(notified, []).append(check.id)
            self._notifying.places.setdefault(notified, node.keys_at.get("notify", node).ref)
        return check

    def _check(self, name: str, task: Task, handed: Handed, node: YamlMap) -> Check:
        return Check(
            id=self.name(slug(name) or str(task.module)),
            name=name,
            when=handed.when,
            vars=handed.vars,
            tags=handed.tags,
            env=handed.env,
            become=handed.become,
            run_once=handed.run_once,
            delegate_to=handed.delegate_to,
            task=task,
            source=node.ref,
        )

    def _until(self, node: YamlMap, values: Values, handed: Handed) -> Until | None:
        if "until" not in node and "retries" not in node:
            return None
        conditions = values.conditions(node["until"], "until") if "until" in node else ()
        retries = self._number(node, "retries", values, handed, 3)
        delay = self._number(node, "delay", values, handed, 5)
        source = node.keys_at["until" if "until" in node else "retries"].ref
        return Until(conditions=conditions, retries=int(retries), delay_s=delay, source=source)

    def _timeout(self, node: YamlMap, values: Values, handed: Handed) -> float | None:
        if "poll" in node and self._number(node, "poll", values, handed, 10) == 0:
            hint = "Leave `async` and `poll` out: the command is waited for, and hosts run side by side."
            raise values.fail(node["poll"], "`poll: 0` leaves a command running that nobody looks at again", hint)
        if "async" in node:
            return self._number(node, "async", values, handed, 0) or handed.timeout_s
        return handed.timeout_s

    def _number(self, node: YamlMap, key: str, values: Values, handed: Handed, default: float) -> float:
        if key not in node:
            return default
        written = node[key]
        if isinstance(written, YamlScalar) and "{{" in written.raw:
            text = self._literal(written, values, handed, key)
            written = YamlScalar(written.path, text, text, '"', written.line, written.column, 1)
        return values.number(written, key)

    # ---- what must be known before the run

    def _literal(self, node: YamlScalar, values: Values, handed: Handed, what: str) -> str:
        """The text, its ``{{ name }}`` filled in from what the playbook itself says."""

        def known(match: re.Match[str]) -> str:
            value = handed.literal.get(match[1])
            if not isinstance(value, (str, int, float)) or isinstance(value, bool):
                hint = "Names of `vars` and `vars_files` that are no templates themselves can stand here."
                raise values.fail(node, f"{what}: {match[1]!r} is not known before the run", hint)
            return str(value)

        text = _NAME.sub(known, node.raw)
        if "{{" in text or "{%" in text:
            hint = "It is read before the run: write it out, or one `{{ name }}` of `vars`."
            raise values.fail(node, f"{what} holds a template that only the run could fill in", hint)
        return text

    def _script(self, command: Template, values: Values, handed: Handed) -> dict[str, Any]:
        """The text of a local script, and the words behind its name."""
        name = _first_word(command.text)
        node = YamlScalar(values.document.path, name, name, '"', command.source.line, command.source.column, 1)
        path = self._find(self._literal(node, values, handed, "the script's name"), ("files", ""), values, node)
        text = read_file(path, PlaybookError)
        if "\x00" in text:
            raise values.fail(node, f"{path} is a program, not a script: its text would have to be written on the host")
        return {"text": text, "rest": replace(command, text=command.text[len(name) :].strip()), "file": path}

    def _find(self, name: str, below: tuple[str, ...], values: Values, node: Node) -> str:
        name = name.strip("'\"")
        here = os.path.dirname(values.document.path) or "."
        places = [os.path.join(root, sub, name) for root in dict.fromkeys((here, self._folder)) for sub in below]
        for place in places:
            if os.path.isfile(place):
                return os.path.normpath(place)
        raise values.fail(node, f"there is no file {name!r}", f"Looked for {', '.join(map(os.path.normpath, places))}.")

    # ---- inclusions

    def _inclusion(self, node: YamlMap, call: Call, values: Values, handed: Handed) -> list[Check]:
        dynamic = call.name == "include_tasks"
        for key in ("register", "until", "retries", "failed_when", "changed_when", "async"):
            if key in node:
                raise values.fail(node.keys_at[key], f"{key!r} does not go with {call.shown}")
        file = call.args.get("file", call.free)
        if file is None:
            raise values.fail(call.source, f"{call.shown} names no file")
        scalar = values.scalar(file, "the file")
        inner = read_handed(values, node, handed)
        loop = read_loop(values, node)
        if not dynamic:
            if loop is not None:
                hint = "`include_tasks` goes with a loop."
                raise values.fail(loop.source, "import_tasks does not go with a loop", hint)
            return self._file(scalar, values, inner)
        apply = values.mapping(call.args["apply"], "apply") if "apply" in call.args else None
        checks: list[Check] = []
        for item in self._rounds(loop, values, inner):
            label = f"{scalar.raw} ({item})" if loop is not None else scalar.raw
            name = values.plain(node["name"], "name") if "name" in node else f"{call.shown}: {label}"
            given = {} if loop is None else {loop.variable: item.value}
            if loop is not None and loop.index_variable:
                given[loop.index_variable] = item.number
            around = replace(
                inner,
                vars=MappingProxyType({**inner.vars, **given}),
                literal=MappingProxyType({**inner.literal, **given}),
            )
            args = MappingProxyType({"file": Template(text=scalar.raw, source=scalar.ref, raw=True)})
            task = Task(
                module=Module.INCLUDE_TASKS,
                args=args,
                blocks=inner.blocks,
                includes=inner.includes,
                ignore_errors=inner.ignore_errors,
                source=node.ref,
            )
            check = self._check(name, task, around, node)
            # Of what an inclusion says, only its variables go to the tasks in it, and what `apply` says.
            below = replace(handed, vars=around.vars, literal=around.literal, includes=(*handed.includes, check.id))
            if apply is not None:
                below = read_handed(values, apply, below)
            checks += [check, *self._file(scalar, values, below)]
        return checks

    def _rounds(self, loop: Loop | None, values: Values, handed: Handed) -> Iterator[_Round]:
        """One for each item of a loop, which has to be known before the run; one in all without a loop."""
        if loop is None:
            yield _Round()
            return
        items = loop.items
        if isinstance(items, Template):
            name = items.text.strip()
            items = handed.literal.get(name)
            if not isinstance(items, list):
                hint = "Write the list here, or name a list of `vars` or `vars_files`."
                raise values.fail(loop.source, "the items of a loop over files must be known before the run", hint)
        for number, item in enumerate(items):
            yield _Round(value=item, number=number)

    def _file(self, scalar: YamlScalar, values: Values, handed: Handed) -> list[Check]:
        path = self._find(self._literal(scalar, values, handed, "the file"), ("", "tasks"), values, scalar)
        if path in self._open or len(self._open) >= _DEEPEST:
            around = " > ".join([*self._open, path])
            raise values.fail(scalar, f"{path} includes itself: {around}", "It is read before the run.")
        document = self._included.get(path)
        if document is None:
            document = self._included[path] = parse(read_file(path, PlaybookError), path, PlaybookError, self._secrets)
        if document.root is None:
            return []
        self._open.append(path)
        try:
            return self._list(document.root, document, handed, "a file of tasks")
        finally:
            self._open.pop()

    # ---- meta and handlers

    def _meta(self, node: YamlMap, call: Call, values: Values, handed: Handed) -> list[Check]:
        action = call.free.raw.strip() if call.free is not None else ""
        if action not in _META:
            listed = ", ".join(_META)
            raise values.fail(call.free or call.source, f"meta: {action!r} is not supported", f"Supported: {listed}.")
        if action == "flush_handlers":
            return self._flush()
        if not _META[action]:
            return []
        inner = read_handed(values, node, handed)
        task = Task(
            module=Module.META,
            args=MappingProxyType({"action": _META[action]}),
            blocks=inner.blocks,
            includes=inner.includes,
            source=node.ref,
        )
        name = values.plain(node["name"], "name") if "name" in node else f"meta: {action}"
        return [self._check(name, task, inner, node)]

    def handlers(self, node: Node, document: Document) -> None:
        """Note the play's handlers. They become checks where tasks notify them."""
        values = Values(document)
        try:
            items = values.each(node, "`handlers`", lambda item: item)
            for item in items:
                names = values.names(item["listen"], "listen") if "listen" in item else ()
                if "name" in item:
                    names = (values.plain(item["name"], "name"), *names)
                if {"block", "include_tasks", "import_tasks"} & item.keys():
                    raise values.fail(item, "a handler is a single task here", "List the tasks of it one by one.")
                self._handlers.append((item, document, names))
        except LoadError as error:
            self.errors.append(error)

    def _flush(self) -> list[Check]:
        """The handlers that tasks have notified since the last time, each to run where one of those has changed."""
        notifying, self._notifying = self._notifying, _Notifying()
        checks: list[Check] = []
        known = {name for _, _, names in self._handlers for name in names}
        for node, document, names in self._handlers:
            by = [task for name in names for task in notifying.by_name.get(name, ())]
            if not by:
                continue
            values = Values(document)
            try:
                call = find_call(values, node)
                values.expect_keys(node, TASK_KEYS, "handler", also=("listen", *(k for k in node if not _known(k))))
                check = self._task(node, call, values, read_handed(values, node, replace(self._handled, notify=())))
            except LoadError as error:
                self.errors.append(error)
                continue
            assert check.task is not None
            checks.append(replace(check, task=replace(check.task, notified_by=tuple(dict.fromkeys(by)))))
            for name, ids in self._notifying.by_name.items():
                notifying.by_name.setdefault(name, []).extend(ids)
            self._notifying = _Notifying()
        for name, place in notifying.places.items():
            if name not in known:
                message = f"no handler is called {name!r}, or listens to that"
                self.errors.append(PlaybookError(message, source=place))
        return checks


@dataclass(frozen=True, slots=True)
class _Round:
    value: Any = None
    number: int = 0

    def __str__(self) -> str:
        text = " ".join(str(self.value).split())
        return text if len(text) <= 40 else f"{text[:37]}..."


def _known(key: str) -> bool:
    return key in TASK_KEYS or key.startswith("with_")


def _first_word(text: str) -> str:
    """The first word as written, with its quotes."""
    match = re.match(r"\s*('[^']*'|\"[^\"]*\"|(?:\{\{.*?\}\}|\S)+)", text)
    return match[1] if match else text
