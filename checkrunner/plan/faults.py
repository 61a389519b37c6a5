"""Errors of templates and expressions: where in the file, in which words, and what to do. Knows no template engine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from checkrunner.model.errors import TemplateError, nearest
from checkrunner.model.metadata import REGISTERED_NAMES, RESULT_NAMES
from checkrunner.model.sources import SourceRef, Template
from checkrunner.plan.values import NotANumberError, SecretInTextError, UnsafeTextError

__all__ = [
    "RAW_HINT",
    "NeedError",
    "UndefinedNameError",
    "as_template",
    "attribute_error",
    "fault_at",
    "find_name",
    "of_variable",
    "place",
    "restated",
    "runtime_error",
    "syntax_error",
    "undefined_error",
    "value_error",
]

_UNSAFE_HINT = (
    "Pass it through `env` and use it there as a shell variable; or write `| unquoted` if the host may say what is run"
)
RAW_HINT = "If this is not meant as a template: write `raw: true` in the check, or {% raw %} ... {% endraw %} around it"

_LONGEST = 400
_BRACES = re.compile(r"\{\{.*?(?:\}\}|\Z)|\{%.*?(?:%\}|\Z)", re.DOTALL)
_SPOKEN = (
    (re.compile(r"&&"), "Write `and`, not `&&`"),
    (re.compile(r"\|\|"), "Write `or`, not `||`"),
    (re.compile(r"!(?!=)"), "Write `not`, not `!`"),
    (re.compile(r"(?<![=!<>])=(?!=)"), "Write `==` to compare"),
)
_TOKENS = {"end of print statement": "}}", "end of statement block": "%}"}
_WORDS = {
    "'end of print statement'": "`}}`",
    "'end of statement block'": "`%}`",
    "chunk after expression": "something follows the end of the expression",
    "unexpected 'end of template'": "the text ends too early",
    "unexpected end of template": "the text ends too early",
    "Jinja was looking for the following tags:": "Expected is one of",
}


_TEXT_HINT = (
    "Output stays on the host, a result is its metadata only: ask about the text with `expect` in the check "
    "that prints it, show it with `slice`"
)
_NO_FACTS = (
    "Facts are gathered for plays of tasks only, and not with `gather_facts: false`: find out on the host with a "
    "command, or put the value into the inventory"
)
_ELSEWHERE = {
    "ansible_facts": _NO_FACTS,
    "facts": _NO_FACTS,
    "item": "It is there in a check with `loop`, unless `loop_control` names it otherwise",
    "role_path": "There are no roles: `playbook_dir` is where the playbook lies",
}
"""Names that Ansible has and that mean nothing here, or not everywhere."""


def as_template(text: Template | str) -> Template:
    """`text` as a Template; a bare text has no place."""
    return text if isinstance(text, Template) else Template(text=text)


def place(template: Template, offset: int) -> tuple[SourceRef, str]:
    """The place in the file of a character of the text, and the line that it stands on.

    The line is known only as far as the text goes; what stands before it in the file is shown as spaces. In a text
    that YAML folded from several lines, only the first line's place is known.
    """
    text, source = template.text, template.source
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", start)
    content = text[start : end if end >= 0 else len(text)]
    if not source.line:
        return source, content
    row, column = text.count("\n", 0, start), offset - start
    pad = " " * max(source.column - 1, 0)
    if template.literal or row == 0:
        line = source.line + (row if template.literal else 0)
        at = source.column + column if source.column else 0
        return SourceRef(path=source.path, line=line, column=at), pad + content
    return source, pad + content


def fault_at(template: Template, offset: int, message: str, hint: str = "") -> TemplateError:
    """A TemplateError that points at a character of the text."""
    source, line_text = place(template, offset)
    return TemplateError(message, source=source, line_text=line_text, hint=hint)


def find_name(template: Template, name: str, *, expression: bool, attribute: bool = False) -> int:
    """The offset of the first use of a name in the code of the text; where the code begins when it is not found."""
    before = r"\.\s*|\[\s*['\"]" if attribute else r"(?<![\w.'\"])"
    wanted = re.compile(rf"(?:{before})(?P<name>{re.escape(name)})\b")
    first = -1
    for start, end in _code(template.text, expression):
        found = wanted.search(template.text, start, end)
        if found:
            return found.start("name")
        first = start if first < 0 else first
    return max(first, 0)


def _code(text: str, expression: bool) -> Iterable[tuple[int, int]]:
    return [(0, len(text))] if expression else [match.span() for match in _BRACES.finditer(text)]


def syntax_error(template: Template, expression: bool, message: str, line: int) -> TemplateError:
    """From the engine's message and the line (1-based, in the text) that it names."""
    text = template.text
    start = _line_start(text, line)
    message = message[:1].lower() + message[1:].rstrip(".")
    got = re.search(r"(?:got|unexpected) '([^']+)'|unexpected char '([^']+)'", message)
    token = next((group for group in got.groups() if group), "") if got else ""
    offset = _token(text, start, _TOKENS.get(token, token), expression)
    for engine, plain in _WORDS.items():
        message = message.replace(engine, plain)
    if expression:
        return fault_at(template, offset, f"not a valid expression: {message}", _expression_hint(text))
    return fault_at(template, offset, f"not a valid template: {message}", RAW_HINT)


def _line_start(text: str, line: int) -> int:
    start = 0
    for _ in range(max(line, 1) - 1):
        start = text.find("\n", start) + 1
    return start


def _token(text: str, start: int, token: str, expression: bool) -> int:
    end = text.find("\n", start)
    end = end if end >= 0 else len(text)
    opening = start if expression else _opening(text, start, end)
    found = text.find(token, opening if expression else min(opening + 2, end), end) if token else -1
    return found if found >= 0 else opening


def _opening(text: str, start: int, end: int) -> int:
    found = re.compile(r"\{[{%#]").search(text, start, end)
    return found.start() if found else start


def _expression_hint(text: str) -> str:
    if "{{" in text or "{%" in text:
        return "Expressions are written without braces"
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "''", text)
    return next((hint for pattern, hint in _SPOKEN if pattern.search(bare)), "")


def undefined_error(template: Template, expression: bool, name: str, names: Iterable[str]) -> TemplateError:
    """A name that nobody has defined, with the nearest one that somebody has."""
    known = [str(other) for other in names]
    hint = _ELSEWHERE.get(name, "")
    if hint:
        pass
    elif name in ("stdout", "stderr"):
        hint = _TEXT_HINT
    elif name in RESULT_NAMES:
        hint = (
            f"{name} is known only after the check has run: use it in expect, warn_if or crit_if, "
            "or register an earlier check and read it from there"
        )
    elif close := nearest(name, [*known, *(RESULT_NAMES if expression else ())]):
        hint = f"Did you mean {close!r}?"
    if not hint and not expression and re.search(r"\{\{\s*(json|range|end|if|with|printf|println)\b", template.text):
        hint = RAW_HINT
    hint = hint or f"Define it in the inventory, in the play's `vars` or with -e; or write `{name} | default(...)`"
    source, line_text = place(template, find_name(template, name, expression=expression))
    message = f"{name!r} is not defined"
    if expression and name in ("stdout", "stderr"):
        message = f"a result has no {name!r}"
    if name in RESULT_NAMES or name in _ELSEWHERE or name in ("stdout", "stderr"):
        return TemplateError(message, source=source, line_text=line_text, hint=hint)  # no variable could mend it
    return UndefinedNameError(message, name=name, source=source, line_text=line_text, hint=hint)


def attribute_error(template: Template, expression: bool, name: str, owner: str = "") -> TemplateError:
    """Something that a registered result does not have."""
    hint = f"A result has: {', '.join(REGISTERED_NAMES)}"
    if name in ("stdout", "stderr", "msg", "output", "text"):
        hint = _TEXT_HINT
    elif close := nearest(name, REGISTERED_NAMES):
        hint = f"Did you mean {close!r}?"
    offset = find_name(template, name, expression=expression, attribute=True)
    return fault_at(template, offset, f"{owner or 'a result'} has no {name!r}", hint)


def value_error(template: Template, expression: bool, name: str, known: Sequence[str]) -> TemplateError:
    """A value that the check does not take from its output."""
    close = nearest(name, known)
    hint = f"Its values are: {', '.join(known)}" if known else "Take it from the output first, with `extract`"
    hint = f"Did you mean {close!r}?" if close else hint
    offset = find_name(template, name, expression=expression, attribute=True)
    return fault_at(
        template, offset, f"this check has no value {name!r}", f"Did you mean {close!r}?" if close else hint
    )


class NeedError(TemplateError):
    """A check needs what there is not, or what it cannot wait for."""


class UndefinedNameError(TemplateError):
    """A name that nobody has defined, in a text that needs it. `name` is that name."""

    def __init__(self, message: str, *, name: str, source: SourceRef, line_text: str = "", hint: str = "") -> None:
        super().__init__(message, source=source, line_text=line_text, hint=hint)
        self.name = name


def restated(error: TemplateError, message: str, source: SourceRef, line_text: str) -> TemplateError:
    """The same error in other words or at another place."""
    if isinstance(error, NeedError):
        return NeedError(message, source=source, line_text=line_text, hint=error.hint)
    if isinstance(error, UndefinedNameError):
        return UndefinedNameError(message, name=error.name, source=source, line_text=line_text, hint=error.hint)
    return TemplateError(message, source=source, line_text=line_text, hint=error.hint)


_UNDEFINED = re.compile(r"'(?P<name>.*)' is undefined")
_NO_ATTRIBUTE = re.compile(r"'(?P<owner>[^']*)' has no (?:attribute|element) '?(?P<name>[^']*)'?")


def runtime_error(
    template: Template, expression: bool, error: Exception, names: Mapping[str, object], kind: str
) -> TemplateError:
    """From any exception of an evaluation. `kind` is ``undefined`` where the engine says so, else empty."""
    message = " ".join(str(error).split())
    if isinstance(error, TemplateError):
        return of_variable(template, expression, error)
    if isinstance(error, SecretInTextError):
        offset = find_name(template, error.name, expression=expression)
        hint = "Give it to the command through `env`, and use it there as a shell variable"
        return fault_at(template, offset, f"{error.name!r} is secret and cannot become part of this text", hint)
    if isinstance(error, UnsafeTextError):
        offset = find_name(template, "", expression=expression)
        return fault_at(template, offset, _brief(message), _UNSAFE_HINT)
    if kind == "undefined":
        if found := _UNDEFINED.fullmatch(message):
            return undefined_error(template, expression, found["name"], names)
        if found := _NO_ATTRIBUTE.search(message):
            if found["owner"].endswith("Registered object"):
                return attribute_error(template, expression, found["name"])
            offset = find_name(template, found["name"], expression=expression, attribute=True)
            if found["owner"].endswith("ValueNames object"):
                hint = "Give it a default, or ask first: `when: x.values.NAME is defined`"
                return fault_at(template, offset, f"there is no value {found['name']!r}: it could not be read", hint)
            owner = "" if found["owner"].startswith("checkrunner.") else f" ({found['owner']})"
            return fault_at(template, offset, f"there is no {found['name']!r} in it{owner}")
    if isinstance(error, NotANumberError):
        name = _culprit(template, names, error.value)
        offset = find_name(template, name, expression=expression)
        return fault_at(template, offset, f"{f'{name} is ' if name else ''}{_brief(repr(error.value))}, not a number")
    if isinstance(error, RecursionError):
        message = "it calls itself without end"
    found = _NO_ORDER.fullmatch(message)
    if found and "str" in (found["left"], found["right"]):
        return _text_and_number(template, expression, found["operator"], names)
    hint = "stdout_lines and stderr_lines are numbers here" if "'int'" in message and "_lines" in template.text else ""
    offset = find_name(template, "", expression=expression)
    return fault_at(template, offset, f"cannot be evaluated: {_brief(message) or type(error).__name__}", hint)


def _brief(text: str) -> str:
    """A text that may hold all that a host wrote, as an error shows it."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 103]}...{text[-100:]}"


def _words(template: Template) -> Iterable[str]:
    return dict.fromkeys(re.findall(r"(?<![\w.'\"|])[A-Za-z_]\w*", template.text))


def _culprit(template: Template, names: Mapping[str, object], value: object) -> str:
    """The name in the text that has this value, if there is one."""
    return next(
        (w for w in _words(template) if w in names and isinstance(v := names[w], str) and v.strip() == value), ""
    )


_NO_ORDER = re.compile(
    r"'(?P<operator>[<>]=?)' not supported between instances of '(?P<left>\w+)' and '(?P<right>\w+)'"
)


def _text_and_number(template: Template, expression: bool, operator: str, names: Mapping[str, object]) -> TemplateError:
    """A text was compared with a number: most often a variable of ``-e name=0``, which is a text."""
    texts = [word for word in _words(template) if word in names and isinstance(names[word], str)]
    if len(texts) != 1:
        offset = max(template.text.find(operator), 0)
        hint = "Make it a number with `| int` or `| float`"
        return fault_at(template, offset, f"a text and a number cannot be compared with `{operator}`", hint)
    name = texts[0]
    value = str(names[name])
    number = value if re.fullmatch(r"-?\d+(\.\d+)?", value) else "10"
    hint = f"Write `{name} | int`, or give a number: -e '{{\"{name}\": {number}}}'"
    offset = find_name(template, name, expression=expression)
    message = f"{name!r} is the text {value!r} here and cannot be compared with a number by `{operator}`"
    return fault_at(template, offset, message, hint)


def of_variable(template: Template, expression: bool, error: TemplateError) -> TemplateError:
    """An error within a variable: its own place when it has one, else the place where the variable is used."""
    if error.source.line:
        return error
    found = re.match(r"variable '([^']+)'", error.message)
    offset = find_name(template, found[1] if found else "", expression=expression)
    source, line_text = place(template, offset)
    return restated(error, error.message, source, line_text)
