from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from checkrunner.findings.fold import fold, unfold

host_like = st.from_regex(r"[a-z]{0,3}-?[0-9]{0,3}(\.[a-z0-9]{1,2})?[0-9]{0,2}", fullmatch=True).filter(bool)
any_name = st.text(min_size=1, max_size=12)
odd = st.text(alphabet='ab01[],"\\ @!&^*%:-._/\n', min_size=1, max_size=8)


@given(st.lists(st.one_of(host_like, any_name, odd), max_size=30))
@example(["n1", "n01", "n001"])
@example(["n1", "n01", "n001", "n10", "n010"])
@example(["web[01-02]", "web1", "web2"])
@example(["fe80::1", "fe80::2", "größe-1", "größe-2"])
@example(["a,b", 'say "x"', "back\\slash", " lead", "trail "])
@example(["1", "2", "03", "0", "00"])
@example(["n" + "9" * 30, "n" + "9" * 29 + "8", "n1", "n2"])
@example(["@group", "@*", "%s", "n%d1", "!n1", "n1^n2", "n1-5", "n1-6"])
@example(["\ud800", "\u2028", "\0"])
@settings(max_examples=400, deadline=None)
def test_unfold_gives_back_the_names(names: list[str]) -> None:
    text = fold(names)

    assert sorted(unfold(text)) == sorted(set(names))
    assert fold(unfold(text)) == text


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["db1"], "db1"),
        (["web01", "web02", "web03", "db1"], "db1,web[01-03]"),
        (["web10", "web9"], "web[9-10]"),
        (["10.0.0.2", "10.0.0.1"], "10.0.0.[1-2]"),
        (["localhost", "db1"], "db1,localhost"),
        (["fe80::2", "fe80::1"], "fe80::2,fe80::1"),
        (["a b", "web1"], 'web1,"a b"'),
        ([""], '""'),
    ],
)
def test_folded_text(names: list[str], text: str) -> None:
    assert fold(names) == text


def test_ten_thousand_hosts_fold_to_a_few_characters() -> None:
    names = [f"node{i:05d}" for i in range(10_000)]

    assert fold(names) == "node[00000-09999]"
    assert list(unfold("node[00000-09999]")) == names


def test_one_name_does_not_import_clustershell() -> None:
    code = (
        "import sys; from checkrunner.findings.fold import fold, unfold; "
        "assert fold(['web01']) == 'web01'; assert unfold('web01,db') == ('web01', 'db'); "
        "sys.exit(any(m.startswith('ClusterShell') for m in sys.modules))"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
