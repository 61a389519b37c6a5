#!/usr/bin/env python3
"""How many of the planted decisive lines are shown in 250, 500 and 1,000 tokens.

    .venv/bin/python bench/planted.py [--only NAME,NAME] [--seed 1] [--budgets 250,500,1000] [--misses]

The outputs come from tests/planted: what commands print, with one to three lines in each that are the answer. Beside
`checkrunner slice` stand what people do by hand: the beginning, the end, and `grep -i 'error|fail'`, each kind of line
once. A decisive line counts as shown when the words of it that a reader needs are there. `--misses` prints what was
shown instead.
"""

from __future__ import annotations

import argparse
import io
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "planted")]

from planted import OUTPUTS, Output, make, seen  # noqa: E402 - found where the lines above point

from checkrunner.app.slicing import slice_stream  # noqa: E402
from checkrunner.findings.tokens import TokenEstimate  # noqa: E402

__all__ = ["SELECTORS", "recall"]

Selector = Callable[[Output, int], list[str]]

_COUNTER = TokenEstimate()
_TROUBLE = re.compile(r"error|fail", re.IGNORECASE)
_VARIABLE = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{6,}\b|\d+", re.IGNORECASE)


def _fill(lines: Iterable[str], budget: int) -> list[str]:
    """As many of the lines as fit, in their order; one token more for each line's end."""
    shown, used = [], 0
    for line in lines:
        used += _COUNTER.count(line) + 1
        if used > budget:
            break
        shown.append(line)
    return shown


def _on_terminal(lines: Sequence[str]) -> list[str]:
    return [line.rstrip("\r").rpartition("\r")[2] for line in lines]


def _ours(output: Output, budget: int) -> list[str]:
    rows = slice_stream(io.BytesIO(output.data), budget, numbered=False).rows
    return _fill((row.text for row in rows), budget)


def _head(output: Output, budget: int) -> list[str]:
    return _fill(_on_terminal(output.lines), budget)


def _tail(output: Output, budget: int) -> list[str]:
    return _fill(reversed(_on_terminal(output.lines)), budget)


def _grep(output: Output, budget: int) -> list[str]:
    kinds = {_VARIABLE.sub("#", line): line for line in reversed(_on_terminal(output.lines)) if _TROUBLE.search(line)}
    return _fill(reversed(kinds.values()), budget)


SELECTORS: dict[str, Selector] = {"slice": _ours, "head": _head, "tail": _tail, "grep": _grep}


def recall(output: Output, shown: Sequence[str]) -> float:
    return statistics.fmean(seen(decisive, shown) for decisive in output.decisive)


def _misses(output: Output, budget: int) -> None:
    shown = _ours(output, budget)
    spent = sum(_COUNTER.count(text) + 1 for text in shown)
    for decisive in output.decisive:
        if not seen(decisive, shown):
            place = decisive.places[0]
            print(f"\n{output.name} at {budget}: line {place.line}, needed: {' ... '.join(place.words)}")
            print(f"    | {' '.join(output.lines[place.line - 1].split())[:200]}")
            print(f"  shown instead ({len(shown)} rows, {spent} tokens):")
            for text in shown[:12]:
                print(f"    > {text[:160]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="names of outputs, with commas between")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budgets", default="250,500,1000")
    parser.add_argument("--misses", action="store_true", help="print what was shown in the place of each missed line")
    options = parser.parse_args()
    budgets = [int(word) for word in options.budgets.split(",")]
    names = options.only.split(",") if options.only else list(OUTPUTS)
    if unknown := set(names) - OUTPUTS.keys():
        parser.error(f"no such output: {', '.join(sorted(unknown))}; there are {', '.join(OUTPUTS)}")

    columns = [(selector, budget) for selector in SELECTORS for budget in budgets]
    titles = "".join(f"{f'{selector}@{budget}':>11}" for selector, budget in columns)
    print(f"{'output':20}{'lines':>8}{'to find':>8}{titles}{'ms':>7}")
    sums: dict[tuple[str, int], list[float]] = {column: [] for column in columns}
    for name in names:
        output = make(name, options.seed)
        for column in columns:
            if column == ("slice", budgets[0]):
                start = time.perf_counter()
            sums[column].append(recall(output, SELECTORS[column[0]](output, column[1])))
            if column == ("slice", budgets[0]):
                took = (time.perf_counter() - start) * 1000
        cells = "".join(f"{sums[column][-1]:11.2f}" for column in columns)
        print(f"{name:20}{len(output.lines):8}{len(output.decisive):8}{cells}{took:7.0f}", flush=True)
    print(f"{'mean':36}" + "".join(f"{statistics.fmean(sums[column]):11.3f}" for column in columns))
    if options.misses:
        for name in names:
            _misses(make(name, options.seed), 500 if 500 in budgets else budgets[0])


if __name__ == "__main__":
    main()
