"""What Ansible Vault encrypted is opened here, and what cannot be opened says why without a word of its content."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracle import Oracle

from checkrunner.load.secrets import Place, Sealed, SecretReader
from checkrunner.load.vault import VaultError, is_encrypted, open_envelope, read_envelope
from checkrunner.load.vault_passwords import Ask, VaultPassword, password_of_file, password_of_id
from checkrunner.model.errors import InventoryError, UsageError
from checkrunner.model.sources import Secret, SourceRef

# Made by `ansible-vault encrypt_string`: hunter2 with the password pw1, other2 with pw2 and the label lab.
PLAIN = """\
$ANSIBLE_VAULT;1.1;AES256
35646136326132336263326664353434333137323062316532326364666666383934333733613661
3639666433343734653463663134666232383634373239340a323533393535636266613236643366
33663638396266333830356638633563643365333339313436626139303535313738363939623036
6563326266326363350a373763626135393436643738323862366330653935373133356666626236
6637
"""
LABELLED = """\
$ANSIBLE_VAULT;1.2;AES256;lab
34656633353632623337643061663662343432393835376565666433373031313731663966666565
3837386130376130316535346635623238346465383663340a663465636464623639613561633531
36633238316435333932303464393430613637356466363830656262366234666532343836666635
6265313038326139390a616464656634383137666132326332643138363035633166376462383636
3762
"""


def nobody(prompt: str) -> Secret:
    raise AssertionError(f"nobody is to be asked: {prompt}")


def given(*passwords: str) -> SecretReader:
    """A reader with passwords: ``label=password``, or a password of no label."""
    found = []
    for text in passwords:
        label, _, password = text.rpartition("=")
        get: Callable[[], bytes] = password.encode
        found.append(VaultPassword(label or "default", f"the file {password}", lambda: None, get))
    return SecretReader(found)


def load(folder: Path, secrets: SecretReader, name: str = "hosts.yml") -> dict[str, object]:
    from checkrunner.load.inventory import load_inventory

    return dict(load_inventory([str(folder / name)], secrets=secrets).hosts["h"].vars)


def block(encrypted: str, indent: str = "      ") -> str:
    return "!vault |\n" + "".join(f"{indent}{line}\n" for line in encrypted.splitlines())


def with_value(folder: Path, encrypted: str) -> Path:
    (folder / "hosts.yml").write_text(f"all:\n  hosts: {{h: }}\n  vars:\n    pin: {block(encrypted)}", encoding="utf-8")
    return folder


def opened(value: object) -> str:
    assert isinstance(value, Sealed)
    return value.reveal()


@pytest.mark.parametrize(
    "passwords",
    [("pw1",), ("wrong", "pw1"), ("lab=pw1",), ("lab=x", "default=pw1"), ("default=y", "lab=pw2", "z", "pw1")],
)
def test_any_password_that_fits_opens(passwords: tuple[str, ...], tmp_path: Path) -> None:
    assert opened(load(with_value(tmp_path, PLAIN), given(*passwords))["pin"]) == "hunter2"


@pytest.mark.parametrize("passwords", [("lab=pw2",), ("pw2",), ("lab=wrong", "pw2"), ("other=pw2",)])
def test_a_label_says_which_password_is_tried_first_and_not_which_may_fit(
    passwords: tuple[str, ...], tmp_path: Path
) -> None:
    assert opened(load(with_value(tmp_path, LABELLED), given(*passwords))["pin"]) == "other2\n"


def test_the_password_of_the_label_is_tried_first(tmp_path: Path) -> None:
    tried: list[str] = []

    def get(label: str, password: bytes) -> Callable[[], bytes]:
        def reveal() -> bytes:
            tried.append(label)
            return password

        return reveal

    reader = SecretReader(
        [VaultPassword(label, label, lambda: None, get(label, word)) for label, word in (("a", b"x"), ("lab", b"pw2"))]
    )
    opened(load(with_value(tmp_path, LABELLED), reader)["pin"])

    assert tried == ["lab"]


def test_texts_of_all_lengths_and_letters_are_opened(oracle: Oracle) -> None:
    chance = random.Random(7)
    texts = ["", "a", "\n", "x" * 15, "x" * 16, "x" * 17, "größer\n", "\u2028 \U0001f600", "{{ a }}", "x" * 5000]
    texts += ["".join(chr(chance.randrange(1, 0xD000)) for _ in range(chance.randrange(1, 200))) for _ in range(20)]
    words = ["pw", "päss wörd", "x" * 200, " a "]
    labels = [None, "lab", "a.b-c"]
    asked = [(text, *pair) for text, pair in zip(texts, itertools.cycle(itertools.product(words, labels)))]
    encrypted = oracle.encrypted(asked)

    for (text, password, label), envelope in zip(asked, map(read_envelope, encrypted), strict=True):
        assert envelope.label == label
        assert open_envelope(envelope, [b"not it", password.encode()]) == (text.encode(), 1)


def test_files_that_the_real_program_encrypted(oracle: Oracle, tmp_path: Path) -> None:
    (tmp_path / "pw").write_text("pw1\n")
    (tmp_path / "pw2").write_text("pw2\n")
    (tmp_path / "group_vars").mkdir()
    (tmp_path / "hosts").write_text(
        "[web]\nh pw=1 q='a b' ansible_host=192.0.2.7 ansible_port=2222\n[web:vars]\nz=\"q r\"\n"
    )
    (tmp_path / "group_vars/web.yml").write_text("a: text\nb: 5432\nc: true\nd: [1, x, {k: v}]\ne:\nf: 2020-01-01\n")
    for args in (("--vault-id", "pw", "hosts"), ("--vault-id", "lab@pw2", "group_vars/web.yml")):
        answer = oracle.vault("encrypt", *args, cwd=tmp_path)
        assert answer.rc == 0, answer.stderr
    said = oracle.list("hosts", cwd=tmp_path, more=["--vault-id", "pw", "--vault-id", "lab@pw2"])
    theirs = said["_meta"]["hostvars"]["h"]

    assert (tmp_path / "group_vars/web.yml").read_text().startswith("$ANSIBLE_VAULT;1.2;AES256;lab\n")
    ours = load(tmp_path, given("pw1", "lab=pw2"), "hosts")
    assert shown(ours) == texts_of(theirs)
    assert "hunter" not in repr(ours)
    assert "192" not in repr(ours)


def texts_of(value: object) -> object:
    """Numbers as texts: a number in an encrypted file is a secret, and secrets are texts."""
    if isinstance(value, dict):
        return {key: texts_of(item) for key, item in value.items()}
    if isinstance(value, list):
        return [texts_of(item) for item in value]
    return value if value is None or isinstance(value, bool) else str(value)


def shown(value: object) -> object:
    if isinstance(value, dict):
        return {key: shown(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shown(item) for item in value]
    assert value is None or isinstance(value, bool | Secret), value
    return value.reveal() if isinstance(value, Secret) else value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("hosts", "h a=one b=2 c=True\n"),
        ("hosts.ini", "[g]\nh a=one b=2 c=True\n"),
        ("hosts.yml", "all: {hosts: {h: {a: one, b: 2, c: true}}}\n"),
        ("hosts.json", '{"all": {"hosts": {"h": {"a": "one", "b": 2, "c": true}}}}'),
        ("hosts.toml", "[g.hosts.h]\na = 'one'\nb = 2\nc = true\n"),
    ],
)
def test_an_encrypted_inventory_of_each_form(oracle: Oracle, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(oracle.encrypted([(text, "pw", None)])[0])

    assert shown(load(tmp_path, given("pw"), name)) == {"a": "one", "b": "2", "c": True}


def test_connection_settings_may_be_encrypted(oracle: Oracle, tmp_path: Path) -> None:
    from checkrunner.load.inventory import load_inventory

    text = (
        "h ansible_host=192.0.2.7 ansible_port=2222 ansible_user=ops ansible_password=007 ansible_become_password=b "
        "ansible_ssh_common_args='-J x' ansible_connection=ssh\n"
    )
    (tmp_path / "hosts").write_text(oracle.encrypted([(text, "pw", None)])[0])
    host = load_inventory([str(tmp_path / "hosts")], secrets=given("pw")).hosts["h"]

    assert (host.address, host.port, host.user, host.transport) == ("192.0.2.7", 2222, "ops", "ssh")
    assert host.password is not None
    assert host.password.reveal() == "007"
    assert host.options["ssh_common_args"] == "-J x"
    assert host.options["become_password"].reveal() == "b"
    assert isinstance(host.vars["ansible_user"], Secret)


def test_a_text_that_is_there_for_many_hosts_is_opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[bytes] = []
    derive = hashlib.pbkdf2_hmac

    def noted(name: str, password: bytes, salt: bytes, rounds: int, size: int) -> bytes:
        opened.append(password)
        return derive(name, password, salt, rounds, size)

    monkeypatch.setattr(hashlib, "pbkdf2_hmac", noted)
    reader = given("no", "pw1")
    place = Place(InventoryError, SourceRef(path="f"))

    assert [reader.vault(PLAIN, place).reveal() for _ in range(3)] == ["hunter2"] * 3
    assert opened == [b"no", b"pw1"]
    for _ in range(2):
        with pytest.raises(InventoryError, match="no other one fits"):
            reader.vault(LABELLED, place).reveal()
    assert opened == [b"no", b"pw1"] * 2


def test_values_stay_closed_until_they_are_wanted(tmp_path: Path) -> None:
    from checkrunner.load.inventory import load_inventory

    (tmp_path / "hosts.yml").write_text(f"all:\n  hosts: {{h: }}\n  vars:\n    ansible_password: {block(PLAIN)}")
    host = load_inventory([str(tmp_path / "hosts.yml")]).hosts["h"]  # no password, no error

    assert host.password is not None
    assert host.password is host.vars["ansible_password"]
    assert not host.password.is_open
    with pytest.raises(InventoryError, match="no vault password is given"):
        host.password.reveal()


def changed(text: str, number: int, line: str) -> str:
    lines = text.splitlines()
    lines[number] = line
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("encrypted", "passwords", "message", "hint"),
    [
        (PLAIN, (), "is encrypted, and no vault password is given", "--vault-password-file FILE"),
        (LABELLED, (), "no vault password is given for vault id 'lab'", "--vault-id LABEL@FILE"),
        (PLAIN, ("wrong",), r"no vault password fits: 'default' \(the file wrong\)", "It is the wrong one"),
        (PLAIN, ("a=1", "b=2"), r"fits: 'a' \(the file 1\), 'b' \(the file 2\)", "or the text was changed"),
        (
            LABELLED,
            ("dev=x",),
            "no vault password for vault id 'lab' is given, and no other one fits: 'dev'",
            "lab@FILE",
        ),
        (LABELLED, ("lap=x",), "for vault id 'lab'", "Did you mean the label 'lap'"),
        (LABELLED, ("lab=x",), "no vault password fits: 'lab'", "It is the wrong one"),
        (changed(PLAIN, 5, "6638"), ("pw1",), "no vault password fits", "was changed after it was encrypted"),
        (changed(PLAIN, 2, "3" * 80), ("pw1",), "is damaged", ""),
        (changed(PLAIN, 5, "66"), ("pw1",), "is damaged: its number of digits is odd", "too many"),
        (changed(PLAIN, 5, ""), ("pw1",), "is damaged", "lines are missing"),
        (changed(PLAIN, 3, "zz" * 40), ("pw1",), "holds more than hexadecimal digits", "hexadecimal"),
        (PLAIN.splitlines()[0], ("pw1",), "ends after its header: lines are missing", "whole text"),
        (PLAIN.replace("1.1", "1.0"), ("pw1",), "the format '1.0' of Ansible Vault is not known", "rekey"),
        (PLAIN.replace("1.1", "1.3"), ("pw1",), "the format '1.3'", "rekey"),
        (PLAIN.replace("AES256", "AES"), ("pw1",), "the cipher 'AES' of Ansible Vault is not known", "rekey"),
        (
            changed(PLAIN, 0, "$ANSIBLE_VAULT;1.1"),
            ("pw1",),
            "the header of the encrypted text is damaged",
            "1.1;AES256",
        ),
        ("hunter2", ("pw1",), "this is no text that Ansible Vault has encrypted", r"\$ANSIBLE_VAULT"),
    ],
)
def test_what_cannot_be_opened(
    encrypted: str, passwords: tuple[str, ...], message: str, hint: str, tmp_path: Path
) -> None:
    value = load(with_value(tmp_path, encrypted), given(*passwords))["pin"]
    with pytest.raises(InventoryError, match=message) as caught:
        opened(value)

    assert hint.replace("\\", "") in caught.value.hint
    assert str(caught.value).startswith(f"{tmp_path / 'hosts.yml'}:4:10: ")
    assert caught.value.line_text == "    pin: !vault |"
    assert str(value) == "********"
    with pytest.raises(InventoryError) as again:  # nothing is tried twice
        opened(value)
    assert again.value is caught.value


@pytest.mark.parametrize(
    ("passwords", "message"), [((), "no vault password is given"), (("x",), "no vault password fits")]
)
def test_a_whole_file_that_cannot_be_opened(passwords: tuple[str, ...], message: str, tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text(PLAIN)
    with pytest.raises(InventoryError, match=message) as caught:
        load(tmp_path, given(*passwords))

    assert str(caught.value).startswith(f"{tmp_path / 'hosts.yml'}:1:1: ")


LEAKS = [
    ("hosts", "[web]\nh a='hunter2\n", 2),
    ("hosts", "[web\nhunter2 = 3 4\n", 0),
    ("hosts", "h p=1 hunter2\n", 1),
    ("hosts", "h ansible_port=hunter2\n", 1),
    ("hosts", "[web:hunter2]\nh\n", 1),
    ("hosts.yml", "all: {hosts: {h: {a: *hunter2}}}\n", 1),
    ("hosts.yml", "all: {hosts: {h: {a: !hunter2 b}}}\n", 1),
    ("hosts.yml", "hunter2: [a\n", 0),
    ("hosts.yml", "all: {vars: {ansible_group_priority: hunter2}}\n", 1),
    ("hosts.yml", "all: {hosts: {h: {a: 1, a: hunter2}}}\n", 1),
    ("hosts.yml", "all: {vars: hunter2}\n", 1),
    ("hosts.json", '{"all": {"hosts": {"h": {"a": "hunter2", "a" "b"}}}}', 0),
    ("hosts.toml", "[all]\nhunter2 = 'x\n", 0),
]


def test_no_error_in_an_encrypted_file_shows_anything_of_it(oracle: Oracle, tmp_path: Path) -> None:
    encrypted = oracle.encrypted((text, "pw", None) for _, text, _ in LEAKS)
    for number, ((name, text, line), content) in enumerate(zip(LEAKS, encrypted, strict=True)):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / name).write_text(content)
        with pytest.raises(InventoryError) as caught:
            load(folder, given("pw"), name)
        said = f"{caught.value} {caught.value.line_text} {caught.value.hint}"

        assert "hunter2" not in said, text
        assert "ansible_" not in caught.value.line_text, text
        assert not line or caught.value.source.line == line, f"{text}: {caught.value}"


def test_no_warning_of_an_encrypted_file_shows_anything_of_it(oracle: Oracle, tmp_path: Path) -> None:
    from checkrunner.load.inventory import load_inventory_with_origins

    (tmp_path / "hosts").write_text(oracle.encrypted([("h a=hunter2#x hunter2=c#d\n", "pw", None)])[0])
    _, origins = load_inventory_with_origins([str(tmp_path / "hosts")], secrets=given("pw"))

    assert origins.warnings
    assert "hunter2" not in " ".join(origins.warnings)
    assert "not shown" in origins.warnings[0]


@pytest.mark.parametrize("text", ["a: [hunter2\n", "hunter2\n", "- hunter2\n", "a: *hunter2\n"])
def test_no_error_in_encrypted_variables_shows_anything_of_them(oracle: Oracle, tmp_path: Path, text: str) -> None:
    from checkrunner.load.extra_vars import parse_extra_vars

    (content,) = oracle.encrypted([(text, "pw", None)])
    (tmp_path / "hosts.yml").write_text("all: {hosts: {h: }}\n")
    (tmp_path / "host_vars").mkdir()
    (tmp_path / "host_vars/h").write_text(content)
    for read in (
        lambda: load(tmp_path, given("pw")),
        lambda: parse_extra_vars([f"@{tmp_path}/host_vars/h"], given("pw")),
    ):
        with pytest.raises(UsageError) as caught:
            read()
        assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "secret", ["!env NOT_SET", "!cmd no-such-program", "!cmd [no-such-program, hunter2]", "!vault x"]
)
def test_no_error_of_a_secret_in_an_encrypted_file_shows_its_line(oracle: Oracle, tmp_path: Path, secret: str) -> None:
    from checkrunner.load.extra_vars import parse_extra_vars

    (content,) = oracle.encrypted([(f"{{a: hunter2, s: [{{k: {secret}}}]}}\n", "pw", None)])
    (tmp_path / "vars").write_text(content)
    value: Any = parse_extra_vars([f"@{tmp_path}/vars"], given("pw"))["s"]
    with pytest.raises(UsageError) as caught:
        value[0]["k"].reveal()

    assert str(caught.value).startswith(f"{tmp_path}/vars:1:22: ")
    assert "hunter2" not in str(caught.value)


def test_extra_variables_may_be_encrypted(oracle: Oracle, tmp_path: Path) -> None:
    from checkrunner.load.extra_vars import parse_extra_vars

    (tmp_path / "v.yml").write_text(oracle.encrypted([("a: one\nb: [2]\nc: false\n", "pw", None)])[0])
    (tmp_path / "w.yml").write_text(f"d: {block(PLAIN, '  ')}")
    found = parse_extra_vars([f"@{tmp_path}/v.yml", f"@{tmp_path}/w.yml"], given("pw", "pw1"))

    assert shown(found) == {"a": "one", "b": ["2"], "c": False, "d": "hunter2"}


def test_only_what_begins_as_a_vault_is_one() -> None:
    assert is_encrypted(PLAIN)
    assert not is_encrypted(f" {PLAIN}")
    assert not is_encrypted("a: b\n")
    with pytest.raises(VaultError):
        read_envelope("")


@pytest.mark.parametrize(
    ("spec", "label", "origin"),
    [
        ("{file}", "default", "the file {file}"),
        ("lab@{file}", "lab", "the file {file}"),
        ("@{file}", "default", "the file {file}"),
        ("lab@prompt", "lab", "the prompt"),
        ("prompt", "default", "the prompt"),
        ("@prompt", "default", "the prompt"),
    ],
)
def test_vault_ids(spec: str, label: str, origin: str, tmp_path: Path) -> None:
    file = tmp_path / "pw"
    file.write_text(" pw1 \n\n")
    prompts = []

    def ask(prompt: str) -> Secret:
        prompts.append(prompt)
        return Secret("pw1")

    password = password_of_id(spec.format(file=file), ask, timeout_s=5)

    assert (password.label, password.origin) == (label, origin.format(file=file))
    assert prompts == []  # not before it is needed
    assert (password.reveal(), password.reveal()) == (b"pw1", b"pw1")
    assert prompts == ([] if origin != "the prompt" else [f"Vault password{' (lab)' if label == 'lab' else ''}: "])


@pytest.mark.parametrize(
    ("name", "label", "arguments"),
    [
        ("prog", "lab", ""),
        ("my-client", "", ""),
        ("my-client", "lab", "--vault-id lab"),
        ("my-client.sh", "x", "--vault-id x"),
    ],
)
def test_programs_that_print_a_password(name: str, label: str, arguments: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text('#!/bin/sh\necho "$@" >"$0.asked"\nprintf "pw1\\n\\n"\n')
    path.chmod(0o755)
    password = password_of_file(str(path), label, timeout_s=5)

    assert password.reveal() == b"pw1"
    assert Path(f"{path}.asked").read_text() == f"{arguments}\n"


@pytest.mark.parametrize(
    ("content", "mode", "message"),
    [
        (None, 0, "there is no vault password file"),
        ("", 0o600, "is empty"),
        (" \n", 0o600, "is empty"),
        (PLAIN, 0o600, "is encrypted itself"),
        ("#!/bin/sh\nexit 0\n", 0o700, "prints is empty"),
        ("#!/bin/sh\necho no key >&2; exit 2\n", 0o700, "ended with exit code 2: no key"),
        ("#!/bin/sh\nsleep 60\n", 0o700, r"did not end within 0\.3 s"),
        ("pw1\n", 0o700, "it is not a program"),
    ],
)
def test_passwords_that_are_not_to_be_had(content: str | None, mode: int, message: str, tmp_path: Path) -> None:
    path = tmp_path / "pw"
    if content is not None:
        path.write_text(content)
        path.chmod(mode)
    with pytest.raises(UsageError, match=message):
        password_of_file(str(path), timeout_s=0.3).reveal()


def test_a_directory_is_no_password(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a directory"):
        password_of_file(str(tmp_path), timeout_s=5).check()


def test_an_empty_answer_is_no_password() -> None:
    ask: Ask = lambda prompt: Secret("")  # noqa: E731 - a function of one expression, with its type
    with pytest.raises(UsageError, match="that was typed is empty"):
        password_of_id("prompt", ask, timeout_s=5).reveal()


def test_spaces_around_an_answer_are_no_part_of_it() -> None:
    ask: Ask = lambda prompt: Secret(" pw \r")  # noqa: E731 - a function of one expression, with its type
    assert password_of_id("prompt", ask, timeout_s=5).reveal() == b"pw"
