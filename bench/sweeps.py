"""Sweep hosts while they break, links are cut and checkrunner is killed, and count what is wrong afterwards.

    bench/sweeps.py [--sweeps 200] [--hosts 5] [--keep 60] [--seed N]

The hosts are one sshd on loopback behind a proxy each. Before a sweep checks are broken or mended and hosts go away and
come back; during it links are cut, and checkrunner is sent SIGKILL or SIGTERM at a random time, or a second one is
started beside it. After each, the history is compared with what was begun (the audit log says what was) and with what
ended by itself (its exit code, and the file that it wrote). In the end no process, directory or lock may be left.

It prints how many of each there were, what is wrong, and the size of the history as it grew.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "ssh")]

import psutil  # noqa: E402 - behind the path that is set above, as all that follow
from cuttable import Cuttable  # noqa: E402
from loopback import Sshd, start_sshd  # noqa: E402

from checkrunner.app.lock import Lock  # noqa: E402
from checkrunner.history.store import Store  # noqa: E402

MARK = "SWEEPS_BENCH"
PLAYBOOK = """\
- hosts: all
  checks:
    - {{id: up, run: 'test ! -e {folder}/{{{{ inventory_hostname }}}}.down', slice: {{tail: 3}}}}
    - {{id: level, run: 'level=$(cat {folder}/{{{{ inventory_hostname }}}}.level); echo $level; test $level -lt 90'}}
    - {{id: noise, run: 'seq 2000; test ! -e {folder}/{{{{ inventory_hostname }}}}.down'}}
    - {{id: child, run: 'setsid sleep 900 & sleep 0.3; true'}}
    - {{id: hangs, run: 'test ! -e {folder}/{{{{ inventory_hostname }}}}.hang || exec sleep 900', timeout: 1s}}
"""
CHECKS = 5
SPOKEN = {0, 1, 2, 3}
SKIPPED = 75
QUIET_S = 120


@dataclass(kw_only=True)
class Tally:
    """What happened, and what is wrong."""

    did: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    spent_s: list[float] = field(default_factory=list)

    def complain(self, what: str, more: object = "") -> None:
        """Count something that must not be."""
        self.wrong[what] += 1
        self.examples.append(f"{what}: {more}")


class Site:
    """The hosts, and everything that sweeps leave behind."""

    def __init__(self, folder: Path, hosts: int, keep: int, chance: random.Random) -> None:
        self.folder, self.keep, self.chance = folder, keep, chance
        self.names = [f"h{number}" for number in range(1, hosts + 1)]
        self.proxies: dict[str, Cuttable] = {}
        self.away: set[str] = set()
        self.state = folder / "state"
        self.history = self.state / "checkrunner" / "history.db"
        self.out = folder / "out"
        self.out.mkdir()
        (folder / "play.yml").write_text(PLAYBOOK.format(folder=folder), encoding="utf-8")

    @contextlib.contextmanager
    def reachable(self, sshd: Sshd) -> Iterator[None]:
        """Put a proxy before each host, and write the inventory."""
        with contextlib.ExitStack() as stack:
            words = (sshd.folder / "host_key.pub").read_text(encoding="utf-8").split()
            known, lines = [], []
            for name in self.names:
                proxy = self.proxies[name] = stack.enter_context(Cuttable(sshd.port))
                known.append(f"[127.0.0.1]:{proxy.port} {words[0]} {words[1]}\n")
                lines.append(f"{name} ansible_host=127.0.0.1 ansible_port={proxy.port}\n")
                (self.folder / f"{name}.level").write_text("50\n")
            (self.folder / "known").write_text("".join(known), encoding="utf-8")
            common = f"-o UserKnownHostsFile={self.folder / 'known'} -o IdentitiesOnly=yes"
            lines += [
                "[all:vars]\n",
                f"ansible_ssh_private_key_file={sshd.key}\n",
                f"ansible_ssh_common_args='{common}'\n",
            ]
            (self.folder / "hosts.ini").write_text("".join(lines), encoding="utf-8")
            yield

    def change(self) -> None:
        """Break and mend some of it."""
        for name in self.names:
            for kind in ("down", "hang"):
                if self.chance.random() < 0.06:
                    (self.folder / f"{name}.{kind}").touch()
                elif self.chance.random() < 0.3:
                    (self.folder / f"{name}.{kind}").unlink(missing_ok=True)
            if self.chance.random() < 0.2:
                (self.folder / f"{name}.level").write_text(f"{self.chance.choice([40, 60, 95])}\n")
            if name not in self.away and self.chance.random() < 0.05:
                self.away.add(name)
                self.proxies[name].down()
            elif name in self.away and self.chance.random() < 0.5:
                self.come_back(name)

    def come_back(self, name: str) -> None:
        """Let the host be reached again."""
        self.away.remove(name)
        self.proxies[name].up()

    def start(self, number: int, *words: str) -> subprocess.Popen[bytes]:
        """Start a sweep; its report goes to a file of its own."""
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "PYTHONPATH": str(ROOT)}
        env |= {"XDG_STATE_HOME": str(self.state), "CHECKRUNNER_HISTORY_RUNS": str(self.keep)}
        env |= {"CHECKRUNNER_AUDIT_BYTES": "0", MARK: "here", "CHECKRUNNER_CONNECT_TIMEOUT": "5s"}
        with (self.folder / "stderr").open("ab") as errors:
            return subprocess.Popen(
                [
                    *(
                        sys.executable,
                        "-m",
                        "checkrunner",
                        "sweep",
                        "play.yml",
                        "-i",
                        "hosts.ini",
                        "--ssh-config",
                        "none",
                    ),
                    *("-o", str(self.out / f"{number}.json"), *words),
                ],
                cwd=self.folder,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )

    def stored(self) -> dict[str, int]:
        """The numbers of the runs in the history, by id."""
        if not self.history.exists():
            return {}
        with Store.open(self.history) as store:
            return {run.id: run.number for run in store.runs(limit=100_000)}

    def cells(self, number: int) -> int:
        """How many rows a run has."""
        with Store.open(self.history) as store:
            return len(store.view(number).cells)

    def started(self) -> set[str]:
        """The runs that were begun, by the audit log."""
        log = self.state / "checkrunner" / "audit.jsonl"
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        return {entry["run"] for entry in map(json.loads, lines) if entry["event"] == "run"}

    def written(self, number: int) -> str | None:
        """The id of the run whose report a sweep wrote."""
        file = self.out / f"{number}.json"
        return json.loads(file.read_text(encoding="utf-8"))["run"]["id"] if file.exists() else None


def one_sweep(site: Site, number: int, tally: Tally) -> None:
    """Sweep once, and compare the history with what it was before."""
    chance = site.chance
    site.change()
    before, begun = site.stored(), site.started()
    kind = chance.choices(("plain", "killed", "terminated", "cut", "two at once"), (45, 30, 5, 10, 10))[0]
    began = time.monotonic()
    processes = {number: site.start(number)}
    usual = sorted(tally.spent_s)[len(tally.spent_s) // 2] if tally.spent_s else 2.0
    if kind == "two at once":
        way = chance.choice(("skip", "wait"))
        processes[-number] = site.start(-number, "--if-running", way)
    elif kind != "plain":
        time.sleep(chance.uniform(0, 1.2 * usual))
        for proxy in site.proxies.values() if kind == "cut" else ():
            proxy.cut()
        if kind == "killed":
            processes[number].kill()
        elif kind == "terminated":
            processes[number].send_signal(signal.SIGTERM)
    codes = {which: process.wait(300) for which, process in processes.items()}
    if kind == "plain":
        tally.spent_s.append(time.monotonic() - began)
    tally.did[kind] += 1
    compare(site, codes, before, begun, tally)
    tally.sizes.append(site.history.stat().st_size if site.history.exists() else 0)


def compare(site: Site, codes: dict[int, int], before: dict[str, int], begun: set[str], tally: Tally) -> None:
    """Whether what ended by itself is in the history once and whole, and nothing else is that was not begun."""
    after, new_begun = site.stored(), site.started() - begun
    new = set(after) - set(before)
    for which, code in codes.items():
        tally.did[f"exit code {code}" if code >= 0 else f"ended by signal {-code}"] += 1
        run = site.written(which)
        if code in SPOKEN and run not in new:
            tally.complain("lost", f"{run} of sweep {which}, exit code {code}")
        if code not in {*SPOKEN, SKIPPED, 130} and code >= 0:
            tally.complain("failed", f"sweep {which}: exit code {code}")
    if not new <= new_begun:
        tally.complain("made up", new - new_begun)
    if len(set(after.values())) < len(after):
        tally.complain("doubled", after)
    for run in new:
        if site.cells(after[run]) != CHECKS * len(site.names):
            tally.complain("not whole", f"{run}: {site.cells(after[run])} rows")
    kept = sorted(before.values())[max(0, len(before) + len(new) - site.keep) :]
    if not set(kept) <= set(after.values()):
        tally.complain("lost", f"{set(kept) - set(after.values())}, which were there")
    if len(after) > site.keep:
        tally.complain("kept too long", len(after))


def left_over(site: Site) -> dict[str, list[str]]:
    """What of the sweeps is still there."""
    processes = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if MARK in process.environ() and process.pid != os.getpid():
                processes.append(f"{process.pid} {' '.join(process.cmdline())[:80]}")
    locks = site.state / "checkrunner" / "locks"
    held = []
    for path in locks.glob("*.lock"):
        lock = Lock(locks, path.stem)
        if lock.take():
            lock.release()
        else:
            held.append(str(path))
    found = {
        "processes": processes,
        "directories": [str(path) for path in (site.folder / "run").glob("checkrunner-*")],
        "locks": held,
        "holders": [str(path) for path in locks.glob("*.holder")],
        "half files": [str(path) for path in site.out.glob(".*")],
        "journals": [str(path) for path in site.history.parent.glob("history.db-*")],
    }
    return {kind: names for kind, names in found.items() if names}


def main() -> int:
    """Do it and print what came of it."""
    form = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(prog="bench/sweeps.py", description=__doc__, formatter_class=form)
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument("--hosts", type=int, default=5)
    parser.add_argument("--keep", type=int, default=60, help="runs that the history keeps")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    chosen = parser.parse_args()
    print(f"seed {chosen.seed}")
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="sweeps-") as made:
        folder = Path(made)
        (folder / "run").mkdir(mode=0o700)
        (folder / "sshd").mkdir()
        site = Site(folder, chosen.hosts, chosen.keep, random.Random(chosen.seed))
        with start_sshd(folder / "sshd", options=[f"SetEnv XDG_RUNTIME_DIR={folder / 'run'} {MARK}=host"]) as sshd:
            with site.reachable(sshd):
                for number in range(1, chosen.sweeps + 1):
                    one_sweep(site, number, tally)
                    if number % 20 == 0:
                        size = f"{tally.sizes[-1] / 1024:.0f} KiB, {len(site.stored())} runs"
                        print(f"{number} sweeps: history {size}", flush=True)
                for name in sorted(site.away):
                    site.come_back(name)
                tally.did["last"] += 1
                last = site.start(0).wait(300)
                if last not in SPOKEN:
                    tally.complain("failed", f"the last sweep: exit code {last}")
            until = time.monotonic() + QUIET_S
            while (left := left_over(site)) and time.monotonic() < until:
                time.sleep(0.5)
        report(site, tally, left)
    return 1 if tally.wrong or left else 0


def report(site: Site, tally: Tally, left: dict[str, list[str]]) -> None:
    """Print it."""
    print("did:", ", ".join(f"{count} {what}" for what, count in sorted(tally.did.items())))
    stored = site.stored()
    last = max(stored.values(), default=0)
    print(f"begun {len(site.started())} runs, {len(stored)} in the history, numbers up to {last}")
    print("wrong:", ", ".join(f"{count} {what}" for what, count in sorted(tally.wrong.items())) or "nothing")
    for example in tally.examples[:20]:
        print("  ", example)
    print("left over:", json.dumps(left, indent=1) if left else "nothing")
    print(f"history: at most {max(tally.sizes) / 1024:.0f} KiB, in the end {tally.sizes[-1] / 1024:.0f} KiB")
    lines = (site.folder / "stderr").read_text(encoding="utf-8").splitlines()
    errors = Counter(line.partition(": process")[0][:100] for line in lines)
    print("said on stderr:", dict(errors.most_common(8)))


if __name__ == "__main__":
    sys.exit(main())
