"""The values of a check: what must be read of its output for them, what they came to, and what their levels say.

A value comes whole or not at all: of an output that was cut, is not text or is too long to be parsed, none is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from checkrunner.judge.cells import row_names
from checkrunner.judge.expectations import gap
from checkrunner.judge.extracts import Extracted, Found, aggregated, found_in_columns, found_in_data, found_in_lines
from checkrunner.judge.levels import Range, parse_range, raised, said
from checkrunner.judge.names import Over
from checkrunner.judge.parsed import NothingError, Parsed, UnreadError, clipped, listed
from checkrunner.judge.parsing import Reading, decoded, parse, rows_of_matches
from checkrunner.judge.patterns import compiled, first_places
from checkrunner.model.errors import TemplateError
from checkrunner.model.metadata import truth
from checkrunner.model.playbook import Check
from checkrunner.model.results import (
    MOST_SLICE_BYTES,
    MOST_SLICE_LINES,
    Output,
    RawSlice,
    Reason,
    Result,
    SliceMode,
    SliceQuery,
    Stream,
    Value,
    VerdictState,
)
from checkrunner.model.seams import Templates
from checkrunner.model.values import MOST_PARSED_BYTES, Aggregate, Extract, Levels, Lookup, Parse, ParseAs

__all__ = ["ReadValue", "ValueReader", "unread"]

_Names = Mapping[str, Any]
_Answers = Mapping[SliceQuery, RawSlice | None]

_LINE_BYTES = 16 << 10
_WORDS = {"crit": (VerdictState.CRIT, "critical"), "warn": (VerdictState.WARN, "a warning")}
_KINDS = {"text": "a text", "bool": "true or false"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadValue:
    """A value and what it says: none, one or more reasons with the state that each stands for."""

    value: Value
    reasons: tuple[tuple[VerdictState, Reason], ...] = ()


def unread(check: Check, why: str) -> tuple[Value, ...]:
    """The values of a check whose output says nothing."""
    return tuple(Value(name=extract.name, value=None, unit=extract.unit, error=why) for extract in check.extracts)


class ValueReader:
    """Reads the values of any number of checks."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def queries(self, check: Check, names: _Names) -> tuple[SliceQuery, ...]:
        """What must be read of the outputs, each once. Raises TemplateError."""
        if not check.extracts:
            return ()
        asked = (self._query(check, extract, names) for extract in check.extracts)
        return tuple(dict.fromkeys(query for query in asked if query is not None))

    def read(
        self,
        check: Check,
        result: Result,
        names: _Names,
        queries: Sequence[SliceQuery],
        raws: Sequence[RawSlice | None],
    ) -> tuple[ReadValue, ...]:
        """The values, in the order of the playbook. `raws` answer `queries`, which are those of `queries()`. Total."""
        one = _Output(self, check, result, names, dict(zip(queries, raws, strict=False)))
        return _told_once([one.value_of(extract) for extract in check.extracts])

    def text(self, template: Any, names: _Names) -> str:
        """A rendered text of a check."""
        return str(self._templates.render(template, names))

    def holds(self, condition: Any, row: Mapping[str, Any], names: _Names) -> bool:
        """Whether a `where` condition chooses a row. Raises UnreadError."""
        known = row_names(row)
        try:
            return truth(self._templates.evaluate(condition, Over(known, names)))
        except TemplateError as error:
            columns = listed(name for name in known if name != "row")
            raise UnreadError(f"where: {condition.text}: {error.message} (the columns are {columns})") from error

    def _query(self, check: Check, extract: Extract, names: _Names) -> SliceQuery | None:
        """The part of an output that this value is in; None where the numbers that are known anyway are enough."""
        if extract.lookup is Lookup.REGEX:
            pattern = self.text(extract.query, names)
            return _matches(pattern, extract.stream, 1 if extract.agg in _FIRST_LINE else MOST_SLICE_LINES)
        how = check.parse
        if how is None:
            return None
        if how.kind is ParseAs.REGEX and how.pattern is not None:
            return _matches(self.text(how.pattern, names), how.stream, MOST_SLICE_LINES)
        if _is_line_count(how, extract):
            return None
        return SliceQuery(
            mode=SliceMode.BYTES, stream=how.stream, last=MOST_PARSED_BYTES, max_lines=1, max_bytes=MOST_PARSED_BYTES
        )


_FIRST_LINE = frozenset({Aggregate.FIRST, Aggregate.COUNT})


def _matches(pattern: str, stream: Stream, lines: int) -> SliceQuery:
    return SliceQuery(
        mode=SliceMode.MATCH,
        stream=stream,
        pattern=pattern,
        max_lines=lines,
        max_bytes=MOST_SLICE_BYTES,
        line_bytes=_LINE_BYTES,
    )


def _is_line_count(how: Parse, extract: Extract) -> bool:
    """Whether the value is how many lines there are, which is known without them."""
    if how.kind is not ParseAs.LINES or extract.lookup is not Lookup.JMESPATH:
        return False
    query = "".join(extract.query.text.split())
    return query == "length(@)" or (extract.agg is Aggregate.COUNT and query in {"@", "[]", "[*]"})


class _Output:
    """One result and what was read of it."""

    def __init__(self, reader: ValueReader, check: Check, result: Result, names: _Names, answers: _Answers) -> None:
        self._reader, self._check, self._result, self._names = reader, check, result, names
        self._answers = answers
        self._parsed: Parsed | UnreadError | None = None

    def value_of(self, extract: Extract) -> ReadValue:
        """Never raises."""
        try:
            found = self._extracted(extract)
        except (UnreadError, TemplateError) as error:
            why = error.message if isinstance(error, TemplateError) else str(error)
            return _unread(extract, clipped(why, 400))
        value = Value(name=extract.name, value=found.value, unit=found.unit)
        levels = [level for level in self._check.levels if level.name == extract.name]
        return self._held(value, found, levels[0]) if levels else ReadValue(value=value)

    def _extracted(self, extract: Extract) -> Extracted:
        try:
            return self._found(extract)
        except NothingError:
            if extract.agg is Aggregate.COUNT or (extract.agg is Aggregate.LIST and extract.missing is None):
                return aggregated(extract, ())
            if extract.missing is None:
                raise
        items = extract.missing if isinstance(extract.missing, list | tuple) else (extract.missing,)
        agg = extract.agg if extract.agg is Aggregate.LIST else Aggregate.FIRST
        return aggregated(replace(extract, agg=agg), [Found(item) for item in items])

    def _found(self, extract: Extract) -> Extracted:
        if extract.lookup is Lookup.REGEX:
            return self._of_pattern(extract)
        how = self._check.parse
        if how is None:
            raise UnreadError("`parse` does not say how the output is to be read")
        if _is_line_count(how, extract):
            output = self._whole(how.stream)
            return Extracted(float(output.lines), extract.unit, ((float(output.lines), ""),))
        parsed = self._read(how)
        query = self._reader.text(extract.query, self._names)
        if extract.lookup is Lookup.JMESPATH:
            return aggregated(extract, found_in_data(query, parsed.data))
        return aggregated(extract, found_in_columns(query, parsed, self._chosen(extract)))

    def _chosen(self, extract: Extract) -> Callable[[Mapping[str, Any]], bool] | None:
        if extract.where is None:
            return None
        condition = extract.where
        return lambda row: self._reader.holds(condition, row, self._names)

    def _of_pattern(self, extract: Extract) -> Extracted:
        pattern = self._reader.text(extract.query, self._names)
        query = _matches(pattern, extract.stream, 1 if extract.agg in _FIRST_LINE else MOST_SLICE_LINES)
        raw = self._answer(query)
        if extract.agg is Aggregate.COUNT:
            number = float(len(raw.lines) + raw.more_lines)
            return Extracted(number, extract.unit, ((number, ""),))
        lines = _lines_of(raw, pattern, whole=extract.agg is not Aggregate.FIRST)
        if not lines:
            count = self._result.output(extract.stream).lines
            raise NothingError(f"`{clipped(pattern, 80)}` was not found in {count:,} lines of {extract.stream}")
        return aggregated(extract, found_in_lines(extract.name, compiled(pattern), lines))

    def _read(self, how: Parse) -> Parsed:
        """The output as parsed, or why it could not be, both once."""
        if self._parsed is None:
            try:
                self._parsed = self._parse(how)
            except UnreadError as error:
                self._parsed = error
        if isinstance(self._parsed, UnreadError):
            raise self._parsed
        return self._parsed

    def _parse(self, how: Parse) -> Parsed:
        if how.kind is ParseAs.REGEX and how.pattern is not None:
            pattern = self._reader.text(how.pattern, self._names)
            raw = self._answer(_matches(pattern, how.stream, MOST_SLICE_LINES))
            return rows_of_matches(compiled(pattern), _lines_of(raw, pattern, whole=True))
        columns = [e.query for e in self._check.extracts if e.lookup is Lookup.COLUMN]
        wanted = tuple(self._reader.text(column, self._names) for column in columns)
        reading = Reading(kind=how.kind, parser=how.parser, delimiter=how.delimiter, wanted=wanted)
        return parse(decoded(self._bytes(how.stream)), reading)

    def _bytes(self, stream: Stream) -> bytes:
        size = self._whole(stream).captured_bytes
        if size > MOST_PARSED_BYTES:
            raise UnreadError(f"{stream} has {size:,} bytes, more than the {MOST_PARSED_BYTES:,} that are parsed")
        query = SliceQuery(
            mode=SliceMode.BYTES, stream=stream, last=MOST_PARSED_BYTES, max_lines=1, max_bytes=MOST_PARSED_BYTES
        )
        data = b"".join(line.data for line in self._answer(query).lines)
        if len(data) != size:
            raise UnreadError(f"of {size:,} bytes of {stream} the host sent {len(data):,}")
        return data

    def _whole(self, stream: Stream) -> Output:
        output = self._result.output(stream)
        if why := gap(output, str(stream), text=True):
            raise UnreadError(why)
        return output

    def _answer(self, query: SliceQuery) -> RawSlice:
        self._whole(query.stream)
        raw = self._answers.get(query)
        if raw is None:
            raise UnreadError("the host did not answer")
        if raw.error:
            what = f"look for `{clipped(query.pattern, 80)}`" if query.pattern else "send the output"
            raise UnreadError(f"the host did not {what}: {clipped(raw.error, 120)}")
        return raw

    def _held(self, value: Value, found: Extracted, levels: Levels) -> ReadValue:
        """The value against its levels: a crit that is raised, else a warn; a level that cannot be read is unknown."""
        ranges: dict[str, tuple[Range, str]] = {}
        reasons: list[tuple[VerdictState, Reason]] = []
        numbers = [(float(entry), label) for entry, label in found.entries if isinstance(entry, bool | int | float)]
        if len(numbers) != len(found.entries):
            why = f"{value.name} is a text, and levels are for numbers"
            return ReadValue(value=value, reasons=((VerdictState.UNKNOWN, _reason(value.name, "a number", why, why)),))
        for level, template in (("crit", levels.crit), ("warn", levels.warn)):
            if template is None:
                continue
            try:
                written = self._reader.text(template, self._names)
                ranges[level] = (parse_range(written, value.unit), written)
            except (ValueError, TemplateError) as error:
                why = f"{value.name}: {level}: {error.message if isinstance(error, TemplateError) else error}"
                reasons.append((VerdictState.UNKNOWN, _reason(value.name, "a range", "none", why)))
        reasons += _raised(value, numbers, ranges)
        texts = {level: held.text for level, (held, _) in ranges.items()}
        return ReadValue(value=replace(value, **texts), reasons=tuple(reasons))


def _raised(
    value: Value, numbers: Sequence[tuple[float, str]], ranges: Mapping[str, tuple[Range, str]]
) -> list[tuple[VerdictState, Reason]]:
    """Why the first of the levels that is raised is."""
    for level, (held, written) in ranges.items():
        worst = raised(held, numbers)
        if worst is None:
            continue
        (number, label), count = worst
        state, word = _WORDS[level]
        actual, place = said(held, number, value.unit)
        where = f" ({clipped(label)})" if label else ""
        more = f", and {count - 1} more" if count > 1 else ""
        message = f"{value.name} was {actual}{where}{more}, {word} {place}"
        return [(state, _reason(value.name, f"{level} {written}", actual, message))]
    return []


def _unread(extract: Extract, why: str) -> ReadValue:
    expected = _KINDS.get(extract.kind) or f"a number{f' in {extract.unit}' if extract.unit else ''}"
    value = Value(name=extract.name, value=None, unit=extract.unit, error=why)
    reason = _reason(extract.name, expected, why, f"{extract.name}: {why}")
    return ReadValue(value=value, reasons=((VerdictState.UNKNOWN, reason),))


def _told_once(values: Sequence[ReadValue]) -> tuple[ReadValue, ...]:
    """What keeps several values from being read is a reason of the first of them, which names them all."""
    names: dict[str, list[str]] = {}
    for one in values:
        if one.value.error:
            names.setdefault(one.value.error, []).append(one.value.name)
    told = []
    for one in values:
        same = names.get(one.value.error, [])
        if len(same) > 1:
            first = one.value.name == same[0]
            why = one.value.error
            reason = _reason(", ".join(same), "values", why, f"{', '.join(same)}: {why}")
            one = replace(one, reasons=((VerdictState.UNKNOWN, reason),) if first else ())
        told.append(one)
    return tuple(told)


def _reason(name: str, expected: str, actual: str, message: str) -> Reason:
    return Reason(subject=f"values.{name}", expected=expected, actual=actual, message=message)


def _lines_of(raw: RawSlice, pattern: str, *, whole: bool) -> list[str]:
    """The lines of an answer. Raises UnreadError where some are missing, or one was cut where it matters."""
    if whole and raw.more_lines:
        count = len(raw.lines) + raw.more_lines
        raise UnreadError(f"{count:,} lines match `{clipped(pattern, 80)}`; at most {len(raw.lines):,} are read")
    lines = [line.data.removesuffix(b"\r").decode("utf-8", "replace") for line in raw.lines]
    cut = [(line, text) for line, text in zip(raw.lines, lines, strict=True) if line.cut_bytes]
    for (line, text), found in zip(cut, first_places(compiled(pattern), [text for _, text in cut]), strict=True):
        if found is None or found.end() >= len(text.rstrip("\ufffd")):
            raise UnreadError(f"line {line.number} is too long: it goes on for {line.cut_bytes:,} bytes more")
    return lines
