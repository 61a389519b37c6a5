"""Recall on planted secrets and precision on harmless look-alikes: see `redaction/*.txt`, and bench/redaction.py."""

from __future__ import annotations

import pytest
from redaction_cases import KEY, LookAlike, Planted, kept, look_alikes, planted, score

from checkrunner.findings.redact import KINDS, PatternRedactor

PLANTED = list(planted())
HARMLESS = list(look_alikes())


def test_there_are_many() -> None:
    assert sum(len(case.secrets) for case in PLANTED) >= 120
    assert len(HARMLESS) >= 200
    assert len({case.text for case in PLANTED}) == len(PLANTED)
    assert len({case.text for case in HARMLESS}) == len(HARMLESS)


@pytest.mark.parametrize("case", [case for case in PLANTED if not case.missed], ids=lambda case: case.where)
def test_planted_secrets_go_and_the_rest_stays(case: Planted) -> None:
    redactor = PatternRedactor(key=KEY)

    masked = redactor.redact(case.text)

    assert case.masked().fullmatch(masked), masked
    assert set(redactor.counts()) == set(case.kinds)
    assert set(case.kinds) <= set(KINDS)


@pytest.mark.parametrize("case", [case for case in PLANTED if case.missed], ids=lambda case: case.where)
def test_what_is_said_to_be_missed_is(case: Planted) -> None:
    assert all(secret in PatternRedactor(key=KEY).redact(case.text) for secret in case.secrets)


@pytest.mark.parametrize("case", HARMLESS, ids=lambda case: case.text[:40])
def test_look_alikes_stay(case: LookAlike) -> None:
    assert kept(case.text) is not case.masked


def test_recall_and_precision() -> None:
    scores = score().values()
    gone = sum(entry.gone for entry in scores)
    harmed = sum(entry.harmed for entry in scores)

    assert gone == sum(entry.planted for entry in scores)
    assert gone / (gone + harmed) >= 0.98
    assert 1 - harmed / len(HARMLESS) >= 0.98


@pytest.mark.parametrize("case", [case for case in PLANTED if not case.missed], ids=lambda case: case.where)
def test_masking_twice_is_masking_once(case: Planted) -> None:
    redactor = PatternRedactor(key=KEY)
    once = redactor.redact(case.text)

    assert redactor.redact(once) == once
    assert PatternRedactor(key=b"another run").redact(once) == once


BY_THE_END = ("an address of Sentry", "newsletter", "log of a bot", "newrelic-infra.yml")
"""Where a token has a form that only its end or its whole gives away."""
TOKENS = [
    case
    for case in PLANTED
    if not case.missed
    and len(case.secrets) == 1
    and case.kinds[0].endswith(("token", "jwt", "llm-key", "gcp-key"))
    and not case.where.endswith(BY_THE_END)
]


@pytest.mark.parametrize("case", TOKENS, ids=lambda case: case.where)
def test_a_token_that_is_cut_is_masked_as_far_as_it_goes(case: Planted) -> None:
    before, secret, _ = case.parts
    for length in range(max(16, len(secret) // 3), len(secret)):
        shown = PatternRedactor(key=KEY).redact(f"{before}{secret[:length]}\0")

        assert secret[:length] not in shown, shown
        assert secret[10:length] not in shown or length < 16, shown
