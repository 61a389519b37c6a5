"""A whole run on hosts without Python, over a real sshd: a busybox and nothing else."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_runner import CommandLine
from sshd import SshdFixture

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
