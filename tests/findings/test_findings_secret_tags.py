"""Tags: the same for the same secret in whatever form, another for another, and nothing of it."""

from __future__ import annotations

import base64
import html
import json
import random
from urllib.parse import quote

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from checkrunner.findings.masks import mask_numbers
from checkrunner.findings.redact import PatternRedactor
from checkrunner.findings.salience import shape_of
from checkrunner.findings.salience.clipping import clip
from checkrunner.findings.secret_tags import MARK, TAG, Tags, canonical, is_spent, outside_tags
from checkrunner.model.sources import Secret

WORDS = st.text("abcdefghijkmnopqrstuvwxyzABCDEFGH0123456789!+/%& '\u00f6", min_size=6, max_size=20).filter(
    lambda text: text.strip() == text and text == canonical(text)
)


def tags_in(text: str) -> list[str]:
    return [tag.group() for tag in TAG.finditer(text)]


@given(st.lists(WORDS, min_size=1, max_size=30), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_order_does_not_matter_and_different_secrets_differ(secrets: list[str], chance: random.Random) -> None:
    mixed = list(secrets)
    chance.shuffle(mixed)
    first, second = Tags(b"key"), Tags(b"key")

    one = {secret: first.tag(secret, 1) for secret in secrets}
    other = {secret: second.tag(secret, 1) for secret in mixed}

    assert one == other
    assert len(set(one.values())) == len(set(secrets))


@given(WORDS)
@settings(deadline=None)
def test_a_secret_has_the_same_tag_in_all_its_forms(secret: str) -> None:
    known = PatternRedactor([Secret(secret)], key=b"key")
    found = PatternRedactor(key=b"key")
    forms = [
        secret,
        json.dumps(secret)[1:-1],
        quote(secret, safe=""),
        html.escape(secret),
        base64.b64encode(secret.encode()).decode(),
    ]

    by_value = {tag for form in forms for tag in tags_in(known.redact(f"x {form} y"))}
    # What the patterns find is found by its surroundings; a value that is no secret by itself stays.
    by_place = {tag for form in forms[:1] for tag in tags_in(found.redact(f'password="{form}"')) if '"' not in form}

    assert len(by_value) == 1
    assert by_place <= by_value
    assert known.counts() == {"known": 1}


def test_what_is_found_in_places_of_all_kinds_is_one_secret() -> None:
    redactor = PatternRedactor(key=b"key")
    places = [
        "DB_PASSWORD=p@ss+word/1",
        "postgres://app:p@ss+word%2F1@db1/shop",
        "?password=p%40ss%2Bword%2F1&x=1",
        '{\\"password\\": \\"p@ss+word\\/1\\"}',
        "<password>p@ss+word/1</password>",
        f"password: {base64.b64encode(b'p@ss+word/1').decode()}",
    ]

    shown = [tags_in(redactor.redact(place)) for place in places]

    assert shown == [shown[0]] * len(places)
    assert sum(redactor.counts().values()) == 1


def test_a_key_on_one_line_is_the_same_secret_as_on_many() -> None:
    redactor = PatternRedactor(key=b"key")
    body = ["MIIEpAIBAAKCAQEA1c7z9z5Pad7OejecsQ0buVyb2IWXcQzS4NnXQ2gB4S0zB7x" + at for at in "abc"]
    lines = ["-----BEGIN PRIVATE KEY-----", *body, "-----END PRIVATE KEY-----"]

    tags = tags_in(redactor.redact("\n".join(lines)) + redactor.redact(json.dumps({"k": "\n".join(lines)})))

    assert len(tags) == 4
    assert len(set(tags)) == 1


def test_another_run_has_other_tags_and_a_redactor_without_a_key_has_none() -> None:
    text = "password=hunter2 token=hunter3"

    assert PatternRedactor(key=b"one run").redact(text) != PatternRedactor(key=b"another").redact(text)
    assert PatternRedactor().redact(text) == f"password={MARK} token={MARK}"


def test_secrets_whose_tags_would_be_the_same_have_longer_ones() -> None:
    tags = Tags(b"key", most=20_000)
    made = [tags.tag(f"secret number {at}", 0) for at in range(20_000)]

    assert len(set(made)) == len(made)
    assert {len(tag) for tag in made} == {len("<secret:0123>"), len("<secret:0123456789ab>")}
    assert [tags.tag(f"secret number {at}", 0) for at in range(20_000)] == made


def test_memory_ends_and_tags_go_on() -> None:
    tags = Tags(b"key", most=100)
    made = [tags.tag(f"secret number {at}", 3) for at in range(5000)]

    assert len(set(made)) == len(made)
    assert [tags.tag(f"secret number {at}", 3) for at in range(5000)] == made
    assert tags.counts() == {3: 100}
    assert tags.uncounted > 0


def test_a_hostile_host_does_not_fill_the_memory() -> None:
    redactor = PatternRedactor(key=b"key")
    for at in range(300):
        redactor.redact("\n".join(f"password=pw-{at}-{line}" for line in range(50)))

    assert redactor.counts() == {"assignment": 10_000}
    (trouble,) = redactor.troubles
    assert "at least" in trouble


@pytest.mark.parametrize(
    "text",
    [
        "<secret:k3f9>",
        "<secret>",
        "<secret:k3f9>)",
        " <secret:k3f9><secret:8dv5>; ",
        "%3Csecret%3Ak3f9%3E",
        "\\u003csecret:k3f9\\u003e",
        "&lt;secret:k3f9&gt;",
        "<secret:k3...",
        "<secret:k3",
        "",
    ],
)
def test_a_tag_is_no_secret(text: str) -> None:
    redactor = PatternRedactor(["secret", "k3f9", "sec"], key=b"key")

    assert is_spent(text)
    for around in ("password={}", "password={}&x=1" if text.endswith((">", "E")) else "password={}", "-u bob:{}"):
        line = around.format(text)
        assert redactor.redact(line) == line


@pytest.mark.parametrize("text", ["hunter2", "<secret:k3f9>hunter2", "a<secret>", "<secrets>", "<secret:UPPER>"])
def test_other_texts_are_no_tags(text: str) -> None:
    assert not is_spent(text)


@given(st.integers(0, 120), st.booleans())
def test_a_text_is_cut_beside_a_tag(at: int, after: bool) -> None:
    text = "x" * 30 + "<secret:k3f9> and <secret:8dv5t1z0aaaa> or <secret>" + "y" * 30

    place = outside_tags(text, at, after=after)

    assert abs(place - at) < 22
    assert "secret" not in TAG.sub("", text[:place]) + TAG.sub("", text[place:])


@given(st.integers(40, 250), st.integers(0, 300))
def test_clipping_leaves_no_half_tags(longest: int, start: int) -> None:
    text = "FATAL " + "x " * 60 + "password=<secret:k3f9>, " + "y " * 80

    shown = clip(text, start, start + 3, longest=longest)

    assert len(shown) <= longest
    assert "secret" not in TAG.sub("", shown)


@given(st.text("0123456789abcdefghjkmnpqrstvwxyz", min_size=4, max_size=4))
def test_lines_that_differ_in_their_secrets_are_alike(tag: str) -> None:
    line = "Jan 02 03:04:05 web1 app[812]: cannot reach postgres://app:<secret:{}>@db1/main token=<secret:{}>"
    one, other = line.format("k3f9", "8dv5"), line.format(tag, "zzzz")

    assert mask_numbers(one) == mask_numbers(other)
    assert shape_of(one) == shape_of(other)


@given(st.text(max_size=60))
def test_the_canonical_form_is_one(text: str) -> None:
    assume("PRIVATE KEY" not in text)

    assert canonical(text) == canonical(text)
    assert (
        canonical(quote(canonical(text).encode("utf-8", "surrogatepass")))
        in {
            canonical(text),
            canonical(canonical(text)),
        }
        or "%" in text
    )
