"""The lines by which a login shell starts something as another user, and what became of that by what was said.

Pure: knows sudo, doas and su, nothing of connections. What runs as the other user is a line of `payload`.
"""

from __future__ import annotations

import re

from checkrunner.link.payload import CANDIDATES, escape_word, load_terminal
from checkrunner.model.characters import one_line
from checkrunner.model.errors import BecomeError, BecomeFailure
from checkrunner.model.plan import Account

__all__ = ["PROMPTS", "asking_line", "describe", "eager_line", "failure", "last_words", "marks", "sure_name"]

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+\\-]*\$?")
_LOCAL_NAME = re.compile(r"[a-z_][a-z0-9_-]*")
_NOT_THERE = "checkrunner-become-missing"
_ASKS = "checkrunner-become-asks"
_NO_TERMINAL = "checkrunner-become-no-terminal"
_SHOWN = 300
_OUR_LINE = re.compile(r"'/bin/sh -c .*'(?= as )", re.DOTALL)

PROMPTS = {"sudo": "stderr", "doas": "tty", "su": "stdin"}
"""Where each program reads a password from: sudo can be told to use its standard input and to prompt on standard
error; the others want a terminal."""

# No rule and no password helps then.
_STATE = (
    r"\b(account|password|token)\b.*\b(expired|locked|disabled|invalid|no longer valid)|new one required|"
    "validation failure|change (your|expired) password"
)
# In this order: a message may fit several.
_SAID: tuple[tuple[BecomeFailure, str], ...] = (
    (BecomeFailure.NEEDS_TTY, r"must have a tty|(?<!no )tty (is )?required|must be run from a terminal"),
    (
        BecomeFailure.UNKNOWN_USER,
        r"unknown user|invalid user|no passwd entry|user \S+ (not found|does not exist)|unknown login",
    ),
    (BecomeFailure.NOT_ALLOWED, _STATE),
    (
        BecomeFailure.NOT_ALLOWED,
        (
            "not in the sudoers|not allowed to|may not run|afraid i can|not permitted|permission denied|not enabled|"
            "not available"
        ),
    ),
    (
        BecomeFailure.PASSWORD_REQUIRED,
        rf"{_ASKS}|password is required|authentication (is )?required|authorization required|terminal is required",
    ),
    (
        BecomeFailure.PASSWORD_WRONG,
        "incorrect password|authentication fail|authorization failed|try again|no password was|maximum .* tries",
    ),
)
_ADVICE = {
    BecomeFailure.PASSWORD_REQUIRED: "Give it (-K, CHECKRUNNER_BECOME_PASSWORD or ansible_become_password), or allow "
    "it without one: {rule}",
    # No colon behind the words: what follows would be taken for a password, and masked.
    BecomeFailure.PASSWORD_WRONG: "{whose}; see -K, CHECKRUNNER_BECOME_PASSWORD and ansible_become_password",
    BecomeFailure.NOT_ALLOWED: "The rule that is needed: {rule}",
    BecomeFailure.NEEDS_TTY: "Take the requirement away for this account, in sudoers: Defaults:{login} !requiretty",
    BecomeFailure.NOT_INSTALLED: "Install it, or take another `become_method`",
    BecomeFailure.UNKNOWN_USER: "See `become_user`",
    BecomeFailure.FAILED: "See what it says by hand: ssh {terminal}HOST {by_hand}",
}
_STATE_ADVICE = "See the state of the account of {owner} on the host: chage -l, passwd -S, faillock --user"


def sure_name(account: Account) -> None:
    """Raise BecomeError for what no user can be called, and for other methods; nothing is asked of the host then."""
    if account.method not in PROMPTS:
        known = ", ".join(PROMPTS)
        raise BecomeError(BecomeFailure.FAILED, f"no such method: {account.method!r}", hint=f"Supported: {known}")
    if not _NAME.fullmatch(account.user):
        raise BecomeError(
            BecomeFailure.UNKNOWN_USER, f"{account.user!r} is no name of a user", hint="See `become_user`"
        )


def marks(nonce: str) -> tuple[bytes, str, bytes]:
    """What is said when the login shell is through, what it waits for then, and what is said to ask for a password."""
    return f"{nonce}-ready".encode(), f"{nonce}-go", f"{nonce}-ask".encode()


def eager_line(account: Account, line: str, nonce: str) -> str:
    """For a login shell: run `line` as that user, or end without asking anything."""
    user = escape_word(account.user)
    inner = escape_word(_inner(account, line))
    if account.method == "su":
        # Of anybody else it would ask, and take what is sent to the agent for the answer.
        refusal = f"[ `id -u` = 0 ]||{{ echo {_ASKS} >&2;exit 126;}};"
        return _line(account, nonce, refusal, f"exec $b -s /bin/sh -c {inner} {user}")
    return _line(account, nonce, "", f"exec $b -n -u {user} -- /bin/sh -c {inner}")


def asking_line(account: Account, line: str, nonce: str) -> str:
    """For a login shell: run `line` as that user after a password; see `marks` for what is said meanwhile.

    Nothing but sudo, doas or su gets to read the password: a start-up file that reads has been through by then.
    """
    user = escape_word(account.user)
    _, go, ask = marks(nonce)
    wait = f"while read -r l;do case $l in *{go})break;;esac;done;"
    if account.method == "sudo":
        inner = escape_word(_inner(account, line))
        return _line(account, nonce, wait, f"exec $b -S -p {ask.decode()} -u {user} -- /bin/sh -c {inner}")
    if account.method == "su":
        inner = escape_word(f"exec <&3 3<&-;{_inner(account, line)}")
        argv = f"$b -s /bin/sh -c {inner} {user}"
    else:
        argv = f"$b -u {user} -- /bin/sh -c {escape_word(_inner(account, line))}"
    python = f"exec $p -IS -c {escape_word(load_terminal())} {nonce} {PROMPTS[account.method]} {argv}"
    search = f"for p in {' '.join(CANDIDATES)};do command -v $p >/dev/null 2>&1||continue;{python};done;"
    return _line(account, nonce, wait, f"{search}echo {_NO_TERMINAL} >&2;exit 127")


def _line(account: Account, nonce: str, before: str, start: str) -> str:
    ready, _, _ = marks(nonce)
    name = account.method
    script = (
        f"b=;for p in {name} /usr/bin/{name} /usr/local/bin/{name} /bin/{name};do "
        'p=`command -v $p 2>/dev/null`&&[ -x "$p" ]&&b=$p&&break;done;'
        f'echo {ready.decode()} >&2;[ -n "$b" ]||{{ echo {_NOT_THERE} >&2;exit 127;}};'
        # English messages; the encoding of the locale stays.
        f"{before}LANGUAGE=en;export LANGUAGE;{start}"
    )
    return f"exec /bin/sh -c {escape_word(script)}"


def _inner(account: Account, line: str) -> str:
    """What the other user's shell does first: directories that are the login account's are left."""
    home = f'[ -O "$HOME" ]||{{ HOME=~{account.user};export HOME;}};' if _LOCAL_NAME.fullmatch(account.user) else ""
    return (
        # Our line there would only be noise in what checks print of their environment.
        'unset LANGUAGE;[ -z "$SUDO_COMMAND" ]||SUDO_COMMAND=/bin/sh;'
        f'[ -O "$XDG_RUNTIME_DIR" ]||unset XDG_RUNTIME_DIR;{home}'
        f'cd "${{HOME:-/}}" >/dev/null 2>&1||cd /;{line}'
    )


def last_words(stderr: bytes, nonce: str) -> str:
    """What sudo, doas or su said, without what came before it and without our marks; one line."""
    ready, _, ask = marks(nonce)
    said = stderr.rpartition(ready)[2]
    # What comes before the prompt, such as a lecture, says nothing of what became of the answer.
    said = (said.partition(ask)[2] or said).replace(ask, b" ")
    # Our own line is of no interest to anybody.
    return one_line(_OUR_LINE.sub("/bin/sh", said.decode("utf-8", "replace")), _SHOWN)


def failure(account: Account, stderr: bytes, nonce: str, *, login: str = "", answered: bool = False) -> BecomeError:
    """The error for a start that brought nothing, by what was said on standard error. `login` is the account that
    logs in, where it is known; `answered` says that a password was given."""
    words = last_words(stderr, nonce)
    low = words.lower().replace("\u2019", "'")
    kind = next((kind for kind, pattern in _SAID if re.search(pattern, low)), BecomeFailure.FAILED)
    if _NO_TERMINAL in words:
        return _no_terminal(account, login)
    if _NOT_THERE in words:
        kind = BecomeFailure.NOT_INSTALLED
    elif kind is BecomeFailure.PASSWORD_REQUIRED and answered:
        kind = BecomeFailure.PASSWORD_WRONG
    said = f" ({words})" if words and "checkrunner-become" not in words else ""
    return describe(kind, account, said, login)


def _no_terminal(account: Account, login: str) -> BecomeError:
    rules = _rules(account.user, login)
    return BecomeError(
        BecomeFailure.NEEDS_TTY,
        f"{account.method} takes a password at a terminal only, and without Python on the host there is none for it",
        hint=f"Use sudo with {rules['sudo']}, or doas with {rules['doas']}, or install Python 3.6 or newer",
    )


def _rules(user: str, login: str) -> dict[str, str]:
    """What lets an account go without a password."""
    who = login or "LOGIN"
    return {
        "sudo": f"`{who} ALL=({user}) NOPASSWD: /bin/sh` in sudoers",
        "doas": f"`permit nopass {who} as {user} cmd /bin/sh` in doas.conf",
        "su": "`become_method: sudo` or doas, since su lets nobody but root do without one",
    }


def describe(
    kind: BecomeFailure, account: Account, said: str = "", login: str = "", *, asks: bool = False
) -> BecomeError:
    """The error of this kind in words. `said` follows them, if anything; `asks` says that it wants an answer."""
    method, user = account.method, account.user
    what = {
        BecomeFailure.PASSWORD_REQUIRED: f"{method} wants a password before it runs anything as {user}",
        BecomeFailure.PASSWORD_WRONG: f"{method} did not take the password",
        BecomeFailure.NOT_ALLOWED: f"{method} does not allow /bin/sh as {user}",
        BecomeFailure.NEEDS_TTY: f"{method} does nothing without a terminal",
        BecomeFailure.NOT_INSTALLED: f"{method} is not on this host",
        BecomeFailure.UNKNOWN_USER: f"{method} knows no user {user}",
    }.get(kind, f"{method} started nothing as {user}")
    who = login or "LOGIN"
    rule = _rules(user, login)[method]
    if method != "su":
        rule += "; where only certain commands are allowed, write `become: exact`"
    whose = (
        f"Su asks for {user}'s own" if method == "su" else f"{method.title()} asks for that of the account that logs in"
    )
    by_hand = f"su {user} -c true" if method == "su" else f"{method} {'' if asks else '-n '}-u {user} true"
    state = kind is BecomeFailure.NOT_ALLOWED and re.search(_STATE, said.lower())
    advice = _STATE_ADVICE if state else _ADVICE[kind]
    owner = user if method == "su" else who
    hint = advice.format(rule=rule, whose=whose, login=who, by_hand=by_hand, owner=owner, terminal="-t " * asks)
    return BecomeError(kind, f"{what}{said}", hint=hint)
