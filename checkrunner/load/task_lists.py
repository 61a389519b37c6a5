"""Lists of tasks, blocks and inclusions as the checks of a play, in the order in which they are run."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from checkrunner.load.fileset import FileSet
from checkrunner.load.nodes import Node, YamlMap, YamlScalar
from checkrunner.load.quantities import slug
from checkrunner.load.task_files import Round, TaskFiles
from checkrunner.load.task_handed import Handed, read_handed
from checkrunner.load.task_handlers import Handler, Handlers
from checkrunner.load.task_loops import read_loop
from checkrunner.load.task_modules import Call, find_call, read_args
from checkrunner.load.task_values import Values
from checkrunner.load.task_words import BLOCK_KEYS, TASK_KEYS
from checkrunner.model.errors import PlaybookError
from checkrunner.model.playbook import Check, Loop, Until
from checkrunner.model.sources import Template
from checkrunner.model.tasks import BlockPart, BlockPlace, Module, Task

__all__ = ["TaskReader"]

_DEEPEST = 20
_MOST_TASKS = 10_000
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
_NOT_FOR_FILES = ("register", "until", "retries", "failed_when", "changed_when", "async")


class TaskReader:
    """Reads the tasks of one play, from its own file and from those that it includes. What is wrong in a task leaves
    only that out, and goes to `errors`."""

    def __init__(self, files: FileSet) -> None:
        self.errors: list[PlaybookError] = []
        self._values = Values(files)
        self._files = TaskFiles(files)
        self._handlers = Handlers()
        self._ids: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._count = 0
        self._open: list[str] = []
        self._play = Handed()

    def handlers(self, node: Node) -> None:
        """Note the play's handlers. They become checks where tasks notify them."""
        try:
            self._handlers.read(self._values, node)
        except PlaybookError as error:
            self.errors.append(error)

    def section(self, node: Node, handed: Handed, what: str) -> list[Check]:
        """The checks of one of the play's lists, with the handlers that its tasks notify behind them."""
        self._play = handed
        checks = self._list(node, handed, what)
        return [*checks, *self._flush()]

    def name(self, wanted: str) -> str:
        """An id of the play that nothing else has."""
        found, number = wanted, self._numbers.get(wanted, 1)
        while found in self._ids:
            number += 1
            found = f"{wanted}-{number}"
        self._ids.add(found)
        self._numbers[wanted] = number
        return found

    # ---- lists

    def _list(self, node: Node, handed: Handed, what: str) -> list[Check]:
        checks: list[Check] = []
        try:
            items = self._values.each(node, what)
        except PlaybookError as error:
            self.errors.append(error)
            return checks
        for item in items:
            self._count += 1
            if self._count > _MOST_TASKS:
                self._too_many(item)
                break
            try:
                checks += self._item(item, handed)
            except PlaybookError as error:
                self.errors.append(error)
        return checks

    def _too_many(self, node: YamlMap) -> None:
        if self._count == _MOST_TASKS + 1:  # said once, and the others are not read: inclusions can multiply
            message = f"a play has more than {_MOST_TASKS:,} tasks, blocks and inclusions"
            self.errors.append(self._values.fail(node, message, "Use `loop`, or fewer inclusions."))

    def _item(self, node: YamlMap, handed: Handed) -> list[Check]:
        if not {"block", "rescue", "always"}.isdisjoint(node):
            return self._block(node, handed)
        call = self._call(node, "task")
        if call.words.module is Module.INCLUDE_TASKS:
            return self._inclusion(node, call, handed)
        if call.words.module is Module.META:
            return self._meta(node, call, handed)
        return [self._task(node, call, read_handed(self._values, node, handed))]

    def _call(self, node: YamlMap, what: str, also: tuple[str, ...] = ()) -> Call:
        call = find_call(self._values, node)
        # What is no key is the module, or a loop: whoever reads these knows which there are.
        other = [key for key in node if key not in TASK_KEYS]
        self._values.expect_keys(node, TASK_KEYS, what, also=(*also, *other))
        return call

    def _block(self, node: YamlMap, handed: Handed) -> list[Check]:
        values = self._values
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
                checks += self._list(node[part], replace(inner, blocks=(*inner.blocks, place)), f"`{part}`")
        return checks

    # ---- tasks

    def _task(self, node: YamlMap, call: Call, handed: Handed) -> Check:
        values = self._values
        args = read_args(values, call)
        if call.words.module is Module.SCRIPT:
            args |= self._files.script(args["cmd"], handed)
        if call.local:
            handed = replace(handed, delegate_to=Template(text="localhost", source=call.source))
        failed = values.conditions(node["failed_when"], "failed_when") if "failed_when" in node else ()
        changed = values.conditions(node["changed_when"], "changed_when") if "changed_when" in node else ()
        task = Task(
            module=call.words.module,
            args=MappingProxyType(args),
            blocks=handed.blocks,
            failed_when=failed or None,
            changed_when=changed or None,
            ignore_errors=handed.ignore_errors,
            no_log=handed.no_log,
            environment=handed.environment,
            includes=handed.includes,
            source=node.ref,
        )
        check = replace(
            self._check(self._shown(node, call.shown, handed), task, handed, node),
            run=args.get("cmd"),
            argv=args.get("argv", ()),
            register=values.variable(node["register"], "register") if "register" in node else None,
            loop=read_loop(values, node),
            until=self._until(node, handed),
            timeout_s=self._timeout(node, handed),
        )
        self._handlers.notify(check.id, handed.notify, node.keys_at.get("notify", node).ref)
        return check

    def _shown(self, node: YamlMap, otherwise: str, handed: Handed) -> str:
        """The name, as far as it can be known before the run."""
        return self._files.shown(self._values.plain(node["name"], "name"), handed) if "name" in node else otherwise

    def _check(self, name: str, task: Task, handed: Handed, node: YamlMap) -> Check:
        return Check(
            id=self.name(slug(name) or str(task.module).replace("_", "-")),
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

    def _until(self, node: YamlMap, handed: Handed) -> Until | None:
        if "until" not in node and "retries" not in node:
            return None
        conditions = self._values.conditions(node["until"], "until") if "until" in node else ()
        retries = self._number(node, "retries", handed, 3)
        delay = self._number(node, "delay", handed, 5)
        source = node.keys_at["until" if "until" in node else "retries"].ref
        return Until(conditions=conditions, retries=int(retries), delay_s=delay, source=source)

    def _timeout(self, node: YamlMap, handed: Handed) -> float | None:
        if "poll" in node and self._number(node, "poll", handed, 10) == 0:
            hint = "Leave `async` and `poll` out: the command is waited for, and hosts run side by side."
            message = "`poll: 0` leaves a command running that nobody looks at again"
            raise self._values.fail(node["poll"], message, hint)
        if "async" in node:
            return self._number(node, "async", handed, 0) or handed.timeout_s
        return handed.timeout_s

    def _number(self, node: YamlMap, key: str, handed: Handed, default: float) -> float:
        if key not in node:
            return default
        written = node[key]
        if isinstance(written, YamlScalar) and "{{" in written.raw:
            text = self._files.literal(written, handed, key)
            written = YamlScalar(written.path, text, text, '"', written.line, written.column, 1)
        return self._values.number(written, key)

    # ---- files of tasks

    def _inclusion(self, node: YamlMap, call: Call, handed: Handed) -> list[Check]:
        values = self._values
        for key in _NOT_FOR_FILES:
            if key in node:
                raise values.fail(node.keys_at[key], f"{key!r} does not go with {call.shown}")
        file = call.args.get("file", call.free)
        if file is None:
            raise values.fail(call.source, f"{call.shown} names no file")
        named = values.scalar(file, "the file")
        inner = read_handed(values, node, handed)
        loop = read_loop(values, node)
        if call.name == "include_tasks":
            apply = values.mapping(call.args["apply"], "apply") if "apply" in call.args else None
            checks: list[Check] = []
            for turn in self._files.rounds(loop, inner):
                if self._count > _MOST_TASKS:
                    break
                checks += self._included(node, named, handed, _of_round(inner, loop, turn), (loop, turn, apply))
            return checks
        if loop is not None:
            raise values.fail(loop.source, "import_tasks does not go with a loop", "`include_tasks` does.")
        return self._file(named, inner)

    def _included(
        self,
        node: YamlMap,
        named: YamlScalar,
        outer: Handed,
        inner: Handed,
        how: tuple[Loop | None, Round, YamlMap | None],
    ) -> list[Check]:
        """The task that includes, and the tasks that it includes."""
        loop, turn, apply = how
        label = f"{named.raw} ({turn})" if loop is not None else named.raw
        task = Task(
            module=Module.INCLUDE_TASKS,
            args=MappingProxyType({"file": Template(text=named.raw, source=named.ref, raw=True)}),
            blocks=inner.blocks,
            includes=inner.includes,
            ignore_errors=inner.ignore_errors,
            source=node.ref,
        )
        check = self._check(self._shown(node, f"include_tasks: {label}", inner), task, inner, node)
        # Of what an inclusion says, only its variables go to the tasks in it, and what `apply` says.
        below = replace(outer, vars=inner.vars, literal=inner.literal, includes=(*outer.includes, check.id))
        if apply is not None:
            below = read_handed(self._values, apply, below)
        return [check, *self._file(named, below)]

    def _file(self, named: YamlScalar, handed: Handed) -> list[Check]:
        document = self._files.document(named, handed)
        if document.path in self._open or len(self._open) >= _DEEPEST:
            around = " > ".join([*self._open, document.path])
            message = f"{document.path} includes itself: {around}"
            raise self._values.fail(named, message, "Files of tasks are read before the run.")
        if document.root is None:
            return []
        self._open.append(document.path)
        try:
            return self._list(document.root, handed, "a file of tasks")
        finally:
            self._open.pop()

    # ---- meta and handlers

    def _meta(self, node: YamlMap, call: Call, handed: Handed) -> list[Check]:
        action = call.free.raw.strip() if call.free is not None else ""
        if action not in _META:
            message = f"meta: {action!r} is not supported"
            raise self._values.fail(call.free or call.source, message, f"Supported: {', '.join(_META)}.")
        if action == "flush_handlers":
            return self._flush()
        inner = read_handed(self._values, node, handed)
        # What does nothing still rescues: a rescue of it alone is not an empty one.
        rescues = bool(inner.blocks) and inner.blocks[-1].part is BlockPart.RESCUE
        if not _META[action] and not rescues:
            return []
        task = Task(
            module=Module.META,
            args=MappingProxyType({"action": _META[action] or action}),
            blocks=inner.blocks,
            includes=inner.includes,
            source=node.ref,
        )
        return [self._check(self._shown(node, f"meta: {action}", inner), task, inner, node)]

    def _flush(self) -> list[Check]:
        """The handlers that tasks have notified since the last time, each to run where one of those has changed."""
        checks: list[Check] = []
        for handler, tasks in self._handlers.due():
            try:
                checks.append(self._handler(handler, tasks))
            except PlaybookError as error:
                self.errors.append(error)
        self.errors += self._handlers.begin_anew(self._values)
        return checks

    def _handler(self, handler: Handler, tasks: tuple[str, ...]) -> Check:
        call = self._call(handler.node, "handler", also=("listen",))
        check = self._task(handler.node, call, read_handed(self._values, handler.node, replace(self._play, notify=())))
        assert check.task is not None
        return replace(check, task=replace(check.task, notified_by=tasks))


def _of_round(handed: Handed, loop: Loop | None, turn: Round) -> Handed:
    """With the variables of a round of a loop."""
    if loop is None:
        return handed
    given = {loop.variable: turn.value}
    if loop.index_variable:
        given[loop.index_variable] = turn.number
    return replace(
        handed,
        vars=MappingProxyType({**handed.vars, **given}),
        literal=MappingProxyType({**handed.literal, **given}),
    )
