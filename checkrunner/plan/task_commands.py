"""The commands of tasks: what `shell`, `command`, `raw` and `script` come to in a session's bash.

Each task is a process of its own, as in Ansible: what it does to its directory or variables is gone with it. Nothing
is written on the host.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from checkrunner.model.errors import TemplateError
from checkrunner.model.playbook import Check
from checkrunner.model.results import Probe, ProbeKind, Stream
from checkrunner.model.sources import Secret, Template
from checkrunner.model.tasks import Module, Task
from checkrunner.plan.facts_script import FACTS_SCRIPT
from checkrunner.plan.faults import fault_at
from checkrunner.plan.texts import Templates
from checkrunner.plan.values import Hidden, RemoteText

__all__ = ["NOT_BEGUN", "NOT_NEEDED", "TaskCommand", "needed_probes", "task_command", "task_environment"]

_SHELL = "/bin/sh"
_READER = re.compile(r"r?(?:ba|da|a|k|mk|z)?sh")
"""Shells that read quotes as bash does."""

_EXPANDED = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_WILD = re.compile(r"([*?]|\[[^\]/]*\])")
_NO_PATTERN = re.compile(r"[^A-Za-z0-9_.!^*?\[\]-]")
_HOME = re.compile(r"~[A-Za-z0-9_.-]*(?=/|$)")

NOT_BEGUN = Probe(
    name="not_begun",
    kind=ProbeKind.MATCHES,
    stream=Stream.STDERR,
    text=r"^(\[Errno (2|13)\] .*|Unable to change directory before execution\.)$",
)
"""Finds what stands in the place of an error of the command's own where it could not be begun with."""

NOT_NEEDED = Probe(
    name="not_needed",
    kind=ProbeKind.MATCHES,
    stream=Stream.STDOUT,
    text=r"^skipped, since .* (exists|does not exist)$",
)
"""Finds what stands in the place of a command's output when `creates` or `removes` said that it was not needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCommand:
    """`text` is for the session's bash; `cmd` is what the result shows as its command, a text or list of words. What
    templates came to there is a host's text: it is quoted no more, or within quotes that others may undo."""

    text: str
    cmd: Any
    conditional: bool = False


def task_command(check: Check, names: Mapping[str, Any], templates: Templates) -> TaskCommand:
    """The command of a task. Raises TemplateError."""
    task = check.task
    assert task is not None
    filled = _Filled(task, names, templates)
    match task.module:
        case Module.SETUP:
            return TaskCommand(text=f"({FACTS_SCRIPT})", cmd="")
        case Module.COMMAND:
            return _command(filled)
        case Module.SCRIPT:
            return _script(filled)
        case Module.RAW:
            program = filled.text("executable")
            text = filled.program("cmd", program)
            start = shlex.quote(program) if program else '"${SHELL:-/bin/sh}"'
            return TaskCommand(text=f"{start} -c {shlex.quote(text)}", cmd=filled.shown("cmd", text))
    program = filled.text("executable") or _SHELL
    text = filled.program("cmd", program)
    return filled.within(f"{shlex.quote(program)} -c {shlex.quote(text)}", filled.shown("cmd", text))


def needed_probes(check: Check) -> tuple[Probe, ...]:
    """What the host is asked beside: whether the command was needed, and could be begun with, where these are
    questions."""
    task = check.task
    if task is None:
        return ()
    begun = task.module is Module.COMMAND or "chdir" in task.args
    needed = bool(task.args.keys() & {"creates", "removes"})
    return (NOT_BEGUN,) * begun + (NOT_NEEDED,) * needed


def task_environment(task: Task, names: Mapping[str, Any], templates: Templates) -> dict[str, str | Secret]:
    """The variables of the environment that come from templates of whole mappings, the later ones over the earlier.
    Raises TemplateError."""
    found: dict[str, str | Secret] = {}
    for expression in task.environment:
        value = templates.evaluate(expression, names)
        if value is None or value == "":
            continue
        if not isinstance(value, Mapping):
            raise TemplateError("environment: this does not come to a mapping", source=expression.source)
        for name, text in value.items():
            found[str(name)] = text.secret() if isinstance(text, Hidden) else str(text)
    return found


class _Filled:
    """A task's arguments with their templates filled in."""

    def __init__(self, task: Task, names: Mapping[str, Any], templates: Templates) -> None:
        self.args = task.args
        self._names = names
        self._templates = templates

    def text(self, name: str) -> str:
        """The argument, "" where it was not given, or comes to ``omit``."""
        return self.given(name) or ""

    def given(self, name: str) -> str | None:
        """The argument, None where it was not given, or comes to ``omit``."""
        value = self.args.get(name)
        return self._templates.render_or_omit(value, self._names) if isinstance(value, Template) else None

    def shell(self, name: str) -> str:
        """The argument as part of a command: text that came from a host is quoted in it."""
        value = self.args.get(name)
        return self._templates.render(value, self._names, for_shell=True) if isinstance(value, Template) else ""

    def program(self, name: str, reader: str) -> str:
        """The same for who reads it, which knows our quotes only if it is a shell; "" is the account's own."""
        text = self.shell(name)
        if (
            reader
            and not _READER.fullmatch(reader.rpartition("/")[2])
            and isinstance(self.shown(name, text), RemoteText)
        ):
            message = f"text from the host would stand where it cannot be quoted: {reader} is no shell that is known"
            raise fault_at(self.args[name], 0, message, "Pass it through `environment`, and read it from there")
        return text

    def shown(self, name: str, text: str) -> str:
        """The text made of the argument, as a result has it: a host's where some of it had to be quoted. Within other
        quotes it would not be any more."""
        value = self.args.get(name)
        if not isinstance(value, Template) or value.is_static:
            return text
        return text if self._templates.render(value, self._names) == self.shell(name) else RemoteText(text)

    def words(self) -> list[str]:
        """The program and its arguments."""
        argv = self.args.get("argv")
        if argv:
            words = ((word, self._templates.render_or_omit(word, self._names)) for word in argv)
            return [text if word.is_static else RemoteText(text) for word, text in words if text is not None]
        text = self.shell("cmd")
        try:
            found = shlex.split(text)
            return found if self.args["cmd"].is_static else [RemoteText(word) for word in found]
        except ValueError as exc:
            message = f"the command cannot be split into words: {exc}"
            raise TemplateError(message, source=self.args["cmd"].source) from exc

    def within(self, program: str, cmd: Any, *, find: str = "", piped: bool = False) -> TaskCommand:
        """The program with its directory, its input, and what says whether it is needed at all. `find` looks for the
        program first; one that is `piped` has an input already."""
        parts = [*self._before(), *([find] if find else [])]
        fed = self.given("stdin")
        if fed is not None:
            newline = "\\n" if self.args.get("stdin_add_newline", True) else ""
            program = f"printf '%s{newline}' {shlex.quote(fed)} | exec {program}"
        elif parts and not piped:
            program = f"exec {program}"
        text = "\n".join(["(", *parts, program, ")"]) if parts else program
        return TaskCommand(text=text, cmd=cmd, conditional=bool(self.args.keys() & {"creates", "removes"}))

    def _before(self) -> Iterator[str]:
        if folder := self.text("chdir"):
            message = shlex.quote("Unable to change directory before execution.")
            yield f"cd -- {_word(folder)} 2>/dev/null || {{ printf '%s\\n' {message} >&2; exit 1; }}"
        if path := self.text("creates"):
            yield f'for f in {_glob(path)}; do if [ -e "$f" ]; then {_not_needed(path, "exists")}; fi; done'
        if path := self.text("removes"):
            yield f'for f in {_glob(path)}; do [ -e "$f" ] || {{ {_not_needed(path, "does not exist")}; }}; break; done'


def _not_needed(path: str, how: str) -> str:
    return f"printf '%s\\n' {shlex.quote(f'skipped, since {path} {how}')}; exit 0"


def _command(filled: _Filled) -> TaskCommand:
    words = filled.words()
    if not words:
        raise TemplateError("the command is empty", source=filled.args["cmd"].source)
    expand = filled.args.get("expand_argument_vars", True)
    quoted = [_word(word) if expand else shlex.quote(word) for word in words]
    missing = shlex.quote(f"[Errno 2] No such file or directory: {words[0].encode()!r}")
    refused = shlex.quote(f"[Errno 13] Permission denied: {words[0].encode()!r}")
    # A program that is not there has the return code that Ansible gives it: the error number.
    find = f"command -v {quoted[0]} >/dev/null 2>&1 || {{ printf '%s\\n' {missing} >&2; exit 2; }}"
    if "/" in words[0]:
        there = f"[ -e {quoted[0]} ] && {{ printf '%s\\n' {refused} >&2; exit 13; }}"
        find = f"[ -x {quoted[0]} ] || {{ {there}; printf '%s\\n' {missing} >&2; exit 2; }}"
    return filled.within(" ".join(quoted), words, find=find)


def _script(filled: _Filled) -> TaskCommand:
    text: str = filled.args["text"]
    rest = filled.shell("rest")
    program = filled.text("executable")
    start = shlex.join(shlex.split(program)) if program else shlex.join(_interpreter(text))
    # The program reads the script from a pipe: it is on no disk. Its own input is empty.
    command = f"printf %s {shlex.quote(text)} | {{ exec 3<&0 </dev/null; exec {start} /dev/fd/3 {rest}".rstrip() + "; }"
    shown = filled.shown("rest", f"{filled.args.get('file', '')} {rest}".strip())
    return filled.within(command, shown, piped=True)


def _interpreter(text: str) -> list[str]:
    """What the first line names, with at most one argument, as the kernel reads it."""
    first = text.partition("\n")[0].strip()
    if not first.startswith("#!"):
        return [_SHELL]
    program, _, argument = first[2:].strip().partition(" ")
    if program.endswith("/env"):
        return [program, *argument.split()]
    return [program, argument.strip()] if argument.strip() else [program]


def _glob(text: str) -> str:
    """A path as a pattern: ``*``, ``?`` and ``[`` mean what they mean to a shell, all else is itself."""
    return "".join(
        _wild(piece) if number % 2 else _word(piece) for number, piece in enumerate(_WILD.split(text)) if piece
    )


def _wild(piece: str) -> str:
    """Of what stands in brackets, only letters, numbers and the signs of a pattern are left as they are."""
    return _NO_PATTERN.sub(lambda match: shlex.quote(match[0]), piece)


def _word(text: str) -> str:
    """A word for a shell in which ``~`` and names of variables that are set there are replaced, and nothing else."""
    home = _HOME.match(text)
    out, at = (home[0], home.end()) if home else ("", 0)
    for match in _EXPANDED.finditer(text, at):
        out += _quoted(text[at : match.start()])
        out += f'"${{{match[1] or match[2]}-{_escaped(match[0])}}}"'
        at = match.end()
    return (out + _quoted(text[at:])) or "''"


def _quoted(text: str) -> str:
    return shlex.quote(text) if text else ""


def _escaped(text: str) -> str:
    return text.replace("$", "\\$").replace("}", "\\}")
