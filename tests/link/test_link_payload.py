"""The start of the agent from every login shell, with real shells and real interpreters."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from checkrunner.link import payload as payload_module
from checkrunner.link.payload import MOST_PACKED, Payload, escape_word, load_payload, pack_payload
from checkrunner.link.wire import STARTING

ROOT = Path(__file__).parents[2]
SHELLS = ["sh", "dash", "bash", "bash --posix", "tcsh", "fish", "busybox sh", "zsh", "ksh", "mksh"]
FUNNY = "wrapper 'with' \"quotes\", $dollars, !bang and ~{}\n"
AGENT = (
    b"""
import os, sys
out = "%s %s %r %s\\n" % (__name__, DIGEST, WRAPPER.decode(), "CHECKRUNNER_AGENT" in os.environ)
os.write(1, out.encode() + os.read(0, 100))
BULK = '"""
    + os.urandom(12_000).hex().encode()
    + b"'\n"
)


def shells() -> list[str]:
    return [shell for shell in SHELLS if shutil.which(shell.split()[0])]


def payload() -> Payload:
    return pack_payload(AGENT, FUNNY.encode())


@pytest.mark.parametrize("shell", shells())
@pytest.mark.parametrize("by_stdin", [False, True])
def test_every_shell_starts_the_agent(shell: str, by_stdin: bool) -> None:
    packed = payload()
    line = packed.stdin_line if by_stdin else packed.exec_line
    head = packed.stdin_head if by_stdin else b""
    done = subprocess.run([*shell.split(), "-c", line], input=head + b"request", capture_output=True)
    expected = f"{STARTING.decode()}\n__main__ {packed.digest} {FUNNY!r} False\nrequest"
    assert (done.stdout.decode(), done.stderr) == (expected, b"")


STARTS = STARTING + b"\n"


def run_line(path: str, line: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run it; its first line, which every start prints, is taken off."""
    done = subprocess.run(["/bin/sh", "-c", line], input=stdin, capture_output=True, env={"PATH": path})
    assert done.stdout.startswith(STARTS), done
    done.stdout = done.stdout.removeprefix(STARTS)
    return done


def fake_python(folder: Path, body: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "python3").write_text(f"#!{body}")
    (folder / "python3").chmod(0o755)


def old_python(folder: Path) -> None:
    """A python3 that says that it is 3.4, and otherwise works."""
    fake_python(
        folder,
        f"""/bin/sh
exec {sys.executable} -c 'import sys; sys.version_info = (3, 4, 10); sys.executable = "{folder}/python3"
sys.argv = sys.argv[3:]
exec(sys.argv[0])' "$@"
""",
    )


@pytest.mark.skipif(not os.path.exists("/usr/bin/python3"), reason="needs a second Python at /usr/bin/python3")
@pytest.mark.parametrize("by_stdin", [False, True])
def test_an_old_python_hands_on_to_the_next(tmp_path: Path, by_stdin: bool) -> None:
    old_python(tmp_path / "bin")
    packed = payload()
    line, head = (packed.stdin_line, packed.stdin_head) if by_stdin else (packed.exec_line, b"")
    done = run_line(f"{tmp_path}/bin:/usr/bin:/bin", line, head + b"request")
    assert done.stdout.decode().startswith(f"__main__ {packed.digest}"), done
    assert done.stdout.endswith(b"False\nrequest")


def test_an_old_python_alone_is_no_interpreter(tmp_path: Path) -> None:
    old_python(tmp_path / "bin")
    nowhere = str(tmp_path / "nothing")
    line = payload().exec_line
    for path in ("/usr/libexec/platform-python", "/usr/bin/python3", "/usr/local/bin/python3"):
        line = line.replace(path, nowhere)
    done = run_line(f"{tmp_path}/bin:/bin", line)
    assert done.returncode == 127
    assert done.stdout.decode() == (
        f"checkrunner-no-interpreter: {tmp_path}/bin/python3 is Python 3.4, 3.6 is needed\n"
    )


def test_no_python_at_all_is_said(tmp_path: Path) -> None:
    line = payload().exec_line
    for path in ("/usr/libexec/platform-python", "/usr/bin/python3", "/usr/local/bin/python3"):
        line = line.replace(path, str(tmp_path / "nothing"))
    done = run_line(str(tmp_path), line)
    assert (done.returncode, done.stdout.split(b" ")[:2]) == (127, [b"checkrunner-no-interpreter:", b"python3"])


def test_a_shim_is_passed_over(tmp_path: Path) -> None:
    fake_python(tmp_path / "shims", "/bin/sh\necho shim: no version is set >&2; exit 127\n")
    packed = payload()
    done = run_line(f"{tmp_path}/shims:/usr/bin:/bin", packed.exec_line, b"request")
    assert done.stdout.decode().startswith(f"__main__ {packed.digest}"), done


def test_the_agent_is_not_among_the_arguments() -> None:
    assert len(payload().exec_line) > 20_000
    agent = (
        b"import os\nos.write(1, open('/proc/self/cmdline', 'rb').read())\n'%s'\n" % os.urandom(10_000).hex().encode()
    )
    done = run_line(os.environ["PATH"], pack_payload(agent, b"").exec_line)
    assert 50 < len(done.stdout) < 400


@pytest.mark.parametrize("text", ["a\nb", "é", "\t"])
def test_what_some_shell_could_not_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="printable ASCII"):
        escape_word(text)


def test_the_payload_of_this_installation_is_packed_once() -> None:
    assert load_payload() is load_payload()
    assert len(load_payload().exec_line) < 100_000, "the kernel takes no single argument of 128 KiB"


def payload_size() -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "PYTHON": sys.executable}
    return subprocess.run([ROOT / "scripts" / "payload-size"], capture_output=True, text=True, env=env)


def test_the_sizes_are_printed() -> None:
    done = payload_size()
    assert "exec request (agent inside)" in done.stdout
    assert f"{load_payload().packed_bytes:>8}  payload, compressed (at most {MOST_PACKED} are allowed)" in done.stdout


@pytest.mark.parametrize(("over", "code"), [(0, 0), (1, 1)])
def test_a_payload_beyond_its_limit_is_a_failure(over: int, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payload_module, "MOST_PACKED", load_payload().packed_bytes - over)
    assert payload_module.main() == code


def test_the_payload_keeps_to_its_limit() -> None:
    assert payload_size().returncode == 0


@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "busybox sh", "tcsh", "fish", "zsh"])
def test_a_shell_that_gets_the_agent_on_its_input_ends_at_once(tmp_path: Path, shell: str) -> None:
    program = shutil.which(shell.split()[0])
    if program is None:
        pytest.skip(f"{shell} is not here")
    text = load_payload().stdin_head + b"touch here\n"
    argv = [program, *shell.split()[1:]]
    subprocess.run(argv, input=text, cwd=tmp_path, capture_output=True, timeout=20, check=False)
    assert list(tmp_path.iterdir()) == []
