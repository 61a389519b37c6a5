"""The command line, called in this process, and as the process of its own that users start.

To start Python and to import everything takes about 0.4 s of a processor: many times what most command lines then do. So
tests call it here, unless they are about the process: signals, pipes, terminals, limits, start-up, what reaches its
children without being told. That both say the same is shown by `tests/cli/test_cli_process.py`.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from unittest import mock

__all__ = ["Done", "call_here", "call_process", "environment"]

ROOT = Path(__file__).parents[1]
Done = subprocess.CompletedProcess[str]


def environment(folder: Path, columns: int = 120) -> dict[str, str]:
    """Nothing of this session's environment but PATH; `folder` is the home. No history is kept unless ``--history`` names
    a file: a run then says the same whatever ran before it."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        "COLUMNS": str(columns),
        "CHECKRUNNER_HISTORY": "none",
    }


def call_here(
    arguments: Sequence[str], *, folder: Path, env: Mapping[str, str] | None = None, stdin: str = "", columns: int = 120
) -> Done:
    """Run one command line in this process: in `folder`, with the environment `env` and nothing else."""
    from checkrunner.cli.main import run_command_line

    env = environment(folder, columns) if env is None else env
    with mock.patch.dict(os.environ, env, clear=True), contextlib.chdir(folder), _streams(stdin) as (out, err):
        code = run_command_line(arguments)
    return Done(arguments, code, _text(out), _text(err))


def call_process(
    arguments: Sequence[str],
    *,
    folder: Path,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
    columns: int = 120,
    timeout_s: float = 50.0,
) -> Done:
    """The same as a process."""
    return subprocess.run(
        [sys.executable, "-m", "checkrunner", *arguments],
        cwd=folder,
        env=environment(folder, columns) if env is None else env,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


@contextlib.contextmanager
def _streams(stdin: str) -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    """Standard output and standard error as long as this holds; what is read then is `stdin`."""
    out, err, given = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(3))
    given.write(stdin)
    given.seek(0)
    with (
        mock.patch.object(sys, "stdin", given),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        yield out, err


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()
