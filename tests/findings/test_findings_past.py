from __future__ import annotations

import pytest

from checkrunner.findings.past import NoPast
from checkrunner.model.seams import Past
from checkrunner.testing import MemoryPast, check_past


@pytest.mark.parametrize(
    "past",
    [NoPast(), MemoryPast(), MemoryPast({"0123"}, {("web1", "disk"): {"disk # full"}})],
    ids=["no", "empty", "some"],
)
def test_pasts_keep_the_contract(past: Past) -> None:
    check_past(past)


def test_a_past_in_memory_says_what_it_was_given() -> None:
    past = MemoryPast({"0123"}, {("web1", "disk"): {"disk # full"}})

    found, shapes = past.findings(), past.shapes("web1", "disk")
    assert found is not None
    assert shapes is not None
    assert ("0123" in found, "4567" in found, "disk # full" in shapes) == (True, False, True)
    assert past.shapes("web2", "disk") is None
