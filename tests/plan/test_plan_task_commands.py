"""Commands of tasks, run by the shells that a session may have."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from checkrunner.model.errors import TemplateError
from checkrunner.model.playbook import Check
from checkrunner.model.sources import Template
from checkrunner.model.tasks import Module, Task
from checkrunner.plan.task_commands import TaskCommand, task_command, task_environment
from checkrunner.plan.texts import Templates
from checkrunner.plan.values import RemoteText

SHELLS = [shell for shell in ("bash", "dash") if shutil.which(shell)]


def made(module: Module, *, names: Mapping[str, Any] | None = None, **args: Any) -> TaskCommand:
    texts = {name: Template(text=value) if isinstance(value, str) else value for name, value in args.items()}
    if module is Module.SCRIPT:
        texts["text"] = args["text"]
    check = Check(id="t", name="t", run=texts.get("cmd"), task=Task(module=module, args=texts))
    return task_command(check, names or {}, Templates())


def run(shell: str, command: TaskCommand, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [shell, "-c", command.text],
        env={"PATH": "/usr/bin:/bin", "HOME": "/root", **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=20,
    )


def argv(*words: str) -> tuple[Template, ...]:
    return tuple(Template(text=word) for word in words)


pytestmark = pytest.mark.parametrize("shell", SHELLS)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("printf '<%s>' a b", "<a><b>"),
        ("printf '<%s>' 'two words' \"it's\" *", "<two words><it's><*>"),
        (
            "printf '<%s>' $LEVEL ${LEVEL}x $NOPE ${NOPE} a$LEVEL",
            "<two  three><two  threex><$NOPE><${NOPE}><atwo  three>",
        ),
        ("printf '<%s>' ~ ~/x x~ ~no-such-user/y", "</root></root/x><x~><~no-such-user/y>"),
        ("printf '<%s>' '$(id)' '`id`' 'a;b' '|' '>' '&'", "<$(id)><`id`><a;b><|><>><&>"),
        ("printf '<%s>' ''", "<>"),
    ],
)
def test_words_of_a_command(shell: str, written: str, words: str) -> None:
    done = run(shell, made(Module.COMMAND, cmd=written), LEVEL="two  three")
    assert (done.stdout, done.stderr, done.returncode) == (words, "", 0)


def test_variables_stay_where_that_is_said(shell: str) -> None:
    done = run(shell, made(Module.COMMAND, cmd="printf %s $HOME", expand_argument_vars=False))
    assert done.stdout == "$HOME"


def test_argv_is_taken_as_it_stands(shell: str) -> None:
    done = run(shell, made(Module.COMMAND, argv=argv("printf", "<%s>", "a b", "", "it's", "\n")))
    assert done.stdout == "<a b><><it's><\n>"


def test_a_command_that_is_no_program_is_not_found(shell: str) -> None:
    done = run(shell, made(Module.COMMAND, cmd="no-such-program -x"))
    assert done.returncode == 2
    assert done.stderr == "[Errno 2] No such file or directory: b'no-such-program'\n"


def test_a_file_that_is_no_program_is_refused(shell: str) -> None:
    done = run(shell, made(Module.COMMAND, cmd="/etc/passwd"))
    assert (done.returncode, done.stderr) == (13, "[Errno 13] Permission denied: b'/etc/passwd'\n")


def test_nothing_of_a_task_is_left_in_the_session(shell: str) -> None:
    command = made(Module.SHELL, cmd="cd /usr; X=1; exit 3", chdir="/bin")
    later = TaskCommand(text=f"{command.text}\necho $? $PWD ${{X-none}}", cmd="")
    done = run(shell, later, PWD="/")
    assert done.stdout.split()[0] == "3"
    assert done.stdout.split()[2] == "none"
    assert done.stdout.split()[1] != "/usr"


def test_a_directory_that_is_not_there(shell: str) -> None:
    done = run(shell, made(Module.SHELL, cmd="echo no", chdir="/no/such"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Unable to change directory before execution.\n"


@pytest.mark.parametrize(
    ("key", "path", "runs"),
    [
        ("creates", "here", False),
        ("creates", "h*e", False),
        ("creates", "he[rx]e", False),
        ("creates", "h[!a-d]re", False),
        ("creates", "two[x ]words", False),
        ("creates", "[$(touch made)]", True),
        ("removes", "[`touch made`;touch made]", False),
        ("creates", "two words", False),
        ("creates", "$WORK/here", False),
        ("creates", "not-here", True),
        ("creates", "n*e", True),
        ("removes", "here", True),
        ("removes", "h?re", True),
        ("removes", "not-here", False),
        ("removes", "n*e", False),
    ],
)
def test_whether_it_is_needed(shell: str, tmp_path: Path, key: str, path: str, runs: bool) -> None:
    for name in ("here", "two words"):
        (tmp_path / name).touch()
    which: dict[str, Any] = {key: path}
    command = made(Module.COMMAND, cmd="echo ran", chdir=str(tmp_path), **which)
    done = run(shell, command, WORK=str(tmp_path))
    why = "exists" if key == "creates" else "does not exist"
    assert done.stdout == ("ran\n" if runs else f"skipped, since {path} {why}\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert command.conditional
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(("more", "got"), [({}, "a\n b'\n"), ({"stdin_add_newline": False}, "a\n b'")])
@pytest.mark.parametrize("module", [Module.SHELL, Module.COMMAND])
def test_its_input(shell: str, module: Module, more: dict[str, Any], got: str) -> None:
    assert run(shell, made(module, cmd="cat -", stdin="a\n b'", **more)).stdout == got
    assert run(shell, made(module, cmd="cat -")).stdout == ""


def test_the_program_that_reads_a_shell_text(shell: str) -> None:
    assert run(shell, made(Module.SHELL, cmd="echo ${BASH_VERSION:+bash}", executable="/bin/bash")).stdout == "bash\n"
    assert run(shell, made(Module.SHELL, cmd="echo $0")).stdout == "/bin/sh\n"
    assert run(shell, made(Module.RAW, cmd="echo 'x'")).stdout == "x\n"


SCRIPT = '#!/bin/sh\nprintf \'<%s>\' "$@"\necho " $(cat | wc -c) it\'s $LEVEL"\nexit 4\n'


def test_a_script_is_read_from_no_file(shell: str, tmp_path: Path) -> None:
    command = made(Module.SCRIPT, cmd="x.sh a 'b c'", text=SCRIPT, rest="a 'b c'", chdir=str(tmp_path))
    done = run(shell, command, LEVEL="high")
    assert (done.stdout, done.stderr, done.returncode) == ("<a><b c> 0 it's high\n", "", 4)
    assert list(tmp_path.iterdir()) == []


def test_a_script_of_any_length(shell: str) -> None:
    text = "#!/bin/sh\n" + "# a line that is long enough to matter for pipes and arguments\n" * 3000 + "echo end\n"
    if len(text) > 120_000:  # longer than an argument may be: it comes to a session on its input
        done = subprocess.run(
            [shell],
            input=made(Module.SCRIPT, text=text, cmd="x", rest="").text,
            capture_output=True,
            text=True,
            timeout=20,
        )
        assert (done.stdout, done.stderr) == ("end\n", "")


@pytest.mark.parametrize(
    ("text", "more", "said"),
    [
        ("#!/usr/bin/env python3\nimport sys\nprint(sys.argv[1:])\n", {}, "['1', '2']\n"),
        ("#!/bin/bash -eu\nfalse\necho no\n", {}, ""),
        ("echo $0 $1\n", {}, "/dev/fd/3 1\n"),
        ("print 'no shebang'\n", {"executable": "python3 -c 'print(7)'"}, "7\n"),
    ],
)
def test_what_runs_a_script(shell: str, text: str, more: dict[str, Any], said: str) -> None:
    assert run(shell, made(Module.SCRIPT, cmd="x 1 2", text=text, rest="1 2", **more)).stdout == said


def test_text_from_a_host_is_one_word(shell: str) -> None:
    names = {"r": {"stdout": RemoteText("a; echo b $(id)")}}
    for module in (Module.SHELL, Module.COMMAND):
        done = run(shell, made(module, cmd="printf '<%s>' {{ r.stdout }} x", names=names))
        assert done.stdout == "<a; echo b $(id)><x>"


@pytest.mark.parametrize(
    ("module", "args"),
    [
        (Module.COMMAND, {"cmd": "echo {{ r.stdout }}"}),
        (Module.COMMAND, {"argv": argv("echo", "{{ r.stdout }}")}),
        (Module.SHELL, {"cmd": "echo {{ r.stdout }}"}),
        (Module.RAW, {"cmd": "echo {{ r.stdout }}"}),
        (Module.SCRIPT, {"text": "", "rest": "{{ r.stdout }}"}),
    ],
)
@pytest.mark.parametrize(
    "later",
    ["echo {{ t.cmd if t.cmd is string else t.cmd[1] }}", 'echo "{{ t.cmd if t.cmd is string else t.cmd[1] }}"'],
)
def test_what_a_result_shows_of_a_command_is_text_in_later_ones(
    shell: str, module: Module, args: dict[str, Any], later: str
) -> None:
    before = made(module, names={"r": {"stdout": RemoteText("$(printf run)")}}, **args)
    done = run(shell, made(Module.SHELL, cmd=later, names={"t": {"cmd": before.cmd}}))
    assert "$(printf run)" in done.stdout, "not what it prints"


def test_a_command_of_the_playbook_alone_can_be_run_again(shell: str) -> None:
    before = made(Module.SHELL, cmd="echo '{{ word }}'", names={"word": "a b"})
    assert run(shell, made(Module.SHELL, cmd="{{ t.cmd }}", names={"t": {"cmd": before.cmd}})).stdout == "a b\n"


def test_what_is_left_out(shell: str) -> None:
    names = {"here": "/usr"}
    left = "{{ nowhere | default(omit) }}"
    command = made(
        Module.SHELL, names=names, cmd="pwd; cat", chdir="{{ here }}", creates=left, stdin=left, executable=left
    )
    assert run(shell, command).stdout == "/usr\n"
    words = made(Module.COMMAND, names=names, argv=argv("printf", "<%s>", left, "{{ here }}"))
    assert run(shell, words).stdout == "</usr>"


def test_words_that_cannot_be_told(shell: str) -> None:
    with pytest.raises(TemplateError, match="cannot be split into words"):
        made(Module.COMMAND, cmd="echo 'a")
    with pytest.raises(TemplateError, match="is empty"):
        made(Module.COMMAND, cmd="{{ nothing }}", names={"nothing": ""})


def test_an_environment_from_variables(shell: str) -> None:
    task = Task(module=Module.SHELL, environment=(Template(text="a"), Template(text="b")))
    found = task_environment(task, {"a": {"X": 1, "Y": "y"}, "b": {"X": "2"}}, Templates())
    assert found == {"X": "2", "Y": "y"}
    with pytest.raises(TemplateError, match="does not come to a mapping"):
        task_environment(task, {"a": "text", "b": {}}, Templates())


@pytest.mark.parametrize("module", [Module.SHELL, Module.RAW])
def test_what_reads_other_quotes_gets_no_text_of_a_host(shell: str, module: Module, tmp_path: Path) -> None:
    names = {
        "a": RemoteText("\\"),
        "b": RemoteText(f", open({str(tmp_path / 'made')!r}, chr(119))) #"),
        "c": RemoteText("ok"),
    }
    with pytest.raises(TemplateError, match="python3 is no shell that is known"):
        made(module, cmd="print({{ a }},{{ b }})", executable="/usr/bin/python3", names=names)
    assert run(shell, made(module, cmd="print('{{ c }}')", executable="/usr/bin/python3", names=names)).stdout == "ok\n"
    assert run(shell, made(module, cmd="echo {{ a }}", executable="/bin/bash", names=names)).stdout == "\\\n"
