from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrunner.model.errors import SettingsError, UnknownNameError
from checkrunner.model.setting_values import parse_seconds
from checkrunner.setting_table import SETTINGS
from checkrunner.settings import Settings, resolve_settings


def resolve(tmp_path: Path, flags: dict[str, object] | None = None, **environ: str) -> Settings:
    return resolve_settings(flags or {}, environ={"HOME": str(tmp_path / "home"), **environ}, cwd=tmp_path)


def test_defaults_come_from_the_table(tmp_path: Path) -> None:
    settings = resolve(tmp_path)

    assert {name: setting.default for name, setting in SETTINGS.items()} == dict(settings.values)
    assert set(settings.origins.values()) == {"default"}


def test_flag_beats_environment_beats_file_beats_default(tmp_path: Path) -> None:
    (tmp_path / "checkrunner.toml").write_text('forks = 7\ntimeout = "2m"\nuser = "ops"\n')

    settings = resolve(tmp_path, {"user": "me"}, CHECKRUNNER_TIMEOUT="90s", CHECKRUNNER_USER="env")

    assert settings.run_options().forks == 7
    assert settings.run_options().timeout_s == 90.0
    assert settings.ssh_options().user == "me"
    assert settings.origins["forks"] == str(tmp_path / "checkrunner.toml")
    assert settings.origins["timeout"] == "CHECKRUNNER_TIMEOUT"
    assert settings.origins["user"] == "flag"
    assert settings.origins["keepalive"] == "default"


def test_a_flag_given_as_an_empty_list_is_not_given(tmp_path: Path) -> None:
    settings = resolve(tmp_path, {"inventory": []}, CHECKRUNNER_INVENTORY="web1,web2,")

    assert settings.inventory == ("web1,web2,",)


def test_the_home_file_is_read_when_the_current_folder_has_none(tmp_path: Path) -> None:
    config = tmp_path / "home" / ".config" / "checkrunner" / "checkrunner.toml"
    config.parent.mkdir(parents=True)
    config.write_text("forks = 3\n")

    assert resolve(tmp_path).run_options().forks == 3


@pytest.mark.parametrize(
    ("flags", "needle"),
    [
        ({"forks": "many"}, "setting forks = 'many' (from flag): expected a whole number"),
        ({"forks": "0"}, "expected a number from 1 to 100000"),
        ({"budget_tokens": "100"}, "expected 0 for no limit, or a number from 500 to"),
        ({"budget_tokens": "all"}, "expected a whole number"),
        ({"timeout": "soon"}, "expected a time such as 30, 30s, 5m or 1h"),
        ({"timeout": "0"}, "expected a time above 0"),
        ({"timeout": float("nan")}, "expected a time between 0 and 10 years"),
        ({"host_key_checking": "maybe"}, "expected one of yes, accept-new, no"),
    ],
)
def test_a_wrong_value_names_setting_value_and_origin(tmp_path: Path, flags: dict[str, object], needle: str) -> None:
    with pytest.raises(SettingsError) as caught:
        resolve(tmp_path, flags)

    assert needle in str(caught.value)


def test_wrong_values_in_the_environment_name_the_variable(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="from CHECKRUNNER_CAPTURE_BYTES"):
        resolve(tmp_path, CHECKRUNNER_CAPTURE_BYTES="12")


def test_unknown_keys_are_errors_with_the_nearest_word(tmp_path: Path) -> None:
    (tmp_path / "checkrunner.toml").write_text("fork = 7\n")

    with pytest.raises(UnknownNameError, match="Did you mean 'forks'"):
        resolve(tmp_path)


def test_unknown_variables_are_errors_with_the_nearest_word(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'CHECKRUNNER_FORKS'"):
        resolve(tmp_path, CHECKRUNNER_FORK="7")


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="there is no such file"):
        resolve(tmp_path, CHECKRUNNER_CONFIG=str(tmp_path / "nowhere.toml"))


def test_a_broken_file_says_where(tmp_path: Path) -> None:
    (tmp_path / "checkrunner.toml").write_text("forks = = 1\n")

    with pytest.raises(SettingsError, match=r"checkrunner\.toml.*line 1"):
        resolve(tmp_path)


def test_the_agent_socket_comes_from_the_environment(tmp_path: Path) -> None:
    assert resolve(tmp_path, SSH_AUTH_SOCK="/run/agent").ssh_options().agent_socket == "/run/agent"
    assert resolve(tmp_path).ssh_options().agent_socket is None


@pytest.mark.parametrize(
    ("flags", "environ", "expected"),
    [
        ({}, {}, None),
        ({}, {"NO_COLOR": "1"}, False),
        ({"color": "always"}, {"NO_COLOR": "1"}, True),
        ({"color": "never"}, {}, False),
    ],
)
def test_color_is_decided_by_the_setting_then_no_color_then_the_terminal(
    tmp_path: Path, flags: dict[str, object], environ: dict[str, str], expected: bool | None
) -> None:
    assert resolve(tmp_path, flags, **environ).color is expected


@pytest.mark.parametrize(
    ("text", "expected"), [("30", 30.0), ("200ms", 0.2), ("5m", 300.0), ("1.5h", 5400.0), (" 2 s ", 2.0), (7, 7.0)]
)
def test_times_have_units(text: object, expected: float) -> None:
    assert parse_seconds(text) == pytest.approx(expected)


@given(st.text())
def test_any_text_is_a_time_or_a_value_error(text: str) -> None:
    try:
        seconds = parse_seconds(text)
    except ValueError:
        return
    assert seconds >= 0


def test_patterns_of_all_places_count(tmp_path: Path) -> None:
    (tmp_path / "checkrunner.toml").write_text("redact = ['F-[0-9]+', 'both']")

    settings = resolve_settings(
        {"redact": ["flag-[a-z]+", "both"]}, environ={"CHECKRUNNER_REDACT": "E-[0-9]{1,3}\nE2"}, cwd=tmp_path
    )

    assert settings.redact == ("flag-[a-z]+", "both", "E-[0-9]{1,3}", "E2", "F-[0-9]+")
    assert settings.origins["redact"] == "flag"
    assert resolve_settings({}, environ={}, cwd=tmp_path).redact == ("F-[0-9]+", "both")
    assert resolve_settings({"redact": []}, environ={}, cwd=tmp_path / "..").redact == ()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "redact = ['good', 'bad[']",
            r"'bad\[': it is no regular expression: unterminated character set, at position 4",
        ),
        ("redact = ['x*']", "it fits an empty text too"),
        ("redact = 5", "expected a list of regular expressions"),
        ("redact = [5]", "expected a list of regular expressions"),
    ],
)
def test_a_pattern_that_cannot_be_is_told_with_its_file(tmp_path: Path, given: str, said: str) -> None:
    (tmp_path / "checkrunner.toml").write_text(given)

    with pytest.raises(SettingsError, match=said) as caught:
        resolve_settings({}, environ={}, cwd=tmp_path)
    assert "checkrunner.toml" in str(caught.value)


def test_the_documentation_holds_every_setting() -> None:
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text(encoding="utf-8")

    rows = [f"| `{s.name}` | `{s.variable}` | {_shown(s.default)} | {s.help} |" for s in SETTINGS.values()]

    assert [row for row in rows if row not in page] == []


def _shown(default: object) -> str:
    return "-" if default in (None, (), 0.0) else f"`{default}`"
