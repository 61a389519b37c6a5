"""Programs of the user's own, run for real."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from checkrunner.load.programs import ProgramError, run_program


def test_a_program_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = f"sh -c 'sh -c \"sleep 300; :\" & echo $! >>{pids}; echo $$ >>{pids}; wait' & echo $! >>{pids}; wait"

    with pytest.raises(ProgramError, match=r"did not end within 1 s"):
        run_program(["/bin/sh", "-c", script], timeout_s=1)

    started = [int(pid) for pid in pids.read_text(encoding="ascii").split()]
    assert len(started) == 3
    end = time.monotonic() + 10
    while any(map(_lives, started)) and time.monotonic() < end:  # a killed process takes a moment to be gone
        time.sleep(0.01)
    assert [pid for pid in started if _lives(pid)] == []


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
