"""The report as one HTML file for people: nothing is loaded from elsewhere, and nothing in it runs but our own script.

One of the two doors to Jinja2 (`plan.templates` has the user's templates, sandboxed; here are our own, in `page/`).
Three things keep texts of hosts inert: everything is escaped where it is written, everything goes through `safe`, and a
Content-Security-Policy allows nothing but the very style and scripts that are ours, by their digests.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.resources
import json
from collections.abc import Mapping
from typing import Any, TextIO

import jinja2

from checkrunner.model.history import Detail
from checkrunner.model.report import Report
from checkrunner.render.choice import telling_reasons
from checkrunner.render.drift import became_text, kind_text
from checkrunner.render.finding_facts import facts_of, notes_of, place_of, reason_text
from checkrunner.render.headline import besides, ended_text, news_of
from checkrunner.render.html_page import page_of
from checkrunner.render.html_words import kinds_of, names_of, plural
from checkrunner.render.layout import count_of, duration
from checkrunner.render.safe import safe
from checkrunner.render.since import age, flapping_text, moment, silenced_text, since_text, suppressed_text
from checkrunner.render.values import value_words

__all__ = ["HtmlRenderer"]


class HtmlRenderer:
    """One file that opens in any browser, with and without scripts. Where the stream is not UTF-8, characters that are
    not ASCII are written as references, which mean the same."""

    def __init__(self, *, color: bool | None = None, width: int | None = None) -> None:
        """A page has its own colours and is as wide as its window; both are taken so that all formats are made in one
        way."""
        del color, width

    def render(self, report: Report, out: TextIO, detail: Detail | None = None) -> None:
        """Write the page. Without `detail` the map has the hosts and checks that the report names."""
        page = page_of(report, detail)
        text = _environment().get_template("report.html").render(
            page=page, report=report, data=_json(page.data), **_own_files()
        )  # fmt: skip
        encoding = (getattr(out, "encoding", None) or "utf-8").lower().replace("-", "")
        out.write(text if encoding.startswith("utf") else text.encode("ascii", "xmlcharrefreplace").decode("ascii"))


def _source(name: str) -> str:
    return (importlib.resources.files("checkrunner.render") / "page" / name).read_text(encoding="utf-8")


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_source),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(
        age=age, became=became_text, besides=besides, count_of=count_of, duration=duration, ended=ended_text,
        facts=facts_of, flapping=flapping_text, kind=kind_text, kinds=kinds_of, moment=moment, names=names_of,
        news=news_of, notes=notes_of, place=place_of, plural=plural, reason=reason_text, silenced=silenced_text,
        since=since_text, suppressed=suppressed_text, telling=telling_reasons, value_words=value_words,
    )  # fmt: skip
    return environment


def _shown(value: object) -> object:
    """Whatever is written into the page: no control or invisible character, but in what is HTML already, which is ours
    (`page/` says so with ``| safe``, and of what its macros made)."""
    return safe(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


@functools.cache
def _own_files() -> Mapping[str, str]:
    """Style and scripts, and the policy that allows them alone. They are ASCII, so that their bytes, and with
    them their digests, are the same in every encoding."""
    script = _source("script.js") + _source("map.js")
    files = {"style": _source("style.css"), "theme": _source("theme.js"), "script": script}
    allowed = {name: f"'sha256-{_digest(text)}'" for name, text in files.items()}
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {allowed['theme']} {allowed['script']}",
            f"style-src {allowed['style']}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )
    return {**files, "policy": policy}


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("ascii")).digest()).decode("ascii")


def _json(data: Mapping[str, Any]) -> str:
    """JSON that no HTML parser finds the end of, or a comment in: angle brackets and ampersands stand as escapes."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text
