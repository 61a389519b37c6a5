"""Dry runs: how a check is named."""

from __future__ import annotations

import pytest

from checkrunner.app.preview import find_check


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("web.yml", "disk"), ("web.yml", "disk")),
        (("web.yml:disk",), ("web.yml", "disk")),
        (("web.yml:port[db:5432]",), ("web.yml", "port[db:5432]")),
        (("a:b/web.yml:disk[/var]",), ("a:b/web.yml", "disk[/var]")),
    ],
)
def test_a_check_is_named_with_its_playbook_or_behind_it(words: tuple[str, ...], expected: tuple[str, str]) -> None:
    assert find_check(words) == expected
