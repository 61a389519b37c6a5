"""Commands that ask, from the playbook to the report, over a real sshd: answers, refusals, a person at a terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_runner import CommandLine, Outcome
from sshd import SshdFixture
from test_run_terminal import Terminal
from untagged import untagged

PAGE = (Path(__file__).parents[2] / "docs" / "sessions.md").read_text(encoding="utf-8")
PASSWORD = "correct-horse"


def part(name: str) -> str:
    found = re.search(rf"<!-- words {name} -->\n```yaml\n(.*?)```\n<!-- /words {name} -->", PAGE, re.DOTALL)
    assert found, f"the page has no part {name!r}"
    return found[1]


def lines(outcome: Outcome, check: str) -> list[str]:
    return [line[1] for piece in outcome.finding(check).get("slices", ()) for line in piece["lines"]]


def test_the_example_of_the_manual(cli: CommandLine) -> None:
    outcome = cli.run(part("prompts"))

    assert outcome.code == 0, outcome.stderr
    assert lines(outcome, "unlock") == ["opened"]
    assert outcome.finding("unlock")["result"]["answered"] == 2
    assert PASSWORD not in outcome.stdout + outcome.stderr


def test_a_question_without_an_answer_ends_the_check_and_is_told(cli: CommandLine) -> None:
    outcome = cli.run(
        """\
        - hosts: all
          checks:
            - {id: other, run: 'read -p "Erase all? " x', prompts: {match: 'Continue', answer: y}}
            - {id: wrong, run: 'until [ "$x" = right ]; do read -rsp "PIN: " x </dev/tty; done',
               prompts: {match: '^PIN', answer: wrong-one}}
            - {id: nobody, run: 'read -p "Name? " x', on_input: ask}
            - {id: no-input, run: 'read x'}
        """
    )

    for check, question in (("other", "Erase all?"), ("wrong", "PIN:"), ("nobody", "Name?")):
        finding = outcome.finding(check)
        assert (finding["verdict"], finding["execution"]) == ("unknown", "waiting_input"), finding
        assert finding["seen"]["prompt"] == question
    assert outcome.finding("wrong")["result"]["answered"] == 1
    assert outcome.finding("no-input")["result"]["rc"] == 1
    assert "wrong-one" not in outcome.stdout + outcome.stderr


def test_an_answer_is_nowhere_where_it_could_be_read(cli: CommandLine) -> None:
    outcome = cli.run(
        """\
        - hosts: all
          vars: {key_word: hidden-4711-word}
          checks:
            - id: where
              run: |
                set -x
                read -rsp "Word: " word </dev/tty
                read -rp "Word: again " more
                { set +x; } 2>/dev/null
                tr '\\0' '\\n' </proc/$PPID/cmdline; env
                [[ $word = hidden-4711-word && $more = hidden-4711-word ]] && echo both; history; echo "got $word"
              prompts: {match: '^Word:', answer: '{{ key_word }}'}
              slice: {head: 200, when: always}
        """
    )

    shown = lines(outcome, "where")
    assert "both" in shown
    assert "got <secret>" in [untagged(line) for line in shown]
    assert "4711" not in outcome.stdout + outcome.stderr


def test_a_wrong_playbook_or_terminal_is_told_before_anything_connects(cli: CommandLine) -> None:
    outcome = cli.run("- hosts: all\n  checks: [{run: x, prompts: {match: '{{ p }}', answer: y}}]\n", "-e", "p=(")
    assert outcome.code == 64
    assert "not a valid regular expression" in outcome.report["run"]["error"]

    asked = cli.run("- hosts: all\n  checks: [{run: 'true'}]\n", "--interactive")
    assert asked.code == 64
    assert "--interactive asks at a terminal, and stdin is none" in asked.report["run"]["error"]
    assert "hint: Write answers into the playbook" in asked.stderr


ASKING = """\
- hosts: fleet
  checks:
    - {id: name, run: 'read -rp "Name? " x </dev/tty; echo "it is $x"', slice: {head: 1, when: always}}
    - {id: word, run: 'read -rsp "Password: " x </dev/tty; echo "${#x} letters, $x"', raw: true, slice: {head: 1, when: always}}
    - {id: mute, run: 'read -rp "Mute? " x </dev/tty', on_input: fail}
"""


def test_a_person_is_asked_at_the_terminal(tmp_path: Path, sshd: SshdFixture) -> None:
    cli = CommandLine(folder=tmp_path, sshd=sshd)
    terminal = Terminal(cli, cli.run_args(cli.playbook(ASKING), "--format", "json", "--interactive"))

    terminal.read(b"h1: check name asks:\r\n    Name?\r\n  your answer (Ctrl-C refuses): ")
    terminal.type(b"blue\n")
    terminal.read(b"h1: check word asks:\r\n    Password:\r\n  your answer (not shown; Ctrl-C refuses): ")
    terminal.type(b"open-sesame-4711\n")
    terminal.finish()

    report = json.loads(terminal.stdout.read_text())
    found = {finding["check"]: finding for finding in report["findings"]}
    assert found["name"]["slices"][0]["lines"] == [[1, "it is blue"]]
    ((_, shown),) = found["word"]["slices"][0]["lines"]
    assert untagged(shown) == "16 letters, <secret>"
    assert found["name"]["result"]["answered"] == found["word"]["result"]["answered"] == 1
    assert found["mute"]["execution"] == "waiting_input"
    assert b"4711" not in terminal.shown
    assert "4711" not in terminal.stdout.read_text()
    assert terminal.shown.count(b"\x1b[?25l") == terminal.shown.count(b"\x1b[?25h")


def test_several_hosts_ask_one_after_another_and_ctrl_c_refuses_one(tmp_path: Path, sshd: SshdFixture) -> None:
    cli = CommandLine(folder=tmp_path, sshd=sshd, hosts=3)
    playbook = cli.playbook(
        """\
        - hosts: fleet
          checks: [{id: name, run: 'read -rp "Name? " x </dev/tty; echo "$x"', slice: {head: 1, when: always}}]
        """
    )
    terminal = Terminal(cli, cli.run_args(playbook, "--format", "json", "--interactive"))
    order: list[str] = []
    for typed in (b"one\n", b"\x03", b"three\n"):
        terminal.read(b"refuses): ")
        order.append(re.findall(r"(h\d): check name asks", terminal.shown.decode())[-1])
        terminal.shown = b""
        terminal.type(typed)
    terminal.finish()

    report = json.loads(terminal.stdout.read_text())
    assert sorted(order) == ["h1", "h2", "h3"]
    ends = {finding["hosts"]: finding for finding in report["findings"]}
    refused = ends[order[1]]
    assert (refused["verdict"], refused["execution"]) == ("unknown", "waiting_input")
    assert report["totals"]["verdict"] == {"ok": 2, "unknown": 1}
    assert report["run"]["ended"] == "normal"


@pytest.mark.parametrize("verbose", [(), ("-v",)])
def test_a_question_whose_time_is_over_is_withdrawn(cli: CommandLine, verbose: tuple[str, ...]) -> None:
    playbook = cli.playbook(
        "- hosts: all\n  checks: [{id: name, run: 'read -rp \"Name? \" x </dev/tty', timeout: 3}, {id: b, run: 'true'}]\n"
    )
    terminal = Terminal(cli, cli.run_args(playbook, "--format", "json", "--interactive", *verbose))

    terminal.read(b"refuses): ")
    terminal.type(b"half")
    terminal.read(b"no longer asked")
    terminal.finish()

    report = json.loads(terminal.stdout.read_text())
    assert report["totals"]["execution"] == {"done": 1, "timed_out": 1}
