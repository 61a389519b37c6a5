"""What a user gets of each kind of account, for docs/hosts.md: run this file with --update to measure it anew.

One run for each kind of host, over an sshd with an account for each login shell and start-up file. Each account has a check
as itself and one as root by sudo, doas and su.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as tests/conftest.py does, for this file as a program

from cli_runner import CommandLine
from matrix_host import KINDS, PASSWORD, Account, MatrixHost, accounts

__all__ = ["Cells", "measure", "read_page", "table"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "hosts.md"
BEGIN, END = "<!-- matrix -->\n", "<!-- matrix: end -->\n"
METHODS = ("sudo", "doas", "su")
PLAY = "- hosts: all\n  checks:\n    - {id: login, run: 'true'}\n" + "".join(
    f"    - {{id: {method}, run: 'test \"$(id -un)\" = root', become: true, become_method: {method}}}\n"
    for method in METHODS
)

Cells = dict[Account, tuple[str, ...]]
"""Of each account what a user gets: words, and messages as `class: text`."""


class _Client(CommandLine):
    def env(self) -> dict[str, str]:
        return super().env() | {"CHECKRUNNER_BECOME_PASSWORD": PASSWORD}


def measure(kind: str) -> Cells:
    """One run against all accounts of a host of that kind. Fails if it leaves anything there."""
    with tempfile.TemporaryDirectory(prefix="matrix-", ignore_cleanup_errors=True) as folder:
        client = Path(folder) / "client"
        with MatrixHost(Path(folder) / "host", KINDS[kind]) as host:
            client.mkdir()
            # (Few at a time: who is started beside forty others may take so long that its input counts as lost.)
            outcome = _Client(folder=client, sshd=host).run(PLAY, "--forks", 10)
            assert outcome.code == 3, outcome.stdout + outcome.stderr
            report = {**outcome.report, "warnings": outcome.warnings}
            host.assert_clean()
    return {account: _cell(account.name, report) for account in accounts()}


def _cell(host: str, report: Mapping[str, Any]) -> tuple[str, ...]:
    for group in report["incomplete"]:
        if host in _hosts(group["hosts"], group.get("host_count", 1)):
            return (_message(f"{group['state']}: {group['reason'].rstrip('.')}. {group['hint']}"),)
    failed = {
        finding["check"]: _message(finding["reasons"][0]["message"])
        for finding in report["findings"]
        if host in _hosts(finding["hosts"], finding.get("host_count", 1))
    }
    assert "login" not in failed, report
    notes = [warning.split(": ")[1] for warning in report["warnings"] if host in _hosts(warning.partition(": ")[0])]
    missing = [f"not {method}: {failed[method]}" for method in METHODS if method in failed]
    return ("all" if not missing else "reached", *sorted(notes), *missing)


def _hosts(text: str, count: int = 0) -> list[str]:
    names = text.split(",")
    assert count in (0, len(names)), f"host names were folded: {text}"
    return names


def _message(text: str) -> str:
    """Without what differs from run to run, with the agent's size, or with the account."""
    for account in accounts():
        text = re.sub(rf"(?<![\w-]){account.name}(?![\w-])", "NAME", text)
    return re.sub(r"\b\d{4,6}: ", "N: ", text.replace("<host>", "NAME")).replace("|", "\\|")


# ---- the page


def table(measured: Mapping[str, Cells]) -> str:
    """Both tables: who gets in, and what the numbers stand for."""
    numbers: dict[str, int] = {}
    lines = [f"| login shell | its start-up file | {' | '.join(measured)} |", "|---|---|" + "---|" * len(measured)]
    for shell, files, cells in _merged(measured):
        shown = [_shown(cell, numbers) for cell in cells]
        lines.append(f"| {shell} | {', '.join(files)} | {' | '.join(shown)} |")
    lines += ["", "| | what the report says |", "|---|---|", *(f"| {n} | {text} |" for text, n in numbers.items())]
    return "\n".join(lines) + "\n"


def _merged(measured: Mapping[str, Cells]) -> Iterator[tuple[str, list[str], list[tuple[str, ...]]]]:
    """Rows; neighbours of one shell that say the same are one."""
    rows: list[tuple[str, list[str], list[tuple[str, ...]]]] = []
    for account in accounts():
        cells = [measured[kind][account] for kind in measured]
        if rows and rows[-1][0] == account.shell and rows[-1][2] == cells:
            rows[-1][1].append(account.file)
        else:
            rows.append((account.shell, [account.file], cells))
    yield from rows


def _shown(cell: tuple[str, ...], numbers: dict[str, int]) -> str:
    out = []
    for words in cell:
        name, colon, text = words.partition(": ")
        if not colon:
            out.append(f"**{words}**" if words in ("all", "reached") else f"`{words}`")
            continue
        label, text = (name, text) if name.startswith("not ") else (f"`{name}`", words)
        out.append(f"{label} ({numbers.setdefault(text, len(numbers) + 1)})")
    return ", ".join(out)


def read_page() -> dict[str, dict[tuple[str, str], tuple[str, ...]]]:
    """What the page says, by kind of host and then by (login shell, file): as `measure`, but by names."""
    body = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    rows = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in body.splitlines() if line.startswith("| ")]
    split = next(number for number, row in enumerate(rows) if row[-1] == "what the report says")
    texts = {row[0]: row[1] for row in rows[split + 1 :]}
    out: dict[str, dict[tuple[str, str], tuple[str, ...]]] = {kind: {} for kind in rows[0][2:]}
    for shell, files, *cells in rows[1:split]:
        for kind, cell in zip(out, cells, strict=True):
            for file in files.split(", "):
                out[kind][shell, file] = tuple(_read(words, texts) for words in cell.split(", "))
    return out


def _read(words: str, texts: Mapping[str, str]) -> str:
    found = re.fullmatch(r"(.+) \((\d+)\)", words)
    if found is None:
        return words.strip("*`")
    name, text = found[1], texts[found[2]]
    return f"{name}: {text}" if name.startswith("not ") else text


def main() -> int:
    if sys.argv[1:] != ["--update"]:
        sys.stderr.write("usage: hosts_matrix.py --update\n")
        return 64
    begin, mark, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    end = rest.partition(END)[2]
    PAGE.write_text(begin + mark + table({kind: measure(kind) for kind in KINDS}) + END + end, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
