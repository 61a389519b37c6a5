"""What gives doas and su a terminal, without either of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TERMINAL = Path(__file__).resolve().parents[2] / "remote" / "terminal.py"
# Asks once as doas does; later, as something that runs behind it may do, again. What is sent meanwhile is not for that.
ASKS_TWICE = """
import os, sys, termios, time
tty = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
def echo(on):
    state = termios.tcgetattr(tty)
    state[3] = state[3] | termios.ECHO if on else state[3] & ~termios.ECHO
    termios.tcsetattr(tty, termios.TCSAFLUSH, state)
echo(False)
word = os.read(tty, 100)
echo(True)
os.write(1, b"ready\\n")
time.sleep(0.7)
echo(False)
time.sleep(1.5)
echo(True)
rest = b""
while data := os.read(0, 100):
    rest += data
os.write(1, word + rest)
"""


def test_only_one_line_is_taken_for_an_answer() -> None:
    argv = [sys.executable, "-IS", str(TERMINAL), "nonce", "tty", sys.executable, "-IS", "-c", ASKS_TWICE]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stderr.readline() == b"nonce-ask\n"
        process.stdin.write(b"secret\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"ready\n"
        out, err = process.communicate(b"one\ntwo\n", timeout=20)

    assert out == b"secret\none\ntwo\n"
    assert err == b"nonce-ask\n", "that it asks again is said all the same"
    assert process.returncode == 0
