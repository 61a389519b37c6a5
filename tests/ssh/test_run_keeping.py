"""Outputs that are kept after a run over a real sshd: here, and for a while there."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from cli_runner import CommandLine
from sshd import wait_until

PLAYBOOK = """\
- hosts: all
  checks:
    - {id: log, run: "seq -f 'line %g is fine' 40000; false"}
    - {id: fine, run: echo fine}
"""


def guards(place: Path) -> list[int]:
    """The processes that know of the directory."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if bytes(place) in words:
            found.append(int(path.parent.name))
    return found


def test_outputs_are_kept_here_and_stay_there(cli: CommandLine) -> None:
    store = cli.folder / "h.db"
    outcome = cli.run(PLAYBOOK, "--history", store, "--keep-remote", "10m")
    assert outcome.code == 2, outcome.stderr
    run = outcome.report["run"]
    (host,) = [finding["hosts"] for finding in outcome.report["findings"]]
    named = run["stay"]["directory"].replace("UID", str(os.getuid())).replace("HOST", host)
    place = Path(named)
    wait_until(lambda: guards(place), what="somebody who guards what stays", deadline_s=60)
    (guard,) = guards(place)
    try:
        assert place.stat().st_mode & 0o777 == 0o700
        assert (place / "log.stdout").read_text().splitlines()[-1] == "line 40000 is fine"
        assert (place / "fine.stdout").read_text() == "fine\n"
    finally:
        os.kill(guard, signal.SIGTERM)
    wait_until(lambda: not place.exists(), what="the end of what stays", deadline_s=60)

    read = cli.call_here(cli.argv("read", run["id"], host, "log", "--lines", "39999:", "--history", store))
    assert (read.code, read.stdout) == (0, "line 39999 is fine\nline 40000 is fine\n")
    fine = cli.call_here(cli.argv("read", run["id"], host, "fine", "--history", store))
    assert (fine.code, "it was ok there" in fine.stderr) == (64, True)
