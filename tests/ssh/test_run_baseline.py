"""Outputs compared with accepted ones, and silences, over a real sshd."""

from __future__ import annotations

from pathlib import Path

import jsonschema
from cli_runner import CommandLine

from checkrunner.render.schema import report_schema


def test_hosts_that_are_not_as_accepted_are_told_and_silenced(cli: CommandLine, tmp_path: Path) -> None:
    conf = tmp_path / "conf"
    conf.write_text("".join(f"option {number}\n" for number in range(2000)) + "token=abcdefgh1234567890\n")
    (tmp_path / "checkrunner.toml").write_text(f'history = "{tmp_path}/history.db"\naudit_log = "none"\n')
    playbook = f"""
        - hosts: all
          checks:
            - id: conf
              run: cat {conf}; echo "at $(date +%s%N)"
              baseline: {{ignore: '^at [0-9]+$'}}
    """

    first = cli.run(playbook)
    accepted = cli.call_here(cli.argv("baseline", "accept"))
    same = cli.run(playbook)
    conf.write_text(conf.read_text().replace("option 7\n", "option seven\nmore\n").replace("1234567890", "0987654321"))
    changed = cli.run(playbook)
    silenced = cli.call_here(cli.argv("silence", "h*", "conf", "--until", "1h", "--why", "known"))
    quiet = cli.run(playbook)

    assert (first.code, accepted.code, same.code, changed.code, silenced.code, quiet.code) == (3, 0, 0, 2, 0, 0)
    (finding,) = changed.report["findings"]
    assert [reason["message"] for reason in finding["reasons"]][1:] == ["gone: 'option 7'"]
    assert [line[1] for line in finding["slices"][0]["lines"]] == ["option seven", "more"]
    assert finding["slices"][0]["evidence"].endswith("/conf/stdout:8-9")
    assert quiet.report["findings"][0]["silenced"]["why"] == "known"
    for outcome in (changed, quiet):
        jsonschema.validate(outcome.report, report_schema())
    assert b"abcdefgh" not in (tmp_path / "history.db").read_bytes()
    cli.sshd.assert_clean()
