"""What is wrong with a check's values whatever its output is: found before anything connects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from checkrunner.model.errors import TemplateError
from checkrunner.model.playbook import Check
from checkrunner.model.sources import SourceRef, Template
from checkrunner.model.values import Extract, Lookup, ParseAs
from checkrunner.queries import QueryError, check_query

__all__ = ["value_problems"]


def value_problems(check: Check) -> Sequence[TemplateError]:
    """Queries, patterns and ranges that cannot be read, as far as no template makes them, and parsers that are not
    installed."""
    found = list(_of_parse(check))
    for extract in check.extracts:
        found += _of_extract(extract)
    if check.levels:
        found += _of_levels(check)
    return found


def _of_levels(check: Check) -> Iterator[TemplateError]:
    from checkrunner.judge.levels import parse_range
    from checkrunner.model.quantities import base_unit

    units = {extract.name: base_unit(extract.unit) if extract.unit else None for extract in check.extracts}
    for levels in check.levels:
        for key, template in (("warn", levels.warn), ("crit", levels.crit)):
            if template is not None and template.is_static:
                try:
                    parse_range(template.text, units.get(levels.name))
                except ValueError as error:
                    yield _error(template.source, f"levels.{levels.name}.{key}: {error}", template)


def _of_parse(check: Check) -> Iterator[TemplateError]:
    how = check.parse
    if how is not None and how.kind is ParseAs.JC:
        from checkrunner.judge.jc_parsers import missing_parser

        why = missing_parser(how.parser)
        if why:
            yield _error(how.source, why)


def _of_extract(extract: Extract) -> Iterator[TemplateError]:
    query = extract.query
    if not query.is_static:
        return
    try:
        if extract.lookup is Lookup.JMESPATH:
            check_query(query.text)
        elif extract.lookup is Lookup.REGEX:
            re.compile(query.text)
    except QueryError as error:
        yield _error(query.source, str(error), query)
    except (re.error, OverflowError, RecursionError) as error:
        yield _error(query.source, f"not a regular expression: {error}", query)


def _error(source: SourceRef, message: str, template: Template | None = None) -> TemplateError:
    line = template.text.split("\n", 1)[0] if template is not None else ""
    return TemplateError(message, source=source, line_text=line)
