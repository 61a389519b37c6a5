"""`python -m checkrunner` and the `checkrunner` command."""

from __future__ import annotations

import gc
import sys

__all__ = ["main"]

# Nearly all that start-up makes stays, and little of the rest is in cycles: at the usual threshold (700 objects)
# looking for those takes a tenth of a short run.
_NEW_OBJECTS = 100_000


def main() -> None:
    """Run the command line and end the process with its exit code."""
    gc.set_threshold(_NEW_OBJECTS)
    if {"run", "sweep"} & set(sys.argv[1:]):
        # Before the imports that follow: they take a while, and an interrupt must find its report.
        from checkrunner.cli.signals import hold_signals

        hold_signals()
    from checkrunner.cli.main import run_command_line

    sys.exit(run_command_line(sys.argv[1:]))


if __name__ == "__main__":
    main()
