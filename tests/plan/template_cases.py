"""Texts for the comparison with Ansible: each filter and test on values of all kinds, and what hypothesis makes."""

from __future__ import annotations

import zlib
from typing import Any

from hypothesis import strategies as st

__all__ = ["MADE", "VALUES", "Case", "cases"]

Case = tuple[str, str, dict[str, Any]]

VALUES: dict[str, Any] = {
    "none": None,
    "yes": True,
    "no": False,
    "zero": 0,
    "one": 1,
    "big": 1_500_000,
    "minus": -3,
    "half": 0.5,
    "float1": 1.0,
    "empty": "",
    "blank": "  a b  c ",
    "word": "Web-01",
    "words": "yes",
    "off": "Off",
    "digits": "42",
    "decimal": "1.5",
    "size": "1.5 MB",
    "path": "/etc/nginx/conf.d/site.tar.gz",
    "url": "https://user:pw@host.example:8443/a/b?q=1#top",
    "lines": "one\ntwo=2\n\nthree 3\n",
    "umlaut": "Größe 5 €",
    "json": '{"a": [1, 2.5, null, true], "b": {"c": "x"}}',
    "yaml": "a: [1, yes, ~]\nb:\n  - c: x y\n",
    "b64": "aGVsbG8=",
    "date": "2024-03-01 10:20:30",
    "version": "1.10.2",
    "version2": "2.0.0-rc.1",
    "quote": 'it\'s "$HOME" `x` \\1',
    "numbers": [3, 1, 2, 3],
    "floats": [1.5, -2.0, 0.25],
    "texts": ["b", "A", "a", "b"],
    "mixed": [1, "1", None, True, [2]],
    "nested": [1, [2, [3, [4, None]]], []],
    "nothing": [],
    "pairs": [["a", 1], ["b", 2]],
    "map": {"b": 1, "a": [1, 2], "c": {"d": "e"}},
    "other": {"b": 2, "c": {"f": 1}, "a": [2, 3]},
    "emptymap": {},
    "items": [{"key": "x", "value": 1}, {"key": "y", "value": [2]}],
    "users": [
        {"name": "ann", "uid": 1000, "shell": "/bin/bash", "groups": ["wheel", "adm"]},
        {"name": "bob", "uid": 1001, "shell": "/bin/sh", "groups": []},
        {"name": "cyd", "uid": 999, "shell": "/bin/bash", "groups": ["adm"], "locked": True},
    ],
    "result": {"rc": 1, "failed": True, "changed": False, "stdout": "x", "stdout_lines": ["x"]},
    "skipped": {"skipped": True, "changed": False},
    "loop": {"results": [{"rc": 0, "changed": True}, {"rc": 1, "failed": True}], "changed": True},
}

_FILTERS = [
    "abs",
    "b64decode",
    "b64encode",
    "basename",
    "bool",
    "capitalize",
    "checksum",
    "combine",
    "comment",
    "commonpath",
    "count",
    "dict2items",
    "dictsort",
    "dirname",
    "first",
    "flatten",
    "float",
    "from_json",
    "from_yaml",
    "from_yaml_all",
    "hash",
    "human_readable",
    "human_to_bytes",
    "int",
    "items",
    "items2dict",
    "join",
    "last",
    "length",
    "list",
    "log",
    "lower",
    "mandatory",
    "max",
    "md5",
    "min",
    "normpath",
    "path_join",
    "pow(2)",
    "product",
    "quote",
    "regex_escape",
    "reverse",
    "root",
    "round",
    "sha1",
    "sort",
    "split",
    "splitext",
    "string",
    "sum",
    "title",
    "to_datetime",
    "to_json",
    "to_nice_json",
    "to_nice_yaml",
    "to_uuid",
    "to_yaml",
    "trim",
    "type_debug",
    "unique",
    "upper",
    "urldecode",
    "urlencode",
    "urlsplit",
    "win_basename",
    "win_dirname",
    "win_splitdrive",
    "wordcount",
    "zip",
    "default",
    "default('x')",
    "default('x',true)",
    "d(5)",
    "ternary('T','F')",
    "ternary('T','F','N')",
    "ternary(nope,'F')",
    "unique(case_sensitive=true)",
    "join(',')",
    "join('-',attribute='name')",
    "int(7)",
    "int(base=16)",
    "float(1.5)",
    "round(1)",
    "round(0,'ceil')",
    "round(method='floor')",
    "split('/')",
    "split('=',1)",
    "split(',')",
    "replace('a','b')",
    "replace('/','\\\\')",
    "truncate(5)",
    "truncate(5,true,'')",
    "center(20)",
    "indent(2)",
    "wordwrap(6)",
    "batch(2)",
    "batch(2,'x')",
    "slice(2)",
    "sum(attribute='uid')",
    "sum(start=10)",
    "sort(reverse=true)",
    "sort(attribute='uid')",
    "sort(case_sensitive=true)",
    "max(attribute='uid')",
    "min(attribute='name')",
    "unique(attribute='shell')",
    "groupby('shell')",
    "map(attribute='name')",
    "map(attribute='locked',default='no')",
    "map('upper')",
    "map('string')",
    "map('int')",
    "map('default','x')",
    "map('length')",
    "map('extract',map)",
    "map('regex_replace','[aeiou]','#')",
    "map('type_debug')",
    "select",
    "select('string')",
    "select('number')",
    "select('match','[a-z]')",
    "select('>',1)",
    "select('in',['a',3])",
    "reject",
    "reject('none')",
    "reject('search','[0-9]')",
    "reject('equalto',3)",
    "selectattr('locked')",
    "selectattr('locked','defined')",
    "selectattr('uid','>',999)",
    "selectattr('shell','equalto','/bin/bash')",
    "selectattr('name','in',['ann'])",
    "rejectattr('locked')",
    "rejectattr('locked','defined')",
    "rejectattr('groups','contains','adm')",
    "selectattr('name','match','a')",
    "flatten(1)",
    "flatten(levels=0)",
    "flatten(skip_nulls=false)",
    "product(texts)",
    "product([1,2],repeat=2)",
    "permutations(2)",
    "combinations(2)",
    "zip([1,2])",
    "zip(texts,numbers)",
    "zip_longest([1],fillvalue='-')",
    "union(texts)",
    "intersect(texts)",
    "difference(texts)",
    "symmetric_difference(texts)",
    "union(numbers)",
    "intersect([1,[2]])",
    "difference(numbers)",
    "union([[1]])",
    "combine(other)",
    "combine(other,recursive=true)",
    "combine(other,{'z':1},list_merge='append')",
    "combine(other,recursive=true,list_merge='append_rp')",
    "combine(other,recursive=true,list_merge='prepend_rp')",
    "combine(other,list_merge='keep')",
    "combine(other,list_merge='prepend')",
    "combine(other,list_merge='wrong')",
    "combine(word)",
    "combine(emptymap)",
    "combine([other,{'q':1}])",
    "dict2items(key_name='k',value_name='v')",
    "items2dict(key_name='name',value_name='uid')",
    "subelements('groups')",
    "subelements('locked',skip_missing=true)",
    "subelements('a.b')",
    "rekey_on_member('name')",
    "rekey_on_member('shell')",
    "rekey_on_member('shell',duplicates='overwrite')",
    "extract(map)",
    "extract(users,'name')",
    "extract(map,['d'])",
    "hash('sha256')",
    "hash('md5')",
    "hash('nope')",
    "human_readable(isbits=true)",
    "human_readable(unit='K')",
    "human_to_bytes(default_unit='M')",
    "human_to_bytes(isbits=true)",
    "log(10)",
    "log(2)",
    "root(3)",
    "pow(0.5)",
    "regex_search('[0-9]+')",
    "regex_search('(\\w)(\\d)','\\1','\\2')",
    "regex_search('(?P<n>\\d)','\\g<n>')",
    "regex_search('x','y')",
    "regex_search('WEB',ignorecase=true)",
    "regex_search('^t',multiline=true)",
    "regex_search('(')",
    "regex_findall('[a-z]')",
    "regex_findall('(\\w)=(\\w)')",
    "regex_findall('^\\w+',multiline=true)",
    "regex_findall('WEB',ignorecase=true)",
    "regex_replace('[0-9]','<\\g<0>>')",
    "regex_replace('(\\w)-(\\w)','\\2-\\1')",
    "regex_replace('^','>",
    "',multiline=true)",
    "regex_replace('E','',ignorecase=true)",
    "regex_replace('a','b',count=1)",
    "regex_replace('a','b',mandatory_count=2)",
    "regex_replace('(','')",
    "regex_replace('\\n','",
    "')",
    "regex_replace('\\s+')",
    "regex_escape('posix_basic')",
    "regex_escape('nope')",
    "to_json(indent=2)",
    "to_json(sort_keys=true)",
    "to_json(ensure_ascii=false)",
    "to_nice_json(indent=2)",
    "to_nice_json(sort_keys=false)",
    "to_nice_yaml(indent=2)",
    "to_yaml(default_flow_style=false)",
    "to_yaml(sort_keys=false)",
    "to_nice_yaml(width=20)",
    "to_datetime('%Y-%m-%d",
    "%H:%M:%S')",
    "to_datetime('%d')",
    "strftime(0,true)",
    "strftime(86400.5,utc=true)",
    "comment('c')",
    "comment('xml')",
    "comment('cblock')",
    "comment('plain',prefix_count=2)",
    "comment(decoration=';",
    "')",
    "comment('nope')",
    "urlsplit('hostname')",
    "urlsplit('port')",
    "urlsplit('nope')",
    "b64encode(urlsafe=true)",
    "b64decode(encoding='utf-16-le')",
    "to_uuid('c0ffee00-0000-4000-8000-000000000000')",
    "to_uuid('nope')",
    "path_join",
    "trim('W')",
    "dictsort(by='value')",
    "dictsort(reverse=true)",
    "filesizeformat",
    "tojson",
    "format(1)",
]

_TESTS = [
    "abs",
    "boolean",
    "callable",
    "changed",
    "change",
    "contains(3)",
    "contains('a')",
    "defined",
    "divisibleby(2)",
    "eq(1)",
    "even",
    "failed",
    "failure",
    "falsy",
    "falsy(convert_bool=true)",
    "false",
    "finished",
    "float",
    "ge(1)",
    "gt(1)",
    "in([1,'a',3])",
    "in(texts)",
    "integer",
    "isnan",
    "issubset([1,2,3])",
    "issuperset([1])",
    "iterable",
    "le(1)",
    "lower",
    "lt(1)",
    "mapping",
    "match('[A-Z]')",
    "match('a',multiline=true)",
    "match('WEB',ignorecase=true)",
    "nan",
    "ne(1)",
    "none",
    "number",
    "odd",
    "reachable",
    "regex('[0-9]')",
    "regex('a','match')",
    "regex('(')",
    "sameas(true)",
    "search('[0-9]$')",
    "search('WEB',ignorecase=true)",
    "search('^t',multiline=true)",
    "sequence",
    "skip",
    "skipped",
    "started",
    "string",
    "subset(numbers)",
    "succeeded",
    "success",
    "successful",
    "superset([3])",
    "timedout",
    "true",
    "truthy",
    "truthy(convert_bool=true)",
    "undefined",
    "unreachable",
    "upper",
    "uri",
    "uri(['https'])",
    "url",
    "url(['http'])",
    "urn",
    "version('1.2')",
    "version('1.10.2','==')",
    "version('1.9','>')",
    "version('2','<=')",
    "version('1.10.2','ge',strict=true)",
    "version('2.0.0','<',version_type='semver')",
    "version('2.0.0-rc.2','lt',version_type='semver')",
    "version('1.2.3-alpha.1','gt',version_type='semantic')",
    "version('','eq')",
    "version('1','~')",
    "version('1','eq',version_type='x')",
    "version('1.0',strict=true,version_type='loose')",
    "version('1.10.2-1','<')",
    "any",
    "all",
    "is_abs",
]

_EXPRESSIONS = r"""
nope
nope.a
nope.a.b | default(1)
map.b.c | default('x')
map.nope | default('x')
map['a'][0] + 1
map.a + [3]
map.keys()
map.values() | list
map.items() | list
users[0].name ~ '-' ~ users[1].uid
users | map(attribute='groups') | flatten | unique | sort
users | map(attribute='uid') | sum / 3
users | selectattr('uid', '>', 999) | map(attribute='name') | join(', ')
users | groupby('shell') | map('first') | list
(users | groupby('shell'))[0].grouper
(users | groupby('shell')) | map(attribute='list') | map('length') | list
dict(texts | zip(numbers))
dict(pairs)
items | items2dict | dict2items | map(attribute='key')
numbers | max - numbers | min
numbers[1:3] + numbers[:1]
'a' in texts and 5 not in numbers
one == 1 and half < 1 or nope
lines.splitlines()
lines.split('\n') | length
lines.splitlines() | select('search', '=') | map('split', '=') | items2dict(0, 1)
lines.splitlines() | map('split', '=') | selectattr(1, 'defined') | list
word.lower().replace('-', '_')
word[0] ~ word[-1] ~ word[1:3]
'%s-%03d' % (word, one)
'%s' | format(word)
'{0}:{1}'.format(word, one)
path | basename | splitext | first
path | dirname ~ '/x'
digits | int + 1
digits + 1
digits > 1
decimal | float * 2
big | human_readable
size | human_to_bytes | human_readable(unit='K')
(date | to_datetime) - ('2024-01-01 00:00:00' | to_datetime) | string
((date | to_datetime) - ('2024-01-01 00:00:00' | to_datetime)).days
((date | to_datetime) - ('2024-01-01 00:00:00' | to_datetime)).total_seconds()
(date | to_datetime).strftime('%d.%m.%Y')
(json | from_json).b.c
(yaml | from_yaml).b[0].c
json | from_json | to_json
result is failed
result is succeeded and result is not skipped
result.rc | default(0) == 1
loop.results | selectattr('failed', 'defined') | list | length
loop.results | selectattr('rc', 'ne', 0) | map(attribute='rc') | list
loop is changed
skipped is skipped
none | default('x')
none | default('x', true)
omit
[1, omit, 2]
{'a': omit, 'b': 1}
undef(hint='give it')
undef()
lookup('vars', 'word')
lookup('ansible.builtin.vars', 'wo' ~ 'rd')
lookup('vars', 'nope')
lookup('vars', 'nope', default='x')
lookup('vars', 'word', 'path')
query('vars', 'word', 'numbers')
q('vars', 'numbers')
lookup('env', 'NO_SUCH_VARIABLE')
lookup('env', 'NO_SUCH_VARIABLE', default='x')
lookup('nope', 'x')
lookup('vars', 1)
now(utc=true) | type_debug
now(utc=true, fmt='%Y')|length
range(3) | list
range(1, 10, 3) | list
[1, 2, 3] | map('pow', 2) | list
['a', 'b'] | product([1, 2]) | map('join', '-') | list
[[1, 2], [3, 4]] | map('sum') | list
numbers | sort | reverse | list | first
numbers | permutations
pairs | permutations(1)
date | from_yaml
none | urlsplit
users | json_query('[].name')
'x' if yes else 'y'
'x' if no
(none | ternary('a', 'b', 'c')) ~ (yes | ternary('a', 'b'))
texts | map('ansible.builtin.upper') | list
word | ansible.builtin.lower
word is ansible.builtin.match('Web')
word is not defined
word.nope is defined
map.nope is defined
map.nope.deeper is defined
words == true
words | bool == true
'a,b;c' | regex_replace('[,;]', ' ') | split
'10.0.0.1' is match('^\\d+\\.\\d+')
'a b' | quote ~ ' c'
texts | difference(['a']) | length > 1
mixed | map('type_debug') | list
1 / 0
2 ** 10
7 // 2
7 % 4
-3 | abs
1e3
1_000
0x1f
'a' * 3
[1] * 2
"it's" ~ 'x'
"a\tb"
'a\\b'
'\d+'
not yes
yes and no
yes is sameas true
[1, 2] is contains(2)
[1,2,3] is superset([1])
'1.2.3' is version('1.10', '<')
'a' < 'b'
'a' < 1
[1] < [2]
none < 1
users[5]
users[5].name | default('x')
users.nope
map.b is number
(1, 2)
{'a': (1, [2])}
'abc' | list
'abc' | reverse
'abc'[::-1]
''.join(texts)
','.join(['a', 'b'])
texts.index('A')
texts.append('c')
map.update({'x': 1})
map.get('b', 3)
map.get('nope', 3)
map._b
word.__class__
word.format
range
""".strip().splitlines()

_TEMPLATES = r"""
plain
{{ one }}
{{ one }}{{ one }}
{{ one }} {{ none }}.
{{ none }}
{{ numbers }}
a{{ numbers }}
a{{ map }}
{{ yes }} {{ half }}
{{ word | regex_replace('(\w+)-(\d+)', '\2-\1') }}
{{ word | regex_replace("(\\w+)-(\\d+)", "\\2") }}
{{ 'a\nb' }}
{{ 'a\nb' | length }}
{{ lines.split('\n') | length }}
{% set x = 'a\nb' %}{{ x | length }}
{% if yes %}A{% else %}B{% endif %}
{% for n in numbers %}{{ n }}{% if not loop.last %},{% endif %}{% endfor %}
{% for u in users if u.uid > 999 %}{{ loop.index }}:{{ u.name }} {% endfor %}
{% for k, v in map.items() %}{{ k }};{% endfor %}
{% for u in users %}
{{ u.name }}
{% endfor %}
a
{%- if yes %} b {% endif -%} c
{% raw %}{{.ID}}{% endraw %} {{ one }}
{# gone #}x
{% set s = namespace(n=0) %}{% for n in numbers %}{% set s.n = s.n + n %}{% endfor %}{{ s.n }}
{% macro m(a, b='x') %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(2, 'y') }}
{% filter upper %}a{{ word }}{% endfilter %}
{{ nope }}
{{ nope | default(omit) }}
a{{ omit }}
{{ [1, omit] }}
{{ map | to_json }}
{{ users | map(attribute='name') | join(' ') }}
{{ texts | to_nice_yaml }}
{{ '{{ one }}' }}
{{ .ID }}
{{ json . }}
${#list[@]}
{% nope %}
{{ one
{{ lookup('vars', 'numbers') }}
{{ umlaut }}
{{ quote }}
x{{ emptymap }}{{ nothing }}
{{ 1 if no }}
x{{ 1 if no }}
""".strip("\n").split("\n")

_CONDITIONS = r"""
yes
no
one == 1
nope is defined
word is defined and word is match('Web')
'a' in texts
result is failed
result.rc != 0
numbers | length > 2
not no
nope
word is search('\d+$')
word is search('\\d+$')
digits | int > 40
users | selectattr('locked', 'defined') | list | length == 1
words | bool
""".strip().splitlines()


def cases(one_in: int = 4) -> list[Case]:
    """Every filter and test with every value (one in so many of these pairs, always the same), and the rest."""
    pairs = [f"{name} | {used}" for name in VALUES for used in _FILTERS]
    pairs += [f"{name} is {used}" for name in VALUES for used in _TESTS]
    found: list[Case] = [("expression", pair, {}) for pair in pairs if zlib.crc32(pair.encode()) % one_in == 0]
    found += [("expression", text, {}) for text in _EXPRESSIONS]
    found += [("template", text, {}) for text in _templates()]
    found += [("condition", text, {}) for text in _CONDITIONS]
    return found


def _templates() -> list[str]:
    whole = "{% for u in users %}\n{{ u.name }}\n{% endfor %}\nend\n"
    return [*_TEMPLATES, whole, "a\n{{ one }}\n", "{{ one }}\n", "{% if yes %}\nA\n{% endif %}\nB"]


_SCALAR = (
    st.integers(-5, 99)
    | st.booleans()
    | st.none()
    | st.sampled_from(
        ["", "a", "A b", "x=1", "10", "1.5", "yes", "2.0.1", "/a/b.c", "ä", "a\nb", "[1]", "{a: 1}", "5K"]
    )
)
_VALUE = st.recursive(
    _SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
# What `type_debug` makes of an error is a name that Ansible has for it, and nothing to compare.
_CALLS = st.sampled_from([used for used in _FILTERS if "type_debug" not in used])
MADE: st.SearchStrategy[Case] = st.builds(
    lambda value, calls, test: (
        "expression",
        " | ".join(["(v)", *calls]) + (f" is {test}" if test else ""),
        {"v": value},
    ),
    _VALUE,
    st.lists(_CALLS, min_size=1, max_size=3),
    st.none() | st.sampled_from(_TESTS),
)
