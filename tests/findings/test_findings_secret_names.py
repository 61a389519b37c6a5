from __future__ import annotations

import pytest

from checkrunner.findings.secret_names import is_secret_name, secret_values
from checkrunner.model.sources import Secret, Template


@pytest.mark.parametrize(
    "name",
    ["password", "db_password", "DB_PASSWORD", "dbPassword", "db_password_2", "db_password2", "ansible_become_pass",
     "api_key", "apikey", "apiKey", "github_token", "client_secret", "ssh_private_key", "credentials", "secret-key"],
)  # fmt: skip
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    ["token_count", "password_file", "passwords_checked", "pass", "bypass", "tokens", "max_tokens", "secretary", "key",
     "public_key", "password_policy", "compass", "secret_name", "tokenizer", "notsecret", "keyboard"],
)  # fmt: skip
def test_other_names(name: str) -> None:
    assert not is_secret_name(name)


def test_values_are_found_within_mappings_and_lists() -> None:
    variables = {
        "db": {"user": "app-user", "password": "hunter22"},
        "hosts": [{"api_key": "abcdef99"}],
        "tokens_of": {"secret": ["first-one", {"x": "second-one"}]},
        "pin_token": 12345678,
        "own_secret": Secret("revealed"),
        "env_token": Template(text="literal-text"),
    }

    assert list(secret_values(variables)) == [
        "hunter22", "abcdef99", "first-one", "second-one", "12345678", "revealed", "literal-text",
    ]  # fmt: skip


def test_a_value_of_several_lines_is_known_by_each() -> None:
    assert list(secret_values({"private_key": "-----BEGIN KEY-----\nabcdefgh\n==\n"})) == [
        "-----BEGIN KEY-----",
        "abcdefgh",
    ]


@pytest.mark.parametrize(
    "variables",
    [
        {"password": "short"},
        {"password": "password"},
        {"password": True},
        {"password": None},
        {"password": "{{ vault_password }}"},
        {"private_key": "~/.ssh/id_ed25519"},
        {"private_key": "/etc/app/key.pem"},
        {"token_count": "123456789"},
    ],
)
def test_what_is_no_secret_value(variables: dict[str, object]) -> None:
    assert list(secret_values(variables)) == []
