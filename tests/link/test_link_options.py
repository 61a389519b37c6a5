"""What the settings of a host mean, and that what is not honoured is said."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from async_helpers import run_async
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.link.transports import make_transport
from checkrunner.link.transports.ssh_known_hosts import KnownHosts
from checkrunner.link.transports.ssh_options import (
    HONOURED,
    POLICIES,
    Hop,
    HostSettings,
    SshConfig,
    hop_settings,
    host_settings,
    parse_hops,
)
from checkrunner.model.errors import InventoryError, SettingsError, UnreachableError
from checkrunner.model.inventory import Host
from checkrunner.model.options import SshOptions
from checkrunner.model.sources import Secret, SourceRef

DOCS = Path(__file__).resolve().parents[2] / "docs" / "connections.md"


def settings(args: str = "", config: str = "", tmp: Path | None = None, **changes: object) -> HostSettings:
    files: tuple[str, ...] = ()
    if tmp is not None:
        (tmp / "config").write_text(config)
        files = (str(tmp / "config"),)
    fields: dict[str, object] = {"name": "web1", "address": "web1.test", "options": {"ssh_common_args": args}}
    host = Host(**(fields | changes))  # type: ignore[arg-type]  # fields by name
    return host_settings(host, SshOptions(config_files=files))


def warned(host: Host | None = None, **changes: Any) -> list[str]:
    options = SshOptions(**({"config_files": ()} | changes))
    return list(make_transport("ssh", ssh=options).warnings(host or Host(name="web1", address="web1.test")))


@pytest.mark.parametrize(
    ("args", "field", "value"),
    [
        ("-p 2222", "port", 2222),
        ("-p2222", "port", 2222),
        ("-o Port=2222", "port", 2222),
        ("-oPort=2222", "port", 2222),
        ("-o 'Port 2222'", "port", 2222),
        ("-o port=2222", "port", 2222),
        ("-l ops", "user", "ops"),
        ("-o User=ops", "user", "ops"),
        ("-i /k1 -i '/k 2'", "key_files", ("/k1", "/k 2")),
        ("-o IdentityFile=/%h/%r", "key_files", ("/web1.test/root",)),
        ("-o IdentitiesOnly=yes", "identities_only", True),
        ("-o UserKnownHostsFile=/a", "user_known_hosts", ("/a",)),
        ("-o UserKnownHostsFile='/a /b'", "user_known_hosts", ("/a", "/b")),
        ("-o GlobalKnownHostsFile=/g", "global_known_hosts", ("/g",)),
        ("-o StrictHostKeyChecking=no", "policy", "no"),
        ("-o StrictHostKeyChecking=off", "policy", "no"),
        ("-o StrictHostKeyChecking=accept-new", "policy", "accept-new"),
        ("-o StrictHostKeyChecking=ask", "policy", "yes"),
        ("", "policy", "yes"),
        ("-J a,b", "hops", (Hop(host="a"), Hop(host="b"))),
        ("-o ProxyJump=none", "hops", ()),
        ("-o 'ProxyCommand=nc -X 5 %h %p'", "proxy_command", "nc -X 5 web1.test 22"),
        ("-o ProxyCommand=none", "proxy_command", None),
        ("-o ConnectTimeout=3", "connect_timeout_s", 3.0),
        ("-o ServerAliveInterval=7", "keepalive_s", 7.0),
        ("-o ServerAliveCountMax=9", "keepalive_count", 9),
        ("-o HostKeyAlias=other", "lookup", "other"),
        ("-o Hostname=10.0.0.1", "address", "10.0.0.1"),
        ("-o IdentityAgent=/sock", "agent_socket", "/sock"),
        ("-o IdentityAgent=none", "agent_socket", None),
    ],
)
def test_arguments(args: str, field: str, value: object) -> None:
    got = settings(args, user="root") if "%r" in args else settings(args)
    assert getattr(got, field) == value
    assert got.ignored == ()


@pytest.mark.parametrize(
    ("args", "named"),
    [
        ("-A", "-A"),
        ("-tt -q", "-t -t -q"),
        ("-o ForwardAgent=yes", "ForwardAgent"),
        ("-o ControlMaster=auto -o ControlPersist=60s", "ControlMaster ControlPersist"),
        ("-o HashKnownHosts=yes", "HashKnownHosts"),
        ("-o SendEnv=LANG -o LogLevel=ERROR", "SendEnv LogLevel"),
        ("-L 1:b:2", "-L"),
        ("-o forwardx11=yes", "ForwardX11"),
        ("-o Nonsense=1", "Nonsense"),
        ("stray", "'stray'"),
    ],
)
def test_what_is_not_honoured_is_named(args: str, named: str) -> None:
    host = Host(name="web1", address="web1.test", options={"ssh_extra_args": args})
    sentences = make_transport("ssh", ssh=SshOptions(config_files=())).warnings(host)
    words = list(dict.fromkeys(named.split()))
    assert [word in sentence for word, sentence in zip(words, sentences, strict=True)] == [True] * len(words)
    assert all(sentence.startswith("web1: ") for sentence in sentences)


def test_nothing_to_say_about_a_plain_host() -> None:
    host = Host(name="web1", address="web1.test")
    assert make_transport("ssh", ssh=SshOptions(config_files=())).warnings(host) == []


def test_ignored_options_of_a_file_are_named_where_the_section_holds(tmp_path: Path) -> None:
    config = (
        "Host *\n  HashKnownHosts yes\n  SendEnv LANG LC_*\n  GSSAPIAuthentication yes\n"
        "Host web1.test\n  ControlMaster auto\n  ForwardAgent yes\nHost web2\n  LocalForward 1 b:2\n"
    )
    assert settings(config=config, tmp=tmp_path).ignored == ("ControlMaster", "ForwardAgent")


@pytest.mark.parametrize(("args", "meant"), [("-o Prot=22", "Port"), ("-o forwardagnet=yes", "ForwardAgent")])
def test_a_misspelt_option_names_the_nearest(args: str, meant: str) -> None:
    (sentence,) = warned(host=Host(name="web1", address="web1.test", options={"ssh_common_args": args}))

    assert sentence.endswith(f"did you mean {meant}?")


WRONG = [
    ("-p", "ssh argument -p needs a value"),
    ("-o Port", "ssh argument -o Port needs a value"),
    ("-o Port=x", "Invalid Port integer value: x"),
    ("'", "No closing quotation"),
    ("-o StrictHostKeyChecking=maybe", "host key checking is 'maybe', not one of yes, accept-new, no"),
    ("-J a:b:c:d@:x", "ProxyJump 'a:b:c:d@:x' is not of the form"),
    ("-F /missing/config", "/missing/config: No such file or directory"),
]


@pytest.mark.parametrize(("args", "why"), WRONG)
def test_what_cannot_be_used_of_a_host_is_an_error_of_the_inventory(args: str, why: str) -> None:
    host = Host(
        name="web1", address="web1.test", options={"ssh_common_args": args}, source=SourceRef(path="inv.ini", line=3)
    )

    with pytest.raises(InventoryError) as caught:
        warned(host=host)

    assert str(caught.value).startswith(f"inv.ini:3: web1: its SSH settings cannot be used: {why}")


@pytest.mark.parametrize(("args", "why"), WRONG)
def test_what_cannot_be_used_of_the_run_is_an_error_of_the_setting(args: str, why: str) -> None:
    with pytest.raises(SettingsError) as caught:
        warned(common_args=args, origins={"ssh_common_args": "flag"})

    assert str(caught.value).startswith(f"setting ssh_common_args = {args!r} (from flag): {why}")


def test_a_broken_config_file_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("Host *\n  Port many\n")

    with pytest.raises(SettingsError, match=r"\(from CHECKRUNNER_SSH_CONFIG\): .*/config line 2: "):
        warned(config_files=(str(tmp_path / "config"),), origins={"ssh_config": "CHECKRUNNER_SSH_CONFIG"})


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ("Host *\n  Port 99999\n", "Port is 99999, not from 1 to 65535"),
        ("ServerAliveInterval -5\n", "ServerAliveInterval is -5, not 0 or more"),
        ("ProxyJump a:70000\n", "ProxyJump 'a:70000' is not of the form"),
        ("Include {path}\n", "its Include lines go in a circle"),
    ],
)
def test_a_config_file_that_cannot_be_meant(tmp_path: Path, config: str, why: str) -> None:
    path = tmp_path / "config"
    path.write_text(config.format(path=path))
    with pytest.raises(SettingsError, match=re.escape(why)):
        warned(config_files=(str(path),))


def test_the_files_are_read_once_for_a_host(tmp_path: Path) -> None:
    """They may run programs, which must neither be done twice nor hold up others who are connecting."""
    path, count = tmp_path / "config", tmp_path / "count"
    path.write_text(f'Match host web* exec "echo %h >>{count}"\n  Port 1\n  HostName 127.0.0.1\n')
    transport = make_transport("ssh", ssh=SshOptions(config_files=(str(path),)))
    hosts = [Host(name=name, address=f"{name}.test") for name in ("web1", "web2")]

    async def main() -> None:
        for host in hosts:
            assert transport.warnings(host) == []
        for host in hosts:
            with pytest.raises(UnreachableError, match="connection refused"):
                await transport.open(host, "true", timeout_s=5)
        await transport.aclose()

    run_async(main())
    assert count.read_text() == "web1.test\nweb2.test\n"


@pytest.mark.parametrize(
    "changes",
    [
        {"config_files": ("/missing/file",)},
        {"known_hosts": ("/missing/file",)},
        {"private_key_file": "/missing/file"},
    ],
)
def test_files_that_are_named_for_the_run_must_be_there(changes: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=r"= '/missing/file' \(from settings\): there is no file /missing/file"):
        warned(**changes)


def test_files_that_need_not_be_there(tmp_path: Path) -> None:
    (tmp_path / "key.pub").write_text("of a key that the agent has")

    assert warned(private_key_file=str(tmp_path / "key"), config_files=()) == []
    assert warned(known_hosts=("/missing/file",), host_key_checking="accept-new") == []
    assert warned(private_key_file="/keys/%h") == []


@pytest.mark.parametrize(("policy", "count"), [("yes", 0), ("accept-new", 0), ("no", 1)])
def test_a_password_for_whoever_answers_is_warned_of(policy: str, count: int) -> None:
    given = Host(name="web1", address="web1.test", password=Secret("x"))

    assert len(warned(host_key_checking=policy, host=given)) == count
    assert len(warned(host_key_checking=policy, password=Secret("x"))) == count
    assert warned(host_key_checking=policy) == []


def test_who_wins(tmp_path: Path) -> None:
    config = "Host web1.test\n  User filed\n  Port 3\n  StrictHostKeyChecking no\n  UserKnownHostsFile /filed\n"
    assert settings(config=config, tmp=tmp_path).user == "filed"
    assert settings("-l argued", config, tmp_path).user == "argued"
    assert settings("-l argued", config, tmp_path, user="inventory").user == "inventory"
    files = (str(tmp_path / "config"),)
    host = Host(name="web1", address="web1.test")
    flags = SshOptions(config_files=files, user="flag", known_hosts=("/flag",), host_key_checking="accept-new")
    flagged = host_settings(host, flags)
    assert (flagged.user, flagged.port, flagged.policy) == ("flag", 3, "accept-new")
    assert (flagged.user_known_hosts, flagged.global_known_hosts) == (("/flag",), ())
    filed = host_settings(host, SshOptions(config_files=files))
    assert (filed.policy, filed.user_known_hosts) == ("no", ("/filed",))
    strict = Host(name="web1", address="web1.test", options={"host_key_checking": True})
    assert host_settings(strict, SshOptions(config_files=files)).policy == "yes"


def test_another_file_by_argument(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("Host *\n  Port 77\n")
    assert settings(f"-F {tmp_path}/mine", "Port 78\n", tmp_path).port == 77
    assert settings("-F none", "Port 78\n", tmp_path).port == 22


def test_the_default_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text("Host web1.test\n  Port 99\n  IdentityFile ~/.ssh/special\n")
    got = host_settings(Host(name="web1", address="web1.test"), SshOptions())
    assert (got.port, got.key_files) == (99, (f"{tmp_path}/.ssh/special",))
    assert got.user_known_hosts[0] == f"{tmp_path}/.ssh/known_hosts"


def test_arguments_of_the_target_do_not_hold_for_a_hop() -> None:
    host = Host(name="web1", address="web1.test", options={"ssh_common_args": "-p 5 -l ops -J a -o ConnectTimeout=1"})
    hop = hop_settings(Hop(host="a", port=7), host, SshOptions(config_files=()))
    assert (hop.address, hop.port, hop.hops, hop.connect_timeout_s) == ("a", 7, (), None)
    assert hop.user != "ops"


@pytest.mark.parametrize(
    ("text", "hops"),
    [
        ("", ()),
        ("none", ()),
        ("a", (Hop(host="a"),)),
        ("u@a:5", (Hop(host="a", user="u", port=5),)),
        ("ssh://u@a:5/", (Hop(host="a", user="u", port=5),)),
        ("[::1]:5,b", (Hop(host="::1", port=5), Hop(host="b"))),
        ("fe80::1", (Hop(host="fe80::1"),)),
        ("u@x@a", (Hop(host="a", user="u@x"),)),
    ],
)
def test_jump_hosts_as_written(text: str, hops: tuple[Hop, ...]) -> None:
    assert parse_hops(text) == hops
    assert parse_hops(",".join(map(str, hops))) == hops


def test_ignored_options_are_named_once() -> None:
    host = Host(name="web1", address="w", options={"ssh_common_args": "-A -A", "ssh_extra_args": "-A"})
    assert warned(host) == ["web1: the SSH option -A is set and not honoured"]


def test_every_honoured_option_has_a_reader() -> None:
    for name in HONOURED:
        assert dict.__contains__(SshConfig._handlers, name.lower()), name


def test_the_page_lists_what_is_honoured() -> None:
    rows = re.findall(r"^\| `([A-Z]\w+)` \|", DOCS.read_text().partition("## SSH options")[2], re.MULTILINE)
    assert sorted(rows) == sorted(HONOURED)


def test_the_page_names_every_policy() -> None:
    text = DOCS.read_text()
    assert all(f"`{policy}`" in text for policy in POLICIES)


names = st.text("abc.-*?[]:|@!#, \t12=/+", max_size=30)


@given(st.lists(names, max_size=8))
def test_any_known_hosts_text_can_be_read(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = tmp_path_factory.mktemp("known") / "known_hosts"
    path.write_text("\n".join(lines))
    for entry in KnownHosts([str(path)]).find("a.b", 2222):
        entry.key()
