"""When the answers of a session are due: its named shells each run one command after another."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from checkrunner.model.plan import Account, Command
from checkrunner.model.seams import Session

__all__ = ["Lease", "Sessions", "Turns"]

# How long after its own timeout a command may stay unanswered: the host's ladder INT, TERM, KILL takes 3 s, the rest
# is for slow links. After that the remote side itself counts as hung.
_ANSWER_GRACE_S = 20.0
_TYPING_S = 60.0


class Turns:
    """One for each session, shared by all that send commands to it. Belongs to one event loop.

    `start_s` is how long the start of another account's shell may take, `away_s` how long a link may be away.
    """

    def __init__(self, *, start_s: float = 30.0, away_s: float = 0.0) -> None:
        self._start_s = start_s
        self._away_s = away_s
        self._free: dict[str, float] = {}
        self._accounts: set[tuple[str, Account]] = set()

    def due(self, command: Command) -> float:
        """The time of the event loop at which the answer to the command, which is sent now, is overdue.

        Each may take its own time after the one before it.
        """
        now = asyncio.get_running_loop().time()
        free = max(self._free.get(command.session, 0.0), now) + command.timeout_s + self._account_s(command)
        self._free[command.session] = free
        return free + _ANSWER_GRACE_S + self._away_s

    def _account_s(self, command: Command) -> float:
        """How much longer a shell's first command of another account may take: its start, once more with a password,
        and somebody who types that; and the time until it is known that the account's remote side hangs, which must not
        look as if the host's did."""
        account = command.become
        if account is None or (command.session, account) in self._accounts:
            return 0.0
        self._accounts.add((command.session, account))
        return 2 * self._start_s + _TYPING_S + _ANSWER_GRACE_S + self._away_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A session to send commands to, and when their answers are due. `opened` is waited for before the first of them is
    sent: the time that it takes to connect is not the command's. It raises HostError members."""

    session: Session
    turns: Turns
    opened: Callable[[], Awaitable[object]] | None = None


Sessions = Callable[[str], Awaitable[Lease]]
"""The session of another host, by its name, connected where it is not yet. Raises HostError members only. Whoever
supplies it closes it."""
