"""What the parser complains about, in our words: options of Ansible that have another name here, and typing errors."""

from __future__ import annotations

from collections.abc import Iterable

from checkrunner.model.errors import nearest

__all__ = ["ELSEWHERE", "parser_problem"]

_CHANGES = "Checks only look: nothing is changed, so there is nothing to try out"

ELSEWHERE = {
    "--list-hosts": "Use: checkrunner hosts PATTERN -i INVENTORY",
    "--list-tasks": "Use: checkrunner checks PLAYBOOK",
    "--list-tags": "Use: checkrunner checks PLAYBOOK, which shows tags too",
    "--syntax-check": "Use: checkrunner lint PLAYBOOK -i INVENTORY",
    "--diff": _CHANGES,
    "-D": _CHANGES,
    "--become-pass": "Use: --ask-become-pass, or the variable CHECKRUNNER_BECOME_PASSWORD",
    "--become-password-file": "Use: --ask-become-pass, or the variable CHECKRUNNER_BECOME_PASSWORD",
    "--sudo": "Use: --become",
    "-s": "Use: --become",
    "--key-file": "Use: --private-key FILE",
    "--ssh-extra-args": "Use: --ssh-common-args ARGS",
    "--connection": "Set ansible_connection in the inventory; without -i the run is on this machine",
    "-c": "Set ansible_connection in the inventory; without -i the run is on this machine",
    "--inventory-file": "Use: --inventory SOURCE",
    "--one-line": "Use: --format json for programs",
}
"""Options of Ansible's commands that are none here, and what to do instead."""


def parser_problem(error: BaseException) -> tuple[str, str]:
    """Message and hint for an error of the command line's parser."""
    option = getattr(error, "option_name", None)
    if option is None or not hasattr(error, "possibilities"):
        return _sentence(str(getattr(error, "format_message", error.__str__)())), ""
    option = str(option)
    message = f"there is no option {option}"
    if option in ELSEWHERE:
        return message, ELSEWHERE[option]
    close = nearest(option, _options(error))
    return message, f"Did you mean {close}?" if close else ""


def _options(error: BaseException) -> Iterable[str]:
    """The options of the verb that was called."""
    context = getattr(error, "ctx", None)
    if context is None:
        return ()
    return [name for parameter in context.command.params for name in parameter.opts if name.startswith("--")]


def _sentence(text: str) -> str:
    """Parsers begin with a capital letter and end with a full stop; our messages do neither."""
    text = text.strip().rstrip(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
