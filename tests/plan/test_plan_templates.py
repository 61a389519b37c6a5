"""Rendering and evaluating: values, places of errors, secrets, bounds, text from hosts."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_factory import text

from checkrunner.model.errors import TemplateError
from checkrunner.model.sources import NOWHERE, Secret, SourceRef, Template
from checkrunner.plan.outside import Outside
from checkrunner.plan.texts import Templates
from checkrunner.plan.values import RemoteText
from checkrunner.testing import check_templates

SECRET = Secret("hunter2")


@pytest.fixture
def templates() -> Templates:
    return Templates(Outside(clock=lambda: 0.0, environment={"HOME": "/root"}))


def test_the_contract_is_kept(templates: Templates) -> None:
    check_templates(templates)


def failure(templates: Templates, template: Template, **names: Any) -> TemplateError:
    with pytest.raises(TemplateError) as caught:
        templates.render(template, names)
    return caught.value


def bad_expression(templates: Templates, content: str, **names: Any) -> TemplateError:
    with pytest.raises(TemplateError) as caught:
        templates.evaluate(text(content), names)
    return caught.value


@pytest.mark.parametrize(
    ("content", "names", "rendered"),
    [
        ("echo {{ x }}\n", {"x": 3}, "echo 3\n"),
        ("a\r\n{{ x }}\r\n", {"x": "y"}, "a\r\ny\r\n"),
        ("{{ x | default('none') }}", {}, "none"),
        ("{{ a.b.c | default(0) }}", {}, "0"),
        ("\udc80 {{ x }}", {"x": "\udcff"}, "\udc80 \udcff"),
        ("{{ none_of_it }}", {"none_of_it": None}, ""),
        ("{{ flag }}", {"flag": True}, "True"),
        ("{% for d in disks %}df {{ d }}\n{% endfor %}", {"disks": ["/", "/var"]}, "df /\ndf /var\n"),
        ("{% raw %}{{.ID}}{% endraw %} {{ x }}", {"x": 1}, "{{.ID}} 1"),
        ("{{ path | basename }} {{ path | dirname }}", {"path": "/a/b"}, "b /a"),
        ("{{ word | quote }}", {"word": "it's"}, "'it'\"'\"'s'"),
        ("{{ x | to_json(ensure_ascii=false) }}", {"x": {"a": [1, "ä"]}}, '{"a": [1, "ä"]}'),
        ("{{ flag | bool | ternary('a', 'b') }}", {"flag": "no"}, "b"),
        ("{{ x | regex_replace('[0-9]+', '#') }}", {"x": "a12b3"}, "a#b#"),
        ("{{ x | regex_search('[0-9]+') }}", {"x": "a12b3"}, "12"),
    ],
)
def test_renders(templates: Templates, content: str, names: dict[str, Any], rendered: str) -> None:
    assert templates.render(text(content), names) == rendered


@settings(deadline=None)
@given(st.text(st.characters(exclude_characters="{", exclude_categories=["Cs"])))
def test_text_around_a_template_is_kept_byte_for_byte(content: str) -> None:
    around = text(f"{content}{{{{ x }}}}{content}")
    assert Templates().render(around, {"x": "|"}) == f"{content}|{content}"


@settings(deadline=None)
@given(st.text())
def test_raw_text_is_kept(content: str) -> None:
    assert Templates().render(Template(text=content, raw=True), {}) == content


@pytest.mark.parametrize(
    ("content", "names", "value"),
    [
        ("x > 2 and 'db' in groups", {"x": 3, "groups": ["db"]}, True),
        ("[1, 2] | map('string')", {}, ["1", "2"]),
        ("x is defined", {}, False),
        ("x", {"x": SECRET}, SECRET),
        ("x == 'hunter2'", {"x": SECRET}, True),
        ("name is match('web[0-9]')", {"name": "web1.example"}, True),
        ("name is search('1$')", {"name": "web1"}, True),
        ("'yes' | bool", {}, True),
        ("result + 1", {"result": 1}, 2),
    ],
)
def test_evaluates(templates: Templates, content: str, names: dict[str, Any], value: object) -> None:
    assert templates.evaluate(text(content), names) == value


def test_values_are_not_templates(templates: Templates) -> None:
    assert templates.render(text("echo {{ x }}"), {"x": "{{ 7*7 }}"}) == "echo {{ 7*7 }}"


@pytest.mark.parametrize(
    "content", ["docker ps --format '{{.ID}}'", "{{ x }} docker ps --format '{{.ID}}'", "docker ps -f {{json .}}"]
)
def test_go_templates_name_the_way_out(templates: Templates, content: str) -> None:
    error = failure(templates, text(content, line=7), x=1)
    assert "raw: true" in error.hint
    assert "{% raw %}" in error.hint
    assert (error.source.line, error.line_text.strip()) == (7, content)
    assert error.source.column >= 12 + content.rindex("{{")


@pytest.mark.parametrize("content", ["echo ${#list[@]}", "echo ${#a[@]} and ${b#}", "echo {# x", "echo {% x"])
def test_shell_text_that_looks_like_a_template(templates: Templates, content: str) -> None:
    assert "raw: true" in failure(templates, text(content)).hint


def test_undefined_name_has_its_place_and_the_nearest_name(templates: Templates) -> None:
    template = text("df {{ path }}\ndu {{ pth }}\n", line=10, column=9, literal=True)
    assert str(failure(templates, template, path="/")) == (
        "checks.yml:11:15: 'pth' is not defined\n"
        "            du {{ pth }}\n"
        "                  ^\n"
        "  hint: Did you mean 'path'?"
    )


def test_a_text_without_a_place_shows_its_line(templates: Templates) -> None:
    error = failure(templates, Template(text="du {{ pth }}"), path="/")
    assert (error.source, error.line_text) == (NOWHERE, "du {{ pth }}")


def test_a_folded_text_points_at_its_first_line(templates: Templates) -> None:
    error = failure(templates, text("one\ntwo {{ x }}", line=3, column=8))
    assert error.source == SourceRef(path="checks.yml", line=3, column=8)


@pytest.mark.parametrize(
    ("content", "message", "column"),
    [
        ("{{ x | regex_serch('a') }}", "no filter is called 'regex_serch'", 19),
        ("{{ x is mtch('a') }}", "no test is called 'mtch'", 20),
        ("{% if x %}", "the text ends too early", 12),
        ("{{ x.a.b }}", "there is no 'b' in it", 19),
        ("{{ x + }}", "not a valid template: unexpected `}}`", 19),
        ("{% include 'x' %}", "'include' is not available here", 15),
        ("{{ 1 / 0 }}", "division by zero", 15),
        ("{{ rc }}", "'rc' is not defined", 15),
    ],
)
def test_errors_of_templates(templates: Templates, content: str, message: str, column: int) -> None:
    error = failure(templates, text(content), x={"a": 1})
    assert message in error.message
    assert error.source.column == column


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        ("rc == 0 && x", "not a valid expression", "Write `and`, not `&&`"),
        ("rc == 0 || x", "not a valid expression", "Write `or`, not `||`"),
        ("!rc", "not a valid expression", "Write `not`, not `!`"),
        ("rc = 0", "something follows the end of the expression", "Write `==` to compare"),
        ("{{ rc }}", "not a valid expression", "Expressions are written without braces"),
        ("rcc == 0", "'rcc' is not defined", "Did you mean 'rc'?"),
        ("(rc", "not a valid expression", ""),
        ("", "not a valid expression", ""),
    ],
)
def test_errors_of_expressions(templates: Templates, content: str, message: str, hint: str) -> None:
    error = bad_expression(templates, content, rc=0)
    assert message in error.message
    assert error.hint == hint


@pytest.mark.parametrize(
    ("expression", "message", "hint"),
    [
        ("'x' in stdout", "a result has no 'stdout'", "Output stays on the host"),
        ("role_path ~ 'x'", "'role_path' is not defined", "There are no roles"),
        ("item.a", "'item' is not defined", "a check with `loop`"),
        (
            "lookup('file', 'x')",
            "no look-up is called 'file' here: there are 'env' and 'vars'",
            "find out with a command",
        ),
        ("ansible_facts.x", "'ansible_facts' is not defined", "Facts are gathered for plays of tasks only"),
        ("qqqq > 1", "'qqqq' is not defined", "or write `qqqq | default(...)`"),
    ],
)
def test_names_that_mean_something_elsewhere(expression: str, message: str, hint: str) -> None:
    with pytest.raises(TemplateError) as caught:
        Templates().evaluate(text(expression), {})
    assert caught.value.message == message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("content", "free", "required"),
    [
        ("{{ a }} {{ b.c }} {{ range(3) }}", {"a", "b"}, {"a", "b"}),
        ("{{ a | default(b) }}", {"a", "b"}, {"b"}),
        ("{% if a.x is defined %}{{ a.x }}{% endif %}", {"a"}, set()),
        ("{% for i in items %}{{ i }}{{ loop.index }}{% endfor %}", {"items"}, {"items"}),
        ("{% set n = a %}{{ n }}", {"a"}, {"a"}),
        ("no template", set(), set()),
    ],
)
def test_names(templates: Templates, content: str, free: set[str], required: set[str]) -> None:
    unit = templates.unit(text(content), expression=False)
    assert templates.names_in(text(content)) == free
    assert (unit.free - unit.guarded if unit else set()) == required


def test_names_of_expressions(templates: Templates) -> None:
    expression = "disk.rc > 0 or disk['cwd'] == '/' or load.elapsed_s > limit"
    assert templates.names_in_expression(expression) == {"disk", "load", "limit"}
    assert templates.attributes_of(expression, "disk") == {"rc", "cwd"}
    assert templates.attributes_of(expression, "limit") == frozenset()


@pytest.mark.parametrize(
    "content",
    [
        "{{ s }}",
        "x{{ s }}",
        "{{ 'a' ~ s }}",
        "{{ s | string }}",
        "{{ [s] | join }}",
        "{{ '%s' % s }}",
        "{{ '{}'.format(s) }}",
        "{{ s | quote }}",
        "{{ s | replace('x', 'y') }}",
    ],
)
def test_a_secret_never_becomes_text(templates: Templates, content: str) -> None:
    error = failure(templates, text(content), s=SECRET)
    assert "'s' is secret" in error.message
    assert "env" in error.hint
    assert "hunter2" not in str(error)


@pytest.mark.parametrize(
    "content",
    ["{{ s.reveal() }}", "{{ s.secret() }}", "{{ s._secret }}", "{{ s | to_json }}", "{{ '%r' % s }}", "{{ [s] }}"],
)
def test_a_secret_cannot_be_asked_for(templates: Templates, content: str) -> None:
    try:
        shown = templates.render(text(content), {"s": SECRET})
    except TemplateError as error:
        shown = str(error)
    assert "hunter2" not in shown


def test_a_secret_may_be_tested(templates: Templates) -> None:
    assert templates.render(text("{{ 'set' if s else 'unset' }}"), {"s": SECRET}) == "set"


@pytest.mark.parametrize(("content", "value"), [("{{ s }}", "hunter2"), ("Bearer {{ s }}", "Bearer hunter2")])
def test_environment_with_a_secret_is_secret(templates: Templates, content: str, value: str) -> None:
    rendered = templates.render_env(text(content), {"s": SECRET})
    assert isinstance(rendered, Secret)
    assert rendered.reveal() == value


def test_environment_without_a_secret_is_text(templates: Templates) -> None:
    assert templates.render_env(text("{{ n }}"), {"n": 3}) == "3"
    assert templates.render_env(text("plain"), {}) == "plain"


@pytest.mark.parametrize(
    "content",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ ''['__class__'] }}",
        "{{ x.append(1) }}",
        "{{ range.__globals__ }}",
        "{{ self.__init__.__globals__ }}",
        "{{ namespace.__init__.__globals__ }}",
        "{{ '{0.__class__}'.format(1) }}",
        "{{ x | attr('__class__') }}",
        "{{ x | map(attribute='__class__') | list }}",
        "{{ cycler.__init__.__globals__.os }}",
        "{% from 'os' import path %}{{ path }}",
    ],
)
def test_the_sandbox_holds(templates: Templates, content: str) -> None:
    values = [1]
    failure(templates, text(content), x=values)
    assert values == [1]


@pytest.mark.parametrize(
    "content",
    [
        "{{ 'x' * 10**9 }}",
        "{{ 10**9 * 'x' }}",
        "{{ [1] * 10**9 }}",
        "{{ range(10**9) | list }}",
        "{{ 2 ** 1000000000 }}",
        "{{ 9 ** 999 ** 99 }}",
        "{{ 'x' | center(10**9) }}",
        "{{ 'x'.ljust(1000000000) }}",
        "{{ 'x'.zfill(1000000000) }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '%*d' % (1000000000, 1) }}",
        "{{ '%1000000000d' | format(1) }}",
        "{{ '{:1000000000}'.format(1) }}",
        "{{ ('a' * 1000000).replace('a', 'a' * 1000000) }}",
        "{{ 'aaaa' | replace('a', 'x' * 1000000) }}",
        "{{ 'aaaa' | regex_replace('a', 'x' * 1000000) }}",
        "{{ ['a' * 1000000] * 1000000 }}",
        "{{ ('x' * 1000000).join(['a', 'b', 'c', 'd']) }}",
        "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
        "{% for a in range(99999) %}{{ 'x' * 1000 }}{% endfor %}",
        "{% set n = namespace(x='x') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
        "{% set n = namespace(x='x') %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}",
        "{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(40) }}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{{ range(99999) | map('center', 1000000) | list | length }}",
        "{{ (" + "(" * 3000 + "1" + ")" * 3000 + ") }}",
        "{{ range(2000) | product(range(2000)) | length }}",
        "{{ range(9) | product(repeat=9) }}",
        "{{ range(99) | permutations }}",
        "{{ range(99) | combinations(50) }}",
        "{{ [1] | zip_longest(*([range(99999)] * 99)) }}",
        "{{ [1] * 1000 | tojson(indent=100000) }}",
        "{{ [1] | to_nice_json(indent=100000000) }}",
        "{{ [1] | to_json(indent=' ' * 100000) }}",
        "{{ [1] | to_nice_yaml(indent=100000000) }}",
        "{{ 'x' | comment(prefix_count=100000000) }}",
        "{{ 'x' | comment(postfix_count=100000000) }}",
        "{{ ('x\n' * 9999) | comment(decoration='y' * 9999) }}",
        "{{ '%0100000000Y' | strftime(0, utc=true) }}",
        "{{ now(utc=true).strftime('%0100000000Y') }}",
        "{{ ('a' * 40 ~ 'b') | regex_search('(a+)+$') }}",
        "{{ ('a' * 40 ~ 'b') | regex_replace('(a|aa)+$', '') }}",
        "{{ ('a' * 1000000) | regex_findall('a*b') }}",
        "{{ ['a' * 40 ~ 'b'] | select('match', '(a*)*$') }}",
        "{{ 'x' is search('a' * 20000) }}",
        "{% set n = namespace(x=[[1]]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x | to_json }}",
        "{% set n = namespace(x=[[1]]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x | flatten }}",
        "{% set n = namespace(x={'a': 1}) %}{% for i in range(9999) %}{% set n.x = {'a': n.x} %}{% endfor %}{{ n.x | to_yaml }}",
        "{{ ([{}] * 9999) | union([{'a': 1}] * 9999) | length }}",
        "{{ range(99999) | map('regex_replace', 'x', 'y') | map('upper') | map('lower') | list | length }}",
    ],
)
@pytest.mark.timeout(20)
def test_costs_are_bounded(templates: Templates, content: str) -> None:
    failure(templates, text(content))


@pytest.mark.parametrize(
    ("content", "rendered"),
    [
        ("cd {{ c }}", "cd '/tmp/$(id) x'"),
        ("cd {{ c ~ '/sub' }}", "cd '/tmp/$(id) x'/sub"),
        ("cd {{ c.upper() }}", "cd '/TMP/$(ID) X'"),
        ("cd {{ c + 'y' }}", "cd '/tmp/$(id) x'y"),
        ("cd {{ '%s!' % c }}", "cd '/tmp/$(id) x!'"),
        ("cd {{ c | replace('tmp', 'var') }}", "cd '/var/$(id) x'"),
        ("cd {{ c.split('/')[2] }}", "cd '$(id) x'"),
        ("cd {{ c[5:10] }}", "cd '$(id)'"),
        ("cd {{ [c] | join }}", "cd '/tmp/$(id) x'"),
        ("cd {{ c | quote }}", "cd '/tmp/$(id) x'"),
        ("{% set d = c %}cd {{ d }}", "cd '/tmp/$(id) x'"),
        ("{% set d %}{{ c }}{% endset %}cd {{ d }}", "cd '/tmp/$(id) x'"),
        ("{% macro m(v) %}{{ v }}{% endmacro %}cd {{ m(c) }}", "cd '/tmp/$(id) x'"),
        ("echo 'a' {{ c }}", "echo 'a' '/tmp/$(id) x'"),
    ],
)
def test_text_from_a_host_is_quoted_in_a_command(templates: Templates, content: str, rendered: str) -> None:
    names = {"c": RemoteText("/tmp/$(id) x")}
    assert templates.render(text(content), names, for_shell=True) == rendered


@pytest.mark.parametrize("content", ["cat <<E\n{{ c }}\nE", "true # {{ c }}", 'bash -c "ls {{ c }}"'])
def test_text_from_a_host_is_refused_where_it_cannot_be_quoted(templates: Templates, content: str) -> None:
    with pytest.raises(TemplateError, match="Pass it through `env`"):
        templates.render(text(content), {"c": RemoteText("a b")}, for_shell=True)
    assert "a_b" in templates.render(text(content), {"c": RemoteText("a_b")}, for_shell=True)


def test_the_engine_is_loaded_only_for_templates() -> None:
    code = (
        "import sys\n"
        "from checkrunner.plan.texts import Templates\n"
        "from checkrunner.model.sources import Template\n"
        "import checkrunner.plan.build, checkrunner.plan.lint, checkrunner.judge.judge\n"
        "templates = Templates()\n"
        "assert templates.render(Template(text='df -P'), {}) == 'df -P'\n"
        "assert templates.names_in(Template(text='df -P')) == frozenset()\n"
        "assert 'jinja2' not in sys.modules\n"
        "assert templates.render(Template(text='{{ 1 }}'), {}) == '1'\n"
        "assert 'jinja2' in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


FRAGMENTS = st.sampled_from(
    [
        "{{",
        "}}",
        "{%",
        "%}",
        "{#",
        "#}",
        " x ",
        " y.z ",
        "|",
        "default",
        "(",
        ")",
        "'",
        '"',
        "[0]",
        " if ",
        " for ",
        "end",
        "\n",
        "raw",
    ]
) | st.text(max_size=3)


@settings(deadline=None)
@given(st.lists(FRAGMENTS, max_size=12).map("".join))
def test_any_text_gives_text_or_an_error_with_a_place(content: str) -> None:
    templates = Templates()
    errors = []
    for run in (templates.render, templates.render_env, templates.evaluate):
        try:
            run(text(content, line=3), {"x": 1, "y": {"z": [Secret("hunter2")]}})
        except TemplateError as error:
            errors.append(error)
    assert all(error.source.line == 3 and "hunter2" not in str(error) for error in errors)


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("{{ lookup('env', 'HOME') }}", "/root"),
        ("{{ lookup('env', 'NO') }}", ""),
        ("{{ lookup('ansible.builtin.vars', 'a' ~ 'b') }}", [1]),
        ("{{ query('vars', 'ab', 'c') }}", [[1], "x"]),
        ("{{ lookup('vars', 'no', default=3) }}", 3),
        ("{{ now(utc=true) | string }}", "1970-01-01 00:00:00"),
        ("{{ '%H:%M' | strftime(3660, utc=true) }}", "01:01"),
        ("{% if ab %}{{ ab }}{% endif %}", [1]),
        ("{{ ab }}\n", [1]),
        ("{{ [c, omit] }}", ["x"]),
        ("{{ ab | ansible.builtin.length }}", 1),
    ],
)
def test_values_of_variables(templates: Templates, content: str, value: object) -> None:
    assert templates.value_of(text(content), {"ab": [1], "c": "x"}, "v") == value


def test_what_is_left_out(templates: Templates) -> None:
    names = {"dir": "/x"}
    assert templates.render_or_omit(text("{{ dir | default(omit) }}"), names) == "/x"
    assert templates.render_or_omit(text("{{ no | default(omit) }}"), names) is None
    assert templates.render_env_or_omit(text("{{ no | default(omit) }}"), names) is None
    for content in ("{{ no | default(omit) }}", "a{{ omit }}"):
        assert "cannot be left out" in failure(templates, text(content)).message
    with pytest.raises(TemplateError, match="cannot be left out"):
        templates.render_or_omit(text("a{{ omit }}"), names)
    with pytest.raises(TemplateError, match="cannot be left out"):
        templates.render_env(text("{{ omit }}"), names)


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        ("{{ x | map('uper') }}", "no filter is called 'uper'", "Did you mean 'upper'?"),
        ("{{ x | select('mtch', 'a') }}", "no test is called 'mtch'", "Did you mean 'match'?"),
        ("{{ x | selectattr('a', 'equal', 1) }}", "no test is called 'equal'", "Did you mean"),
        ("{{ x | ansible.builtin.combin({}) }}", "no filter is called 'ansible.builtin.combin'", "'combine'?"),
        ("{{ x | random }}", "the filter 'random' is not available: it would give another result each time", ""),
        ("{{ x is file }}", "the test 'file' is not available: it would look at this machine", ""),
        ("{{ lookup('pipe', 'id') }}", "no look-up is called 'pipe' here", "find out with a command"),
        ("{{ q('fileglob', '*') }}", "no look-up is called 'fileglob' here", "find out with a command"),
    ],
)
def test_what_there_is_not_is_known_before_a_value_is(content: str, message: str, hint: str) -> None:
    with pytest.raises(TemplateError) as caught:
        Templates().unit(text(content), expression=False)
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.source.column > 12


def test_names_that_are_looked_up(templates: Templates) -> None:
    unit = templates.unit(text("{{ lookup('vars', 'a') ~ query('vars', 'b', 'c', default=1) }}"), expression=False)
    assert unit is not None
    assert unit.free == {"a", "b", "c"}
    assert unit.guarded == {"b", "c"}


def test_nothing_is_changed_in_place(templates: Templates) -> None:
    names: dict[str, Any] = {"x": [1], "m": {"a": [1]}}
    for content in (
        "{{ x | indent }}",
        "{{ x.append(2) }}",
        "{{ m.update({'b': 1}) }}",
        "{{ m | combine({'a': [2]}) }}",
    ):
        with contextlib.suppress(TemplateError):
            templates.render(text(content), names)
    assert names == {"x": [1], "m": {"a": [1]}}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("no | trim | default('x')", "x"),
        ("no.a | int | default(3)", 3),
        ("users | map(attribute='no') | join(',') | default('none')", "none"),
        ("users | map(attribute='no') | map('upper') | select('defined') | list", []),
        ("no | upper is defined", False),
    ],
)
def test_what_a_filter_makes_of_what_is_undefined_is_undefined(
    templates: Templates, expression: str, value: object
) -> None:
    assert templates.evaluate(text(expression), {"users": [{"a": 1}]}) == value


@pytest.mark.parametrize(
    "expression",
    ["no | trim", "no is none", "users | map(attribute='no') | join", "users | map(attribute='no') | hash"],
)
def test_and_an_error_where_it_is_used(templates: Templates, expression: str) -> None:
    assert "no" in bad_expression(templates, expression, users=[{"a": 1}]).message


def test_a_default_behind_filters_is_one_before_anything_connects(templates: Templates) -> None:
    unit = templates.unit(text("{{ a | trim | default('x') }}{{ b | int }}"), expression=False)
    assert unit is not None
    assert unit.free - unit.guarded == {"b"}


@pytest.mark.parametrize("content", ["{{ now() }}", "{{ '%Y' | strftime }}", "{{ '%Y' | strftime(0) }}"])
def test_the_time_is_known_only_where_it_is_handed_in(content: str) -> None:
    assert "is not known here" in failure(Templates(), text(content)).message


@pytest.mark.parametrize("expression", ["(size ~ 'x') | number", "(size ~ '!') | human_to_bytes"])
def test_a_long_text_is_no_number_at_once(templates: Templates, expression: str) -> None:
    before = time.process_time()
    fault = bad_expression(templates, expression, size=RemoteText("1" * 100_000))
    assert time.process_time() - before < 2
    assert len(str(fault)) < 1000


def test_a_long_text_is_not_shown_whole(templates: Templates) -> None:
    with pytest.raises(TemplateError) as caught:
        templates.render(text("eval {{ out }}"), {"out": RemoteText("a b" * 100_000)}, for_shell=True)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(("word", "true"), [("yes", True), ("no", False)])
def test_a_secret_word_is_true_or_false(templates: Templates, word: str, true: bool) -> None:
    names = {"x": Secret(word)}
    assert templates.evaluate(text("x | bool"), names) is true
    assert templates.evaluate(text("x is truthy(convert_bool=true)"), names) is true
    assert templates.evaluate(text("x is falsy(convert_bool=true)"), names) is not true
