"""The command line as a fixture."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runner import CommandLine
from sshd import SshdFixture


@pytest.fixture
def cli(tmp_path: Path, sshd: SshdFixture) -> CommandLine:
    """`checkrunner` over the session's sshd, one host."""
    return CommandLine(folder=tmp_path, sshd=sshd)
