"""The modules of tasks: which one a task names, and its arguments as the words of `model`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from checkrunner.load.nodes import Node, YamlList, YamlMap, YamlScalar, raw_text
from checkrunner.load.play_words import PREFIXES
from checkrunner.load.task_freeform import command_words, pairs
from checkrunner.load.task_values import Values, lone_expression
from checkrunner.load.task_words import MODULES, REFUSED_MODULES, TASK_KEYS, ModuleWords
from checkrunner.model.errors import nearest
from checkrunner.model.sources import SourceRef, Template
from checkrunner.model.tasks import COMMANDS, Module

__all__ = ["Call", "find_call", "read_args"]

_TASKS_ACTIONS = ("action", "local_action")
_MESSAGES = {"fail_msg", "msg", "success_msg"}
_FLAGS = {"stdin_add_newline", "strip_empty_ends", "expand_argument_vars", "quiet", "decrypt", "parallel"}


@dataclass(slots=True)
class Call:
    """The module of a task as written. `name` is its short name, `free` a text right behind it, `args` a mapping."""

    name: str
    words: ModuleWords
    source: SourceRef
    shown: str
    free: YamlScalar | None = None
    args: dict[str, Node] = field(default_factory=dict)
    places: dict[str, SourceRef] = field(default_factory=dict)
    local: bool = False


def _short(name: str) -> str:
    return next((name[len(prefix) :] for prefix in PREFIXES if name.startswith(prefix)), name)


def _is_key(key: str) -> bool:
    return key in TASK_KEYS or key.startswith("with_") or key == "listen"


def find_call(values: Values, node: YamlMap) -> Call:
    """The module that a task calls; raises where there is none, more than one, or one that is not supported."""
    named = [key for key in node if not _is_key(key)] + [key for key in _TASKS_ACTIONS if key in node]
    if not named:
        hint = f"Write one of: {', '.join(sorted(MODULES))}."
        raise values.fail(node, "this task has no module", hint)
    key = named[0]
    at = node.keys_at[key].ref
    if len(named) > 1:
        first, second = named[:2]
        _known(values, first, at, task=True)
        _known(values, second, node.keys_at[second].ref, task=True)
        raise values.fail(node.keys_at[second].ref, f"a task has one module, this has {first!r} and {second!r}")
    if key in _TASKS_ACTIONS:
        call = _action(values, node[key], at)
        call.local = key == "local_action"
    else:
        call = Call(_short(key), _known(values, key, at, task=True), at, key)
        _behind(values, call, node[key])
    if "args" in node:
        extra = node["args"]
        for name, value in values.mapping(extra, "args").items():
            call.args.setdefault(name, value)
            call.places.setdefault(name, extra.keys_at[name].ref)
    return call


def _known(values: Values, name: str, at: SourceRef, *, task: bool = False) -> ModuleWords:
    short = _short(name)
    if short in MODULES:
        return MODULES[short]
    listed = ", ".join(sorted(MODULES))
    if short in REFUSED_MODULES:
        raise values.fail(
            at, f"the module {name!r} is not supported: {REFUSED_MODULES[short]}", f"Supported: {listed}."
        )
    keys = [key for key, word in TASK_KEYS.items() if word.how != "no"] if task else []
    close = nearest(short, [*MODULES, *keys])
    what = f"the module {name!r} is not supported"
    raise values.fail(at, what, f"Did you mean {close!r}? Supported: {listed}." if close else f"Supported: {listed}.")


def _behind(values: Values, call: Call, node: Node) -> None:
    """What stands right behind a module's name: a mapping of arguments, a text, or nothing."""
    if isinstance(node, YamlMap):
        call.args |= node
        call.places |= {key: node.keys_at[key].ref for key in node}
    elif isinstance(node, YamlScalar):
        if node.value is not None or node.style:
            call.free = values.scalar(node, call.shown)
    else:
        raise values.fail(node, f"{call.shown} takes a text or a mapping of arguments, this is {raw_text(node)}")


def _action(values: Values, node: Node, at: SourceRef) -> Call:
    """``action: shell echo hi``, or a mapping with `module` in it."""
    if isinstance(node, YamlMap):
        if "module" not in node:
            raise values.fail(node, "an action is a text that begins with a module, or a mapping with `module`")
        name = values.plain(node["module"], "module")
        call = Call(_short(name), _known(values, name, node["module"].ref), at, name)
        given = {key: value for key, value in node.items() if key != "module"}
        call.args |= given
        call.places |= {key: node.keys_at[key].ref for key in given}
        return call
    text = values.scalar(node, "an action")
    name, _, rest = text.raw.strip().partition(" ")
    rest = rest.strip()
    call = Call(_short(name), _known(values, name, text.ref), at, name)
    if rest:
        ref = text.place(text.raw.index(rest))
        call.free = YamlScalar(text.path, rest, rest, text.style, ref.line, ref.column, text.lines)
    return call


def read_args(values: Values, call: Call) -> dict[str, Any]:
    """The arguments, checked: texts as Templates, conditions as lists of them, other values as `Values.value`."""
    module = call.words.module
    if module in COMMANDS:
        return _command(values, call)
    if call.free is not None and not call.words.free:
        found = pairs(call.free)
        if found is None:
            wanted = f"Write `{call.name}: {{{call.words.args[0] if call.words.args else 'name'}: ...}}`."
            raise values.fail(call.free, f"{call.shown} takes arguments, this is {raw_text(call.free)}", wanted)
        call.args = {**found, **call.args}
    if module is Module.SET_FACT:
        return _set_fact(values, call)
    _expect_args(values, call)
    if module is Module.ASSERT:
        return _assert(values, call)
    if module is Module.DEBUG:
        return _debug(values, call)
    if module is Module.FAIL:
        return {"msg": values.value(call.args["msg"])} if "msg" in call.args else {}
    return {}


def _expect_args(values: Values, call: Call) -> None:
    for name in call.args:
        if name in call.words.args:
            continue
        at = call.places.get(name, call.source)
        close = nearest(name, call.words.args)
        listed = ", ".join(call.words.args) or "none"
        hint = f"Did you mean {close!r}?" if close else f"Arguments: {listed}."
        raise values.fail(at, f"{call.shown} has no argument {name!r}", hint)


def _command(values: Values, call: Call) -> dict[str, Any]:
    args: dict[str, Any] = {}
    if call.free is not None:
        args["cmd"], options = command_words(call.free)
        args |= options
    _expect_args(values, call)
    if "cmd" in call.args and call.free is not None:
        raise values.fail(call.places["cmd"], "the command stands here twice")
    if "argv" in call.args and ("cmd" in args or "cmd" in call.args):
        raise values.fail(call.places["argv"], f"{call.shown} has `cmd` or `argv`, not both")
    for name, node in call.args.items():
        if name == "argv":
            if not isinstance(node, YamlList):
                raise values.fail(node, f"argv is a list of words, this is {raw_text(node)}")
            args["argv"] = tuple(values.text(item, "a word of argv") for item in node)
        elif name in _FLAGS:
            args[name] = values.flag(node, name)
        else:
            args[name] = values.text(node, name)
    for name in _FLAGS & args.keys():
        said = args[name]
        if isinstance(said, Template):
            args[name] = said.text.strip().lower() in {"yes", "true", "on", "1"}
    command: Template | None = args.get("cmd")
    if not args.get("argv") and (command is None or not command.text.strip()):
        raise values.fail(call.source, f"{call.shown} has no command")
    return args


def _set_fact(values: Values, call: Call) -> dict[str, Any]:
    facts = {}
    for name, node in call.args.items():
        if name == "cacheable":
            continue
        values.check_variable(name, call.places.get(name, call.source))
        facts[name] = values.value(node)
    if not facts:
        raise values.fail(call.source, "set_fact sets nothing", "Write `set_fact: {name: value}`.")
    return {"facts": facts}


def _assert(values: Values, call: Call) -> dict[str, Any]:
    if "that" not in call.args:
        raise values.fail(call.source, "assert needs `that`: one condition or a list of them")
    that = values.conditions(call.args["that"], "that")
    if not that:
        raise values.fail(call.args["that"], "`that` has no condition")
    args: dict[str, Any] = {"that": that}
    for name, node in call.args.items():
        if name in _MESSAGES:
            args["fail_msg" if name == "msg" else name] = values.value(node)
        elif name == "quiet":
            args["quiet"] = values.flag(node, "quiet")
    return args


def _debug(values: Values, call: Call) -> dict[str, Any]:
    if {"msg", "var"} <= call.args.keys():
        raise values.fail(call.places.get("var", call.source), "debug has `msg` or `var`, not both")
    args: dict[str, Any] = {}
    if "msg" in call.args:
        args["msg"] = values.value(call.args["msg"])
    if "var" in call.args:
        text = values.text(call.args["var"], "var")
        inner = lone_expression(text.text)
        args["var"] = Template(text=(inner if inner is not None else text.text).strip(), source=text.source)
    if "verbosity" in call.args:
        args["verbosity"] = int(values.number(call.args["verbosity"], "verbosity"))
    return args
