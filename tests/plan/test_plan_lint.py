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
from checkrunner.plan.rules import RULES
from checkrunner.plan.shellwords import commands_in, written_files


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("df -P | sort; uptime && free", ["df", "sort", "uptime", "free"]),
        ("LC_ALL=C sudo -n /usr/sbin/smartctl -a", ["smartctl"]),
        ("sudo nice -n 5 timeout -k 1 5 rm x", ["rm"]),
        ("sudo -u app A=1 rm x; sudo -niu app rm x; doas -u app rm x", ["rm", "rm", "rm"]),
        ("env -u HOME rm x; stdbuf -o L rm x; timeout -s KILL 5 rm x; xargs -0 -a list rm", ["rm"] * 4),
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
    "mv a b",
    "systemctl enable --now nginx",
    "useradd x",
    "chmod 600 /etc/x",
    "chown -R app /srv",
    "mount /dev/sdb /mnt",
    "umount /mnt",
    "tee out.txt",
    "echo x > report",
    "echo x &> /var/log/y",
    "echo x > $out",
    "truncate -s 0 /var/log/x",
    "docker rm -f x",
    "docker compose down",
    "kubectl apply -f x.yml",
    "kubectl -n a scale deploy/x --replicas=0",
    "kubectl rollout restart deploy/x",
    "psql -c 'DELETE FROM t'",
    "psql -Atc 'insert into t values (1)'",
    "psql -c 'select 1; drop table t'",
    "psql -c 'SELECT pg_terminate_backend(1)'",
    "mysql -e 'UPDATE t SET a = 1'",
    "sqlite3 x.db 'alter table t add b'",
    "redis-cli SET a 1",
    "redis-cli -h r1 -p 6380 flushall",
    "redis-cli config set maxmemory 1",
    "crontab -",
    "crontab file",
    "git reset --hard",
    "git -C /srv/app pull",
    "cp /etc/a /etc/b",
    "touch /var/lib/x",
    "mkdir /srv/x",
    "ln -sf a /etc/b",
    "rm -f /tmp/../etc/x",
    "trap 'rm -f /etc/x' EXIT",
    "pip install x",
    "helm upgrade a b",
    "curl -X DELETE http://x/y",
    "find . | xargs rm",
    "hostname web1",
    "date -s 12:00",
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
    "findmnt /mnt",
    "mount -l",
    "mount -t nfs",
    "systemctl cat nginx",
    't=$(mktemp -d); echo a > $t/x; cp $t/x ${t}/y; rm -rf "$t"',
    "d=`mktemp`; trap 'rm -f $d' EXIT; date > $d",
    "rm -f /tmp/x /var/tmp/y",
    "mkdir -p /tmp/a; touch /tmp/a/b",
    "ls >/dev/stderr 2>&1",
    "echo x >/dev/tcp/localhost/80",
    "psql -Atc 'select count(*) from pg_stat_activity'",
    "psql -c 'select n_tup_upd, last_vacuum from pg_stat_user_tables'",
    "mysql -e 'show variables like \"delete%\"'",
    "mysql -e 'show replica status'",
    "redis-cli info",
    "redis-cli -h r1 config get save",
    "redis-cli --raw dbsize",
    "git log --oneline -n 3",
    "git -C /srv/app status --short",
    "git stash list",
    "docker logs x",
    "docker exec x cat /etc/os-release",
    "kubectl describe node x",
    "kubectl get --raw /healthz",
    "curl -sf -X POST http://es/_search",
    "hostname -f",
    "date -d yesterday",
    "ethtool eth0",
    "nmcli device status",
    "ip -br addr",
    "passwd -S root",
    "zpool status -x",
    "kill -s 0 1",
    "fsck -n /dev/sda1",
    "tee /dev/null",
    "sed -n '/install/p' /var/log/dpkg.log",
    "xfs_repair -n /dev/sdb",
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


def test_what_is_meant_to_change_the_host_is_accepted() -> None:
    assert lint(plan_of(make_check(run="systemctl restart x", changes_host=True))) == []
    assert lint(plan_of(make_check(run="systemctl restart x", vars={"changes_host": True}))) == []
    assert lint(plan_of(make_check(run="systemctl restart x"), play_vars={"changes_host": True})) == []
    assert len(lint(plan_of(make_check(run="systemctl restart x", vars={"changes_host": False})))) == 1


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("rm -rf $DIR/x", "`rm` goes over /x where $DIR is empty"),
        ("rm -rf ${DIR}/", "`rm` goes over / where ${DIR} is empty"),
        ('rm -fr "$DIR"/*', "`rm` goes over /* where $DIR is empty"),
        ("rm --recursive {{ dir }}/x", "`rm` goes over /x where {{ dir }} is empty"),
        ("chown -R app: $HOME_OF_APP/", "`chown` goes over / where $HOME_OF_APP is empty"),
        ("rm -rf /", "`rm` goes over all of /"),
        ("sudo rm -rf /*", "`rm` goes over all of /*"),
        ("rm -rf ~", "`rm` goes over all of ~"),
        ("rm -rf ${DIR:?}/x", ""),
        ("rm -rf ${DIR:-/srv}/x", ""),
        ("rm -rf /srv/$DIR/x", ""),
        ("rm -rf $DIR", ""),
        ("rm -f $DIR/x", ""),
        ("d=$(mktemp -d); rm -rf $d/x", ""),
    ],
)
def test_removals_below_nothing(command: str, message: str) -> None:
    assert [one[0] for one in unguarded_removals(command)] == ([message] if message else [])


def test_a_removal_below_nothing_is_never_accepted() -> None:
    (problem,) = lint(plan_of(make_check(run="rm -rf $DIR/x", changes_host=True)))
    assert (problem.rule, problem.hint) == ("unguarded-removal", "Write ${DIR:?}: the shell then ends instead")


def test_every_problem_has_a_rule_of_the_table() -> None:
    checks = [
        make_check("a", "{{ nope }}; reboot", register="rc"),
        make_check("b", "tail -f x; sleep 99", tags=("never", "always"), become=Become(user="x")),
        make_check("c", "rm -rf $A/b", needs=("d",), name="b"),
    ]
    found = {problem.rule for problem in lint(plan_of(*checks, extra_vars={"nix": 1}))}
    assert found == {
        *("undefined-name", "changes-host", "name-clash", "endless-command", "long-sleep", "contradicting-tags"),
        *("become-unused", "unguarded-removal", "needs", "duplicate-name", "unread-variable"),
    }
    assert found <= RULES.keys()


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
        make_check("b", line=2, register="x"),
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
