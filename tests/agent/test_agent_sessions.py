"""Sessions: what persists, what a command may do to its shell, and what that costs the next one."""

from __future__ import annotations

import hashlib
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent_process import REMOTE, AgentProcess, eventually, interpreters

from checkrunner.link.payload import load_payload

Start = Callable[..., AgentProcess]


def test_hello(any_agent: AgentProcess) -> None:
    hello = any_agent.hello
    assert hello["t"] == "hello"
    assert hello["nonce"] == "n0"
    assert hello["v"] == 1
    assert hello["agent"] == load_payload().digest
    assert hello["python"].startswith("3.")
    assert hello["bash"][0].isdigit()
    assert hello["uid"] == os.getuid()
    assert abs(hello["clock"] - time.time()) < 60
    assert os.stat(hello["dir"]).st_mode & 0o777 == 0o700
    assert any_agent.bye() == {"t": "bye", "id": 1}


@pytest.mark.parametrize("python", interpreters())
@pytest.mark.parametrize(
    ("given", "seen"), [({}, "none"), ({"LC_CTYPE": "C"}, "C"), ({"LC_CTYPE": "C.UTF-8"}, "C.UTF-8")]
)
def test_the_locale_is_the_hosts(start_agent: Start, python: str, given: dict[str, str], seen: str) -> None:
    """Python sets LC_CTYPE for what it starts where the host has no locale; commands do not see that."""
    agent = start_agent(python=python, env={"PATH": os.environ["PATH"], **given})
    assert agent.output("echo ${LC_CTYPE-none}") == f"{seen}\n"
    assert agent.output("kill -9 $$; echo never") == ""
    assert agent.output("echo ${LC_CTYPE-none}") == f"{seen}\n"


def test_result_has_all_metadata(any_agent: AgentProcess) -> None:
    before = time.time()
    result = any_agent.run("cd /usr; echo one; echo two >&2; printf 'x\\0\\xff'; (exit 7)")
    assert result["execution"] == "done"
    assert result["rc"] == 7
    assert "signal" not in result
    assert result["session"] == "main"
    assert result["cwd"] == "/usr"
    assert before - 1 < result["started_at"] < time.time() + 1
    assert 0 <= result["elapsed_s"] < time.time() - before + 1
    assert result["stdout"] == {
        "lines": 2,
        "bytes": 7,
        "longest": 3,
        "nl": False,
        "binary": True,
        "invalid": 1,
        "digest": hashlib.sha256(b"one\nx\0\xff").hexdigest(),
    }
    assert result["stderr"]["lines"] == 1
    assert "notes" not in result


def test_state_persists(any_agent: AgentProcess) -> None:
    any_agent.run("cd /usr; export E=1; v=2; f() { echo f$1; }; set -o pipefail; shopt -s extglob; umask 027")
    assert any_agent.output("echo $PWD $E $v $(f 3) $(umask); shopt -qo pipefail && shopt -q extglob && echo on") == (
        "/usr 1 2 f3 0027\non\n"
    )


def test_sessions_are_apart_and_parallel(agent: AgentProcess) -> None:
    slow = agent.start("x=1; sleep 600", session="slow")
    assert agent.output("echo ${x-unset}; x=2", session="quick") == "unset\n"
    assert agent.output("echo $x", session="quick") == "2\n"
    agent.wait_for(agent.ask("cancel"))
    assert agent.wait_for(slow)["execution"] == "killed"


def test_order_in_a_session(agent: AgentProcess) -> None:
    agent.run("n=0")
    idents = [agent.start("n=$((n+1)); echo $n") for _ in range(20)]
    for number, ident in enumerate(idents, 1):
        agent.wait_for(ident)
        assert agent.data(ident) == b"%d\n" % number


@pytest.mark.parametrize(
    ("command", "rc"),
    [
        ("exit 3", 3),
        ("set -e; false; echo not reached", 1),
        ("set -euo pipefail; false | true", 1),
        ("set -u; echo $nothing_has_this_name; echo not reached", 1),
        (": ${nothing_has_this_name?no}; echo not reached", 1),
        ("g() { local w=1; exit 9; }; g", 9),
        ("set -o posix; set -Z", 2),
    ],
)
def test_a_shell_that_exits_keeps_its_state(few_agent: AgentProcess, command: str, rc: int) -> None:
    few_agent.run(
        "x=$'a b\\n\\'c'; y=(1 '2 3'); declare -i n=4; declare -A m=([k]=v); readonly r=5; f() { echo f; }; cd /usr"
    )
    result = few_agent.run("export E=6; z=7; " + command)
    assert (result["execution"], result.get("rc")) == ("done", rc)
    assert result["notes"] == ["shell_exited"]
    assert result["cwd"] == "/usr"
    text = few_agent.output(
        'set +eu +o posix; n=n+1; echo "$x|${y[1]}|$n|${m[k]}|$r|$(f)|$PWD|$E|$z"; (r=6) 2>/dev/null || echo kept'
    )
    assert text == "a b\n'c|2 3|5|v|5|f|/usr|6|7\nkept\n"
    assert few_agent.output("env | grep ^E=") == "E=6\n"


def test_options_traps_aliases_umask_and_arguments_survive(agent: AgentProcess) -> None:
    agent.run(
        "set -o noclobber; shopt -s nullglob expand_aliases; alias ll='echo alias'; umask 077; set -- 'a b' c; trap 'echo usr1' USR1"
    )
    agent.run("pushd /usr; pushd /tmp; exit 1")
    assert agent.output("echo $- | tr -cd C; shopt nullglob; umask; echo $#,$1; dirs -l; kill -USR1 $$") == (
        "Cnullglob       \ton\n0077\n2,a b\n/tmp /usr " + os.getcwd() + "\nusr1\n"
    )
    assert agent.output("ll") == "alias\n"


def test_unset_variables_stay_unset(start_agent: Start) -> None:
    agent = start_agent(env={**os.environ, "WAS_HERE": "1"})
    assert agent.output("echo $WAS_HERE; unset WAS_HERE") == "1\n"
    agent.run("exit 1")
    assert agent.output("echo ${WAS_HERE-unset}") == "unset\n"


def test_three_hundred_commands(few_agent: AgentProcess) -> None:
    few_agent.run("cd /usr; export KEPT=yes; fun() { echo fun; }; set -o pipefail")
    idents = [few_agent.start("exit 3" if n == 150 else ":") for n in range(300)]
    results = [few_agent.wait_for(ident) for ident in idents]
    assert [r["rc"] for r in results] == [3 if n == 150 else 0 for n in range(300)]
    assert [r.get("notes") for r in results] == [["shell_exited"] if n == 150 else None for n in range(300)]
    assert few_agent.output("echo $PWD $KEPT $(fun); shopt -o pipefail") == "/usr yes fun\npipefail       \ton\n"


def test_a_killed_shell_is_replaced(agent: AgentProcess) -> None:
    agent.run("cd /usr; export E=1")
    result = agent.run("kill -9 $$; sleep 1")
    assert (result["execution"], result["signal"], result["notes"]) == ("done", 9, ["shell_replaced"])
    assert "rc" not in result
    assert agent.output("echo $E $PWD") == "1 /usr\n"


def test_a_terminated_shell_says_its_state(agent: AgentProcess) -> None:
    result = agent.run("v=1; kill -TERM $$; sleep 1")
    assert (result["signal"], result["notes"]) == (15, ["shell_exited"])
    assert agent.output("echo $v") == "1\n"


@pytest.mark.parametrize(("command", "rc"), [("exec true", 0), ("exec sh -c 'exit 4'", 4), ("exec bash", 0)])
def test_exec_is_seen(agent: AgentProcess, command: str, rc: int) -> None:
    agent.run("cd /usr; export E=1; v=2")
    result = agent.run(command)
    assert (result["execution"], result["rc"]) == ("done", rc)
    assert result["notes"] == ["shell_replaced", "shell_exec"]
    assert agent.output("echo $E $PWD") == "1 /usr\n"


ENDS: dict[str, int | str] = {
    # command: return code, or the signal that ended its shell
    "kill -SEGV $$": "11",
    "kill -ABRT $$": "6",
    "kill -HUP $$; sleep 1": "1",
    "kill -INT $$; echo after": "2",
    "kill -PIPE $$": "13",
    "kill -USR1 $$; echo after": "10",
    "kill -9 0": "9",
    "kill -9 -$$": "9",
    "kill -TERM 0; sleep 1": "15",
    "ulimit -s 8; f() { f; }; f": "11",
    "trap 'kill -9 $$' EXIT; exit 3": "9",
    "trap 'exit 7' ERR; false; echo no": 7,
    "trap - EXIT; exit 4": 4,
    "trap '' EXIT; exit 4": 4,
    "trap 'exit 6' EXIT; trap - EXIT; exit 4": 4,
    "trap 'set -e; false; echo' DEBUG; true": 1,
    "exec /nonexistent; echo after": 127,
    "exec -a bash sleep 0.1": 0,
    "exec -c true": 0,
    "exec timeout 1 false": 1,
    "(exec false)": 1,
    "shopt -s execfail; exec /nonexistent; false": 1,
    "logout 3; false": 1,
    "suspend -f; (exit 5)": 5,
    "sleep 100 & exec false": 1,
    "sleep 100 & kill %1; wait %1": 143,
    "sleep 100 & disown -a; wait; false": 1,
    "coproc cat; (exit 5)": 5,
    "sleep 0.1 & fg; (exit 5)": 5,
    "set -t; (exit 5)": 5,
    "set -o vi; set -o history; set -H; (exit 5)": 5,
    "wait 1": 127,
    "((1/0))": 1,
    "[[ x =~ ( ]]": 2,
    "}": 2,
    "declare -r x=1; x=2; echo after": 1,
    "local x=1": 1,
    "shift 99": 1,
    "! true": 1,
    "exec {fd}>/dev/null 1>&$fd 2>&$fd; (exit 5)": 5,
    'for i in {3..64} 255; do eval "exec $i>&-"; done; (exit 5)': 5,
    "exec 19</dev/null; exec 19<&-; (exit 5)": 5,
    "exec > >(cat); (exit 5)": 5,
    "echo x > >(cat); (exit 5)": 5,
    "exec <<<text; cat; (exit 5)": 5,
    "stty raw -echo </dev/tty; (exit 5)": 5,
    "ulimit -v 10000; (exit 5)": 5,
    "ulimit -f 1; (exit 5)": 5,
    "umask 777; (exit 5)": 5,
    "timeout -s KILL 0.1 sleep 9": 137,
    'for b in $(compgen -b); do eval "$b() { return 9; }" 2>/dev/null; done; (unset -f exit; exit 5)': 5,
}


@pytest.mark.parametrize("command", ENDS)
def test_whatever_a_command_does_to_its_shell_the_next_one_is_right(agent: AgentProcess, command: str) -> None:
    agent.run("v=1; export E=2; cd /usr")
    result = agent.run(command)
    said = result.get("rc", str(result.get("signal")))
    assert (result["execution"], said) == ("done", ENDS[command]), agent.data(result["id"], "stderr")
    again = agent.run('\\command \\printf %s "$v $E $PWD"; (\\command \\exit 7)')
    if "compgen -b" in command:  # that is what it has asked for
        again = agent.run("/bin/sh -c 'echo $1; exit 7' sh \"$v $E $PWD\"")
    assert (again["execution"], again["rc"]) == ("done", 7), again
    assert agent.data(again["id"]).strip() == b"1 2 /usr"


def test_a_command_that_kills_the_agent_ends_all(start_agent: Start) -> None:
    """Its client sees the end of the stream; the next agent clears up."""
    agent = start_agent()
    agent.start("sleep 100 & setsid sleep 100 & kill -9 $PPID; sleep 100")
    with pytest.raises(EOFError):
        agent.read()
    agent.process.wait(60)
    assert start_agent().output("echo on") == "on\n"
    # (The agent of another test may be at it, and takes its time.)
    assert eventually(lambda: not agent.directory.exists())


@pytest.mark.parametrize(
    "command", ['echo "abc', "echo 'abc", "(", "if true", "for x in 1; do", "{", "echo $(", "case x in"]
)
def test_syntax_errors(agent: AgentProcess, command: str) -> None:
    result = agent.run(command)
    assert result["rc"] == 2
    assert b"syntax error" in agent.data(result["id"], "stderr") or b"unexpected" in agent.data(result["id"], "stderr")
    assert "notes" not in result
    assert agent.output("echo fine") == "fine\n"


def test_unfinished_here_document(agent: AgentProcess) -> None:
    result = agent.run("cat <<EOF\nfoo")
    assert (result["rc"], agent.data(result["id"])) == (0, b"foo\n")  # bash warns and takes what there is
    assert agent.output("echo fine") == "fine\n"


@pytest.mark.parametrize(
    "before",
    [
        "set -euo pipefail",
        "set -u",
        "set -x",
        "set -v",
        "set -f",
        "set -C",
        "set -a",
        "set +m",
        "set -T",
        "set -E",
        "set -o posix",
        "set -k",
        "shopt -s extdebug",
        "shopt -s failglob",
        "shopt -s nullglob",
        "shopt -s expand_aliases; alias builtin='echo no' eval='echo no' printf='echo no' trap='echo no'",
        "IFS=/",
        "IFS=0123456789",
        "readonly IFS=x",
        "cat() { :; }; printf() { :; }; trap() { :; }; read() { :; }; eval() { :; }; command() { :; }; test() { :; }; declare() { :; }",
        "exit() { :; }; set() { :; }; shopt() { :; }; unset() { :; }; alias() { :; }; cd() { :; }; type() { :; }; local() { :; }",
        "PATH=/x",
        "exec 3>&- 4>&- 19>&- 10>&-",
        "exec 0<&- 1>&- 2>&-",
        "exec >/dev/null 2>&1",
        "exec 19>/dev/null",
        "exec 255<&-",
        "PROMPT_COMMAND='echo prompt'; PS1='$(echo ps1)'; PS2=x; PS4='$(echo ps4)'; readonly PROMPT_COMMAND PS1 PS4",
        "trap 'echo debug' DEBUG",
        "trap 'echo err' ERR",
        "trap 'echo return' RETURN",
        "trap 'false' DEBUG",
        "mkdir -p $TMPDIR/gone; cd $TMPDIR/gone; rmdir $TMPDIR/gone",
        "export LC_ALL=C",
        "export LC_ALL=en_US.UTF-8 LANG=de_DE",
        "readonly LC_ALL=C",
        "ulimit -f 0",
        "unset PWD OLDPWD HOME LINENO DIRSTACK",
        "readonly LINENO",
        "TMOUT=1",
        "set -- -n -e; shift; OPTIND=5",
        "for i in 1 2; do break 2; done; continue; return 2>/dev/null",
        "trap '' INT TERM HUP QUIT PIPE CHLD",
        "__checkrunner_rc=nonsense; unset __checkrunner_report 2>/dev/null; unset -f trap",
        "GLOBIGNORE='*'; CDPATH=/usr; BASH_XTRACEFD=2",
        "enable -n test; enable -n kill; enable -n cd",
        "hash -p /bin/false cat",
        "shopt -s lastpipe huponexit nocasematch sourcepath xpg_echo",
        "disown -a; set -b; set -h; set -P",
    ],
)  # fmt: skip
def test_the_wrapper_survives(agent: AgentProcess, before: str, tmp_path: object) -> None:
    agent.run(f"TMPDIR={tmp_path}")
    agent.run(before)
    quiet = "\\builtin set +xv; \\trap - DEBUG ERR RETURN; "
    agent.run("{ \\builtin set +xv; \\trap - DEBUG ERR RETURN; } 2>/dev/null")
    result = agent.run(quiet + "false; echo out; echo err >&2")
    assert result["execution"] == "done"
    if before.startswith("set -e"):
        assert result["rc"] == 1
    else:
        assert result["rc"] == 0, agent.data(result["id"], "stderr")
        assert agent.data(result["id"]).replace(b"debug\n", b"") == b"out\n"
        assert agent.data(result["id"], "stderr") == b"err\n"
    assert agent.run("/bin/sh -c 'exit 5'")["rc"] == 5


@pytest.mark.parametrize("option", ["set -x", "set -v"])
def test_no_trace_of_ours(agent: AgentProcess, option: str) -> None:
    agent.run(option)
    result = agent.run("echo x", cwd="/usr", env={"A": "1"}, requires="cat")
    assert b"checkrunner" not in agent.data(result["id"], "stderr")
    assert b"builtin" not in agent.data(result["id"], "stderr")
    assert b"echo x" in agent.data(result["id"], "stderr")


@pytest.mark.parametrize(
    "before",
    [
        "enable -n printf",
        "enable -n eval",
        "enable -n builtin",
        "enable -n declare set trap shopt",
        "builtin() { :; }",
        "builtin() { echo no; }; unset() { :; }",
        "name=EXI; builtin trap - ${name}T",
    ],
)
def test_removed_parts_are_put_back(agent: AgentProcess, before: str) -> None:
    result = agent.run(before + "; v=1; (exit 6)")
    assert (result["execution"], result["rc"]) == ("done", 6)
    assert result["notes"] == ["wrapper_restored"]
    result = agent.run("echo $v; exit 2")
    assert (result["rc"], result["notes"], agent.data(result["id"])) == (2, ["shell_exited"], b"1\n")
    assert agent.output("echo $v") == "1\n"


@pytest.mark.parametrize(
    "before",
    [
        "set -n",
        "shopt -s extdebug; trap 'false' DEBUG",
        "enable -n builtin enable; enable() { :; }",
        "ulimit -n 3",
        "set -r",
        "readonly __checkrunner_rc",
        "for name in $(compgen -v); do readonly $name; done 2>/dev/null",
    ],
)
@pytest.mark.parametrize("end", ["true", "false"])
def test_a_shell_that_says_nothing_is_replaced_and_its_status_is_no_return_code(
    agent: AgentProcess, before: str, end: str
) -> None:
    agent.run("export E=1; cd /usr")
    first = agent.run(f"{before}\n{end}")
    assert (first["execution"], first.get("rc"), first.get("signal")) == ("lost", None, None)
    assert "shell_replaced" in first["notes"]
    second = agent.run("echo $E $PWD")
    assert agent.data(second["id"]) == b"1 /usr\n"


@pytest.mark.parametrize(
    "remove",
    [
        "rm -rf {0}",
        "rm -rf {0}/*",
        "rm -f {0}/p*",
        "rm -rf {0}/s*",
        "mv {0} {0}x; rm -rf {0}x",
        "touch {0}/s1/x; exit 3",
    ],
)
def test_sessions_outlive_the_removal_of_our_files(agent: AgentProcess, remove: str) -> None:
    agent.run("v=1; cd /usr")
    agent.run("w=2", session="other")
    directory = agent.directory
    agent.run(remove.format(directory))
    assert agent.output("echo $v $PWD; : " + "x" * 5000) == "1 /usr\n"
    assert agent.output("echo $w", session="other") == "2\n"
    result = agent.run("seq 20000; false")
    assert (result["execution"], result["rc"]) == ("done", 1)
    assert agent.data(result["id"]).endswith(b"19999\n20000\n")
    agent.bye()
    assert not directory.exists()


def test_of_two_reports_the_last_one_counts() -> None:
    scope: dict[str, Any] = {"__name__": "agent", "WRAPPER": b"", "DIGEST": ""}
    exec(compile((REMOTE / "agent.py").read_bytes(), "agent", "exec"), scope)
    whole = [b"checkrunner-report", b"x 3", *(b"f%d" % n for n in range(len(scope["FIELDS"]) - 3)), b"end", b""]
    cut = [b"checkrunner-report", b"7 0", b"5.2", b"/usr"]

    state = scope["State"].parse(cut + whole)

    assert (state.exited, state.rc, state.cut, state.pwd) == (True, 3, False, b"f1")
    assert scope["State"].parse(cut) is None


def test_without_room_for_a_fifo_a_pipe_does() -> None:
    scope: dict[str, Any] = {"__name__": "agent", "WRAPPER": b"", "DIGEST": ""}
    exec(compile((REMOTE / "agent.py").read_bytes(), "agent", "exec"), scope)
    agent = scope["Agent"]()
    agent.directory = b"/proc"  # nobody can make a file there
    pipe = scope["Pipe"](agent)
    try:
        Path(os.fsdecode(pipe.path)).write_bytes(b"through")
        assert os.read(pipe.fd, 100) == b"through"
        assert pipe.fresh()
    finally:
        pipe.close()
        os.close(agent.pids.fd)


def test_loop_words_do_not_leave(agent: AgentProcess) -> None:
    for word in ("break", "continue", "return 3"):
        result = agent.run(f"{word}; echo after")
        assert agent.data(result["id"]) == b"after\n"
        assert "notes" not in result


def test_own_exit_trap_runs_at_the_end_of_the_check(agent: AgentProcess) -> None:
    result = agent.run("trap 'echo cleaned $?' EXIT; echo work; (exit 3)")
    assert (result["rc"], agent.data(result["id"])) == (3, b"work\ncleaned 3\n")
    assert "notes" not in result
    assert agent.output("echo next") == "next\n"


def test_own_exit_trap_and_exit_keep_the_state(agent: AgentProcess) -> None:
    result = agent.run("v=1; cd /usr; trap 'echo cleaned $?' EXIT; echo work; exit 4")
    assert (result["rc"], agent.data(result["id"])) == (4, b"work\ncleaned 4\n")
    assert result["notes"] == ["shell_exited"]
    assert agent.output("echo $v $PWD; type -t trap") == "1 /usr\nbuiltin\n"


def test_exit_trap_from_a_sourced_file(agent: AgentProcess, tmp_path: object) -> None:
    agent.run(f"export E=1; echo \"trap 'echo cleaned' EXIT\" >{tmp_path}/lib")
    assert agent.output(f". {tmp_path}/lib; echo work") == "work\ncleaned\n"
    result = agent.run(f". {tmp_path}/lib; exit 4")
    assert (result["rc"], agent.data(result["id"])) == (4, b"cleaned\n")
    assert agent.output("echo $E") == "1\n"


def test_an_exit_trap_that_exits(agent: AgentProcess) -> None:
    result = agent.run("v=1; trap 'echo bye; exit 9' EXIT; true")
    assert (result["rc"], agent.data(result["id"])) == (9, b"bye\n")
    assert agent.output("echo $v") == "1\n"


def test_error_messages_count_lines_from_one(agent: AgentProcess) -> None:
    for _ in range(3):
        result = agent.run("true\nnot_a_command_anywhere")
        assert agent.data(result["id"], "stderr") == b"bash: line 2: not_a_command_anywhere: command not found\n"


def test_env_is_for_one_command(agent: AgentProcess) -> None:
    agent.run("export OLD=old; UNEXPORTED=u; unset GONE")
    env = {"OLD": "new", "GONE": "here", "UNEXPORTED": "x", "ODD": "a'b\n$c\\ \"é"}
    text = agent.output('echo "$OLD $GONE"; env | grep -c "^UNEXPORTED=x"; export MINE=1; printf "%s" "$ODD"', env=env)
    assert text == "new here\n1\na'b\n$c\\ \"é"
    assert (
        agent.output('echo "$OLD ${GONE-unset} $UNEXPORTED ${ODD-unset} $MINE"; env | grep -c UNEXPORTED')
        == "old unset u unset 1\n0\n"
    )


def test_env_is_taken_back_even_so(agent: AgentProcess) -> None:
    agent.run("unset Q; export R=r", env={"Z": "1"})
    agent.run("unset Q R; Q=4; R=5", env={"Q": "1", "R": "2"})
    assert agent.output("echo ${Q-unset} $R") == "unset r\n"
    agent.run("exit 1", env={"Q": "1", "R": "2"})
    assert agent.output("echo ${Q-unset} $R") == "unset r\n"


def test_env_does_not_break_a_readonly(agent: AgentProcess) -> None:
    agent.run("readonly RO=1")
    result = agent.run("echo $RO", env={"RO": "2"})
    assert (result["execution"], result["notes"]) == ("not_run", ["env_failed"])
    assert agent.output("echo $RO") == "1\n"


def test_cwd_is_for_one_command(agent: AgentProcess, tmp_path: object) -> None:
    agent.run("cd /usr; cd /tmp")
    result = agent.run("pwd", cwd="/etc")
    assert (agent.data(result["id"]), result["cwd"]) == (b"/etc\n", "/tmp")
    assert agent.output('echo "$PWD $OLDPWD"') == "/tmp /usr\n"
    assert agent.run("cd /usr/bin", cwd="/etc")["cwd"] == "/usr/bin"  # a command's own cd persists
    assert agent.run("exit 2", cwd="/etc")["cwd"] == "/usr/bin"
    assert agent.output("pwd") == "/usr/bin\n"
    assert agent.output("pwd", cwd="../lib") == "/usr/lib\n"
    assert agent.output("pwd", cwd="~") == os.path.expanduser("~") + "\n"


def test_cwd_that_cannot_be_entered(agent: AgentProcess) -> None:
    result = agent.run("echo not reached", cwd="/does/not/exist")
    assert (result["execution"], result["notes"]) == ("not_run", ["cwd_failed"])
    assert "rc" not in result
    assert "stdout" not in result
    assert result["cwd"] == os.getcwd()


def test_requires(agent: AgentProcess) -> None:
    agent.run("myfunction() { :; }; cd /usr")
    words = "myfunction\ncd\ncat\nno_such_tool\n/etc/passwd\n/no/such/file\n./bin\n./nope"
    result = agent.run("echo not reached", requires=words)
    assert result["execution"] == "not_run"
    assert result["missing"] == ["no_such_tool", "/no/such/file", "./nope"]
    assert "stdout" not in result
    assert agent.run("echo", requires="myfunction\ncd\ncat\n/etc/passwd")["execution"] == "done"
    assert agent.run("echo", requires="cat", env={"PATH": "/nope"})["missing"] == ["cat"]
    assert agent.run("pwd", requires="./passwd", cwd="/etc")["rc"] == 0


def test_commands_arrive_byte_exact(any_agent: AgentProcess) -> None:
    rng = random.Random(7)
    some = [byte for byte in range(1, 256) if byte not in b"\r\n'"]
    for size in (100, 10_000, 200_000):
        body = bytes(rng.choices(some, k=size))
        result = any_agent.run(b"printf %s '" + body + b"'")
        assert result["rc"] == 0
        assert result["stdout"]["digest"] == hashlib.sha256(body).hexdigest()
    for text in ("echo a\n\n\n", "# only a comment", "", "\n", "echo 'x\r\ny'", "echo a \\\n  b"):
        assert any_agent.run(text)["rc"] == 0


def test_a_large_script_is_quick(agent: AgentProcess) -> None:
    script = "\n".join(f"v{n % 10}={n}; : some words to make a line of it {n}" for n in range(4000)) + "\necho $v9\n"
    result = agent.run(script)
    assert len(script) > 180_000
    assert agent.data(result["id"]) == b"3999\n"
    assert result["cpu_s"] < 3


def test_stdin_is_empty(agent: AgentProcess) -> None:
    result = agent.run("cat; read x; echo rc=$?")
    assert agent.data(result["id"]) == b"rc=1\n"


def test_environment_is_clean(start_agent: Start, tmp_path: object) -> None:
    rc = f"{tmp_path}/rc"
    with open(rc, "w") as file:
        file.write("echo noise; exit 9\n")
    noisy = {
        "BASH_ENV": rc,
        "ENV": rc,
        "PROMPT_COMMAND": "echo prompt",
        "PS1": "$(echo ps1)",
        "SHELLOPTS": "xtrace:errexit",
    }
    agent = start_agent(env={**os.environ, **noisy, "BASH_FUNC_builtin%%": "() { echo no; }"})
    result = agent.run(
        "echo ${BASH_ENV-unset} ${ENV-unset} ${PROMPT_COMMAND-unset} $PAGER $GIT_PAGER $SYSTEMD_PAGER; false; echo on"
    )
    assert agent.data(result["id"]) == b"unset unset unset cat cat cat\non\n"
    assert "stderr" not in result


def test_pagers_do_not_wait(agent: AgentProcess, tmp_path: object) -> None:
    agent.run(f"cd {tmp_path}; git init -q .; git -c user.name=a -c user.email=b commit -q --allow-empty -m x")
    for command in ("git log", "man ls | head -1", "less /etc/passwd", "git -p log"):
        result = agent.run(command)
        assert result["execution"] == "done", command


def test_exec_redirection_does_not_last(agent: AgentProcess) -> None:
    agent.run("exec >/dev/null 2>&1; echo gone")
    result = agent.run("echo back; echo err >&2")
    assert agent.data(result["id"]) == b"back\n"
    assert agent.data(result["id"], "stderr") == b"err\n"


def test_descriptors_of_a_child(agent: AgentProcess) -> None:
    assert agent.output("ls /proc/self/fd | tr '\\n' ' '") == "0 1 2 3 "
