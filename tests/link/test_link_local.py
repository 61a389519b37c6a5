"""The local transport."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from async_helpers import run_async
from sshd import wait_until

from checkrunner.link.transports import TRANSPORTS, make_transport
from checkrunner.link.transports.local import LocalTransport
from checkrunner.model.errors import UnknownNameError, UnreachableError
from checkrunner.model.inventory import Host
from checkrunner.model.observation import Activity, Observation
from checkrunner.model.options import LocalOptions
from checkrunner.model.plan import PromptText
from checkrunner.testing import ASKS, MemoryTransport, Scripted, ScriptedSession, check_session, check_transport

ROOT = Path(__file__).resolve().parents[2]
HOST = Host(name="here", address="localhost")


def test_it_keeps_the_contract() -> None:
    run_async(check_transport(lambda: LocalTransport(LocalOptions()), HOST))


def test_the_twin_keeps_the_contract() -> None:
    dead = Host(name="dead", address="192.0.2.1")
    twin = MemoryTransport(dead=["dead"])
    run_async(check_transport(lambda: twin, HOST, dead=dead, break_links=twin.break_links))


def test_the_scripted_session_keeps_the_contract() -> None:
    async def open_one() -> ScriptedSession:
        long = Scripted(after=asyncio.Event())
        seen = Scripted(states=[Observation(kind=Activity.IDLE, name="sleep", wchan="hrtimer_nanosleep")])
        return ScriptedSession(
            {
                "echo hello": Scripted(stdout=b"hello\n"),
                "false": Scripted(rc=1),
                "sleep 60": long,
                "sleep 1.5": seen,
                ASKS: Scripted(asks=[PromptText(text="Name?")]),
            }
        )

    run_async(check_session(open_one))


def test_the_environment_is_the_one_of_the_options() -> None:
    async def main() -> None:
        transport = LocalTransport(LocalOptions(env=(("A", "b c"),)))
        channel = await transport.open(HOST, "exec env", timeout_s=1)
        got = b""
        while data := await channel.receive():
            got += data
        assert b"A=b c" in got.splitlines()
        assert b"HOME=" not in got
        await transport.aclose()

    run_async(main())


def test_the_program_has_its_own_session() -> None:
    async def main() -> None:
        transport = LocalTransport(LocalOptions())
        channel = await transport.open(HOST, "exec cat", timeout_s=1)
        assert os.getsid(channel.pid) == channel.pid == os.getpgid(channel.pid)
        await transport.aclose()
        assert not psutil.pid_exists(channel.pid)

    run_async(main())


def test_a_program_that_cleans_up_is_not_killed(tmp_path: Path) -> None:
    done = tmp_path / "done"

    async def main() -> None:
        transport = LocalTransport(LocalOptions())
        channel = await transport.open(HOST, f"echo up; cat; sleep 3; echo > {done}", timeout_s=1)
        assert await channel.receive() == b"up\n"
        start = asyncio.get_running_loop().time()
        await transport.aclose()
        assert asyncio.get_running_loop().time() - start < 2.8

    run_async(main())
    wait_until(done.exists, what="the clean-up of the program")


def test_a_killed_controller_ends_the_program(tmp_path: Path) -> None:
    script = tmp_path / "controller.py"
    script.write_text(
        "import asyncio, sys\n"
        "from checkrunner.link.transports.local import LocalTransport\n"
        "from checkrunner.model.inventory import Host\n"
        "from checkrunner.model.options import LocalOptions\n"
        "async def main():\n"
        "    channel = await LocalTransport(LocalOptions()).open(\n"
        "        Host(name='h', address='h'), 'exec cat', timeout_s=1)\n"
        "    print(channel.pid, flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=env) as controller:
        assert controller.stdout is not None
        pid = int(controller.stdout.readline())
        assert psutil.pid_exists(pid)
        controller.send_signal(signal.SIGKILL)
    wait_until(
        lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE,
        what="the end of the program",
    )


def test_a_command_that_no_process_can_have() -> None:
    async def main() -> None:
        transport = LocalTransport(LocalOptions())
        with pytest.raises(UnreachableError, match="here: /bin/sh cannot be started"):
            await transport.open(HOST, "x" * 3_000_000, timeout_s=1)
        await transport.aclose()

    run_async(main())


def test_settings_that_mean_nothing_here_are_named() -> None:
    host = Host(name="here", address="localhost", port=22, user="root")
    sentences = LocalTransport(LocalOptions()).warnings(host)
    assert [("port 22" in text, "'root'" in text) for text in sentences] == [(True, False), (False, True)]


def test_transports_by_name() -> None:
    assert {name: type(make_transport(name)).__name__ for name in TRANSPORTS} == {
        "local": "LocalTransport",
        "ssh": "SshTransport",
        **dict.fromkeys(("exec", "docker", "podman", "kubectl", "nsenter"), "ExecTransport"),
    }
    with pytest.raises(UnknownNameError, match="Did you mean 'ssh'"):
        make_transport("shh")


@pytest.mark.parametrize("name", ["local", "docker"])
def test_transports_without_ssh_do_not_import_asyncssh(name: str) -> None:
    make = f"import sys, checkrunner.link.transports as t; t.make_transport({name!r})"
    code = f"{make}; sys.exit('asyncssh' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0
