"""Values that stand for a secret: from the environment, from a program, wherever variables and env may be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrunner.load.documents import parse
from checkrunner.load.inventory import load_inventory
from checkrunner.load.nodes import YamlMap, plain
from checkrunner.load.playbook import load_playbook
from checkrunner.load.secrets import Sealed, SecretReader
from checkrunner.model.errors import LoadError, PlaybookError
from checkrunner.model.sources import Secret, Template


def value_of(text: str, secrets: SecretReader | None = None) -> Secret:
    root = parse(f"a: {text}\n", "f.yml", LoadError, secrets).root
    assert isinstance(root, YamlMap)
    value = plain(root)["a"]
    assert isinstance(value, Sealed)
    return value


@pytest.mark.parametrize("text", ["!env TOKEN", "!env 'TOKEN'", "!env  TOKEN  # why"])
def test_a_variable_of_the_environment(text: str) -> None:
    assert value_of(text, SecretReader(environment={"TOKEN": "a b\n"})).reveal() == "a b\n"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("!cmd printf 'a b'", "a b"),
        ("!cmd 'printf \"a b\"'", "a b"),
        ("!cmd [printf, '%s|', a b, 'c']", "a b|c|"),
        ("!cmd\n  - printf\n  - x", "x"),
        ("!cmd [sh, -c, 'echo $HOME-; echo two']", None),
        ("!cmd echo $HOME", "$HOME"),
        ("!cmd printf 'a\\n\\n'", "a\n"),
        ("!cmd printf 'a\\r\\n'", "a"),
        ("!cmd printf 0644", "0644"),
    ],
)
def test_what_a_program_prints(text: str, value: str | None) -> None:
    found = value_of(text).reveal()

    assert found.endswith("-\ntwo") if value is None else found == value


def test_a_program_runs_once_and_only_when_its_value_is_wanted(tmp_path: Path) -> None:
    log = tmp_path / "log"
    value = value_of(f"!cmd [sh, -c, 'echo x >>{log}; echo secret']")
    assert not log.exists()
    assert not value.is_open
    assert (value.reveal(), value.reveal(), value.is_open) == ("secret", "secret", True)
    assert log.read_text() == "x\n"


def test_a_dry_reader_runs_nothing(tmp_path: Path) -> None:
    dry = SecretReader(dry=True)
    assert value_of(f"!cmd touch {tmp_path / 'x'}", dry).reveal() == "********"
    assert not (tmp_path / "x").exists()
    with pytest.raises(LoadError, match="the program 'no-such-program' is not found"):
        value_of("!cmd no-such-program", dry).reveal()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("!env NOPE", "the environment variable 'NOPE' is not set"),
        ("!env TOKE", "Did you mean 'TOKEN'"),
        ("!env BAD", "is not UTF-8 text"),
        ("!cmd no-such-program", "the program 'no-such-program' cannot be started: there is no such program"),
        ("!cmd /", "may not be executed"),
        ("!cmd 'false'", "the program 'false' ended with exit code 1"),
        ("!cmd [sh, -c, 'echo why >&2; exit 3']", "the program 'sh' ended with exit code 3: why"),
        ("!cmd 'true'", "the program 'true' prints nothing"),
        ("!cmd sleep 60", r"the program 'sleep' did not end within 0\.3 s"),
        ("!cmd printf '\\377'", "what the program 'printf' prints is not UTF-8 text"),
    ],
)
def test_secrets_that_are_not_to_be_had(text: str, message: str) -> None:
    secrets = SecretReader(environment={"TOKEN": "t", "BAD": "\udcff"}, timeout_s=0.3)
    value = value_of(text, secrets)
    with pytest.raises(LoadError, match=message) as caught:
        value.reveal()

    assert str(caught.value).startswith("f.yml:1:4: ")
    assert caught.value.line_text == f"a: {text}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("!cmd", "!cmd names no program"),
        ("!cmd ''", "!cmd names no program"),
        ("!cmd []", "!cmd names no program"),
        ("!cmd ['']", "!cmd names no program"),
        ("!cmd 'a \"b'", "the quotes of this command do not match"),
        ("!cmd [a, [b]]", "a word of a command is expected here, this is a list"),
        ("!cmd {a: b}", "!cmd is for a text, this is a list or mapping"),
        ("!evn A", "Did you mean !env"),
        ("!command A", "the YAML tag !command is not known here"),
    ],
)
def test_secrets_that_are_written_wrong(text: str, message: str) -> None:
    with pytest.raises(LoadError, match=message) as caught:
        parse(f"a: {text}\n", "f.yml")

    assert caught.value.source.line == 1


def test_a_secret_is_masked_however_it_is_printed() -> None:
    value = value_of("!env TOKEN", SecretReader(environment={"TOKEN": "hunter2"}))
    value.reveal()

    assert "hunter2" not in f"{value} {value!r} {[value]}"


def test_anchors_of_secrets_are_one_secret() -> None:
    root = parse("a: &x !cmd printf y\nb: *x\nc: [*x]\n", "f.yml").root
    found = plain(root)

    assert found["a"] is found["b"] is found["c"][0]


PLAYBOOK = """\
- hosts: all
  vars: {token: !env TOKEN, deep: {list: [!cmd printf x]}}
  checks:
    - {id: a, run: "true", env: {A: !env TOKEN, B: !cmd [printf, b], C: plain}}
"""


def test_secrets_of_a_playbook() -> None:
    book = load_playbook("p.yml", PLAYBOOK, SecretReader(environment={"TOKEN": "t"}))
    (play,) = book.plays
    env = play.checks[0].env

    assert play.vars["token"].reveal() == "t"
    assert play.vars["deep"]["list"][0].reveal() == "x"
    assert {name: value.reveal() for name, value in env.items() if isinstance(value, Secret)} == {"A": "t", "B": "b"}
    assert isinstance(env["C"], Template)


@pytest.mark.parametrize(
    "check",
    [
        "run: !env A",
        "{argv: [echo, !env A]}",
        "{run: x, cwd: !cmd pwd}",
        "{run: x, when: !env A}",
        "{run: x, name: !env A}",
    ],
)
def test_where_a_secret_cannot_stand(check: str) -> None:
    text = f"- hosts: all\n  checks:\n    - {check}\n"
    with pytest.raises(PlaybookError, match="a secret cannot stand here") as caught:
        load_playbook("p.yml", text)

    assert caught.value.source.line == 3
    assert "`env` of a check" in caught.value.hint


def test_an_encrypted_playbook_is_not_read() -> None:
    with pytest.raises(PlaybookError, match="is encrypted; a playbook is read as plain text"):
        load_playbook("p.yml", "$ANSIBLE_VAULT;1.1;AES256\n3131\n")


def test_secrets_of_an_inventory(tmp_path: Path) -> None:
    path = tmp_path / "h.yml"
    path.write_text("all: {hosts: {h: {ansible_user: !env WHO, ansible_password: !cmd printf pw, x: [!env WHO]}}}\n")
    host = load_inventory([str(path)], secrets=SecretReader(environment={"WHO": "ops"})).hosts["h"]

    user = host.unsettled["user"].value
    assert isinstance(user, Secret)
    assert not user.is_open
    assert host.user == "********"
    assert user.reveal() == "ops"
    assert host.password is not None
    assert not host.password.is_open
    assert host.password.reveal() == "pw"
    assert host.vars["x"][0].reveal() == "ops"
