"""What an agent that was cut off hands on to the one that comes after it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_process import AgentProcess, alive, eventually, few_interpreters

from checkrunner.link.payload import load_part

Start = Callable[..., AgentProcess]

LINGERS = "v=1 nonce=n0 linger=20"


def lasting(start: Start, **options: object) -> AgentProcess:
    """An agent that is told how to outlast its stream."""
    agent = start(hello=LINGERS, **options)
    tell(agent)
    return agent


def tell(agent: AgentProcess) -> None:
    answer = agent.wait_for(agent.ask("part", {"name": "resume"}, {"code": load_part("resume")}))
    assert answer["t"] == "ok", answer


def token(agent: AgentProcess) -> str:
    return agent.directory.name.removeprefix("checkrunner-")


def successor(start: Start, token: str, **options: object) -> tuple[AgentProcess, dict[str, object]]:
    """An agent that is to take over, and its answer to that."""
    agent = start(hello=f"v=1 nonce=n1 resume={token}", **options)
    agent.last = 1000
    code = load_part("resume")
    agent.send(f"part 1000 name=resume code:{len(code)}\n".encode() + code)
    return agent, agent.wait_for(1000)


def again(agent: AgentProcess, ident: int, command: str, session: str = "main") -> dict[str, object]:
    """Ask for a run by the number that it had."""
    data = command.encode()
    agent.send(f"run {ident} session={session} timeout_ms=20000 cap=1000000 command:{len(data)}\n".encode() + data)
    return agent.wait_for(ident)


def cut(agent: AgentProcess) -> None:
    agent.stdin.close()


@pytest.mark.parametrize("python", few_interpreters())
def test_sessions_results_and_outputs_are_handed_on(start_agent: Start, python: str, tmp_path: Path) -> None:
    old = lasting(start_agent, python=python)
    old.run("cd /usr; export A='a b'; plain=p; f() { echo \"f $A $plain $PWD\"; }; set -u; umask 027")
    old.run("cd /etc; B=$$", session="other")
    many = old.run("seq 100000")["id"]
    started = tmp_path / "started"
    running = old.start(f"echo one; echo two >&2; A=changed; touch {started}; sleep 300")
    waiting = old.start("echo never >&2")
    assert eventually(started.exists)
    cut(old)

    new, answer = successor(start_agent, token(old), python=python)

    assert answer["t"] == "ok", answer
    assert old.process.wait(10) == 0
    lost = again(new, running, "touch /must/not/be/run")
    assert lost["execution"] == "lost"
    assert lost["notes"] == ["link_lost"]
    assert lost["elapsed_s"] > 0  # type: ignore[operator]
    assert new.data(running) == b"one\n"
    assert new.data(running, "stderr") == b"two\n"
    assert new.slice(many, "tail", max_lines=2)["data"] == b"99999100000"
    assert again(new, waiting, "echo now")["rc"] == 0
    assert new.data(waiting) == b"now\n"
    assert new.output("f; umask; set -o | grep nounset | tr -d ' \\t'") == "f a b p /usr\n0027\nnounseton\n"
    assert new.output("echo $PWD ${B:+set}", session="other") == "/etc set\n"
    new.bye()
    assert not old.directory.exists()


def test_a_result_that_did_not_arrive_is_there_again(start_agent: Start) -> None:
    old = lasting(start_agent)
    done = old.start("echo output; exit 3")
    time.sleep(0.3)
    cut(old)

    new, _ = successor(start_agent, token(old))

    result = again(new, done, "touch /must/not/be/run")
    assert (result["execution"], result["rc"]) == ("done", 3)
    assert new.data(done) == b"output\n"
    new.bye()


def test_a_link_that_only_the_client_knows_to_be_dead(start_agent: Start, tmp_path: Path) -> None:
    old = lasting(start_agent)
    old.run("cd /usr")
    started = tmp_path / "pid"
    running = old.start(f"trap '' TERM INT; echo $BASHPID >{started}; sleep 300")
    assert eventually(started.exists)

    new, answer = successor(start_agent, token(old))

    assert answer["t"] == "ok", answer
    assert old.process.wait(1) == 0
    assert again(new, running, "false")["execution"] == "lost"
    assert not alive(int(started.read_text()))
    assert new.output("pwd") == "/usr\n"
    new.bye()


def test_nobody_comes(start_agent: Start, tmp_path: Path) -> None:
    agent = start_agent(hello="v=1 nonce=n0 linger=1")
    tell(agent)
    pids = tmp_path / "pids"
    agent.start(f"sleep 300 & echo $! >{pids}; sleep 300")
    assert eventually(lambda: pids.exists() and pids.read_text())
    cut(agent)
    assert eventually(lambda: not alive(int(pids.read_text())), 3)
    assert agent.directory.exists()
    assert agent.process.wait(5) == 0
    assert not agent.directory.exists()


def test_a_lingering_agent_ends_when_it_is_told_to(start_agent: Start) -> None:
    agent = lasting(start_agent)
    agent.run("true")
    cut(agent)
    assert eventually((agent.directory / "state").exists)
    agent.process.send_signal(signal.SIGTERM)
    assert agent.process.wait(2) == 0
    assert not agent.directory.exists()


def test_bye_and_a_hello_without_linger_end_at_once(start_agent: Start) -> None:
    agent = lasting(start_agent)
    agent.run("true")
    agent.bye()
    assert not agent.directory.exists()
    plain = start_agent()
    tell(plain)
    cut(plain)
    assert plain.process.wait(3) == 0


def test_bye_counts_though_nobody_reads_any_more(start_agent: Start) -> None:
    agent = lasting(start_agent)
    agent.start("sleep 0.3; echo")
    agent.process.send_signal(signal.SIGSTOP)  # so that the answer comes up before our last word is read
    time.sleep(0.5)
    agent.send(b"bye 99\n")
    agent.stdout.close()
    agent.stdin.close()
    agent.process.send_signal(signal.SIGCONT)
    assert agent.process.wait(4) == 0
    assert not agent.directory.exists()


def test_an_agent_that_was_killed_has_left_nothing(start_agent: Start) -> None:
    old = lasting(start_agent)
    pid = int(old.output("sleep 300 >/dev/null & echo $!"))
    old.process.kill()
    old.process.wait()

    new, answer = successor(start_agent, token(old))

    assert answer["t"] == "error"
    assert answer["message"] == "the agent that was cut off has left nothing"
    assert not alive(pid)
    assert not old.directory.exists()
    assert new.output("echo fine") == "fine\n"


def test_one_that_never_got_the_part_ends_in_order(start_agent: Start) -> None:
    old = start_agent(hello=LINGERS)
    running = old.start("sleep 300")

    new, answer = successor(start_agent, token(old))

    assert answer["t"] == "error"
    assert old.process.wait(3) == 0
    assert running
    assert new.output("echo fine") == "fine\n"


def test_a_name_that_is_nobodys(start_agent: Start) -> None:
    for name in ("0-1-abcdef", "nonsense", "../../etc"):
        new, answer = successor(start_agent, name)
        assert answer["t"] == "error"
        assert new.output("echo fine") == "fine\n"


def test_processes_of_a_session_that_was_handed_on_are_known(start_agent: Start) -> None:
    old = lasting(start_agent)
    old.run("x=1")
    cut(old)
    new, _ = successor(start_agent, token(old))
    pid = int(new.output("(setsid sleep 300 >/dev/null 2>&1 & echo $!)"))
    assert alive(pid)
    new.bye()
    assert not alive(pid)
