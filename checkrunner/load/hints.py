"""What to do about keys that are not known where they stand: those of Ansible first of all."""

from __future__ import annotations

__all__ = ["MISSING", "SHAPES", "hint_for"]

_TASKS = "Tasks make a play of their own: `- hosts: ...` with `tasks:` and no `checks:`."
_RUN = "Write the command as `run: ...`."
_HINTS = {
    "tasks": _TASKS,
    "pre_tasks": _TASKS,
    "post_tasks": _TASKS,
    "roles": "There are no roles; list the checks in `checks:`.",
    "handlers": "Checks change nothing, so there is nothing to handle.",
    "gather_facts": "Nothing is gathered; drop the line.",
    "shell": _RUN,
    "command": "Write the command as `run: ...` or `argv: [...]`.",
    "cmd": _RUN,
    "script": _RUN,
    "args": "Directory and environment are the keys `cwd` and `env`.",
    "chdir": "The directory is the key `cwd`.",
    "environment": "The environment is the key `env`.",
    "failed_when": "Write `crit_if: ...`.",
    "changed_when": "Checks change nothing; drop the line.",
    "ignore_errors": "Write `severity: info` to note without judging.",
    "assert": "What is expected goes into `expect:`.",
    "responses": "Answers to questions are `prompts: [{match: ..., answer: ...}]`.",
    "response": "The line to type is `answer`.",
    "interval": "From one start to the next is `every`.",
    "times": "How many readings is `count`.",
    "remote_user": "The user is the inventory variable `ansible_user`.",
    "connection": "The connection is the inventory variable `ansible_connection`.",
    "async": "Write `timeout:`, and `session:` to run side by side.",
    "become_password": "Give it by -K, CHECKRUNNER_BECOME_PASSWORD or `ansible_become_password`.",
    "import_playbook": "A playbook cannot include another; include a list of checks: `- include_checks: FILE`.",
    "include": "Write `include_checks: FILE`, with a file that is a list of checks.",
    "include_tasks": "Write `include_checks: FILE`, with a file that is a list of checks.",
    "import_tasks": "Write `include_checks: FILE`, with a file that is a list of checks.",
    "description": "Did you mean 'why' or 'name'?",
    "max_fail_percentage": "Write `max_fail: 30%`.",
    "thresholds": "Thresholds of values are `levels: {NAME: {warn: 80%, crit: 90%}}`.",
    "with_items": "Write `loop: [...]`.",
    "with_list": "Write `loop: [...]`.",
    "with_dict": 'Write `loop: "NAME | dict2items"`; the item has `key` and `value`.',
    "with_sequence": 'Write `loop: "range(1, 5)"`, which ends with 4.',
    "with_indexed_items": "Write `loop: [...]` and `loop_control: {index_var: NAME}`.",
    "with_flattened": 'Write `loop: "NAME | flatten"`.',
    "with_together": 'Write `loop: "a | zip(b)"`.',
    "with_nested": 'Write `loop: "a | product(b)"`.',
    "loop_var": "Write it below `loop_control`.",
    "index_var": "Write it below `loop_control`.",
    "extended": "Drop the line: `ansible_loop` is always there.",
    "warn": "Thresholds of values are `levels: {NAME: {warn: 80%, crit: 90%}}`.",
    "crit": "Thresholds of values are `levels: {NAME: {warn: 80%, crit: 90%}}`.",
    "warning": "Thresholds of values are `levels: {NAME: {warn: 80%, crit: 90%}}`.",
    "critical": "Thresholds of values are `levels: {NAME: {warn: 80%, crit: 90%}}`.",
    "depends_on": "Write `needs: [ID]`.",
    "on_failure": "Write `on_fail:` with a check or a list of them.",
    "parameters": "Write `params:`.",
    "hosts": "Hosts are of a play; for one check write `when`, or `delegate_to`.",
    "checks": "A list of checks that share keys is a `block:`.",
}
_OF_ANSIBLE = {
    "any_errors_fatal": "every check runs, whatever the others find; see `pre_checks` and `max_fail`",
    "check_mode": "checks change nothing; drop the line",
    "collections": "a check is a shell command; drop the line",
    "debug": "print with `run: echo ...` and show it with `slice: {head: 5, when: always}`",
    "diff": "checks change nothing; drop the line",
    "fail": "what is wrong is said by `expect`, `warn_if` and `crit_if`",
    "force_handlers": "checks change nothing; drop the line",
    "ignore_unreachable": "a host that cannot be reached is reported, and the others go on; drop the line",
    "import_role": "list the checks in `checks:`",
    "include_role": "list the checks in `checks:`",
    "include_vars": "name the file in `vars_files` of the play, or pass it with `-e @FILE`",
    "local_action": "write `delegate_to: localhost`",
    "module_defaults": "a check is a shell command; drop the line",
    "no_log": "output stays on the host and secrets are masked; drop the line",
    "notify": "checks change nothing, so there is nobody to notify; drop the line",
    "order": "hosts run side by side; drop the line",
    "poll": "write `timeout:`, and `session:` to run side by side",
    "rescue": "each check is judged by itself; what is to run after one's trouble is its `on_fail`",
    "service": "write `run: systemctl is-active NAME`",
    "set_fact": "put variables into `vars` of the play, a block or the check",
    "stat": "write `run: test -e PATH`",
    "strategy": "hosts run side by side; drop the line",
    "throttle": "use `forks` of the play, or `--forks`, for how many hosts run at a time",
    "uri": "write `run: curl -sf URL`",
    "vars_prompt": "declare `params` and pass values with `-e name=value`",
    "wait_for": "write `until` with `retries` and `delay`",
    "always": "list its checks like any other",
}
"""Keys of Ansible that have no counterpart of their own, each with what to do instead."""

MISSING = {
    "hosts": "Write a pattern: `hosts: all`.",
    "checks": "Write `checks:` with a list of checks below it.",
    "block": "Write `block:` with a list of checks below it.",
    "as": "Write `as: json`, csv, kv, table, lines, regex or jc:PARSER.",
    "min": "Write `min: 2` or `min: 50%`.",
    "match": "Write the question's line as a regular expression: `match: 'Continue\\?'`.",
    "answer": "Write the line to type: `answer: y`.",
    "every": "Write `every: 1s`.",
    "count": "Write `count: 5`.",
}
"""What to do about a key that is not there."""

SHAPES = {
    "checks": "Put `- ` before the first key of each check.",
    "sample": "Write `sample: {every: 1s, count: 5}`.",
    "prompts": "Write `prompts: {match: ..., answer: ...}`.",
    "parse": "Write `parse: json`, or `parse: {as: csv, delimiter: ';'}`.",
    "extract": "Write `extract: {used: {column: 'Use%'}}`.",
    "levels": "Write `levels: {used: {warn: 80%, crit: 90%}}`.",
    "loop_control": "Write `loop_control: {label: '{{ item }}'}`.",
    "consensus": "Write `consensus: true`, or `consensus: {by: group, on: stdout}`.",
    "baseline": "Write `baseline: true`, or `baseline: {ignore: 'PATTERN'}`.",
    "quorum": "Write `quorum: 2`, or `quorum: {min: 2, by: group}`.",
    "params": "Write `params: {threshold: {type: percent, default: 90}}`.",
    "expect": "Write `expect: {rc: 0}`.",
    "slice": "Write `slice: tail 20`.",
    "env": "Write `env: {LC_ALL: C}`.",
    "on_fail": "Write `on_fail: {run: ...}`, or a list of checks.",
}
"""How a key is written, for a value of another kind."""


def hint_for(key: str) -> str:
    """What to do about an unknown key of a check, play or block; "" where nothing is known of it."""
    bare = key.removeprefix("ansible.builtin.").removeprefix("ansible.legacy.")
    if bare in _OF_ANSIBLE:
        return f"{key!r} is a key of Ansible that checks do not have: {_OF_ANSIBLE[bare]}."
    if bare.startswith("with_") and bare not in _HINTS:
        return "Write `loop:` with a list, or with an expression that comes to one."
    return _HINTS.get(bare, "")
