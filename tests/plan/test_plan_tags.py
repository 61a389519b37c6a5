"""Selection by tags, as Ansible does it."""

from __future__ import annotations

import pytest
from plan_factory import make_check, make_play

from checkrunner.model.errors import UnknownNameError, UsageError
from checkrunner.model.playbook import Playbook
from checkrunner.plan.tags import check_tags, selected, verify_tags

# tags of the check, --tags, --skip-tags, whether Ansible runs it
CASES = [
    ("", "", "", True),
    ("disk", "", "", True),
    ("disk", "disk", "", True),
    ("disk", "net", "", False),
    ("", "net", "", False),
    ("disk", "", "disk", False),
    ("disk,slow", "disk", "slow", False),
    ("always", "net", "", True),
    ("always", "net", "always", False),
    ("always,disk", "", "disk", False),
    ("never", "", "", False),
    ("never,deep", "", "", False),
    ("never,deep", "deep", "", True),
    ("never", "never", "", True),
    ("never", "all", "", False),
    ("never,deep", "tagged", "", False),
    ("disk", "tagged", "", True),
    ("", "tagged", "", False),
    ("", "untagged", "", True),
    ("disk", "untagged", "", False),
    ("always", "untagged", "", True),
    ("disk", "all", "", True),
    ("disk", "", "all", False),
    ("always", "", "all", True),
    ("always", "", "all,always", False),
    ("disk", "", "tagged", False),
    ("", "", "tagged", True),
    ("", "", "untagged", False),
    ("always,never", "", "", True),
]


@pytest.mark.parametrize(("tags", "only", "skip", "run"), CASES)
def test_selected(tags: str, only: str, skip: str, run: bool) -> None:
    def words(text: str) -> list[str]:
        return text.split(",") if text else []

    assert selected(words(tags), words(only), words(skip)) is run


def test_play_tags_are_inherited() -> None:
    play = make_play(make_check(tags=("disk",)), tags=("nightly",))
    assert check_tags(play, play.checks[0]) == {"disk", "nightly"}


def book(*tags: str) -> Playbook:
    checks = [make_check(f"c{n}", tags=tuple(t.split(","))) for n, t in enumerate(tags)]
    return Playbook(path="p.yml", plays=(make_play(*checks),))


@pytest.mark.parametrize(("only", "skip"), [(["dsk"], []), ([], ["dsk"])])
def test_unknown_tag_names_the_nearest(only: list[str], skip: list[str]) -> None:
    with pytest.raises(UnknownNameError, match=r"no tag is called 'dsk'. Did you mean 'disk'\?"):
        verify_tags(book("disk", "net"), only, skip)


def test_nothing_left_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"no check is left by --tags disk --skip-tags slow. Tags here: disk, slow"):
        verify_tags(book("disk,slow", "slow"), ["disk"], ["slow"])
    with pytest.raises(UsageError, match="every check is tagged `never`"):
        verify_tags(book("never"), [], [])


def test_special_tags_are_always_known() -> None:
    verify_tags(book("disk"), ["tagged"], ["never"])
