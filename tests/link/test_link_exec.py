"""Hosts that a program leads to: real namespaces, clients that pass streams on, and everything that leads nowhere."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

import psutil
import pytest
from async_helpers import run_async
from docker_daemon import docker_daemon
from programs import Stubs, namespaces, network_namespace, small_root
from sshd import wait_until

from checkrunner.app.prepare import Request, prepare
from checkrunner.link.session import FramedSession, open_session
from checkrunner.link.transports import make_transport
from checkrunner.link.transports.exec import ExecTransport
from checkrunner.link.transports.exec_argv import RECIPES
from checkrunner.model.connections import EXEC_OPTIONS, SETTINGS_OF
from checkrunner.model.errors import (
    AuthenticationError,
    ConnectError,
    ConnectTimeoutError,
    InventoryError,
    NoShellError,
    SessionLostError,
    ThrottledError,
    UnreachableError,
)
from checkrunner.model.inventory import Host
from checkrunner.model.options import LocalOptions, SessionOptions
from checkrunner.model.results import SliceMode, SliceQuery
from checkrunner.model.seams import Session
from checkrunner.settings import resolve_settings
from checkrunner.testing import check_session, check_transport, make_step

DOCS = Path(__file__).resolve().parents[2] / "docs" / "connections.md"
HEAD = SliceQuery(mode=SliceMode.HEAD)


def by(*argv: str) -> Host:
    return Host(name="there", address="there", transport="exec", options={"checkrunner_exec": list(argv)})


def host_of(transport: str, *, user: str | None = None, address: str = "box", **options: object) -> Host:
    return Host(name="there", address=address, user=user, transport=transport, options=options)


def transport_for(host: Host, env: Mapping[str, str] | None = None) -> ExecTransport:
    return ExecTransport(RECIPES[host.transport], LocalOptions(env=None if env is None else tuple(env.items())))


async def said(session: Session, command: str) -> list[str]:
    result, (piece,) = await session.run(make_step(command, early=(HEAD,)))
    assert result.rc == 0
    assert piece is not None
    return [line.data.decode() for line in piece.lines]


def answers(host: Host, command: str, env: Mapping[str, str] | None = None) -> list[str]:
    """What a command says there, run by the agent."""
    lines: list[str] = []

    async def main() -> None:
        transport = transport_for(host, env)
        session = await open_session(transport, host, options=SessionOptions(), timeout_s=20)
        lines.extend(await said(session, command))
        await session.aclose()
        await transport.aclose()

    run_async(main())
    return lines


def started_since(before: set[psutil.Process]) -> set[psutil.Process]:
    """What we have for children, and what descends from them, but for those children that were there `before`: agents
    of other tests live on, and go on starting programs."""
    found = set()
    for child in psutil.Process().children():
        if child not in before:
            found.add(child)
            with contextlib.suppress(psutil.NoSuchProcess):
                found.update(child.children(recursive=True))
    return found


def refused(
    host: Host, *, env: Mapping[str, str] | None = None, timeout_s: float = 20.0, command: str = "exec cat"
) -> ConnectError:
    """The error of a host that cannot be reached. Nothing may be left of the attempt."""
    found: list[ConnectError] = []

    async def main() -> None:
        transport = transport_for(host, env)
        with pytest.raises(ConnectError) as caught:
            await transport.open(host, command, timeout_s=timeout_s)
        found.append(caught.value)
        await transport.aclose()

    before = started_since(set())
    run_async(main())
    wait_until(lambda: not started_since(before), what="the end of the program")
    assert str(found[0]).startswith("there: ")
    return found[0]


# ---- the contracts


def test_it_keeps_the_contract() -> None:
    host = by("env")
    run_async(check_transport(lambda: transport_for(host), host, dead=by("env", "false")))


def test_sessions_keep_theirs() -> None:
    async def main() -> None:
        host = by("env")
        transport = transport_for(host)

        async def one() -> FramedSession:
            return await open_session(transport, host, options=SessionOptions(), timeout_s=20)

        await check_session(one)
        await transport.aclose()

    run_async(main())


def test_every_recipe_has_a_transport_and_its_settings() -> None:
    for name in RECIPES:
        assert isinstance(make_transport(name), ExecTransport)
        assert SETTINGS_OF[name]
    assert {name for names in SETTINGS_OF.values() for name in names} - {"address", "user"} == EXEC_OPTIONS


# ---- real ones


def test_a_process_with_namespaces_of_its_own() -> None:
    with namespaces() as target:
        lines = answers(
            host_of("nsenter", checkrunner_nsenter_target=target),
            "hostname; readlink /proc/self/ns/pid; ls /sys/class/net",
        )
        assert lines[0] == "inside"
        assert lines[1] == os.readlink(f"/proc/{target}/ns/pid") != os.readlink("/proc/self/ns/pid")


def test_a_process_that_a_file_names(tmp_path: Path) -> None:
    path = tmp_path / "it.pid"
    host = host_of("nsenter", checkrunner_nsenter_target=str(path))
    error = refused(host)
    assert isinstance(error, UnreachableError)
    assert "it.pid" in str(error)
    assert transport_for(host).warnings(host) == []
    with namespaces() as target:
        path.write_text(f"{target}\n")
        assert answers(host, "hostname") == ["inside"]


def test_a_process_that_ends_takes_the_link_with_it() -> None:
    async def main() -> None:
        with namespaces() as target:
            host = host_of("nsenter", nsenter_pid=target)
            transport = transport_for(host)
            session = await open_session(transport, host, options=SessionOptions(), timeout_s=20)
            assert await said(session, "hostname") == ["inside"]
            running = asyncio.ensure_future(session.run(make_step("sleep 300", timeout_s=300)))
            await said_soon(session)
            os.kill(target, signal.SIGKILL)
            with pytest.raises(SessionLostError):
                await running
            await session.aclose()
            await transport.aclose()

    run_async(main())


async def said_soon(session: Session) -> None:
    """Return when another session of the host has answered: what was asked before has been started."""
    await session.run(make_step("true", session="other"))


def test_a_network_namespace() -> None:
    name = f"checkrunner-{os.getpid()}"
    with network_namespace(name):
        lines = answers(by("ip", "netns", "exec", name), "ip netns identify $$; ls /sys/class/net")
    assert lines == [name, "lo"]


def test_a_small_root(tmp_path: Path) -> None:
    argv = small_root(tmp_path)
    assert answers(by(*argv), "cat /etc/checkrunner-root; pwd") == ["a small one", "/"]


def test_a_root_without_a_shell(tmp_path: Path) -> None:
    if os.getuid():
        pytest.skip("chroot is for root")
    error = refused(by("chroot", str(tmp_path)))
    assert isinstance(error, NoShellError)
    assert "the target has no /bin/sh" in str(error)
    assert (error.state.value, error.phase) == ("no_shell", "connect")


@pytest.mark.parametrize(
    ("argv", "kind", "words"),
    [
        (["ip", "netns", "exec", "nope-nope"], UnreachableError, "the target is not there: Cannot open network namespace"),
        (["nsenter", "--target", "4194999", "--mount"], UnreachableError, "the target is not there: nsenter: "),
        (["setpriv", "--reuid=65534", "--clear-groups", "chroot", "/"], AuthenticationError, "may not do that"),
        (["env", "no-such-program-here"], UnreachableError, "the target is not there: env: "),
        (["/nowhere/docker"], UnreachableError, "docker is not installed on this machine"),
        (["/etc/passwd"], AuthenticationError, "passwd may not be run by this user"),
        (["false"], UnreachableError, "false ended at once with code 1"),
        (["sh", "-c", "echo so it is >&2; kill -9 $$"], UnreachableError, "sh ended at once by signal KILL: so it is"),
        (["sh", "-c", "echo said here; exit 3"], UnreachableError, "sh ended at once with code 3: said here"),
        (["sh", "-c", "exec yes hello"], UnreachableError, "sh prints without end before a shell is there: hello"),
        (["script", "-qec", "/bin/sh -c 'echo $0' $0", "/dev/null"], UnreachableError, "script"),
    ],
)  # fmt: skip
def test_what_leads_nowhere(argv: list[str], kind: type[ConnectError], words: str) -> None:
    error = refused(by(*argv))
    assert type(error) is kind, error
    assert words in str(error)
    assert error.hint or kind is AuthenticationError


def test_a_flood_of_errors_is_ended_and_told() -> None:
    error = refused(by("sh", "-c", "exec yes >&2"))
    # Which of the two is seen first, that it floods or that it was ended for it, is a matter of luck.
    assert re.search("wrote more than 16 MiB to its standard error|sh ended at once.*: y", str(error)), error


def test_what_waits_is_given_up_and_ended() -> None:
    error = refused(by("sh", "-c", "echo password? >&2; exec sleep 300"), timeout_s=1)
    assert isinstance(error, ConnectTimeoutError)
    assert "no shell within 1 s (connect_timeout): sh still runs; it says: password?" in str(error)


def test_a_program_that_joins_its_arguments_is_told_of() -> None:
    error = refused(by("sh", "-c", 'exec /bin/sh -c "$*"', "sh"), timeout_s=1)
    assert isinstance(error, ConnectTimeoutError)
    assert "one by one" in error.hint


def test_a_terminal_in_between_is_told_of(tmp_path: Path) -> None:
    wrapper = tmp_path / "with-terminal"
    wrapper.write_text("#!/usr/bin/env python3\nimport pty, sys\npty.spawn(sys.argv[1:])\n")
    wrapper.chmod(0o755)
    error = refused(by(str(wrapper)))
    assert "with-terminal puts a terminal in between" in str(error)


def names_of(processes: Iterable[psutil.Process]) -> list[str]:
    names = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            names.append(process.name())
    return names


def test_a_cancelled_open_leaves_nothing() -> None:
    before = started_since(set())

    async def main() -> None:
        host = by("sh", "-c", "trap '' TERM; sleep 300; exit")
        transport = transport_for(host)
        opening = asyncio.ensure_future(transport.open(host, "exec cat", timeout_s=30))
        while "sleep" not in names_of(started_since(before)):
            await asyncio.sleep(0.02)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        await transport.aclose()

    run_async(main())
    wait_until(lambda: "sleep" not in names_of(started_since(before)), what="the end of the program")


def test_what_a_program_prints_first_is_noise() -> None:
    async def main() -> None:
        host = by("sh", "-c", 'echo welcome; exec "$@"', "sh")
        transport = transport_for(host)
        session = await open_session(transport, host, options=SessionOptions(), timeout_s=20)
        await session.ready()
        assert list(session.notes) == ["login_noise: welcome"]
        await session.aclose()
        await transport.aclose()

    run_async(main())


def test_bytes_behind_the_mark_are_kept() -> None:
    async def main() -> None:
        host = by("sh", "-c", 'printf before; exec "$@"', "sh")
        transport = transport_for(host)
        channel = await transport.open(host, r"printf %s \ a\\b\;; exec cat", timeout_s=20)
        await channel.send(b"after\0\n")
        got = b""
        while not got.endswith(b"\n"):
            got += await channel.receive()
        assert got == b"before a\\b;after\0\n"
        await transport.aclose()

    run_async(main())


def test_a_command_of_two_lines_is_none() -> None:
    async def main() -> None:
        host = by("env")
        with pytest.raises(ValueError, match="one line"):
            await transport_for(host).open(host, "true\ntrue", timeout_s=1)

    run_async(main())


def test_the_command_stands_in_no_argument(tmp_path: Path) -> None:
    stubs = Stubs(tmp_path, "docker")
    assert answers(host_of("docker"), "echo here", stubs.env) == ["here"]
    (tail,) = stubs.tails()
    assert tail[:2] == ["/bin/sh", "-c"]
    assert len(tail) == 3
    assert len(tail[2]) < 100


def test_a_root_with_busybox_alone(tmp_path: Path) -> None:
    busybox = shutil.which("busybox")
    if os.getuid() or busybox is None:
        pytest.skip("chroot is for root, and busybox is needed")
    for name in ("bin", "dev", "tmp", "proc"):
        (tmp_path / name).mkdir()
    shutil.copy(busybox, tmp_path / "bin" / "busybox")
    libraries = subprocess.run(["ldd", busybox], capture_output=True, text=True, check=False).stdout
    for library in re.findall(r"(/\S+) \(0x", libraries):
        place = tmp_path / library.removeprefix("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, place)
    subprocess.run(["chroot", str(tmp_path), "/bin/busybox", "--install", "-s", "/bin"], check=True)
    try:
        os.mknod(tmp_path / "dev" / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("mknod is not permitted here")

    async def main() -> None:
        host = by("chroot", str(tmp_path))
        transport = transport_for(host)
        session = await open_session(transport, host, options=SessionOptions(), timeout_s=20)
        await session.ready()
        assert "python" not in session.agent
        assert await said(session, "ls /bin/busybox; cd /tmp; export KEPT=1") == ["/bin/busybox"]
        assert await said(session, "echo $KEPT $PWD") == ["1 /tmp"]
        await session.aclose()
        await transport.aclose()

    run_async(main())

    def inside() -> list[str]:
        """The processes that have this root. What its /proc cannot tell, ours does."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.readlink(process / "root") == str(tmp_path):
                    found.append((process / "cmdline").read_bytes().decode())
        return found

    wait_until(lambda: not inside(), what="an end of everything that was started there")


# ---- clients


@pytest.mark.parametrize(
    ("host", "argv"),
    [
        (host_of("docker"), "docker exec -i box"),
        (host_of("docker", user="app", docker_extra_args="-H tcp://d:1 --config '/a b'"),
         "docker -H tcp://d:1 --config|/a b exec -i -u app box"),
        (host_of("docker", user="app", docker_user="0:0", docker_host="other"), "docker exec -i -u 0:0 other"),
        (host_of("podman", user="app", podman_extra_args="--remote"), "podman --remote exec -i --user app box"),
        (host_of("kubectl"), "kubectl exec -i box --"),
        (host_of("kubectl", kubectl_pod="web-0", kubectl_container="app", kubectl_namespace="shop",
                 kubectl_context="prod", kubectl_config="/k1", kubectl_extra_args="-v 0"),
         "kubectl --namespace=shop --kubeconfig=/k1 --context=prod -v 0 exec -i web-0 --container=app --"),
        (host_of("kubectl", kubectl_host="https://a", kubectl_user="u", kubectl_cert_file="/c", kubectl_key_file="/k",
                 kubectl_ssl_ca_cert="/ca", kubectl_validate_certs=False),
         ("kubectl --server=https://a --username=u --client-certificate=/c --client-key=/k "
         "--certificate-authority=/ca --insecure-skip-tls-verify=true exec -i box --")),
        (host_of("kubectl", kubectl_verify_ssl="yes"), "kubectl --insecure-skip-tls-verify=false exec -i box --"),
    ],
)  # fmt: skip
def test_clients_are_called_by_the_settings(tmp_path: Path, host: Host, argv: str) -> None:
    stubs = Stubs(tmp_path, "docker", "podman", "kubectl")
    assert answers(host, "echo here", stubs.env) == ["here"]
    assert [" ".join(call).replace("--config /a b", "--config|/a b") for call in stubs.calls()] == [argv]


def test_another_program_for_podman(tmp_path: Path) -> None:
    stubs = Stubs(tmp_path, "podman-remote")
    host = host_of("podman", podman_executable=str(stubs.folder / "podman-remote"))
    assert answers(host, "echo here") == ["here"]
    assert stubs.calls() == [["podman-remote", "exec", "-i", "box"]]


def test_nsenter_enters_what_a_container_has() -> None:
    way = ["nsenter", "--target=1", "--mount", "--uts", "--ipc", "--net", "--pid", "--"]
    assert RECIPES["nsenter"].argv(host_of("nsenter")) == way
    both = host_of("nsenter", nsenter_pid=7, checkrunner_nsenter_target="42")
    assert RECIPES["nsenter"].argv(both)[1] == "--target=42"


def test_a_killed_client_is_named_and_the_agent_ends(tmp_path: Path) -> None:
    stubs = Stubs(tmp_path, "docker")
    pids = tmp_path / "pids"

    async def main() -> None:
        host = host_of("docker")
        transport = transport_for(host, stubs.env)
        session = await open_session(transport, host, options=SessionOptions(), timeout_s=20)
        running = asyncio.ensure_future(session.run(make_step(f"echo $PPID $$ > {pids}; sleep 300", timeout_s=300)))
        while not (pids.exists() and pids.read_text().endswith("\n")):
            await asyncio.sleep(0.02)
        os.kill(stubs.pids()[0], signal.SIGKILL)
        with pytest.raises(SessionLostError, match="docker was ended by signal KILL"):
            await running
        await session.aclose()
        await transport.aclose()

    run_async(main())
    agent, shell = map(int, pids.read_text().split()[:2])
    wait_until(lambda: not psutil.pid_exists(agent) and not psutil.pid_exists(shell), what="the end of the agent")


def test_the_real_docker_client(tmp_path: Path) -> None:
    if shutil.which("docker") is None:
        pytest.skip("docker is not installed")
    pids = tmp_path / "pids"

    async def main(env: Mapping[str, str]) -> None:
        host = host_of("docker")
        transport = transport_for(host, env)
        session = await open_session(transport, host, options=SessionOptions(), timeout_s=20)
        assert await said(session, "echo here") == ["here"]
        running = asyncio.ensure_future(session.run(make_step(f"echo $PPID $$ > {pids}; sleep 300", timeout_s=300)))
        while not (pids.exists() and pids.read_text().endswith("\n")):
            await asyncio.sleep(0.02)
        (client,) = [child for child in psutil.Process().children() if child.name() == "docker"]
        client.kill()
        with pytest.raises(SessionLostError, match="docker was ended by signal KILL"):
            await running
        await session.aclose()
        await transport.aclose()

    with docker_daemon(tmp_path) as address:
        env = os.environ | {"DOCKER_HOST": address, "HOME": str(tmp_path)}
        error = refused(host_of("docker", address="nope"), env=env)
        assert "the container is not there: Error response from daemon: No such container: nope" in str(error)
        run_async(main(env))
        agent, shell = map(int, pids.read_text().split())
        wait_until(lambda: not psutil.pid_exists(agent) and not psutil.pid_exists(shell), what="the end of the agent")


def test_a_client_that_does_not_end_is_ended(tmp_path: Path) -> None:
    stubs = Stubs(tmp_path)
    stubs.add("kubectl", '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift\n"$@"\nsleep 300\n')

    async def main() -> None:
        host = host_of("kubectl")
        transport = transport_for(host, stubs.env)
        channel = await transport.open(host, "exec cat", timeout_s=20)
        pid = channel.pid
        assert not await channel.aclose()
        await transport.aclose()
        wait_until(lambda: not psutil.pid_exists(pid), what="the end of the client")

    run_async(main())


# What clients say, word for word as far as it matters.
SAYINGS = [
    ("docker", "Error response from daemon: No such container: box", UnreachableError, "the container is not there"),
    ("docker", "Error: No such container: box\n\nRun 'docker exec --help' for more", UnreachableError, "is not there"),
    ("docker", "Error response from daemon: container 5e1b is not running", UnreachableError, "does not run"),
    ("docker", "Error response from daemon: Container box is paused, unpause the container before exec",
     UnreachableError, "the container does not run"),
    ("docker", "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock",
     AuthenticationError, "docker may not do that"),
    ("docker", "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
     UnreachableError, "docker does not reach its server"),
    ("docker", ('Failed to initialize: unable to resolve docker endpoint: context "x": context not found: open '
     "/root/.docker/contexts/meta/ca37/meta.json: no such file or directory"), UnreachableError, "whom to ask"),
    ("docker", ('OCI runtime exec failed: exec failed: unable to start container process: exec: "/bin/sh": stat /bin/sh:'
     " no such file or directory: unknown"), NoShellError, "the container has no /bin/sh"),
    ("docker", "Error response from daemon: unable to find user bob: no matching entries in passwd file",
     AuthenticationError, "the container has no such user"),
    ("podman", 'Error: no container with name or ID "box" found: no such container', UnreachableError, "is not there"),
    ("podman", "Error: can only create exec sessions on running containers: container state improper",
     UnreachableError, "the container does not run"),
    ("podman", ("Error: crun: executable file `/bin/sh` not found: No such file or directory: OCI runtime attempted to "
     "invoke a command that was not found"), NoShellError, "the container has no /bin/sh"),
    ("kubectl", 'Error from server (NotFound): pods "box" not found', UnreachableError, "the pod is not there"),
    ("kubectl", 'Error from server (Forbidden): pods "box" is forbidden: User "u" cannot create resource "pods/exec"',
     AuthenticationError, "kubectl may not do that"),
    ("kubectl", "error: You must be logged in to the server (Unauthorized)", AuthenticationError, "may not do that"),
    ("kubectl", "error: cannot exec into a container in a completed pod; current phase is Succeeded",
     UnreachableError, "the pod does not run"),
    ("kubectl", "The connection to the server localhost:8080 was refused - did you specify the right host or port?",
     UnreachableError, "kubectl does not reach its server"),
    ("kubectl", "Unable to connect to the server: dial tcp: lookup api on 127.0.0.1:53: no such host",
     UnreachableError, "kubectl does not reach its server"),
    ("kubectl", "Error in configuration: context was not found for specified context: nope",
     UnreachableError, "whom to ask"),
    ("kubectl", "error: stat /nope: no such file or directory", UnreachableError, "whom to ask"),
    ("kubectl", "Error from server (TooManyRequests): the server has received too many requests", ThrottledError,
     "too many at once"),
    ("kubectl", "/bin/sh: 1: exec: kubectl.real: not found", UnreachableError, "is not there"),
    ("kubectl", "something new", UnreachableError, "kubectl ended at once with code 1: something new"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "saying", "kind", "words"), SAYINGS)
def test_what_clients_say(tmp_path: Path, program: str, saying: str, kind: type[ConnectError], words: str) -> None:
    stubs = Stubs(tmp_path)
    (tmp_path / "said").write_text(f"Defaulted container\n{saying}\n")
    stubs.add(program, f"#!/bin/sh\ncat {tmp_path}/said >&2\nexit 1\n")
    error = refused(host_of(program), env=stubs.env)
    assert type(error) is kind, error
    assert words in error.message
    assert saying.splitlines()[0].rstrip(".")[:60] in error.message
    assert error.hint


# ---- settings


@pytest.mark.parametrize(
    ("host", "words"),
    [
        (host_of("exec"), "needs the variable checkrunner_exec"),
        (host_of("exec", checkrunner_exec=[]), "names no program"),
        (host_of("exec", checkrunner_exec=""), "names no program"),
        (host_of("exec", checkrunner_exec="a 'b"), "checkrunner_exec cannot be split into words: No closing quotation"),
        (host_of("exec", checkrunner_exec=["a", True]), "word 2 of checkrunner_exec is no text: True"),
        (host_of("exec", checkrunner_exec=["a", None]), "word 2 of checkrunner_exec is no text: None"),
        (host_of("exec", checkrunner_exec={"a": 1}), "checkrunner_exec is neither a list nor a text"),
        (host_of("docker", address="-v"), "'-v' is no name of a container"),
        (host_of("docker", docker_extra_args=["-H"]), "ansible_docker_extra_args is a text"),
        (host_of("docker", docker_extra_args="'"), "ansible_docker_extra_args cannot be split"),
        (host_of("kubectl", kubectl_pod=" "), "' ' is no name of a pod"),
        (host_of("kubectl", kubectl_validate_certs="maybe"), "is true or false, not 'maybe'"),
        (host_of("nsenter", nsenter_pid="init"), "'init' is no process id"),
        (host_of("nsenter", nsenter_pid="0"), "'0' is no process id"),
    ],
)
def test_settings_that_cannot_be_used(host: Host, words: str) -> None:
    transport = transport_for(host)
    with pytest.raises(InventoryError) as caught:
        transport.warnings(host)
    assert words in caught.value.message
    error = refused(host)
    assert isinstance(error, UnreachableError)
    assert words in error.message


def test_words_of_a_list_may_be_numbers() -> None:
    assert RECIPES["exec"].argv(by("nsenter", "-t", 42)) == ["nsenter", "-t", "42"]  # type: ignore[arg-type]


def test_settings_that_mean_nothing_are_named() -> None:
    host = Host(name="p", address="p", port=22, user="root", private_key_file="/k", transport="kubectl")
    said_of = transport_for(host).warnings(host)
    assert [("port 22" in text, "'root'" in text, "key" in text) for text in said_of] == [
        (True, False, False), (False, True, False), (False, False, True),
    ]  # fmt: skip
    assert transport_for(host_of("docker", user="root")).warnings(host_of("docker", user="root")) == []


# ---- the manual


def test_the_manual_has_every_setting_and_its_inventory_works(tmp_path: Path) -> None:
    text = DOCS.read_text(encoding="utf-8")
    table = text.split("<!-- settings -->")[1].split("<!-- settings: end -->")[0]
    found: dict[str, set[str]] = {}
    kind = ""
    for row in table.strip().splitlines()[2:]:
        way, variables = (re.findall("`([^`]+)`", cell) for cell in row.split("|")[1:3])
        kind = way[0] if way else kind
        found.setdefault(kind, set()).update(variables)
    fields = {"address": "ansible_host", "user": "ansible_user"}
    assert found == {
        name: {fields.get(field, field if field.startswith("checkrunner_") else f"ansible_{field}") for field in names}
        for name, names in SETTINGS_OF.items()
        if name != "local"
    }
    (tmp_path / "hosts.yml").write_text(re.findall("```yaml\n(all:.*?)```", text, re.DOTALL)[0])
    (tmp_path / "p.yml").write_text("- hosts: all\n  checks: [{run: 'true'}]\n")
    settings = resolve_settings({"inventory": (str(tmp_path / "hosts.yml"),)}, environ={}, cwd=tmp_path)
    plan = prepare(Request(playbook=str(tmp_path / "p.yml"), settings=settings)).plan
    argvs = {host.host.name: host.host for host in plan.hosts}
    (service,) = [argvs.pop(name) for name in ("service",)]
    assert service.options["checkrunner_nsenter_target"] == "/run/service.pid"
    assert {name: shlex.join(RECIPES[host.transport].argv(host)) for name, host in argvs.items()} == {
        "shop_web_1": "docker -H ssh://builder.example.net exec -i shop_web_1",
        "shop_db_1": "docker -H ssh://builder.example.net exec -i -u postgres shop_db_1",
        "registry": "podman exec -i infra-registry",
        "web-0": "kubectl --namespace=shop --context=prod exec -i web-0 --container=nginx --",
        "worker": "kubectl --namespace=shop --context=prod exec -i deploy/worker --",
        "blue": "ip netns exec blue",
        "rescue": "chroot /mnt/rescue",
        "ci": "sudo -n lxc-attach -n ci --",
    }
