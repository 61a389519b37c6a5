"""The parts of the playbook format that speak of outputs: expectations, slices, values and their thresholds."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field, WithJsonSchema, model_validator

from checkrunner.load.forms import OneOrMany, Shorthand, problem
from checkrunner.load.leaves import Argument, Choice, Condition, Count, Flag, LineRange, Pattern, WholeText
from checkrunner.load.leaves import ExpressionText as Expression
from checkrunner.load.leaves_flow import AnyValue, Fraction, Level, ParserName, ShareOfHosts
from checkrunner.load.nodes import YamlScalar
from checkrunner.load.schema_base import Expressions, LineCount, Patterns, StreamWord, StrictModel, Texts, up_to, words
from checkrunner.model.results import MOST_SLICE_BYTES
from checkrunner.model.values import Aggregate

__all__ = [
    "ConsensusModel",
    "ExpectModel",
    "Expectations",
    "ExtractModel",
    "LevelsModel",
    "ParseModel",
    "QuorumModel",
    "SliceModel",
    "Slices",
    "TextModel",
]

_SliceMode = Annotated[str, Choice("salient"), words("salient")]
_SliceWhen = Annotated[str, Choice("fail", "always"), words("fail", "always")]
_Kind = Annotated[str, Choice("number", "text", "bool"), words("number", "text", "bool")]
_AGGREGATES = tuple(str(word) for word in Aggregate)
_Aggregate = Annotated[str, Choice(*_AGGREGATES), words(*_AGGREGATES)]


class TextModel(StrictModel):
    """Expectations of a stream's text; the host answers them, the text does not travel."""

    contains: Texts | None = Field(default=None, description="Text, or list of texts, that some line holds.")
    matches: Patterns | None = Field(
        default=None, description="Regular expression, or list, that is found in some line (`re.search`)."
    )
    not_matches: Patterns | None = Field(
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


class ExpectModel(StrictModel):
    """What is expected of a result. All entries must hold."""

    rc: Condition | None = Field(default=None, description="Exit status: number, list of numbers or comparison.")
    stdout_lines: Condition | None = Field(default=None, description="Number of lines of standard output.")
    stderr_lines: Condition | None = Field(default=None, description="Number of lines of standard error.")
    elapsed_s: Condition | None = Field(default=None, description="Seconds that the command took.")
    stdout: _Text | None = Field(default=None, description="Standard output: mapping as below, or a text it contains.")
    stderr: _Text | None = Field(default=None, description="Standard error: the same.")
    that: Expressions | None = Field(default=None, description="Expression, or list of them, that must be true.")

    @model_validator(mode="after")
    def _sensible(self) -> ExpectModel:
        if not self.model_fields_set:
            raise problem("nothing is expected here", "Leave `expect` out: the default is `rc: 0`.")
        for number in self.rc if isinstance(self.rc, tuple) else (self.rc,):
            if isinstance(number, int | float) and not (number == int(number) and 0 <= number <= 255):
                hint = "A command that a signal ends has 128 and the signal's number."
                raise problem(key="rc", message=f"an exit status is 0 to 255, never {number}", hint=hint)
        return self


_SHORT_SLICE = re.compile(r"(head|tail|lines|match)\s+(\S.*)", re.DOTALL)


def _short_slice(node: YamlScalar) -> dict[str, YamlScalar]:
    if node.raw.strip() == "salient":
        return {"mode": node}
    found = _SHORT_SLICE.fullmatch(node.raw.strip())
    if not found:
        hint = "Write 'salient', 'head 20', 'tail 20', 'lines 3-10' or 'match ERROR'."
        raise problem(f"{node.raw!r} is not a slice", hint)
    text = found[2].strip()
    value = int(text) if text.isascii() and text.isdigit() else text
    ref = node.place(node.raw.index(found[2]))
    return {found[1]: YamlScalar(node.path, text, value, node.style, ref.line, ref.column, node.lines)}


class SliceModel(StrictModel):
    """A part of the output to show. Exactly one of mode, head, tail, lines and match."""

    mode: _SliceMode | None = Field(
        default=None,
        description="`salient`: the lines that tell most, one of each shape, with how many there are of it.",
    )
    head: LineCount | None = Field(default=None, description="The first N lines.")
    tail: LineCount | None = Field(default=None, description="The last N lines.")
    lines: LineRange | None = Field(default=None, description="Lines by number, from 1: `3-10`, `[3, 10]` or `5`.")
    match: Pattern | None = Field(default=None, description="Lines in which this regular expression is found.")
    context: Annotated[int, Count(0, 100), WithJsonSchema({"type": "integer", "minimum": 0})] | None = Field(
        default=None, description="With match: lines before and after each found line (default 0)."
    )
    stream: StreamWord = Field(default="stdout", description="Which output.")
    max_lines: LineCount | None = Field(
        default=None, description="With mode, lines and match: at most so many (mode and match: 20)."
    )
    max_bytes: Annotated[int, Count(1, MOST_SLICE_BYTES), WithJsonSchema(up_to(MOST_SLICE_BYTES))] = Field(
        default=4096, description="At most so many bytes in all."
    )
    when: _SliceWhen = Field(default="fail", description="`fail`: when the verdict is not ok; `always`.")

    @model_validator(mode="after")
    def _one_way(self) -> SliceModel:
        ways = [way for way in ("mode", "head", "tail", "lines", "match") if getattr(self, way) is not None]
        if len(ways) != 1:
            found = f"both {ways[0]} and {ways[1]}" if ways else "none of them"
            raise problem(
                key=ways[1] if ways else None,
                message=f"a slice has one of mode, head, tail, lines and match, this has {found}",
                hint="Several slices are a list: `slice: [head 5, tail 5]`." if ways else "Write `slice: head 20`.",
            )
        if self.context is not None and ways != ["match"]:
            hint = "Drop it, or say with `match` which lines it is around."
            raise problem(key="context", message="context goes with match only", hint=hint)
        if self.max_lines is not None and ways[0] in {"head", "tail"}:
            raise problem(key="max_lines", message=f"{ways[0]} says already how many lines", hint="Drop max_lines.")
        if ways == ["mode"] and "max_bytes" in self.model_fields_set:
            hint = "Drop it: max_lines says how many lines, and each is short."
            raise problem(key="max_bytes", message="max_bytes does not go with mode: salient", hint=hint)
        return self


Slices = Annotated[list[Annotated[SliceModel, Shorthand(_short_slice)]], OneOrMany()]
Expectations = Annotated[list[Annotated[ExpectModel, Shorthand(_that)]], OneOrMany()]


class ParseModel(StrictModel):
    """How the output is read, so that values can be taken from it."""

    as_: ParserName = Field(
        alias="as", description="`json`, `yaml`, `csv`, `kv`, `table`, `lines`, `regex` or `jc:PARSER`."
    )
    delimiter: Argument | None = Field(
        default=None, description="With csv and kv: what separates columns, or key and value; found out when absent."
    )
    pattern: Pattern | None = Field(
        default=None, description="With regex: each line that it is found in is a row, its named groups the columns."
    )
    stream: StreamWord = Field(default="stdout", description="Which output.")

    @model_validator(mode="after")
    def _fitting(self) -> ParseModel:
        if self.delimiter is not None:
            if self.as_ not in {"csv", "kv"}:
                hint = "Drop it, or write `as: csv`."
                raise problem(
                    key="delimiter", message=f"delimiter goes with csv and kv, not with {self.as_}", hint=hint
                )
            if len(self.delimiter.text) != 1 and (self.as_ == "csv" or not self.delimiter.text):
                hint = "Write ',' or ';', or leave it out."
                raise problem(key="delimiter", message="a delimiter is one character", hint=hint)
        if self.as_ == "regex":
            self._named_groups()
        elif self.pattern is not None:
            hint = "Drop it, or write `as: regex`."
            raise problem(key="pattern", message=f"pattern goes with regex, not with {self.as_}", hint=hint)
        return self

    def _named_groups(self) -> None:
        if self.pattern is None:
            hint = "Write `{as: regex, pattern: '(?P<name>...)'}`; one value is had with `extract: {x: {regex: ...}}`."
            raise problem("a pattern is missing: its named groups are the columns", hint)
        if self.pattern.is_static and not re.compile(self.pattern.text).groupindex:
            hint = "Write a group with a name: `(?P<used>[0-9]+)`."
            raise problem(key="pattern", message="the pattern names no column", hint=hint)


class ExtractModel(StrictModel):
    """A named value of the output. Exactly one of jmespath, regex and column."""

    jmespath: WholeText | None = Field(default=None, description="JMESPath into what was parsed: `disks[0].used`.")
    regex: Pattern | None = Field(
        default=None,
        description="Regular expression, searched for line by line on the host; its first group is the value. "
        "Needs no `parse`.",
    )
    column: WholeText | None = Field(default=None, description="A column by its name in the header.")
    where: Expression | None = Field(
        default=None, description="With column: rows that count, an expression over their columns."
    )
    type: _Kind = Field(
        default="number", description="`number` (units such as `5G`, `80%`, `200ms` are understood), `text` or `bool`."
    )
    unit: WholeText | None = Field(
        default=None, description="What the number is in: `B`, `s`, `%` or any word; metrics carry it."
    )
    agg: _Aggregate = Field(
        default="first",
        description="Of several: `first`, `last`, `min`, `max`, `sum`, `mean`, `median`, `count` or `list`.",
    )
    stream: StreamWord | None = Field(default=None, description="With regex: which output (stdout).")
    missing: AnyValue = Field(
        default=None, description="What counts where nothing is found; without it the check is then unknown."
    )

    @model_validator(mode="after")
    def _one_way(self) -> ExtractModel:
        ways = [way for way in ("jmespath", "regex", "column") if getattr(self, way) is not None]
        if len(ways) != 1:
            found = f"both {ways[0]} and {ways[1]}" if ways else "none of them"
            hint = (
                "Two values have two names."
                if ways
                else "Write `{column: 'Use%'}`, `{jmespath: ...}` or `{regex: ...}`."
            )
            raise problem(
                key=ways[1] if ways else None,
                message=f"a value has one of jmespath, regex and column, this has {found}",
                hint=hint,
            )
        if self.where is not None and ways != ["column"]:
            hint = "In JMESPath rows are chosen by a filter: `disks[?mount=='/'].used`."
            raise problem(key="where", message="where goes with column only", hint=hint)
        if self.stream is not None and ways != ["regex"]:
            hint = "Say it in `parse`: `parse: {as: json, stream: stderr}`."
            raise problem(key="stream", message="stream goes with regex only", hint=hint)
        if self.type != "number":
            self._no_number()
        return self

    def _no_number(self) -> None:
        if self.agg in {"min", "max", "sum", "mean", "median"}:
            hint = "Write `type: number`, or take `first`, `last`, `count` or `list`."
            raise problem(key="agg", message=f"{self.agg} is of numbers, this value is {self.type}", hint=hint)
        if self.unit is not None:
            raise problem(key="unit", message="a unit is of a number", hint="Drop it, or write `type: number`.")


class LevelsModel(StrictModel):
    """Thresholds of a value, as Nagios plugins write them; units are understood."""

    warn: Level | None = Field(default=None, description="Outside of this range the check is a warning.")
    crit: Level | None = Field(default=None, description="Outside of this range it is critical.")

    @model_validator(mode="after")
    def _not_nothing(self) -> LevelsModel:
        if self.warn is None and self.crit is None:
            raise problem("there is no threshold here", "Write `{warn: 80%, crit: 90%}`, or one of the two.")
        return self


class ConsensusModel(StrictModel):
    """Hosts that are alike should answer alike: the odd ones out are critical."""

    by: WholeText | None = Field(
        default=None,
        description="Who is compared: `all` hosts of the play, those of a `group`, or a variable's name (all).",
    )
    on: WholeText | None = Field(
        default=None, description="What is compared: `stdout`, `rc` or a value of `extract` (stdout)."
    )
    min: Fraction = Field(default=0.8, description="Share of the peers that must agree, else nobody is singled out.")

    @model_validator(mode="after")
    def _most(self) -> ConsensusModel:
        if self.min <= 0.5:  # two answers could both have so many
            hint = "Write more than 0.5."
            raise problem(key="min", message=f"{self.min:g} of the peers are not most of them", hint=hint)
        return self


class QuorumModel(StrictModel):
    """How many hosts must be ok; as long as so many are, the others are noted only."""

    min: ShareOfHosts = Field(description="So many hosts (`2`), or a share of them (`50%`).")
    by: WholeText | None = Field(
        default=None, description="Among whom: `all` hosts of the play, those of a `group`, or a variable's name (all)."
    )
