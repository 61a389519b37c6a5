"""Where the agent in shell puts its captures, and what it says of a host that it cannot work on."""

from __future__ import annotations

import functools
import os
import select
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_process import REMOTE, eventually
from contestants import at_once
from contract_agents import AGENTS, Contestant, start_contestant
from namespaced import ENTER, why_no_world

pytestmark = pytest.mark.skipif(bool(why_no_world()), reason=why_no_world() or "-")

Start = Callable[..., Contestant]
READ_ONLY = "mount -t tmpfs -o ro none"


SHELL_AGENTS = [kind for kind in AGENTS if kind.startswith("shell")]


@pytest.fixture
def start_kind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Starts an agent of a kind after commands that change what it sees of the file system."""
    started: list[Contestant] = []
    folder: Path = tmp_path_factory.getbasetemp() / "contestants"

    def start(kind: str, before: str, **options: Any) -> Contestant:
        prefix = [*ENTER, "/bin/sh", "-c", f'{before} && exec "$@"', "sh"]
        agent = start_contestant(kind, folder, prefix=prefix, **options)
        started.append(agent)
        return agent

    yield start
    for agent in started:
        agent.close()


@pytest.fixture(params=SHELL_AGENTS)
def start(request: pytest.FixtureRequest, start_kind: Start) -> Start:
    """The same for one kind after another."""
    return functools.partial(start_kind, request.param)


def works(agent: Contestant) -> None:
    agent.run("x=1; seq 5")
    assert agent.output("echo $x") == "1\n"


def test_a_folder_with_two_names_is_not_taken_for_a_left_over(start: Start, tmp_path: Path) -> None:
    """/var/tmp is often a link to /tmp; and what a variable says may end in a slash."""
    other = tmp_path / "tmp"
    other.mkdir()
    hide = f"{READ_ONLY} /dev/shm && mount --bind {other} /var/tmp"
    agent = start(
        f"mkdir {other}/a && ln -s a {other}/b && {hide}", env={"XDG_RUNTIME_DIR": "/var/tmp/b/", "HOME": "/var/tmp/a"}
    )
    assert agent.hello["dir"].startswith("/var/tmp/b/")
    works(agent)
    assert len(list((other / "a").iterdir())) == 1
    agent.bye()
    assert list((other / "a").iterdir()) == []


def test_a_folder_whose_name_cannot_be_quoted_is_not_taken(start: Start, tmp_path: Path) -> None:
    odd = tmp_path / "it's"
    odd.mkdir()
    agent = start("true", env={"XDG_RUNTIME_DIR": str(odd)})
    assert agent.hello["dir"].startswith("/dev/shm/")
    works(agent)


def test_a_full_one_is_passed_over(start: Start) -> None:
    full = "mount -t tmpfs -o size=4k none /dev/shm && { head -c 4096 /dev/zero >/dev/shm/full || :; }"
    agent = start(f"{full} 2>/dev/null", env={"XDG_RUNTIME_DIR": ""})
    assert agent.hello["dir"].startswith("/var/tmp/")
    works(agent)


def test_where_nothing_can_be_written_to(start: Start) -> None:
    hide = f"{READ_ONLY} /dev/shm && {READ_ONLY} /var/tmp && {READ_ONLY} /tmp"
    agent = start(
        f"PATH=/usr/bin:/bin; export PATH; {hide}", hello=None, env={"XDG_RUNTIME_DIR": "/proc", "HOME": "/proc"}
    )
    answer = agent.read()
    assert (answer["t"], answer["id"], answer["kind"]) == ("error", 0, "storage")
    assert "/dev/shm, /var/tmp, /tmp" in answer["message"]
    agent.process.wait(10)


def test_programs_that_are_missing_are_named(start: Start, tmp_path: Path) -> None:
    for name in ("cat", "sed", "dd"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    agent = start(f"PATH={tmp_path}; export PATH", hello=None)
    answer = agent.read()
    assert (answer["t"], answer["id"], answer["kind"]) == ("error", 0, "no_tools")
    for name in ("awk", "mkfifo", "xargs"):
        assert f" {name}" in answer["message"]
    assert " cat" not in answer["message"]
    agent.process.wait(10)


def test_what_killed_agents_have_left_is_removed(start: Start, tmp_path: Path) -> None:
    """But no directory of one that lives, and nothing that only looks like one."""
    uid = os.geteuid()
    dead, living, foreign = (tmp_path / f"checkrunner-{uid}-{word}-0" for word in ("999999", "1", "5"))
    for place in (dead, living, foreign):
        place.mkdir()
        (place / "beat").touch()
        os.utime(place / "beat", (0, 0))
    os.chown(foreign, 65534, 65534)
    link = tmp_path / f"checkrunner-{uid}-7-0"
    target = tmp_path / "target"
    target.mkdir()
    (target / "beat").touch()
    os.utime(target / "beat", (0, 0))
    link.symlink_to(target)
    start("true", env={"XDG_RUNTIME_DIR": str(tmp_path)})
    assert eventually(lambda: not dead.exists())
    assert living.exists()
    assert foreign.exists()
    assert (target / "beat").exists()


def test_an_agent_in_python_leaves_the_directory_of_one_that_lives(start: Start, start_kind: Start) -> None:
    """Also if that has made no file in it for long, which is all that its directory tells from outside."""
    old = start("true")
    assert eventually(lambda: (old.directory / "beat").exists())
    os.utime(old.directory, (0, 0))
    works(start_kind(next(kind for kind in AGENTS if not kind.startswith("shell")), "true"))
    works(old)


@pytest.mark.parametrize("hangs", [False, True])
@at_once(SHELL_AGENTS)
def test_one_whose_link_is_dead_ends_when_another_is_there(kind: str, hangs: bool, start_kind: Start) -> None:
    """It is told through its directory: the number of its process may be anybody's."""
    old = start_kind(kind, "true")
    old.run("head -c 2000000 /dev/zero; sleep 4000 & :")
    old.start("sleep 4001", session="other")
    if hangs:  # at an answer that nobody takes
        old.ask("slice", {"of": 1, "mode": "bytes", "first": 0, "last": 2_000_000, "max_bytes": 2_000_000})
        assert eventually(lambda: select.select([old.stdout], [], [], 0)[0])
    new = start_kind(kind, "true", hello=f"v=1 nonce=n1 resume={old.directory.name.removeprefix('checkrunner-')}")
    assert not old.directory.exists()
    works(new)


def test_what_is_not_ours_is_not_told_to_end(start: Start, tmp_path: Path) -> None:
    uid = os.geteuid()
    foreign, target = tmp_path / f"checkrunner-{uid}-5-00", tmp_path / "target"
    for place in (foreign, target):
        place.mkdir()
        (place / "beat").touch()
    os.chown(foreign, 65534, 65534)
    (tmp_path / f"checkrunner-{uid}-6-00").symlink_to(target)
    for number in (5, 6):
        works(start("true", hello=f"v=1 nonce=n1 resume={uid}-{number}-00", env={"XDG_RUNTIME_DIR": str(tmp_path)}))
    assert [path.name for place in (foreign, target) for path in place.iterdir()] == ["beat", "beat"]


def test_the_source_is_plain_text_of_one_encoding() -> None:
    """It is sent as it is, through whatever reads it there."""
    (REMOTE / "agent.sh").read_bytes().decode("ascii")
