"""The linux-health playbook: what each check says of machines that are well, that are not, and that do not let us look.

The scripts run for real, in bash. The machine they see is made for each case: paths under /proc, /etc, /sys are moved
into a folder of the test, and commands are replaced by ones that print what a case says.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from house_tree import ROOT

from checkrunner.model.errors import TemplateError
from checkrunner.model.sources import Template
from checkrunner.plan.texts import Templates

PLAYBOOK = ROOT / "playbooks" / "linux-health.yml"
(PLAY,) = yaml.safe_load(PLAYBOOK.read_text(encoding="utf-8"))
CHECKS: dict[str, dict[str, Any]] = {check["id"]: check for check in PLAY["checks"]}
BASH = shutil.which("bash") or "/bin/bash"
COULD_NOT_LOOK = 126

UPTIME = "90000.00 170000.00\n"
STAT = "cpu  1 2 3 4\ncpu0 1 2 3 4\ncpu1 1 2 3 4\ncpu2 1 2 3 4\ncpu3 1 2 3 4\nintr 1\nctxt 5\nbtime 1\n"


def loadavg(load: float) -> dict[str, str]:
    return {"/proc/stat": STAT, "/proc/loadavg": f"0.10 0.20 {load} 3/96 6797\n"}


def meminfo(*, total: int = 1000000, available: int = 500000, swap: int = 0, swap_free: int = 0) -> dict[str, str]:
    text = f"MemTotal: {total} kB\nMemFree: 1 kB\nMemAvailable: {available} kB\n"
    return {"/proc/meminfo": f"{text}SwapTotal: {swap} kB\nSwapFree: {swap_free} kB\n"}


def cgroup(limit: str, used: int, inactive: int = 0) -> dict[str, str]:
    folder = "/sys/fs/cgroup"
    stat = f"anon 1\ninactive_file {inactive}\nactive_file 7\n"
    return {
        f"{folder}/memory.max": f"{limit}\n",
        f"{folder}/memory.current": f"{used}\n",
        f"{folder}/memory.stat": stat,
    }


def df(*rows: str) -> dict[str, str]:
    """A df that knows -l and prints these rows whatever is asked."""
    table = "\n".join(["Filesystem Type 1024-blocks Used Available Capacity Mounted on", *rows])
    return {"df": f"cat <<'TABLE'\n{table}\nTABLE"}


def mounts(*lines: str, fstab: str = "") -> dict[str, str]:
    return {"/proc/self/mountinfo": "".join(f"{line}\n" for line in lines), "/etc/fstab": fstab}


ROOT_RW = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro"
DATA_RO = "30 22 8:17 / /data ro,relatime shared:9 - ext4 /dev/sdb1 ro"
DATA_FSTAB = "# what is mounted\nUUID=1 / ext4 errors=remount-ro 0 1\nUUID=2 /data ext4 defaults 0 2\n"


def kernel(*lines: str) -> dict[str, str]:
    text = "\n".join(["[    0.000000] Linux version 6.1", *lines])
    return {"dmesg": f"cat <<'LOG'\n{text}\nLOG"}


def process(pid: int, name: str, state: str = "S", parent: int = 1) -> dict[str, str]:
    return {f"/proc/{pid}/stat": f"{pid} ({name}) {state} {parent} 1 1 0\n", f"/proc/{pid}/comm": f"{name}\n"}


def zombies(count: int) -> dict[str, str]:
    files = process(7, "ill (parent) Z 9")
    for pid in range(100, 100 + count):
        files |= process(pid, "gone", "Z", 7)
    return files


def chrony(offset: str, leap: str = "Normal") -> dict[str, str]:
    line = f"A9FEA97B,192.0.2.7,3,1700000000.1,{offset},0.1,0.2,-3.4,0.0,0.1,0.001,0.002,64.2,{leap}"
    return {"chronyc": f"echo '{line}'"}


DENIED = {"dmesg": "echo 'dmesg: read kernel buffer failed: Operation not permitted' >&2; exit 1"}
NO_JOURNAL = {"journalctl": "exit 1"}
TCP = (
    "  sl  local_address rem_address   st tx_queue rx_queue\n"
    "   0: 00000000:0016 00000000:0000 0A 00000000:00000000\n"
    "   1: 0100007F:8F2A 0100007F:0016 01 00000000:00000000\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A machine, and what a check says of it: the exit code and a pattern for each line of its output."""

    check: str
    it: str
    files: Mapping[str, str] = field(default_factory=dict)
    stubs: Mapping[str, str] = field(default_factory=dict)
    vars: Mapping[str, Any] = field(default_factory=dict)
    rc: int = 0
    lines: tuple[str, ...] = ()


def could_not_look(check: str, it: str, **machine: Any) -> Case:
    return Case(check=check, it=it, rc=COULD_NOT_LOOK, **machine)


CASES = [
    Case(check="load", it="is fine", files=loadavg(7.9)),
    Case(check="load", it="warns", files=loadavg(8.4), lines=(r"WARN load 8.4 over .* 4 cores, 2\.1 per core",)),
    Case(check="load", it="is critical", files=loadavg(20), lines=(r"CRIT load 20 .* 5\.0 per core",)),
    Case(check="load", it="follows a variable", files=loadavg(7.9), vars={"load_per_core_warn": 1}, lines=("WARN .*",)),
    could_not_look("load", "cannot see", files={"/proc/stat": STAT}),
    could_not_look("load", "finds no cores", files={**loadavg(1), "/proc/stat": "intr 1\n"}),
    Case(check="memory", it="is fine", files=meminfo(available=100000)),
    Case(check="memory", it="warns", files=meminfo(available=90000), lines=(r"WARN 9\.0 % of memory available .*",)),
    Case(check="memory", it="is critical", files=meminfo(available=49000), lines=(r"CRIT 4\.9 % .*",)),
    could_not_look("memory", "is too old to say", files={"/proc/meminfo": "MemTotal: 5 kB\nMemFree: 3 kB\n"}),
    Case(check="container-memory", it="has no limit", files=cgroup("max", 10**9)),
    Case(check="container-memory", it="is fine", files=cgroup("1000", 850)),
    Case(check="container-memory", it="counts cache as available", files=cgroup("1000", 950, inactive=60)),
    Case(check="container-memory", it="warns", files=cgroup("1000", 920), lines=(r"WARN 8\.0 % .*",)),
    Case(check="container-memory", it="is critical", files=cgroup("1000", 990), lines=(r"CRIT 1\.0 % .*",)),
    could_not_look("container-memory", "cannot see"),
    Case(check="swap", it="is off", files=meminfo()),
    Case(check="swap", it="is fine", files=meminfo(swap=1000, swap_free=200)),
    Case(check="swap", it="warns", files=meminfo(swap=1000, swap_free=100), lines=("90 % of swap in use .*",)),
    could_not_look("swap", "cannot see"),
    Case(check="disk-space", it="is fine", stubs=df("/dev/sda1 ext4 1000 900 100 90% /")),
    Case(
        check="disk-space",
        it="tells the levels apart",
        stubs=df("/dev/sda1 ext4 1000 960 40 96% /", "/dev/sdb1 xfs 1000 990 10 99% /srv/my data"),
        lines=(r"WARN / has 4\.0 % of its space left .*", r"CRIT /srv/my data has 1\.0 % .*"),
    ),
    Case(
        check="disk-space",
        it="leaves out what is full by nature or elsewhere",
        stubs=df(
            "tmpfs tmpfs 1000 1000 0 100% /run",
            "devtmpfs devtmpfs 10 10 0 100% /dev",
            "/dev/loop3 squashfs 1000 1000 0 100% /snap/core/1",
            "/dev/sr0 iso9660 1000 1000 0 100% /media/cdrom",
            "portal fuse.portal 1 1 0 100% /run/user/1000/doc",
            "nas:/x nfs4 1000 1000 0 100% /mnt/nas",
            "overlay overlay 1000 1000 0 100% /var/lib/docker/overlay2/1/merged",
            "/dev/sda1 ext4 1000 1000 0 100% /etc/hosts",
            "none efivarfs 0 0 0 - /sys/firmware/efi/efivars",
        ),
    ),
    Case(
        check="disk-space",
        it="judges a container's root",
        stubs=df("overlay overlay 1000 990 10 99% /"),
        lines=("CRIT / has .*",),
    ),
    could_not_look("disk-space", "gets no answer", stubs={"df": "exit 1"}),
    Case(check="disk-inodes", it="is fine", stubs=df("/dev/sda1 ext4 1000 900 100 90% /")),
    Case(
        check="disk-inodes",
        it="has no fixed number",
        stubs=df("/dev/sda1 btrfs 0 0 0 - /", "/dev/sdb1 vfat - - - - /b"),
    ),
    Case(
        check="disk-inodes",
        it="is critical",
        stubs=df("/dev/sda1 ext4 1000 980 20 98% /"),
        lines=(r"CRIT / has 2\.0 % of its inodes left \(20 of 1000\)",),
    ),
    could_not_look("disk-inodes", "gets no answer", stubs={"df": "exit 1"}),
    Case(check="read-only-mounts", it="is fine", files=mounts(ROOT_RW, fstab=DATA_FSTAB)),
    Case(
        check="read-only-mounts",
        it="was meant to be written",
        files=mounts(ROOT_RW, DATA_RO, fstab=DATA_FSTAB),
        lines=(r"/data \(/dev/sdb1, ext4\) is read-only",),
    ),
    Case(check="read-only-mounts", it="was meant so", files=mounts(DATA_RO, fstab="UUID=2 /data ext4 ro,nofail 0 2\n")),
    Case(check="read-only-mounts", it="is in no table", files=mounts(DATA_RO)),
    Case(
        check="read-only-mounts",
        it="turned so by itself",
        files=mounts(ROOT_RW.replace("- ext4 /dev/sda1 rw", "- ext4 /dev/sda1 ro")),
        lines=(r"/ \(/dev/sda1, ext4\) is read-only",),
    ),
    Case(
        check="read-only-mounts",
        it="says so in the words of newer kernels",
        files=mounts(ROOT_RW.replace("rw,errors", "rw,emergency_ro,errors")),
        lines=(r"/ \(/dev/sda1, ext4\) is read-only",),
    ),
    Case(
        check="read-only-mounts",
        it="leaves out images, overlays and read-only views of what is writable",
        files=mounts(
            "40 22 7:0 / /snap/core/1 ro,nodev shared:3 - squashfs /dev/loop0 ro",
            "41 22 11:0 / /media/cd ro shared:4 - iso9660 /dev/sr0 ro",
            "42 22 0:50 / / ro,relatime - overlay overlay ro,lowerdir=/a",
            "43 22 8:1 /secret /run/secret ro,relatime - ext4 /dev/sda1 rw,errors=remount-ro",
            fstab=DATA_FSTAB,
        ),
    ),
    Case(
        check="read-only-mounts",
        it="names a file system once",
        files=mounts(DATA_RO, DATA_RO.replace("/ /data", "/x /data"), fstab=DATA_FSTAB),
        lines=("/data .*",),
    ),
    could_not_look("read-only-mounts", "cannot see"),
    Case(check="failed-units", it="is fine", stubs={"systemctl": ":"}),
    Case(
        check="failed-units",
        it="names them",
        stubs={"systemctl": "echo 'nginx.service loaded failed failed A web server'"},
        lines=("nginx.service loaded failed .*",),
    ),
    could_not_look(
        "failed-units", "gets no answer", stubs={"systemctl": "echo 'Failed to connect to bus' >&2; exit 1"}
    ),
    Case(check="kernel-errors", it="is fine", files={"/proc/uptime": UPTIME}, stubs=kernel("[89000.1] eth0: link up")),
    Case(
        check="kernel-errors",
        it="tells the levels apart",
        files={"/proc/uptime": UPTIME},
        stubs=kernel(
            "[89000.123456] I/O error, dev sda, sector 7 op 0x0:(READ)",
            "[89000.2] EXT4-fs error (device sda1): ext4_lookup:1",
            "[89001.5] INFO: task jbd2/sda1:77 blocked for more than 120 seconds.",
            "[89002.5] BUG: unable to handle page fault for address: 0",
        ),
        lines=("CRIT .*dev sda.*", "CRIT .*EXT4-fs error.*", "WARN .*blocked.*", "CRIT .*page fault.*"),
    ),
    Case(
        check="kernel-errors",
        it="forgets what is long ago",
        files={"/proc/uptime": UPTIME},
        stubs=kernel("[ 3000.1] I/O error, dev sda, sector 7"),
    ),
    Case(
        check="kernel-errors",
        it="looks back as far as it is told",
        files={"/proc/uptime": UPTIME},
        stubs=kernel("[ 3000.1] I/O error, dev sda, sector 7"),
        vars={"kernel_log_hours": 48},
        lines=("CRIT .*",),
    ),
    Case(
        check="kernel-errors",
        it="leaves out empty drives and programs that crash",
        files={"/proc/uptime": UPTIME},
        stubs=kernel(
            "[89000.1] I/O error, dev fd0, sector 0",
            "[89000.1] Buffer I/O error on dev sr0, logical block 0",
            "[89000.1] traps: app[12] general protection fault ip:1 sp:2 error:0 in libc.so",
            "[89000.1] ACPI Error: Could not resolve symbol",
        ),
    ),
    Case(
        check="kernel-errors",
        it="asks the journal when dmesg is not permitted",
        files={"/proc/uptime": UPTIME},
        stubs={**DENIED, "journalctl": "echo '[89000.1] host kernel: I/O error, dev sda, sector 7'"},
        lines=("CRIT .*dev sda.*",),
    ),
    could_not_look("kernel-errors", "is not permitted", files={"/proc/uptime": UPTIME}, stubs={**DENIED, **NO_JOURNAL}),
    could_not_look(
        "kernel-errors",
        "has a journal without kernel lines",
        files={"/proc/uptime": UPTIME},
        stubs={**DENIED, "journalctl": "echo '-- No entries --'"},
    ),
    Case(check="oom-kills", it="is fine", files={"/proc/uptime": UPTIME}, stubs=kernel("[89000.1] eth0: link up")),
    Case(
        check="oom-kills",
        it="tells the machine from a control group",
        files={"/proc/uptime": UPTIME},
        stubs=kernel(
            "[ 100.1] Out of memory: Killed process 5 (old)",
            "[89000.1] Memory cgroup out of memory: Killed process 6 (a)",
            "[89000.2] Out of memory: Killed process 7 (b) total-vm:1kB",
        ),
        lines=("WARN .*Killed process 6 .*", "CRIT .*Killed process 7 .*"),
    ),
    could_not_look("oom-kills", "is not permitted", files={"/proc/uptime": UPTIME}, stubs={**DENIED, **NO_JOURNAL}),
    Case(check="zombies", it="is fine", files=process(1, "init")),
    Case(check="zombies", it="has a few", files=zombies(9)),
    Case(
        check="zombies",
        it="warns and names the parent",
        files=zombies(10),
        lines=("WARN 10 zombies", r"parent 7 \(ill \(parent\) Z 9\): 10"),
    ),
    Case(
        check="zombies",
        it="is critical",
        files=zombies(3),
        vars={"zombies_crit": 3, "zombies_warn": 1},
        lines=("CRIT 3 .*", ".*"),
    ),
    could_not_look("zombies", "cannot see"),
    Case(check="time-sync", it="is fine", stubs={"timedatectl": "echo 'System clock synchronized: yes'"}),
    Case(check="time-sync", it="is fine, in older words", stubs={"timedatectl": "echo 'NTP synchronized: yes'"}),
    Case(
        check="time-sync",
        it="warns",
        stubs={"timedatectl": "echo 'System clock synchronized: no'"},
        lines=("the clock .*",),
    ),
    could_not_look("time-sync", "gets no answer", stubs={"timedatectl": "exit 1"}),
    Case(check="clock-offset", it="is fine", stubs=chrony("-0.000012")),
    Case(
        check="clock-offset",
        it="warns",
        stubs=chrony("-0.071"),
        lines=(r"WARN the clock is 0\.071 s off .*192.0.2.7.*",),
    ),
    Case(check="clock-offset", it="is critical", stubs=chrony("3.5"), lines=(r"CRIT the clock is 3\.500 s off .*",)),
    Case(check="clock-offset", it="has no source", stubs=chrony("0.0", "Not synchronised"), lines=("WARN chronyd .*",)),
    could_not_look("clock-offset", "meets no daemon", stubs={"chronyc": "echo '506 Cannot talk to daemon'; exit 1"}),
    Case(
        check="listening-sockets",
        it="counts addresses once",
        stubs={"ss": "echo 'State Recv-Q Send-Q Local'; printf 'LISTEN 0 9 %s 0.0.0.0:*\\n' '*:22' '[::]:80' '*:22'"},
        lines=(r"\*:22", r"\[::\]:80"),
    ),
    could_not_look("listening-sockets", "gets no answer", stubs={"ss": "exit 1"}),
]


def script_of(check: str, root: Path, variables: Mapping[str, Any]) -> str:
    """The check's text, rendered, and made to see `root` where it says /proc, /etc, /sys or /run."""
    text = Templates().render(Template(text=CHECKS[check]["run"]), {**PLAY["vars"], **variables})
    return re.sub(r"(?<![\w.^\\])/(proc|etc|sys|run)/(?=[\w\[\"])", rf"{root}/\1/", text)


def run(script: str, path: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BASH, "--norc", "-c", script],
        env={"PATH": path, "LC_ALL": "C"},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=20,
    )


@pytest.fixture(scope="session")
def tools() -> str:
    """Where the real tools are."""
    return os.defpath + ":/usr/sbin:/sbin"


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.check} {c.it}")
def test_what_a_check_says(case: Case, tmp_path: Path, tools: str) -> None:
    for name, text in case.files.items():
        path = tmp_path / "root" / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    stubs = tmp_path / "bin"
    stubs.mkdir()
    for name, text in case.stubs.items():
        (stubs / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (stubs / name).chmod(0o755)

    done = run(script_of(case.check, tmp_path / "root", case.vars), f"{stubs}:{tools}", tmp_path)

    lines = done.stdout.splitlines()
    assert done.returncode == case.rc, done.stderr
    assert len(lines) == len(case.lines), done.stdout
    for pattern, line in zip(case.lines, lines, strict=True):
        assert re.fullmatch(pattern, line), (pattern, line)


@pytest.mark.parametrize("check", ["kernel-errors", "oom-kills"])
def test_a_kernel_log_that_is_refused_says_what_to_do(check: str, tmp_path: Path, tools: str) -> None:
    for name, text in {**DENIED, **NO_JOURNAL}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)

    done = run(script_of(check, tmp_path, {}), f"{tmp_path}:{tools}", tmp_path)

    assert done.returncode == COULD_NOT_LOOK
    assert done.stderr.splitlines()[-2:] == [
        "dmesg: read kernel buffer failed: Operation not permitted",
        "no kernel log was given: log in as root, or set sysctl kernel.dmesg_restrict=0",
    ]
    shown = [rule for rule in CHECKS[check]["slice"] if rule.get("stream") == "stderr"]
    assert shown == [{"tail": 3, "stream": "stderr"}]


def test_a_threshold_that_is_no_number_is_an_error() -> None:
    text = PLAYBOOK.read_text(encoding="utf-8")
    numbers = re.findall(r"(\w+) \| default\([\d.]+\)( \| number)?", text)

    assert [name for name, strict in numbers if not strict] == []
    with pytest.raises(TemplateError, match="disk_free_warn is 'abc', not a number"):
        script_of("disk-space", Path("/"), {"disk_free_warn": "abc"})


def test_listening_sockets_are_found_without_tools(tmp_path: Path, tools: str) -> None:
    (tmp_path / "root/proc/net").mkdir(parents=True)
    (tmp_path / "root/proc/net/tcp").write_text(TCP, encoding="utf-8")
    script = script_of("listening-sockets", tmp_path / "root", {}).replace("command -v ss", "false")

    done = run(script, tools, tmp_path)

    assert (done.returncode, done.stdout) == (0, "00000000:0016\n")


@pytest.mark.parametrize("check", ["top-cpu", "top-memory"])
def test_the_biggest_processes_are_listed_under_a_header(check: str, tmp_path: Path, tools: str) -> None:
    text = CHECKS[check]["run"]

    done = run(text, tools, tmp_path)

    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert 2 <= len(lines) <= 11
    assert lines[0].split()[0] == "PID"
    assert all(line.split()[0].isdigit() for line in lines[1:])


@pytest.mark.parametrize("check", CHECKS)
def test_every_check_follows_the_rules_of_the_pack(check: str) -> None:
    wanted = CHECKS[check]
    two_levels = "CRIT" in wanted["run"]

    # A line is a finding; two levels are told apart by its first word; rc stays free to say "could not look".
    if two_levels:
        assert wanted["expect"] == {"stdout": {"not_matches": "^CRIT"}}
        assert wanted["warn_if"] == "stdout_lines > 0"
    assert "rc" not in wanted.get("expect", {})
    assert "126" in wanted["run"] or check == "top-memory"
    assert wanted["env"] == {"LC_ALL": "C"}
    assert wanted["slice"]
    assert wanted["tags"]
    if check not in {"top-cpu", "top-memory"}:
        assert wanted["why"].endswith(".")
        assert wanted["fix"]


def test_every_number_has_one_default_and_the_manual_knows_it() -> None:
    found = set(re.findall(r"(\w+) \| default\(([\d.]+)\)", PLAYBOOK.read_text(encoding="utf-8")))
    defaults = dict(found)
    manual = (ROOT / "docs" / "linux-health.md").read_text(encoding="utf-8")
    told: dict[str, str] = {}
    for names, values in re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| ([^|]+) \|", manual, re.MULTILINE):
        told |= dict(zip(re.findall(r"`(\w+)`", names), re.findall(r"[\d.]+", values), strict=False))

    assert len(defaults) == len(found), "a variable has two defaults"
    assert {name: told.get(name) for name in defaults} == defaults


def test_every_check_is_in_the_manual() -> None:
    manual = (ROOT / "docs" / "linux-health.md").read_text(encoding="utf-8")

    assert re.findall(r"^\| `([\w-]+)` \| [^|]+ \| [^|]+ \|$", manual, re.MULTILINE)[: len(CHECKS)] == list(CHECKS)


def test_nothing_in_the_pack_changes_a_host() -> None:
    writing = r"\b(rm|mv|cp|tee|touch|mkdir|kill|systemctl (start|stop|restart|enable)|mount|chmod|sysctl -w)\b|[^0-9&]>(?! ?/dev/null)\s*[/\w]"
    scripts = {check: re.sub(r"'[^']*'", "''", body["run"]) for check, body in CHECKS.items()}

    assert {check for check, script in scripts.items() if re.search(writing, script)} == set()
