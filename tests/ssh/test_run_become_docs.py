"""docs/become.md: its example runs, and its table has every class of failure."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from become_host import LOGIN, OTHER, PASSWORD, BecomeHost, why_not
from cli_runner import ROOT, CommandLine

from checkrunner.model.errors import BecomeFailure

PAGE = (ROOT / "docs" / "become.md").read_text(encoding="utf-8")
_WHY_NOT = why_not()


def part(pattern: str) -> str:
    found = re.search(pattern, PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def test_the_table_has_every_class() -> None:
    assert re.findall(r"^\| `(become_\w+)` \| [^-]", part(r"\| reason \|(.*)"), re.MULTILINE) == list(BecomeFailure)


@pytest.mark.skipif(bool(_WHY_NOT), reason=_WHY_NOT or "-")
def test_the_example_runs() -> None:
    playbook = part(r"<!-- words become -->\n```yaml\n(.*?)```\n<!-- /words become -->").replace("postgres", OTHER)
    sudoers = part(r"In sudoers:\n\n((?:    [^\n]*\n)+)").replace("ops", LOGIN).replace("postgres", OTHER)
    with tempfile.TemporaryDirectory(prefix="become-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with BecomeHost(
            folder / "host", sudoers=sudoers.replace("/usr/sbin/dmidecode", "/etc/stubs/dmidecode")
        ) as sshd:
            (folder / "client").mkdir()
            cli = CommandLine(folder=folder / "client", sshd=sshd)
            stubs = folder / "host" / "etc" / "stubs"
            stubs.mkdir(mode=0o755)
            for program, says in (
                ("psql", "[ $(id -un) = keeper ] && echo 1"),
                ("dmidecode", '[ "$(id -u)" = 0 ] && echo X1'),
            ):
                (stubs / program).write_text(f"#!/bin/sh\n{says}\n")
                (stubs / program).chmod(0o755)
            playbook = playbook.replace("psql", "/etc/stubs/psql").replace("[dmidecode", "[/etc/stubs/dmidecode")
            env = cli.env() | {"CHECKRUNNER_BECOME_PASSWORD": PASSWORD}
            cli.env = lambda: env  # type: ignore[method-assign]  # one more variable
            outcome = cli.run(playbook)
            sshd.assert_clean()
    assert outcome.code == 0, [finding["reasons"] for finding in outcome.report["findings"] if "reasons" in finding]
    assert outcome.report["totals"]["verdict"] == {"ok": 4}
