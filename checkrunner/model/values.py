"""Values that a check takes from its output, the levels that they are held against, and comparisons between hosts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from checkrunner.model.results import Stream
from checkrunner.model.sources import NOWHERE, SourceRef, Template

__all__ = ["MOST_PARSED_BYTES", "Aggregate", "Consensus", "Extract", "Levels", "Lookup", "Parse", "ParseAs", "Quorum"]

MOST_PARSED_BYTES = 1 << 18
"""An output that is parsed as a whole is read up to here; a longer one is an error of its
values, never a part of it."""


class ParseAs(StrEnum):
    """How an output is read."""

    JSON = "json"
    YAML = "yaml"
    CSV = "csv"
    KV = "kv"
    TABLE = "table"
    LINES = "lines"
    REGEX = "regex"
    JC = "jc"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parse:
    """What an output is. `parser` names a parser of jc; `pattern` is for ``regex``: its named groups are the columns;
    `delimiter` is for csv and kv, None where it is found out."""

    kind: ParseAs
    stream: Stream = Stream.STDOUT
    parser: str = ""
    pattern: Template | None = None
    delimiter: str | None = None
    source: SourceRef = NOWHERE


class Lookup(StrEnum):
    """How a value is found. All but ``regex`` need `Parse`; ``regex`` is searched for on the host, line by line."""

    JMESPATH = "jmespath"
    REGEX = "regex"
    COLUMN = "column"


class Aggregate(StrEnum):
    """What becomes of several found values."""

    FIRST = "first"
    LAST = "last"
    MIN = "min"
    MAX = "max"
    SUM = "sum"
    MEAN = "mean"
    MEDIAN = "median"
    COUNT = "count"
    LIST = "list"


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """A named value. `kind` is ``number`` (units such as ``5G``, ``80%``, ``200ms`` are understood), ``text`` or
    ``bool``.

    `where` is an expression over a row's columns that chooses rows (column lookups only). `unit` is what the number is
    in once read (``B``, ``s``, ``%``, or any word): metrics carry it. `missing` says what it counts as where nothing is
    found; None makes that an error of the value: the check is then unknown.
    """

    name: str
    lookup: Lookup
    query: Template
    where: Template | None = None
    kind: str = "number"
    unit: str = ""
    agg: Aggregate = Aggregate.FIRST
    stream: Stream = Stream.STDOUT
    missing: Any = None
    source: SourceRef = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """Thresholds of a value: ranges as Nagios plugins write them (``90``, ``10:``, ``~:5``, ``@1:2``), with units, and
    possibly templates. A value outside of a range (inside, with ``@``) raises it."""

    name: str
    warn: Template | None = None
    crit: Template | None = None
    source: SourceRef = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Consensus:
    """Hosts that are alike should answer alike: those that differ from the answer of most of their peers are the
    trouble.

    `by` says who is a peer: ``all`` hosts of the play, ``group`` (the host's own groups, all of them together), or the
    name of a variable. `on` is ``stdout``, ``rc`` or the name of an extracted value. `minimum` is the share (0 to 1) of
    the peers that must agree for their answer to be the right one; with less, nobody is singled out and the check is
    unknown.
    """

    by: str = "all"
    on: str = "stdout"
    minimum: float = 0.8
    source: SourceRef = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Quorum:
    """How many hosts must be ok, among all of the play, or the peers that `by` makes as in `Consensus`. As long as
    there are so many, the others are noted only."""

    count: int | None = None
    fraction: float | None = None
    by: str = "all"
    source: SourceRef = NOWHERE
