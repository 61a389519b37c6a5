"""Connection settings that are templates: rendered over the host's variables, for the hosts of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from checkrunner.model.errors import LoadError, TemplateError
from checkrunner.model.inventory import Setting
from checkrunner.model.sources import Secret, Template
from checkrunner.plan.hostplan import HostPlan
from checkrunner.plan.values import Hidden
from checkrunner.plan.variables import Variables, host_variables

__all__ = ["SettingNames", "setting_error", "value_of_setting"]

_DEFINE = "Define it in the inventory, in the play's `vars` or with -e"


class SettingNames:
    """What a host's settings can read: its variables in each of its plays, and what the plan knows of it."""

    def __init__(self, host: HostPlan) -> None:
        setup = host.setup
        plays = {entry.shape.play_index: entry.shape.play for entry in host.track.entries}
        # One connection serves all plays of a host, so those without variables say nothing that another one would not.
        more = setup.magic.layers(host.host) if setup.magic else ()
        layers = {id(play.vars): play.vars for play in plays.values()}
        self.templates = setup.templates
        self.layers: tuple[Variables, ...] = tuple(
            host_variables(host.host, play_vars, setup.extra_vars, setup.templates, more)
            for play_vars in layers.values()
        )


def value_of_setting(setting: Setting, names: SettingNames) -> Any:
    """The value: of any type where the setting is one ``{{ ... }}``, and a Secret where a secret went into it.

    Raises TemplateError at the setting's place, and LoadError at the place of a secret that cannot be opened.
    """
    value = setting.value
    if isinstance(value, tuple):
        words = [_word(setting, word, names) for word in value]
        secret = any(isinstance(word, Secret) for word in words)
        return Secret(" ".join(map(_plain, words))) if secret else words
    is_secret = isinstance(value, Secret)
    text = value.reveal() if isinstance(value, Secret) else value
    if is_secret and not ("{{" in text or "{%" in text):
        return value
    values = [_rendered(setting, text, names, variables) for variables in names.layers]
    texts = {_plain(other) for other in values}
    if len(texts) > 1:
        raise setting_error(setting, "the plays give it different values", "One connection serves all plays")
    found = values[0]
    return Secret(str(found)) if is_secret and not isinstance(found, Secret) else found


def _word(setting: Setting, word: Any, names: SettingNames) -> Any:
    """The value of one word of a list."""
    return value_of_setting(replace(setting, value=word), names) if isinstance(word, str | Secret) else word


def _plain(value: object) -> str:
    return value.reveal() if isinstance(value, Secret) else str(value)


def _rendered(setting: Setting, text: str, names: SettingNames, variables: Variables) -> Any:
    try:
        value = names.templates.value_of(Template(text=text), variables, setting.name)
        if isinstance(value, Hidden):
            value = value.secret()
            value.reveal()
    except TemplateError as error:
        closed = _of_secret(error)
        if closed is not None:
            raise closed from None
        if isinstance(setting.value, Secret):
            message = "the template here cannot be rendered; it is secret and not shown"
            hint = "Look at the names in it; with `ansible-vault view` where it is encrypted"
            raise setting_error(setting, message, hint) from None
        elsewhere = f" ({error.source})" if error.source.line else ""
        # The setting's own name is often the nearest one, and never the one that was meant.
        hint = _DEFINE if error.hint == f"Did you mean {setting.name!r}?" else error.hint
        raise setting_error(setting, f"{error.message}{elsewhere}", hint) from error
    return value


def _of_secret(error: BaseException) -> LoadError | None:
    """The error of a secret that was to be opened, among the causes of another."""
    cause = error.__cause__
    while cause is not None:
        if isinstance(cause, LoadError) and not isinstance(cause, TemplateError):
            return cause
        cause = cause.__cause__
    return None


def setting_error(setting: Setting, message: str, hint: str) -> TemplateError:
    """An error at the setting's place."""
    return TemplateError(message, source=setting.source, line_text=setting.line_text, hint=hint)
