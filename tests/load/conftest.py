"""Fixtures of the loader's tests."""

from __future__ import annotations

import pytest
from oracle import Oracle, find_oracle


@pytest.fixture(scope="session")
def oracle() -> Oracle:
    """Ansible itself, to compare with."""
    return find_oracle()
