"""The words of Ansible that plays with `tasks` may use: modules with their arguments, keys of plays, blocks and tasks.

The tables of docs/ansible.md are held against these. Every word that Ansible knows is in one of them: what is not
supported says why, so that nobody has to guess whether it was only mistyped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from checkrunner.model.tasks import Module

__all__ = [
    "BLOCK_KEYS",
    "MODULES",
    "PLAY_KEYS",
    "REFUSED_MODULES",
    "TASK_KEYS",
    "ModuleWords",
    "Word",
]


@dataclass(frozen=True, slots=True)
class Word:
    """A key: `how` is ``yes``, ``ignored`` (it changes nothing here) or ``no``; `says` goes into the manual, and for
    ``no`` into the error as well."""

    how: str
    says: str


@dataclass(frozen=True, slots=True)
class ModuleWords:
    """A module: which one it is, its arguments, whether its text may stand right after its name, what it does."""

    module: Module
    args: tuple[str, ...]
    says: str
    free: bool = False


_COMMAND_ARGS = ("cmd", "chdir", "creates", "removes", "stdin", "stdin_add_newline", "strip_empty_ends")

MODULES: Mapping[str, ModuleWords] = {
    "shell": ModuleWords(Module.SHELL, (*_COMMAND_ARGS, "executable"), "A command for `/bin/sh`.", free=True),
    "command": ModuleWords(
        Module.COMMAND,
        (*_COMMAND_ARGS, "argv", "expand_argument_vars", "executable"),
        "A program and its arguments; no shell reads them.",
        free=True,
    ),
    "raw": ModuleWords(Module.RAW, ("executable",), "A command for the account's login shell.", free=True),
    "script": ModuleWords(
        Module.SCRIPT,
        ("cmd", "chdir", "creates", "removes", "executable", "decrypt"),
        "A local file, run by the program that its first line names; nothing is written on the host.",
        free=True,
    ),
    "assert": ModuleWords(Module.ASSERT, ("that", "fail_msg", "msg", "success_msg", "quiet"), "Conditions must hold."),
    "debug": ModuleWords(Module.DEBUG, ("msg", "var", "verbosity"), "A message for the report."),
    "fail": ModuleWords(Module.FAIL, ("msg",), "Fail with a message."),
    "set_fact": ModuleWords(Module.SET_FACT, (), "Variables for the host's later tasks; `cacheable` changes nothing."),
    "include_tasks": ModuleWords(Module.INCLUDE_TASKS, ("file", "apply"), "A file of tasks, run as one.", free=True),
    "import_tasks": ModuleWords(
        Module.INCLUDE_TASKS, ("file",), "The tasks of a file, each with the keys of the import.", free=True
    ),
    "meta": ModuleWords(
        Module.META, (), "`noop`, `end_host`, `end_play`, `flush_handlers`, `clear_host_errors`.", free=True
    ),
    "setup": ModuleWords(
        Module.SETUP, ("gather_subset", "filter", "gather_timeout", "fact_path"), "Gather facts of the host."
    ),
    "gather_facts": ModuleWords(Module.SETUP, ("gather_subset", "parallel"), "The same."),
}
"""Modules by their short names. `set_fact` takes any names, `meta` no arguments."""

REFUSED_MODULES: Mapping[str, str] = {
    "apt": "it changes the host",
    "assemble": "it changes the host",
    "async_status": "commands are waited for",
    "blockinfile": "it changes the host",
    "copy": "it changes the host; a script is run with `script`",
    "cron": "it changes the host",
    "dnf": "it changes the host",
    "fetch": "outputs stay on the host; show a part of one with `debug`",
    "file": "it changes the host",
    "find": "write `command: find ...`",
    "get_url": "write `command: curl -sf URL`",
    "getent": "write `command: getent ...`",
    "group": "it changes the host",
    "hostname": "it changes the host",
    "import_role": "there are no roles; import the role's file: `import_tasks: roles/NAME/tasks/main.yml`",
    "include_role": "there are no roles; include the role's file: `include_tasks: roles/NAME/tasks/main.yml`",
    "include_vars": "name the file in `vars_files` of the play",
    "lineinfile": "it changes the host; to look for a line, write `command: grep -q ...`",
    "mount": "it changes the host",
    "package": "it changes the host; to look for one, write `command: rpm -q ...` or `dpkg -s ...`",
    "package_facts": "write `command: rpm -qa` or `dpkg-query -W`",
    "pause": "checks do not wait for people; `until` with `delay` waits for the host",
    "ping": "write `command: true`",
    "reboot": "it changes the host",
    "service": "it changes the host; to look at one, write `command: systemctl is-active NAME`",
    "service_facts": "write `command: systemctl is-active NAME`",
    "set_stats": "what a run found is in its report",
    "slurp": "write `command: cat FILE`, and read `.stdout`",
    "stat": "write `command: stat -c ... FILE`, or `test -e FILE`",
    "sysctl": "it changes the host; to look at one, write `command: sysctl -n NAME`",
    "systemd": "it changes the host; to look at one, write `command: systemctl is-active NAME`",
    "template": "it changes the host",
    "unarchive": "it changes the host",
    "uri": "write `command: curl -sf URL`",
    "user": "it changes the host; to look for one, write `command: getent passwd NAME`",
    "wait_for": "write `command: ...` with `until` and `delay`",
    "wait_for_connection": "a host that cannot be reached is reported as that",
    "yum": "it changes the host",
}
"""Other modules that playbooks often have, and what to write instead."""

_BECOME: Mapping[str, Word] = {
    "become": Word("yes", "Run as another user."),
    "become_user": Word("yes", "That user (default root)."),
    "become_method": Word("yes", "How: `sudo`, `su` or `doas`."),
    "become_flags": Word("no", "options of sudo are set in the inventory (`ansible_become_flags`)"),
    "become_exe": Word("no", "the program is set in the inventory (`ansible_become_exe`)"),
}

_SHARED: Mapping[str, Word] = {
    "name": Word("yes", "What people read."),
    **_BECOME,
    "environment": Word("yes", "Variables of the environment: mapping, list of mappings, or template of one."),
    "vars": Word("yes", "Variables."),
    "tags": Word("yes", "For `--tags` and `--skip-tags`; `always` and `never` as in Ansible."),
    "ignore_errors": Word("yes", "A failure is noted, and the host goes on."),
    "ignore_unreachable": Word(
        "ignored", "A host that is lost or was never reached is reported as that, whatever this says."
    ),
    "no_log": Word("yes", "The report shows nothing of the command, its output and its values."),
    "any_errors_fatal": Word("yes", "A failure on one host keeps the play from hosts that have not begun."),
    "timeout": Word("yes", "Seconds; then the task has failed."),
    "run_once": Word("yes", "On the first host that can be reached, for all."),
    "check_mode": Word("ignored", "Tasks are run either way."),
    "diff": Word("ignored", "Nothing is compared."),
    "collections": Word("ignored", "Only the modules of this manual are known."),
    "throttle": Word("ignored", "The run's `--forks` holds."),
    "debugger": Word("ignored", "There is no debugger."),
    "connection": Word("no", "it is the inventory variable `ansible_connection`"),
    "port": Word("no", "it is the inventory variable `ansible_port`"),
    "remote_user": Word("no", "it is the inventory variable `ansible_user`, or `--user`"),
    "module_defaults": Word("no", "write the arguments at each task"),
}

_FLOW: Mapping[str, Word] = {
    "when": Word("yes", "Conditions; with a list all must hold."),
    "delegate_to": Word("yes", "In the session of another host."),
    "delegate_facts": Word("no", "facts are those of the host that a task is for"),
    "notify": Word("yes", "Handlers to run at the end of the section where this has changed something."),
}

PLAY_KEYS: Mapping[str, Word] = {
    **_SHARED,
    "hosts": Word("yes", "Pattern of hosts."),
    "connection": Word("yes", "`local` for localhost; else what the inventory says, and an error if that differs."),
    "tasks": Word("yes", "The tasks; `pre_tasks` come before them, `post_tasks` after them."),
    "pre_tasks": Word("yes", "See `tasks`."),
    "post_tasks": Word("yes", "See `tasks`."),
    "handlers": Word("yes", "Run at the end of each of the three sections, where a task that notifies them changed."),
    "gather_facts": Word("yes", "`true` (the default): once for each host, and only where some text reads a fact."),
    "gather_subset": Word("ignored", "The facts are few; all are gathered."),
    "gather_timeout": Word("ignored", "The run's timeout holds."),
    "fact_path": Word("no", "local facts are not read"),
    "vars_files": Word("yes", "Files of variables, over `vars`."),
    "serial": Word("yes", "Number or share of hosts at a time, or a list of them."),
    "max_fail_percentage": Word("yes", "No further host is begun once more than so many have failed."),
    "strategy": Word(
        "ignored", "Each host goes through its tasks by itself, as with `free`; `linear` orders no host after another."
    ),
    "order": Word("ignored", "Hosts run side by side."),
    "force_handlers": Word("no", "handlers of a host that has failed are not run"),
    "roles": Word("no", "there are no roles; import the role's file: `import_tasks: roles/NAME/tasks/main.yml`"),
    "vars_prompt": Word("no", "pass values with `-e name=value`"),
    "validate_argspec": Word("no", "there are no roles"),
}

_FATAL = {
    "any_errors_fatal": Word("ignored", "It counts at the play: each host goes through its tasks by itself."),
}

BLOCK_KEYS: Mapping[str, Word] = {
    **_SHARED,
    **_FATAL,
    **_FLOW,
    "block": Word("yes", "The tasks."),
    "rescue": Word("yes", "Tasks that run once one of the block has failed; that failure is then no failure."),
    "always": Word("yes", "Tasks that run whatever came of the others."),
}

TASK_KEYS: Mapping[str, Word] = {
    **_SHARED,
    **_FATAL,
    **_FLOW,
    "args": Word("yes", "Arguments of the module."),
    "action": Word("yes", "The module and its arguments in one text or mapping."),
    "local_action": Word("yes", "The same, with `delegate_to: localhost`."),
    "register": Word("yes", "Name of the result."),
    "failed_when": Word("yes", "Conditions: all hold, and the task has failed; otherwise not."),
    "changed_when": Word("yes", "Conditions: all hold, and the task has changed something; otherwise not."),
    "loop": Word("yes", "List, or template of one."),
    "loop_control": Word("yes", "`loop_var`, `index_var`, `label`, `pause`, `extended`."),
    "until": Word("yes", "Conditions: run again until all hold."),
    "retries": Word("yes", "How many times more (default 3)."),
    "delay": Word("yes", "Seconds between the runs (default 5)."),
    "async": Word("yes", "The command is waited for, and has failed when it takes longer."),
    "poll": Word("yes", "With `async`; 0, which would not wait, is refused."),
    "first_available_file": Word("no", "name the file"),
}
"""Keys of tasks; ``with_...`` are those of `task_loops.WITH`."""
