"""Every cell of the table in docs/hosts.md, on a real sshd."""

from __future__ import annotations

import hosts_matrix
import pytest
from become_host import why_not
from matrix_host import KINDS, cannot_hide

_WHY_NOT = why_not("doas", "su", "busybox") or cannot_hide()


@pytest.mark.skipif(bool(_WHY_NOT), reason=_WHY_NOT or "-")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("kind", KINDS)
def test_a_column_of_the_table(kind: str) -> None:
    said = hosts_matrix.read_page()[kind]
    found = {(account.shell, account.file): cell for account, cell in hosts_matrix.measure(kind).items()}

    assert found == {place: said.get(place) for place in found}, "tests/ssh/hosts_matrix.py --update measures it anew"
    assert {shell for shell, _ in found} >= {"bash", "dash", "busybox ash"}


def test_all_that_is_measured_is_in_the_table() -> None:
    said = hosts_matrix.read_page()
    assert list(said) == list(KINDS)
    for column in said.values():
        assert len(column) >= 42
        assert any(cell[0] == "all" for cell in column.values()) or any(
            cell[0] == "reached" for cell in column.values()
        )
