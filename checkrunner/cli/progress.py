"""Which view of a running run the user gets."""

from __future__ import annotations

import sys
from collections.abc import Callable

from checkrunner.render.progress import SilentProgress, line_progress, live_progress
from checkrunner.settings import Settings

__all__ = ["choose_progress"]


def choose_progress(settings: Settings, *, quiet: bool, verbose: int, mask: Callable[[str], str]) -> SilentProgress:
    """A live view where stderr is a terminal, lines elsewhere and with `verbose`, nothing with `quiet`. `mask` takes
    secrets out of what hosts said."""
    if quiet:
        return SilentProgress()
    if sys.stderr.isatty() and not verbose and settings.color is not False:
        return live_progress(sys.stderr, mask=mask)
    return line_progress(sys.stderr, each_check=verbose > 0, mask=mask)
