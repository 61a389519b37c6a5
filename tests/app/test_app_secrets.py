"""Values of variables whose names say that they are secret do not get into a report, wherever they come from."""

from __future__ import annotations

from pathlib import Path

import pytest
from untagged import untagged

from checkrunner.app.prepare import Request, prepare
from checkrunner.app.run import make_redactor
from checkrunner.settings import resolve_settings

PLAYBOOK = """\
- hosts: all
  vars: {db_password: play-value, base: made, mixed_token: "{{ base }}-of-parts", token_count: 1234567}
  checks:
    - run: echo {{ db_password }}
      env: {SMTP_PASSWORD: env-literal}
"""


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("it says play-value here", "it says <secret> here"),
        ("it says host-value here", "it says <secret> here"),
        ("it says extra-value here", "it says <secret> here"),
        ("it says made-of-parts here", "it says <secret> here"),
        ("it says env-literal here", "it says <secret> here"),
        ("it says 1234567 and made here", "it says 1234567 and made here"),
    ],
)
def test_they_are_masked(tmp_path: Path, text: str, masked: str) -> None:
    (tmp_path / "p.yml").write_text(PLAYBOOK)
    (tmp_path / "inv.ini").write_text("here ansible_connection=local web_api_key=host-value\n")
    settings = resolve_settings({"inventory": (str(tmp_path / "inv.ini"),)}, environ={}, cwd=tmp_path)
    request = Request(playbook=str(tmp_path / "p.yml"), settings=settings, extra_vars=("admin_secret=extra-value",))

    assert untagged(make_redactor(prepare(request)).redact(text)) == masked
