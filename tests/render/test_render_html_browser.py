"""The page in a real browser: what it shows, what can be done with it, and that nothing of a host's runs there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest
from html_samples import attacked, fleet
from playwright.sync_api import Browser, Page, expect, sync_playwright

from checkrunner.model.history import Detail
from checkrunner.model.report import Report
from checkrunner.render.html import HtmlRenderer

CHROMIUM = shutil.which("chromium")
DEADLINE_MS = 45_000
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium")

# Notes what must not happen, before anything of the page runs.
WATCH = """
window.happened = [];
window.owned = (what) => happened.push(`ran: ${what}`);
document.addEventListener("securitypolicyviolation", (event) => happened.push(`policy: ${event.violatedDirective}`));
addEventListener("error", (event) => happened.push(`error: ${event.message}`));
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for this module: as long as it is there, no event loop can be started in this process."""
    expect.set_options(timeout=DEADLINE_MS)
    arguments = ["--host-resolver-rules=MAP * ~NOTFOUND", "--disable-dev-shm-usage"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments, timeout=DEADLINE_MS)
        yield started
        started.close()


class Opened:
    """A page that is open, and what was asked for while it was."""

    def __init__(self, browser: Browser, path: Path, made: tuple[Report, Detail | None], **options: Any) -> None:
        with path.open("w", encoding="utf-8") as out:
            HtmlRenderer().render(made[0], out, made[1])
        self.context = browser.new_context(**{"viewport": DESKTOP, **options})
        self.context.set_default_timeout(DEADLINE_MS)
        self.asked_for: list[str] = []
        self.complaints: list[str] = []
        self.page: Page = self.context.new_page()
        self.page.add_init_script(WATCH)
        self.page.on("request", lambda request: self.asked_for.append(request.url.partition("#")[0]))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.url = path.as_uri()
        self.page.goto(self.url)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def check_nothing_happened(self) -> None:
        assert self.page.evaluate("happened") == []
        assert self.complaints == []
        assert {url for url in self.asked_for if not url.startswith("data:image/svg")} == {self.url}


def test_hostile_texts_do_nothing(browser: Browser, tmp_path: Path) -> None:
    with Opened(browser, tmp_path / "report.html", attacked()) as opened:
        page = opened.page
        expect(page.locator("#view tbody tr")).to_have_count(10)
        expect(page.locator("#f1 h3")).to_contain_text("</script><script>owned('script')</script>")
        assert page.locator("iframe, img, form").count() == 0

        page.locator("#view tbody td").nth(11).hover()
        expect(page.locator("#tip")).to_contain_text("owned")
        page.locator("#view tbody th").nth(1).click()
        expect(page.locator("#query")).to_have_value("<img src=x onerror=owned('img')>")
        expect(page.locator("#view tbody tr")).to_have_count(1)
        page.locator("#query").fill("{{ 7 * 7 }}")
        page.locator("#query").press("Escape")
        page.locator("[data-on-map]").first.click()
        page.locator("#theme").click()
        page.locator("#keys").click()
        page.locator("#close").click()

        opened.check_nothing_happened()


def test_a_script_that_got_into_the_page_would_not_run(browser: Browser, tmp_path: Path) -> None:
    """The second line of defence, alone: markup that nobody escaped."""
    smuggled = (
        "<main><script>owned('script')</script><img src=data:, onerror=owned('img')><style>*{display:none}</style>"
    )
    with Opened(browser, tmp_path / "report.html", fleet(20, 4, 4)) as opened:
        path = tmp_path / "report.html"
        path.write_text(path.read_text(encoding="utf-8").replace("<main>", smuggled), encoding="utf-8")
        opened.page.reload()

        expect(opened.page.locator(".status")).to_be_visible()
        assert sorted(opened.page.evaluate("happened")) == [
            "policy: script-src-attr", "policy: script-src-elem", "policy: style-src-elem",
        ]  # fmt: skip


def test_the_page_is_searched_and_walked_through(browser: Browser, tmp_path: Path) -> None:
    report, detail = fleet(200, 12, 20)
    with Opened(browser, tmp_path / "report.html", (report, detail)) as opened:
        page = opened.page
        cards, rows, query = (
            page.locator(".card:visible"),
            page.locator("#view tbody tr:not(.space)"),
            page.locator("#query"),
        )
        everything = cards.count()
        assert rows.count() < 100, "only the rows in sight are there"

        # A host that only a folded list of names holds.
        host = next(one for one in report.findings if one.host_count > 6).names[3]
        page.keyboard.press("/")
        page.keyboard.type(host)
        expect(page.locator("#matches")).to_contain_text(f"of {everything} findings")
        assert 0 < cards.count() < everything
        expect(rows).to_have_count(1)
        page.keyboard.press("Escape")
        expect(cards).to_have_count(everything)

        page.locator(".chip[data-verdict=w]").click()
        assert {card.get_attribute("class") for card in cards.all()} == {"card v-w"}
        page.locator(".chip[data-verdict=w]").click()
        query.fill("no such thing")
        expect(page.locator(".empty")).to_be_visible()
        query.press("Escape")

        page.keyboard.press("j")
        page.keyboard.press("j")
        expect(page.locator("#f2")).to_be_focused()

        # The worst host is first: from its first critical cell to the finding.
        page.keyboard.press("m")
        page.keyboard.press("ArrowDown")
        letters = detail.rows[detail.hosts.index(page.locator("#view tbody th").first.get_attribute("title") or "")]
        for _ in range(letters.index("c")):
            page.keyboard.press("ArrowRight")
        expect(page.locator("#said")).to_contain_text(": critical")
        page.keyboard.press("Enter")
        expect(page.locator(".card:focus h3 bdi")).to_have_text(detail.checks[letters.index("c")])

        page.locator("#view").evaluate("view => view.scrollTop = view.scrollHeight")
        expect(page.locator("#view tbody tr[aria-rowindex='201']")).to_be_visible()
        page.locator("#only-bad").check()
        expect(page.locator("#size")).to_contain_text("of 200 and 12")

        page.keyboard.press("t")
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        page.reload()
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")

        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("details:not([open])").count() == 0
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        opened.check_nothing_happened()


def test_the_page_is_read_without_scripts(browser: Browser, tmp_path: Path) -> None:
    made = fleet(20, 8, 6)
    with Opened(browser, tmp_path / "report.html", made, java_script_enabled=False, viewport=PHONE) as opened:
        page = opened.page
        expect(page.locator(".status")).to_have_text("CRITICAL")
        assert page.locator(".card:visible").count() == len(made[0].findings)
        expect(page.locator("#words table")).to_be_visible()
        assert page.locator("button:visible, input:visible").count() == 0


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_the_page_is_accessible(browser: Browser, tmp_path: Path, colours: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    made = fleet(12, 8, 5)
    for viewport in (DESKTOP, PHONE):
        with Opened(browser, tmp_path / "report.html", made, viewport=viewport, color_scheme=colours) as opened:
            page = opened.page
            page.locator("#words > summary").click()
            page.locator("#view table").press("ArrowDown")
            expect(page.locator("#tip")).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "it is as wide as the window"

            found = Axe().run(page).response["violations"]

            assert [(one["impact"], one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []
