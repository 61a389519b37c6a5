"""The playbook format: a pydantic model for each kind of mapping, a description for each key; the manual is made of it.

Models take nodes (`documents`) and hold finished values. They never leave `load`: `checks` makes the words of `model`.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, WithJsonSchema, model_validator

from checkrunner.load.forms import OneOrMany, Shorthand, problem
from checkrunner.load.leaves import (
    Answer,
    Argument,
    BecomeFlag,
    Choice,
    Condition,
    Count,
    EnvName,
    EnvValue,
    ExpressionText,
    Flag,
    Hosts,
    Identifier,
    LineRange,
    Pattern,
    PlainText,
    PlayVars,
    Seconds,
    Tool,
    Variable,
    WholeText,
    Words,
)
from checkrunner.load.nodes import YamlScalar
from checkrunner.model.results import MOST_READINGS, MOST_SLICE_BYTES, MOST_SLICE_LINES

__all__ = [
    "CheckModel",
    "ExpectModel",
    "PlayModel",
    "PromptModel",
    "SampleModel",
    "SliceModel",
    "TextModel",
    "playbook_schema",
]

_SCHEMA_ID = "checkrunner/playbook/1"
_SEVERITIES = ("critical", "warning", "info")
_METHODS = ("sudo", "su", "doas")


_SHORTEST_PAUSE_S = 0.1


def _up_to(most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": most}


_Texts = Annotated[list[WholeText], OneOrMany()]
_Patterns = Annotated[list[Pattern], OneOrMany()]
_Expressions = Annotated[list[ExpressionText], OneOrMany()]
_Lines = Annotated[int, Count(1, MOST_SLICE_LINES), WithJsonSchema(_up_to(MOST_SLICE_LINES))]
_Method = Annotated[str, Choice(*_METHODS), WithJsonSchema({"enum": list(_METHODS)})]


_Become = Annotated[
    BecomeFlag | None,
    Field(description="Run as another user; `exact`: only the command itself. See [Privileges](become.md)."),
]
_BecomeUser = Annotated[PlainText | None, Field(description="That user (default root).")]
_BecomeMethod = Annotated[_Method | None, Field(description="How: `sudo`, `su` or `doas`.")]
_Stream = Annotated[str, Choice("stdout", "stderr"), WithJsonSchema({"enum": ["stdout", "stderr"]})]
_SliceWhen = Annotated[str, Choice("fail", "always"), WithJsonSchema({"enum": ["fail", "always"]})]
_OnInput = Annotated[str, Choice("fail", "ask"), WithJsonSchema({"enum": ["fail", "ask"]})]
_Stdin = Annotated[str, Choice("none", "tty"), WithJsonSchema({"enum": ["none", "tty"]})]
_Readings = Annotated[int, Count(1, MOST_READINGS), WithJsonSchema(_up_to(MOST_READINGS))]
_Severity = Annotated[str, Choice(*_SEVERITIES), WithJsonSchema({"enum": list(_SEVERITIES)})]


class _Mapping(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True, arbitrary_types_allowed=True)


class TextModel(_Mapping):
    """Expectations of a stream's text; the host answers them, the text does not travel."""

    contains: _Texts | None = Field(default=None, description="Text, or list of texts, that some line holds.")
    matches: _Patterns | None = Field(
        default=None, description="Regular expression, or list, that is found in some line (`re.search`)."
    )
    not_matches: _Patterns | None = Field(
        default=None, description="Regular expression, or list, that is found in no line."
    )
    equals: Annotated[list[Argument], OneOrMany()] | None = Field(
        default=None, description="The whole text; a final newline does not count."
    )
    empty: Flag | None = Field(default=None, description="`true`: nothing was written; `false`: something was.")

    @model_validator(mode="after")
    def _not_nothing(self) -> TextModel:
        if not self.model_fields_set:
            raise problem("nothing is expected here", "Say contains, matches, not_matches, equals or empty.")
        return self


def _contains(node: YamlScalar) -> dict[str, YamlScalar]:
    return {"contains": node}


def _that(node: YamlScalar) -> dict[str, YamlScalar]:
    return {"that": node}


_Text = Annotated[TextModel, Shorthand(_contains)]


class ExpectModel(_Mapping):
    """What is expected of a result. All entries must hold."""

    rc: Condition | None = Field(default=None, description="Exit status: number, list of numbers or comparison.")
    stdout_lines: Condition | None = Field(default=None, description="Number of lines of standard output.")
    stderr_lines: Condition | None = Field(default=None, description="Number of lines of standard error.")
    elapsed_s: Condition | None = Field(default=None, description="Seconds that the command took.")
    stdout: _Text | None = Field(default=None, description="Standard output: mapping as below, or a text it contains.")
    stderr: _Text | None = Field(default=None, description="Standard error: the same.")
    that: _Expressions | None = Field(default=None, description="Expression, or list of them, that must be true.")

    @model_validator(mode="after")
    def _sensible(self) -> ExpectModel:
        if not self.model_fields_set:
            raise problem("nothing is expected here", "Leave `expect` out: the default is `rc: 0`.")
        for number in self.rc if isinstance(self.rc, tuple) else (self.rc,):
            if isinstance(number, int | float) and not (number == int(number) and 0 <= number <= 255):
                raise problem(key="rc", message=f"an exit status is 0 to 255, never {number}")
        return self


_SHORT_SLICE = re.compile(r"(head|tail|lines|match)\s+(\S.*)", re.DOTALL)


def _short_slice(node: YamlScalar) -> dict[str, YamlScalar]:
    found = _SHORT_SLICE.fullmatch(node.raw.strip())
    if not found:
        raise problem(f"{node.raw!r} is not a slice", "Write 'head 20', 'tail 20', 'lines 3-10' or 'match ERROR'.")
    text = found[2].strip()
    value = int(text) if text.isascii() and text.isdigit() else text
    ref = node.place(node.raw.index(found[2]))
    return {found[1]: YamlScalar(node.path, text, value, node.style, ref.line, ref.column, node.lines)}


class SliceModel(_Mapping):
    """A part of the output to show. Exactly one of head, tail, lines and match."""

    head: _Lines | None = Field(default=None, description="The first N lines.")
    tail: _Lines | None = Field(default=None, description="The last N lines.")
    lines: LineRange | None = Field(default=None, description="Lines by number, from 1: `3-10`, `[3, 10]` or `5`.")
    match: Pattern | None = Field(default=None, description="Lines in which this regular expression is found.")
    context: Annotated[int, Count(0, 100), WithJsonSchema({"type": "integer", "minimum": 0})] | None = Field(
        default=None, description="With match: lines before and after each found line (default 0)."
    )
    stream: _Stream = Field(default="stdout", description="Which output.")
    max_lines: _Lines | None = Field(default=None, description="With lines and match: at most so many (match: 20).")
    max_bytes: Annotated[int, Count(1, MOST_SLICE_BYTES), WithJsonSchema(_up_to(MOST_SLICE_BYTES))] = Field(
        default=4096, description="At most so many bytes in all."
    )
    when: _SliceWhen = Field(default="fail", description="`fail`: when the verdict is not ok; `always`.")

    @model_validator(mode="after")
    def _one_way(self) -> SliceModel:
        ways = [way for way in ("head", "tail", "lines", "match") if getattr(self, way) is not None]
        if len(ways) != 1:
            found = f"both {ways[0]} and {ways[1]}" if ways else "none of them"
            raise problem(
                key=ways[1] if ways else None,
                message=f"a slice has one of head, tail, lines and match, this has {found}",
            )
        if self.context is not None and ways != ["match"]:
            raise problem(key="context", message="context goes with match only")
        if self.max_lines is not None and ways[0] in {"head", "tail"}:
            raise problem(key="max_lines", message=f"{ways[0]} says already how many lines")
        return self


class PromptModel(_Mapping):
    """The answer to a question that the command asks on its terminal."""

    match: Pattern = Field(description="Regular expression that is found in the line that asks (`re.search`).")
    answer: Answer = Field(description="The line to type then; its newline is added. Never shown in a report.")


class SampleModel(_Mapping):
    """Readings: the command is run several times."""

    every: Seconds = Field(description="From one start to the next: seconds, or `500ms`, `2s`, `1m`.")
    count: _Readings = Field(description="How many times, 1 to 1,000.")

    @model_validator(mode="after")
    def _not_too_often(self) -> SampleModel:
        if self.every < _SHORTEST_PAUSE_S:
            raise problem(key="every", message="a command is started every 100 ms at most")
        return self


class CheckModel(_Mapping):
    """One command and what is expected of it."""

    id: Identifier | None = Field(
        default=None, description="Stable name in reports and history, unique in its play; made of `name` when absent."
    )
    name: PlainText | None = Field(default=None, description="What people read; `id` or the command when absent.")
    run: WholeText | None = Field(default=None, description="Shell text for bash. This or `argv`.")
    argv: list[Argument] | None = Field(default=None, description="Program and arguments; no shell reads them.")
    raw: Flag = Field(default=False, description="Take `run` or `argv` as they stand: no templates in them.")
    expect: Annotated[list[Annotated[ExpectModel, Shorthand(_that)]], OneOrMany()] | None = Field(
        default=None, description="Expectations: mapping, expression, or list of them. Default: `rc: 0`."
    )
    warn_if: _Expressions | None = Field(default=None, description="Expression, or list: any true one is a warning.")
    crit_if: _Expressions | None = Field(default=None, description="Expression, or list: any true one is critical.")
    severity: _Severity = Field(
        default="critical", description="What an unmet `expect` means: critical, warning, or info (noted only)."
    )
    slice: Annotated[list[Annotated[SliceModel, Shorthand(_short_slice)]], OneOrMany()] | None = Field(
        default=None, description="Parts of the output to show: mapping, short form such as `tail 20`, or list."
    )
    when: _Expressions | None = Field(default=None, description="Run only where all of these expressions are true.")
    register_: Variable | None = Field(
        default=None, alias="register", description="Variable that later checks read the result from."
    )
    requires: Annotated[list[Tool], OneOrMany(split=True)] | None = Field(
        default=None, description="Tools or absolute paths; where one is missing the check is skipped."
    )
    tags: Words | None = Field(default=None, description="Labels for `--tags` and `--skip-tags`: list, or `a, b`.")
    env: dict[EnvName, EnvValue] | None = Field(default=None, description="Environment of this command only.")
    cwd: WholeText | None = Field(default=None, description="Directory of this command only.")
    timeout: Seconds | None = Field(default=None, description="Longest time: seconds, or `30s`, `2m`, `1h`.")
    session: Identifier = Field(
        default="main", description="Shell to run in; checks of different sessions run side by side."
    )
    prompts: Annotated[list[PromptModel], OneOrMany()] | None = Field(
        default=None, description="Answers to what the command asks on its terminal: mapping as below, or list."
    )
    on_input: _OnInput | None = Field(
        default=None, description="Any other question: `fail` ends the check; `ask` asks you, with `--interactive`."
    )
    stdin: _Stdin = Field(
        default="none", description="`tty`: standard input is a terminal, as it is with `prompts` and `on_input: ask`."
    )
    duration: Seconds | None = Field(
        default=None, description="End the command after this time, and count that as success: `5s`, `1m`."
    )
    sample: SampleModel | None = Field(default=None, description="Run the command several times: mapping as below.")
    keep_children: Flag = Field(default=False, description="What the command leaves running is not ended.")
    become: _Become = None
    become_user: _BecomeUser = None
    become_method: _BecomeMethod = None
    why: WholeText | None = Field(default=None, description="Why it matters when this is not ok.")
    fix: WholeText | None = Field(default=None, description="What to do, or look at, next.")

    @model_validator(mode="after")
    def _one_command(self) -> CheckModel:
        if self.run is not None and self.argv is not None:
            raise problem(key="argv", message="a check has `run` or `argv`, not both")
        if self.run is None and self.argv is None:
            raise problem("a check needs a command: `run` or `argv`")
        if self.argv is not None and (not self.argv or not self.argv[0].text):
            raise problem(key="argv", message="argv starts with the program to run, this is empty")
        return self

    @model_validator(mode="after")
    def _sensible_times(self) -> CheckModel:
        if self.sample is None and self.duration is None:
            return self
        if self.sample is None:
            key, seconds, what = "duration", self.duration or 0.0, "duration is over"
        else:
            key, seconds, what = "sample", self.sample.every * (self.sample.count - 1), "last reading has begun"
            self._alone()
        if self.timeout is not None and self.timeout <= seconds:
            message = f"the timeout of {self.timeout:g} s comes before the {what}, after {seconds:g} s"
            hint = "Leave `timeout` out: the time that this needs is then added to what holds for the play."
            raise problem(key=key, message=message, hint=hint)
        return self

    @model_validator(mode="after")
    def _exact_command(self) -> CheckModel:
        _check_exact(self, self)
        return self

    def _alone(self) -> None:
        """What goes together with `sample`."""
        if self.duration is not None:
            hint = "An endless command has a duration; a short one, run again and again, is a sample."
            raise problem(key="sample", message="a check has `duration` or `sample`, not both", hint=hint)
        for key in ("prompts", "on_input"):
            if getattr(self, key) not in (None, "fail"):
                message = f"a check with `sample` cannot have `{key}`: each reading would ask again"
                raise problem(key=key, message=message)


class PlayModel(_Mapping):
    """Checks for a pattern of hosts."""

    name: PlainText | None = Field(default=None, description="What people read; `hosts` when absent.")
    hosts: Annotated[list[Hosts], OneOrMany()] = Field(description="Host pattern, or list of patterns.")
    vars: PlayVars = Field(default_factory=dict, description="Variables of this play; any YAML.")
    checks: list[CheckModel] = Field(description="The checks, at least one; a session runs its own in this order.")
    timeout: Seconds | None = Field(default=None, description="Default for its checks.")
    tags: Words | None = Field(default=None, description="Labels of all its checks.")
    become: _Become = None
    become_user: _BecomeUser = None
    become_method: _BecomeMethod = None

    @model_validator(mode="after")
    def _has_checks(self) -> PlayModel:
        if not self.checks:
            raise problem(key="checks", message="a play needs at least one check")
        for check in self.checks if self.become == "exact" else ():
            if check.become is None:
                _check_exact(self, check)
        return self


def _check_exact(said: PlayModel | CheckModel, check: CheckModel) -> None:
    """What goes together with `become: exact`."""
    if said.become == "exact" and check.argv is None:
        hint = "A shell would have to run as that user, which is what `become: true` does."
        whose = "" if said is check else f", which check {check.id or check.name or 'without a name'!r} has not"
        raise problem(key="become", message=f"`become: exact` is for checks with `argv`{whose}", hint=hint)
    if said.become == "exact" and "su" in (said.become_method, check.become_method):
        raise problem(key="become_method", message="`become: exact` is for sudo and doas: su always starts a shell")


def playbook_schema() -> dict[str, Any]:
    """The JSON Schema of a playbook (draft 2020-12), every key with its description."""
    schema = TypeAdapter(list[PlayModel]).json_schema(by_alias=True)
    schema["minItems"] = 1
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": _SCHEMA_ID,
        "title": "checkrunner playbook",
    }
    return {**head, **_tidy(schema)}


def _tidy(value: Any) -> Any:
    """Without titles that repeat the key, and without null: a key that has no value is left out, never null."""
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {key: _tidy(item) for key, item in value.items() if not (key == "default" and item is None)}
    if isinstance(found.get("title"), str) and ("type" in found or "anyOf" in found or "enum" in found):
        del found["title"]
    options = found.get("anyOf")
    if isinstance(options, list):
        options = [option for option in options if option != {"type": "null"}]
        found.pop("anyOf")
        found = {**(options[0] if len(options) == 1 else {"anyOf": options}), **found}
    return found
