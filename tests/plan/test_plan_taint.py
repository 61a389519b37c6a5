"""What is made of a host's text is a host's text, whatever it goes through; and nothing of ours becomes one."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_factory import text

from checkrunner.model.errors import TemplateError
from checkrunner.plan.outside import Outside
from checkrunner.plan.taint import is_tainted, taint, untainted
from checkrunner.plan.texts import Templates
from checkrunner.plan.values import Lazy, RemoteBytes, RemotePieces, RemoteText

TEMPLATES = Templates(Outside(clock=lambda: 0.0))
NASTY = "q; $(id) `x` 'y'"

MAKING: dict[str, str] = {
    "b64decode": "v | b64encode | b64decode",
    "b64encode": "v | b64encode",
    "basename": "v | basename",
    "batch": "[v, v] | batch(1)",
    "capitalize": "v | capitalize",
    "center": "v | center(40)",
    "checksum": "v | checksum",
    "combinations": "[v, 'a'] | combinations(2)",
    "combine": "{'a': 1} | combine({'b': v})",
    "comment": "v | comment",
    "commonpath": "[v, v] | commonpath",
    "d": "nope | d(v)",
    "default": "nope | default(v)",
    "dict2items": "{'a': v} | dict2items",
    "dictsort": "{'a': v} | dictsort",
    "difference": "[v] | difference([])",
    "dirname": "('/' ~ v ~ '/b') | dirname",
    "extract": "0 | extract([v])",
    "first": "[v] | first",
    "flatten": "[[v]] | flatten",
    "format": "'%s' | format(v)",
    "from_json": "v | to_json | from_json",
    "from_yaml": "v | to_yaml | from_yaml",
    "from_yaml_all": "v | to_yaml | from_yaml_all",
    "groupby": "[{'a': v}] | groupby('a')",
    "hash": "v | hash('sha256')",
    "indent": "v | indent",
    "intersect": "[v] | intersect([v])",
    "items": "{'a': v} | items | list",
    "items2dict": "[{'key': v, 'value': 1}] | items2dict",
    "join": "['a', v] | join(' ')",
    "json_query": "{'a': v} | json_query('a')",
    "last": "[v] | last",
    "list": "v | list",
    "lower": "v | lower",
    "mandatory": "v | mandatory",
    "map": "[v] | map('upper')",
    "max": "[v] | max",
    "md5": "v | md5",
    "min": "[v] | min",
    "normpath": "v | normpath",
    "path_join": "['/a', v] | path_join",
    "permutations": "[v] | permutations",
    "product": "[v] | product([1])",
    "regex_escape": "v | regex_escape",
    "regex_findall": "v | regex_findall('.')",
    "regex_replace": "v | regex_replace('q', 'p')",
    "regex_search": "v | regex_search('.+')",
    "reject": "[v] | reject('none')",
    "rejectattr": "[{'a': v}] | rejectattr('b', 'defined')",
    "rekey_on_member": "[{'a': v}] | rekey_on_member('a')",
    "relpath": "('/a/' ~ v) | relpath('/b')",
    "replace": "'abc' | replace('b', v)",
    "reverse": "v | reverse",
    "select": "[v] | select",
    "selectattr": "[{'a': v}] | selectattr('a')",
    "sha1": "v | sha1",
    "slice": "[v] | slice(1)",
    "sort": "[v] | sort",
    "split": "v | split",
    "splitext": "v | splitext",
    "splitlines": "v | splitlines",
    "strftime": "v | strftime(0, utc=true)",
    "string": "[v] | string",
    "subelements": "[{'a': [v]}] | subelements('a')",
    "sum": "[[v]] | sum(start=[])",
    "symmetric_difference": "[v] | symmetric_difference([])",
    "ternary": "true | ternary(v, 1)",
    "title": "v | title",
    "to_json": "{'a': v} | to_json",
    "to_nice_json": "[v] | to_nice_json",
    "to_nice_yaml": "[v] | to_nice_yaml",
    "to_uuid": "v | to_uuid",
    "to_yaml": "v | to_yaml",
    "tojson": "v | tojson",
    "trim": "v | trim",
    "truncate": "v | truncate(5)",
    "union": "[v] | union([1])",
    "unique": "[v, v] | unique",
    "upper": "v | upper",
    "urldecode": "v | urldecode",
    "urlencode": "v | urlencode",
    "urlsplit": "('http://' ~ 'a/' ~ v) | urlsplit",
    "win_basename": "v | win_basename",
    "win_dirname": "('c:\\\\' ~ v ~ '\\\\x') | win_dirname",
    "win_splitdrive": "v | win_splitdrive",
    "wordwrap": "v | wordwrap(5)",
    "zip": "[v] | zip([1])",
    "zip_longest": "[1] | zip_longest([], fillvalue=v)",
}
"""For each filter that makes texts, one text that it makes of a host's."""

NO_TEXT = {
    "abs", "bool", "count", "filesizeformat", "float", "human_readable", "human_to_bytes", "int", "length", "log",
    "number", "pow", "root", "round", "to_datetime", "type_debug", "wordcount",
}  # fmt: skip
"""What comes to numbers, or to words of our own."""

TRUSTED = {"quote", "unquoted"}

OTHER_WAYS = [
    "v ~ 'x'",
    "'x' + v",
    "'%s' % v",
    "'%s' % [v]",
    "'{}'.format(v)",
    "v * 2",
    "[v] + ['x']",
    "v[1:]",
    "v[0]",
    "v.upper()",
    "v.split(';')",
    "v.encode()",
    "v.encode().decode()",
    "v.encode()[0:].decode()",
    "' '.join([v])",
    "v.join(['a', 'b'])",
    "{'a': v}.a",
    "{'a': v}.values() | list",
    "dict(a=v)",
    "[v, 'a'] | map('regex_replace', 'z', 'y') | list | first",
    "(v, 'a')",
    "lookup('vars', 'v')",
    "query('vars', 'v')",
    "lookup('env', 'NOT_SET', default=v)",
    "lookup('vars', 'v', 'v')",
    "v if true else 'x'",
    "undefined_name | default(v, true)",
]


@pytest.mark.parametrize("expression", [*MAKING.values(), *OTHER_WAYS])
def test_what_is_made_of_a_hosts_text_is_one(expression: str) -> None:
    made = TEMPLATES.evaluate(text(expression), {"v": RemoteText(NASTY)})
    assert is_tainted(made), repr(made)
    assert not is_tainted(TEMPLATES.evaluate(text(expression), {"v": NASTY}))


def test_every_filter_is_looked_at() -> None:
    filters, _ = TEMPLATES.vocabulary()
    assert set(MAKING) | NO_TEXT | TRUSTED == filters


CHAIN = st.lists(
    st.sampled_from(
        sorted(expression.replace("v ", "x ", 1) for expression in MAKING.values() if expression[:2] == "v ")
    ),
    max_size=4,
)


@settings(deadline=None, max_examples=300)
@given(CHAIN, st.text(min_size=1, max_size=8))
def test_chains_of_filters_keep_the_mark(chain: list[str], value: str) -> None:
    made: Any = RemoteText(value)
    for expression in chain:
        try:
            made = TEMPLATES.evaluate(text(expression), {"x": made, "v": made})
        except TemplateError:
            return
        texts = _texts(made)
        assert all(isinstance(part, (RemoteText, RemoteBytes)) for part in texts), expression


def _texts(value: Any) -> list[Any]:
    if isinstance(value, (str, bytes)):
        return [value]
    if isinstance(value, dict):
        return [part for pair in value.items() for item in pair for part in _texts(item)]
    return [part for item in value for part in _texts(item)] if isinstance(value, (list, tuple)) else []


@pytest.mark.parametrize(
    "content",
    [
        "{% for c in v %}{{ c }}{% endfor %}",
        "{% for a, b in [(v, 1)] %}{{ a }}{% endfor %}",
        "{% for k, w in {'a': v}.items() %}{{ w }}{% endfor %}",
        "{% set a, b = [v, 1] %}{{ a }}",
        "{% set n = namespace(x=v) %}{{ n.x }}",
        "{% set n = namespace(x='') %}{% set n.x = v %}{{ n.x }}",
        "{% set d %}{{ v }}{% endset %}{{ d }}",
        "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(v) }}",
        "{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}{{ v }}{% endcall %}",
        "{% filter trim %}{{ v }}{% endfilter %}",
        "{{ [v] }}",
        "{{ {'a': v} }}",
        "{{ (v, 1) }}",
        "{{ v.encode() }}",
        "{{ loop_of(v) if loop_of is defined else v }}",
        "{% with x = v %}{{ x }}{% endwith %}",
        "{% if v %}{{ v }}{% endif %}",
        "{{ joiner_of | default(v) }}",
    ],
)
def test_no_way_into_a_command_leaves_the_quotes_off(content: str, tmp_path: Path) -> None:
    rendered = TEMPLATES.render(text(f"echo {content}"), {"v": RemoteText("$(touch x)")}, for_shell=True)
    done = subprocess.run(["bash", "-c", rendered], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert list(tmp_path.iterdir()) == []
    assert "$(touch" in done.stdout.replace(" ", "")


@pytest.mark.parametrize(
    ("content", "rendered"),
    [
        ("kill {{ pids | join(' ') }}", "kill 1 '2; reboot' 3"),
        ("kill {{ ' '.join(pids) }}", "kill 1 '2; reboot' 3"),
        ("ls {{ pids | map('quote') | join(' ') }}", "ls 1 '2; reboot' 3"),
        ("ls {{ '-l ' ~ pids[1] }}", "ls -l '2; reboot'"),
        ("ls {{ '-l ' + pids[1] ~ ' | wc -l' }}", "ls -l '2; reboot' | wc -l"),
        ("ls {{ pids | map('regex_replace', '^', '/') | join(' ') }}", "ls /1 '/2; reboot' /3"),
        ("x={{ pids | join(',') }}", "x=1,'2; reboot',3"),
        ("{% set all = pids | join(' ') %}ls {{ all }}", "ls 1 '2; reboot' 3"),
        ("{% for p in pids %}ls {{ p }};{% endfor %}", "ls 1;ls '2; reboot';ls 3;"),
        ("sh -c {{ pids[1] | unquoted }}", "sh -c 2; reboot"),
        ("{{ pids | map('unquoted') | join(' && ') }}", "1 && 2; reboot && 3"),
        ("{{ (pids | unquoted) | join(' ') }}", "1 2; reboot 3"),
        ('echo "{{ pids | join(", ") }}"', 'echo "1, "\'2; reboot\'", 3"'),
    ],
)
def test_texts_of_hosts_are_quoted_one_by_one(content: str, rendered: str) -> None:
    names = {"pids": [RemoteText("1"), RemoteText("2; reboot"), RemoteText("3")]}
    assert TEMPLATES.render(text(content), names, for_shell=True) == rendered


def test_our_own_texts_stay_ours_beside_a_hosts() -> None:
    made = taint(["ours of some length", "of both"], [["ours of some length", RemoteText("x")]])
    ours = "ours of some length"
    assert [type(item) for item in taint([ours, "new"], [[ours, RemoteText("x")]])] == [str, RemoteText]
    assert all(isinstance(item, str) for item in made)


def test_marks_come_off_at_any_depth() -> None:
    value = {RemoteText("k"): [RemoteText("a"), (RemoteText("b"), RemoteBytes(b"c"))], "n": 1}
    assert is_tainted(value)
    bare = untainted(value)
    assert bare == value
    assert not is_tainted(bare)


def test_pieces_are_flat_and_come_to_the_whole() -> None:
    inner = RemotePieces.of(["a", RemoteText("b")])
    outer = RemotePieces.of([inner, "c"])
    assert (outer, outer.pieces) == ("abc", ("a", "b", "c"))
    assert isinstance(outer[1:], RemoteText)
    assert not isinstance(outer[1:], RemotePieces)


def test_what_is_made_when_it_is_read_is_not_looked_into() -> None:
    class Never(Lazy, dict[str, Any]):
        def values(self) -> Any:
            raise AssertionError

    assert not is_tainted([Never()])
