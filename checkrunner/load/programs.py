"""Programs of the user's own that are run to be read: inventory scripts, and programs that print a password."""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

__all__ = ["Output", "ProgramError", "run_program"]

_MOST_BYTES = 64 << 20
_PIECE = 1 << 16
_PAUSE_S = 0.05


class ProgramError(Exception):
    """A program did not give what it was asked for. The message goes on from the program's name; `stderr` is the last
    line that it wrote there. `cannot_start` is true for a file that is no program at all."""

    def __init__(self, message: str, *, hint: str = "", cannot_start: bool = False) -> None:
        super().__init__(message)
        self.message, self.hint, self.cannot_start = message, hint, cannot_start


@dataclass(frozen=True, slots=True)
class Output:
    """What a program wrote before it ended with 0."""

    stdout: bytes
    stderr: bytes


def run_program(argv: Sequence[str], *, timeout_s: float) -> Output:
    """Run a program without a shell, with nothing on its standard input, and wait for its end.

    It may ask on the terminal (``/dev/tty``). Raises ProgramError when it cannot be started, fails, takes longer
    than `timeout_s` or writes more than 64 MiB; it is killed then, with what it has started.
    """
    try:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except (OSError, ValueError) as exc:
        raise _not_started(exc) from exc
    with process:
        try:
            output = _read(process, monotonic() + timeout_s)
        except TimeoutError as exc:
            hint = "The setting `program_timeout` is the time that such a program has."
            raise ProgramError(f"did not end within {timeout_s:g} s", hint=hint) from exc
        finally:
            if process.poll() is None:
                _kill(process)
    if process.returncode:
        raise ProgramError(f"{_ended(process.returncode)}{_last_line(output.stderr)}")
    return output


def _read(process: subprocess.Popen[bytes], deadline: float) -> Output:
    """Both outputs up to the program's end. What it left running in the background and still holds them is not waited
    for."""
    assert process.stdout is not None
    assert process.stderr is not None
    found = {process.stdout: bytearray(), process.stderr: bytearray()}
    with selectors.DefaultSelector() as selector:
        for stream in found:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            ended = process.poll() is not None
            ready = selector.select(_PAUSE_S)
            for key, _ in ready:
                piece = os.read(key.fd, _PIECE)
                found[key.fileobj] += piece  # type: ignore[index]  # it is one of the two
                if not piece:
                    selector.unregister(key.fileobj)
            if sum(map(len, found.values())) > _MOST_BYTES:
                raise ProgramError(f"wrote more than {_MOST_BYTES >> 20} MiB")
            if ended and not ready:
                break
            if monotonic() > deadline:
                raise TimeoutError
    try:
        process.wait(max(deadline - monotonic(), 0))
    except subprocess.TimeoutExpired as exc:
        raise TimeoutError from exc
    return Output(bytes(found[process.stdout]), bytes(found[process.stderr]))


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the program and its children. No process group does that: one of its own could not ask on the terminal."""
    pids = [process.pid]
    for pid in pids:
        with contextlib.suppress(OSError):  # stopped, it starts no further one
            os.kill(pid, signal.SIGSTOP)
        with contextlib.suppress(OSError):  # without /proc the program alone is ended
            pids += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split())
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _not_started(exc: OSError | ValueError) -> ProgramError:
    number = exc.errno if isinstance(exc, OSError) else None
    if number == errno.ENOENT:
        return ProgramError("cannot be started: there is no such program", hint="Look at its path, and at its #! line.")
    if number == errno.EACCES:
        return ProgramError("cannot be started: it may not be executed", hint="Is it missing `chmod +x`?")
    if number == errno.ENOEXEC:
        hint = "Does its first line name an interpreter, as in #!/bin/sh?"
        return ProgramError("cannot be started: it is not a program", hint=hint, cannot_start=True)
    return ProgramError(f"cannot be started: {getattr(exc, 'strerror', None) or exc}")


def _ended(code: int) -> str:
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


def _last_line(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    shown = last if len(last) <= 200 else f"{last[:200]}..."
    return f": {shown}" if shown else ""
