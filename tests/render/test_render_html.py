"""The page as text: what it holds, and that it holds nothing but what is ours and what is escaped."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from html_samples import STARTED, attacked, fleet, info, made_finding
from hypothesis import HealthCheck, given, settings
from report_factory import reports

from checkrunner.findings.totals import count
from checkrunner.model.characters import is_hidden
from checkrunner.model.history import Detail
from checkrunner.model.report import Incomplete, Report, Silenced
from checkrunner.model.results import HostState, Reason, VerdictState
from checkrunner.render.html import HtmlRenderer
from checkrunner.render.html_map import cells_of, ranges, rows_data
from checkrunner.render.html_words import names_of, status_of
from checkrunner.testing import check_renderer

OURS = frozenset(
    re.findall(
        r"\w+",
        """
        html head meta title link style script body main section header article dialog
        h1 h2 h3 p div span b i br bdi code kbd time a ul li dl dt dd figure figcaption details summary
        table colgroup thead tbody tr th td button label input select option svg symbol path circle rect use
        """,
    )
)


class Page(HTMLParser):
    """What a parser finds: tags, attributes, and the text of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        {"script": self.scripts, "style": self.styles}.get(self._inside, self.texts).append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.texts))


def page_of(report: Report, detail: Detail | None = None) -> str:
    out = io.StringIO()
    HtmlRenderer().render(report, out, detail)
    return out.getvalue()


def small(*findings: Any, **fields: Any) -> Report:
    totals = replace(count([]), planned=1, hosts=1)
    return Report(run=info(), totals=totals, findings=findings, **fields)


def check_inert(text: str) -> None:
    page = Page(text)
    assert {tag for tag, _ in page.tags} <= OURS
    names = {name for _, attributes in page.tags for name in attributes}
    assert not {name for name in names if name.startswith("on") or name in {"style", "src", "srcdoc", "action"}}
    links = {attributes["href"] for _, attributes in page.tags if "href" in attributes}
    assert {link for link in links if not re.match(r"#[\w-]+$|data:image/svg\+xml,", link)} == set()
    assert [attributes.get("type") for tag, attributes in page.tags if tag == "script"] == [
        None,
        "application/json",
        None,
    ]
    assert [char for char in text if is_hidden(char) and char != "\n"] == []
    assert text.count("</script") == 3
    assert text.count("<!--") == 0


@given(reports)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_whatever_a_report_holds_the_page_has_our_own_markup_alone(report: Report) -> None:
    check_inert(page_of(report))


def test_hostile_texts_are_told_and_inert() -> None:
    text = page_of(*attacked())

    check_inert(text)
    assert "<img src=x onerror=owned('img')>" in Page(text).text
    assert "<U+202E>gnp.exe" in Page(text).text


def test_the_policy_allows_our_scripts_and_style_alone() -> None:
    text = page_of(small())
    page = Page(text)
    policy = next(attributes["content"] for _, attributes in page.tags if "http-equiv" in attributes)
    theme, _, script = page.scripts

    def allowed(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert f"script-src {allowed(theme)} {allowed(script)};" in policy
    assert f"style-src {allowed(page.styles[0])};" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert text.index("Content-Security-Policy") < text.index("<style>")


def test_where_utf8_cannot_be_written_the_page_says_the_same() -> None:
    report = small(made_finding("größe", fix="größer \N{SNOWMAN}"))
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="latin-1")

    HtmlRenderer().render(report, out)
    out.flush()

    assert html.unescape(raw.getvalue().decode("ascii")) == html.unescape(page_of(report))


def test_the_same_report_gives_the_same_page() -> None:
    check_renderer(HtmlRenderer(color=True, width=80), attacked()[0])


def test_since_silenced_suppressed_drift_and_fix_are_told() -> None:
    report, detail = fleet(60, 12, 12)
    first = next(finding for finding in report.findings if finding.since and finding.since < STARTED)

    text = Page(page_of(report, detail)).text

    assert f"since {first.since:%Y-%m-%d %H:%M} UTC (" in text
    assert "silenced until 2026-03-18 06:30 UTC by alice: the array is being replaced" in text
    assert "until 2026-03-15 02:30 UTC, since it did harm 3 times: could not be ended: df waits in" in text
    assert "2 things got worse since 2026-03-14 06:25 UTC" in text
    assert "ok, now crit" in text
    assert "1 better" in text
    assert "312 things are in trouble as before." in text
    assert "to do Is the host on? Is it in the right network?" in text
    assert f"journalctl -u {first.check} -S -1h | tail -50" in text
    assert "flapping: 5 changes in the last 10 runs" in text


@pytest.mark.parametrize(("ago", "word"), [(0, "new"), (1, "changed")])
def test_other_evidence_of_what_was_in_trouble_is_not_called_new(ago: int, word: str) -> None:
    report, detail = fleet(4, 2, 2)
    news = made_finding("a", novelty="new", since=report.run.started_at - timedelta(seconds=ago))

    page = page_of(replace(report, findings=(news,)), detail)

    assert set(re.findall(r'<span class="tag new">(\w+)</span>', page)) == {word}


def test_silenced_hosts_are_no_trouble_of_the_run() -> None:
    quiet = Silenced(until=STARTED, why="it is being moved")
    gone: dict[str, Any] = {"state": HostState.UNREACHABLE, "phase": "connect"}
    report = small(
        incomplete=(
            Incomplete(reason="no route", hosts="a", names=("a",), **gone),
            Incomplete(reason="no light", hosts="b", names=("b",), silenced=quiet, **gone),
        )
    )

    text = Page(page_of(report)).text

    assert "Could not look everywhere : 1 host." in text
    assert "1 thing silenced" in text
    assert "b silenced until 2026-03-14 06:30 UTC: it is being moved no light" in text
    assert text.index("no route") < text.index("Silenced") < text.index("no light")


def test_a_large_fleet_is_a_small_file() -> None:
    report, detail = fleet(500, 60, 40)

    assert len(page_of(report, detail).encode()) < 400_000


def data_of(text: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(Page(text).scripts[1])
    return made


def test_a_cell_leads_to_its_finding() -> None:
    hosts = ("a", "b", "c", "d")
    detail = Detail(
        hosts=hosts, states=(HostState.REACHED,) * 4, checks=("load", "unit[x]", "unit[y]"), names=("load", "u", "u"),
        rows=("occ", "ooo", "occ", "wcc"),
    )  # fmt: skip
    loop = made_finding("a", "c", "d", check="unit", items=("x", "y"), item_count=2)
    load = made_finding("d", id="2", check="load", verdict=VerdictState.WARN)

    data = data_of(page_of(small(loop, load), detail))

    assert data["entries"][:2] == [["c", [0, 1, 2, 2], [1, 2]], ["w", [3, 1], [0]]]
    assert data["rows"] == {"of": ["o2c", "3o", "w2c"], "at": [0, 1, 0, 2]}


def test_without_detail_the_map_has_what_the_report_names() -> None:
    noted = Reason(subject="rc", expected="0", actual="1", message="no")
    report = small(
        made_finding("a", "b", check="unit[x]"),
        made_finding("b", id="2", check="load", verdict=VerdictState.OK, reasons=(noted,)),
        incomplete=(
            Incomplete(state=HostState.UNREACHABLE, phase="connect", reason="no", hosts="c", names=("c",)),
            Incomplete(state=HostState.LOST, phase="run", reason="no", hosts="a", names=("a",)),
        ),
    )

    cells = cells_of(report, None)

    assert (cells.hosts, cells.checks) == (["a", "b", "c"], ["unit[x]", "load"])
    assert cells.rows == ["c_", "cn", "uu"]
    assert cells.states == [HostState.LOST, HostState.REACHED, HostState.UNREACHABLE]
    assert "names only hosts where something is to be said" in page_of(report)


def test_hosts_that_show_the_same_are_one_row_in_words() -> None:
    names = tuple(f"web{at}" for at in range(9))
    detail = Detail(
        hosts=("fine", *names, "gone"), states=(*[HostState.REACHED] * 10, HostState.UNREACHABLE), checks=("a", "b"),
        names=("a", "b"), rows=("oo", *["cs"] * 9, "uu"),
    )  # fmt: skip

    text = Page(page_of(small(), detail)).text

    assert "web0, web1, web2, web3, web4, web5 and 3 more web6, web7, web8 critical a" in text
    assert "gone unreachable unknown all 2 checks" in text
    assert "fine" not in text


def test_places_and_rows_are_packed() -> None:
    assert ranges([4, 3, 9, 3]) == [3, 2, 9, 1]
    assert ranges([]) == []
    assert rows_data(["ooow.", "ooow.", ""]) == {"of": ["3ow.", ""], "at": [0, 0, 1]}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"exit_code": 0}, ("OK", "o")),
        ({"exit_code": 1}, ("WARNING", "w")),
        ({"exit_code": 2}, ("CRITICAL", "c")),
        ({"exit_code": 3, "complete": False}, ("INCOMPLETE", "u")),
        ({"exit_code": 130, "complete": False}, ("INCOMPLETE", "u")),
        ({"exit_code": 130}, ("OK", "o")),
        ({"exit_code": 70, "ended": "error"}, ("ERROR", "c")),
    ],
)
def test_the_first_word_is_what_the_exit_code_says(fields: dict[str, Any], words: tuple[str, str]) -> None:
    report = replace(small(), run=info(**fields))

    assert status_of(report) == words
    assert status_of(replace(report, totals=count([])))[0] == ("ERROR" if words[0] == "ERROR" else "NOTHING CHECKED")


@pytest.mark.parametrize(
    ("folded", "words"),
    [("a,b", "a, b"), ("web[1,3-4],db[2,5]", "web[1,3-4], db[2,5]"), ("r[1,2]-[3,4],x", "r[1,2]-[3,4], x")],
)
def test_folded_names_may_be_broken_between_them(folded: str, words: str) -> None:
    assert names_of(folded) == words


def test_our_files_are_ascii_and_end_no_script() -> None:
    page = Page(page_of(small()))
    ours: Sequence[str] = (page.scripts[0], page.scripts[2], page.styles[0])

    assert all(text.isascii() and "</" not in text and "<!--" not in text for text in ours)
    assert "innerHTML" not in page.scripts[2]
    assert "url(" not in page.styles[0]
    assert "@import" not in page.styles[0]
