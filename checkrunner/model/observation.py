"""What the processes of a command were seen doing: the kernel's word for why it has not ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Activity", "Observation"]


class Activity(StrEnum):
    """What the processes of a command were doing when the host looked at them."""

    RUNNING = "running"
    """They use the processor, or read and write."""
    IO_WAIT = "io_wait"
    """One waits in the kernel for a device or a file server, and cannot be ended meanwhile (D)."""
    WAITING_INPUT = "waiting_input"
    """One reads the session's terminal."""
    IDLE = "idle"
    """They sleep: on a socket, a pipe, a lock, a timer."""
    STOPPED = "stopped"
    UNKNOWN = "unknown"
    """The kernel does not say: another account's process, or a restricted /proc."""
    DONE = "done"
    LOST = "lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One look of the host at a command: the state of its processes, and the process that shows it.

    | field | description |
    |---|---|
    | pid, name | the process; 0 and "" where there is none to name |
    | wchan | the kernel function that it sleeps in; "" when it does not sleep, or that cannot be read |
    | syscall, fd | the system call that it is in, and that call's descriptor; "" and None when not known |
    | on | what it waits for: a path, a peer's address, the process at the other end of a pipe |
    | echo | whether the session's terminal shows what is typed: False where a password is asked for; None: not known |
    | since_s | for how long it has been seen like this |
    | text | the same in a line for people, in the host's words |
    """

    kind: Activity
    pid: int = 0
    name: str = ""
    wchan: str = ""
    syscall: str = ""
    fd: int | None = None
    on: str = ""
    echo: bool | None = None
    since_s: float = 0.0
    text: str = ""

    @property
    def brief(self) -> str:
        """``io_wait blk_mq_get_tag /dev/sdb (smartctl)``: what a progress line has room for."""
        # In the kernel's block layer the function says most; of a sleep the system call does.
        place = self.wchan or self.syscall if self.kind is Activity.IO_WAIT else self.syscall or self.wchan
        if self.kind in {Activity.RUNNING, Activity.WAITING_INPUT}:
            place = ""
        words = [str(self.kind), place, self.on, f"({self.name})" if self.name else ""]
        return " ".join(word for word in words if word)

    @property
    def evidence(self) -> str:
        """``smartctl (pid 4242) io_wait for 42.0 s, wchan blk_mq_get_tag, in read of fd 3, /dev/sdb``."""
        who = f"{self.name or 'a process'} (pid {self.pid}) " if self.pid else f"{self.name} " if self.name else ""
        since = f" for {self.since_s:.1f} s" if self.since_s else ""
        # Always one decimal: texts of hosts that differ in their times alone have to fold.
        call = f"in {self.syscall}" + (f" of fd {self.fd}" if self.fd is not None else "") if self.syscall else ""
        silent = "the terminal does not show what is typed" if self.echo is False else ""
        parts = [f"{who}{self.kind}{since}", f"wchan {self.wchan}" if self.wchan else "", call, self.on, silent]
        return ", ".join(part for part in parts if part)
