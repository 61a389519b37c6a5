"""Patterns mean what they mean to Ansible: given ones and generated ones, over given and generated inventories."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import golden_inventories as golden
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from oracle import Oracle

from checkrunner.load.inventory import load_inventory
from checkrunner.load.patterns import select
from checkrunner.model.errors import NoHostsError, UsageError
from checkrunner.model.inventory import Inventory

_LOADER = Path(__file__).with_name("oracle_patterns.py")

INI = """\
lonely
host-10
host-11
[web]
web3
web1
web2
[db]
db1
db2
web2
fe80::1
[prod]
x.example.com
[prod:children]
db
web
[empty]
[x]
y
[y]
web1
"""
SAME = (
    "all", "*", "web", "web1", "db:web1", "db,web1", " web1 , db1 ", "web db1", "web\tdb", "web:&db", "!db:web", "!web:!db",
    "&db", "prod", "ungrouped", "web?", "*.example.com", "[wd]*", "~web[12]", "~(db|x)", "~(?:db1|db2)$,web1", "fe80::1",
    "fe80::1,web1", "all,!fe80::1,!prod", "web[0]", "web[-1]", "web[0:1]", "web[0:2]", "web[1:]", "web[1:99]", "web[1-2]",
    "prod[0]", "all[-2]", "web*[0]", "empty:web1", "all:!nosuch*:&web", "y", "!y", "all:!y", "x", "web[0:0]", "web1[0]",
    "localhost", "localhost,web1", "127.0.0.1,localhost", "web[0],db[0]", "prod[0:1]:db", "~w:db", "~w(eb1|eb2):db",
    "we[b]1", "ungr*", "al*", "!web*", "x.example.com[0]", "web1,,web2", ":web1:", "x.*", "x.example.com,x", "[!w]*",
    "web\n", "all:&web:&db", "&web:!web1", "web1:!web2:web2", "~.*", "~.*1$", "host-1*:!host-10",
)  # fmt: skip
REFUSED = ("web[9]", "web[-9]", "!", "web:!", "~(", "web,~*x")  # by both
NOBODY = (  # in Ansible, in silence; an error here
    "host-1[0-5]", "web:2", "web:22", "y,&y", "web[0:-1]", "web[2:1]", "web0[12]", "a::b", "~web.*[0]", "nosuch",
    "web:!web", "nosuch*", "empty", "host-[10:15]",
)  # fmt: skip
OTHERWISE = {  # what Ansible reads in another way than its user means: an error here, or what is meant
    "web:&prod,db": None,  # in a list, a colon is part of a name: `db` alone
    "web[1:0]": None,  # a zero as the end is no end: web[1]
    "web1:fe80::1": None,  # web1 alone
    "web[": None,  # brackets without a partner are left out
    "web]": None,
    "~[": None,
    "": None,  # all
    "~(?:db1|db2)$:web1": ["db1", "db2", "web1"],  # the regular expression is cut at its colon
    "~web[12]{1,2},db1": ["web1", "web2", "db1"],
}
LIMITS = (
    ("all", "web"), ("web", "db"), ("web", "!web2"), ("prod", "web[0:1]"), ("localhost", "localhost"), ("db,web", "~web"),
    ("web", "@limit"), ("all", "@limit,db1"), ("all", "@limit:db1"), ("all", "!db"), ("web:db", "web2 db1"),
)  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """Patterns for one inventory."""

    source: Path
    patterns: Sequence[tuple[str, str | None]]


def ask(oracle: Oracle, jobs: Sequence[Asked], cwd: Path) -> list[list[dict[str, Any]]]:
    """Ansible's answers, from its own inventory manager."""
    text = json.dumps([{"sources": [str(job.source)], "asked": job.patterns} for job in jobs])
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
    done = subprocess.run(
        [str(oracle.python), str(_LOADER)], input=text, cwd=cwd, capture_output=True, text=True, timeout=50, check=False,
        env={**kept, "ANSIBLE_CONFIG": str(oracle.folder / "ansible.cfg"), "ANSIBLE_DEPRECATION_WARNINGS": "0"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answers: list[list[dict[str, Any]]] = json.loads(done.stdout)
    return answers


def ours(inventory: Inventory, pattern: str, limit: str | None = None) -> list[str] | None:
    """Names of hosts, None for an error."""
    try:
        return [host.name for host in select(inventory, pattern, limit)]
    except (NoHostsError, UsageError):
        return None


@pytest.fixture
def ini(tmp_path: Path) -> Path:
    path = tmp_path / "hosts"
    path.write_text(INI, encoding="utf-8")
    (tmp_path / "limit").write_text("web1\n\nweb3\n!web1\n", encoding="utf-8")
    return path


def test_given_patterns(oracle: Oracle, ini: Path) -> None:
    inventory = load_inventory([str(ini)])
    asked = [*SAME, *REFUSED, *NOBODY, *OTHERWISE]

    answers = ask(oracle, [Asked(ini, [(pattern, None) for pattern in asked])], ini.parent)[0]

    for pattern, answer in zip(asked, answers, strict=True):
        hosts = ours(inventory, pattern)
        if pattern in OTHERWISE:
            assert hosts == OTHERWISE[pattern], pattern
            assert hosts != answer.get("hosts"), f"{pattern!r} is no difference"
        elif pattern in SAME:
            assert hosts == answer["hosts"], pattern
        else:
            assert hosts is None, pattern
            assert ("error" in answer) is (pattern in REFUSED), pattern
            assert answer.get("hosts", []) == [], pattern


def test_given_limits(oracle: Oracle, ini: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ini.parent)
    inventory = load_inventory([str(ini)])

    answers = ask(oracle, [Asked(ini, LIMITS)], ini.parent)[0]

    assert [ours(inventory, *asked) for asked in LIMITS] == [answer["hosts"] for answer in answers]


def test_the_script_that_asks_many_agrees_with_the_command(oracle: Oracle, ini: Path) -> None:
    for pattern in ("db,web1:!web2", "prod[0:1]:db", "~w(eb1|eb2):db"):
        done = subprocess.run(
            [str(oracle.python.with_name("ansible")), pattern, "-i", str(ini), "--list-hosts"], cwd=ini.parent,
            env={**os.environ, "ANSIBLE_CONFIG": str(oracle.folder / "ansible.cfg")}, capture_output=True, text=True,
            timeout=50, check=False,
        )  # fmt: skip
        told = [line.strip() for line in done.stdout.splitlines()[1:]]
        assert told == ask(oracle, [Asked(ini, [(pattern, None)])], ini.parent)[0][0]["hosts"], done.stderr


BATCHES, MADE, TEXTS = 3, 8, 20  # inventories a batch, patterns an inventory
_HOSTS = ("web1", "web2", "db1", "a.b", "fe80::1", "both", "localhost", "n-1")
_GROUPS = ("web", "db", "prod", "both", "w_x", "none")
_NAMES = st.sampled_from((*_HOSTS, *_GROUPS, "all", "ungrouped", "localhost", "127.0.0.1", "nosuch"))
_GLOBS = st.sampled_from(
    ("*", "w*", "*1", "?eb1", "[wd]*", "[!w]*", "a.*", "~w", "~.*1$", "~(web|db)", "none*", "zz*", "*b*")
)
_SUBSCRIPTS = st.sampled_from(
    ("", "", "", "[0]", "[-1]", "[1]", "[0:1]", "[1:]", "[0:0]", "[1-2]", "[-2]", "[2:1]", "[1:9]")
)
_SIGNS = st.sampled_from(("", "", "", "&", "!"))


@st.composite
def _terms(draw: st.DrawFn) -> str:
    base = draw(st.one_of(_NAMES, _GLOBS))
    return draw(_SIGNS) + base + ("" if base.startswith("~") else draw(_SUBSCRIPTS))


@st.composite
def _texts(draw: st.DrawFn) -> tuple[str, str | None]:
    def one() -> str:
        terms = draw(st.lists(_terms(), min_size=1, max_size=4))
        separator = draw(st.sampled_from((",", ",", ":", ", ")))
        return separator.join(terms)

    return one(), one() if draw(st.booleans()) else None


@st.composite
def _inventories(draw: st.DrawFn) -> str:
    lines = draw(st.lists(st.sampled_from(_HOSTS), unique=True, max_size=2))
    for group in draw(st.permutations(_GROUPS)):
        hosts = [] if group == "none" else draw(st.lists(st.sampled_from(_HOSTS), unique=True, max_size=4))
        lines += [f"[{group}]", *hosts]
    # Children only of groups before them, so that there is no way round.
    for index, group in enumerate(_GROUPS[:-1]):
        children = draw(st.lists(st.sampled_from(_GROUPS[index + 1 :]), unique=True, max_size=2))
        lines += [f"[{group}:children]", *children] if children else []
    return "\n".join(lines) + "\n"


def _has_an_order(inventory: Inventory) -> bool:
    """Whether Ansible takes the hosts in one order: below several groups of one level it goes by chance."""
    for start in inventory.groups:
        level, seen = [start], {start}
        while level:
            parents = [name for name in level if set(inventory.groups[name].children) - seen]
            if len(parents) > 1:
                return False
            level = [child for name in parents for child in inventory.groups[name].children if child not in seen]
            seen.update(level)
    return True


def _is_excused(text: str) -> bool:
    """Whether an error is ours alone for a reason: see OTHERWISE."""
    return "," in text and ":" in text.replace("::", "")


@settings(
    max_examples=3,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    st.lists(
        st.tuples(_inventories(), st.lists(_texts(), min_size=TEXTS, max_size=TEXTS)), min_size=MADE, max_size=MADE
    )
)
def test_generated_patterns(oracle: Oracle, batch: list[tuple[str, list[tuple[str, str | None]]]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        jobs = []
        for number, (text, asked) in enumerate(batch):
            path = folder / f"hosts{number}"
            path.write_text(text, encoding="utf-8")
            jobs.append(Asked(path, asked))
        answers = ask(oracle, jobs, folder)
        for job, given_answers in zip(jobs, answers, strict=True):
            inventory = load_inventory([str(job.source)])
            for (pattern, limit), answer in zip(job.patterns, given_answers, strict=True):
                _compare(inventory, pattern, limit, answer, job.source.read_text(encoding="utf-8"))


def _compare(inventory: Inventory, pattern: str, limit: str | None, answer: dict[str, Any], text: str) -> None:
    hosts = ours(inventory, pattern, limit)
    what = f"{pattern!r} limited to {limit!r}: ours {hosts}, Ansible's {answer}, in\n{text}"
    if hosts is None:
        # Ansible passes over terms that name nobody; each of these is an error here.
        terms = [term for whole in (pattern, limit or "") for term in whole.replace(",", " ").split()]
        silent = not answer.get("hosts") or answer["unmatched"] or any("[" in term for term in terms)
        assert silent or any(_is_excused(whole) for whole in (pattern, limit or "")), what
    elif _has_an_order(inventory):
        assert hosts == answer.get("hosts"), what
    elif "[" not in pattern + (limit or ""):
        assert sorted(hosts) == sorted(answer.get("hosts", [])), what


def test_the_manual_says_how_many_are_compared() -> None:
    page = (Path(__file__).parents[2] / "docs" / "inventory.md").read_text(encoding="utf-8")
    count = golden.count([golden.expected(case) for case in golden.cases()])
    given_ones = len(SAME) + len(REFUSED) + len(NOBODY) + len(OTHERWISE) + len(LIMITS)

    for line in (
        f"- Variables, groups and order: {count}, all equal;\n",
        f"- Patterns: {given_ones} given ones, and {BATCHES * MADE * TEXTS} generated ones in each run.\n",
    ):
        assert line in page, f"put this line into docs/inventory.md:\n{line}"
