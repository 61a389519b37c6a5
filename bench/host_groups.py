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
import re
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

REMOTE = Path(__file__).resolve().parents[1] / "remote"
WIDTHS = (8, 12, 6, 9, 5, 8, 7, 7, 9, 13)
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

STARTS = ("ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu")
NAMES = [start + end for start in STARTS for end in ("ndra", "lvin", "rker", "ston", "mira")]
VERBS = ("accepted", "closed", "opened", "started", "stopped", "reloaded", "queued", "renewed", "expired", "scheduled")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
HEX = re.compile(rb"\b[0-9a-f]{8,}\b|(?<=-)[0-9a-f]{4}(?=-)")
KEEP = frozenset((b"object", b"moved", b"to", b"bucket", b"by", b"rebalancing"))


def filled(draw: random.Random, pattern: str) -> str:
    """The pattern with something else in the place of each word in brackets: a number below N, hex digits, a name."""

    def word(found: re.Match[str]) -> str:
        kind, size = found[1], int(found[2] or 0)
        if kind == "n":
            return str(draw.randrange(size))
        if kind == "x":
            return f"{draw.getrandbits(4 * size):0{size}x}"
        if kind == "u":
            return str(uuid.UUID(int=draw.getrandbits(128)))
        return draw.choice(NAMES if kind == "a" else VERBS)

    return re.sub(r"<([nxuav])(\d*)>", word, pattern)


SYSLOG = (
    "sshd[<n9999>]: Accepted publickey for <a> from 10.0.<n256>.<n256> port <n65536> ssh2",
    "systemd[1]: Started Session <n9999> of user <a>.",
    "CRON[<n9999>]: (root) CMD (run-parts /etc/cron.hourly)",
    "kernel: [<n999999>.<n999999>] audit: type=1400 apparmor=ALLOWED pid=<n9999>",
)
JAVA = (
    "2026-11-30 21:<n60>:<n60>,<n1000> INFO  [http-nio-8080-exec-<n200>] c.e.orders.OrderService - request <u> <v> for"
    " session 0x<x16> trace=<x12> in <n900> ms"
)
ACCESS = (
    '10.<n256>.<n256>.<n256> - - [30/Nov/2026:21:<n60>:<n60> +0000] "GET <path>?id=<x10> HTTP/1.1" 200 <n99999> "-"'
    ' "Mozilla/5.0 (X11; Linux x86_64)"'
)
JSON = (
    '{"ts":"2026-11-30T21:<n60>:<n60>.<n1000>Z","level":"info","logger":"billing.worker","msg":"invoice <v>",'
    '"user":"<a>","request_id":"<u>","took_ms":<n5000>}'
)


def syslog(draw: random.Random) -> str:
    return filled(draw, "Nov <n30> 21:<n60>:<n60> web<n40> " + draw.choice(SYSLOG))


def java(draw: random.Random) -> str:
    return filled(draw, JAVA)


def access(draw: random.Random) -> str:
    return filled(draw, ACCESS.replace("<path>", "/<a>" * draw.randrange(1, 5)))


def rows(draw: random.Random) -> str:
    return filled(draw, JSON)


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
    """The log in pieces. Most are old ones made new: all of it line by line would take longer than to read it often."""
    piece, made, planted = b"", 0, False
    while made < size:
        if kind == "one line":
            out = b"0123456789abcdef" * (PIECE // 16)
        elif kind == "binary":
            out = draw.randbytes(PIECE)
        elif made % (16 * PIECE) < PIECE:
            out = piece = fresh(kind, draw)
        else:
            out = renewed(kind, piece, draw)
        made += len(out)
        yield out
        if made > size * 2 // 3 and not planted and kind in KINDS:
            planted = True
            yield f"{PLANTED}\n".encode()


def fresh(kind: str, draw: random.Random) -> bytes:
    lines, length = [], 0
    while length < PIECE:
        lines.append(KINDS[kind](draw))
        length += len(lines[-1]) + 1
    return ("\n".join(lines) + "\n").encode()


def renewed(kind: str, piece: bytes, draw: random.Random) -> bytes:
    """The same piece; with other words where no word is to come twice. (Digits are dropped before anything else.)"""
    shift = draw.randrange(1, 26)
    table = bytes.maketrans(LETTERS.encode(), (LETTERS[shift:] + LETTERS[:shift]).encode())
    if kind == "noise":
        return piece.translate(table)[:-1][::-1] + b"\n"
    if kind != "different":
        pool, at = draw.randbytes(PIECE).hex().encode(), 0

        def other(found: re.Match[bytes]) -> bytes:
            nonlocal at
            at += len(found[0])
            return pool[at - len(found[0]) : at]

        return HEX.sub(other, piece)
    return b" ".join(w if w in KEEP or b"\n" in w else w.translate(table)[::-1] for w in piece.split(b" "))


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
    heads = ("python", "log", "MB/s", "MB/s cpu", "MB", "step ms", "answer", "groups", "left out", "planted line")
    print(" ".join(f"{head:>{width}}" for head, width in zip(heads, WIDTHS, strict=True)))
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
                rate, cpu = size / 1e6 / found["s"], size / 1e6 / found["cpu_s"]
                told = (f"{rate:.0f}", f"{cpu:.0f}", f"{found['kib'] / 1024:.0f}", f"{found['slowest_s'] * 1000:.0f}")
                row = (version, kind, *told, str(found["wire"]), str(found["groups"]), str(found["shapes"]), there)
                print(" ".join(f"{cell:>{width}}" for cell, width in zip(row, WIDTHS, strict=True)), flush=True)


if __name__ == "__main__":
    main()
