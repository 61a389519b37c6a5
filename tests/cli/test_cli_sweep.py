"""`sweep`: when it speaks, what it ends with, and how it gets along with others of its kind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from command_line import Done, call_here, environment
from sshd import wait_until

from checkrunner.app.lock import Lock
from checkrunner.app.sweeping import Turn, worst
from checkrunner.history.store import Store

PLAY = """\
- hosts: all
  checks:
    - {{id: up, run: "test ! -e {folder}/{name}.down"}}
    - {{id: same, run: "true"}}
"""


@dataclass
class Site:
    """A folder with playbooks, a history of its own, and switches that break their checks."""

    folder: Path

    def sweep(self, *words: str, playbooks: tuple[str, ...] = ("web.yml",)) -> Done:
        env = {**environment(self.folder), "XDG_STATE_HOME": str(self.folder / "state"), "CHECKRUNNER_HISTORY": ""}
        return call_here(["sweep", *playbooks, *words], folder=self.folder, env=env)

    def playbook(self, name: str) -> None:
        (self.folder / f"{name}.yml").write_text(PLAY.format(folder=self.folder, name=name), encoding="utf-8")

    def switch(self, name: str = "web") -> Path:
        return self.folder / f"{name}.down"

    @property
    def lock(self) -> Lock:
        """That of the sweep of web.yml, which has run before."""
        paths = (self.folder / "state" / "checkrunner" / "locks").glob("web-*.lock")
        (path,) = (path for path in paths if not path.stem.endswith(".next"))
        return Lock(path.parent, path.stem)

    def runs(self) -> list[tuple[str, str]]:
        with Store.open(self.folder / "state" / "checkrunner" / "history.db") as store:
            return [(run.kind, run.ended) for run in store.runs()]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    made = Site(tmp_path)
    made.playbook("web")
    return made


def said(done: Done) -> tuple[int, str, str]:
    return done.returncode, done.stdout, done.stderr


def test_it_speaks_when_something_got_worse_and_at_no_other_time(site: Site) -> None:
    assert said(site.sweep()) == (0, "", "")
    site.switch().touch()
    worse = site.sweep("--format", "json", "-o", "out.json")
    still = site.sweep("--format", "json", "-o", "out.json")
    written = json.loads((site.folder / "out.json").read_text())
    always = site.sweep("--always")
    site.switch().unlink()
    better = site.sweep()

    assert (worse.returncode, worse.stderr) == (2, "")
    drift = json.loads(worse.stdout)["drift"]
    assert [(change["kind"], change["check"]) for change in drift["changes"]] == [("regression", "up")]
    assert said(still) == (2, "", "")
    assert written["drift"].get("worse", 0) == 0
    assert (always.returncode, always.stdout != "") == (2, True)
    assert said(better) == (0, "", "")
    assert site.runs() == [("sweep", "normal")] * 5


def test_the_first_time_it_speaks_when_anything_is_not_ok(site: Site) -> None:
    site.switch().touch()

    first = site.sweep()

    assert first.returncode == 2
    assert "up" in first.stdout
    assert said(site.sweep()) == (2, "", "")


def test_what_got_worse_comes_first(site: Site) -> None:
    site.sweep()
    site.switch().touch()

    lines = site.sweep().stdout.splitlines()

    assert next(at for at, line in enumerate(lines) if "worse" in line) < next(
        at for at, line in enumerate(lines) if line.startswith("CRIT ")
    )


def test_several_playbooks_are_swept_whatever_becomes_of_one(site: Site) -> None:
    site.playbook("db")
    site.switch("db").touch()
    (site.folder / "bad.yml").write_text("- hosts: all\n  chekcs: []\n", encoding="utf-8")

    done = site.sweep("-o", "{playbook}.json", "--format", "json", playbooks=("bad.yml", "web.yml", "db.yml"))

    assert done.returncode == 2
    assert "chekcs" in done.stderr
    failed, db = map(json.loads, done.stdout.splitlines())
    assert (failed["run"]["exit_code"], db["run"]["exit_code"]) == (64, 2)
    assert sorted(path.name for path in site.folder.glob("*.json")) == ["db.json", "web.json"]
    assert site.sweep(playbooks=("bad.yml", "web.yml")).returncode == 64


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "out.json"], "{playbook} in the name stands for"),
        (["--metrics", "-"], "a sweep writes values to files alone"),
        (["--history", "none"], "without a history of runs nothing can be said to have got worse"),
        (["--if-running", "wiat"], "Did you mean 'wait'?"),
        (["--jitter", "soon"], "expected a time"),
        (["--interactive"], "--interactive"),
    ],
)
def test_what_makes_no_sense_is_refused(site: Site, words: list[str], said: str) -> None:
    site.playbook("db")

    done = site.sweep(*words, playbooks=("web.yml", "db.yml"))

    assert (done.returncode, done.stdout) == (64, "")
    assert said in done.stderr
    assert not (site.folder / "state" / "checkrunner" / "locks").exists()


@pytest.fixture
def held(site: Site) -> Iterator[Lock]:
    """The lock of a sweep that is running."""
    site.sweep()
    lock = site.lock
    assert lock.take()
    yield lock
    lock.release()


def test_while_it_is_running_another_one_is_skipped_or_fails(site: Site, held: Lock) -> None:
    skipped = site.sweep()
    failed = site.sweep("--if-running", "fail")
    late = site.sweep("--if-running", "wait", "--deadline", "200ms")
    other = site.sweep("-l", "localhost")

    assert said(skipped) == (75, "", f"skipped: the same sweep is running: {held.holder()}\n")
    assert "process " in held.holder()
    assert (failed.returncode, failed.stdout, failed.stderr[:6]) == (3, "", "error:")
    assert (late.returncode, late.stdout) == (75, "")
    assert said(other) == (0, "", "")
    assert len(site.runs()) == 2


def test_one_waits_for_its_turn_and_no_third_one_does(site: Site, held: Lock) -> None:
    codes: list[int] = []
    waiting = Lock(site.folder / "state" / "checkrunner" / "locks", f"{held.name}.next")
    assert waiting.take()
    assert site.sweep("--if-running", "wait").returncode == 75
    waiting.release()

    # In a thread of its own there are no signals to be caught, so that it is not a whole sweep that waits there.
    turn = Turn(site.lock, waiting)
    began = threading.Event()

    def interrupted() -> bool:
        began.set()
        return False

    thread = threading.Thread(target=lambda: codes.append(turn.wait(60, interrupted)))
    thread.start()
    assert began.wait(60)
    held.release()
    thread.join(60)

    assert codes == [True]
    turn.release()


def test_all_playbooks_share_the_deadline(site: Site) -> None:
    for name in ("slow", "late"):
        text = "- hosts: all\n  checks:\n    - {id: c, run: 'sleep 60', timeout: 61s}\n"
        (site.folder / f"{name}.yml").write_text(text, encoding="utf-8")

    for _ in range(2):  # what did not come to its end is never silent
        done = site.sweep("--deadline", "500ms", "--format", "json", playbooks=("slow.yml", "late.yml"))

        assert done.returncode == 3
        assert [json.loads(line)["run"]["ended"] for line in done.stdout.splitlines()] == ["deadline", "deadline"]


def test_whoever_interrupts_it_need_not_wait_for_its_time(site: Site) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "checkrunner", "sweep", "web.yml", "--jitter", "1h", "--always"],
        cwd=site.folder,
        env=environment(site.folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    status = Path(f"/proc/{process.pid}/status")

    def caught() -> bool:
        (mask,) = (line.split()[1] for line in status.read_text().splitlines() if line.startswith("SigCgt:"))
        return bool(int(mask, 16) & 1 << signal.SIGTERM - 1)

    wait_until(caught, deadline_s=60, what="the handler of SIGTERM")
    process.send_signal(signal.SIGTERM)

    assert process.communicate(timeout=150) == (b"", b"")
    assert process.returncode == 130
    assert not (site.folder / ".local" / "state").exists()


def test_the_worst_exit_code_is_that_of_the_sweep() -> None:
    assert worst([0, 1, 3]) == 3
    assert worst([3, 64, 2]) == 2
    assert worst([1, 4, 64]) == 64
    assert worst([2, 70, 130]) == 130
    assert worst([0, 0]) == 0
