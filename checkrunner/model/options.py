"""Options of the parts, in groups: a constructor receives the group it needs and never sees the settings as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from checkrunner.model.playbook import Become
from checkrunner.model.sources import Secret

__all__ = ["HistoryOptions", "KeepOptions", "LocalOptions", "RunOptions", "SessionOptions", "SshOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SshOptions:
    """What holds for every SSH host unless the inventory says otherwise.

    `known_hosts` empty means the files of the SSH configuration (``~/.ssh/known_hosts``, ``/etc/ssh/ssh_known_hosts``).
    `host_key_checking` is ``yes``, ``accept-new`` (an unknown key is taken and remembered) or ``no``. `config_files`
    None means ``~/.ssh/config`` and ``/etc/ssh/ssh_config`` where they exist; an empty tuple means none.
    `become_password` is what sudo, doas or su on hosts are told: it is not for logging in.
    `keepalive_s` is the time between two questions whether the host is there, `keepalive_count` how many such times
    without a word make a link dead (never less than two). `origins` says of settings by name where they come from, for
    messages.
    """

    known_hosts: tuple[str, ...] = ()
    host_key_checking: str = "yes"
    config_files: tuple[str, ...] | None = None
    user: str | None = None
    private_key_file: str | None = None
    password: Secret | None = None
    become_password: Secret | None = None
    agent_socket: str | None = None
    common_args: str = ""
    connect_timeout_s: float = 10.0
    keepalive_s: float = 5.0
    keepalive_count: int = 3
    origins: Mapping[str, str] = field(default_factory=dict)

    @property
    def unnoticed_s(self) -> float:
        """How long a dead link may go unnoticed: two intervals at least, one before and one after a question."""
        return self.keepalive_s * max(2, self.keepalive_count)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalOptions:
    """The environment that local sessions start with; None means the process's own."""

    env: tuple[tuple[str, str], ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """Limits of the remote side of one host, in bytes and counts. `hello_timeout_s` is the time for its start.

    `reconnect_s` is the time to connect again after a loss of the link, 0 for never; `unnoticed_s` is how long that may
    go unnoticed here. `stay_s` is how long captures stay on the host after the run, 0 for not at all, and `stay_name`
    what their directory is called after.
    """

    host_bytes: int = 256 << 20
    max_sessions: int = 16
    hello_timeout_s: float = 30.0
    reconnect_s: float = 0.0
    unnoticed_s: float = 0.0
    stay_s: float = 0.0
    stay_name: str = ""

    @property
    def away_s(self) -> float:
        """How long a link may be dead until it stands again, and so how long the remote side has to keep what is needed
        then: it may notice long before us. 0 where a lost link stays lost."""
        return self.unnoticed_s + self.reconnect_s if self.reconnect_s else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepOptions:
    """What is kept of outputs after the run: those of checks that are not ok (``failed``), of ``all``, of ``none``. At
    most `output_bytes` of each, and `total_bytes` of all together."""

    which: str = "failed"
    output_bytes: int = 2 << 20
    total_bytes: int = 32 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryOptions:
    """How long the store keeps runs: those of the last `keep_s` seconds, of each series the last `runs`, and as many as
    fit into `most_bytes`. A check that did harm on a host `suppress_after` times in a row is not run there for
    `suppress_for_s` seconds."""

    keep_s: float = 90 * 86400.0
    runs: int = 1000
    most_bytes: int = 1 << 30
    suppress_after: int = 3
    suppress_for_s: float = 86400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Limits of a run. `deadline_s` None means none; `timeout_s` is a check's where it and its play say nothing, as
    `become` is. `start_s` is how long the start of a remote side may take by its own limits.
    `away_s` is how long a link may be down, unnoticed and then noticed, before an answer counts as missing."""

    forks: int = 100
    deadline_s: float | None = None
    timeout_s: float = 60.0
    capture_bytes: int = 64 << 20
    away_s: float = 0.0
    start_s: float = 30.0
    become: Become = field(default_factory=Become)
