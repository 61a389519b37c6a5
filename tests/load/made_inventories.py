"""Inventories as hypothesis makes them: INI, YAML, JSON and TOML files whose parts meet in unforeseen ways."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import yaml
from hypothesis import strategies as st

__all__ = ["Made", "batches"]

Made = dict[str, str]
"""Files by name, in the order in which they are sources."""

_GROUPS = ["g1", "g2", "g3", "g4", "web-1", "ünï"]
_HOSTS = [
    "h1", "h2", "h3", "h4.example.com", "w[1:3]", "n[08:12:2]", "db-[a:c]", "h1:2222", "h5:22", "[h6]:23", "r[1:2]-[a:b]",
    "[2001:db8::1]:2200", "2001:db8::2", "192.0.2.[1:2]", "x_y", "bücher", "g3",
]  # fmt: skip
_NAMES = ["a", "b", "c", "d", "x_1"]
_RAW = [
    "1", "-3", "1.50", "1e3", "0x1f", "0644", "0o17", "1_000", "007", "True", "true", "False", "yes", "No", "on", "None", "null", "~", "''",
    '""', "'q'", '"d"', "[1, 2]", "{'k': 'v'}", "{k: v}", "(1, 2)", "{}", "[]", "2024-01-02", "12:30:45", ".5", "+5", ".inf", "a#b", "a #b",
    "#x", "a b", "{{ x }}", "'{{ x }}'", "a=b", "a: b", "'it''s'", '"a\\tb"', "'a\\tb'", "a\\tb", "b'x'", "u'x'", "r'\\d'", "1+2j", "...", "x;y",
    "1,2", "&a", "*a", "!x", "%d", "@x", "`x`", "-", "- a", "?", "|", ">", "é", "😀", "'1' '2'", "not x", "set()", "1 # c", "!!str 5", "0b11",
    "9" * 30, "1e999", "nan", "=", "<<", "0x", "08", "1.", "1.2.3", "2024-1-2", "2001-01-01 10:00:00 +01:00", "1:60", "-0",
]  # fmt: skip
_PIECES = st.text(alphabet="0123456789.-+_'\"[]{}(),: #=\\abTrueNonj;é/", max_size=8)


def _is_yaml(raw: str) -> bool:
    """Whether it can stand behind a key."""
    try:
        return list(yaml.safe_load(f"k: {raw}\n")) == ["k"]
    except (yaml.YAMLError, ValueError, TypeError):
        return False


_raw = st.sampled_from(_RAW) | _PIECES
_valid_raw = st.sampled_from([raw for raw in _RAW if _is_yaml(raw)]) | _PIECES.filter(_is_yaml)
_name = st.sampled_from(_NAMES)
_group = st.sampled_from(_GROUPS)
_host = st.sampled_from(_HOSTS)
_priority = st.sampled_from(["0", "2", "5", "-1", "10", "'3'"])


def _ini_value(raw: str) -> str:
    """A value as one word of a host's line: mostly quoted, so that what is in it gets through."""
    return raw if raw.isalnum() else "'" + raw.replace("'", '"') + "'"


_ini_word = st.builds(
    "{}={}".format, _name, _raw.map(_ini_value) | st.sampled_from(["x", "1", "a#b", "", "'a b'", '"1"', "True"])
)
_ini_host = st.builds(
    lambda host, words, tail: " ".join([host, *words]) + tail,
    _host, st.lists(_ini_word, max_size=3), st.sampled_from(["", "", "", "  ", " # tail"]),
)  # fmt: skip
_ini_var = st.builds(
    "{}{}{}".format, _name, st.sampled_from(["=", " = ", "="]), _raw.filter(lambda raw: raw.isprintable())
) | st.builds("ansible_group_priority={}".format, _priority)
_ini_lines: dict[str, st.SearchStrategy[list[str]]] = {
    "": st.lists(_ini_host, max_size=4),
    ":vars": st.lists(_ini_var, max_size=3),
}


def _after(group: str) -> list[str]:
    """The names that a group's children may have: those behind it, so that few contain themselves."""
    return _GROUPS[_GROUPS.index(group) + 1 :] or _GROUPS[:1] if group in _GROUPS else _GROUPS


@st.composite
def _ini(draw: st.DrawFn) -> str:
    lines = draw(_ini_lines[""])
    kinds = st.sampled_from(["", "", ":vars", ":children"])
    for group, kind in draw(
        st.lists(st.tuples(_group | st.sampled_from(["all", "ungrouped"]), kinds), min_size=1, max_size=8)
    ):
        if (kind == "" and group == "all") or (kind != ":vars" and group == "ungrouped"):
            kind = ":vars"  # children of `ungrouped`, and a host of `all` that has a group's name, are different to us
        children = st.lists(st.sampled_from(_after(group)), max_size=3)
        lines += [f"[{group}{kind}]", *draw(children if kind == ":children" else _ini_lines[kind])]
    # What is only spoken of would be an error in most inventories: declare it, somewhere.
    extra = [f"[{group}]" for group in draw(st.permutations(_GROUPS)) if f"[{group}]" not in lines]
    return "\n".join(lines + extra) + draw(st.sampled_from(["\n", "\r\n", ""]))


def _tree(value: st.SearchStrategy[Any], priority: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Groups by name, as data; the order of keys is drawn as well."""
    variables = st.dictionaries(_name, value, max_size=3)
    group_vars = variables | st.builds(lambda found, p: {**found, "ansible_group_priority": p}, variables, priority)
    hosts = st.dictionaries(_host, st.none() | variables, max_size=3)

    def group(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        parts = st.fixed_dictionaries({"hosts": hosts}, optional={"vars": group_vars, "children": children})
        return st.builds(_shuffled, parts, st.permutations(["vars", "children", "hosts"])) | st.none()

    def level(names: list[str], below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.dictionaries(st.sampled_from(names), group(below), min_size=1, max_size=3)

    # Mostly the names of each level are its own: groups that contain themselves are seldom of interest.
    low = level(_GROUPS[4:], st.none())
    mid = level(_GROUPS[2:4], low)
    high = level(_GROUPS[:2], mid)
    alls = st.fixed_dictionaries({"vars": group_vars, "children": high})
    return (
        high
        | st.builds(lambda one, two: {**one, **two}, low, high)
        | st.builds(lambda more, all_: {**more, "all": all_}, low, alls)
    )


def _shuffled(parts: dict[str, Any], order: list[str]) -> dict[str, Any]:
    return {part: parts[part] for part in order if part in parts}


class _Raw(str):
    """A value of YAML as it is written."""

    __slots__ = ()


def _yaml_lines(value: Any, indent: str) -> list[str]:
    lines = []
    for key, below in value.items():
        shown = f"{indent}{json.dumps(key, ensure_ascii=False)}:"
        if isinstance(below, dict) and below:
            lines += [shown, *_yaml_lines(below, indent + "  ")]
        elif isinstance(below, _Raw):
            lines.append(f"{shown} {below}")
        else:
            lines.append(f"{shown} {{}}" if below == {} else shown)
    return lines


_json_value = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5) | st.sampled_from(["yes", "1e3", "2024-01-02", "a\tb\n", "{{ x }}", "😀"]),
    lambda below: st.lists(below, max_size=2) | st.dictionaries(st.sampled_from(["k", "1", "yes"]), below, max_size=2),
    max_leaves=4,
)  # fmt: skip
_yaml_value = _valid_raw.filter(lambda raw: raw.isprintable()).map(_Raw)
_yaml = _tree(_yaml_value, _priority.map(_Raw)).map(lambda tree: "\n".join(_yaml_lines(tree, "")) + "\n")
_dump: Callable[..., str] = json.dumps
_json = st.builds(
    lambda tree, indent, ascii_only: _dump(tree, indent=indent, ensure_ascii=ascii_only),
    _tree(_json_value, st.integers(0, 9)), st.sampled_from([None, 2, "\t"]), st.booleans(),
)  # fmt: skip

_toml_value = (
    st.booleans().map(lambda value: str(value).lower())
    | st.integers(-(10**10), 10**10).map(str)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5).map(lambda text: json.dumps(text, ensure_ascii=False))
    | st.sampled_from(["1.5", "1e3", "0x1f", "'raw\\t'", '"{{ x }}"', "[1, [2, 'x']]", "{ k = 1 }", "2024-01-02", "2024-01-02T03:04:05Z"])
)  # fmt: skip


@st.composite
def _toml(draw: st.DrawFn) -> str:
    lines = []
    for group in draw(st.lists(_group, min_size=1, max_size=4, unique=True)):
        quoted = json.dumps(group, ensure_ascii=False)
        children = draw(st.lists(st.sampled_from(_after(group)), max_size=2))
        if children:
            lines += [f"[{quoted}]", f"children = {json.dumps(children, ensure_ascii=False)}"]
        for part in draw(st.permutations(["vars", "hosts"])):
            lines.append(f"[{quoted}.{part}]")
            if part == "vars":
                lines += [f"{name} = {value}" for name, value in draw(st.dictionaries(_name, _toml_value)).items()]
                continue
            for host, values in draw(
                st.dictionaries(_host, st.dictionaries(_name, _toml_value, max_size=2), max_size=3)
            ).items():
                inner = ", ".join(f"{name} = {value}" for name, value in values.items())
                lines.append(f"{json.dumps(host, ensure_ascii=False)} = {{ {inner} }}")
    return "\n".join(lines) + "\n"


_forms = {"": _ini(), ".yml": _yaml, ".json": _json, ".toml": _toml()}
_file = st.sampled_from(["", "", ".yml", ".yml", ".json", ".toml"]).flatmap(
    lambda suffix: st.tuples(st.just(suffix), _forms[suffix])
)
_made = st.lists(_file, min_size=1, max_size=3).map(
    lambda files: {f"{number}{suffix}": text for number, (suffix, text) in enumerate(files)}
)


def batches(size: int) -> st.SearchStrategy[list[Made]]:
    """Lists of that many inventories."""
    return st.lists(_made, min_size=size, max_size=size)
