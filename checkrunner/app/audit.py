"""The audit log: a line for each command that was run on a host, as JSON. Who, where, what, when, and how it ended.

It never fails a run: what could not be written is said in the report's warnings.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import json
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from checkrunner.app.audit_file import AppendFile
from checkrunner.app.audited import AuditedSession
from checkrunner.app.prepare import Prepared
from checkrunner.findings.redact import NullRedactor
from checkrunner.model.errors import AgentError, BecomeError, BecomeFailure, BootstrapError, HostError
from checkrunner.model.inventory import Host
from checkrunner.model.plan import Command, Step
from checkrunner.model.report import RunInfo
from checkrunner.model.results import Execution, Result
from checkrunner.model.seams import Redactor, Session
from checkrunner.model.sources import Secret

__all__ = ["NO_AUDIT", "Audit", "open_audit", "who_am_i"]

_SOON_S = 0.25
"""How long lines are gathered before they are written."""
_LONG_S = 10.0
"""What has no answer for so long has a line that it was sent, also where the host does not tell that it runs."""
_BATCH_BYTES = 256 << 10
_MOST_HELD_BYTES = 16 << 20
_PATIENCE_S = 2.0
"""How long the end of a run waits for others that write."""
_BETWEEN_S = 0.005
_MOST_COMMAND = 4096


class Audit:
    """The lines of one run. `who` says on whose behalf all of it is done. Used on the event loop of the run, and after
    it; `end` writes what is left. Without a file nothing is recorded."""

    def __init__(self, file: AppendFile | None, *, run: str, who: Mapping[str, object], redactor: Redactor) -> None:
        self._file = file
        self._run = run
        self._who = who
        # The same text stands in most lines: that of a check, on every host.
        self._mask = functools.lru_cache(maxsize=1024)(redactor.redact)
        self._redactor = redactor
        self._numbers = itertools.count(1)
        self._lines: list[bytes] = []
        self._held = 0
        self._timer: asyncio.TimerHandle | None = None
        self._lost = 0
        self._trouble = ""

    def watch(self, host: Host, session: Session, user: Callable[[], str]) -> Session:
        """The session, its commands on record from now on. `user` says who logs in, as far as it is known."""
        if self._file is None:
            return session
        return AuditedSession(session, functools.partial(_Entry, self, host, user))

    def begin(self, **facts: object) -> None:
        """The run's first line, which is there before anything is run. Texts are masked."""
        self.add("run", datetime.now(UTC), {key: self._masked(value) for key, value in facts.items()})
        self.flush()

    def add(self, event: str, at: datetime, facts: Mapping[str, object]) -> None:
        """A line, to be written soon. `facts` are masked already."""
        if self._file is None:
            return
        if self._held > _MOST_HELD_BYTES:
            self._lost += 1
            return
        head = {"at": f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}Z", "event": event, "run": self._run}
        line = _line({**head, "by": self._who, **facts})
        self._lines.append(line)
        self._held += len(line)
        if self._held >= _BATCH_BYTES:
            self.flush()
        elif self._timer is None and (loop := _running_loop()):
            self._timer = loop.call_later(_SOON_S, self.flush)

    def text(self, text: str, known: Sequence[Secret | str] = ()) -> str:
        """The text without secrets."""
        return self._redactor.redact(text, known) if known else self._mask(text)

    def number(self) -> int:
        """Numbers the commands of the run, from 1."""
        return next(self._numbers)

    def end(self, run: RunInfo) -> None:
        """The run's last line, and whatever is left. Never raises; what cannot be written by now is lost."""
        if self._file is None:
            return
        self.add("end", datetime.now(UTC), {"ended": run.ended, "exit_code": run.exit_code, "elapsed_s": run.elapsed_s})
        deadline = monotonic() + _PATIENCE_S
        self.flush()
        while self._lines and not self._trouble and monotonic() < deadline:
            sleep(_BETWEEN_S)
            self.flush()
        self._file.close()

    @property
    def troubles(self) -> list[str]:
        """What the report has to say of it."""
        self.flush()
        lost = self._lost + (len(self._lines) if self._trouble else 0)
        if not lost or self._file is None:
            return []
        why = self._trouble or "others were writing all the time"
        lines = f"{lost} line{'s' if lost > 1 else ''}"
        hint = "The setting audit_log names another file, or none"
        return [f"audit log {self._file.path}: {lines} could not be written: {why}. {hint}"]

    def _masked(self, value: object) -> object:
        if isinstance(value, list | tuple):
            return [self._masked(one) for one in value]
        return self._mask(value) if isinstance(value, str) else value

    def flush(self) -> None:
        """Write the lines that are there. What cannot be written now is tried again with the next ones."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._lines or self._file is None:
            return
        try:
            if self._file.append(b"".join(self._lines)):
                self._lines, self._held, self._trouble = [], 0, ""
                return
        except OSError as error:
            self._trouble = error.strerror or str(error)
        if loop := _running_loop():
            self._timer = loop.call_later(_SOON_S, self.flush)


NO_AUDIT = Audit(None, run="", who={}, redactor=NullRedactor())
"""Nothing is recorded."""


class _Entry:
    """One command: about to be sent when this is made, ended once. What turns out not to have been run has no line,
    unless there is one already that says it was sent."""

    def __init__(self, audit: Audit, host: Host, user: Callable[[], str], step: Step) -> None:
        self._audit, self._host, self._user, self._step = audit, host, user, step
        self._sent = datetime.now(UTC)
        self._number = audit.number()
        self._told = False
        self._timer = asyncio.get_running_loop().call_later(_LONG_S, self.running)

    def running(self) -> None:
        """It takes a while: a program that is killed meanwhile must not hide it."""
        self._timer.cancel()
        if not self._told:
            self._told = True
            self._audit.add("sent", self._sent, self._where())

    def ended(self, result: Result) -> None:
        """It came to this on the host."""
        self._timer.cancel()
        if result.execution is Execution.NOT_RUN and not self._told:
            return
        number = {"rc": result.rc} if result.signal is None else {"signal": result.signal}
        # By the clock here: it may have waited for others of its session.
        at = max(self._sent, datetime.now(UTC) - timedelta(seconds=result.elapsed_s))
        self._end(at, {**number, "execution": str(result.execution), "elapsed_s": result.elapsed_s})

    def failed(self, error: BaseException) -> None:
        """What became of it is not known, or it was refused."""
        self._timer.cancel()
        if _not_run(error) and not self._told:
            return
        why = self._audit.text(error.message) if isinstance(error, HostError) else "given up"
        self._end(
            self._sent, {"execution": str(Execution.NOT_RUN if _not_run(error) else Execution.LOST), "error": why}
        )

    def _end(self, at: datetime, facts: Mapping[str, object]) -> None:
        self._audit.add("command", at, {**self._where(), **facts})

    def _where(self) -> dict[str, object]:
        host, command, text = self._host, self._step.command, self._audit.text
        become = command.become or command.exact
        return {
            "number": self._number,
            "host": host.name,
            "address": host.address if host.port is None else f"{host.address}:{host.port}",
            "transport": host.transport,
            "user": self._user(),
            **({"become": become.user, "become_method": become.method} if become else {}),
            "check": text(self._step.planned.key),
            "session": command.session,
            **({"cwd": text(command.cwd)} if command.cwd else {}),
            **({"env": sorted(command.env)} if command.env else {}),
            **_command(command, text),
        }


def _not_run(error: BaseException) -> bool:
    """Whether the command was certainly not begun."""
    if isinstance(error, BecomeError):
        return error.kind is not BecomeFailure.LOST
    return isinstance(error, AgentError | BootstrapError)


def _command(command: Command, text: Callable[..., str]) -> dict[str, object]:
    """What was run, as far as it finds room."""
    secrets = tuple(value for value in command.env.values() if isinstance(value, Secret) and value.is_open)
    shell = text(command.shell, secrets)
    if len(shell) <= _MOST_COMMAND:
        return {"command": shell}
    digest = sha256(shell.encode("utf-8", "surrogatepass")).hexdigest()
    return {"command": shell[:_MOST_COMMAND], "command_chars": len(shell), "command_sha256": digest}


def _line(facts: Mapping[str, object]) -> bytes:
    try:
        return json.dumps(facts, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(facts, separators=(",", ":")).encode() + b"\n"


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def who_am_i(environment: Mapping[str, str]) -> dict[str, Any]:
    """The local user and process, and whom sudo was called by and who logged in where these are others."""
    user = _name_of(os.getuid())
    found: dict[str, Any] = {"user": user, "uid": os.getuid(), "host": socket.gethostname(), "pid": os.getpid()}
    sudo = environment.get("SUDO_USER", "")
    if sudo and sudo != user:
        found["sudo_user"] = sudo
    login = _login_uid()
    if login is not None and login != os.getuid():
        found["login_user"] = _name_of(login)
    return found


def _name_of(uid: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _login_uid() -> int | None:
    """Who the kernel says logged in, whatever su and sudo made of that; None where it does not know."""
    try:
        uid = int(Path("/proc/self/loginuid").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return uid if uid < 0xFFFFFFFF else None


def open_audit(prepared: Prepared, run: str, redactor: Redactor) -> Audit:
    """The audit log of a run, which begins now."""
    settings = prepared.request.settings
    path = settings.audit_log
    if path is None:
        return NO_AUDIT
    file = AppendFile(path, settings.audit_bytes)
    audit = Audit(file, run=run, who=who_am_i(settings.environment), redactor=redactor)
    request, playbook = prepared.request, prepared.playbook
    asked = {"limit": request.limit, "tags": request.tags, "skip_tags": request.skip_tags}
    audit.begin(
        playbook=playbook.path,
        playbook_digest=playbook.digest,
        inventory=settings.inventory or ("localhost",),
        **{name: value for name, value in asked.items() if value},
        hosts=len(prepared.plan.hosts),
    )
    return audit
