#!/usr/bin/env python3
"""How well secrets are masked: recall on planted ones, precision against harmless look-alikes, by kind; and what a line
costs.

    .venv/bin/python bench/redaction.py [--rounds 5]

The texts are those of tests/findings/redaction.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "findings")]

from redaction_cases import KEY, look_alikes, planted, score  # noqa: E402 - the path comes first

from checkrunner.findings.redact import KINDS, PatternRedactor  # noqa: E402
from checkrunner.model.sources import Secret  # noqa: E402

CLEAN = [
    "2026-05-01T10:11:12.123456+00:00 web01 systemd[1]: Started Session 1234 of user root.",
    "/dev/sda1        20G   18G  1.1G  94% /",
    'tcp   LISTEN 0      4096         0.0.0.0:22        0.0.0.0:*    users:(("sshd",pid=812,fd=3))',
    "Jan  2 03:04:05 web01 kernel: [12345.678901] EXT4-fs (sda1): mounted filesystem with ordered data mode",
    "-rw-r--r-- 1 root root 4096 Jan  2 03:04 /usr/lib/python3/dist-packages/foo/bar_baz.py",
    "INFO  [main] org.example.db.Memtable - Flushing memtable of 1234 rows",
    '10.0.0.1 - - [02/Jan/2026:03:04:05 +0000] "GET /index.html HTTP/1.1" 200 1234 "-" "curl/7.88.1"',
]
SECRET = [
    "postgres://app:hunter2@db1/main is down",
    "DB_PASSWORD=hunter2 foo=bar",
    "Authorization: Bearer abcdef0123456789abcdef",
]


def microseconds(work: Callable[[], object], rounds: int) -> float:
    """Of the processor, for one call; the best of some tries."""
    best = float("inf")
    for _ in range(rounds):
        began = process_time()
        for _ in range(200):
            work()
        best = min(best, (process_time() - began) / 200)
    return best * 1e6


def costs(rounds: int) -> None:
    redactor = PatternRedactor([Secret("correct-horse"), Secret("another-secret-1")], key=KEY)

    def one(line: str) -> float:
        return microseconds(lambda: redactor.redact(line), rounds)

    clean = sum(one(line) for line in CLEAN) / len(CLEAN)
    many = "\n".join(CLEAN * 20)
    within = microseconds(lambda: redactor.redact(many), rounds) / (20 * len(CLEAN))
    hit = sum(one(line) for line in SECRET) / len(SECRET)
    print(f"\na line without a secret {clean:.1f} us, within many {within:.1f} us; a line with one {hit:.1f} us")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="tries of each measurement of time")
    options = parser.parse_args()
    found = score()
    print(f"{'kind':<18} {'planted':>8} {'gone':>6} {'recall':>7} {'harmed':>7} {'precision':>10}")
    rows = sorted(found.items(), key=lambda row: KINDS.index(row[0]))
    for kind, entry in rows:
        recall = entry.gone / entry.planted if entry.planted else 1.0
        right = entry.gone / (entry.gone + entry.harmed) if entry.gone + entry.harmed else 1.0
        print(f"{kind:<18} {entry.planted:>8} {entry.gone:>6} {recall:>7.2f} {entry.harmed:>7} {right:>10.3f}")
    gone, every = sum(entry.gone for _, entry in rows), sum(entry.planted for _, entry in rows)
    harmed, alike = sum(entry.harmed for _, entry in rows), len(list(look_alikes()))
    print(f"\n{every} planted, recall {gone / every:.3f}; {alike} look-alikes, precision {gone / (gone + harmed):.3f}")
    missed = sum(len(case.secrets) for case in planted() if case.missed)
    taken = sum(one.masked for one in look_alikes())
    print(f"known and not counted: {missed} that are missed, {taken} look-alikes that are masked")
    costs(options.rounds)


if __name__ == "__main__":
    main()
