"""`python -m checkrunner` and the `checkrunner` command."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and end the process with its exit code."""
    if "run" in sys.argv[1:]:
        # Before the imports that follow: they take a while, and an interrupt must find its report.
        from checkrunner.cli.signals import hold_signals

        hold_signals()
    from checkrunner.cli.main import run_command_line

    sys.exit(run_command_line(sys.argv[1:]))


if __name__ == "__main__":
    main()
