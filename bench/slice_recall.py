#!/usr/bin/env python3
"""What `slice` finds of labelled logs, and the CPU time that it takes to choose.

    .venv/bin/python bench/slice_recall.py [../shared/slices/score.py] [../shared/data/loghub]
    .venv/bin/python bench/slice_recall.py --cpu FILE...

Without `--cpu` it runs the scorer: the share of the decisive types of lines of each log that `slice` shows within 250
to 4,000 tokens. With it, the CPU time that ranking and fitting take for each file.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from checkrunner.findings.salience import Row, fit, rank
from checkrunner.findings.tokens import TokenEstimate

ROUNDS = 5
BUDGET = 1000


def measure(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    rows = [Row(number, line) for number, line in enumerate(lines, 1)]
    best = [float("inf"), float("inf")]
    for _ in range(ROUNDS):
        start = time.process_time()
        ranking = rank(rows, total_lines=len(rows))
        middle = time.process_time()
        fit(ranking, BUDGET, TokenEstimate())
        best = [min(best[0], middle - start), min(best[1], time.process_time() - middle)]
    return f"{path.name}: {len(rows)} lines, rank {best[0] * 1000:.0f} ms, fit {best[1] * 1000:.1f} ms"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", action="store_true", help="measure time instead")
    parser.add_argument("paths", nargs="*", type=Path)
    arguments = parser.parse_args()
    if arguments.cpu:
        for path in arguments.paths:
            print(measure(path))
        return 0
    scorer, data = (
        *arguments.paths,
        *(Path("../shared/slices/score.py"), Path("../shared/data/loghub"))[len(arguments.paths) :],
    )
    command = [sys.executable, "-m", "checkrunner", "slice", "-", "--budget-tokens", "{budget}", "--format", "jsonl"]
    return subprocess.run([sys.executable, str(scorer), str(data), "--", *command], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
