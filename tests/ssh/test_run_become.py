"""Checks as other users, over a real sshd with a login that is an ordinary user: sudo, doas, su, and what refuses."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import secrets
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from become_host import LOGIN, OTHER, OTHER_PASSWORD, PASSWORD, BecomeHost, why_not
from cli_runner import CommandLine, Outcome
from slowness import allowed
from sshd import wait_until

_WHY_NOT = why_not()
pytestmark = pytest.mark.skipif(bool(_WHY_NOT), reason=_WHY_NOT or "-")

MakeHost = Callable[..., CommandLine]
ALL = f"{LOGIN} ALL=(ALL) NOPASSWD: ALL"
ASKED = f"{LOGIN} ALL=(ALL) ALL"
WHO = """
- hosts: all
  become: true
  become_user: {user}
  become_method: {method}
  checks:
    - id: who
      run: echo "$(id -un) $PWD $HOME $LOGNAME"; kept=here
      slice: {{head: 1, when: always}}
    - {{id: kept, run: 'echo "$kept"', expect: {{stdout: {{equals: here}}}}}}
    - {{id: login, become: false, run: id -un, expect: {{stdout: {{equals: {login}}}}}}}
"""


class Become(CommandLine):
    """The command line, with a password for sudo, doas or su in its environment."""

    password: str | None = None

    def env(self) -> dict[str, str]:
        env = super().env()
        return env if self.password is None else env | {"CHECKRUNNER_BECOME_PASSWORD": self.password}


@pytest.fixture
def host() -> Iterator[Callable[..., Become]]:
    """`host(password=..., sudoers=..., ...)`: the command line for a `BecomeHost` of the test's own."""
    with contextlib.ExitStack() as stack:

        def make(*, password: str | None = None, hosts: int = 1, **settings: object) -> Become:
            # Not pytest's folder, which no other user may enter.
            folder = Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="become-", ignore_cleanup_errors=True))
            )
            sshd = stack.enter_context(BecomeHost(folder / "host", **settings))  # type: ignore[arg-type]  # as they come
            (folder / "client").mkdir()
            made = Become(folder=folder / "client", sshd=sshd, hosts=hosts)
            made.password = password
            return made

        yield make


def at(cli: CommandLine) -> BecomeHost:
    assert isinstance(cli.sshd, BecomeHost)
    return cli.sshd


def reason(outcome: Outcome, check: str) -> str:
    """The reason why a check could not be looked at."""
    finding = outcome.finding(check)
    assert finding["verdict"] == "unknown", finding
    return str(finding["reasons"][0]["message"])


def refused(cli: CommandLine, user: str = "root", method: str = "sudo") -> str:
    """Why checks could not become another user, in seconds; the others of the host went on."""
    began = time.monotonic()
    outcome = cli.run(WHO.format(user=user, method=method, login=LOGIN))
    assert time.monotonic() - began < allowed(20)
    assert outcome.code == 3, outcome.stdout + outcome.stderr
    assert outcome.report["totals"]["verdict"] == {"ok": 1, "unknown": 2}
    assert outcome.report["totals"]["host"] == {"reached": 1}
    assert reason(outcome, "who") == reason(outcome, "kept")
    at(cli).assert_clean()
    return reason(outcome, "who")


def became(cli: CommandLine, user: str = "root", method: str = "sudo") -> None:
    """Checks ran as that user, in one shell, with what is that user's."""
    outcome = cli.run(WHO.format(user=user, method=method, login=LOGIN))
    assert outcome.code == 0, outcome.stdout + outcome.stderr
    home = "/root" if user == "root" else str(at(cli).homes[user])
    (line,) = outcome.finding("who")["slices"][0]["lines"]
    assert line[1].split() == [user, home, home, user]
    at(cli).assert_clean()


@pytest.mark.parametrize("user", ["root", OTHER])
@pytest.mark.parametrize("shell", ["bash", "dash", "fish", "tcsh", "zsh"])
def test_sudo_without_a_password(host: Callable[..., Become], user: str, shell: str) -> None:
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"{shell} is not installed")
    became(host(sudoers=ALL, login_shell=path), user)


@pytest.mark.parametrize("user", ["root", OTHER])
@pytest.mark.parametrize("shell", ["bash", "fish", "tcsh"])
@pytest.mark.parametrize("method", ["sudo", "doas", "su"])
def test_with_a_password(host: Callable[..., Become], method: str, shell: str, user: str) -> None:
    path = shutil.which(shell)
    if path is None or shutil.which(method) is None:
        pytest.skip(f"{method} or {shell} is not installed")
    if (method, user) == ("su", "root"):
        pytest.skip("the password of root is not the test's")
    password = OTHER_PASSWORD if method == "su" else PASSWORD
    became(host(sudoers=ASKED, doas=f"permit {LOGIN}", login_shell=path, password=password), user, method)


@pytest.mark.parametrize("user", ["root", OTHER])
def test_doas_without_a_password(host: Callable[..., Become], user: str) -> None:
    if shutil.which("doas") is None:
        pytest.skip("doas is not installed")
    became(host(doas=f"permit nopass {LOGIN} as {user} cmd /bin/sh"), user, "doas")


def test_root_needs_no_password_for_su(host: Callable[..., Become]) -> None:
    cli = host()
    cli.sshd.user = "root"
    outcome = cli.run(WHO.format(user=OTHER, method="su", login="root"))
    assert outcome.code == 0, outcome.stdout + outcome.stderr


@pytest.mark.parametrize("method", ["sudo", "doas", "su"])
def test_a_password_that_is_needed_and_not_there(host: Callable[..., Become], method: str) -> None:
    if shutil.which(method) is None:
        pytest.skip(f"{method} is not installed")
    said = refused(host(sudoers=ASKED, doas=f"permit {LOGIN}"), OTHER, method)
    assert said.startswith(f"become_password_required: {method} wants a password")
    assert "-K" in said


@pytest.mark.parametrize("method", ["sudo", "doas", "su"])
def test_a_wrong_password(host: Callable[..., Become], method: str) -> None:
    if shutil.which(method) is None:
        pytest.skip(f"{method} is not installed")
    said = refused(host(sudoers=ASKED, doas=f"permit {LOGIN}", password="none of these, 9"), OTHER, method)
    assert said.startswith(f"become_password_wrong: {method} did not take the password")


@pytest.mark.parametrize("session", ["main", "other"])
def test_a_wrong_password_is_tried_once(host: Callable[..., Become], session: str) -> None:
    with tempfile.TemporaryDirectory(prefix="become-") as name:
        # Where the login may write: sudo runs the program as that.
        folder = Path(name)
        tries, count = folder / "tries", folder / "count"
        tries.touch()
        count.write_text(f'#!/bin/sh\nread -r word\necho "$word" >>{tries}\n')
        for path, mode in ((folder, 0o755), (tries, 0o666), (count, 0o755)):
            path.chmod(mode)
        cli = host(
            sudoers=ASKED,
            password="none of these, 9",
            pam=f"auth sufficient pam_unix.so\nauth optional pam_exec.so expose_authtok {count}\n"
            "auth required pam_deny.so\naccount required pam_unix.so\n",
        )
        outcome = cli.run(f"""
            - hosts: all
              become: true
              checks:
                - {{id: a, run: 'true'}}
                - {{id: b, run: 'true', become_user: {OTHER}, session: {session}}}
                - {{id: c, run: 'true', session: other}}
            """)
        for check in "abc":
            assert reason(outcome, check).startswith("become_password_wrong")
        assert tries.read_text().count("none of these") == 1


@pytest.mark.parametrize(
    ("method", "user", "settings", "said"),
    [
        ("sudo", "root", {"password": PASSWORD}, r"become_not_allowed: .*not in the sudoers file.*ALL=\(root\) NOPASSWD: /bin/sh"),
        ("sudo", "root", {"sudoers": f"{LOGIN} ALL=(root) NOPASSWD: /usr/bin/id", "password": PASSWORD},
         "become_not_allowed: .*not allowed to execute /bin/sh.*become: exact"),
        ("sudo", OTHER, {"sudoers": f"{LOGIN} ALL=(root) NOPASSWD: ALL"}, "become_(not_allowed|password_required): .*become: exact"),
        ("sudo", "root", {"sudoers": f"Defaults requiretty\n{ALL}"}, "become_needs_tty: .*Defaults:tester !requiretty"),
        ("sudo", "root", {"files": {"/usr/bin/sudo": None}}, "become_not_installed: sudo is not on this host"),
        ("sudo", "nobodyhere", {"sudoers": ALL}, "become_unknown_user: sudo knows no user nobodyhere"),
        ("su", "nobodyhere", {"password": PASSWORD}, "become_unknown_user: su knows no user nobodyhere"),
        ("doas", "nobodyhere", {"doas": f"permit nopass {LOGIN}"}, "become_unknown_user: doas knows no user nobodyhere"),
        ("doas", "root", {"doas": f"permit {OTHER}"}, "become_not_allowed: .*permit nopass tester as root cmd /bin/sh"),
        ("sudo", "-x y", {"sudoers": ALL}, "become_unknown_user: '-x y' is no name of a user"),
        ("sudo", "root", {"sudoers": "this is no sudoers line"}, "become_(failed|password_required|not_allowed): "),
    ],
)  # fmt: skip
def test_each_refusal_has_a_class(
    host: Callable[..., Become], method: str, user: str, settings: dict[str, object], said: str
) -> None:
    if shutil.which(method) is None:
        pytest.skip(f"{method} is not installed")
    assert re.match(said, refused(host(**settings), f"'{user}'", method))


def test_a_lecture_and_a_start_up_file_are_not_in_the_way(host: Callable[..., Become]) -> None:
    cli = host(sudoers=f"Defaults lecture=always\n{ASKED}", password=PASSWORD)
    profile = at(cli).homes[LOGIN] / ".bashrc"
    profile.write_text("echo 'sudo: a password is required' >&2; echo hello; read -t 9 line; read -t 9 line\n")
    became(cli)


def test_a_slow_sudo_is_waited_for(host: Callable[..., Become]) -> None:
    pam = "auth required pam_unix.so\naccount optional pam_exec.so /bin/sleep 3\naccount required pam_unix.so\n"
    became(host(sudoers=ASKED, password=PASSWORD, pam=pam))


def test_a_sudo_that_hangs_is_given_up(host: Callable[..., Become]) -> None:
    cli = host(sudoers=ALL, pam="account optional pam_exec.so /bin/sleep 100\naccount required pam_unix.so\n")
    (cli.folder / "checkrunner.toml").write_text("start_timeout = 3\n")
    outcome = cli.run(WHO.format(user="root", method="sudo", login=LOGIN))
    assert outcome.report["run"]["elapsed_s"] < allowed(15)
    assert "become_failed: sudo started nothing as root within 3 s" in reason(outcome, "who")
    assert outcome.report["totals"]["verdict"] == {"ok": 1, "unknown": 2}


def test_another_question_is_named(host: Callable[..., Become]) -> None:
    cli = host(sudoers=ASKED, password=PASSWORD)
    where = cli.folder / "sudo"
    where.write_text("#!/bin/sh\ncase $1 in -n) echo 'sudo: a password is required' >&2; exit 1;; esac\n"
                     "printf 'Verification code: ' >&2; read -r x\n")  # fmt: skip
    where.chmod(0o755)
    (at(cli).homes[LOGIN] / ".bashrc").write_text(f"PATH={cli.folder}:$PATH\n")
    cli.folder.chmod(0o755)
    said = refused(cli)
    assert "asks what the password does not answer (Verification code)" in said


@pytest.mark.parametrize("method", ["sudo", "su"])
def test_a_password_that_must_be_changed_is_named_soon(host: Callable[..., Become], method: str) -> None:
    user, password = (OTHER, OTHER_PASSWORD) if method == "su" else ("root", PASSWORD)
    cli = host(sudoers=ASKED, password=password, must_change=True)
    said = refused(cli, user, method)
    assert said.startswith(
        f"become_failed: {method} started nothing as {user}: it asks what the password does not answer"
    )
    assert "expired" in said if method == "sudo" else "change your password" in said


def test_a_second_factor_is_not_a_wrong_password(host: Callable[..., Become]) -> None:
    pam = "auth required pam_unix.so\nauth required pam_stress.so\naccount required pam_unix.so\n"
    said = refused(host(sudoers=ASKED, password=PASSWORD, pam=pam))
    assert said.startswith("become_failed: sudo started nothing as root: it asks what the password does not answer")


@pytest.mark.parametrize("most", ["1", "2"])
def test_few_sessions_on_a_connection(host: Callable[..., Become], most: str) -> None:
    cli = host(sudoers=ALL, options={"MaxSessions": most})
    outcome = cli.run(f"""
        - hosts: all
          become: true
          checks:
            - {{id: a, run: id -un, expect: {{stdout: {{equals: root}}}}}}
            - {{id: b, run: id -un, become_user: {OTHER}, expect: {{stdout: {{equals: {OTHER}}}}}}}
            - {{id: c, run: id -un, become: false, expect: {{stdout: {{equals: {LOGIN}}}}}}}
        """)
    assert outcome.code == 0, outcome.stdout
    at(cli).assert_clean()


def test_checks_of_one_session_keep_their_order(host: Callable[..., Become]) -> None:
    cli = host(sudoers=ALL)
    outcome = cli.run(f"""
        - hosts: all
          checks:
            - {{id: a, run: 'sleep 0.5; echo one >/tmp/$$.x; echo $$', register: first}}
            - {{id: b, run: 'd=$(mktemp -d); chmod 755 $d; echo one >$d/f; sleep 0.3; echo $d >~/place'}}
            - {{id: c, run: 'echo two >>$(cat ~{LOGIN}/place)/f', become: true}}
            - {{id: d, run: 'cat $(cat ~/place)/f', expect: {{stdout: {{equals: "one\\ntwo"}}}}}}
            - {{id: e, run: 'rm -r $(cat ~{LOGIN}/place)', become: true}}
            - {{id: f, run: '! test -e $(cat ~/place)'}}
        """)
    assert outcome.code == 0, outcome.stdout


def test_sessions_of_other_names_run_beside_each_other(host: Callable[..., Become]) -> None:
    outcome = host(sudoers=ALL).run("""
        - hosts: all
          become: true
          checks:
            - {id: a, run: sleep 4, session: one}
            - {id: b, run: sleep 4, session: two}
            - {id: c, run: sleep 4, session: three, become: false}
        """)
    assert outcome.code == 0
    assert outcome.report["run"]["elapsed_s"] < 12  # what they take one after another


def test_captures_belong_to_the_user_and_nobody_else_reads_them(host: Callable[..., Become]) -> None:
    cli = host(sudoers=ALL)
    uid = at(cli).uids[OTHER]
    outcome = cli.run(f"""
        - hosts: all
          become: true
          become_user: {OTHER}
          checks:
            - id: a
              run: stat -c '%U %a' /dev/shm/checkrunner-{uid}-* || stat -c '%U %a' /var/tmp/checkrunner-{uid}-*
              expect: {{stdout: {{equals: {OTHER} 700}}}}
        """)
    assert outcome.code == 0, outcome.stdout
    at(cli).assert_clean()


def test_the_login_account_needs_nothing(host: Callable[..., Become]) -> None:
    cli = host(files={"/usr/bin/sudo": None})
    outcome = cli.run(f"""
        - hosts: all
          become: true
          become_user: {LOGIN}
          checks: [{{id: a, run: id -un, expect: {{stdout: {{equals: {LOGIN}}}}}}}]
        """)
    assert outcome.code == 0, outcome.stdout


def test_flags_and_inventory(host: Callable[..., Become]) -> None:
    cli = host(sudoers=ALL, doas=f"permit nopass {LOGIN}")
    check = "- hosts: all\n  checks: [{id: a, run: id -un, expect: {stdout: {equals: %s}}}]\n"
    assert cli.run(check % LOGIN).code == 0
    assert cli.run(check % "root", "-b").code == 0
    assert cli.run(check % OTHER, "-b", "--become-user", OTHER).code == 0
    if shutil.which("doas"):
        assert cli.run(check % OTHER, "--become", "--become-user", OTHER, "--become-method", "doas").code == 0
    inventory = cli.sshd.write_inventory(cli.folder / "own.yml", 1)
    inventory.write_text(inventory.read_text().replace(
        "      vars:", f"      vars:\n        ansible_become: true\n        ansible_become_user: {OTHER}"))  # fmt: skip
    argv = cli.run_args(cli.playbook(check % OTHER), "--format", "json")
    argv[argv.index("-i") + 1] = str(inventory)
    assert cli.call_here(argv).code == 0


def test_the_password_of_the_inventory(host: Callable[..., Become]) -> None:
    cli = host(sudoers=ASKED, password="not this one, 1")
    inventory = cli.sshd.write_inventory(cli.folder / "own.yml", 1)
    inventory.write_text(inventory.read_text().replace(
        "      vars:", f'      vars:\n        ansible_become_password: "{PASSWORD}"'))  # fmt: skip
    argv = cli.run_args(cli.playbook(WHO.format(user="root", method="sudo", login=LOGIN)), "--format", "json")
    argv[argv.index("-i") + 1] = str(inventory)
    outcome = cli.call_here(argv)
    assert outcome.code == 0, outcome.stdout
    assert PASSWORD not in outcome.stdout + outcome.stderr


@pytest.mark.parametrize("password", [None, PASSWORD])
def test_the_agent_in_shell_becomes_others_too(host: Callable[..., Become], password: str | None) -> None:
    cli = host(sudoers=ASKED if password else ALL, password=password)
    # Its helpers inherit that: they have to be ended otherwise.
    (at(cli).homes[LOGIN] / ".bashrc").write_text("trap '' TERM HUP INT\n")
    inventory = cli.sshd.write_inventory(cli.folder / "own.yml", 1)
    inventory.write_text(inventory.read_text().replace("      vars:", "      vars:\n        checkrunner_agent: shell"))
    argv = cli.run_args(cli.playbook(WHO.format(user=OTHER, method="sudo", login=LOGIN)), "--format", "json")
    argv[argv.index("-i") + 1] = str(inventory)
    outcome = cli.call_here(argv)
    assert outcome.code == 0, outcome.stdout
    (line,) = outcome.finding("who")["slices"][0]["lines"]
    home = str(at(cli).homes[OTHER])
    assert line[1].split() == [OTHER, home, home, OTHER]
    at(cli).assert_clean()


# ---- only one command


def exact(host: Callable[..., Become], sudoers: str, argv: str = "[id, -un]", **settings: object) -> Outcome:
    cli = host(sudoers=sudoers, **settings)
    outcome = cli.run(f"""
        - hosts: all
          checks:
            - {{id: one, become: exact, argv: {argv}, slice: {{head: 2, when: always}}}}
            - {{id: login, run: id -un, expect: {{stdout: {{equals: {LOGIN}}}}}}}
        """)
    assert outcome.report["totals"]["host"] == {"reached": 1}
    at(cli).assert_clean()
    return outcome


def test_one_command_alone(host: Callable[..., Become]) -> None:
    outcome = exact(host, f"{LOGIN} ALL=(root) NOPASSWD: /usr/bin/id -un")
    assert outcome.code == 0, outcome.stdout
    assert outcome.finding("one")["slices"][0]["lines"] == [[1, "root"]]


@pytest.mark.parametrize("rule", ["", ASKED, f"{LOGIN} ALL=(root) NOPASSWD: /bin/ls"])
def test_one_command_that_is_not_allowed_names_the_rule(host: Callable[..., Become], rule: str) -> None:
    outcome = exact(host, rule)
    said = reason(outcome, "one")
    assert said.startswith("become_not_allowed: sudo did not run it as root")
    assert "`LOGIN ALL=(root) NOPASSWD: /PATH/COMMAND`" in said
    assert outcome.code == 3


def test_one_command_has_the_terminal_of_its_session(host: Callable[..., Become]) -> None:
    assert exact(host, f"Defaults requiretty\n{ALL}").code == 0


def test_one_command_that_fails_by_itself_is_judged(host: Callable[..., Become]) -> None:
    outcome = exact(host, ALL, argv="[ls, /nowhere]")
    assert outcome.finding("one")["verdict"] == "crit"
    assert outcome.finding("one")["result"]["rc"] == 2


# ---- endings


def test_an_agent_that_is_killed_costs_its_own_checks(host: Callable[..., Become]) -> None:
    cli = host(sudoers=ALL)
    argv = cli.run_args(cli.playbook(f"""
        - hosts: all
          checks:
            - {{id: killed, become: true, become_user: {OTHER}, run: sleep 30}}
            - {{id: later, become: true, become_user: {OTHER}, run: 'true'}}
            - {{id: other, run: 'sleep 3; echo here', session: other, expect: {{stdout: {{equals: here}}}}}}
        """), "--format", "json")  # fmt: skip
    process = cli.start(argv)
    try:
        wait_until(lambda: any("sleep 30" in words for words in at(cli).everything().values()), deadline_s=60)
        at(cli).kill_agent(OTHER)
        stdout, stderr = process.communicate(timeout=150)
    finally:
        process.kill()
        process.wait()
    outcome = Outcome(process.returncode, stdout.decode(), stderr.decode())
    assert outcome.report["totals"]["host"] == {"reached": 1}, outcome.stdout
    assert outcome.report["totals"]["verdict"] == {"ok": 2, "unknown": 1}
    assert outcome.finding("killed")["execution"] == "lost"
    assert outcome.report["run"]["elapsed_s"] < allowed(20)


@pytest.mark.parametrize("which", [0, 1], ids=["the agent", "its reader"])
def test_an_agent_in_shell_of_which_a_part_is_killed_leaves_nothing(host: Callable[..., Become], which: int) -> None:
    cli = host(sudoers=ALL)
    inventory = cli.sshd.write_inventory(cli.folder / "own.yml", 1)
    inventory.write_text(inventory.read_text().replace("      vars:", "      vars:\n        checkrunner_agent: shell"))
    argv = cli.run_args(cli.playbook(f"""
        - hosts: all
          checks:
            - {{id: killed, become: true, become_user: {OTHER}, run: sleep 30}}
            - {{id: later, become: true, become_user: {OTHER}, run: 'true'}}
        """), "--format", "json")  # fmt: skip
    argv[argv.index("-i") + 1] = str(inventory)
    process = cli.start(argv)
    try:
        wait_until(lambda: any("sleep 30" in words for words in at(cli).everything().values()), deadline_s=60)
        uid = at(cli).uids[OTHER]
        ours = [pid for pid, words in at(cli).everything().items() if words.startswith("/bin/sh -c echo checkrunner-")]
        os.kill(sorted(pid for pid in ours if os.stat(f"/proc/{pid}").st_uid == uid)[which], signal.SIGKILL)
        stdout, stderr = process.communicate(timeout=150)
    finally:
        process.kill()
        process.wait()
    outcome = Outcome(process.returncode, stdout.decode(), stderr.decode())
    assert outcome.report["totals"]["verdict"] == {"ok": 1, "unknown": 1}, outcome.stdout
    assert outcome.finding("killed")["execution"] == "lost"
    at(cli).assert_clean()


def test_an_interrupt_ends_what_runs_as_other_users(host: Callable[..., Become]) -> None:
    cli = host(sudoers=ALL)
    argv = cli.run_args(cli.playbook(f"""
        - hosts: all
          become: true
          checks:
            - {{id: a, run: sleep 71}}
            - {{id: b, run: sleep 71, become_user: {OTHER}, session: two}}
            - {{id: c, run: 'true', become_user: {OTHER}}}
        """), "--format", "json")  # fmt: skip
    process = cli.start(argv)
    try:
        running = lambda: sum("sleep 71" in words for words in at(cli).everything().values()) == 2  # noqa: E731 - short
        wait_until(running, deadline_s=60, what="two commands")
        process.terminate()
        stdout, stderr = process.communicate(timeout=150)
    finally:
        process.kill()
        process.wait()
    outcome = Outcome(process.returncode, stdout.decode(), stderr.decode())
    assert outcome.report["run"]["ended"] == "interrupted", outcome.stderr
    assert outcome.report["totals"]["verdict"] == {"unknown": 3}
    at(cli).assert_clean()


def test_an_interrupt_does_not_wait_for_a_sudo_that_hangs(host: Callable[..., Become]) -> None:
    cli = host(sudoers=ALL, pam="account optional pam_exec.so /bin/sleep 100\naccount required pam_unix.so\n")
    argv = cli.run_args(cli.playbook("""
        - hosts: all
          checks:
            - {id: a, run: 'true', become: true}
            - {id: b, run: 'true'}
        """), "--format", "json")  # fmt: skip
    process = cli.start(argv)
    try:
        wait_until(lambda: any("sleep 100" in words for words in at(cli).everything().values()), deadline_s=60)
        began = time.monotonic()
        process.terminate()
        stdout, stderr = process.communicate(timeout=150)
    finally:
        process.kill()
        process.wait()
    assert time.monotonic() - began < allowed(10)
    outcome = Outcome(process.returncode, stdout.decode(), stderr.decode())
    assert outcome.report["run"]["ended"] == "interrupted", outcome.stderr
    assert outcome.report["totals"]["verdict"] == {"unknown": 2}


def test_the_link_s_loss_is_the_host_s(host: Callable[..., Become]) -> None:
    cli = host(sudoers=ALL)
    (cli.folder / "checkrunner.toml").write_text("reconnect = 0\n")
    argv = cli.run_args(cli.playbook("""
        - hosts: all
          become: true
          checks: [{id: a, run: sleep 73}, {id: b, run: 'true'}]
        """), "--format", "json")  # fmt: skip
    process = cli.start(argv)
    try:
        wait_until(lambda: any("sleep 73" in words for words in at(cli).everything().values()), deadline_s=60)
        cli.sshd.kill_connections()
        stdout, _ = process.communicate(timeout=150)
    finally:
        process.kill()
        process.wait()
    outcome = json.loads(stdout)
    assert outcome["totals"]["host"] == {"lost": 1}
    assert outcome["totals"]["verdict"] == {"unknown": 2}
    at(cli).assert_clean()


def test_a_client_that_is_killed_leaves_nothing(host: Callable[..., Become]) -> None:
    cli = host(sudoers=ASKED, doas=f"permit {LOGIN}", password=PASSWORD)
    argv = cli.run_args(cli.playbook(f"""
        - hosts: all
          become: true
          checks:
            - {{id: a, run: sleep 72}}
            - {{id: b, run: sleep 72, session: two, become_user: {OTHER}}}
        """))  # fmt: skip
    process = cli.start(argv)
    try:
        wait_until(lambda: sum("sleep 72" in words for words in at(cli).everything().values()) == 2, deadline_s=60)
    finally:
        process.kill()
        process.communicate()
    at(cli).assert_clean()


# ---- the password is nowhere


@pytest.mark.parametrize("method", ["sudo", "doas", "su"])
def test_the_password_is_in_no_place_where_it_can_be_read(host: Callable[..., Become], method: str) -> None:
    if shutil.which(method) is None:
        pytest.skip(f"{method} is not installed")
    password = OTHER_PASSWORD if method == "su" else PASSWORD
    cli = host(sudoers=ASKED, doas=f"permit {LOGIN}", password=password)
    text = f"""
        - hosts: all
          become: true
          become_user: {OTHER}
          become_method: {method}
          checks:
            - {{id: a, run: 'env; sleep 3; false', slice: {{head: 50}}}}
            - {{id: b, become: false, session: two, run: 'env; sleep 3; false', slice: {{head: 50}}}}
        """
    argv = cli.run_args(cli.playbook(text), "--format", "json", "-o", cli.folder / "report.json", "-v")
    process = cli.start(argv)
    seen: list[str] = []
    try:
        while process.poll() is None:
            seen += at(cli).everything().values()
            time.sleep(0.03)
        stdout, stderr = process.communicate(timeout=150)
    finally:
        process.kill()
        process.wait()
    assert json.loads(stdout)["totals"]["verdict"] == {"crit": 2}
    everywhere = [stdout.decode(), stderr.decode(), *seen, at(cli).log(), (cli.folder / "report.json").read_text()]
    assert not any(password in text for text in everywhere)
    assert any("sleep 3" in text for text in seen)  # they were looked at
    found = subprocess.run(
        ["grep", "-rlF", "--exclude=shadow", password, cli.folder, at(cli).folder, "/var/tmp", "/dev/shm"],
        capture_output=True, check=False,
    )  # fmt: skip
    assert found.stdout == b""


def test_the_client_takes_it_out_of_its_own_environment(host: Callable[..., Become]) -> None:
    """What the client starts on this machine (a proxy command, the local agent) does not inherit it."""
    cli = host(sudoers=ASKED, password=PASSWORD)
    (cli.folder / "local.yml").write_text("all: {hosts: {here: {ansible_connection: local}}}\n")
    play = cli.playbook("- hosts: all\n  checks: [{id: a, run: '! env | grep BECOME'}]\n")
    outcome = cli.call(cli.argv("run", play, "-i", cli.folder / "local.yml", "--format", "json"))
    assert outcome.code == 0, outcome.stdout


# ---- asking a person


def dialogue(
    cli: CommandLine, argv: list[str], question: bytes, answer: str, timeout_s: float = 40.0
) -> tuple[int, str]:
    """Run at a terminal, and type the answer once the question is shown."""
    pid, fd = pty.fork()
    if not pid:
        os.chdir(cli.folder)
        os.execve(argv[0], argv, cli.env())
    shown, typed, end = b"", False, time.monotonic() + timeout_s
    try:
        while time.monotonic() < end:
            if select.select([fd], [], [], 0.2)[0]:
                try:
                    data = os.read(fd, 4096)
                except OSError:
                    break
                if not data:
                    break
                shown += data
            if not typed and question in shown:
                typed = True
                os.write(fd, answer.encode() + b"\n")
    finally:
        os.close(fd)
        _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), shown.decode("utf-8", "replace")


@pytest.mark.parametrize(("flag", "question"), [("-K", b"Become password: "), ("--interactive", b"password of tester")])
def test_a_person_is_asked(host: Callable[..., Become], flag: str, question: bytes) -> None:
    cli = host(sudoers=ASKED)
    argv = cli.run_args(cli.playbook(WHO.format(user="root", method="sudo", login=LOGIN)), flag, "-o", "report.json")
    code, shown = dialogue(cli, argv, question, PASSWORD)
    assert code == 0, shown
    assert question.decode() in shown
    assert PASSWORD not in shown + (cli.folder / "report.json").read_text()


def test_without_a_terminal_nobody_is_asked(host: Callable[..., Become]) -> None:
    outcome = host(sudoers=ASKED).run("- hosts: all\n  checks: [{id: a, run: 'true'}]\n", "-K")
    assert outcome.code == 64
    assert "no terminal" in outcome.stderr


def test_each_account_gets_over_a_lost_link(host: Callable[..., Become]) -> None:
    cli = host(sudoers=ALL)
    long = f"sleep {1000 + secrets.randbelow(1 << 30)}"
    text = """
        - hosts: all
          checks:
            - {id: mine, run: "cd /usr; x=mine; sleep 0.8"}
            - {id: theirs, become: true, run: "cd /etc; x=theirs; sleep 0.8"}
            - {id: cut, run: LONG, timeout: 1h}
            - {id: beside, session: other, become: true, run: LONG, timeout: 1h}
            - {id: mine2, run: 'echo "$(id -un) $x $PWD"', slice: {head: 1, when: always}}
            - {id: theirs2, become: true, run: 'echo "$(id -un) $x $PWD"', slice: {head: 1, when: always}}
        """
    play = cli.playbook(text.replace("LONG", long))
    process = cli.start(cli.run_args(play, "--format", "json"))

    def sleeps() -> int:
        lines = subprocess.run(["ps", "-eo", "args"], capture_output=True, check=True).stdout.decode().splitlines()
        return lines.count(long)

    wait_until(lambda: sleeps() >= 2, deadline_s=30, what="both checks to run")
    since = time.monotonic()
    wait_until(lambda: time.monotonic() > since + 1.0, what="both agents to know how to wait")
    cli.sshd.kill_connections()
    out, err = process.communicate(timeout=150)

    outcome = Outcome(process.returncode, out.decode(), err.decode())
    assert outcome.report["totals"]["execution"] == {"done": 4, "lost": 2}, outcome.stdout
    assert outcome.report["totals"]["host"] == {"reached": 1}
    assert outcome.finding("mine2")["slices"][0]["lines"] == [[1, f"{LOGIN} mine /usr"]]
    assert outcome.finding("theirs2")["slices"][0]["lines"] == [[1, "root theirs /etc"]]
    assert "state_lost" not in outcome.stdout
    assert any("as root: reconnected after" in warning for warning in outcome.report["warnings"]), outcome.stdout
    wait_until(lambda: not sleeps(), what="what was cut off to end")
    cli.sshd.assert_clean()


@pytest.mark.parametrize("selected", [False, True])
def test_elsewhere_it_is_as_the_other_host_says(host: Callable[..., Become], selected: bool) -> None:
    cli = host(sudoers=ASKED, password="not this one")
    inventory = cli.sshd.write_inventory(cli.folder / "both.yml", 1)
    secret = f'lb_secret: "{PASSWORD}", ansible_become_password: "{{{{ lb_secret }}}}"'
    lb = f"        lb: {{ansible_host: {cli.sshd.address(2)}, ansible_become_user: {OTHER}, {secret}}}"
    inventory.write_text(inventory.read_text().replace("      hosts:", f"      hosts:\n{lb}"))
    playbook = cli.playbook(f"""
        - hosts: h1
          checks:
            - {{id: own, run: id -un, become: true}}
            - id: there
              run: echo $SSH_CONNECTION; id -un
              become: true
              delegate_to: lb
              expect: {{stdout: {{contains: {OTHER}}}}}
        - hosts: {"lb" if selected else "h1"}
          checks: [{{id: plain, run: id -un, expect: {{stdout: {{equals: {LOGIN}}}}}}}]
        """)
    known = ["--known-hosts", cli.sshd.known_hosts, "--ssh-config", "none"]
    outcome = cli.call_here(cli.argv("run", playbook, "-i", inventory, *known, "--format", "json"))

    assert outcome.report["totals"]["verdict"] == {"ok": 2, "unknown": 1}, outcome.stdout
    assert "become_password_wrong" in reason(outcome, "own")
    assert PASSWORD not in outcome.stdout
    at(cli).assert_clean()
