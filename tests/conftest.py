"""Fixtures for all tests: a real sshd of the session's own, and a maker for special ones."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

# Test folders are no packages: helpers of theirs are found by name, this folder's too.
sys.path.insert(0, str(Path(__file__).parent))

from sshd import SshdFixture

# How long one example takes says more of the machine's load than of the code; the time limit of each test holds.
hypothesis.settings.register_profile("checkrunner", deadline=None)
hypothesis.settings.load_profile("checkrunner")

# A suite that was started under nohup, or in the background of a script, would hand its ignored signals on to every
# program under test.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Take what collecting has made, some hundred megabytes, out of the collector's sight: tests that let it look for what
    was left over would each wait for half a second."""
    gc.collect()
    gc.freeze()


# What runs leave behind (histories, audit logs, locks) is never put where the developer's own is.
_STATE = tempfile.mkdtemp(prefix="checkrunner-state-")
os.environ["XDG_STATE_HOME"] = _STATE
atexit.register(shutil.rmtree, _STATE, ignore_errors=True)

MakeSshd = Callable[..., SshdFixture]


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshdFixture]:
    """One ordinary sshd for the whole session. Do not change it; use `make_sshd` for one that is yours."""
    with SshdFixture(tmp_path_factory.mktemp("sshd")) as running:
        yield running


@pytest.fixture
def make_sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeSshd]:
    """Starts an sshd of the test's own, ended after it: `make_sshd(options={"MaxSessions": "1"})`."""
    with contextlib.ExitStack() as stack:

        def make(
            *, options: dict[str, str] | None = None, shell: str | None = None, password: str | None = None
        ) -> SshdFixture:
            folder = tmp_path_factory.mktemp("sshd")
            return stack.enter_context(SshdFixture(folder, options=options, shell=shell, password=password))

        yield make
