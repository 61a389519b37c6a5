"""A whole run on hosts without Python, over a real sshd: a busybox and nothing else."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_runner import CommandLine
from cuttable import Cuttable
from slowness import allowed
from sshd import SshdFixture, wait_until

PLAY = r"""
- name: Small host
  hosts: all
  checks:
    - {id: state, name: State, run: "cd /etc; x=kept"}
    - {id: kept, name: Kept, run: 'echo "$x $PWD"', expect: {stdout: {contains: kept /etc}}}
    - {id: fails, name: Fails, run: "echo version 1.23; exit 3", slice: {tail: 1, when: always}}
    - {id: pattern, name: Pattern, run: "echo version 1.23", expect: {stdout: {matches: 'version \d+\.\d+$'}}}
    - {id: asks, name: Asks, run: "cat", stdin: tty}
    - {id: hangs, name: Hangs, run: "sleep 30", timeout: 1}
    - {id: after, name: After, run: 'test "$x" = kept'}
"""


@pytest.fixture
def small(tmp_path: Path, make_sshd: Callable[..., SshdFixture]) -> CommandLine:
    """An account that sees a file system with nothing in it but busybox."""
    needed = ["unshare", "-m", "-p", "-f", "--mount-proc", "true"]
    if os.geteuid() or subprocess.run(needed, capture_output=True, check=False).returncode:
        pytest.skip("needs root and namespaces")
    root = tmp_path / "root"
    for name in ("bin", "proc", "dev", "etc", "tmp", "root"):
        (root / name).mkdir(parents=True)
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    program = str(shutil.which("busybox"))
    shutil.copy(program, root / "bin/busybox")
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    for library in re.findall(r"(/\S+) \(0x", linked):
        target = root / library.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, target)
    subprocess.run(["chroot", str(root), "/bin/busybox", "--install", "-s", "/bin"], check=True)
    (tmp_path / "enter").write_text(
        f"mount --bind /dev {root}/dev && mount -t tmpfs none {root}/dev/shm && mount -t proc none {root}/proc || exit 9\n"
        f'export HOME=/root; chroot={shutil.which("chroot")}; export PATH=/bin; exec $chroot {root} /bin/sh -c "$SSH_ORIGINAL_COMMAND"\n'
    )
    sshd = make_sshd(options={"ForceCommand": f"exec unshare -m -p -f --kill-child --mount-proc sh {tmp_path}/enter"})
    return CommandLine(folder=tmp_path, sshd=sshd)


def test_a_run_on_a_host_with_nothing_but_busybox(small: CommandLine) -> None:
    outcome = small.run(PLAY, "-v")
    report = outcome.report

    assert outcome.code == 2, outcome.stderr
    assert "shell agent, sh, uid 0" in outcome.stderr
    verdicts = {finding["check"]: finding["verdict"] for finding in report["findings"]}
    assert verdicts == {"fails": "crit", "asks": "unknown", "hangs": "unknown"}, report
    assert "stdin: tty" in str(outcome.finding("asks"))
    assert "version 1.23" in str(outcome.finding("fails"))
    assert "not available: " in str(report["warnings"])

    kept = small.call_here(small.argv("read", "last", "h1", "fails"))
    assert (kept.code, kept.stdout) == (0, "version 1.23\n"), kept.stderr


LOST = """
- hosts: all
  checks:
    - {{id: c1, run: 'cd /usr; x=2; echo x >>{folder}/c1'}}
    - {{id: c2, run: 'seq 30; false', slice: {{tail: 2}}}}
    - {{id: c3, run: 'echo x >>{folder}/c3; echo partial; sleep 300', timeout: 5m}}
    - {{id: c4, run: 'echo "now ${{x-none}}"', slice: {{head: 3, when: always}}}}
    - {{id: c5, run: 'echo x >>{folder}/c5'}}
"""


@pytest.mark.parametrize("how", ["cut", "stall"])
def test_a_lost_link_is_got_over_without_the_state(
    how: str, tmp_path: Path, make_sshd: Callable[..., SshdFixture]
) -> None:
    """The agent in shell does not wait for a client that comes back: the rest is done, and the loss is said."""
    needed = ["unshare", "-p", "-f", "--mount-proc", "true"]
    if os.geteuid() or subprocess.run(needed, capture_output=True, check=False).returncode:
        pytest.skip("needs root and namespaces")
    contain = 'exec unshare -p -f --kill-child --mount-proc sh -c "$SSH_ORIGINAL_COMMAND"'
    sshd = make_sshd(options={"ForceCommand": contain})
    cli = CommandLine(folder=tmp_path, sshd=sshd)
    (tmp_path / "checkrunner.toml").write_text('keepalive = "0.5s"\n')
    (tmp_path / "known").write_text(f"behind {sshd.host_key_line()}\n")
    with Cuttable(sshd.port) as proxy:
        (tmp_path / "inventory.yml").write_text(
            f"all:\n  hosts:\n    h1:\n      ansible_host: 127.0.0.1\n      ansible_port: {proxy.port}\n"
            f"      ansible_user: {sshd.user}\n      ansible_ssh_private_key_file: {sshd.private_key}\n"
            f"      ansible_ssh_common_args: -F none -o UserKnownHostsFile={tmp_path}/known -o HostKeyAlias=behind\n"
            f"      checkrunner_agent: shell\n"
        )
        playbook = cli.playbook(LOST.format(folder=tmp_path))
        process = cli.start(
            cli.argv("run", playbook, "-i", tmp_path / "inventory.yml", "--ssh-config", "none", "--format", "json")
        )
        wait_until((tmp_path / "c3").exists, deadline_s=60, what="c3 to run")
        began = time.monotonic()
        getattr(proxy, how)()
        try:
            out, err = process.communicate(timeout=150)
        finally:
            process.kill()
    assert time.monotonic() - began < allowed(4 * 0.5 + 5 + 3)
    assert b"Traceback" not in err, err
    report = json.loads(out)
    assert report["totals"]["host"] == {"reached": 1}, report
    assert report["totals"]["execution"] == {"done": 4, "lost": 1}, report
    found = {finding["check"]: finding for finding in report["findings"]}
    assert found["c2"]["verdict"] == "crit"
    assert (found["c3"]["verdict"], found["c3"]["execution"]) == ("unknown", "lost")
    assert found["c3"]["result"]["elapsed_s"] > 0
    assert [text for piece in found["c4"]["slices"] for _, text in piece["lines"]] == ["now none"]
    assert "state_lost" in found["c4"]["notes"]
    assert "reconnected after" in str(report["warnings"])
    for check in ("c1", "c3", "c5"):
        assert (tmp_path / check).read_text() == "x\n"
    if how == "cut":
        wait_until(
            lambda: not [line for line in sshd.processes().values() if "checkrunner-starting" in line],
            what="the end of all agents",
        )
