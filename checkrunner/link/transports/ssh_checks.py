"""What is wrong with SSH settings of ours, said before anything connects, and whose settings they are."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from checkrunner.link.transports.ssh_names import ignored_sentence
from checkrunner.link.transports.ssh_options import HONOURED, HostSettings, host_settings
from checkrunner.model.errors import InventoryError, SettingsError, UsageError
from checkrunner.model.inventory import Host
from checkrunner.model.options import SshOptions

__all__ = ["checked_settings", "setting_warnings"]

# asyncssh names the file and line of what it reads; an argument has none.
_NO_PLACE = re.compile(r"^\S* line 0: ")


def checked_settings(host: Host, options: SshOptions, read: Callable[[Host], HostSettings]) -> HostSettings:
    """The settings of a host, by `read`, which is `host_settings` for these options, or remembers what that said.

    Raises SettingsError for settings of the run and InventoryError for the host's own.
    """
    for path in options.config_files or ():
        _check_file("ssh_config", path, options)
    try:
        settings = read(host)
    except (OSError, ValueError) as error:
        raise _blamed(host, options, error) from error
    if options.private_key_file is not None and not os.path.exists(_expanded(f"{options.private_key_file}.pub")):
        _check_file("private_key", options.private_key_file, options)
    if settings.policy == "yes":  # any other adds to a file that is not there, or does not look at it
        for path in options.known_hosts:
            _check_file("known_hosts", path, options)
    return settings


def setting_warnings(host: Host, options: SshOptions, read: Callable[[Host], HostSettings]) -> Sequence[str]:
    """What is set and not honoured, or not wise; one sentence each. Raises what `checked_settings` raises."""
    settings = checked_settings(host, options, read)
    out = [f"{host.name}: {ignored_sentence(name, HONOURED)}" for name in dict.fromkeys(settings.ignored)]
    passwords = (host.password, options.password, host.options.get("become_password"), options.become_password)
    if settings.policy == "no" and any(password is not None for password in passwords):
        out.append(
            f"{host.name}: its host key is not checked (policy no): whoever answers in its place gets the password"
        )
    return out


def _expanded(path: str) -> str:
    return os.path.expanduser(path)


def _check_file(key: str, path: str, options: SshOptions) -> None:
    if path == "none" or "%" in path or "${" in path:  # the latter mean a file of each host
        return
    file = _expanded(path)
    if not os.path.exists(file):
        why = f"there is no file {file}"
    elif os.path.isdir(file):
        why = f"{file} is a directory"
    elif not os.access(file, os.R_OK):
        why = f"{file} cannot be read"
    else:
        return
    raise SettingsError(key, path, _origin(key, options), why)


def _blamed(host: Host, options: SshOptions, error: Exception) -> UsageError:
    """Whose settings they are is found by leaving the others out."""
    plain = Host(name=host.name, address=host.address)
    if (fault := _fault(plain, replace(options, config_files=()))) is not None:
        return SettingsError("ssh_common_args", options.common_args, _origin("ssh_common_args", options), fault)
    if (fault := _fault(plain, replace(options, common_args=""))) is not None:
        files = ", ".join(options.config_files or ("~/.ssh/config", "/etc/ssh/ssh_config"))
        return SettingsError("ssh_config", files, _origin("ssh_config", options), fault)
    return InventoryError(f"{host.name}: its SSH settings cannot be used: {_why(error)}", source=host.source)


def _origin(key: str, options: SshOptions) -> str:
    return options.origins.get(key, "settings")


def _fault(host: Host, options: SshOptions) -> str | None:
    try:
        host_settings(host, options)
    except (OSError, ValueError) as error:
        return _why(error)
    return None


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else str(error)
    return _NO_PLACE.sub("", str(error))
