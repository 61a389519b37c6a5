#!/usr/bin/env python3
"""What it costs a host to group the lines of a large output, and the network to carry the groups.

    .venv/bin/python bench/host_groups.py [--size MB] [--python PATH ...] [KIND ...]

Logs of several kinds are made, each of `--size` megabytes (1000), and read by the part of the agent that a host is
sent for it, in a process of its own. Printed for each: megabytes a second (of elapsed and of processor time), the
process's largest memory, the bytes of the answer, how many groups are in it, and whether the one line is among them
that was planted two thirds into the log.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

REMOTE = Path(__file__).resolve().parents[1] / "remote"
PIECE = 4 << 20  # of a log this much is made anew, and then again with other numbers in it
PLANTED = "postmaster: could not map the shared area, giving up on tablespace nine"

# Runs on the host's interpreter. The capture is a file that is there already.
HOST = """
import json, sys, time
from types import ModuleType
folder, path, size, lines = sys.argv[1:]
modules = []
for name in ("agent", "groups"):
    module = sys.modules[name] = ModuleType(name)
    exec(compile(open(folder + "/" + name + ".py").read(), name, "exec"), module.__dict__)
    modules.append(module)
agent, groups = modules
capture = agent.Capture(agent.Store("/", 1 << 62), path, 1 << 62)
capture.small, capture.kept = None, int(size)
class Idle(object):
    canceling = ()
query = {"stream": "stdout", "max_lines": int(lines), "max_bytes": 32768, "line_bytes": 300}
began, used = time.perf_counter(), time.process_time()
slowest, answer = 0.0, None
steps = groups.scan(Idle(), capture, query)
while answer is None:
    at = time.perf_counter()
    answer = next(steps)
    slowest = max(slowest, time.perf_counter() - at)
words, data = answer[0]
print(json.dumps({
    "s": time.perf_counter() - began, "cpu_s": time.process_time() - used, "slowest_s": slowest,
    "kib": int([row for row in open("/proc/self/status") if row.startswith("VmHWM")][0].split()[1]),
    "wire": len(agent.json(words)) + len(data), "groups": len(words["lines"]), "numbers": words["lines"],
    "more": words["more"], "shapes": words["shapes"],
}))
"""

NAMES = [f"{a}{b}" for a in "ba ce di fo gu ka le mi no pu ra se ti vo zu".split() for b in "ndra lvin rker ston mira".split()]
VERBS = "accepted closed opened started stopped reloaded queued renewed expired scheduled".split()
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def syslog(draw: random.Random) -> str:
    what = draw.choice(
        (
            f"sshd[{draw.randrange(99999)}]: Accepted publickey for {draw.choice(NAMES)} from 10.0.{draw.randrange(256)}."
            f"{draw.randrange(256)} port {draw.randrange(65536)} ssh2",
            f"systemd[1]: Started Session {draw.randrange(99999)} of user {draw.choice(NAMES)}.",
            f"CRON[{draw.randrange(99999)}]: (root) CMD (run-parts /etc/cron.hourly)",
            f"kernel: [{draw.random() * 1e6:.6f}] audit: type=1400 apparmor=ALLOWED pid={draw.randrange(9999)}",
        )
    )
    return f"Nov {draw.randrange(1, 31)} {draw.randrange(24):02}:{draw.randrange(60):02}:{draw.randrange(60):02} web{draw.randrange(40)} {what}"


def java(draw: random.Random) -> str:
    return (
        f"2026-11-30 21:{draw.randrange(60):02}:{draw.randrange(60):02},{draw.randrange(1000):03} INFO  [http-nio-8080-exec-"
        f"{draw.randrange(200)}] c.e.orders.OrderService - request {uuid.UUID(int=draw.getrandbits(128))} "
        f"{draw.choice(VERBS)} for session 0x{draw.getrandbits(64):016x} trace={draw.getrandbits(48):x} in {draw.randrange(900)} ms"
    )


def access(draw: random.Random) -> str:
    path = "/".join(draw.choice(NAMES) for _ in range(draw.randrange(1, 5)))
    return (
        f"10.{draw.randrange(256)}.{draw.randrange(256)}.{draw.randrange(256)} - - [30/Nov/2026:21:{draw.randrange(60):02}:00 +0000] "
        f'"GET /{path}?id={draw.getrandbits(40):x} HTTP/1.1" 200 {draw.randrange(99999)} "-" "Mozilla/5.0 (X11; Linux x86_64)"'
    )


def rows(draw: random.Random) -> str:
    return json.dumps(
        {
            "ts": f"2026-11-30T21:{draw.randrange(60):02}:{draw.randrange(60):02}.{draw.randrange(1000):03}Z",
            "level": "info",
            "logger": "billing.worker",
            "msg": f"invoice {draw.choice(VERBS)}",
            "user": draw.choice(NAMES),
            "request_id": str(uuid.UUID(int=draw.getrandbits(128))),
            "took_ms": draw.randrange(5000),
        },
        separators=(",", ":"),
    )


def different(draw: random.Random) -> str:
    """No two of these are alike, but for the words around what differs."""
    word = "".join(draw.choices(LETTERS, k=8))
    other = "".join(draw.choices(LETTERS, k=6))
    return f"{draw.randrange(10**9)} object {word} moved to bucket {other} by rebalancing"


def noise(draw: random.Random) -> str:
    """Nothing but words that never come again."""
    return " ".join("".join(draw.choices(LETTERS, k=draw.randrange(3, 10))) for _ in range(draw.randrange(4, 14)))


def short(draw: random.Random) -> str:
    return str(draw.randrange(100))


KINDS: dict[str, Callable[[random.Random], str]] = {
    "syslog": syslog,
    "java": java,
    "access": access,
    "json": rows,
    "different": different,
    "noise": noise,
    "short lines": short,
}


def pieces(kind: str, size: int, draw: random.Random) -> Iterator[bytes]:
    """The log in pieces. Making all of it line by line would take longer than reading it many times."""
    if kind == "one line":
        for _ in range(size // PIECE):
            yield b"0123456789abcdef" * (PIECE // 16)
        return
    if kind == "binary":
        for _ in range(size // PIECE):
            yield draw.randbytes(PIECE)
        return
    # Words that differ in every line must differ in every piece, digits need not: the part drops them.
    fresh = kind in ("different", "noise")
    piece = b""
    made = 0
    planted = False
    while made < size:
        if fresh and piece and made % (16 * PIECE) >= PIECE:
            shift = draw.randrange(1, 26)
            table = bytes.maketrans(LETTERS.encode(), (LETTERS[shift:] + LETTERS[:shift]).encode())
            out = b"\n".join(
                b" ".join(w if w in KEEP else w.translate(table)[::-1] for w in line.split(b" ")) for line in piece.split(b"\n")
            ) if kind == "different" else piece.translate(table)[:-1][::-1] + b"\n"
        else:
            lines, length = [], 0
            while length < PIECE:
                lines.append(KINDS[kind](draw))
                length += len(lines[-1]) + 1
            out = piece = ("\n".join(lines) + "\n").encode()
        made += len(out)
        yield out
        if made > size * 2 // 3 and not planted:
            planted = True
            yield f"{PLANTED}\n".encode()


KEEP = frozenset(b"object moved to bucket by rebalancing".split())


def write_log(path: Path, kind: str, size: int) -> int:
    """Write it; the number of the planted line, 0 where there is none."""
    number = planted = 0
    with path.open("wb") as out:
        for piece in pieces(kind, size, random.Random(7)):
            out.write(piece)
            if piece == f"{PLANTED}\n".encode():
                planted = number + 1
            number += piece.count(b"\n")
    return planted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1000, help="megabytes of each log")
    parser.add_argument("--lines", type=int, default=80, help="groups that are asked for")
    parser.add_argument("--python", action="append", help="interpreters to read it with")
    parser.add_argument("kinds", nargs="*", help=f"of: {', '.join([*KINDS, 'one line', 'binary'])}")
    given = parser.parse_args()
    kinds = given.kinds or [*KINDS, "one line", "binary"]
    print(f"{'python':8} {'log':12} {'MB/s':>6} {'MB/s cpu':>9} {'MB':>5} {'step ms':>8} {'answer':>7} {'groups':>7} {'left out':>9}  planted line")
    with tempfile.TemporaryDirectory(dir="/dev/shm" if given.size <= 200 else None) as name:
        path = Path(name) / "log"
        for kind in kinds:
            planted = write_log(path, kind, given.size * 1_000_000)
            size = path.stat().st_size
            for python in given.python or [sys.executable]:
                command = [python, "-IS", "-c", HOST, str(REMOTE), str(path), str(size), str(given.lines)]
                found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                version = subprocess.run([python, "-V"], check=True, capture_output=True, text=True).stdout.split()[1]
                there = "-" if not planted else "yes" if planted in [row[0] for row in found["numbers"]] else "NO"
                mega = size / 1e6
                print(
                    f"{version:8} {kind:12} {mega / found['s']:6.0f} {mega / found['cpu_s']:9.0f} {found['kib'] / 1024:5.0f} "
                    f"{found['slowest_s'] * 1000:8.0f} {found['wire']:7} {found['groups']:7} {found['shapes']:9}  {there}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
