from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from checkrunner.run.limits import fit_forks

ROOT = Path(__file__).parents[2]


def limited(soft: int, hard: int, forks: int, hosts: int) -> list[str]:
    """`fit_forks` in a process with these limits: its two answers and the soft limit afterwards."""
    code = (
        "import resource; from checkrunner.run.limits import fit_forks\n"
        f"forks, note = fit_forks({forks}, {hosts})\n"
        "print(forks, resource.getrlimit(resource.RLIMIT_NOFILE)[0], note, sep=chr(10))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)),
    )
    return done.stdout.split("\n")


def test_few_hosts_need_no_look() -> None:
    code = (
        "import sys; from checkrunner.run.limits import fit_forks; fit_forks(1000, 200); print('psutil' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert fit_forks(1000, 200) == (1000, "")
    assert done.stdout == "False\n"


def test_the_limit_is_raised_as_far_as_needed() -> None:
    forks, soft, note, _ = limited(256, 4096, 500, 10_000)

    assert (forks, note) == ("500", "")
    assert 2000 < int(soft) < 2200


def test_a_limit_that_cannot_be_raised_makes_fewer_hosts_and_is_said() -> None:
    forks, soft, note, _ = limited(256, 1024, 500, 10_000)

    assert soft == "1024"
    assert 200 < int(forks) < 256
    assert f"only {forks} hosts" in note
    assert "ulimit -n" in note


@pytest.mark.parametrize(("forks", "hosts"), [(1, 10_000), (200, 10_000)])
def test_small_numbers_of_forks_stay(forks: int, hosts: int) -> None:
    assert fit_forks(forks, hosts) == (forks, "")
