"""The rules of lint: what it looks for. Their ids are stable, docs/lint.md lists them."""

from __future__ import annotations

from collections.abc import Iterable

from checkrunner.model.problems import Level, Problem, Rule

__all__ = ["RULES", "in_order"]

_ERROR, _WARNING, _INFO = Level.ERROR, Level.WARNING, Level.INFO

_ALL = (
    Rule(
        id="arguments",
        level=_ERROR,
        title="Arguments and settings can be used",
        help="Without them nothing is looked at. What the command line, the environment or checkrunner.toml say is not "
        "there, or has no meaning.",
    ),
    Rule(
        id="playbook",
        level=_ERROR,
        title="The playbook can be read",
        help="Every key and value is one that the format knows, in included files too. A module that plays of tasks do "
        "not have is named with those that they have.",
    ),
    Rule(
        id="template",
        level=_ERROR,
        title="Templates and expressions can be filled in",
        help="They are parsed, and rendered for each host as far as that needs no result. A regular expression must be "
        "valid, and one that output can hold on a line.",
    ),
    Rule(
        id="undefined-name",
        level=_ERROR,
        title="Every name that a text reads is defined",
        help="Define it in the inventory, in `vars` or `params`, or with -e; `x | default(...)` does without. Without "
        "an inventory this is a warning: nobody knows what the real one defines.",
    ),
    Rule(
        id="needs",
        level=_ERROR,
        title="What a check needs is there",
        help="`needs` names checks that stand before this one, in this play or an earlier one, and that the same "
        "run selects.",
    ),
    Rule(
        id="values",
        level=_ERROR,
        title="Values can be taken from the output",
        help="`parse`, `extract` and `levels` fit together: a column needs a table, JMESPath needs data, a parser of "
        "jc must exist.",
    ),
    Rule(
        id="parameter",
        level=_ERROR,
        title="Parameters have values of their types",
        help="What -e and the inventory set must be what `params` says.",
    ),
    Rule(
        id="inventory",
        level=_ERROR,
        title="The inventory can be read",
        help="What is only odd in it is a warning.",
    ),
    Rule(
        id="connection",
        level=_ERROR,
        title="Hosts can be reached as the inventory says",
        help="Connection settings have usable values. What a setting asks for and is not done is a warning.",
    ),
    Rule(
        id="secret",
        level=_ERROR,
        title="Secrets can be opened",
        help="Vaults need their passwords, `!env` its variable, `!cmd` its program (which is looked up, not run).",
    ),
    Rule(
        id="host-pattern",
        level=_ERROR,
        title="Each play has hosts",
        help="Every term of a pattern names hosts or groups of the inventory, and somebody is left. A warning where no "
        "inventory was given, where --limit leaves nobody, and with --allow-empty.",
    ),
    Rule(
        id="unknown-host",
        level=_WARNING,
        title="Hosts and groups that texts name exist",
        help="`groups['web']`, `hostvars['web1']`, `'web' in group_names`, `inventory_hostname == 'web1'` and "
        "`delegate_to` (an error there) name what the inventory has. Said only where an inventory was given.",
    ),
    Rule(
        id="unreachable",
        level=_WARNING,
        title="Every check can be run",
        help="It never is: its `when` is false wherever it could be true, it loops over nothing, it needs a check that "
        "runs on none of its hosts or never, only the tag `never` would select it, or a task before it always ends the "
        "play.",
    ),
    Rule(
        id="changes-host",
        level=_WARNING,
        title="Checks only look",
        help="The command changes the host: see the list of verbs and redirections. If it is meant to, write "
        "`changes_host: true` in the check, or `vars: {changes_host: true}` in a task, its block or its play.",
    ),
    Rule(
        id="unguarded-removal",
        level=_WARNING,
        title="Nothing is removed below a variable that may be empty",
        help="`rm -rf $DIR/x` removes /x where DIR is empty. Write `${DIR:?}`. `changes_host: true` does not "
        "accept it.",
    ),
    Rule(
        id="secret-in-clear",
        level=_WARNING,
        title="No secret stands in clear",
        help="A value with a name such as `db_password`, or one that looks like a token. Encrypt it with "
        "ansible-vault, take it from the environment (`!env NAME`) or from a program (`!cmd pass show db`), and give "
        "it to the command through `env`.",
    ),
    Rule(
        id="shell-syntax",
        level=_WARNING,
        title="bash can read the command",
        help="bash itself reads the text (`bash -n`) and runs nothing of it.",
    ),
    Rule(
        id="endless-command",
        level=_WARNING,
        title="Commands end by themselves",
        help="This one would be ended by the check's timeout, which counts as not looked at. Bound it, or say "
        "`duration:`.",
    ),
    Rule(
        id="long-sleep",
        level=_WARNING,
        title="Commands do not sleep for long",
        help="Everything after it in its session waits. `sample` and `until` wait without holding anybody up.",
    ),
    Rule(
        id="prompt",
        level=_WARNING,
        title="Answers go to the right questions",
        help="A pattern of `prompts` that fits any question hands its answer to whatever asks.",
    ),
    Rule(
        id="contradicting-tags",
        level=_WARNING,
        title="Tags agree with each other",
        help="`always` wins over `never`.",
    ),
    Rule(
        id="become-unused",
        level=_WARNING,
        title="Who names another user becomes that user",
        help="Write `become: true` beside `become_user` or `become_method`.",
    ),
    Rule(
        id="name-clash",
        level=_WARNING,
        title="Names of results and variables are their own",
        help="A registered name, or a variable, that means something else as well is read as one of the two.",
    ),
    Rule(
        id="unread-variable",
        level=_WARNING,
        title="Variables of the command line are read",
        help="Most often a typing error. Without a near name it is an info.",
    ),
    Rule(
        id="duplicate-id",
        level=_INFO,
        title="Ids are unique in the whole playbook",
        help="Within a play two checks of one id are an error; in another play the second one is `ID~2` in reports.",
    ),
    Rule(
        id="duplicate-name",
        level=_INFO,
        title="Names are unique in a play",
        help="Reports are read by names.",
    ),
    Rule(
        id="undocumented",
        level=_INFO,
        title="Checks say why they matter and how to fix what they find",
        help="`why` and `fix` stand in the report beside the finding. Not asked of tasks and follow-ups.",
    ),
)

RULES: dict[str, Rule] = {rule.id: rule for rule in _ALL}
"""By id, in the order of the manual."""


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Each once, in the order of the file, errors before others of one place."""
    order = list(Level)
    return sorted(
        set(problems), key=lambda p: (p.source.path, p.source.line, p.source.column, order.index(p.level), p.message)
    )
