"""What the formats for other programs make of texts that are written to break them: their readers get all of it as
text, and nothing as anything else."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import report_factory
import xmlschema
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from prometheus_client.parser import text_string_to_metric_families

from checkrunner.model.characters import is_hidden
from checkrunner.model.history import Detail
from checkrunner.model.report import Report
from checkrunner.model.results import HostState
from checkrunner.render import renderer
from checkrunner.render.gfm import cell, code, fence, prose
from checkrunner.render.markdown import MOST_CHARACTERS
from checkrunner.render.safe import safe

SCHEMA = xmlschema.XMLSchema(str(Path(__file__).parent / "junit.xsd"))
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PERFDATA = re.compile(r"'(?:[^'=]|'')+'=(?:U|-?[0-9.]+)(?:s|%|B|c)?(?:;[^; ]*){0,4}")

pieces = st.sampled_from(
    [
        *"|`*_[]()<>!#@$&;:-+=~\\.1a \"'/^%{}\n\t\r\0\x1b",
        *(
            "http://",
            "www.",
            "&amp;",
            "``",
            "](",
            "\\|",
            "<b>",
            "<!--",
            "]]>",
            "\ud800",
            "\uffff",
            "\u2028",
            "    ",
            "é",
        ),
    ]
)
hostile = st.lists(pieces, max_size=10).map("".join)


def told(report: Report, name: str, detail: Detail | None = None) -> str:
    out = io.StringIO()
    renderer(name).render(report, out, detail)
    text = out.getvalue()
    assert not [char for char in text if is_hidden(char) and char != "\n"]
    return text


@st.composite
def details(draw: st.DrawFn) -> Detail:
    hosts = tuple(draw(st.lists(report_factory.texts, min_size=1, max_size=3, unique_by=safe)))
    checks = tuple(draw(st.lists(report_factory.texts, min_size=1, max_size=3, unique_by=safe)))
    letters = st.text("onwcus.", min_size=len(checks), max_size=len(checks))
    return Detail(
        hosts=hosts,
        states=tuple(draw(st.sampled_from(HostState)) for _ in hosts),
        checks=checks,
        names=checks,
        rows=tuple(draw(letters) for _ in hosts),
    )


@given(report_factory.reports, st.none() | details(), hostile)
@settings(
    max_examples=40,
    # A report that fails is large, and takes minutes to be made smaller.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_every_report_can_be_read_by_the_programs_that_it_is_for(
    report: Report, detail: Detail | None, text: str
) -> None:
    findings = tuple(replace(one, check=text, hosts=text, names=(text, *one.names)) for one in report.findings)
    report = replace(report, findings=findings, warnings=(text,))

    SCHEMA.validate(ET.fromstring(told(report, "junit", detail)))
    assert list(text_string_to_metric_families(told(report, "prometheus", detail)))
    line = told(report, "nagios")
    said, _, data = line.removesuffix("\n").partition(" | ")
    assert "|" not in said
    assert "\n" not in data
    assert " ".join(PERFDATA.findall(data)) == data
    assert len(line.encode()) <= 4096
    page = told(report, "markdown")
    assert len(page) <= MOST_CHARACTERS
    kinds = {token.type for token in flat(MARKDOWN.parse(page))}
    assert (
        kinds & {"link_open", "image", "html_block", "blockquote_open", "ordered_list_open", "hr", "code_block"}
        == set()
    )


def flat(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from token.children or ()


def text_of(tokens: Sequence[Token]) -> str:
    """The text of one paragraph, item or cell: there is nothing else in it than text and code."""
    out = ""
    for token in (child for one in tokens if one.type == "inline" for child in one.children or ()):
        if token.type == "html_inline":
            assert token.content in {"<code>", "</code>"}
        else:
            assert token.type in {"text", "text_special", "code_inline"}
            out += token.content
    return out


@given(hostile)
@settings(max_examples=150)
def test_a_text_in_markdown_is_read_as_that_text(text: str) -> None:
    whole = " ".join(safe(text).split())

    for before in ("", "- ", "### "):
        tokens = MARKDOWN.parse(before + prose(text))
        assert text_of(tokens) == whole
        assert [token.type for token in tokens].count("list_item_open") == (before == "- ")
    assert text_of(MARKDOWN.parse(code(text))) == (" ".join(safe(text).split(" ")).strip() or "-")
    for as_code in (False, True):
        row = f"| 1 | {cell(text, as_code=as_code)} | 3 |"
        cells = [
            token for token in MARKDOWN.parse(f"| a | b | c |\n| --- | --- | --- |\n{row}\n") if token.type == "inline"
        ]
        assert len(cells) == 6
        assert text_of([cells[4]]) == whole
    (block,) = MARKDOWN.parse("\n".join(fence(text.split("a"))))
    assert block.content == "".join(f"{safe(line)}\n" for line in text.split("a"))


@pytest.mark.parametrize(
    "word",
    ["@root", "mail@db1", "#12", "owner/repo#1", "GH-7", "https://evil.example", "www.evil.example", ":tada:", "$x$"],
)
def test_what_a_site_would_make_something_of_is_code(word: str) -> None:
    assert prose(f"see {word} there") == f"see `{word}` there"
