"""Secrets through the command line: handed to commands, and in no output; errors before anything connects."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from command_line import Done, call_here, call_process, environment
from untagged import untagged

# Made by `ansible-vault encrypt_string` with the password pw1: hunter2.
INLINE = """!vault |
      $ANSIBLE_VAULT;1.1;AES256
      35646136326132336263326664353434333137323062316532326364666666383934333733613661
      3639666433343734653463663134666232383634373239340a323533393535636266613236643366
      33663638396266333830356638633563643365333339313436626139303535313738363939623036
      6563326266326363350a373763626135393436643738323862366330653935373133356666626236
      6637
"""
# Made by `ansible-vault encrypt` with the same password. Its text:
#     db_user: app-user-7
#     db_password: hunter2-file
#     db_url: "pg://{{ db_user }}:{{ db_password }}@db"
#     broken: "{{ never_defined_hunter3 }}"
#     level: 3
#     pin: 90210
#     enabled: false
#     nested: {keys: [first-secret, second-secret]}
FILE = """\
$ANSIBLE_VAULT;1.1;AES256
65393564653363396636333036386635386635613164643064653163616331336231393633633661
3666633430633561666135363363663561376137323166360a636332306339393831643238376633
37316661323434663538646166393830643261656634643238663161343765666161313061643336
6438666461313431300a306438316333393565393963353963653166666238373630653939383831
31343164373838376336653631666436363638346365303734656231636134336630326638306139
34366430383837383766393331313066666634353966363135333036636238363765333366643130
35613733323637633130633834653138323537383366303763663263366334343834313461633532
31666334646261633033383165363366633262633230343334656238633838623730633363313137
35353963363633313636346632333061353034363737373135376230383761323861623065333239
63356461633935343562346138643061366434353239393066333437366332653731393864663664
64373363313164393536393332613766383239613164313764343736643464316530376633366234
33616665326135346137363165376466646637383264303434646564343635326361663961623631
37666330343766373966613466343733643665633730303434356633616237353762383362636538
65643463643562613434353966363532653931303637666535383131356462353537303539356134
333235343534353962646431626562303930
"""
SECRETS = (
    "hunter2", "hunter2-file", "app-user-7", "pg://", "90210", "first-secret", "second-secret", "from-env", "from-cmd",
    "from-play-cmd", "hunter3",
)  # fmt: skip
INVENTORY = f"""\
all:
  hosts: {{here: {{ansible_connection: local}}}}
  vars:
    inline: {INLINE}
    token: !env TOKEN
    fetched: !cmd [printf, from-cmd]
    spare: !cmd [touch, ran]
"""
PLAYBOOK = """\
- hosts: all
  vars: {own: !cmd printf from-play-cmd, whole: "{{ inline }}+{{ token }}"}
  checks:
    - id: show
      run: 'printf "%s\\n" "$A" "$B" "$C" "$D" "$E" "$F" "$G" "3 of 4"; echo "$A" >&2; exit 1'
      env: {A: "{{ inline }}", B: "{{ token }}", C: "{{ fetched }}", D: "{{ own }}", E: "{{ db_url }}", F: "{{ pin }}",
            G: "{{ nested['keys'][1] }}"}
      slice: [{head: 20, when: always}, {head: 5, stream: stderr, when: always}]
    - {id: number, run: "true", when: "level > 2 and pin > 90000 and pin < 90300 and not enabled and inline != 'x'"}
    - {id: whole, run: 'test $(printf %s "$W" | wc -c) = 16', env: {W: "{{ whole }}"}}
    - {id: url, run: 'test $(printf %s "$U" | wc -c) = 31', env: {U: "{{ db_url }}"}}
"""


class Cli:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in (("play.yml", PLAYBOOK), ("inv.yml", INVENTORY), ("pw", "pw1\n"), ("group_vars/all", FILE)):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)

    def environment(self) -> dict[str, str]:
        return environment(self.folder)

    def __call__(self, *args: str, **environ: str) -> Done:
        return self._checked(call_here(args, folder=self.folder, env=self.environment() | environ))

    def process(self, *args: str, **environ: str) -> Done:
        """As a process, of which more can be seen."""
        return self._checked(call_process(args, folder=self.folder, env=self.environment() | environ))

    @staticmethod
    def _checked(done: Done) -> Done:
        assert "Traceback" not in done.stderr
        for secret in SECRETS:
            assert secret not in done.stdout + done.stderr
        return done


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


def slices(finding: dict[str, Any]) -> list[list[str]]:
    """The lines of each slice of a finding."""
    return [[text for _, text in found["lines"]] for found in finding["slices"]]


def test_secrets_reach_commands_and_no_report(cli: Cli) -> None:
    done = cli.process(
        "run", "play.yml", "-i", "inv.yml", "--vault-password-file", "pw", "--format", "json", TOKEN="from-env"
    )
    report = json.loads(done.stdout)

    assert done.returncode == 2, done.stderr
    (finding,) = report["findings"]  # what the others expect of the secrets holds
    lines = [untagged(text) for found in slices(finding) for text in found]
    assert lines == [*["<secret>"] * 7, "3 of 4", "<secret>"]
    assert not (cli.folder / "ran").exists()  # what no check reads is not run


def test_secrets_are_in_no_terminal_report(cli: Cli) -> None:
    done = cli.process("run", "play.yml", "-i", "inv.yml", "--vault-id", "pw", "-v", "-o", "r.json", TOKEN="from-env")

    assert "<secret>" in untagged(done.stdout)
    written = (cli.folder / "r.json").read_text()
    assert [secret for secret in SECRETS if secret in written] == []


@pytest.mark.parametrize(
    ("args", "environ", "message"),
    [
        ((), {}, "group_vars/all:1:1: error: is encrypted, and no vault password is given"),
        (("--vault-id", "other"), {}, "group_vars/all:1:1: error: no vault password fits: 'default' (the file other)"),
        (("--vault-id", "pw"), {}, "inv.yml:12:12: error: the environment variable 'TOKEN' is not set"),
        (("--vault-id", "none"), {}, "error: there is no vault password file 'none'"),
        (("--vault-password-file", "group_vars"), {}, "error: the vault password file 'group_vars' is a directory"),
        ((), {"ANSIBLE_VAULT_PASSWORD_FILE": "gone"}, "error: there is no vault password file 'gone'"),
        (("--ask-vault-pass",), {}, "there is no terminal to ask on"),
        (("--vault-id", "lab@prompt"), {}, "there is no terminal to ask on"),
    ],
)
@pytest.mark.parametrize("verb", ["run", "lint"])
def test_what_is_missing_is_said_before_anything_connects(
    cli: Cli, verb: str, args: tuple[str, ...], environ: dict[str, str], message: str
) -> None:
    (cli.folder / "other").write_text("pw2\n")
    done = cli(verb, "play.yml", "-i", "inv.yml", *args, **environ)

    assert message in done.stderr + done.stdout
    assert done.returncode == 64


@pytest.mark.parametrize(
    ("args", "environ"),
    [
        (("--vault-password-file", "pw"), {}),
        (("--vault-pass-file", "pw"), {}),
        (("--vault-id", "pw"), {}),
        (("--vault-id", "any@pw"), {}),
        ((), {"ANSIBLE_VAULT_PASSWORD_FILE": "pw"}),
        ((), {"ANSIBLE_VAULT_IDENTITY_LIST": "a@other, b@pw"}),
        ((), {"CHECKRUNNER_VAULT_PASSWORD_FILE": "pw"}),
        (("--vault-id", "other"), {"ANSIBLE_VAULT_PASSWORD_FILE": "pw"}),
        (("--vault-password-file", "./program"), {}),
    ],
)
def test_ways_to_give_a_password(cli: Cli, args: tuple[str, ...], environ: dict[str, str]) -> None:
    (cli.folder / "other").write_text("pw2\n")
    (cli.folder / "program").write_text("#!/bin/sh\necho pw1\n")
    (cli.folder / "program").chmod(0o755)
    done = cli("lint", "play.yml", "-i", "inv.yml", *args, TOKEN="from-env", **environ)

    assert done.returncode == 0, done.stdout


def test_lint_runs_no_programs(cli: Cli) -> None:
    (cli.folder / "play.yml").write_text(PLAYBOOK.replace("printf from-play-cmd", "touch linted"))
    done = cli("lint", "play.yml", "-i", "inv.yml", "--vault-id", "pw", TOKEN="from-env")

    assert done.returncode == 0, done.stdout
    assert not (cli.folder / "linted").exists()


def test_listing_hosts_takes_no_password_for_values(cli: Cli) -> None:
    (cli.folder / "group_vars/all").unlink()
    assert cli("hosts", "-i", "inv.yml").stdout == "here\n"
    shown = cli("hosts", "-i", "inv.yml", "--explain", "here").stdout

    assert "inline = ********  from group all (inv.yml:5:7)" in shown
    assert "fetched = ********" in shown
    assert not (cli.folder / "ran").exists()


def test_listing_hosts_of_encrypted_files_masks_values(cli: Cli) -> None:
    shown = cli("hosts", "-i", "inv.yml", "--vault-id", "pw", "--explain", "here").stdout

    assert 'nested = {"keys": ["********", "********"]}' in shown
    assert "enabled = false" in shown


def test_how_a_host_is_reached_may_be_a_secret(cli: Cli) -> None:
    (cli.folder / "inv.yml").write_text(
        "all: {hosts: {here: {ansible_user: !env TOKEN, ansible_port: !cmd printf 2022}}}\n"
    )
    shown = cli("hosts", "-i", "inv.yml", "--vault-id", "pw", "--explain", "here", TOKEN="from-env").stdout

    assert "reached by ssh at here port ******** as ********" in shown


def test_an_error_in_an_encrypted_template_does_not_show_it(cli: Cli) -> None:
    (cli.folder / "play.yml").write_text("- hosts: all\n  checks:\n    - {run: 'true', env: {A: '{{ broken }}'}}\n")
    for verb in ("run", "lint"):
        done = cli(verb, "play.yml", "-i", "inv.yml", "--vault-id", "pw", TOKEN="from-env")

        assert done.returncode == 64
        assert "cannot be rendered; it is not shown" in done.stdout + done.stderr


def test_a_secret_in_the_text_of_a_command_is_refused(cli: Cli) -> None:
    (cli.folder / "play.yml").write_text("- hosts: all\n  checks:\n    - {run: 'echo {{ inline }}'}\n")
    done = cli("run", "play.yml", "-i", "inv.yml", "--vault-id", "pw", TOKEN="from-env")

    assert done.returncode == 64
    assert "env" in done.stderr


def test_values_that_no_check_reads_need_no_password(cli: Cli) -> None:
    (cli.folder / "group_vars/all").unlink()
    (cli.folder / "other").write_text("pw2\n")
    (cli.folder / "play.yml").write_text("- hosts: all\n  checks:\n    - {run: 'true'}\n")

    assert cli("run", "play.yml", "-i", "inv.yml").returncode == 0
    done = cli("run", "play.yml", "-i", "inv.yml", "--vault-id", "other")
    assert done.returncode == 0
    assert "inv.yml:4:13: 1 encrypted value that no check reads cannot be opened" in done.stdout


def test_masking_runs_no_program(cli: Cli) -> None:
    (cli.folder / "group_vars/all").unlink()
    (cli.folder / "play.yml").write_text(
        "- hosts: localhost\n"
        "  vars: {spare: !cmd touch ran, db_password: 'p{{ spare }}', top_secret: '{{ db_password }}'}\n"
        "  checks: [{run: 'true'}]\n"
    )

    assert cli("run", "play.yml").returncode == 0
    assert not (cli.folder / "ran").exists()


def test_variables_beside_the_playbook_reach_every_verb(cli: Cli) -> None:
    (cli.folder / "books/group_vars").mkdir(parents=True)
    (cli.folder / "books/play.yml").write_text("- hosts: all\n  checks:\n    - {id: a, run: 'exit {{ code }}'}\n")
    (cli.folder / "books/group_vars/all.yml").write_text("code: 7\n")
    (cli.folder / "group_vars/all").unlink()
    lists = ("-i", "here,", "-e", "ansible_connection=local")

    assert cli("lint", "books/play.yml", *lists).returncode == 0
    shown = cli("hosts", *lists[:2], "--playbook-dir", "books", "--explain", "here").stdout
    assert "code = 7  from group all (group_vars beside the playbook) (books/group_vars/all.yml:1:7)" in shown
    for source in (("-i", "inv.yml"), ()):  # without an inventory it is this machine
        done = cli("run", "books/play.yml", *source, "--format", "json")
        (finding,) = json.loads(done.stdout)["findings"]
        assert "rc was 7" in json.dumps(finding)


def typed(cli: Cli, answer: str, *args: str) -> tuple[int, str]:
    """Exit code and what the terminal shows, when a person answers the prompt."""
    master, slave = pty.openpty()
    env = {**cli.environment(), "TOKEN": "from-env"}
    process = subprocess.Popen(
        [sys.executable, "-m", "checkrunner", *args], cwd=cli.folder, env=env, stdin=slave, stdout=slave, stderr=slave,
        start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    shown, answered = "", False
    deadline = monotonic() + 40
    try:
        while monotonic() < deadline:
            if not select.select([master], [], [], 0.1)[0]:
                continue
            try:
                piece = os.read(master, 4096).decode("utf-8", "replace")
            except OSError:  # the other side is closed
                break
            shown += piece
            if not piece:
                break
            if "assword" in shown and not answered:
                answered = True
                os.write(master, f"{answer}\n".encode())
    finally:
        os.close(master)
        process.kill() if process.poll() is None and monotonic() > deadline else None
    return process.wait(10), shown


@pytest.mark.parametrize("args", [("--ask-vault-pass",), ("-J",), ("--ask-vault-password",), ("--vault-id", "@prompt")])
def test_a_person_is_asked_for_the_password(cli: Cli, args: tuple[str, ...]) -> None:
    code, shown = typed(cli, "pw1", "lint", "play.yml", "-i", "inv.yml", *args)

    assert code == 0, shown
    assert shown.count("Vault password: ") == 1
    assert "pw1" not in shown


def test_a_wrong_answer_is_said(cli: Cli) -> None:
    code, shown = typed(cli, "pw9", "lint", "play.yml", "-i", "inv.yml", "--vault-id", "lab@prompt")

    assert code == 64
    assert "Vault password (lab): " in shown
    assert "no vault password fits: 'lab' (the prompt)" in shown
    assert "pw9" not in shown
