"""`checkrunner diff`: two stored runs compared, through the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import Done, call_here, environment
from outcome_factory import reason, run_info
from view_factory import at, fleet, view

from checkrunner.findings.drift import drift_of
from checkrunner.findings.totals import count
from checkrunner.history.store import Store
from checkrunner.model.history import Evidence, RunRecord, RunView
from checkrunner.model.report import Report
from checkrunner.render.json import json_text

PLAYBOOK = """\
- hosts: localhost
  checks:
    - {id: state, run: cat state, expect: {stdout: {equals: fine}}}
    - {id: other, run: "true"}
"""


class Site:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "history.db"
        self.views: list[RunView] = []

    def __call__(self, *args: str) -> Done:
        return call_here([*args, "--history", str(self.path)], folder=self.folder)

    def saved(self, minute: int, playbook: str = "", of: dict[str, str] | None = None, **hosts: str) -> None:
        outcomes = fleet(**hosts)
        before = self.views[-1] if self.views and not playbook else None
        made = view(outcomes, minute=minute, before=before, of=of)
        made = replace(made, playbook=playbook) if playbook else made
        info: dict[str, Any] = {"id": made.id, "started_at": at(minute)}
        report = Report(run=run_info(**info), totals=count(outcomes))
        why = Evidence(reasons=(reason("rc was 1, expected 0"),))
        evidence = {where: why for where, cell in made.cells.items() if cell.verdict != "ok"}
        with Store.open(str(self.path), create=True) as store:
            record = RunRecord(report=report, report_text=json_text(report), view=made, evidence=evidence)
            store.save(record, now=at(minute))
        self.views.append(made)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_the_last_two_runs_are_compared(site: Site) -> None:
    site.saved(0, web1="disk:o load:c")
    site.saved(5, web1="disk:c load:o")
    done = site("diff")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        "1 thing got worse from run 1 (2026-01-02 03:00 UTC) to 2 (2026-01-02 03:05 UTC)",
        "  - worse: disk on web1: ok for 5 min, now crit",
        "      rc was 1, expected 0",
        "  - better: load on web1",
    ]
    assert json.loads(site("diff", "--format", "json").stdout)["worse"] == 1


def test_a_run_is_compared_with_the_newest_and_the_newest_with_the_one_before(site: Site) -> None:
    for minute, letter in ((0, "o"), (5, "c"), (10, "c")):
        site.saved(minute, web1=f"disk:{letter}")
    assert (site("diff").returncode, site("diff").stdout) == (0, "")
    assert (site("diff", "last").stdout, site("diff", "2").stdout) == ("", "")
    assert site("diff", "1").returncode == 1
    assert "from run 1 " in site("diff", "r0").stdout
    assert (site("diff", "-3", "last").returncode, site("diff", "last", "-3").returncode) == (1, 0)


def test_a_stored_run_differs_as_the_run_itself_did(site: Site) -> None:
    site.saved(0, web1="disk[/]:c disk[/var]:o load:w", web2="load:o")
    site.saved(5, web1="disk[/]:c disk[/var]:c load:u", web2="load:s", web3="load:c")
    live = drift_of(*site.views)
    with Store.open(str(site.path)) as store:
        stored = drift_of(store.view(1), store.view(2))
    assert stored == live
    assert live.worse == 3


def test_runs_of_two_playbooks_are_refused(site: Site) -> None:
    site.saved(0, web1="disk:o load:o")
    site.saved(5, playbook="/etc/checks/other.yml", web1="disk:c more:c")
    refused = site("diff", "1", "2")
    assert (refused.returncode, refused.stdout) == (64, "")
    assert "--force" in refused.stderr
    forced = site("diff", "1", "2", "--force")
    assert forced.returncode == 1
    assert "worse: disk on web1" in forced.stdout
    assert "more" not in forced.stdout
    assert "two playbooks" in forced.stdout


def test_what_cannot_be_compared_is_an_error(site: Site) -> None:
    assert "there is no such file" in site("diff").stderr
    site.saved(0, web1="disk:o")
    for args, said in (
        ((), "is the only one"),
        (("7", "1"), "no run is called '7'"),
        (("1", "1", "1"), "compares two runs"),
        (("--playbook", "nothing.yml"), "it holds no run of nothing.yml"),
        (("1", "--playbook", "nothing.yml"), "a run knows its playbook"),
        (("--form", "json"), "there is no option --form"),
        (("--format", "xml"), "no format is called 'xml'"),
    ):
        done = site("diff", *args)
        assert (done.returncode, done.stdout) == (64, ""), args
        assert said in done.stderr, args
    off = call_here(["diff", "--history", "none"], folder=site.folder)
    assert (off.returncode, "no history of runs is kept" in off.stderr) == (64, True)


def test_a_silenced_check_is_not_worse(site: Site) -> None:
    from datetime import UTC, datetime, timedelta

    site.saved(0, web1="disk:o")
    site.saved(5, web1="disk:c")
    now = datetime.now(UTC)
    with Store.open(str(site.path)) as store:
        store.silence("web*", "disk", until=now + timedelta(days=1), why="known", by="ops", now=now)
    done = site("diff")
    assert (done.returncode, "worse, and silenced: disk on web1" in done.stdout) == (0, True)


def test_runs_say_what_changed_by_themselves(site: Site) -> None:
    (site.folder / "play.yml").write_text(PLAYBOOK, encoding="utf-8")
    state = site.folder / "state"
    reports = []
    for text in ("fine\n", "broken\n", "broken\n"):
        state.write_text(text, encoding="utf-8")
        done = site("run", "play.yml", "--format", "json", "-q")
        reports.append(json.loads(done.stdout))
    assert "drift" not in reports[0]
    assert [(one["drift"]["worse"], one["drift"].get("unchanged", 0)) for one in reports[1:]] == [(1, 0), (0, 1)]
    assert reports[1]["drift"]["against"] == reports[0]["run"]["id"]
    (change,) = reports[1]["drift"]["changes"]
    assert (change["kind"], change["check"], change["hosts"]) == ("regression", "state", "localhost")
    assert change["finding"] == reports[1]["findings"][0]["id"]
    assert reports[2]["findings"][0]["since"] == reports[1]["run"]["started_at"]
    assert (site("diff").returncode, site("diff", "1").returncode) == (0, 1)
    shown = call_here(
        ["run", "play.yml", "--history", str(site.path), "-q"], folder=site.folder, env=environment(site.folder)
    )
    assert "nothing got worse" in shown.stdout
