#!/usr/bin/env python3
"""How long it takes to write the report of a large run in each format, and how large that is.

    .venv/bin/python bench/formats.py [--hosts 10000] [--ill 3000] [--troubles 40] [--budget-tokens 4000]

The fleet is that of `report_size.py`: hosts in memory with eight checks each, some of them with troubles.
"""

from __future__ import annotations

import argparse
import io
import time

from report_size import CHECKS, fleet, report_of

from checkrunner.app.detail import detail_of
from checkrunner.render import DETAILED, RENDERERS, renderer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=10_000)
    parser.add_argument("--ill", type=int, default=3000)
    parser.add_argument("--troubles", type=int, default=40)
    parser.add_argument("--budget-tokens", type=int, default=4000)
    options = parser.parse_args()
    outcomes = fleet(options.hosts, options.ill, options.troubles)
    report = report_of(outcomes, options.budget_tokens)
    began = time.perf_counter()
    detail = detail_of(outcomes)
    print(
        f"{options.hosts:,} hosts x {CHECKS} checks, {options.ill:,} ill: "
        f"the detail {time.perf_counter() - began:.2f} s, {len(report.findings)} findings"
    )
    for name in RENDERERS:
        out = io.StringIO()
        began = time.perf_counter()
        renderer(name).render(report, out, detail if name in DETAILED else None)
        took = time.perf_counter() - began
        print(f"{name:10} {took:6.2f} s  {len(out.getvalue().encode()):12,} bytes")


if __name__ == "__main__":
    main()
