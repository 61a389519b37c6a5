"""The mappings of a list of checks: the check itself, a block of checks, the inclusion of a file of checks."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, WithJsonSchema, model_validator

from checkrunner.load import schema_rules as rules
from checkrunner.load.forms import OneOrMany, Shorthand, Switch, problem
from checkrunner.load.leaves import (
    Argument,
    Choice,
    Count,
    EnvName,
    EnvValue,
    Flag,
    Identifier,
    PlainText,
    PlayVars,
    Seconds,
    Tool,
    Variable,
    WholeText,
    Words,
)
from checkrunner.load.leaves_flow import FilePath, LoopItems, NameKey, Pause
from checkrunner.load.nodes import YamlMap, YamlScalar, copy_map
from checkrunner.load.schema_base import (
    BecomeMethodKey,
    BecomeUserKey,
    BecomeValue,
    Entries,
    EntriesOrOne,
    Expressions,
    SeverityWord,
    StrictModel,
    up_to,
    words,
)
from checkrunner.load.schema_baseline import BaselineModel
from checkrunner.load.schema_flow import LoopControlModel, PromptModel, SampleModel
from checkrunner.load.schema_values import (
    ConsensusModel,
    Expectations,
    ExtractModel,
    LevelsModel,
    ParseModel,
    QuorumModel,
    Slices,
)

__all__ = ["BlockModel", "CheckModel", "IncludeModel", "SharedModel"]

_OnInput = Annotated[str, Choice("fail", "ask"), words("fail", "ask")]
_Stdin = Annotated[str, Choice("none", "tty"), words("none", "tty")]
_MOST_RETRIES = 10_000


def _as(node: YamlScalar) -> dict[str, YamlScalar]:
    return {"as": node}


def _min(node: YamlScalar) -> dict[str, YamlScalar]:
    return {"min": node}


def _unparsed(_: YamlScalar) -> dict[str, YamlScalar]:
    """A text alone that `expanded` has left as it stands."""
    hint = "Write `{regex: '...'}` or, of lines, `{jmespath: '...'}`; or say how the output is read: `parse: json`."
    raise problem("a text alone is for an output that is parsed, by JMESPath or by column", hint)


def _expanded(node: object) -> object:
    """The check with short forms of its values written out: what they mean is said by `parse`."""
    if not isinstance(node, YamlMap) or not isinstance(extract := node.get("extract"), YamlMap):
        return node
    parse = node.get("parse")
    form = parse.get("as") if isinstance(parse, YamlMap) else parse
    if not isinstance(form, YamlScalar) or form.raw in {"lines", "regex"}:
        way = "column" if isinstance(form, YamlScalar) and form.raw == "regex" else ""
    else:
        way = "column" if form.raw in {"csv", "table"} else "jmespath"
    if not way or not any(isinstance(value, YamlScalar) for value in extract.values()):
        return node
    whole, values = copy_map(node), copy_map(extract)
    whole["extract"] = values
    for name, value in extract.items():
        if isinstance(value, YamlScalar):
            values[name] = short = YamlMap(value.path, value.line, value.column)
            short[way] = value
            short.keys_at[way] = value
    return whole


_Parse = Annotated[ParseModel, Shorthand(_as)]
_Extract = Annotated[ExtractModel, Shorthand(_unparsed)]
_Baseline = Annotated[BaselineModel | None, Switch()]
_Consensus = Annotated[ConsensusModel | None, Switch()]
_Quorum = Annotated[QuorumModel, Shorthand(_min)]
_Tools = Annotated[list[Tool], OneOrMany(split=True)]
_Ids = Annotated[list[Identifier], OneOrMany(split=True)]


class CheckModel(StrictModel):
    """One command and what is expected of it."""

    id: Identifier | None = Field(
        default=None, description="Stable name in reports and history, unique in its play; made of `name` when absent."
    )
    name: PlainText | None = Field(default=None, description="What people read; `id` or the command when absent.")
    run: WholeText | None = Field(default=None, description="Shell text for bash. This or `argv`.")
    argv: list[Argument] | None = Field(default=None, description="Program and arguments; no shell reads them.")
    raw: Flag = Field(default=False, description="Take `run` or `argv` as they stand: no templates in them.")
    expect: Expectations | None = Field(
        default=None, description="Expectations: mapping, expression, or list of them. Default: `rc: 0`."
    )
    warn_if: Expressions | None = Field(default=None, description="Expression, or list: any true one is a warning.")
    crit_if: Expressions | None = Field(default=None, description="Expression, or list: any true one is critical.")
    severity: SeverityWord = Field(
        default="critical", description="What an unmet `expect` means: critical, warning, or info (noted only)."
    )
    parse: _Parse | None = Field(
        default=None, description="How the output is read for `extract`: `json`, `jc:df`, or mapping as below."
    )
    extract: dict[NameKey, _Extract] | None = Field(
        default=None, description="Values by name: mapping as below, or short form."
    )
    levels: dict[NameKey, LevelsModel] | None = Field(default=None, description="Thresholds of values, by their names.")
    consensus: _Consensus = Field(default=None, description="Hosts must answer alike: `true`, or mapping as below.")
    quorum: _Quorum | None = Field(
        default=None, description="So many hosts must be ok: `2`, `50%`, or mapping as below."
    )
    baseline: _Baseline = Field(
        default=None, description="The output has to be the one accepted for the host: `true`, or mapping as below."
    )
    slice: Slices | None = Field(
        default=None, description="Parts of the output to show: mapping, short form such as `tail 20`, or list."
    )
    when: Expressions | None = Field(default=None, description="Run only where all of these expressions are true.")
    register_: Variable | None = Field(
        default=None, alias="register", description="Variable that later checks read the result from."
    )
    needs: _Ids | None = Field(
        default=None, description="Ids of checks: run only where each of them came to ok or warn."
    )
    on_fail: EntriesOrOne | None = Field(
        default=None, description="Check, or list of them, to run where this one is not ok."
    )
    loop: LoopItems | None = Field(
        default=None, description="Run once for each item: list, or expression that comes to one."
    )
    loop_control: LoopControlModel | None = Field(default=None, description="With loop: mapping as below.")
    until: Expressions | None = Field(default=None, description="Run again until all of these expressions are true.")
    retries: Annotated[int, Count(1, _MOST_RETRIES), WithJsonSchema(up_to(_MOST_RETRIES))] | None = Field(
        default=None, description="With until: so many times more (3)."
    )
    delay: Pause | None = Field(default=None, description="With until: from one end to the next start (5s).")
    requires: _Tools | None = Field(
        default=None, description="Tools or absolute paths; where one is missing the check is skipped."
    )
    tags: Words | None = Field(default=None, description="Labels for `--tags` and `--skip-tags`: list, or `a, b`.")
    vars: PlayVars = Field(default_factory=dict, description="Variables of this check alone; any YAML.")
    env: dict[EnvName, EnvValue] | None = Field(default=None, description="Environment of this command only.")
    cwd: WholeText | None = Field(default=None, description="Directory of this command only.")
    timeout: Seconds | None = Field(default=None, description="Longest time: seconds, or `30s`, `2m`, `1h`.")
    session: Identifier = Field(
        default="main", description="Shell to run in; checks of different sessions run side by side."
    )
    run_once: Flag = Field(default=False, description="Run on one host of the play; the result is everyone's.")
    delegate_to: WholeText | None = Field(
        default=None, description="Run on that host of the inventory, on behalf of this one."
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
    changes_host: Flag = Field(default=False, description="The command is meant to change the host: `lint` accepts it.")
    become: BecomeValue = None
    become_user: BecomeUserKey = None
    become_method: BecomeMethodKey = None
    why: WholeText | None = Field(default=None, description="Why it matters when this is not ok.")
    fix: WholeText | None = Field(default=None, description="What to do, or look at, next.")

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, node: object) -> object:
        return _expanded(node)

    @model_validator(mode="after")
    def _sensible(self) -> CheckModel:
        for rule in rules.CHECK_RULES:
            rule(self)
        return self


class SharedModel(StrictModel):
    """Keys that a block or an inclusion hands on to its checks."""

    name: PlainText | None = Field(default=None, description="For those who read the file.")
    when: Expressions | None = Field(default=None, description="Conditions that come before those of each check.")
    vars: PlayVars = Field(default_factory=dict, description="Variables of these checks; any YAML.")
    tags: Words | None = Field(default=None, description="Labels besides those of each check.")
    needs: _Ids | None = Field(default=None, description="Ids of checks, besides those that each check needs.")
    requires: _Tools | None = Field(default=None, description="Tools or absolute paths, besides those of each check.")
    env: dict[EnvName, EnvValue] | None = Field(default=None, description="Environment, besides that of each check.")
    cwd: WholeText | None = Field(default=None, description="Directory, unless a check has its own. So with all below.")
    timeout: Seconds | None = Field(default=None, description="Longest time of each check.")
    session: Identifier | None = Field(default=None, description="Shell to run in.")
    severity: SeverityWord | None = Field(default=None, description="What an unmet `expect` means.")
    run_once: Flag | None = Field(default=None, description="Run each on one host of the play.")
    delegate_to: WholeText | None = Field(default=None, description="Run them on that host of the inventory.")
    become: BecomeValue = None
    become_user: BecomeUserKey = None
    become_method: BecomeMethodKey = None
    why: WholeText | None = Field(default=None, description="Why it matters when one is not ok.")
    fix: WholeText | None = Field(default=None, description="What to do, or look at, next.")


class BlockModel(SharedModel):
    """Checks that share keys."""

    block: Entries = Field(description="The checks; blocks and inclusions may be among them.")


class IncludeModel(SharedModel):
    """The checks of another file."""

    include_checks: FilePath | None = Field(
        default=None, description="File with a list of checks, beside the file that says so. This or `import_checks`."
    )
    import_checks: FilePath | None = Field(default=None, description="The same.")
    prefix: Identifier | None = Field(
        default=None, description="Put before the ids of its checks, so that a file can be included several times."
    )

    @model_validator(mode="after")
    def _one_file(self) -> IncludeModel:
        rules.one_file(self)
        return self
