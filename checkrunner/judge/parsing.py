"""Outputs to data and rows: one function for each way of reading (`parse`). Pure; knows nothing of hosts and checks."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from checkrunner.judge.jc_parsers import parse_with_jc
from checkrunner.judge.parsed import NothingError, Parsed, UnreadError, clipped, distinct, short
from checkrunner.judge.patterns import first_places
from checkrunner.judge.tables import read_table
from checkrunner.model.values import ParseAs
from checkrunner.plainyaml import read_plain

__all__ = ["PARSERS", "Reading", "decoded", "parse", "rows_of_matches"]

_BOM = "\ufeff"
_DELIMITERS = ",;\t|"
_DIGITS = 400
"""An integer of more digits is read as infinity, which no value can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How an output is to be read: what `Parse` says, rendered. `wanted` are the columns that are looked for."""

    kind: ParseAs
    parser: str = ""
    delimiter: str | None = None
    wanted: tuple[str, ...] = ()


def decoded(data: bytes) -> str:
    """The text of an output: without a byte order mark, lines ended by newlines alone, what is not UTF-8 as U+FFFD."""
    text = data.decode("utf-8", "replace").removeprefix(_BOM)
    return text.replace("\r\n", "\n") if "\r" in text else text


def parse(text: str, reading: Reading) -> Parsed:
    """The output as data and rows. Raises UnreadError, and NothingError where there is nothing but space."""
    if not text.strip():
        raise NothingError("the output is empty")
    try:
        return PARSERS[reading.kind](text, reading)
    except RecursionError as error:
        raise UnreadError("the output is nested too deeply") from error


def rows_of_matches(pattern: re.Pattern[str], lines: Sequence[str]) -> Parsed:
    """The named groups of each line in which the pattern is found; a group that took no part is None. Raises
    UnreadError where that takes too long."""
    rows = [found.groupdict() for found in first_places(pattern, lines) if found]
    return Parsed(data=rows, rows=rows, columns=list(pattern.groupindex), what="the pattern")


def _records(data: Any, what: str) -> Parsed:
    """Data of any shape: its rows are the mappings in its list, or itself."""
    some = data if isinstance(data, list) else [data]
    rows = [row for row in some if isinstance(row, dict)]
    columns = dict.fromkeys(str(key) for row in rows for key in row)
    return Parsed(data=data, rows=rows, columns=list(columns), ragged=True, what=what)


def _json(text: str, _reading: Reading) -> Parsed:
    decoder = json.JSONDecoder(parse_int=_integer)
    documents: list[Any] = []
    at = 0
    while at < len(text):
        space = re.compile(r"\s*").match(text, at)
        at = space.end() if space else at
        if at == len(text):
            break
        try:
            document, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            there = short(text[error.pos : error.pos + 30]) if text[error.pos :] else "its end"
            raise UnreadError(f"line {error.lineno} is not JSON: {error.msg} at {there}") from error
        documents.append(document)
    return _records(documents[0] if len(documents) == 1 else documents, "the JSON")


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= _DIGITS else float("inf")


def _yaml(text: str, _reading: Reading) -> Parsed:
    try:
        documents = read_plain(text)
    except ValueError as error:
        raise UnreadError(clipped(str(error), 160)) from error
    return _records(documents[0] if len(documents) == 1 else documents, "the YAML")


def _csv(text: str, reading: Reading) -> Parsed:
    lines = text.strip("\n").split("\n")
    first = next(line for line in lines if line.strip())
    delimiter = reading.delimiter or _sniffed(first)
    try:
        records = [row for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True) if row]
    except (csv.Error, TypeError) as error:
        raise UnreadError(f"it is not CSV: {clipped(str(error), 100)}") from error
    names = [name.strip() for name in records[0]]
    distinct(names)
    for number, row in enumerate(records[1:], 2):
        if len(row) != len(names):
            raise UnreadError(f"record {number} has {len(row)} fields, the line of names has {len(names)}")
    rows = [dict(zip(names, (field.strip() for field in row), strict=True)) for row in records[1:]]
    return Parsed(data=rows, rows=rows, columns=names)


def _sniffed(header: str) -> str:
    """The delimiter that the line of names has most of, outside of quotes; a comma where it has none."""
    bare = re.sub(r'"(?:[^"]|"")*"', "", header)
    return max(_DELIMITERS, key=lambda delimiter: (bare.count(delimiter), -_DELIMITERS.index(delimiter)))


def _kv(text: str, reading: Reading) -> Parsed:
    """Blocks of pairs, an empty line between two: each is a row. A key that comes again in its block has several
    values."""
    rows: list[dict[str, Any]] = [{}]
    for line in text.split("\n"):
        if not line.strip():
            rows += [{}] if rows[-1] else []
            continue
        pair = _pair(line.strip(), reading.delimiter)
        if pair is None:
            continue
        key, value = pair
        before = rows[-1].get(key)
        if before is None:
            rows[-1][key] = value
        elif isinstance(before, list):
            before.append(value)
        else:
            rows[-1][key] = [before, value]
    rows = [row for row in rows if row]
    if not rows:
        raise UnreadError(f"no line has a key and a value; the first is {short(text.strip().splitlines()[0])}")
    columns = dict.fromkeys(key for row in rows for key in row)
    data = rows[0] if len(rows) == 1 else rows
    return Parsed(data=data, rows=rows, columns=list(columns), ragged=True, what="the keys")


def _pair(line: str, delimiter: str | None) -> tuple[str, str] | None:
    if line.startswith(("#", ";")):
        return None
    if delimiter is None:
        places = [at for at in (line.find("="), line.find(":")) if at >= 0]
        if not places:
            return None
        key, value = line[: min(places)], line[min(places) + 1 :]
    else:
        key, found, value = line.partition(delimiter)
        if not found:
            return None
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    return key.strip(), value


def _table(text: str, reading: Reading) -> Parsed:
    return read_table(text, reading.wanted)


def _lines(text: str, _reading: Reading) -> Parsed:
    lines = text.removesuffix("\n").split("\n")
    rows = [{"line": line, "number": number} for number, line in enumerate(lines, 1)]
    return Parsed(data=lines, rows=rows, columns=("line", "number"), what="the lines")


def _jc(text: str, reading: Reading) -> Parsed:
    return _records(parse_with_jc(reading.parser, text), f"what jc:{reading.parser} read")


def _unused(_text: str, _reading: Reading) -> Parsed:
    raise UnreadError("a pattern is looked for line by line")  # on the host: see `rows_of_matches`


PARSERS: Mapping[ParseAs, Callable[[str, Reading], Parsed]] = {
    ParseAs.JSON: _json,
    ParseAs.YAML: _yaml,
    ParseAs.CSV: _csv,
    ParseAs.KV: _kv,
    ParseAs.TABLE: _table,
    ParseAs.LINES: _lines,
    ParseAs.REGEX: _unused,
    ParseAs.JC: _jc,
}
"""By `Parse.kind`."""
