"""The JSON report that a run wrote, read back: checked as a whole, and made `Report` again."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, NoReturn

from pydantic import Field, ValidationError

from checkrunner.load.report_drift import ChangePart, DriftPart
from checkrunner.load.report_leaves import KINDS, Count, Metadata, Time
from checkrunner.load.report_parts import (
    BudgetPart,
    IncompletePart,
    MessagePart,
    MetricsPart,
    NamesIn,
    OmissionPart,
    Part,
    ReasonPart,
    RunPart,
    SilencedPart,
    SlicePart,
    SuppressedPart,
    TotalsPart,
    ValuePart,
    VariantPart,
    some,
)
from checkrunner.model.errors import LoadError, nearest
from checkrunner.model.report import REPORT_SCHEMA, Finding, Report
from checkrunner.model.results import Execution, Severity, VerdictState
from checkrunner.model.sources import SourceRef

__all__ = ["read_report"]

_KIND = REPORT_SCHEMA.rpartition("/")[0] + "/"
_MADE_BY = "A run writes a report with `-o FILE`, and with `--format json` to stdout"
_FOR_PEOPLE = ("CRITICAL  ", "WARNING  ", "INCOMPLETE  ", "OK  ", "ERROR  ")
_LONGEST = 60
_LONGEST_PIECE = 6
"""No word or escape of JSON that may have been cut has more characters."""
_BLANK = " \t\r\n"


class _FindingPart(VariantPart):
    """A finding: it stands on hosts and has slices, as a variant does."""

    id: str
    check: str
    name: str = ""
    play: str = ""
    because: str = ""
    explained_by: str = ""
    novelty: Literal["", "new", "known"] = ""
    since: Time | None = None
    changes: Count = 0
    severity: Severity = Severity.CRITICAL
    verdict: VerdictState
    noted: bool = False
    execution: Execution = Execution.DONE
    folded_by: Literal["", "equal", "masked", "near"] = ""
    items: tuple[str, ...] = ()
    item_count: Count = 0
    silenced: SilencedPart | None = None
    reasons: tuple[ReasonPart, ...] = ()
    result: Metadata = Field(default_factory=dict)
    seen: Metadata = Field(default_factory=dict)
    values: tuple[ValuePart, ...] = ()
    slices: tuple[SlicePart, ...] = ()
    variants: tuple[VariantPart, ...] = ()
    notes: tuple[str, ...] = ()
    why: str = ""
    fix: str = ""

    def finding(self, play: str, names_in: NamesIn) -> Finding:
        """The same in words of the model. `play` is that of all findings."""
        as_they_are = {
            name: getattr(self, name)
            for name in (
                *("id", "check", "because", "explained_by", "novelty", "severity", "verdict", "execution"),
                *("folded_by", "since", "changes", "item_count", "result", "seen", "why", "fix"),
            )
        }
        where = self.where(names_in)
        if exemplar := next((piece.evidence.partition("/")[0] for piece in self.slices if piece.evidence), ""):
            where["names"] = _first(exemplar, where["names"])
        return Finding(
            **as_they_are,
            **where,
            name=self.name or self.check,
            play=self.play or play,
            items=self.items,
            silenced=self.silenced.made() if self.silenced else None,
            reasons=some(self.reasons),
            values=some(self.values),
            slices=some(self.slices),
            variants=tuple(variant.made(names_in) for variant in self.variants),
            notes=self.notes,
        )


class _ReportPart(Part):
    """The whole document."""

    schema_name: Annotated[str, Field(alias="schema")]
    run: RunPart
    totals: TotalsPart
    play: str = ""
    findings: tuple[_FindingPart, ...]
    incomplete: tuple[IncompletePart, ...]
    suppressed: tuple[SuppressedPart, ...] = ()
    drift: DriftPart | None = None
    metrics: tuple[MetricsPart, ...] = ()
    messages: tuple[MessagePart, ...] = ()
    warnings: tuple[str, ...]
    omissions: tuple[OmissionPart, ...]
    redacted: dict[str, Count] = Field(default_factory=dict)
    budget: BudgetPart

    def made(self, names_in: NamesIn) -> Report:
        """The same in words of the model."""
        return Report(
            schema=self.schema_name,
            run=self.run.made(),
            totals=self.totals.made(),
            findings=tuple(finding.finding(self.play, names_in) for finding in self.findings),
            incomplete=tuple(entry.made(names_in) for entry in self.incomplete),
            suppressed=tuple(entry.made(names_in) for entry in self.suppressed),
            drift=self.drift.made(names_in) if self.drift else None,
            metrics=some(self.metrics),
            messages=tuple(message.made(names_in) for message in self.messages),
            warnings=self.warnings,
            omissions=some(self.omissions),
            redacted=self.redacted,
            budget=self.budget.made(),
        )


def read_report(text: str, path: str, *, names_in: NamesIn) -> Report:
    """The report in a text. `path` says in errors whose text it is, `names_in` unfolds names of hosts.

    The document that is made of it again is the same. Ranks of lines are not in it, and neither are the hosts of
    which names were left out: they are counted in `unnamed`. Raises LoadError for everything that is no report.
    """
    document = _parsed(text, path)
    _check_schema(document, path)
    try:
        return _ReportPart.model_validate_json(text).made(names_in)
    except ValidationError as error:
        _refuse_shape(error, path)


def _first(name: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names with this one, the host whose texts are shown, before the others."""
    return (name, *(other for other in names if other != name)) if name in names else names


def _parsed(text: str, path: str) -> dict[str, Any]:
    here = SourceRef(path=path)
    if not text.strip(_BLANK):
        raise LoadError("is empty: there is no report in it", source=here, hint=f"{_MADE_BY}; see what became of it")
    try:
        document = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        _refuse_text(error, text, path)
    except (RecursionError, ValueError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise LoadError(f"is no report: {why}", source=here, hint=_MADE_BY) from None
    if not isinstance(document, dict):
        kind = "a list" if isinstance(document, list) else "a single value"
        raise LoadError(f"is no report: it holds {kind} where a report is an object", source=here, hint=_MADE_BY)
    return document


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")


def _refuse_text(error: json.JSONDecodeError, text: str, path: str) -> NoReturn:
    here = SourceRef(path=path, line=error.lineno, column=error.colno)
    if error.msg == "Extra data":
        hint = "Give each report a file of its own"
        raise LoadError("has more than one JSON document", source=here, hint=hint) from None
    begin = text.lstrip(_BLANK)
    if begin.startswith(_FOR_PEOPLE):
        hint = "It looks like a report for people. Write one as JSON: with `-o FILE` or `--format json`"
        raise LoadError("is not JSON", source=SourceRef(path=path), hint=hint) from None
    rest = text[error.pos :].rstrip(_BLANK)
    cut = error.msg.startswith("Unterminated string") or (len(rest) <= _LONGEST_PIECE and "}" not in rest)
    if cut and begin.startswith("{"):
        size = len(text.encode("utf-8", "surrogatepass"))
        hint = "It was not written or copied to its end: a full disk, or a run that still goes on"
        raise LoadError(f"ends in the middle of the report, after {size:,} bytes", source=here, hint=hint) from None
    raise LoadError(f"is not JSON: {error.msg[:1].lower()}{error.msg[1:]}", source=here, hint=_MADE_BY) from None


def _check_schema(document: dict[str, Any], path: str) -> None:
    name = document.get("schema")
    if name == REPORT_SCHEMA:
        return
    here = SourceRef(path=path)
    if not isinstance(name, str):
        raise LoadError("is no report: it names no schema", source=here, hint=_MADE_BY)
    hint = f"What is read here is {REPORT_SCHEMA}. {_MADE_BY}"
    if name.startswith(_KIND):
        run = document.get("run")
        version = run.get("version") if isinstance(run, dict) else None
        by = f" {_short(version)}" if isinstance(version, str) else ""
        hint = f"What is read here is {REPORT_SCHEMA}. Read it with the version that wrote it: checkrunner{by}"
    what = "is a report of another version" if name.startswith(_KIND) else "is no report"
    raise LoadError(f"{what}: its schema is {_short(name)}", source=here, hint=hint)


def _refuse_shape(error: ValidationError, path: str) -> NoReturn:
    """The first thing that is wrong, and how many more there are."""
    found = error.errors(include_url=False)
    first = found[0]
    place = _place(first["loc"])
    kind, given = first["type"], first["input"]
    hint = f"`checkrunner schema report` says what a report has. {_MADE_BY}"
    if kind == "missing":
        said = f"{place} is missing"
    elif kind == "extra_forbidden":
        known = _fields_at(first["loc"])
        close = nearest(str(first["loc"][-1]), known)
        said = f"{place} is a field that reports do not have"
        if close:
            hint = f"Did you mean {close!r}?"
    elif kind == "json_invalid":  # a surrogate without its other half, which json lets through
        said = first["msg"].removeprefix("Invalid JSON: ")
    elif kind in KINDS:
        said = f"{place} {first['msg']}"
    else:
        expected = first["msg"].removeprefix("Input should be ").removeprefix("a valid ")
        said = f"{place} is {_short(given)}, expected {expected}"
    if len(found) > 1:
        said += f" (and {len(found) - 1:,} more faults)" if len(found) > 2 else " (and one more fault)"
    raise LoadError(f"is no whole report: {said}", source=SourceRef(path=path), hint=hint) from None


def _fields_at(place: tuple[int | str, ...]) -> list[str]:
    """The fields that the object at this place may have."""
    part: Any = _ReportPart
    for step in place[:-1]:
        if isinstance(step, str):
            part = _PARTS.get(step, part)
    return [field.alias or name for name, field in part.model_fields.items()]


_PARTS: dict[str, type[Part]] = {
    "run": RunPart,
    "totals": TotalsPart,
    "findings": _FindingPart,
    "incomplete": IncompletePart,
    "silenced": SilencedPart,
    "suppressed": SuppressedPart,
    "drift": DriftPart,
    "changes": ChangePart,
    "metrics": MetricsPart,
    "messages": MessagePart,
    "omissions": OmissionPart,
    "budget": BudgetPart,
    "reasons": ReasonPart,
    "values": ValuePart,
    "slices": SlicePart,
    "variants": VariantPart,
}


def _place(steps: tuple[int | str, ...]) -> str:
    """``findings[3].verdict``."""
    out = ""
    for step in steps:
        out += f"[{step}]" if isinstance(step, int) else f".{step}" if out else step
    return _cut(out) if out else "the document"


def _short(value: object) -> str:
    return _cut(json.dumps(value, ensure_ascii=False, default=str))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
