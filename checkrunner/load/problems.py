"""What pydantic found wrong with a playbook, said in the playbook's own terms: place, line, nearest valid word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from checkrunner.load.documents import Document
from checkrunner.load.nodes import Node, YamlList, YamlMap, YamlScalar, raw_text
from checkrunner.model.errors import PlaybookError, nearest
from checkrunner.model.sources import SourceRef

if TYPE_CHECKING:
    from pydantic import ValidationError

__all__ = ["PlaybookFileError", "raise_all", "translate"]

_SHOWN = 10

_HINTS = {
    "tasks": "checkrunner has `checks:` where Ansible has `tasks:`.",
    "pre_tasks": "checkrunner has `checks:` where Ansible has `tasks:`.",
    "post_tasks": "checkrunner has `checks:` where Ansible has `tasks:`.",
    "roles": "There are no roles; list the checks in `checks:`.",
    "handlers": "Checks change nothing, so there is nothing to handle.",
    "gather_facts": "Nothing is gathered; drop the line.",
    "shell": "Write the command as `run: ...`.",
    "command": "Write the command as `run: ...` or `argv: [...]`.",
    "ansible.builtin.shell": "Write the command as `run: ...`.",
    "ansible.builtin.command": "Write the command as `run: ...` or `argv: [...]`.",
    "cmd": "Write the command as `run: ...`.",
    "script": "Write the command as `run: ...`.",
    "args": "Directory and environment are the keys `cwd` and `env`.",
    "chdir": "The directory is the key `cwd`.",
    "environment": "The environment is the key `env`.",
    "failed_when": "Write `crit_if: ...`.",
    "changed_when": "Checks change nothing; drop the line.",
    "ignore_errors": "Write `severity: info` to note without judging.",
    "assert": "What is expected goes into `expect:`.",
    "until": "There are no retries; loop in the shell.",
    "retries": "There are no retries; loop in the shell.",
    "responses": "Answers to questions are `prompts: [{match: ..., answer: ...}]`.",
    "response": "The line to type is `answer`.",
    "interval": "From one start to the next is `every`.",
    "times": "How many readings is `count`.",
    "remote_user": "The user is the inventory variable `ansible_user`.",
    "connection": "The connection is the inventory variable `ansible_connection`.",
    "vars_files": "Pass files with `-e @FILE`, or use group_vars/ beside the inventory.",
    "delegate_to": "Write a play for that host.",
    "async": "Write `timeout:`, and `session:` to run side by side.",
    "become_password": "Give it by -K, CHECKRUNNER_BECOME_PASSWORD or `ansible_become_password`.",
    "import_playbook": "One playbook cannot include another; give checkrunner the file itself.",
    "include": "One playbook cannot include another; give checkrunner the file itself.",
    "description": "Did you mean 'why' or 'name'?",
}
_NOT_HERE = {
    "any_errors_fatal": "every check runs, whatever the others find",
    "block": "list its checks one by one, and give each the `when`, `tags` and `become` of the block",
    "check_mode": "checks change nothing; drop the line",
    "collections": "a check is a shell command; drop the line",
    "debug": "print with `run: echo ...` and show it with `slice: {head: 5, when: always}`",
    "delay": "sleep within the command",
    "diff": "checks change nothing; drop the line",
    "fail": "what is wrong is said by `expect`, `warn_if` and `crit_if`",
    "force_handlers": "checks change nothing; drop the line",
    "ignore_unreachable": "a host that cannot be reached is reported, and the others go on; drop the line",
    "import_role": "list the checks in `checks:`",
    "import_tasks": "list the checks in `checks:`",
    "include_role": "list the checks in `checks:`",
    "include_tasks": "list the checks in `checks:`",
    "include_vars": "pass files with `-e @FILE`, or use group_vars/ beside the inventory",
    "local_action": "write a play with `hosts: localhost`",
    "loop_control": "write one check each, or loop in the shell",
    "max_fail_percentage": "every host is looked at; drop the line",
    "loop": "write one check each, or loop in the shell",
    "module_defaults": "a check is a shell command; drop the line",
    "no_log": "output stays on the host and secrets are masked; drop the line",
    "notify": "checks change nothing, so there is nobody to notify; drop the line",
    "order": "hosts run side by side; drop the line",
    "poll": "write `timeout:`, and `session:` to run side by side",
    "rescue": "each check is judged by itself; run one after another's trouble with `register` and `when: NAME.failed`",
    "run_once": "write a play for one host: `hosts: web[0]`",
    "serial": "use `--forks` for how many hosts run at a time",
    "service": "write `run: systemctl is-active NAME`",
    "set_fact": "put variables into the `vars` of the play",
    "stat": "write `run: test -e PATH`",
    "strategy": "hosts run side by side; drop the line",
    "throttle": "use `--forks` for how many hosts run at a time",
    "uri": "write `run: curl -sf URL`",
    "vars": "put the variables into the `vars` of the play",
    "vars_prompt": "pass values with `-e name=value`",
    "wait_for": "loop in the shell, with a `timeout:`",
    "always": "list its checks like any other",
}
"""Keys of Ansible that have no counterpart of their own, each with what to do instead."""


class PlaybookFileError(PlaybookError):
    """Several errors of one file. As an error it is the first one; its text shows up to ten."""

    def __init__(self, errors: Sequence[PlaybookError]) -> None:
        first = errors[0]
        super().__init__(first.message, source=first.source, line_text=first.line_text, hint=first.hint)
        self._errors = tuple(errors)

    @property
    def errors(self) -> tuple[PlaybookError, ...]:
        """All of them, in the order in which they were given."""
        return self._errors

    def __str__(self) -> str:
        shown = [str(error) for error in self._errors[:_SHOWN]]
        more = len(self._errors) - len(shown)
        return "\n".join([*shown, f"... and {more} more errors in this file"] if more else shown)


def raise_all(errors: Sequence[PlaybookError]) -> None:
    """Raise what there is: nothing, the one error, or all of them as one, in the order of the file."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise PlaybookFileError(sorted(errors, key=lambda error: (error.source.line, error.source.column)))


def translate(exc: ValidationError, node: YamlMap, document: Document) -> list[PlaybookError]:
    """The errors of one play. `node` is the play."""
    return list(_translated(exc.errors(include_url=False, include_input=False), node, document))


def _translated(errors: Sequence[Any], play: YamlMap, document: Document) -> Iterator[PlaybookError]:
    seen = set()
    for error in errors:
        at, message, hint = _one(error, play)
        if (at, message) not in seen and message:
            seen.add((at, message))
            failure = document.fail(at, message, hint)
            assert isinstance(failure, PlaybookError)
            yield failure


def _one(error: Any, play: YamlMap) -> tuple[SourceRef, str, str]:
    loc: tuple[int | str, ...] = error["loc"]
    context = error.get("ctx", {})
    if loc and loc[-1] == "[key]":  # of a mapping with free keys
        return _key_of(play, loc[:-2], str(loc[-2])), context.get("message", error["msg"]), context.get("hint", "")
    node = _walk(play, loc)
    if error["type"] == "extra_forbidden":
        return _unknown(play, loc)
    if error["type"] == "missing":
        if {"tasks", "roles", "import_playbook", "include"} & play.keys():
            return play.ref, "", ""  # said already, by the unknown key
        return node.ref, f"the key {loc[-1]!r} is missing", ""
    if error["type"] in {"list_type", "dict_type", "model_type", "model_attributes_type"}:
        kind = "list" if error["type"] == "list_type" else "mapping"
        return node.ref, f"a {kind} is expected here, this is {raw_text(node)}", _shape_hint(loc, node)
    if context.get("key") and isinstance(node, YamlMap):
        return _key_of(node, (), context["key"]), context["message"], context["hint"]
    return context.get("at") or node.ref, context.get("message", error["msg"]), context.get("hint", "")


def _shape_hint(loc: Sequence[int | str], node: Node) -> str:
    if loc[-1] == "checks" and isinstance(node, YamlMap):
        return "Put `- ` before the first key of each check."
    if loc[-1] in {"stdout", "stderr"} and isinstance(node, YamlList):
        return f"Write `{loc[-1]}: {{contains: [...]}}`."
    if loc[-1] == "sample" and isinstance(node, YamlScalar):
        return "Write `sample: {every: 1s, count: 5}`."
    if "prompts" in loc and isinstance(node, YamlScalar):
        return "Write `prompts: {match: ..., answer: ...}`."
    if loc[-1] == "argv" and isinstance(node, YamlScalar):
        return "A list of program and arguments; a shell command is `run`."
    return ""


def _walk(node: Node, loc: Sequence[int | str]) -> Node:
    """The node at a location. Steps that the file does not have (a list or mapping that a short form left out) stay."""
    for step in loc:
        if isinstance(node, YamlMap):
            node = node.get(str(step), node)
        elif isinstance(node, YamlList) and isinstance(step, int) and step < len(node):
            node = node[step]
    return node


def _key_of(node: Node, loc: Sequence[int | str], key: str) -> SourceRef:
    parent = _walk(node, loc)
    return parent.keys_at[key].ref if isinstance(parent, YamlMap) and key in parent.keys_at else parent.ref


def _unknown(play: YamlMap, loc: Sequence[int | str]) -> tuple[SourceRef, str, str]:
    key = str(loc[-1])
    known = _known_keys(loc)
    bare = key.removeprefix("ansible.builtin.")
    where = _of_ansible(bare)
    hint = f"{key!r} is a key of Ansible that this version does not have: {where}." if where else _HINTS.get(bare, "")
    close = "not_matches" if key == "not_contains" and "not_matches" in known else nearest(key.lower(), known)
    if close and (not hint or close == key.lower()):
        hint = f"Did you mean {close!r}?"
    return _key_of(play, loc[:-1], key), f"unknown key {key!r}", hint or f"Known here: {', '.join(known)}."


def _of_ansible(key: str) -> str:
    return "write one check each, or loop in the shell" if key.startswith("with_") else _NOT_HERE.get(key, "")


def _known_keys(loc: Sequence[int | str]) -> list[str]:
    from checkrunner.load import schema

    words = [step for step in loc[:-1] if isinstance(step, str)]
    model: type[Any] = schema.PlayModel
    for word in words:
        model = {
            "checks": schema.CheckModel,
            "expect": schema.ExpectModel,
            "slice": schema.SliceModel,
            "prompts": schema.PromptModel,
            "sample": schema.SampleModel,
            "stdout": schema.TextModel,
            "stderr": schema.TextModel,
        }.get(word, model)
    return [field.alias or name for name, field in model.model_fields.items()]
