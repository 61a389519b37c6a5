"""All filters and tests known from Ansible, beyond those that come with Jinja2; and why some of either are left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from checkrunner.plan import (
    filters_lists,
    filters_numbers,
    filters_regex,
    filters_results,
    filters_serial,
    filters_text,
    versions,
)

__all__ = ["FILTERS", "LEFT_OUT", "LEFT_OUT_TESTS", "PREFIXES", "TESTS"]

FILTERS: Mapping[str, Callable[..., Any]] = {
    **filters_lists.FILTERS,
    **filters_numbers.FILTERS,
    **filters_regex.FILTERS,
    **filters_serial.FILTERS,
    **filters_text.FILTERS,
}
"""Those that need nothing but their arguments."""

TESTS: Mapping[str, Callable[..., bool]] = {
    **filters_lists.TESTS,
    **filters_numbers.TESTS,
    **filters_regex.TESTS,
    **filters_results.TESTS,
    **filters_text.TESTS,
    **versions.TESTS,
}

PREFIXES: tuple[str, ...] = ("ansible.builtin.", "ansible.legacy.", "community.general.")
"""What may stand before the name of a filter or test, as Ansible writes it out."""

_WEB = "it is about web pages"
_CHANCE = "it would give another result each time"
_HERE = "it would look at this machine; look on the host, with a command"
_CLOSED = "secrets are not made or opened in templates"

LEFT_OUT: Mapping[str, str] = {
    **dict.fromkeys(("e", "escape", "forceescape", "safe", "urlize", "xmlattr", "striptags"), _WEB),
    **dict.fromkeys(("random", "shuffle", "random_mac"), _CHANCE),
    **dict.fromkeys(("expanduser", "expandvars", "fileglob", "realpath"), _HERE),
    **dict.fromkeys(("password_hash", "vault", "unvault"), _CLOSED),
    "attr": "write `value.name`, or `value[name]`",
    "pprint": "write `to_nice_json`",
}
"""Filters of Jinja2 and Ansible that are not available, each with why, or what to write."""

LEFT_OUT_TESTS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "directory",
            "exists",
            "file",
            "is_dir",
            "is_file",
            "is_link",
            "is_mount",
            "is_same_file",
            "link",
            "link_exists",
            "mount",
            "same_file",
            "vaulted_file",
        ),
        _HERE,
    ),
    "vault_encrypted": _CLOSED,
}
"""The same of tests."""
