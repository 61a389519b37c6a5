"""Lint: what it warns of, and what it leaves alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_factory import loop_of, make_check, make_host, make_play, plan_of, plan_plays

from checkrunner.model.inventory import Host
from checkrunner.model.plan import Account, Step
from checkrunner.model.playbook import Become
from checkrunner.model.problems import Level
from checkrunner.plan.changing import CHANGING, changes, unguarded_removals
from checkrunner.plan.habits import ENDLESS, endless
from checkrunner.plan.lint import lint
from checkrunner.plan.shellwords import commands_in, written_files


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("df -P | sort; uptime && free", ["df", "sort", "uptime", "free"]),
        ("LC_ALL=C sudo -n /usr/sbin/smartctl -a", ["smartctl"]),
        ("sudo nice -n 5 timeout -k 1 5 rm x", ["rm"]),
        ("if test -e x; then rm x; fi", ["test", "rm", "fi"]),
        ("x=$(reboot)", ["reboot"]),
        ('x="now $(date) and"', ["date"]),
        ("echo 'reboot; rm'", ["echo"]),
        ("echo reboot # reboot", ["echo"]),
        ("bash -c 'rm -rf x; ls'", ["bash", "rm", "ls"]),
        ("awk '{print $(reboot)}' x", ["awk"]),
        ("echo ${reboot} {{ reboot }}", ["echo"]),
        ("cat <<E >/dev/null\n", ["cat"]),
        ("a \\\n  b", ["a"]),
        ("( cd /; ls )", ["cd", "ls"]),
        ("", []),
        ("'", []),
    ],
)
def test_commands(text: str, names: list[str]) -> None:
    assert [command.name for command in commands_in(text)] == names


def test_offsets_of_commands() -> None:
    text = "true; sudo reboot"
    assert [text[c.offset :] for c in commands_in(text)] == ["true; sudo reboot", "reboot"]


def test_written_files() -> None:
    text = "a > /etc/x 2>&1; b 2>>'/var/y z' < /etc/in"
    assert [path for path, _ in written_files(text)] == ["/etc/x", "/var/y z"]


WARNED = [
    "rm -rf /var/cache/x",
    "find / -name core -delete",
    "mkfs.ext4 /dev/sdb",
    "dd if=/dev/zero of=/dev/sda",
    "systemctl restart nginx",
    "systemctl --now stop nginx",
    "service nginx reload",
    "reboot",
    "sudo shutdown -r now",
    "kill -9 1",
    "pkill java",
    "apt-get install -y x",
    "yum -y install x",
    "dnf upgrade",
    "rpm -e x",
    "iptables -F",
    "ip link set eth0 down",
    "sysctl -w vm.swappiness=1",
    "sed -i s/a/b/ /etc/x",
    "echo x > /etc/motd",
    "echo 3 >/proc/sys/vm/drop_caches",
    "echo x | tee /etc/motd",
    "docker restart x",
    "kubectl delete pod x",
    "xl destroy 3",
    "journalctl --vacuum-size=1M",
    "watch df",
    "tail -f /var/log/syslog",
    "tail -n 5 --follow=name x",
    "journalctl -fu nginx",
    "dmesg -w",
    "top",
    "top -b",
    "less /var/log/syslog",
    "ping 10.0.0.1",
    "vmstat 1",
    "iostat -xz 5",
    "sleep 60",
    "sleep 1m",
    "sleep infinity",
]

FINE = [
    "df -P",
    "systemctl status nginx",
    "systemctl is-active nginx",
    "systemctl list-units --state=failed",
    "systemctl show -p ActiveState restart.service",
    "kill -0 1",
    "rpm -qa",
    "rpm -Va",
    "dpkg -l",
    "apt list --upgradable",
    "iptables -L -n",
    "ip -s link",
    "ip addr show",
    "sysctl vm.swappiness",
    "sysctl -n vm.swappiness",
    "sed -n 1p /etc/x",
    "dd if=/dev/sda of=/dev/null bs=1M count=1",
    "mount",
    "echo x > /dev/null",
    "echo x > /tmp/y",
    "echo x >&2",
    "ls 2>/dev/null",
    "tail -n 20 /var/log/syslog",
    "journalctl -p err -n 20",
    "dmesg -T",
    "top -b -n 1",
    "top -bn1",
    "ping -c 3 10.0.0.1",
    "vmstat 1 5",
    "vmstat",
    "iostat -xz 1 2",
    "sleep 5",
    "timeout 5 tail -f x",
    "docker ps",
    "docker inspect x",
    "kubectl get nodes",
    "xl list",
    "fdisk -l",
    "crontab -l",
    "grep -r reboot /etc",
    "echo 'rm -rf /'",
    "last reboot",
    "man --version",
]


@pytest.mark.parametrize("text", WARNED)
def test_warned(text: str) -> None:
    assert len([*changes(text), *endless(text)]) == 1


@pytest.mark.parametrize("text", FINE)
def test_fine(text: str) -> None:
    assert [*changes(text), *endless(text)] == []


def test_rows_are_sound() -> None:
    for row in (*CHANGING, *ENDLESS):
        assert row.names
        assert not row.does.endswith(".")


def test_a_problem_has_its_place() -> None:
    (problem,) = lint(plan_of(make_check(run="true; systemctl restart x", line=4)))
    assert (problem.level, problem.message) == (Level.WARNING, "`systemctl` changes units")
    assert (problem.source.line, problem.source.column) == (4, 12 + len("true; "))


def test_argv_is_looked_at() -> None:
    (problem,) = lint(plan_of(make_check(argv=["systemctl", "restart", "x"])))
    assert problem.message == "`systemctl` changes units"


def test_errors_are_among_the_problems() -> None:
    problems = lint(plan_of(make_check("a", "{{ nope }}"), make_check("b", crit_if=["rc ="], line=2)))
    assert [(p.level, p.source.line) for p in problems] == [(Level.ERROR, 1), (Level.ERROR, 2)]


def test_checks_that_nothing_selects_are_looked_at() -> None:
    play = make_play(make_check("a", "reboot", tags=("x",)), make_check("b", "{{ 1 + }}", tags=("y",), line=2))
    problems = lint(plan_plays([(play, [])], tags=["x"]))
    assert [p.level for p in problems] == [Level.WARNING, Level.ERROR]


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        (("never",), "check 'c' has only the tag `never`: no run selects it"),
        (("never", "always"), "check 'c' is tagged both `always` and `never`: it always runs"),
    ],
)
def test_tags(tags: tuple[str, ...], message: str) -> None:
    assert message in [p.message for p in lint(plan_of(make_check(tags=tags), make_check("d", name="other")))]


def test_registered_names() -> None:
    checks = [
        make_check("a", register="x"),
        make_check("b", register="x"),
        make_check("c", register="var"),
        make_check("d", register="own"),
        make_check("e", register="rc"),
    ]
    plan = plan_of(*checks, hosts=[make_host(var=1)], play_vars={"own": 1, "cwd": 2, "group_names": 3})
    assert sorted(p.message for p in lint(plan)) == [
        "check 'b' registers 'x', but check 'a' registers it too: later checks read this one",
        "check 'c' registers 'var', but it is a variable of host h1 as well: later checks read the result",
        "check 'd' registers 'own', but it is a variable of the play as well: later checks read the result",
        "check 'e' registers 'rc', but it already means something in expressions",
        "variable 'cwd' is hidden by the name of a result's metadata",
        "variable 'group_names' cannot be set",
    ]


def test_a_registered_name_that_is_the_item_of_a_loop() -> None:
    checks = [make_check("a", register="item"), make_check("b", "echo {{ item }}", loop=loop_of([1, 2]))]
    assert "check 'a' registers 'item', but loops call their item so: their texts read the result" in [
        problem.message for problem in lint(plan_of(*checks))
    ]


def test_a_registered_name_that_the_command_line_sets() -> None:
    checks = [make_check("a", register="x"), make_check("b", "echo {{ x }}")]
    assert [problem.message for problem in lint(plan_of(*checks, extra_vars={"x": 1}))] == [
        "check 'a' registers 'x', but -e sets it as well: later checks read that"
    ]


def test_equal_names() -> None:
    problems = lint(plan_of(make_check("a", name="Disk"), make_check("b", name="Disk", line=2)))
    assert [(p.level, p.message) for p in problems] == [
        (Level.INFO, "several checks of this play are called 'Disk'")
    ] * 2


def test_a_good_playbook_has_no_problems() -> None:
    checks = [make_check("a", "df -P {{ path }}", register="disk"), make_check("b", when=["disk.rc == 0"])]
    assert lint(plan_of(*checks, hosts=[make_host(path="/")])) == []


@pytest.mark.parametrize(
    ("check", "play", "host", "wanted"),
    [
        (True, None, None, True),
        (None, True, None, True),
        (None, None, "yes", True),
        (False, True, True, False),
        (None, False, True, False),
        (None, None, "no", False),
        (None, None, None, False),
    ],
)
def test_become_is_not_silently_left_out(check: bool | None, play: bool | None, host: object, wanted: bool) -> None:
    one = make_play(make_check(become=Become(become=check)), become=Become(become=play))
    target = Host(name="h1", address="h1", options={} if host is None else {"become": host})
    plan = plan_plays([(one, [target])])
    (host_plan,) = plan.hosts
    step = host_plan.resolve(host_plan.checks[0], {})
    assert isinstance(step, Step)
    assert step.command.become == (Account(user="root") if wanted else None)
    assert lint(plan) == []


def test_a_user_without_become_is_warned_of() -> None:
    hosts = [Host(name="a", address="a"), Host(name="b", address="b", options={"become": True})]
    one = make_check(become=Become(user="postgres"))

    (problem,) = lint(plan_of(one, hosts=hosts[:1]))
    assert "names a become_user, but does not become" in problem.message
    assert lint(plan_of(one, hosts=hosts)) == []
    assert lint(plan_of(make_check(become=Become(become=False, user="postgres")), hosts=hosts[:1])) == []


def test_variables_are_only_warned_of_where_the_inventory_is_a_guess() -> None:
    plan = plan_of(make_check(run="echo {{ a }} {{ rc }} {{ b.rc }}"), play_vars={"a": "{{ nope }}"})
    found = {problem.message: problem.level for problem in lint(plan, guess=True, lost=frozenset({"b"}))}
    assert found == {
        "variable 'a': 'nope' is defined by no inventory given": Level.WARNING,
        "'rc' is not defined": Level.ERROR,
    }


def test_variables_of_the_command_line_that_nothing_reads() -> None:
    checks = [make_check(run="echo {{ a }}", warn_if=["rc > limit | default(1)"])]
    extra = {"limt": "1", "zzzzz": "1", "b": "1", "limit": "3", "ansible_user": "x"}
    problems = lint(
        plan_of(*checks, play_vars={"a": "{{ b }}"}, extra_vars={k: v for k, v in extra.items() if k != "limit"})
    )
    assert {(p.level, p.message.split(":")[0], p.hint) for p in problems} == {
        (Level.WARNING, "-e limt", "Did you mean 'limit'?"),
        (Level.INFO, "-e zzzzz", ""),
        (Level.INFO, "-e ansible_user", "Connection settings are read from the inventory"),
    }


@settings(deadline=None)
@given(st.text(st.sampled_from("ab1 \n;|&<>(){}$'\"\\`#-=/"), max_size=60))
def test_any_text_can_be_looked_at(text: str) -> None:
    for command in commands_in(text):
        assert 0 <= command.offset <= len(text)
    offsets = [one[2] for one in (*changes(text), *unguarded_removals(text))] + [one[3] for one in endless(text)]
    assert all(0 <= offset <= len(text) for offset in offsets)
