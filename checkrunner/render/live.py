"""The live view of a run, redrawn in place by rich."""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Callable, Sequence
from typing import TextIO, cast

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from checkrunner.model.observation import Observation
from checkrunner.model.plan import CheckOutcome, HostOutcome, PlannedCheck
from checkrunner.model.report import Wait
from checkrunner.model.results import VerdictState
from checkrunner.render.layout import count_of, duration
from checkrunner.render.progress import SilentProgress, describe, describe_wait
from checkrunner.render.safe import safe
from checkrunner.render.watch import Clock, Watch

__all__ = ["LiveProgress"]

_COLORS = {
    VerdictState.CRIT: "bold red",
    VerdictState.UNKNOWN: "magenta",
    VerdictState.WARN: "yellow",
    VerdictState.OK: "green",
}


class _Unbroken(io.TextIOBase):
    """A terminal that may go away (a closed window): from then on nothing is said, and nothing raised."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]  # io's is an attribute
        return self._stream.encoding or "utf-8"

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._stream.flush()


class LiveProgress(SilentProgress):
    """A bar, the hosts by state, what is found so far, what has been running for longest.

    Events only change counts; drawing is done by rich's own thread a few times a second, so that times go on while
    nothing happens. `run_finished` and `close` take the view away and show the cursor again.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        clock: Clock,
        longest: int,
        refreshes_per_s: float,
        mask: Callable[[str], str],
    ) -> None:
        self._mask = mask
        self._console = Console(file=cast("TextIO", _Unbroken(stream)), markup=False, highlight=False, emoji=False)
        self._clock = clock
        self._longest = longest
        self._refreshes_per_s = refreshes_per_s
        self._watch = Watch()
        self._lock = threading.Lock()
        self._live: Live | None = None
        self._over = False

    def run_started(self, hosts: int, checks: int) -> None:
        """Start drawing."""
        self._watch.run_started(hosts, checks, self._clock())
        self.resume()

    def pause(self) -> None:
        """Take the view away for a while."""
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    def resume(self) -> None:
        """Draw from now on."""
        if self._over or self._live is not None:
            return
        self._live = Live(
            console=self._console,
            get_renderable=self.view,
            refresh_per_second=self._refreshes_per_s,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def checks_added(self, host: str, more: int) -> None:  # noqa: ARG002 - the seam's
        """There is more to do."""
        with self._lock:
            self._watch.checks_added(more)

    def host_connecting(self, host: str) -> None:
        """Remember since when."""
        with self._lock:
            self._watch.host_connecting(host, self._clock())

    def hosts_waiting(self, waits: Sequence[Wait]) -> None:
        """Remember it."""
        with self._lock:
            self._watch.waits = waits

    def host_connected(self, host: str) -> None:
        """Count it."""
        with self._lock:
            self._watch.host_connected(host)

    def check_started(self, host: str, planned: PlannedCheck) -> None:
        """Remember since when."""
        with self._lock:
            self._watch.check_started(host, planned, self._clock())

    def check_state(self, host: str, planned: PlannedCheck, observation: Observation) -> None:
        """Remember it."""
        with self._lock:
            self._watch.check_state(host, planned, observation)

    def check_finished(self, outcome: CheckOutcome) -> None:
        """Count it."""
        with self._lock:
            self._watch.check_finished(outcome, self._clock())

    def host_finished(self, outcome: HostOutcome) -> None:
        """Count it."""
        with self._lock:
            self._watch.host_finished(outcome)

    def run_finished(self) -> None:
        """Take the view away."""
        self.close()

    def close(self) -> None:
        """Take the view away; idempotent."""
        self._over = True
        self.pause()

    def view(self) -> RenderableType:
        """What is drawn now."""
        with self._lock:
            return self._view()

    def _view(self) -> RenderableType:
        watch, now = self._watch, self._clock()
        bar = Table.grid(padding=(0, 1))
        bar.add_row(
            ProgressBar(total=max(watch.checks, 1), completed=watch.checks_done, width=40),
            Text(f"{watch.checks_done:,}/{count_of(watch.checks, 'check')}"),
            Text(f"{watch.hosts_done:,}/{count_of(watch.hosts, 'host')}"),
            Text(duration(max(0.0, now - watch.started)), style="dim"),
        )
        rows: list[RenderableType] = [bar, self._states()]
        rows += [
            Text("  " + safe(describe_wait(wait, self._mask)), style="yellow", no_wrap=True, overflow="ellipsis")
            for wait in watch.waits[: self._longest]
        ]
        oldest = watch.oldest(self._longest)
        rows += [
            Text("  " + safe(describe(item, now, self._mask)), style="dim", no_wrap=True, overflow="ellipsis")
            for item in oldest
        ]
        if watch.under_way > len(oldest):
            rows.append(Text(f"  and {watch.under_way - len(oldest):,} more", style="dim"))
        return Group(*rows)

    def _states(self) -> Text:
        watch = self._watch
        text = Text(
            f"hosts: {watch.connecting:,} connecting, {watch.connected:,} connected", no_wrap=True, overflow="ellipsis"
        )
        for state, number in watch.troubles.items():
            text.append(f", {number:,} {str(state).replace('_', ' ')}", style="magenta")
        text.append(f"   {count_of(watch.findings, 'finding')} so far")
        for verdict, color in _COLORS.items():
            if number := watch.verdicts.get(verdict, 0):
                text.append(f"  {number:,} {verdict}", style=color)
        return text
