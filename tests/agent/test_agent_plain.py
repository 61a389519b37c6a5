"""Sessions in dash and busybox ash: what a check may do to its shell, and what is left of it afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_process import AgentProcess, alive, eventually

from checkrunner.link.payload import START, load_part, load_plain_payload

SHELLS = [name for name in ("dash", "busybox") if shutil.which(name)]
ODD = "a'b\"c\\d $HOME `x` \n  *\t%s; é"


@pytest.fixture(params=SHELLS)
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AgentProcess]:
    one = start(request.param)
    yield one
    one.close()
    assert not one.directory.exists()


def start(shell: str, **options: Any) -> AgentProcess:
    """An agent that takes this shell for the host's `sh`."""
    # `agent.main()` is the last thing that the loader does: what comes before it is put there.
    found = f"agent.PlainAgent.find_program=lambda self,name:{shutil.which(shell)!r}.encode();agent.main()"
    loader = START.replace("exec(parts[0])", f"exec(parts[0].replace(b'agent.main()',{found.encode()!r}))")
    # The interpreter itself: a test may hide the directory of the environment.
    python = os.path.realpath(sys.executable)
    return AgentProcess(python=python, packed=load_plain_payload().packed, start=loader, **options)


def notes(answer: Any) -> list[str]:
    return list(answer.get("notes", []))


def test_hello_names_the_shell(agent: AgentProcess) -> None:
    assert agent.hello["bash"] == ""
    assert agent.hello["shell"] in ("dash", "busybox ash")
    assert agent.hello["lacks"] == ["bash", "functions"]


def test_everything_persists(agent: AgentProcess) -> None:
    agent.run(
        "f() { echo \"f $1 $x\"; }; x=1; export Y=2; alias hi='echo hello'; set -- a 'b c'; umask 027; cd /etc; set -f"
    )
    assert agent.output("f 3; echo $Y; hi; echo \"$# $2\"; umask; pwd; echo *").split("\n") == [
        "f 3 1", "2", "hello", "2 b c", "0027", "/etc", "*", "",
    ]  # fmt: skip


@pytest.mark.parametrize("end", ["exit 3", "set -e; false; echo not", "kill -s TERM $$", "kill -s INT $$"])
def test_what_a_shell_that_ended_has_said(agent: AgentProcess, end: str, tmp_path: Path) -> None:
    word = "'" + ODD.replace("'", "'\\''") + "'"
    agent.run(f'x={word}; export Y={word}; readonly Z={word}; export U; alias q={word}; trap "echo \'" USR1')
    text = f"set -- {word} '' last; set -C; umask 077; cd {tmp_path}; OLDPWD=/etc; new=1; {end}"
    answer = agent.run(text)
    assert answer["execution"] == "done"
    assert notes(answer) == ["shell_exited"]
    wanted = {"exit 3": 3, "set -e; false; echo not": 1}.get(end)
    assert answer.get("rc") == wanted
    assert answer.get("signal") == {"kill -s TERM $$": 15, "kill -s INT $$": 2}.get(end)

    for value in ('"$x"', '"$Y"', '"$Z"', '"$1"'):
        assert agent.output(f"set +e; printf %s {value}") == ODD
    assert agent.output("sh -c 'printf %s \"$Y\"'") == ODD
    assert agent.output('echo "$#,$2,$3,$new,$(umask),$PWD,$OLDPWD,$-"').split(",")[:-1] == [
        "3", "", "last", "1", "0077", str(tmp_path), "/etc",
    ]  # fmt: skip
    assert "C" in agent.output("echo $-")
    assert ODD.split("\n", maxsplit=1)[0].replace("'", "'\"'\"'") in agent.output("alias q")
    assert "USR1" in agent.output("trap")
    answer = agent.run("Z=1")
    assert answer.get("rc") != 0, answer


def test_a_second_end_after_a_restored_one(agent: AgentProcess) -> None:
    agent.run("x=1; readonly r=2; exit 1")
    agent.run("x=$((x + r)); exit 1")
    assert agent.output("echo $x $r") == "3 2\n"


def test_functions_are_lost_with_the_shell(agent: AgentProcess) -> None:
    agent.run("f() { echo f; }")
    agent.run("exit 0")
    assert agent.run("f")["rc"] == 127


@pytest.mark.parametrize("text", ["echo 'abc", "(", "if true", "for", "${", "case x in", "echo a; fi"])
def test_syntax_errors_leave_the_shell_alone(agent: AgentProcess, text: str) -> None:
    agent.run("f() { echo still; }")
    answer = agent.run(text)
    assert answer["rc"] == 2, answer
    assert notes(answer) == []
    assert answer["stderr"]["bytes"]
    assert agent.output("f") == "still\n"


@pytest.mark.parametrize(
    ("text", "rc"),
    [("set -u; echo $nope; echo x", 2), ("echo ${nope?not there}", 2), (": <<E\n$(\nE", None), ("readonly q=1; q=2; echo no", 2),
     ("echo x >/nowhere/file", None), ("exec 5</nowhere", None), (". /nowhere", None), ("break; continue; echo on", 0)],
)  # fmt: skip
def test_errors_of_the_shell(agent: AgentProcess, text: str, rc: int | None) -> None:
    agent.run("f() { echo still; }")
    answer = agent.run(text)
    assert answer["execution"] == "done", answer
    assert rc is None or answer["rc"] == rc, answer
    assert agent.output("set +u; f") == "still\n"


def test_return_ends_the_shell_as_in_a_script(agent: AgentProcess) -> None:
    answer = agent.run("x=1; return 3")
    assert (answer["rc"], notes(answer)) == (3, ["shell_exited"])
    assert agent.output("echo $x") == "1\n"


@pytest.mark.parametrize(
    "text",
    [
        "set -euxfC", "IFS=/", "readonly IFS=x", "PATH=/x", "cat() { :; }; printf() { :; }; cd() { :; }; umask() { :; }",
        "alias printf=false command=false eval=false test=false trap=false cd=false", "exec 3>&- 9>&-; exec 9</dev/null",
        "exec >/dev/null", "exec 2>&1", "set -a", "set -v", "unset PATH HOME PWD OLDPWD", "set --", "trap '' INT TERM",
        "trap - TERM", "PS4='$(echo x >&2)'; set -x", "test() { false; }; alias() { :; }", "PWD=/nowhere", "LC_ALL=nowhere",
    ],
)  # fmt: skip
def test_what_a_check_does_to_its_shell_hurts_nothing_of_ours(agent: AgentProcess, text: str) -> None:
    answer = agent.run(text)
    assert (answer["rc"], notes(answer)) == (0, []), answer
    answer = agent.run("\\eval 'echo out; echo err >&2; set -- 1'")
    assert (answer["rc"], notes(answer)) == (0, []), answer
    assert agent.data(answer["id"]) == b"out\n"
    lines = agent.data(answer["id"], "stderr").decode().splitlines()
    assert "err" in lines
    assert not [line for line in lines if "checkrunner" in line]
    answer = agent.run("\\exit 5")
    assert (answer["rc"], notes(answer)) == (5, ["shell_exited"])
    assert not [line for line in agent.data(answer["id"], "stderr").decode().splitlines() if "checkrunner" in line]
    assert agent.run("echo x")["rc"] == 0


def test_a_function_called_command(agent: AgentProcess) -> None:
    answer = agent.run("command() { echo no; }")
    assert (answer["rc"], notes(answer)) == (0, ["wrapper_restored"])
    assert agent.output("command echo yes") == "yes\n"


def test_exec_and_kill(agent: AgentProcess) -> None:
    agent.run("x=1; cd /etc")
    answer = agent.run("exec sleep 0")
    assert (answer["rc"], set(notes(answer))) == (0, {"shell_replaced", "shell_exec"})
    answer = agent.run("kill -9 $$")
    assert (answer.get("rc"), answer["signal"], notes(answer)) == (None, 9, ["shell_replaced"])
    assert agent.output("echo $x $PWD") == "1 /etc\n"


@pytest.mark.parametrize(
    "command",
    [
        "x=2; sleep 50; echo not",
        "x=2; trap '' INT; sleep 50",
        "x=2; while :; do :; done",
        "x=2; (sleep 50; echo a) | cat",
    ],
)
def test_a_timeout_keeps_the_state(agent: AgentProcess, command: str) -> None:
    agent.run("x=1")
    for timeout_s in (0.5, 5, 50):
        answer = agent.run(command, timeout_s=timeout_s)
        assert answer["execution"] == "timed_out"
        assert "rc" not in answer
        assert not [note for note in notes(answer) if note != "shell_exited"], answer
        if agent.output("echo $x") == "2\n":  # on a busy machine it may not even have begun in so short a time
            break
    assert agent.output("echo $x") == "2\n"


def test_exit_traps(agent: AgentProcess) -> None:
    def both(text: str) -> tuple[int, str, list[str]]:
        answer = agent.run(text)
        return answer["rc"], agent.data(answer["id"]).decode(), notes(answer)

    assert both("trap 'echo bye $?' EXIT; echo a; (exit 4)") == (4, "a\nbye 4\n", [])
    assert both("echo after") == (0, "after\n", [])
    assert both("y=5; trap 'echo bye $?' EXIT; exit 3") == (3, "bye 3\n", ["shell_exited"])
    sub = "" if agent.hello["shell"] == "busybox ash" else "sub\n"  # it takes the outputs back before
    assert both("echo $y; (trap 'echo sub' EXIT; exit 2)") == (2, "5\n" + sub, [])

    assert both("trap 'echo no' EXIT; trap - EXIT; echo x") == (0, "x\n", [])
    assert both("trap 'echo one' 0 USR1; kill -s USR1 $$") == (0, "one\none\n", [])
    assert both("command trap 'echo real' EXIT; echo x")[1] == "x\nreal\n"
    assert both("exit 1") == (1, "", ["shell_exited"])
    assert agent.output("alias; trap").replace("trap -- 'echo one' USR1\n", "").count("trap=") == 0


def test_env_and_cwd(agent: AgentProcess) -> None:
    agent.run("A=old; export B=old; readonly R=1; cd /etc")
    show = "sh -c 'echo $A,\"$B\",$C'; pwd"
    assert agent.output(show, env={"A": "1", "B": ODD, "C": ""}, cwd="/usr") == f"1,{ODD},\n/usr\n"
    assert agent.output(f"echo $A; {show}") == "old\n,old,\n/etc\n"
    assert agent.output("echo ${C-unset}") == "unset\n"
    answer = agent.run("echo x", env={"R": "2"})
    assert (answer["execution"], notes(answer)) == ("not_run", ["env_failed"])
    agent.run("exit 1", env={"A": "1", "C": "2"})
    assert agent.output("echo $A ${C-unset}; sh -c 'echo $A'") == "old unset\n\n"
    answer = agent.run("unset A; A=changed", env={"A": "1"})
    assert agent.output("echo $A") == "old\n"


def test_requires(agent: AgentProcess, tmp_path: Path) -> None:
    agent.run("f() { :; }")
    tool = tmp_path / "our tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    wanted = ["f", "cd", "ls", "/etc", "no-such", "/no/such", "our tool"]
    answer = agent.run("echo x", requires="\n".join(wanted))
    assert (answer["execution"], answer["missing"]) == ("not_run", ["no-such", "/no/such", "our tool"])
    assert agent.run("echo x", requires="our tool", env={"PATH": str(tmp_path)})["rc"] == 0
    assert agent.run("ls /", requires="ls")["rc"] == 0


@pytest.mark.parametrize("size", [2000, 10_000, 200_000, 1_000_000])
def test_long_texts(agent: AgentProcess, size: int) -> None:
    assert agent.output(f": '{'x' * size}'; echo end") == "end\n"
    assert agent.output("true\n" * (size // 5) + "echo end") == "end\n"


def test_all_bytes(agent: AgentProcess) -> None:
    data = bytes(range(1, 39)) + bytes(range(40, 256))
    assert agent.data(agent.run(b"printf %s '" + data + b"'")["id"]) == data
    agent.run(b"x='" + data + b"'; exit 0")
    assert agent.data(agent.run('printf %s "$x"')["id"]) == data


def test_background_children(agent: AgentProcess) -> None:
    answer = agent.run("sleep 600 & echo $!")
    pid = int(agent.data(answer["id"]))
    assert answer["leftover"] == [pid]
    assert agent.run("kill -0 $!; jobs >/dev/null; echo x", timeout_s=10)["rc"] == 0
    agent.bye()
    assert eventually(lambda: not alive(pid))


def test_much_state(agent: AgentProcess) -> None:
    agent.run("x=$(head -c 300000 /dev/zero | tr '\\0' y); y=1")
    agent.run("exit 0")
    assert agent.output("echo ${#x} $y") == "300000 1\n"


def test_lines_that_bash_has_fail_as_in_sh(agent: AgentProcess) -> None:
    assert agent.run("[[ -e / ]] && echo x")["rc"] in (0, 127)  # busybox knows it
    assert agent.run("cat <(echo x)")["rc"] in (0, 2)
    assert agent.run("a=(1 2); echo ${a[1]}")["rc"] == 2


def test_readings_and_questions(agent: AgentProcess) -> None:
    answer = agent.run("i=$((i + 1)); echo $i; exit 2", keys={"sample_ms": 10, "sample_count": 3})
    assert [reading["rc"] for reading in answer["samples"]] == [2, 2, 2]
    assert agent.data(answer["id"]) == b"1\n2\n3\n"
    answer = agent.run(
        "printf 'name? ' >/dev/tty; read x; echo \"<$x>\"", prompts=[("name", "me")], keys={"input": "answer"}
    )
    assert (answer["rc"], answer["answered"]) == (0, 1)
    assert agent.data(answer["id"]) == b"<me>\n"
    assert agent.run("read x </dev/tty", timeout_s=10)["execution"] == "waiting_input"


def test_where_nothing_can_be_written_to() -> None:
    with_nothing = {"XDG_RUNTIME_DIR": "/proc", "HOME": "/proc", "PATH": "/usr/bin:/bin"}
    hide = "mount -t tmpfs -o ro none /dev/shm && mount -t tmpfs -o ro none /var/tmp && mount -t tmpfs -o ro none /tmp"
    prefix = ["unshare", "-m", "sh", "-c", f'{hide} && exec "$@"', "sh"]
    if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs root and mount namespaces")
    for shell in SHELLS:
        agent = start(shell, env=with_nothing, prefix=prefix)
        try:
            assert agent.hello["dir"] == ""
            agent.run("x=1; cd /etc; exit 4")
            assert agent.output("echo $x $PWD; cat <&5 2>/dev/null") == "1 /etc\n"
        finally:
            agent.close()


@pytest.mark.parametrize("shell", SHELLS)
def test_sessions_are_handed_on_when_the_link_is_lost(shell: str) -> None:
    old = start(shell, hello="v=1 nonce=n0 linger=20")
    code = load_part("resume")
    assert old.wait_for(old.ask("part", {"name": "resume"}, {"code": code}))["t"] == "ok"
    old.run("cd /usr; x='a b'; export Y=2; alias hi='echo hello'; set -u; umask 027")
    old.stdin.close()
    new = start(shell, hello=f"v=1 nonce=n1 resume={old.directory.name.removeprefix('checkrunner-')}")
    new.last = 1000
    assert new.wait_for(new.ask("part", {"name": "resume"}, {"code": code}))["t"] == "ok"
    old.close()
    assert new.output('echo "$x $Y $PWD"; umask; hi; set +u').split("\n") == ["a b 2 /usr", "0027", "hello", ""]
    assert new.output("env | grep -c CHECKRUNNER_SHELL=" + new.directory.name.removeprefix("checkrunner-")) == "1\n"
    new.bye()
    new.close()
    assert not old.directory.exists()
