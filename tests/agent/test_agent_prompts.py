"""Questions that commands ask at their terminal: which are answered, by whom, and what is left of the answer."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_process import PART_ID, SOON, AgentProcess, Answer, Times, alive, eventually, few_interpreters
from state_cases import NOBODY, PYTHON

from checkrunner.link.payload import load_part

Start = Callable[..., AgentProcess]
Prompts = list[tuple[str, str]]
Dialogue = tuple[str, Prompts, str]

SECRET = "correct-horse-7261"
KNOWN: Times = (("prompts.UNKNOWN_S", "60.0"),)
"""For questions that will be answered: on a busy machine they may come in pieces with long pauses."""
UNKNOWN: Times = (*SOON, ("prompts.UNKNOWN_S", "0.3"))
"""For questions that will not."""


def answered(agent: AgentProcess, command: str, prompts: Prompts, **options: Any) -> Answer:
    """The result of a command whose questions may be answered; `out` and `err` are what it wrote."""
    options.setdefault("keys", {"input": "answer"})
    result = agent.run(command, prompts=prompts, **options)
    for stream, name in (("stdout", "out"), ("stderr", "err")):
        result[name] = agent.data(result["id"], stream).decode() if stream in result else ""
    return result


def python(text: str) -> str:
    return f"{PYTHON} -c '{text}'"


# --- programs that ask ------------------------------------------------------------------------------------------------

DIALOGUES: dict[str, Dialogue] = {
    "read -p": ("read -p 'Name? ' x; echo $x", [("Name", "bob")], "bob\n"),
    "read -s: a password": ("read -s -p 'Password: ' x; echo $x", [("^Password: $", SECRET)], f"{SECRET}\n"),
    "read from the terminal itself": ("read -p 'Go? ' x </dev/tty; echo $x", [("Go", "yes")], "yes\n"),
    "read -e: a line editor": (
        "read -e -p 'A? ' x; read -e -p 'B? ' y; echo $x $y",
        [("A", "alice"), ("B", "bob")],
        "alice bob\n",
    ),
    "read -n1 takes one key and no more": (
        "read -n1 -p 'Sure? ' x; read -p 'Name? ' y; echo $x $y",
        [("Sure", "y"), ("Name", "bob")],
        "y bob\n",
    ),
    "read -n9 waits for Enter": ("read -n9 -p 'Code? ' x; echo $x", [("Code", "42")], "42\n"),
    "select": ("select x in red blue; do echo $x; break; done", [("#\\?", "2")], "blue\n"),
    "two questions, in another order than their answers": (
        "read -p 'First? ' a; read -s -p 'Second? ' b; echo $a $b",
        [("Second", "2"), ("First", "1")],
        "1 2\n",
    ),
    "the first pattern that is found counts": (
        "read -p 'Name? ' x; echo $x",
        [("Nome", "1"), ("N.me", "2"), ("N[a]me", "3")],
        "2\n",
    ),
    "just Enter, for what is proposed": (
        "read -p 'Do you want to continue? [Y/n] ' x; echo ${x:-Y}",
        [(r"continue\? \[Y/n\]", "")],
        "Y\n",
    ),
    "a line that is ended before the answer": (
        "echo 'Type yes:'; read x; echo $x",
        [("yes", "yes")],
        "Type yes:\nyes\n",
    ),
    "some lines before it, and a bell": (
        r"printf '\n\nAbout to go on.\n\a\033[1mReally?\033[0m ' >/dev/tty; read x; echo $x",
        [(r"^Really\? $", "yes")],
        "yes\n",
    ),
    "a question in pieces": (
        "for x in Pass word ' for' ' root: '; do printf %s \"$x\" >/dev/tty; sleep 0.2; done; read x; echo $x",
        [("^Password for root: $", "yes"), (".", "no")],
        "yes\n",
    ),
    "in pieces, while its reader waits already": (
        "for x in Are you 'sure? '; do printf ' %s' \"$x\" >/dev/tty; sleep 0.06; done | { read x </dev/tty; echo $x; }",
        [(r"you sure\?", "yes")],
        "yes\n",
    ),
    "output that is redirected": (
        "{ printf 'Sure? ' >/dev/tty; read x </dev/tty; echo $x >&5; } 5>&1 >/dev/null 2>&1",
        [("Sure", "yes")],
        "yes\n",
    ),
    "the last part of a pipeline": ("true | { read -p 'Sure? ' x </dev/tty; echo $x; }", [("Sure", "yes")], "yes\n"),
    "four shells deep": (
        'bash -c \'bash -c "bash -c \\"read -p Sure? x; echo \\\\\\$x\\"; :"; :\'',
        [("Sure", "yes")],
        "yes\n",
    ),
    "a terminal inside the terminal": (
        "script -qec 'read -p \"Sure? \" x; echo $x >&5' /dev/null 5>&1 >/dev/tty",
        [("Sure", "yes")],
        "yes\n",
    ),
    "cat, where a line that is printed is the question": (
        "echo 'Text, please'; head -1; echo end",
        [("^Text", "some text")],
        "Text, please\nsome text\nend\n",
    ),
    "Python's input()": (
        python('print(input("Name? "), input("Age? "))'),
        [("Name", "b"), ("Age", "7")],
        "Name? Age? b 7\n",
    ),
    "Python's getpass, as passwd asks": (
        python('from getpass import getpass as g; print(g("New password: ") == g("Retype new password: ") != "")'),
        [("New password", SECRET), ("Retype", SECRET)],
        "True\n",
    ),
    "rm -i": ("f=$(mktemp); rm -i $f; [[ -e $f ]] || echo gone", [("^rm: remove", "y")], "gone\n"),
    "cp -i": ("f=$(mktemp); echo 1 | tee $f >$f.2; cp -i $f $f.2; rm $f $f.2", [("overwrite", "n")], ""),
    "ssh-keygen, which would overwrite": (
        "d=$(mktemp -d); for i in 1 2; do ssh-keygen -q -t ed25519 -N '' -f $d/k >/dev/tty; done; ls $d; rm -r $d",
        [("^Overwrite", "y")],
        "k\nk.pub\n",
    ),
    "ssh-keygen, which wants a passphrase": (
        f"d=$(mktemp -d); ssh-keygen -t ed25519 -f $d/k >/dev/tty; ssh-keygen -y -f $d/k -P {SECRET} | wc -l; rm -r $d",
        [("^Enter passphrase", SECRET), ("passphrase again", SECRET)],
        "1\n",
    ),
    "openssl, which verifies a passphrase": (
        "openssl genpkey -algorithm ed25519 -aes-128-cbc 2>&1 | grep -c 'BEGIN ENCRYPTED'",
        [("^Enter", SECRET), ("^Verifying", SECRET)],
        "1\n",
    ),
    "an answer in another script": ("read -p '¿Cómo? ' x; echo $x", [("C.mo", "größer ✓")], "größer ✓\n"),
    "an answer with everything that a shell would read": (
        "read -r -p 'Q? ' x; printf '%s\n' \"$x\"",
        [("Q", "a'b\"c $(id) `id` \\ * \t;")],
        "a'b\"c $(id) `id` \\ * \t;\n",
    ),
    "the longest answer": ("read -p 'Q? ' x; echo ${#x}", [("Q", "x" * 4094)], "4094\n"),
}


NOT_ASKED = (".", "Nome", "N[a]me")


@pytest.mark.parametrize("name", DIALOGUES)
def test_a_question_is_answered(start_agent: Start, name: str) -> None:
    agent = start_agent(times=KNOWN)
    command, prompts, expected = DIALOGUES[name]
    for tool in ("script", "ssh-keygen", "openssl"):
        if tool in command and shutil.which(tool) is None:
            pytest.skip(f"needs {tool}")
    result = answered(agent, command, prompts)
    assert (result["execution"], result["out"]) == ("done", expected), result
    assert result["answered"] == len(prompts) - len([match for match, _ in prompts if match in NOT_ASKED])
    assert "prompt" not in result
    assert "state" not in result


@pytest.fixture
def nobodys_agent(start_agent: Start) -> AgentProcess:
    if os.getuid() or shutil.which("setpriv") is None:
        pytest.skip("needs root and setpriv")
    return start_agent(python=PYTHON, prefix=NOBODY)


def test_su_asks_for_a_password(nobodys_agent: AgentProcess) -> None:
    if shutil.which("su") is None:
        pytest.skip("needs su")
    result = answered(nobodys_agent, "su -c true root", [("^Password: $", SECRET)])
    assert (result["execution"], result["rc"], result["answered"]) == ("done", 1, 1)
    assert SECRET not in json.dumps(result)


def test_sudo_asks_again_and_is_not_answered_again(nobodys_agent: AgentProcess) -> None:
    if shutil.which("sudo") is None:
        pytest.skip("needs sudo")
    result = answered(nobodys_agent, "LC_ALL=C sudo -k; LC_ALL=C sudo true", [("password for", SECRET)])
    assert (result["execution"], result["answered"]) == ("waiting_input", 1)
    assert "password for nobody" in result["prompt"]
    assert SECRET not in json.dumps(result)


@pytest.mark.parametrize("python_path", few_interpreters())
def test_every_interpreter_answers(start_agent: Start, python_path: str) -> None:
    agent = start_agent(python=python_path, times=KNOWN)
    ask = "read -p 'Name? ' x; read -s -p 'Password: ' y; echo $x $y"
    assert answered(agent, ask, [("Name", "bob"), ("^Pass", "pw")])["out"] == "bob pw\n"
    ident = agent.start(ask, prompts=[("Name", "bob")], keys={"input": "ask"})
    assert next_prompt(agent, ident) == {"t": "prompt", "id": ident, "text": "Password:", "secret": True}
    assert reply(agent, ident, "pw")["t"] == "ok"
    assert agent.wait_for(ident)["answered"] == 2


# --- what is not answered ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "prompt"),
    [
        ("read -p 'Delete all? ' x; echo \"$x\" >got", "Delete all?"),
        ("read -s -p 'PIN: ' x; echo \"$x\" >got", "PIN:"),
        ("cat >got", ""),
        ("read -n1 -p 'Any key ' x; echo \"$x\" >got", "Any key"),
        ("printf 'Really? ' >/dev/tty; read x </dev/tty; echo \"$x\" >got", "Really?"),
        ("printf 'Password: \\n' >/dev/tty; printf 'Delete all? ' >/dev/tty; read x; echo \"$x\" >got", "Delete all?"),
        # The line that matches is not the one that is asked: a terminal's line comes before those of the outputs.
        ("printf 'Password: ' >&2; printf 'Delete all? ' >/dev/tty; read x; echo \"$x\" >got", "Delete all?"),
    ],
)
def test_an_unknown_question_is_never_answered(start_agent: Start, tmp_path: Path, command: str, prompt: str) -> None:
    agent = start_agent(times=UNKNOWN)
    result = answered(agent, command, [("Password", "y"), ("^Overwrite", "y")], cwd=str(tmp_path))
    assert result["execution"] == "waiting_input"
    assert result.get("prompt", "") == prompt
    assert "answered" not in result
    got = tmp_path / "got"
    assert not got.exists() or got.read_bytes() == b""


def test_a_question_that_shows_the_time_is_seen(start_agent: Start) -> None:
    agent = start_agent(times=(*UNKNOWN, ("prompts.CHANGING_S", "0.5")))
    ask = r"while :; do printf '\r%s Password: ' $SECONDS$RANDOM >/dev/tty; sleep 0.02; done & {} kill $!"
    result = answered(agent, ask.replace("{}", "read x;"), [("nothing", "x")])
    assert result["execution"] == "waiting_input"
    result = answered(agent, ask.replace("{}", "read x; echo $x;"), [("Password", "known")])
    assert (result["execution"], result["out"]) == ("done", "known\n")


@pytest.mark.parametrize(
    "asks", ["read -s -p 'Password: ' x", "read -s -p 'Password: ' x; echo", "bash -c 'read -p Password:'"]
)
def test_a_question_that_comes_again_is_not_answered_again(start_agent: Start, asks: str) -> None:
    agent = start_agent(times=(("prompts.UNKNOWN_S", "0.5"),))
    result = answered(agent, f"for i in 1 2 3; do {asks}; echo $i; done", [("Password:", SECRET)])
    assert (result["execution"], result["answered"], result["out"].split()) == ("waiting_input", 1, ["1"])
    assert result["prompt"] == "Password:"
    assert answered(agent, f"{asks}; echo ok", [("Password:", SECRET)])["answered"] == 1, "another command"


def test_questions_that_take_turns_are_all_answered(agent: AgentProcess) -> None:
    ask = 'for i in {1..9}; do read -p "Value $i? " x; n+=$x; done; echo $n'
    result = answered(agent, ask, [(r"Value \d+", "7")])
    assert (result["out"], result["answered"]) == ("777777777\n", 9)


def test_without_leave_nothing_is_answered(soon_agent: AgentProcess) -> None:
    agent = soon_agent
    for keys in ({}, {"input": "fail"}, {"stdin": "tty"}):
        result = answered(agent, "read -p 'Name? ' x </dev/tty", [("Name", "x")] if keys else [], keys=keys)
        assert (result["execution"], result["prompt"]) == ("waiting_input", "Name?")
        assert "answered" not in result
    assert "prompts" not in agent.needs


def test_one_that_reads_in_the_background_is_not_answered(agent: AgentProcess) -> None:
    result = answered(agent, "printf 'Name? ' >/dev/tty; cat & sleep 1.2; kill %1; wait", [("Name", "x")])
    assert (result["execution"], result.get("answered", 0), result["out"]) == ("done", 0, "")


def test_a_question_with_a_time_limit_that_nobody_waits_for_goes_on(agent: AgentProcess) -> None:
    result = answered(agent, "read -t 1.5 -p 'Name? ' x; echo $?", [("Nothing", "x")])
    assert (result["execution"], result["out"]) == ("done", "142\n")


# --- standard input ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "prompts", "terminal"),
    [
        ({}, [], False),
        ({"stdin": "null"}, [], False),
        ({"stdin": "tty"}, [], True),
        ({"input": "answer"}, [], False),
        ({"input": "answer"}, [("x", "y")], True),
        ({"input": "ask"}, [], True),
        ({"input": "ask", "stdin": "null"}, [], False),
        ({"input": "ask", "stdin": "tty"}, [], True),
    ],
)
def test_what_standard_input_is(agent: AgentProcess, keys: dict[str, str], prompts: Prompts, terminal: bool) -> None:
    command = "tty || readlink /proc/self/fd/0; [[ -t 1 || -t 2 ]]; echo $?"
    result = answered(agent, command, prompts, keys=keys)
    name, outputs = result["out"].splitlines()[-2:]
    assert name.startswith("/dev/pts/") if terminal else name == "/dev/null"
    assert outputs == "1", "outputs are captured as ever"


def test_what_was_read_stays_in_the_session(agent: AgentProcess) -> None:
    answered(agent, "read -p 'Name? ' name; cd /", [("Name", "bob")])
    assert agent.output("echo $name $PWD") == "bob /\n"


# --- the client is asked ----------------------------------------------------------------------------------------------


def next_prompt(agent: AgentProcess, ident: int) -> Answer:
    """The next question of the run."""
    while True:
        answer = agent.read()
        if answer["t"] != "running":
            assert (answer["t"], answer["id"]) == ("prompt", ident), answer
            return answer


def reply(agent: AgentProcess, of: int, text: str | None, **keys: object) -> Answer:
    sections = {} if text is None else {"text": text.encode()}
    return agent.wait_for(agent.ask("answer", {"of": of, **keys}, sections))


def test_a_question_is_asked_and_answered(agent: AgentProcess) -> None:
    ident = agent.start("read -p 'Name? ' x; read -s -p 'PIN: ' y; echo $x $y", keys={"input": "ask"})
    assert next_prompt(agent, ident) == {"t": "prompt", "id": ident, "text": "Name?", "secret": False}
    assert reply(agent, ident, "bob")["t"] == "ok"
    assert next_prompt(agent, ident) == {"t": "prompt", "id": ident, "text": "PIN:", "secret": True}
    assert reply(agent, ident, "1234")["t"] == "ok"
    result = agent.wait_for(ident)
    assert (result["execution"], result["answered"]) == ("done", 2)
    assert agent.data(ident) == b"bob 1234\n"


def test_known_answers_are_not_asked_for(agent: AgentProcess) -> None:
    ask = "read -p 'A? ' a; read -p 'B? ' b; read -p 'C? ' c; echo $a $b $c"
    ident = agent.start(ask, keys={"input": "ask"}, prompts=[("A", "1"), ("C", "3")])
    assert next_prompt(agent, ident)["text"] == "B?"
    assert reply(agent, ident, "2")["t"] == "ok"
    assert (agent.wait_for(ident)["answered"], agent.data(ident)) == (3, b"1 2 3\n")


def test_a_refused_question_ends_its_command(agent: AgentProcess) -> None:
    ident = agent.start("read -p 'Name? ' x; echo $x", keys={"input": "ask"})
    next_prompt(agent, ident)
    assert reply(agent, ident, None, refuse=1)["t"] == "ok"
    result = agent.wait_for(ident)
    assert (result["execution"], result["prompt"]) == ("waiting_input", "Name?")
    assert "answered" not in result
    assert agent.output("echo next") == "next\n"


def test_a_question_that_nobody_answers_waits_for_its_time(agent: AgentProcess) -> None:
    answer: Answer = {}
    ident, timeout_s = 0, 0.0
    for timeout_s in (1.5, 15):
        ident = agent.start("read -p 'Name? ' x", keys={"input": "ask"}, timeout_s=timeout_s)
        while (answer := agent.read())["t"] == "running":
            pass
        if answer["t"] == "prompt":  # else the machine was too busy for it to be seen in so short a time
            break
    assert (answer["t"], answer["id"]) == ("prompt", ident)
    result = agent.wait_for(ident)
    assert (result["execution"], result["prompt"]) == ("timed_out", "Name?")
    assert result["seen"]["kind"] == "waiting_input"
    assert result["elapsed_s"] >= timeout_s


def test_a_cancelled_question(agent: AgentProcess) -> None:
    ident = agent.start("read -p 'Name? ' x", keys={"input": "ask"})
    next_prompt(agent, ident)
    done = agent.ask("cancel")
    assert agent.wait_for(ident)["execution"] == "killed"
    assert agent.wait_for(done)["t"] == "ok"
    assert reply(agent, ident, "late")["kind"] == "no_such_run"


def test_answers_that_nobody_waits_for(agent: AgentProcess) -> None:
    assert reply(agent, 77, "x")["message"] == "unknown verb 'answer'", "nobody has been asked yet"
    ident = agent.start("read -p 'Name? ' x; echo $x; sleep 0.3", keys={"input": "ask"})
    next_prompt(agent, ident)
    assert reply(agent, 77, "x")["kind"] == "no_such_run"
    for text in ("two\nlines", "two\rlines", "\x03", "\x1b[A", "x" * 4095):
        assert reply(agent, ident, text)["kind"] == "bad_request"
    assert reply(agent, ident, None)["kind"] == "bad_request"
    assert reply(agent, ident, "x", refuse=1)["kind"] == "bad_request"
    assert reply(agent, ident, "x", what=1)["kind"] == "bad_request"
    assert reply(agent, ident, "bob")["t"] == "ok", "a mistake does not end the question"
    assert reply(agent, ident, "bob")["kind"] == "no_such_run", "one question, one answer"
    assert agent.wait_for(ident)["answered"] == 1
    assert reply(agent, ident, "late")["kind"] == "no_such_run"
    assert agent.data(ident) == b"bob\n"


def test_an_answer_to_a_question_that_is_not_asked_any_more_is_not_typed(agent: AgentProcess, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    ask = f"bash -c 'echo $$ $PPID >{pid}; read -p \"Name? \" x'; read -p 'Delete all? ' y; echo \"$y\""
    ident = agent.start(ask, keys={"input": "ask"}, prompts=[("known", "x")])
    assert next_prompt(agent, ident)["text"] == "Name?"
    first, shell = map(int, pid.read_text().split())
    # The answer and the new question come to the agent in the same moment, and it reads the answer first.
    agent.process.send_signal(signal.SIGSTOP)
    os.kill(first, signal.SIGKILL)
    assert eventually(lambda: not alive(first) and reads_terminal(shell))
    late = agent.ask("answer", {"of": ident}, {"text": b"bob"})
    agent.process.send_signal(signal.SIGCONT)
    assert agent.wait_for(late)["kind"] == "no_such_run"
    assert next_prompt(agent, ident)["text"] == "Delete all?"
    assert reply(agent, ident, "no")["t"] == "ok"
    assert agent.wait_for(ident)["answered"] == 1
    assert agent.data(ident) == b"no\n"


def reads_terminal(pid: int) -> bool:
    words = Path(f"/proc/{pid}/syscall").read_text().split()
    return words[:2] == ["0" if os.uname().machine == "x86_64" else "63", "0x0"]


def test_a_known_answer_is_given_while_the_client_thinks_about_another(agent: AgentProcess, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    ask = f"bash -c 'echo $$ >{pid}; read -p \"Name? \" x'; read -p 'Known? ' y; echo \"$y\""
    ident = agent.start(ask, keys={"input": "ask"}, prompts=[("Known", "yes")])
    next_prompt(agent, ident)
    os.kill(int(pid.read_text()), signal.SIGKILL)
    assert agent.wait_for(ident)["answered"] == 1
    assert agent.data(ident) == b"yes\n"


# --- what is left of an answer ----------------------------------------------------------------------------------------


def places(agent: AgentProcess) -> Iterator[tuple[str, bytes]]:
    """What others on the host could see of a command."""
    for name in ("environ", "cmdline", "comm", "stat", "wchan"):
        for path in Path("/proc").glob(f"[0-9]*/{name}"):
            try:
                yield str(path), path.read_bytes()
            except OSError:
                continue
    for path in agent.directory.rglob("*"):
        if path.is_file():
            yield str(path), path.read_bytes()


def keep_reading(agent: AgentProcess, condition: Callable[[], bool]) -> list[Answer]:
    """What the agent says until the condition comes true."""
    said: list[Answer] = []
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        with contextlib.suppress(TimeoutError):
            said.append(agent.read(0.05))
    agent.kept += [answer for answer in said if answer["t"] != "running"]
    return said


@pytest.mark.parametrize(
    "ask",
    [
        "read -s -p 'Password: ' x",
        "read -p 'Password: ' x",
        "read -e -p 'Password: ' x",
        "read -n 30 -p 'Password: ' x",
        "printf 'Password: ' >/dev/tty; head -1 >/dev/null",
        python('import getpass; getpass.getpass("Password: ")'),
    ],
)
def test_an_answer_is_found_nowhere(agent: AgentProcess, tmp_path: Path, ask: str) -> None:
    secret = f"s3cr3t-{os.getpid()}-{time.monotonic_ns()}"
    ready = tmp_path / "ready"
    # Behind the answer a question without a text of its own: what the terminal shows is the echo at most.
    ident = agent.start(f"{ask}; touch {ready}; read -s y", prompts=[("Password", secret)], keys={"input": "answer"})
    said = keep_reading(agent, ready.exists)
    found = [place for place, data in places(agent) if secret.encode() in data]
    result = agent.wait_for(ident)
    echoed = ["read -e"] if "read -e" in ask else []  # the line editor writes it to stderr, as it must
    if not echoed:
        found += [place for place, data in places(agent) if secret.encode() in data]
        assert secret not in "".join(agent.data(ident, stream).decode() for stream in ("stdout", "stderr"))
    assert found == []
    assert (result["execution"], result["answered"]) == ("waiting_input", 1)
    assert secret not in json.dumps(result)
    assert secret not in json.dumps(said)


# --- the terminal afterwards ------------------------------------------------------------------------------------------

FLAGS = "stty -a </dev/tty"
LEFT = [
    ("a command that ends", "sleep 0.1", "done"),
    ("a command that is ended", "sleep 600", "killed"),
]


@pytest.mark.parametrize(("what", "rest", "execution"), LEFT, ids=[what for what, _, _ in LEFT])
@pytest.mark.parametrize("mode", ["", "stty raw -echo; ", "stty -icanon; "], ids=["cooked", "raw", "keys"])
def test_an_answer_that_was_not_read_is_nobodys(
    start_agent: Start, tmp_path: Path, what: str, rest: str, execution: str, mode: str
) -> None:
    agent = start_agent(times=KNOWN)
    up = tmp_path / "up"
    before = agent.output(FLAGS)
    poll = python("import select; print(select.select([0], [], []) != 0)")
    ask = f"{mode}printf 'Sure? ' >/dev/tty; {poll}; : >{up}; {rest}"
    ident = agent.start(ask, prompts=[("Sure", "leftover")], keys={"input": "answer"})
    keep_reading(agent, up.exists)
    result = agent.wait_for(ident) if execution == "done" else agent.cancelled(ident)
    assert (result["execution"], result["answered"], agent.data(ident)) == (execution, 1, b"True\n")
    assert agent.output(FLAGS) == before
    result = answered(agent, 'read -t 0.3 x; echo "$? [$x]"', [], keys={"stdin": "tty"})
    assert result["out"] == "142 []\n"


@pytest.mark.parametrize("change", ["stty raw -echo", "stty -echo", "stty -icanon -isig -opost", "stty intr x"])
@pytest.mark.parametrize("keys", [{"input": "answer"}, {"stdin": "tty"}, {"input": "ask", "stdin": "null"}], ids=str)
def test_the_terminal_is_as_it_was(agent: AgentProcess, change: str, keys: dict[str, str]) -> None:
    before = agent.output(FLAGS)
    assert answered(agent, f"{change} </dev/tty; {FLAGS}", [], keys=keys)["out"] != before
    assert agent.output(FLAGS) == before


# --- requests ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "sections"),
    [
        ({"input": "maybe"}, {}),
        ({"stdin": "file"}, {}),
        ({"input": "answer"}, {"prompt.0.match": b"x"}),
        ({"input": "answer"}, {"prompt.0.answer": b"x"}),
        ({"input": "answer"}, {"prompt.0.match": b"x", "prompt.1.answer": b"x"}),
        ({"input": "answer"}, {"prompt.0.matches": b"x", "prompt.0.answer": b"x", "prompt.0.match": b"x"}),
        ({"input": "answer"}, {"prompt.match": b"x"}),
        ({"input": "answer"}, {"prompt.0.match": b"(", "prompt.0.answer": b"x"}),
        ({"input": "answer"}, {"prompt.0.match": b"x", "prompt.0.answer": b"a\0b"}),
    ],
)
def test_a_request_that_cannot_be_meant_is_refused(
    agent: AgentProcess, keys: dict[str, object], sections: dict[str, bytes]
) -> None:
    ident = agent.ask("run", {"session": "main", **keys}, {"command": b"echo ran", **sections})
    answer = agent.wait_for(ident)
    assert (answer["t"], answer["kind"]) == ("error", "bad_request")
    assert agent.output("echo next") == "next\n"


@pytest.mark.parametrize("answer", ["two\nlines", "two\rlines", "\x03", "\x7f", "x" * 4095])
def test_what_is_not_one_line_is_never_typed(start_agent: Start, answer: str) -> None:
    agent = start_agent(times=UNKNOWN)
    result = answered(agent, "read -p 'Name? ' x; echo $x", [("Name", answer)])
    assert (result["execution"], result["out"]) == ("waiting_input", "")
    assert "answered" not in result


def test_a_pattern_without_end_holds_up_nobody(agent: AgentProcess) -> None:
    ask = f"printf '%s' {'a' * 60} >/dev/tty; read x"
    ident = agent.start(ask, prompts=[("(a+)+$b", "x")], keys={"input": "answer"})
    assert agent.output("echo other", session="other") == "other\n"
    assert ident not in [answer.get("id") for answer in agent.kept]
    result = agent.wait_for(ident)
    assert result["execution"] == "waiting_input"
    assert "answered" not in result


# --- time and parts ---------------------------------------------------------------------------------------------------


def test_a_known_answer_is_given_before_anything_else_would_be_looked_at(start_agent: Start) -> None:
    agent = start_agent(times=(*KNOWN, ("agent.QUIET_S", "600.0")))
    assert answered(agent, "read -p 'Name? ' x", [("Name", "bob")])["answered"] == 1


def test_the_code_for_it_is_fetched_by_the_first_command_that_may_be_answered(agent: AgentProcess) -> None:
    agent.run("true")
    assert agent.needs == []
    answered(agent, "true", [("x", "y")])
    answered(agent, "true", [("x", "y")])
    assert sorted(set(agent.needs) - {"endings"}) == ["prompts", "states"]
    assert len(agent.needs) == len(set(agent.needs)), "each once"


def test_without_that_code_commands_run_and_are_ended(agent: AgentProcess) -> None:
    agent.withheld = {"prompts", "states"}
    assert answered(agent, "echo fine", [("x", "y")])["out"] == "fine\n"
    result = answered(agent, "read -p 'x? ' x; echo $x", [("x", "y")], timeout_s=0.8)
    assert (result["execution"], result["out"]) == ("timed_out", "")
    agent.send_part("prompts", load_part("prompts"))
    agent.send_part("states", load_part("states"))
    assert answered(agent, "read -p 'x? ' x; echo $x", [("x", "y")])["out"] == "y\n", "late is not never"


def test_a_question_is_seen_though_the_code_for_its_answer_does_not_come(start_agent: Start) -> None:
    agent = start_agent(times=(("states.BOOT_S", "2.0"),))
    agent.withheld = {"prompts"}
    result = answered(agent, "read -p 'x? ' x; echo $x", [("x", "y")])
    assert (result["execution"], result["prompt"], result["out"]) == ("waiting_input", "x?", "")


@pytest.mark.parametrize("name", ["prompts", "states", "agent", "../x", "loop"])
def test_a_part_that_was_not_asked_for_is_refused(agent: AgentProcess, name: str) -> None:
    agent.send(f"part {PART_ID - 1} name={name} code:3\nabc".encode())
    answer = agent.wait_for(PART_ID - 1)
    assert (answer["t"], answer["kind"]) == ("error", "bad_request")
    assert agent.output("echo next") == "next\n"


def test_many_sessions_ask_at_once(agent: AgentProcess) -> None:
    idents = [
        agent.start(
            f"read -p 'Name {number}? ' x; read -s -p 'PIN: ' y; echo $x $y",
            session=f"s{number}",
            prompts=[("PIN", f"pin{number}"), (f"Name {number}", f"n{number}")],
            keys={"input": "answer"},
        )
        for number in range(12)
    ]
    for number, ident in enumerate(idents):
        assert agent.wait_for(ident)["answered"] == 2
        assert agent.data(ident) == f"n{number} pin{number}\n".encode()
