"""A sweep over a real sshd: killed in the middle it leaves nothing that stands in the way of the next one."""

from __future__ import annotations

import json
from pathlib import Path

from cli_runner import CommandLine
from sshd import wait_until

from checkrunner.history.store import Store


def test_a_sweep_that_is_killed_leaves_no_lock_no_row_and_nothing_on_the_host(cli: CommandLine, tmp_path: Path) -> None:
    pid, slow = tmp_path / "pid", tmp_path / "slow"
    playbook = cli.playbook(
        f"""
        - hosts: all
          checks:
            - {{id: quick, run: "test ! -e {tmp_path}/broken"}}
            - {{id: slow, run: "test ! -e {slow} || {{ echo $BASHPID >{pid}.new; mv {pid}.new {pid}; exec sleep 600; }}"}}
        """
    )
    state = tmp_path / "state"
    history = state / "history.db"
    (tmp_path / "checkrunner.toml").write_text(f'history = "{history}"\naudit_log = "{state}/audit.jsonl"\n')
    _, _, _, _, *words = cli.run_args(playbook, "--format", "json")
    argv = cli.argv("sweep", *words)
    assert cli.call_here(argv).stdout == ""

    slow.touch()
    process = cli.start(argv)
    wait_until(pid.exists, deadline_s=60, what="the slow check to run")
    skipped = cli.call_here(argv)
    process.kill()
    process.communicate(timeout=150)
    number = int(pid.read_text())
    wait_until(lambda: not Path(f"/proc/{number}").exists(), deadline_s=60, what="the command's end on the host")
    slow.unlink()
    (tmp_path / "broken").touch()
    done = cli.call_here(argv)

    assert (skipped.code, skipped.stdout) == (75, "")
    assert f"process {process.pid}" in skipped.stderr
    assert (done.code, done.stderr) == (2, "")
    assert [change["check"] for change in json.loads(done.stdout)["drift"]["changes"]] == ["quick"]
    with Store.open(history) as store:
        runs = list(store.runs())
        assert [run.kind for run in runs] == ["sweep"] * 2
        assert [len(store.view(run.number).cells) for run in runs] == [2, 2]
    begun = [json.loads(line) for line in (state / "audit.jsonl").read_text().splitlines()]
    assert [line["event"] for line in begun].count("run") == 3
    assert [line["event"] for line in begun].count("end") == 2
