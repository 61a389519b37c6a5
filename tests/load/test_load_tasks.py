"""Plays of tasks: what is read, in each way of writing it, and what is said of what is not supported."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest

from checkrunner.load.playbook import load_playbook, read_playbook
from checkrunner.model.errors import PlaybookError
from checkrunner.model.playbook import Check, Play, Share
from checkrunner.model.sources import Template
from checkrunner.model.tasks import BlockPart, Module, Task


def play(text: str, tmp_path: Path, head: str = "") -> Play:
    path = tmp_path / "play.yml"
    written = dedent(text).strip("\n")
    body = f"- hosts: all\n  gather_facts: false\n{indent(head, '  ')}  tasks:\n{indent(written, '    ')}\n"
    path.write_text(body)
    (found,) = load_playbook(str(path)).plays
    return found


def tasks(text: str, tmp_path: Path, head: str = "") -> list[Check]:
    return list(play(text, tmp_path, head).checks)


def task(text: str, tmp_path: Path) -> Check:
    (found,) = tasks(text, tmp_path)
    return found


def of(check: Check) -> Task:
    assert check.task is not None
    return check.task


def plain(value: Any) -> Any:
    """With texts in the place of Templates."""
    if isinstance(value, Template):
        return value.text
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def errors(text: str, tmp_path: Path) -> list[str]:
    path = tmp_path / "play.yml"
    path.write_text(text)
    try:
        found = read_playbook(str(path)).errors
    except PlaybookError as error:
        found = (error,)
    return [f"{e.source.line}:{e.source.column}: {e.message} | {e.hint}" for e in found]


@pytest.mark.parametrize(
    ("written", "module", "args"),
    [
        ("- shell: ls | wc", Module.SHELL, {"cmd": "ls | wc"}),
        ("- ansible.builtin.shell: {cmd: ls, chdir: /tmp}", Module.SHELL, {"cmd": "ls", "chdir": "/tmp"}),
        ("- ansible.legacy.command: ls", Module.COMMAND, {"cmd": "ls"}),
        ("- shell: chdir=/tmp ls -l creates='a b'", Module.SHELL, {"cmd": "ls -l", "chdir": "/tmp", "creates": "a b"}),
        ("- command: dd if=/dev/zero of=x count=1", Module.COMMAND, {"cmd": "dd if=/dev/zero of=x count=1"}),
        ("- command: echo 'chdir=/no' \"removes=x\"", Module.COMMAND, {"cmd": "echo 'chdir=/no' \"removes=x\""}),
        ("- command: ls {{ a }} chdir={{ b | c }}", Module.COMMAND, {"cmd": "ls {{ a }}", "chdir": "{{ b | c }}"}),
        ("- shell: ls\n  args: {executable: /bin/bash}", Module.SHELL, {"cmd": "ls", "executable": "/bin/bash"}),
        ("- command: {argv: [ls, 0644, '{{ x }}']}", Module.COMMAND, {"argv": ["ls", "0644", "{{ x }}"]}),
        (
            "- command: cat\n  args: {stdin: x, stdin_add_newline: no}",
            Module.COMMAND,
            {"cmd": "cat", "stdin": "x", "stdin_add_newline": False},
        ),
        ("- raw: uptime", Module.RAW, {"cmd": "uptime"}),
        ("- action: shell echo hi", Module.SHELL, {"cmd": "echo hi"}),
        ("- action: {module: command, cmd: ls}", Module.COMMAND, {"cmd": "ls"}),
        ("- assert: {that: a == 1}", Module.ASSERT, {"that": ["a == 1"]}),
        ("- assert: {that: [a, '{{ b }}'], msg: no}", Module.ASSERT, {"that": ["a", " b "], "fail_msg": False}),
        ('- assert: that="a == 1"', Module.ASSERT, {"that": ["a == 1"]}),
        ("- debug: msg='hello world' verbosity=1", Module.DEBUG, {"msg": "hello world", "verbosity": 1}),
        ('- debug: {var: "{{ x.y }}"}', Module.DEBUG, {"var": "x.y"}),
        ("- debug:", Module.DEBUG, {}),
        ("- debug: {msg: [1, {a: '{{ b }}'}]}", Module.DEBUG, {"msg": [1, {"a": "{{ b }}"}]}),
        ('- fail: msg="no {{ x }}"', Module.FAIL, {"msg": "no {{ x }}"}),
        ("- fail:", Module.FAIL, {}),
        ("- set_fact: a=1 b='two words'", Module.SET_FACT, {"facts": {"a": "1", "b": "two words"}}),
        ("- set_fact: {a: 1, cacheable: yes}", Module.SET_FACT, {"facts": {"a": 1}}),
        ("- setup: {gather_subset: min}", Module.SETUP, {}),
        ("- meta: end_host", Module.META, {"action": "end_host"}),
    ],
)
def test_modules_and_their_arguments(written: str, module: Module, args: dict[str, Any], tmp_path: Path) -> None:
    found = of(task(written, tmp_path))
    assert (found.module, plain(found.args)) == (module, args)


def test_places_of_texts(tmp_path: Path) -> None:
    found = task('- shell: chdir=/tmp ls {{ a }}\n  when: "{{ x }}"', tmp_path)
    assert [(t.source.line, t.source.column) for t in (of(found).args["chdir"], found.when[0])] == [(4, 20), (5, 16)]


def test_a_block_scalar_keeps_its_lines(tmp_path: Path) -> None:
    found = task("- shell: |\n    a\n    b {{ c }}\n", tmp_path)
    assert found.run is not None
    assert (found.run.text, found.run.literal, found.run.source.line) == ("a\nb {{ c }}\n", True, 5)


@pytest.mark.parametrize(
    ("written", "items"),
    [
        ("loop: [1, '{{ x }}']", [1, "{{ x }}"]),
        ("loop: '{{ names }}'", "names"),
        ("with_items: [[1, 2], 3]", [1, 2, 3]),
        ("with_items: one", ["one"]),
        ("with_items: '{{ names }}'", "[( names )] | flatten(levels=2, skip_nulls=false)"),
        ("with_items: ['{{ a }}', b]", "[(a), 'b'] | flatten(levels=1, skip_nulls=false)"),
        ("with_items: ['x{{ a }}y', \"it's\"]", "['x' ~ ( a ) ~ 'y', 'it\\'s'] | flatten(levels=1, skip_nulls=false)"),
        ("with_list: [[1], 2]", [[1], 2]),
        ("with_flattened: [[1, [2]], 3]", [1, 2, 3]),
        ("with_dict: {a: 1}", [{"key": "a", "value": 1}]),
        ("with_dict: '{{ d }}'", "(d) | dict2items"),
        ("with_nested: [[1, 2], [a]]", [[1, "a"], [2, "a"]]),
        ("with_together: [[1, 2], [a, b]]", [[1, "a"], [2, "b"]]),
        ("with_indexed_items: [a, b]", [[0, "a"], [1, "b"]]),
        ("with_sequence: start=2 end=6 stride=2 format=n%02d", ["n02", "n04", "n06"]),
        ("with_together: ['{{ a }}', '{{ b }}']", "((a)) | zip_longest((b)) | map('list') | list"),
        ("with_sequence: count=3", ["1", "2", "3"]),
        ("with_sequence: count=0", []),
        ("with_sequence: start=4 end=0 stride=-2 format=%.1f", ["4.0", "2.0", "0.0"]),
    ],
)
def test_loops(written: str, items: Any, tmp_path: Path) -> None:
    found = task(f"- command: echo\n  {written}", tmp_path)
    assert found.loop is not None
    text = plain(found.loop.items)
    assert (text.replace("( ", "(").replace(" )", ")") if isinstance(text, str) else text) == (
        items.replace("( ", "(").replace(" )", ")") if isinstance(items, str) else items
    )


def test_the_control_of_a_loop(tmp_path: Path) -> None:
    control = "{loop_var: x, index_var: n, label: '{{ x.a }}', pause: 0.5, extended: true}"
    loop = task(f"- command: echo\n  loop: [1]\n  loop_control: {control}", tmp_path).loop
    assert loop is not None
    assert (loop.variable, loop.index_variable, loop.pause_s, plain(loop.label)) == ("x", "n", 0.5, "{{ x.a }}")


BLOCK = """
- name: Outer
  when: a
  tags: [x]
  become: true
  vars: {v: 1, w: 1}
  environment: {E: outer, F: f}
  ignore_errors: true
  block:
    - command: one
      when: [b, c]
      tags: y
      vars: {w: 2}
      environment: {E: inner}
      become_user: app
    - block:
        - command: two
      always:
        - command: three
          ignore_errors: false
  rescue:
    - command: four
"""


def test_blocks_hand_down_what_they_say(tmp_path: Path) -> None:
    one, two, three, four = tasks(BLOCK, tmp_path)
    assert [t.text for t in one.when] == ["a", "b", "c"]
    assert one.tags == ("x", "y")
    assert dict(one.vars) == {"v": 1, "w": 2}
    assert plain(one.env) == {"E": "inner", "F": "f"}
    assert (one.become.become, one.become.user) == (True, "app")
    assert [t.text for t in four.when] == ["a"]
    places = [[(place.block, place.part) for place in of(check).blocks] for check in (one, two, three, four)]
    assert places[0] == [("outer", BlockPart.BLOCK)]
    assert places[1] == [("outer", BlockPart.BLOCK), ("block", BlockPart.BLOCK)]
    assert places[2] == [("outer", BlockPart.BLOCK), ("block", BlockPart.ALWAYS)]
    assert places[3] == [("outer", BlockPart.RESCUE)]
    assert [of(check).ignore_errors for check in (one, two, three, four)] == [True, True, False, True]


def test_what_a_task_says_of_itself(tmp_path: Path) -> None:
    written = """
    - name: It
      command: x
      register: r
      failed_when: [r.rc == 1, false]
      changed_when: "{{ r.rc == 0 }}"
      ignore_errors: "{{ lenient }}"
      no_log: true
      until: r.rc == 0
      retries: 5
      delay: 1
      delegate_to: "{{ other }}"
      run_once: true
      environment: "{{ proxy }}"
      async: 30
      poll: 5
    """
    check = task(written, tmp_path)
    found = of(check)
    assert plain(found.failed_when) == ["r.rc == 1", "false"]
    assert plain(found.changed_when) == [" r.rc == 0 "]
    assert plain(found.ignore_errors) == "lenient"
    assert found.no_log
    assert plain(found.environment) == ["proxy"]
    assert check.until is not None
    assert (check.until.retries, check.until.delay_s, check.timeout_s) == (5, 1.0, 30.0)
    assert (check.run_once, plain(check.delegate_to), check.register) == (True, "{{ other }}", "r")


def test_ids_are_unique(tmp_path: Path) -> None:
    found = tasks("- command: a\n- command: b\n- name: Command 2\n  command: c\n- name: Command\n  shell: d", tmp_path)
    assert [check.id for check in found] == ["command", "command-2", "command-2-2", "command-3"]


def test_a_play(tmp_path: Path) -> None:
    head = dedent("""\
        name: P
        serial: [1, 30%, 0]
        max_fail_percentage: 25
        environment: {A: a}
        strategy: free
        become: yes
        tags: t
        collections: [x.y]
        connection: ssh
    """)
    found = play("- command: a", tmp_path, head)
    assert (found.name, found.tasks, found.facts, found.tags, found.become.become) == ("P", True, False, ("t",), True)
    assert found.serial == (Share(count=1), Share(fraction=0.3), Share(fraction=1.0))
    assert found.max_fail is not None
    assert [found.max_fail.of(hosts) for hosts in (4, 10, 100)] == [2, 3, 26]
    assert plain(found.checks[0].env) == {"A": "a"}


def test_sections_facts_and_handlers(tmp_path: Path) -> None:
    path = tmp_path / "play.yml"
    path.write_text(
        dedent("""\
        - hosts: all
          post_tasks: [{command: last}]
          tasks:
            - {name: One, command: a, notify: [h, topic]}
            - {name: Two, command: b, notify: h}
            - meta: flush_handlers
            - {name: Three, command: c, notify: topic}
          pre_tasks: [{command: first}]
          handlers:
            - {name: h, command: h}
            - {name: other, command: o, listen: topic}
            - {name: never, command: n}
        """)
    )
    (found,) = load_playbook(str(path)).plays
    assert [check.name for check in found.checks] == [
        *("Gathering Facts", "command", "One", "Two", "h", "other", "Three", "other", "command"),
    ]
    by = [of(check).notified_by for check in found.checks]
    assert by == [None, None, None, None, ("one", "two"), ("one",), None, ("three",), None]


def test_files_of_tasks(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "a.yml").write_text("- {name: 'A {{ x }}', command: 'a {{ x }}'}\n- import_tasks: b.yml\n")
    (tmp_path / "tasks" / "b.yml").write_text("- {name: B, command: b}\n")
    found = tasks(
        """
        - include_tasks: tasks/a.yml
          vars: {x: 1}
          when: w
          tags: t
        - import_tasks: "tasks/{{ name }}.yml"
          when: v
          tags: u
        - name: "Each {{ x }}"
          include_tasks: {file: a.yml, apply: {tags: z}}
          loop: "{{ conf.list }}"
          loop_control: {loop_var: x}
        """,
        tmp_path,
        "vars: {name: b, first: 7, conf: {list: ['{{ first }}', 8]}}\n",
    )
    assert [check.name for check in found] == [
        *("include_tasks: tasks/a.yml", "A 1", "B", "B", "Each 7", "A 7", "B", "Each 8", "A 8", "B"),
    ]
    include, first, _, imported, each, looped, *_ = found
    assert (plain(include.when), include.tags) == (["w"], ("t",))
    assert (plain(first.when), first.tags, of(first).includes, dict(first.vars)) == ([], (), (include.id,), {"x": 1})
    assert (plain(imported.when), imported.tags, of(imported).includes) == (["v"], ("u",), ())
    assert (looped.tags, of(looped).includes) == (("z",), (each.id,))


def test_an_imported_playbook(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "other.yml").write_text(
        "- {hosts: web, gather_facts: no, vars: {a: 1, b: 1}, tags: t, tasks: [{command: x, when: c}]}\n"
        "- {hosts: db, checks: [{run: y}]}\n"
    )
    path = tmp_path / "play.yml"
    path.write_text("- import_playbook: sub/other.yml\n  vars: {a: 2}\n  when: d\n  tags: u\n")
    found = load_playbook(str(path))
    tasks_play, checks_play = found.plays
    assert (dict(tasks_play.vars), tasks_play.tags) == ({"a": 2, "b": 1}, ("t", "u"))
    assert plain(tasks_play.checks[0].when) == ["d", "c"]
    assert plain(checks_play.checks[0].when) == ["d"]
    assert str(tmp_path / "sub" / "other.yml") in found.included


def test_a_script_is_read_with_the_playbook(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "look me.sh").write_text("#!/bin/sh\necho hi\n")
    found = of(task("- script: \"'look me.sh' a {{ b }} chdir=/tmp\"", tmp_path))
    assert plain({key: found.args[key] for key in ("text", "rest", "chdir")}) == {
        "text": "#!/bin/sh\necho hi\n",
        "rest": "a {{ b }}",
        "chdir": "/tmp",
    }


def test_variables_of_files_win(tmp_path: Path) -> None:
    (tmp_path / "v.yml").write_text("a: 2\nc: '{{ a }}'\n")
    found = play("- command: x", tmp_path, "vars: {a: 1, b: 1}\nvars_files: [v.yml, [no.yml, v.yml]]\n")
    assert dict(found.vars) == {"a": 2, "b": 1, "c": "{{ a }}"}


P = "- hosts: all\n  tasks:\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (P + "    - apt: name=x\n", "3:7: the module 'apt' is not supported: it changes the host | Supported: assert,"),
        (P + "    - shel: x\n", "3:7: the module 'shel' is not supported | Did you mean 'shell'? Supported: assert,"),
        (P + "    - community.general.x: y\n", "3:7: the module 'community.general.x' is not supported | Supported: "),
        (P + "    - service: {name: x}\n", "systemctl is-active NAME"),
        (P + "    - name: x\n", "3:7: this task has no module | Write one of: assert,"),
        (P + "    - {shell: a, command: b}\n", "3:18: a task has one module, this has 'shell' and 'command'"),
        (P + "    - shell: a\n      whn: b\n", "4:7: the module 'whn' is not supported | Did you mean 'when'?"),
        (
            P + "    - shell: a\n      become_flags: b\n",
            "4:7: 'become_flags' of a task is not supported: options of sudo",
        ),
        (P + "    - shell: {cmd: a, chdri: b}\n", "3:23: shell has no argument 'chdri' | Did you mean 'chdir'?"),
        (P + "    - shell:\n", "3:7: shell has no command"),
        (P + "    - command: {argv: ls}\n", "3:23: argv is a list of words, this is 'ls'"),
        (P + "    - debug: hello\n", "3:14: debug takes arguments, this is 'hello' | Write `debug: {msg: ...}`."),
        (P + "    - debug: {msg: a, var: b}\n", "debug has `msg` or `var`, not both"),
        (P + "    - assert: {fail_msg: a}\n", "3:7: assert needs `that`"),
        (P + "    - set_fact: {and: 1}\n", "'and' has a meaning in expressions already"),
        (P + "    - shell: a\n      register: a-b\n", "4:17: 'a-b' is not a variable name"),
        (
            P + "    - shell: a\n      when: x == '{{ y }}'\n",
            "4:13: when is an expression, and cannot have templates in it",
        ),
        (P + "    - shell: a\n      loop: abc\n", "4:13: a loop goes over a list, this is 'abc' | Write a list"),
        (
            P + "    - shell: a\n      with_fileglob: x\n",
            "4:7: 'with_fileglob' is not supported | Supported: loop, with_items",
        ),
        (P + "    - shell: a\n      loop: [1]\n      with_items: [2]\n", "5:7: a task has one loop"),
        (P + "    - shell: a\n      loop_control: {label: x}\n", "4:7: loop_control stands here without a loop"),
        (P + "    - shell: a\n      loop: [1]\n      loop_control: {lable: x}\n", "Did you mean 'label'?"),
        (P + "    - shell: a\n      async: 5\n      poll: 0\n", "5:13: `poll: 0` leaves a command running"),
        (P + "    - shell: a\n      retries: many\n", "4:16: retries is a number from 0 on, this is 'many'"),
        (
            P + "    - shell: a\n      run_once: '{{ x }}'\n",
            "run_once is true or false, this is '{{ x }}' | It cannot be a template",
        ),
        (P + "    - shell: a\n      notify: nobody\n", "4:7: no handler is called 'nobody', or listens to that"),
        (P + "    - rescue: [{shell: a}]\n", "3:7: 'rescue' goes with a `block`, and there is none"),
        (P + "    - block: {shell: a}\n", "3:14: `block` is a list, this is a mapping | Put `- ` before its items."),
        (P + "    - shell: a\n      retries: inf\n", "4:16: retries is a number from 0 on, this is 'inf'"),
        (P + "    - debug: {msg: a, verbosity: inf}\n", "3:34: verbosity is a number from 0 on"),
        (P + "    - shell: a\n      with_sequence: end=10001\n", "at most 10,000 numbers, this has 10,001"),
        (P + "    - shell: a\n      with_sequence: start=5 end=1\n", "does not lead from its start to its end"),
        (P + "    - shell: a\n      with_sequence: end=1 format=%0900000000d\n", "is no format of a number"),
        (P + "    - shell: a\n      with_items: ['{% if x %}a{% endif %}']\n", "with_items takes no statements"),
        (P + f"    - include_tasks: '{{{{ a[{'1' * 5000}] }}}}.yml'\n", "a template that only the run could fill in"),
        ("- hosts: all\n  serial: \u00b2\n  tasks: [{shell: a}]\n", "serial is a number of hosts"),
        (P + "    - block: [{shell: a}]\n      loop: [1]\n", "4:7: a block has no key 'loop'"),
        (P + "    - include_tasks: no.yml\n", "3:22: there is no file 'no.yml' | Looked for "),
        (P + "    - include_tasks: '{{ ansible_os_family }}.yml'\n", "'ansible_os_family' is not known before the run"),
        (
            P + "    - import_tasks: x.yml\n      loop: [1]\n",
            "import_tasks does not go with a loop | `include_tasks` does.",
        ),
        (P + "    - include_tasks: play.yml\n      loop: '{{ x }}'\n", "must be known before the run"),
        (P + "    - include_tasks: x.yml\n      register: y\n", "4:7: 'register' does not go with include_tasks"),
        (P + "    - meta: refresh_inventory\n", "meta: 'refresh_inventory' is not supported | Supported: noop,"),
        (P + "    - script: no.sh\n", "there is no file 'no.sh'"),
        (P + "    - become_method: pbrun\n      shell: a\n", "become_method is sudo, su or doas, this is 'pbrun'"),
        (P + "    - just text\n", "an item of `tasks` is a mapping, this is 'just text'"),
        ("- hosts: all\n  roles: [x]\n", "2:3: 'roles' of a play is not supported: there are no roles"),
        ("- hosts: all\n  vars_prompt: [{name: x}]\n  tasks: [{shell: a}]\n", "pass values with `-e name=value`"),
        ("- hosts: all\n  taks: []\n  tasks: [{shell: a}]\n", "2:3: a play has no key 'taks' | Did you mean 'tasks'?"),
        ("- tasks: [{shell: a}]\n", "1:3: the key 'hosts' is missing"),
        ("- hosts: all\n  gather_facts: no\n  tasks: []\n", "1:3: this play has no tasks"),
        (
            "- hosts: all\n  serial: many\n  tasks: [{shell: a}]\n",
            "serial is a number of hosts, or a share such as '30%'",
        ),
        (
            "- hosts: all\n  connection: local\n  tasks: [{shell: a}]\n",
            "the connection 'local' of a play is not supported",
        ),
        ("- hosts: all\n  strategy: debug\n  tasks: [{shell: a}]\n", "the strategy 'debug' is not supported"),
        ("- hosts: all\n  vars_files: [no.yml]\n  tasks: [{shell: a}]\n", "there is no file"),
        ("- import_playbook: play.yml\n", "imports itself"),
        ("- import_playbook: x.yml\n  tasks: []\n", "a import_playbook has no key 'tasks'"),
    ],
)
def test_what_is_not_supported(text: str, said: str, tmp_path: Path) -> None:
    (found, *_) = errors(text, tmp_path)
    assert said in found


def test_every_error_is_told_at_once(tmp_path: Path) -> None:
    found = errors(
        P + "    - apt: x\n    - shell: a\n    - block:\n        - yum: x\n        - shell: {cm: x}\n", tmp_path
    )
    assert [line.split(" |")[0] for line in found] == [
        "3:7: the module 'apt' is not supported: it changes the host",
        "6:11: the module 'yum' is not supported: it changes the host",
        "7:19: shell has no argument 'cm'",
    ]


def test_an_error_of_an_included_file_has_its_place(tmp_path: Path) -> None:
    (tmp_path / "t.yml").write_text("- debug: {msg: a}\n- copy: {src: a}\n")
    (tmp_path / "play.yml").write_text(P + "    - include_tasks: t.yml\n")
    with pytest.raises(PlaybookError) as raised:
        load_playbook(str(tmp_path / "play.yml"))
    assert (raised.value.source.path, raised.value.source.line) == (str(tmp_path / "t.yml"), 2)
    assert raised.value.line_text == "- copy: {src: a}"


def test_files_that_include_each_other(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text("- include_tasks: b.yml\n  when: x\n")
    (tmp_path / "b.yml").write_text("- include_tasks: a.yml\n")
    (found,) = errors(P + "    - include_tasks: a.yml\n", tmp_path)
    assert "includes itself" in found


def test_files_that_multiply_end(tmp_path: Path) -> None:
    for number in range(15):
        twice = f"- import_tasks: {number + 1}.yml\n" * 2
        (tmp_path / f"{number}.yml").write_text(twice)
    (tmp_path / "15.yml").write_text("- command: 'true'\n")
    assert errors(P + "    - import_tasks: 0.yml\n", tmp_path) == [
        "2:3: a play has more than 10,000 tasks, blocks and inclusions | Use `loop`, or fewer inclusions."
    ]


def test_playbooks_that_multiply_end(tmp_path: Path) -> None:
    for number in range(15):
        (tmp_path / f"{number}.yml").write_text(f"- import_playbook: {number + 1}.yml\n" * 2)
    (tmp_path / "15.yml").write_text(P + "    - command: 'true'\n")
    (said,) = errors("- import_playbook: 0.yml\n", tmp_path)
    assert "a playbook has more than 1,000 plays and imports" in said


def test_variables_that_multiply_are_left_for_the_run(tmp_path: Path) -> None:
    layers = "".join(f"  a{n}: '{f'{{{{ a{n - 1} }}}}' * 8}'\n" for n in range(1, 9))
    (found,) = tasks("- name: '{{ a8 }}'\n  command: 'true'", tmp_path, head=f"vars:\n  a0: x\n{layers}")
    assert len(found.name) < 10_000


def test_many_tasks_of_one_name_have_ids(tmp_path: Path) -> None:
    found = tasks("- {name: same, command: 'true'}\n" * 3000, tmp_path)
    assert found[-1].id == "same-3000"


@pytest.mark.parametrize("module", ["shell", "script"])
def test_braces_without_an_end_are_read_at_once(module: str, tmp_path: Path) -> None:
    before = time.process_time()
    errors(f"{P}    - {{{module}: '{'{{' * 50_000}'}}\n", tmp_path)
    assert time.process_time() - before < 10
