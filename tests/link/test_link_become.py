"""The words by which sudo, doas and su are asked, and what is made of theirs."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.findings.redact import PatternRedactor
from checkrunner.link.become_lines import asking_line, describe, eager_line, failure, last_words, marks, sure_name
from checkrunner.model.errors import BecomeError, BecomeFailure
from checkrunner.model.plan import Account

NONCE = "c0ffee"
READY, _, ASK = marks(NONCE)


def kind_of(said: str, method: str = "sudo", *, answered: bool = False) -> BecomeFailure:
    account = Account(user="app", method=method)
    return failure(account, b"noise\n" + READY + b"\n" + said.encode(), NONCE, answered=answered).kind


@pytest.mark.parametrize(
    ("method", "said", "kind"),
    [
        ("sudo", "sudo: a password is required", BecomeFailure.PASSWORD_REQUIRED),
        ("sudo", "sudo: interactive authentication is required", BecomeFailure.PASSWORD_REQUIRED),
        ("sudo", "sudo: a terminal is required to authenticate", BecomeFailure.PASSWORD_REQUIRED),
        ("sudo", "sudo: 3 incorrect password attempts", BecomeFailure.PASSWORD_WRONG),
        ("sudo", "sudo: Authentication failed, try again.", BecomeFailure.PASSWORD_WRONG),
        ("sudo", "sudo: sorry, you must have a tty to run sudo", BecomeFailure.NEEDS_TTY),
        ("sudo", "Sorry, user me is not allowed to execute '/bin/sh -c x' as app on h.", BecomeFailure.NOT_ALLOWED),
        ("sudo", "me is not in the sudoers file.  This incident will be reported.", BecomeFailure.NOT_ALLOWED),
        ("sudo", "Sorry, user me may not run sudo on h.", BecomeFailure.NOT_ALLOWED),
        ("sudo", "sudo: I'm sorry me. I'm afraid I can't do that", BecomeFailure.NOT_ALLOWED),
        ("sudo", "sudo: unknown user: app", BecomeFailure.UNKNOWN_USER),
        ("sudo", "sudo: unknown user app\nsudo: error initializing audit plugin", BecomeFailure.UNKNOWN_USER),
        ("sudo", "sudo: user \u2018app\u2019 not found", BecomeFailure.UNKNOWN_USER),
        ("sudo", "checkrunner-become-missing", BecomeFailure.NOT_INSTALLED),
        ("sudo", "sudo: /usr/bin/sudo must be owned by uid 0", BecomeFailure.FAILED),
        ("sudo", "", BecomeFailure.FAILED),
        ("doas", "doas: Authentication required", BecomeFailure.PASSWORD_REQUIRED),
        ("doas", "doas: Authorization required", BecomeFailure.PASSWORD_REQUIRED),
        ("doas", "doas: Authentication failed", BecomeFailure.PASSWORD_WRONG),
        ("doas", "doas: Operation not permitted", BecomeFailure.NOT_ALLOWED),
        ("doas", "doas: doas is not enabled, /etc/doas.conf: No such file or directory", BecomeFailure.NOT_ALLOWED),
        ("doas", "doas: a tty is required", BecomeFailure.NEEDS_TTY),
        ("su", "checkrunner-become-asks", BecomeFailure.PASSWORD_REQUIRED),
        ("su", "su: Authentication failure", BecomeFailure.PASSWORD_WRONG),
        ("su", "su: incorrect password", BecomeFailure.PASSWORD_WRONG),
        ("su", "su: must be run from a terminal", BecomeFailure.NEEDS_TTY),
        ("su", "checkrunner-become-no-terminal", BecomeFailure.NEEDS_TTY),
        ("doas", "checkrunner-become-no-terminal", BecomeFailure.NEEDS_TTY),
        ("su", "su: user app does not exist or the user entry does not contain all", BecomeFailure.UNKNOWN_USER),
        ("su", "No passwd entry for user 'app'", BecomeFailure.UNKNOWN_USER),
        ("su", "This account is currently not available.", BecomeFailure.NOT_ALLOWED),
        ("su", "su: Permission denied", BecomeFailure.NOT_ALLOWED),
        ("su", "su: Authentication token expired", BecomeFailure.NOT_ALLOWED),
        ("su", "su: Authentication token is no longer valid; new one required", BecomeFailure.NOT_ALLOWED),
        ("sudo", "sudo: account validation failure, is your account locked?", BecomeFailure.NOT_ALLOWED),
    ],
)
def test_what_they_say_has_a_class(method: str, said: str, kind: BecomeFailure) -> None:
    assert kind_of(said, method) is kind


def test_a_password_that_is_asked_for_again_was_wrong() -> None:
    assert kind_of("sudo: a password is required", answered=True) is BecomeFailure.PASSWORD_WRONG


@pytest.mark.parametrize("method", ["doas", "su"])
def test_where_nothing_can_give_a_terminal_the_advice_is_another_way(method: str) -> None:
    said = READY + b"\ncheckrunner-become-no-terminal\n"
    error = failure(Account(user="app", method=method), said, NONCE, login="me", answered=True)
    assert error.message.startswith(f"become_needs_tty: {method} takes a password at a terminal only")
    assert error.hint == (
        "Use sudo with `me ALL=(app) NOPASSWD: /bin/sh` in sudoers, or doas with `permit nopass me as app cmd /bin/sh` "
        "in doas.conf, or install Python 3.6 or newer"
    )


def test_a_right_password_of_an_account_that_has_expired() -> None:
    said = b"sudo: Password expired, contact your system administrator\nsudo: a password is required\n"
    error = failure(Account(user="app"), READY + b"\n" + ASK + b"\n" + said, NONCE, login="me", answered=True)
    assert error.kind is BecomeFailure.NOT_ALLOWED
    assert "Password expired" in str(error)
    assert "See the state of the account of me on the host" in error.hint
    error = failure(Account(user="app", method="su"), READY + b"\nsu: Authentication token expired", NONCE, login="me")
    assert "See the state of the account of app on the host" in error.hint


def test_a_lecture_says_nothing_of_the_password() -> None:
    lecture = b"You are not permitted to misuse this account, which may be disabled.\n"
    stderr = READY + b"\n" + lecture + ASK + b"\nSorry, try again.\n"
    assert failure(Account(user="app"), stderr, NONCE, answered=True).kind is BecomeFailure.PASSWORD_WRONG
    assert last_words(stderr, NONCE) == "Sorry, try again."


def test_only_what_comes_after_the_start_up_files_counts() -> None:
    stderr = b"sudo: a password is required\n" + READY + b"\nsudo: unknown user app\n"
    assert failure(Account(user="app"), stderr, NONCE).kind is BecomeFailure.UNKNOWN_USER
    assert last_words(stderr, NONCE) == "sudo: unknown user app"


def test_our_own_line_is_not_shown() -> None:
    stderr = READY + b"\nSorry, user me is not allowed to execute '/bin/sh -c unset LANGUAGE; x' as app on h.\n"
    assert last_words(stderr, NONCE) == "Sorry, user me is not allowed to execute /bin/sh as app on h."


@pytest.mark.parametrize("kind", list(BecomeFailure))
@pytest.mark.parametrize("method", ["sudo", "doas", "su"])
def test_no_message_looks_as_if_it_held_a_secret(kind: BecomeFailure, method: str) -> None:
    if kind is BecomeFailure.LOST:
        pytest.skip("it is said elsewhere")
    text = str(describe(kind, Account(user="app", method=method), " (sudo: a password is required)", "me"))
    assert PatternRedactor().redact(text) == text
    assert text.startswith(f"{kind}: ")


@pytest.mark.parametrize(
    "name", ["root", "www-data", "_apt", "svc.backup", "CORP\\user", "me@corp.example", "machine$"]
)
def test_names_of_users(name: str) -> None:
    sure_name(Account(user=name))


@pytest.mark.parametrize("name", ["", "-x", "a b", "a;b", "a\nb", "$(id)", "a:b", "#0", "ä", "a\0b", "../x"])
def test_what_is_no_name_is_never_asked_for(name: str) -> None:
    with pytest.raises(BecomeError, match="become_unknown_user"):
        sure_name(Account(user=name))


@given(
    st.from_regex(r"\A[A-Za-z0-9_][A-Za-z0-9_.@+\\-]{0,20}\Z"), st.sampled_from(["sudo", "doas", "su"]), st.booleans()
)
def test_a_line_is_one_word_after_sh(user: str, method: str, asked: bool) -> None:
    """It holds nothing that a login shell reads in its own way."""
    account = Account(user=user, method=method)
    line = (asking_line if asked else eager_line)(account, "exec /bin/sh -c echo\\ hello", NONCE)
    head, word = line[: len("exec /bin/sh -c ")], line[len("exec /bin/sh -c ") :]
    assert head == "exec /bin/sh -c "
    assert "\n" not in line
    assert not {" ", ";", "$", "'", '"', "`", "*", "(", "&", "|", "<", ">"} & set(_unescaped(word))


def _unescaped(word: str) -> list[str]:
    out, escaped = [], False
    for char in word:
        if not escaped and char != "\\":
            out.append(char)
        escaped = char == "\\" and not escaped
    return out


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox", "ksh"])
@pytest.mark.parametrize("method", ["sudo", "doas", "su"])
def test_the_words_are_sound_in_every_sh(shell: str, method: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    argv = [shell, "sh"] if shell == "busybox" else [shell]
    for make in (eager_line, asking_line):
        line = make(Account(user="app", method=method), "exec /bin/sh -c true", NONCE)
        script = subprocess.run(["sh", "-c", f"printf %s {line.removeprefix('exec /bin/sh -c ')}"], capture_output=True)
        checked = subprocess.run([*argv, "-n", "-c", script.stdout], capture_output=True, check=False)
        assert (checked.returncode, checked.stderr) == (0, b"")
