"""Commands that wait for something, and what the kernel makes the agent say of them.

`test_agent_states.py` runs each; `state_table.py` writes what it saw into docs/sessions.md.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path

from agent_process import SOON, AgentProcess, Answer

PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable  # one that nobody can start
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


class CannotProvokeError(Exception):
    """Why this machine does not let us."""


@dataclass(frozen=True, kw_only=True)
class StateCase:
    """A command of which `kind` has to be said, about the process `name` in the system call `call` on `on`."""

    what: str
    command: str
    kind: str
    name: str
    call: str = ""
    on: str = ""
    echo: bool = True
    prompt: str = ""
    place: Callable[[], AbstractContextManager[str]] | None = None
    """Prepares something, and gives what stands for PLACE in the command and in `on`."""
    prefix: Sequence[str] = ()
    """The agent is started through this."""
    machine: str = ""
    """Of which the command knows a system call's number."""


def python(text: str) -> str:
    return f"{PYTHON} -c '{text}'"


@contextlib.contextmanager
def frozen_disk() -> Iterator[str]:
    """A file system that takes no writes."""
    if os.getuid() or not all(shutil.which(tool) for tool in ("mkfs.ext4", "fsfreeze", "mount")):
        raise CannotProvokeError("needs root, mkfs.ext4, mount and fsfreeze")
    with ExitStack() as stack:
        base = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        image, point = base / "image", base / "disk"
        point.mkdir()
        with image.open("wb") as file:
            file.truncate(8 << 20)
        subprocess.run(["mkfs.ext4", "-q", image], check=True)
        if subprocess.run(["mount", "-o", "loop", image, point], capture_output=True, check=False).returncode:
            raise CannotProvokeError("a loop device cannot be mounted")
        stack.callback(until_unmounted, point)
        subprocess.run(["fsfreeze", "-f", point], check=True)
        stack.callback(lambda: subprocess.run(["fsfreeze", "-u", point], check=True))
        yield str(point)


def until_unmounted(point: Path) -> None:
    """A process that was woken by the thaw may still be on its way out."""
    end = time.monotonic() + 60
    while subprocess.run(["umount", point], capture_output=True, check=False).returncode and time.monotonic() < end:
        time.sleep(0.05)


@contextlib.contextmanager
def silent_fuse() -> Iterator[str]:
    """A file system whose server never answers."""
    libc = ctypes.CDLL(None, use_errno=True)
    with tempfile.TemporaryDirectory() as base:
        point = Path(base) / "silent"
        point.mkdir()
        try:
            server = os.open("/dev/fuse", os.O_RDWR)
        except OSError as error:
            raise CannotProvokeError(f"no FUSE: {error}") from None
        options = f"fd={server},rootmode=40000,user_id=0,group_id=0".encode()
        if libc.mount(b"silent", bytes(point), b"fuse", 0, options):
            os.close(server)
            raise CannotProvokeError("a FUSE file system cannot be mounted: " + os.strerror(ctypes.get_errno()))
        try:
            yield str(point)
        finally:
            os.close(server)  # everyone who waits gets an error now
            libc.umount2(bytes(point), 2)  # MNT_DETACH


@contextlib.contextmanager
def frozen_group() -> Iterator[str]:
    """A control group that stops what enters it."""
    group = Path("/sys/fs/cgroup/freezer") / f"checkrunner-states-{os.getpid()}"
    try:
        group.mkdir()
        (group / "freezer.state").write_text("FROZEN")
    except OSError as error:
        raise CannotProvokeError(f"no freezer control group of version 1: {error}") from None
    try:
        yield str(group)
    finally:
        (group / "freezer.state").write_text("THAWED")
        end = time.monotonic() + 60
        while (group / "cgroup.procs").read_text() and time.monotonic() < end:
            time.sleep(0.02)
        group.rmdir()


@contextlib.contextmanager
def setuid_sleep() -> Iterator[str]:
    """A program that runs as root, whoever starts it."""
    if os.getuid():
        raise CannotProvokeError("needs root")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as base:
        Path(base).chmod(0o755)
        program = Path(base) / "rootsleep"
        shutil.copy(shutil.which("sleep") or "/bin/sleep", program)
        program.chmod(0o4755)
        yield str(program)


@contextlib.contextmanager
def silent_server() -> Iterator[str]:
    """The port of a server that accepts and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as server:
        yield str(server.getsockname()[1])


@contextlib.contextmanager
def full_server() -> Iterator[str]:
    """The port of a server that has no room for another connection."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(3):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(server.getsockname())
        yield str(server.getsockname()[1])


@contextlib.contextmanager
def scratch() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as base:
        yield base


CASES = [
    # waiting_input
    StateCase(what="`read` of the shell", command="read x </dev/tty", kind="waiting_input", name="bash", call="read", on="/dev/tty"),
    StateCase(what="`read -s`: a password", command="read -s x </dev/tty", kind="waiting_input", name="bash", call="read", on="/dev/tty", echo=False),
    StateCase(what="`read -p`, in a pipeline's last part", command="true | read -p 'Go on? [y/N] ' x </dev/tty", kind="waiting_input", name="bash", call="read", on="/dev/tty", prompt="Go on? [y/N]"),
    StateCase(what="`cat` on the terminal", command="cat </dev/tty", kind="waiting_input", name="cat", call="read", on="/dev/tty"),
    StateCase(what="`head -1` on the terminal", command="head -1 </dev/tty", kind="waiting_input", name="head", call="read", on="/dev/tty"),
    StateCase(what="the first of a pipeline, four shells deep", command="bash -c 'bash -c \"bash -c \\\"cat /dev/tty | cat | cat; :\\\"; :\"; :'", kind="waiting_input", name="cat", call="read", on="/dev/tty"),
    StateCase(what="Python's getpass", command=python("import getpass; getpass.getpass()"), kind="waiting_input", name="python", call="read", on="/dev/tty", echo=False, prompt="Password:"),
    StateCase(what="Python's input()", command=python('input("name? ")') + " </dev/tty", kind="waiting_input", name="python", call="read", on="/dev/tty", prompt="name?"),
    StateCase(what="select on the terminal", command=python("import select; select.select([0], [], [])") + " </dev/tty", kind="waiting_input", name="python", call="select", on="/dev/tty"),
    StateCase(what="poll on the terminal", command=python("import select; p = select.poll(); p.register(0, 1); p.poll()") + " </dev/tty", kind="waiting_input", name="python", call="poll", on="/dev/tty"),
    StateCase(what="epoll on the terminal", command=python("import select; p = select.epoll(); p.register(0, 1); p.poll()") + " </dev/tty", kind="waiting_input", name="python", call="epoll", on="/dev/tty"),
    StateCase(what="`less`: a raw terminal", command="TERM=xterm less /etc/passwd >/dev/tty", kind="waiting_input", name="less", call="read", on="/dev/tty", echo=False),
    StateCase(what="`top`: a raw terminal, with a time limit", command="TERM=xterm top </dev/tty >/dev/tty", kind="waiting_input", name="top", call="select", on="/dev/tty", echo=False),
    StateCase(what="an interactive bash", command="bash --norc --noprofile -i </dev/tty >/dev/tty 2>&1", kind="waiting_input", name="bash", call="select", on="/dev/tty", echo=False),
    StateCase(what="a terminal inside the terminal (`script`)", command="SHELL=/bin/sh script -qc 'read x' /dev/null </dev/tty >/dev/tty", kind="waiting_input", name="sh", call="read", on="/dev/pts/", echo=False),
    StateCase(what="`su`, looked at by another user", command="su -c true root </dev/tty", kind="waiting_input", name="su", on="/dev/pts/", echo=False, prompt="Password:", prefix=NOBODY),
    # idle
    StateCase(what="`read -t 30`", command="read -t 30 x </dev/tty", kind="idle", name="bash", call="select", on="/dev/tty"),
    StateCase(what="a timer", command="sleep 100", kind="idle", name="sleep", call="nanosleep", on="a timer"),
    StateCase(what="the cause at the other end of a pipe", command="sleep 100 | cat | cat | cat", kind="idle", name="sleep", call="nanosleep", on="a timer"),
    StateCase(what="a writer whose reader does not read", command="yes | sleep 100", kind="idle", name="sleep", call="nanosleep", on="a timer"),
    StateCase(what="a command substitution", command="x=$(sleep 100)", kind="idle", name="sleep", call="nanosleep", on="a timer"),
    StateCase(what="a pipe held by a process that left the session", command="x=$(setsid -f sleep 100)", kind="idle", name="sleep", call="nanosleep", on="a timer"),
    StateCase(what="a child of a program that waits for a signal", command="timeout 100 sleep 100", kind="idle", name="sleep", call="nanosleep", on="a timer"),
    StateCase(what="a background job", command="sleep 100 & wait", kind="idle", name="sleep", call="nanosleep", on="a timer"),
    StateCase(what="a TCP peer that says nothing", command=python('import socket; s = socket.create_server(("127.0.0.1", 0)); socket.create_connection(s.getsockname()).recv(1)'), kind="idle", name="python", call="recvfrom", on="tcp to 127.0.0.1:"),
    StateCase(what="the same over IPv6, with poll", command=python('import socket; s = socket.create_server(("::1", 0), family=socket.AF_INET6); c = socket.create_connection(s.getsockname()[:2]); c.settimeout(99); c.recv(1)'), kind="idle", name="python", call="poll", on="tcp to [::1]:"),
    StateCase(what="a TCP peer, read by the shell", command="exec 7<>/dev/tcp/127.0.0.1/PLACE; read -u 7 x", kind="idle", name="bash", call="read", on="tcp to 127.0.0.1:PLACE", place=silent_server),
    StateCase(what="a TCP peer that does not answer", command="exec 7<>/dev/tcp/127.0.0.1/PLACE", kind="idle", name="bash", call="connect", on="tcp connecting to 127.0.0.1:PLACE", place=full_server),
    StateCase(what="accept", command=python('import socket; s = socket.create_server(("127.0.0.1", 0)); s.accept()'), kind="idle", name="python", call="accept", on="tcp listening on 127.0.0.1:"),
    StateCase(what="a unix socket, with a name", command=python('import socket; s = socket.socket(1); s.bind("PLACE/s"); s.listen(); c = socket.socket(1); c.connect("PLACE/s"); a = s.accept(); c.recv(1)'), kind="idle", name="python", call="recvfrom", on="unix socket to PLACE/s", place=scratch),
    StateCase(what="a unix socket whose server does not accept", command=python('import socket; s = socket.socket(1); s.bind("PLACE/s"); s.listen(); c = socket.socket(1); c.connect("PLACE/s"); c.recv(1)'), kind="idle", name="python", call="recvfrom", on="unix socket to PLACE/s, which has not accepted it", place=scratch),
    StateCase(what="a unix socket without a name", command=python("import socket; a, b = socket.socketpair(); a.recv(1)"), kind="idle", name="python", call="recvfrom", on="unix socket to pid"),
    StateCase(what="a FIFO that nobody else opens", command="mkfifo PLACE/fifo; cat <PLACE/fifo", kind="idle", name="bash", call="open", on="PLACE/fifo", place=scratch),
    StateCase(what="a lock that another process holds", command="flock PLACE/lock sleep 100 & until [[ -e PLACE/lock ]]; do sleep 0.1; done; sleep 0.3; flock PLACE/lock true", kind="idle", name="flock", call="flock", on="PLACE/lock, locked by pid", place=scratch),
    StateCase(what="a lock whose taker has ended", command="exec 9>PLACE/lock; flock 9; flock PLACE/lock true", kind="idle", name="flock", call="flock", on=" (bash)", place=scratch),
    StateCase(what="a child that has not started its program (`vfork`)", command=python("import ctypes, time; ctypes.CDLL(None).syscall(56, 0x4011, 0, 0, 0, 0) or time.sleep(100)"), kind="idle", name="python", call="nanosleep", on="a timer", machine="x86_64"),
    StateCase(what="a timer, in a terminal inside the terminal", command="script -qc 'sleep 100; :' /dev/null </dev/tty >/dev/tty", kind="idle", name="sleep", call="nanosleep", on="a timer", echo=False),
    StateCase(what="another thread", command=python("import threading; threading.Event().wait()"), kind="idle", name="python", call="futex", on="another thread"),
    StateCase(what="a socket, in another thread", command=python("import socket, threading; a, b = socket.socketpair(); t = threading.Thread(target=a.recv, args=(1,)); t.start(); t.join()"), kind="idle", name="python", call="recvfrom", on="unix socket to pid"),
    StateCase(what="`tail -f`, watched by `grep`", command="tail -f /etc/passwd | grep x", kind="idle", name="tail", on="inotify"),
    # running
    StateCase(what="a busy loop", command="while :; do :; done", kind="running", name="bash"),
    StateCase(what="a program that sleeps between its reads", command=python('import time\nwhile True: time.sleep(0.02); open("/etc/passwd").read()'), kind="running", name="python"),
    StateCase(what="much text for the terminal", command="yes >/dev/tty", kind="running", name="yes"),
    # stopped
    StateCase(what="a stopped child", command=python('import subprocess; subprocess.run(["sh", "-c", "kill -STOP $$; :"])'), kind="stopped", name="sh"),
    StateCase(what="a frozen control group", command="echo $BASHPID >PLACE/cgroup.procs; sleep 100", kind="stopped", name="bash", on="frozen", place=frozen_group),
    # io_wait
    StateCase(what="a write to a frozen disk", command="touch PLACE/file", kind="io_wait", name="touch", call="open", on="PLACE/file", place=frozen_disk),
    StateCase(what="a file system whose server is silent", command="cd /; stat PLACE", kind="io_wait", name="stat", call="stat", on="PLACE", place=silent_fuse),
    # unknown
    StateCase(what="a program of another user", command="PLACE 100", kind="unknown", name="rootsleep", on="it runs as uid 0", place=setuid_sleep, prefix=NOBODY),
    StateCase(what="a program that hides itself", command=python("import ctypes, time; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); time.sleep(100)"), kind="unknown", name="python", on="not shown", prefix=NOBODY),
]  # fmt: skip


def watch_case(case: StateCase, start: Callable[..., AgentProcess]) -> tuple[Answer, Answer]:
    """Run it until the expected kind is said: that frame, and the result."""
    with ExitStack() as stack:
        place = stack.enter_context(case.place()) if case.place is not None else ""
        if case.prefix and os.getuid():
            raise CannotProvokeError("needs root")
        if case.machine not in ("", platform.machine()):
            raise CannotProvokeError(f"is for {case.machine}")
        agent = start(prefix=case.prefix, python=PYTHON, times=SOON)
        ident = agent.start(case.command.replace("PLACE", place))
        frame = agent.read()
        # On a busy machine it takes more than one look to find a process among all others, and what it waits for.
        while frame["t"] == "running" and not is_seen(case, frame["seen"], place):
            frame = agent.read()
        assert frame["t"] == "running", frame
        if case.kind != "waiting_input":
            agent.ask("cancel")
    # What cannot be killed has to be let go first, hence after the end of `stack`.
    result = agent.wait_for(ident)
    assert result["execution"] == ("waiting_input" if case.kind == "waiting_input" else "killed"), result
    assert result["seen"]["kind"] == case.kind, (case.what, frame, result)
    assert result.get("prompt", "") == case.prompt or not case.echo
    return frame, result


def is_seen(case: StateCase, seen: Answer, place: str) -> bool:
    return (
        seen["kind"] == case.kind
        and seen["name"].startswith(case.name)
        and case.call in seen.get("syscall", "")
        and case.on.replace("PLACE", place) in seen.get("on", "")
        and seen["echo"] is case.echo
    )
