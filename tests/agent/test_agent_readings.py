"""Commands that run for a time, and commands that are run several times."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from agent_process import AgentProcess, Times, alive, eventually

Start = Callable[..., AgentProcess]


def sample(every_ms: int, count: int) -> Mapping[str, object]:
    return {"sample_ms": every_ms, "sample_count": count}


def refusal(agent: AgentProcess, keys: Mapping[str, object]) -> str:
    answer = agent.wait_for(agent.start("echo", keys=keys))
    assert (answer["t"], answer["kind"]) == ("error", "bad_request")
    message: str = answer["message"]
    return message


# --- durations --------------------------------------------------------------------------------------------------------


def test_a_duration(few_agent: AgentProcess) -> None:
    few_agent.run("v=1; cd /usr")
    result = few_agent.run("while :; do echo x; sleep 0.05; done", keys={"duration_ms": 500})
    assert (result["execution"], result["notes"]) == ("done", ["duration_ended"])
    assert "rc" not in result
    assert "signal" not in result
    assert "state" not in result
    assert result["elapsed_s"] >= 0.5
    lines = result["stdout"]["lines"]
    assert 1 <= lines <= result["elapsed_s"] / 0.05 + 1
    assert few_agent.data(result["id"]) == b"x\n" * lines
    assert few_agent.output("echo $v $PWD") == "1 /usr\n"


@pytest.mark.parametrize(
    ("command", "rc", "notes"), [("echo quick", 0, None), ("exit 3", 3, ["shell_exited"]), ("false", 1, None)]
)
def test_one_that_ends_before_its_duration_is_what_it_is(
    agent: AgentProcess, command: str, rc: int, notes: list[str] | None
) -> None:
    result = agent.run(command, keys={"duration_ms": 90_000})
    assert (result["execution"], result["rc"], result.get("notes")) == ("done", rc, notes)


TERM_SUFFICES: Times = (("endings.STEPS_S", "(0.2, 600.0, 600.0, 600.0)"),)
KILL_SUFFICES: Times = (("endings.STEPS_S", "(0.2, 0.2, 0.2, 600.0)"),)


@pytest.mark.parametrize(
    ("command", "steps"),
    [
        ("trap '' INT; sleep 100; echo not reached", KILL_SUFFICES),
        ("trap '' INT TERM; while :; do sleep 0.1; done", KILL_SUFFICES),
        ("sleep 100 | cat; echo not reached", TERM_SUFFICES),
        ("exec sleep 100", TERM_SUFFICES),
    ],
)
def test_the_end_of_a_duration_is_as_hard_as_it_must_be(start_agent: Start, command: str, steps: Times) -> None:
    agent = start_agent(times=steps)
    agent.run("export E=1")
    result = agent.run(command, keys={"duration_ms": 200})
    assert result["execution"] == "done"
    assert "duration_ended" in result["notes"]
    assert "not reached" not in agent.data(result["id"]).decode()
    assert agent.output("trap - INT TERM; echo $E") == "1\n"


def test_what_a_duration_has_ended_leaves_nothing(agent: AgentProcess, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    result = agent.run(f"(trap '' TERM; echo $BASHPID >{pid_file}; sleep 300) & sleep 300", keys={"duration_ms": 500})
    assert result["execution"] == "done"
    assert not alive(int(pid_file.read_text()))


def test_a_timeout_within_a_duration_is_a_timeout(agent: AgentProcess) -> None:
    assert agent.run("sleep 30", timeout_s=0.3, keys={"duration_ms": 5000})["execution"] == "timed_out"
    assert agent.run("sleep 30", timeout_s=0.3, keys={"duration_ms": 300})["execution"] == "done"


def test_a_duration_does_not_hold_up_other_sessions(agent: AgentProcess) -> None:
    long = agent.start("sleep 300", session="long", keys={"duration_ms": 90_000})
    for _ in range(5):
        assert agent.run("echo", session="other")["rc"] == 0
    assert agent.cancelled(long)["execution"] == "killed"


def test_the_first_command_of_all_may_have_a_duration(start_agent: Start) -> None:
    """The code for it has to come first: the commands behind it keep their place."""
    agent = start_agent()
    idents = [agent.start(f"x=${{x}}{n}; echo $x; sleep 30", keys={"duration_ms": 200}) for n in range(3)]
    last = agent.start("echo $x")
    assert [agent.data(agent.wait_for(ident)["id"]) for ident in [*idents, last]] == [
        b"0\n",
        b"01\n",
        b"012\n",
        b"012\n",
    ]


# --- samples ----------------------------------------------------------------------------------------------------------


def test_readings(few_agent: AgentProcess) -> None:
    result = few_agent.run("n=$((n + 1)); seq $n; echo err >&2; test $n != 2", keys=sample(200, 4))
    samples = result["samples"]
    assert (result["execution"], result["rc"]) == ("done", 1)
    assert [reading["rc"] for reading in samples] == [0, 1, 0, 0]
    assert [(reading["first"], reading["lines"]) for reading in samples] == [(1, 1), (2, 2), (4, 3), (7, 4)]
    assert samples[0]["at_s"] == 0
    for number, reading in enumerate(samples):
        assert reading["at_s"] >= 0.2 * number - 0.01
    assert result["stdout"]["lines"] == 10
    assert result["stderr"]["lines"] == 4
    assert result["elapsed_s"] >= 0.6
    third = few_agent.slice(result["id"], "lines", first=samples[2]["first"], last=samples[2]["first"] + 2)
    assert third["data"] == b"123"
    assert few_agent.output("echo $n") == "4\n"


def test_each_reading_begins_a_line(agent: AgentProcess) -> None:
    result = agent.run("printf x; printf e >&2", keys=sample(1, 3))
    assert [(reading["first"], reading["lines"]) for reading in result["samples"]] == [(1, 1), (2, 1), (3, 1)]
    assert agent.data(result["id"]) == b"x\nx\nx"
    assert agent.data(result["id"], "stderr") == b"e\ne\ne"
    assert result["stdout"]["nl"] is False


def test_readings_without_output(agent: AgentProcess) -> None:
    result = agent.run("true", keys=sample(1, 3))
    assert [(reading["first"], reading["lines"]) for reading in result["samples"]] == [(0, 0)] * 3
    assert "stdout" not in result


def test_each_reading_has_its_directory_and_its_environment(agent: AgentProcess) -> None:
    result = agent.run("pwd; echo $V; V=changed; cd /", keys=sample(20, 3), cwd="/usr", env={"V": "given"})
    assert agent.data(result["id"]) == b"/usr\ngiven\n" * 3


def test_each_reading_may_ask_and_is_answered(agent: AgentProcess) -> None:
    """What one has asked the next one asks for the first time; it is no answer that was wrong."""
    command = "read -p 'Name? ' x; read -s -p 'PIN: ' y; echo $x $y"
    prompts = [("Name", "bob"), ("PIN", "1234")]
    result = agent.run(command, keys={"input": "answer", **sample(1, 3)}, prompts=prompts)
    assert (result["execution"], result["rc"], result["answered"]) == ("done", 0, 6)
    assert agent.data(result["id"]) == b"bob 1234\n" * 3


def test_a_reading_that_ends_its_shell(agent: AgentProcess) -> None:
    agent.run("v=1; cd /usr")
    result = agent.run("n=$((n + 1)); echo $n; exit 3", keys=sample(20, 3))
    assert (result["rc"], result["notes"]) == (3, ["shell_exited"])
    assert agent.data(result["id"]) == b"1\n2\n3\n"
    assert agent.output("echo $v $n $PWD") == "1 3 /usr\n"


def test_a_reading_that_is_lost_is_the_last(agent: AgentProcess) -> None:
    result = agent.run("n=$((n + 1)); [[ $n != 2 ]] || kill -9 $$", keys=sample(20, 5))
    assert result["signal"] == 9
    assert [reading["rc"] for reading in result["samples"]] == [0, None]


def test_a_slow_reading_puts_the_next_ones_off(agent: AgentProcess) -> None:
    result = agent.run("sleep 0.3", keys=sample(100, 3))
    starts = [reading["at_s"] for reading in result["samples"]]
    assert starts[1] >= 0.3
    assert starts[2] >= 0.6


def test_the_timeout_is_for_all_readings(agent: AgentProcess) -> None:
    cut = agent.run("echo begun; sleep 0.3; echo ended", timeout_s=1, keys=sample(10, 50))
    assert cut["execution"] == "timed_out"
    assert cut["samples"][-1]["rc"] is None
    assert [reading["rc"] for reading in cut["samples"][:-1]] == [0] * (len(cut["samples"]) - 1)
    waiting = agent.run("true", timeout_s=0.5, keys=sample(10_000, 3))
    assert (waiting["execution"], len(waiting["samples"])) == ("timed_out", 1)
    assert waiting["state"] == "1 of 3 readings"
    assert agent.output("echo on") == "on\n"


def test_readings_do_not_hold_up_other_sessions(agent: AgentProcess) -> None:
    sampled = agent.start("true", session="sampled", keys=sample(300, 4))
    for _ in range(5):
        assert agent.run("echo", session="other")["rc"] == 0
    behind = agent.start("echo", session="sampled")
    assert len(agent.wait_for(sampled)["samples"]) == 4
    assert agent.wait_for(behind)["rc"] == 0


@pytest.mark.parametrize("command", ["true", "sleep 30"])
def test_cancel_ends_a_sample_between_and_within_readings(agent: AgentProcess, command: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    agent.run("true", keys=sample(1, 1))  # the code for it is asked for: nobody reads while we wait for the file
    ident = agent.start(f": >>{mark}; {command}", timeout_s=90, keys=sample(20_000, 3))
    assert eventually(mark.exists)
    time.sleep(0.2)  # for `true`, the first reading is over by then
    assert agent.wait_for(agent.ask("cancel"))["t"] == "ok"
    result = agent.wait_for(ident)
    assert (result["execution"], result["notes"]) == ("killed", ["cancelled"])
    assert len(result["samples"]) == 1
    assert agent.output("echo on") == "on\n"


def test_bye_between_readings(agent: AgentProcess) -> None:
    agent.run("true", keys=sample(1, 1))
    ident = agent.start("true", timeout_s=90, keys=sample(20_000, 3))
    time.sleep(0.3)
    agent.bye()
    assert agent.wait_for(ident)["execution"] == "killed"


def test_a_sample_that_cannot_run(agent: AgentProcess) -> None:
    missing = agent.run("no-such-tool", keys=sample(10, 3), requires="no-such-tool")
    assert (missing["execution"], missing["missing"]) == ("not_run", ["no-such-tool"])
    assert "samples" not in missing
    result = agent.run("no-such-tool", keys=sample(10, 3))
    assert [reading["rc"] for reading in result["samples"]] == [127, 127, 127]


def test_readings_that_flood(agent: AgentProcess) -> None:
    result = agent.run("head -c 3000 /dev/zero", cap=10_000, keys=sample(1, 100))
    assert (result["execution"], result["notes"]) == ("killed", ["capped"])
    assert result["stdout"]["captured"] == 10_000
    assert len(result["samples"]) == 4


def test_probes_are_answered_over_all_readings(agent: AgentProcess) -> None:
    result = agent.run(
        "n=$((n + 1)); echo reading $n", keys=sample(1, 5), probes={"p.matches.stdout": b"^reading [24]$"}
    )
    assert result["probes"] == {"p": {"count": 2, "first": 2}}


@pytest.mark.parametrize(
    "keys",
    [
        {"sample_ms": 100},
        {"sample_count": 3},
        {"sample_ms": 100, "sample_count": 1001},
        {"sample_ms": 0, "sample_count": 3},
        {"duration_ms": 100, "sample_ms": 100, "sample_count": 3},
        {"duration_ms": -1},
        {"duration_ms": "x"},
    ],
)
def test_what_does_not_go_together_is_refused(agent: AgentProcess, keys: Mapping[str, object]) -> None:
    assert refusal(agent, keys)
    assert agent.output("echo on") == "on\n"
