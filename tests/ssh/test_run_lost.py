"""A link that is lost in the middle of a run: what was done is kept, what ran is lost, what is left is done."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli_runner import ROOT, CommandLine
from cuttable import Cuttable
from slowness import allowed
from sshd import SshdFixture, wait_until

PLAY = """
- hosts: all
  checks:
    - {{id: c1, run: 'cd /usr; export A=1; x=2; f() {{ echo "state $A$x $PWD"; }}; echo x >>{folder}/c1'}}
    - {{id: c2, run: 'sleep 0.8; seq 30; false', slice: {{tail: 2}}}}
    - {{id: c3, run: 'echo x >>{folder}/c3; echo partial; sleep 300', timeout: 5m, slice: {{tail: 5}}}}
    - {{id: c4, run: 'f', slice: {{head: 3, when: always}}}}
    - {{id: c5, run: 'echo five'}}
    - {{id: c6, run: 'echo six', register: six}}
    - {{id: c7, run: 'echo seven', when: six.rc == 0}}
    - {{id: c8, run: 'echo x >>{folder}/c8'}}
"""
KEEPALIVE_S = 0.5
# Three times that without an answer, and less than five seconds.
BACK_S = 3 * KEEPALIVE_S + 4


@dataclass
class Lossy:
    """A command line whose host is behind a proxy; or whose hosts are behind a jump host, and that behind the proxy."""

    cli: CommandLine
    proxy: Cuttable
    sshd: SshdFixture
    folder: Path
    jump: SshdFixture | None = None
    hosts: int = 1
    variables: str = "checkrunner_agent: auto"

    def start(self, play: str = PLAY, *args: str, settings: str = "") -> subprocess.Popen[bytes]:
        """A run whose third check is running, and has been for long enough that the agent knows how to linger."""
        (self.folder / "checkrunner.toml").write_text(f'keepalive = "{KEEPALIVE_S}s"\n{settings}')
        known = self.folder / "known"
        known.write_text(f"behind {self.sshd.host_key_line()}\n")
        port, way = self.proxy.port, ""
        if self.jump is not None:
            port, way = self.sshd.port, f" -J {self.jump.user}@127.0.0.1:{self.proxy.port}"
            known.write_text(f"{known.read_text()}[127.0.0.1]:{self.proxy.port} {self.jump.host_key_line()}\n")
            self.jump.authorize(self.sshd.private_key)
        names = "".join(f"    h{number}: {{}}\n" for number in range(1, self.hosts + 1))
        inventory = self.folder / "inventory.yml"
        inventory.write_text(
            f"all:\n  hosts:\n{names}  vars:\n      {self.variables}\n      ansible_host: 127.0.0.1\n      ansible_port: {port}\n"
            f"      ansible_user: {self.sshd.user}\n      ansible_ssh_private_key_file: {self.sshd.private_key}\n"
            f"      ansible_ssh_common_args: -F none -o UserKnownHostsFile={known} -o HostKeyAlias=behind{way}\n"
        )
        playbook = self.cli.playbook(play.format(folder=self.folder))
        key = ["--private-key", self.sshd.private_key, "--known-hosts", known]
        process = self.cli.start(
            self.cli.argv("run", playbook, "-i", inventory, "--ssh-config", "none", "--format", "json", *key, *args)
        )
        self.wait_for("c3")
        return process

    def wait_for(self, check: str) -> None:
        """Return when the check has run for a while: what came before it has arrived."""
        path = self.folder / check
        wait_until(lambda: self.count(check) == self.hosts, deadline_s=60, what=f"{check} to run")
        wait_until(lambda: time.time() > path.stat().st_mtime + 0.5, what=f"{check} to have run for a while")

    def finish(self, process: subprocess.Popen[bytes]) -> dict[str, Any]:
        out, err = process.communicate(timeout=150)
        assert b"Traceback" not in err, err
        report = json.loads(out)
        assert isinstance(report, dict)
        return report

    def agents(self) -> list[int]:
        """The agents on the host."""
        return [pid for pid, line in self.sshd.processes().items() if " -IS -c " in line]

    def count(self, check: str) -> int:
        """How often a check was run."""
        path = self.folder / check
        return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.fixture
def lossy(make_sshd: Callable[..., SshdFixture], tmp_path: Path) -> Iterator[Lossy]:
    sshd = make_sshd()
    with Cuttable(sshd.port) as proxy:
        yield Lossy(CommandLine(folder=tmp_path, sshd=sshd), proxy, sshd, tmp_path)


@pytest.fixture
def behind(make_sshd: Callable[..., SshdFixture], tmp_path: Path) -> Iterator[Lossy]:
    sshd, jump = make_sshd(), make_sshd()
    with Cuttable(jump.port) as proxy:
        yield Lossy(CommandLine(folder=tmp_path, sshd=sshd), proxy, sshd, tmp_path, jump, hosts=3)


def finding(report: dict[str, Any], check: str) -> dict[str, Any]:
    (found,) = [found for found in report["findings"] if found["check"] == check]
    assert isinstance(found, dict)
    return found


def lines(found: dict[str, Any]) -> list[str]:
    return [text for piece in found["slices"] for _number, text in piece["lines"]]


def notes(report: dict[str, Any]) -> str:
    return "\n".join(report["warnings"])


def assert_came_back(lossy: Lossy, report: dict[str, Any], *, whole: bool) -> None:
    assert report["totals"]["host"] == {"reached": 1}, report
    assert report["totals"]["execution"] == {"done": 7, "lost": 1}, report
    assert "reconnected after" in notes(report)
    assert ("state_lost" not in notes(report)) is whole, report
    lost = finding(report, "c3")
    assert (lost["verdict"], lost["execution"]) == ("unknown", "lost")
    assert lost["result"]["elapsed_s"] > 0
    assert lossy.count("c1") == lossy.count("c3") == lossy.count("c8") == 1
    assert finding(report, "c2")["verdict"] == "crit"
    if whole:
        assert report["totals"]["verdict"] == {"ok": 6, "crit": 1, "unknown": 1}, report
        assert lines(lost) == ["partial"]
        assert lost["result"]["stdout_lines"] == 1
        assert lines(finding(report, "c4")) == ["state 12 /usr"]
    else:
        assert "state_lost" in finding(report, "c4")["notes"]


@pytest.mark.parametrize("how", ["cut", "sshd", "stall"])
def test_a_lost_link_costs_only_the_check_that_ran(lossy: Lossy, how: str) -> None:
    process = lossy.start()
    began = time.monotonic()

    match how:
        case "cut":
            lossy.proxy.cut()
        case "sshd":
            lossy.sshd.kill_connections()
        case _:
            lossy.proxy.stall()
    report = lossy.finish(process)

    assert time.monotonic() - began < allowed(BACK_S)
    assert lossy.proxy.accepted == 2
    assert_came_back(lossy, report, whole=True)
    assert lines(finding(report, "c2")) == ["29", "30"]
    if how == "stall":
        assert "no longer answers (keepalive)" in notes(report)
    lossy.sshd.assert_clean()


@pytest.mark.parametrize("how", ["cut", "sshd", "stall", "down"])
def test_a_lost_jump_host_costs_only_the_checks_that_ran(behind: Lossy, how: str) -> None:
    """All hosts behind it come back over one connection; also when it is down for longer than one try takes."""
    process = behind.start()
    began = time.monotonic()

    assert behind.jump is not None
    match how:
        case "cut":
            behind.proxy.cut()
        case "sshd":
            behind.jump.kill_connections()
        case "stall":
            behind.proxy.stall()
        case _:
            behind.proxy.down()
            time.sleep(2.5)
            behind.proxy.up()
    report = behind.finish(process)

    assert time.monotonic() - began < allowed(BACK_S + 4 * (how == "down"))
    assert report["totals"]["host"] == {"reached": 3}, report["incomplete"]
    assert report["totals"]["execution"] == {"done": 21, "lost": 3}
    assert report["totals"]["verdict"] == {"ok": 18, "crit": 3, "unknown": 3}
    assert [behind.count(check) for check in ("c1", "c3", "c8")] == [3, 3, 3]
    assert "state_lost" not in notes(report)
    if how != "down":
        assert behind.proxy.accepted == 2
    behind.sshd.assert_clean()


def test_a_jump_host_that_does_not_come_back_loses_its_hosts(behind: Lossy) -> None:
    process = behind.start(settings='reconnect = "2s"\n')
    began = time.monotonic()

    behind.proxy.refuse()
    behind.proxy.cut()
    report = behind.finish(process)

    assert time.monotonic() - began < allowed(15)
    assert report["totals"]["host"] == {"lost": 3}
    assert [behind.count(check) for check in ("c3", "c8")] == [3, 0]
    assert "no way back" in json.dumps(report["incomplete"])


def test_an_agent_that_was_killed_takes_the_state_with_it(lossy: Lossy) -> None:
    process = lossy.start()

    (agent,) = lossy.agents()
    os.kill(agent, signal.SIGKILL)
    report = lossy.finish(process)

    assert lossy.proxy.accepted == 1  # the connection stands
    assert_came_back(lossy, report, whole=False)
    lossy.sshd.assert_clean()


def test_a_host_that_was_started_anew(lossy: Lossy) -> None:
    process = lossy.start()

    lossy.sshd.stop()
    for pid in lossy.sshd.processes():
        os.kill(pid, signal.SIGKILL)
    for path in lossy.sshd.run_dir.iterdir():
        subprocess.run(["rm", "-rf", path], check=True)
    time.sleep(1.0)  # it is down for a while
    lossy.sshd.start()
    report = lossy.finish(process)

    assert_came_back(lossy, report, whole=False)
    lossy.sshd.assert_clean()


def test_a_host_that_does_not_come_back_is_lost(lossy: Lossy) -> None:
    process = lossy.start(settings='reconnect = "2s"\n')

    lossy.proxy.refuse()
    lossy.proxy.cut()
    report = lossy.finish(process)

    assert report["totals"]["host"] == {"lost": 1}
    assert report["totals"]["verdict"] == {"ok": 1, "crit": 1, "unknown": 6}
    assert lossy.count("c8") == 0
    (incomplete,) = report["incomplete"]
    assert "no way back within 2 s" in json.dumps(incomplete)
    assert lossy.proxy.accepted > 2
    lossy.sshd.assert_clean(deadline_s=60)


def test_without_a_way_back_it_is_as_it_was(lossy: Lossy) -> None:
    process = lossy.start(settings="reconnect = 0\n")

    lossy.proxy.cut()
    report = lossy.finish(process)

    assert report["totals"]["host"] == {"lost": 1}
    assert lossy.proxy.accepted == 1
    lossy.sshd.assert_clean(deadline_s=4)


def test_a_second_loss_is_one_too_many(lossy: Lossy) -> None:
    play = PLAY.replace("'echo five'", "'echo x >>{folder}/c5; sleep 300', timeout: 5m")
    process = lossy.start(play)

    lossy.proxy.cut()
    lossy.wait_for("c5")
    lossy.proxy.cut()
    report = lossy.finish(process)

    assert report["totals"]["host"] == {"lost": 1}
    assert report["totals"]["verdict"] == {"ok": 2, "crit": 1, "unknown": 5}
    assert lossy.proxy.accepted == 2
    lossy.sshd.assert_clean()


def test_a_changed_host_key_is_no_way_back(lossy: Lossy) -> None:
    process = lossy.start()

    lossy.sshd.change_host_key()
    report = lossy.finish(process)

    assert report["totals"]["host"] == {"lost": 1}
    assert "changed host key" in json.dumps(report["incomplete"])
    assert lossy.count("c8") == 0


def test_a_killed_controller_leaves_agents_that_end_by_themselves(lossy: Lossy) -> None:
    process = lossy.start(settings='reconnect = "1s"\n')

    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=150)

    # The commands end at once, what waits for a successor that does not come a little later.
    wait_until(lambda: len(lossy.sshd.processes()) == len(lossy.agents()) == 1, what="the commands to end")
    lossy.sshd.assert_clean()


def test_each_session_has_its_own_loss(lossy: Lossy) -> None:
    beside = (
        "    - {{id: b1, run: 'cd /etc; y=3; echo', session: other}}\n"
        "    - {{id: b2, run: 'echo x >>{folder}/b2; sleep 300', session: other, timeout: 5m}}\n"
        "    - {{id: b3, run: 'echo \"$y $PWD\"', session: other, slice: {{head: 3, when: always}}}}\n"
    )
    process = lossy.start(PLAY + beside)
    wait_until(lambda: lossy.count("b2"), what="the second session's check to run")

    lossy.proxy.cut()
    report = lossy.finish(process)

    assert report["totals"]["execution"] == {"done": 9, "lost": 2}
    assert lines(finding(report, "b3")) == ["3 /etc"]
    assert lines(finding(report, "c4")) == ["state 12 /usr"]
    assert lossy.count("b2") == lossy.count("c3") == 1
    lossy.sshd.assert_clean()


def test_what_ended_while_the_link_was_dead_is_not_run_again(lossy: Lossy) -> None:
    play = PLAY.replace("sleep 300', timeout: 5m", "sleep 1; echo done', timeout: 5m")
    process = lossy.start(play)

    lossy.proxy.stall()
    report = lossy.finish(process)

    assert report["totals"]["execution"] == {"done": 8}
    assert "reconnected after" in notes(report)
    assert lossy.count("c3") == lossy.count("c8") == 1
    assert lines(finding(report, "c4")) == ["state 12 /usr"]
    lossy.sshd.assert_clean()


def test_an_agent_in_shell_runs_nothing_behind_a_dead_link(lossy: Lossy) -> None:
    play = PLAY.replace("sleep 300', timeout: 5m", "sleep 4; echo x >>{folder}/late', timeout: 5m")
    play = play.replace("'echo five'", "'echo x >>{folder}/c5'")
    lossy.variables = "checkrunner_agent: shell"
    process = lossy.start(play)

    lossy.proxy.stall()
    report = lossy.finish(process)

    assert report["totals"]["execution"] == {"done": 7, "lost": 1}, str(report["incomplete"])
    assert "state_lost" in notes(report)
    lossy.sshd.assert_clean()  # also of the first agent, whose connection still stands
    assert [lossy.count(check) for check in ("c1", "c3", "late", "c5", "c8")] == [1, 1, 0, 1, 1]


def test_an_interrupt_on_the_way_back(lossy: Lossy) -> None:
    process = lossy.start()

    lossy.proxy.refuse()
    lossy.proxy.cut()
    wait_until(lambda: lossy.proxy.accepted >= 2, what="a try to come back")
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    report = lossy.finish(process)

    assert time.monotonic() - began < allowed(8)
    assert report["run"]["ended"] == "interrupted"


def test_a_local_agent_that_was_killed(tmp_path: Path, sshd: SshdFixture) -> None:
    cli = CommandLine(folder=tmp_path, sshd=sshd)
    playbook = cli.playbook(f"""
        - hosts: all
          checks:
            - {{id: c1, run: 'true'}}
            - {{id: c2, run: 'echo x >>{tmp_path}/c2; kill -9 $PPID; sleep 300'}}
            - {{id: c3, run: 'echo x >>{tmp_path}/c3'}}
        """)

    outcome = cli.call(cli.argv("run", playbook, "--format", "json"))

    assert outcome.report["totals"]["execution"] == {"done": 2, "lost": 1}
    assert outcome.report["totals"]["host"] == {"reached": 1}
    assert "state_lost" in notes(outcome.report)
    assert (tmp_path / "c2").read_text() == (tmp_path / "c3").read_text() == "x\n"
    assert ROOT.exists()
