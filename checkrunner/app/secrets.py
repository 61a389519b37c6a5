"""Where the secrets of a run come from, and which of them are opened before anything connects."""

from __future__ import annotations

from collections.abc import Callable

from checkrunner.load.secrets import Sealed, SecretReader
from checkrunner.load.vault_passwords import password_of_file, password_of_id
from checkrunner.model.errors import LoadError, SettingsError, UsageError
from checkrunner.model.sources import Secret
from checkrunner.plan.build import Plan
from checkrunner.plan.secret_needs import unopened_secrets
from checkrunner.settings import Settings

__all__ = ["make_secrets", "open_secrets", "try_secrets"]


def make_secrets(
    settings: Settings, *, ask: Callable[[str], Secret] | None = None, ask_vault: bool = False, dry: bool = False
) -> SecretReader:
    """What opens secrets: the passwords that the settings name, and with `ask_vault` one that a person is asked for.

    `ask` is called with a prompt when a password is first needed. With `dry` the programs of ``!cmd`` are not run.
    Raises UsageError for a password file of the command line that is not there.
    """
    asking = ask or _nobody
    timeout_s = settings.program_timeout_s
    by_id = [password_of_id(spec, asking, timeout_s=timeout_s) for spec in settings.vault_ids]
    by_file = [password_of_file(name, timeout_s=timeout_s) for name in settings.vault_password_files]
    prompt = [password_of_id("prompt", asking, timeout_s=timeout_s)] if ask_vault else []
    for name, passwords in (("vault_id", by_id), ("vault_password_file", by_file)):
        if settings.origins[name] == "flag":
            for password in passwords:
                password.check()
    return SecretReader([*by_id, *by_file, *prompt], settings.environment, timeout_s=timeout_s, dry=dry)


def open_secrets(plan: Plan, secrets: SecretReader) -> list[str]:
    """Open what the plan needs. Gives warnings. Raises UsageError members, at the place, for what cannot be opened."""
    errors, warnings = try_secrets(plan, secrets)
    if errors:
        raise errors[0]
    return warnings


def try_secrets(plan: Plan, secrets: SecretReader) -> tuple[list[UsageError], list[str]]:
    """Open what the plan needs: an error for each secret that cannot be opened, and warnings. Where there was an error,
    a placeholder is the secret's value from then on.

    Of the rest, encrypted values and those of the environment are opened where that works, so that they can be masked
    should they turn up in output.
    """
    needed, others = unopened_secrets(plan)
    errors = []
    for secret in needed:
        error = _failure(secret)
        if error is not None:
            errors.append(error)
            if isinstance(secret, Sealed):
                secret.give_up()
    spare = [secret for secret in others if isinstance(secret, Sealed) and secret.kind != "cmd"]
    failed = [(secret.kind, error) for secret in spare if (error := _failure(secret)) is not None]
    closed = [error for kind, error in failed if kind == "vault"]
    if not closed or not secrets.has_passwords:
        return errors, []
    count = "1 encrypted value" if len(closed) == 1 else f"{len(closed)} encrypted values"
    where = f"{closed[0].source}: " if isinstance(closed[0], LoadError) else ""
    return errors, [f"{where}{count} that no check reads cannot be opened, and not masked: {closed[0].message}"]


def _failure(secret: Secret) -> UsageError | None:
    try:
        secret.reveal()
    except UsageError as error:
        return error
    return None


def _nobody(prompt: str) -> Secret:
    del prompt
    raise SettingsError("ask_vault_pass", True, "flag", "there is nobody to ask here")
