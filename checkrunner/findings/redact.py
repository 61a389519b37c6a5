"""Secrets out of text before it leaves the run, a tag in the place of each. What they look like is data: `RULES`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from checkrunner.findings.keyblocks import key_block_spots
from checkrunner.findings.known import KnownValues, Spot
from checkrunner.findings.own import OwnPatterns
from checkrunner.findings.redact_rule import Rule
from checkrunner.findings.redact_rules import RULES
from checkrunner.findings.secret_tags import GAP, MARK, Tags, is_spent, tag_places
from checkrunner.model.sources import Secret

__all__ = ["KINDS", "MARK", "RULES", "NullRedactor", "PatternRedactor", "Rule"]

_ROUNDS = 4
_OPAQUE = "\1"

KINDS = ("known", "private-key", *(rule.name for rule in RULES), "own")
"""What secrets are counted as; one that is found in several ways is the first of them."""

_BLOCK = 1
_FIRST_RULE = 2


class NullRedactor:
    """For output that a person has declared free of secrets: masks nothing but values that are known to be secret."""

    def redact(self, text: str, known: Sequence[Secret | str] = ()) -> str:
        """The text without `known`."""
        spots = list(KnownValues(known).spots(text)) if known else []
        return _replaced(text, _merged(text, spots, tag_places(text)), lambda _text, _rank: MARK) if spots else text

    def counts(self) -> Mapping[str, int]:
        """Nothing is counted."""
        return {}


class PatternRedactor:
    """The `Redactor` of a run: private key blocks, `RULES`, and the values of `secrets` in any of their usual forms.

    `key` is what the tags are made with: random, at least 16 bytes, and of one run. Without it all secrets are
    ``<secret>``. `own` are patterns of the user (`checkrunner.ownpatterns`). All hosts of a run share one redactor.
    Cost: a few microseconds for a line without a hint of a secret.
    A line grows by at most twenty characters a secret.
    """

    def __init__(self, secrets: Iterable[Secret | str] = (), *, key: bytes = b"", own: Sequence[str] = ()) -> None:
        self._known = KnownValues(secrets)
        self._learnt: dict[Secret | str, None] = {}
        self._later = KnownValues(())
        self._own = OwnPatterns(own, len(KINDS) - 1) if own else None
        self._tags = Tags(key)

    def learn(self, secret: Secret) -> None:
        """One more value, which became known during the run; masked from now on."""
        if secret not in self._learnt:
            self._learnt[secret] = None
            self._later = KnownValues(self._learnt)

    def redact(self, text: str, known: Sequence[Secret | str] = ()) -> str:
        """Mask what looks like a secret, and `known`. Idempotent; the number of newlines stays."""
        also = KnownValues(known) if known else None
        for _ in range(_ROUNDS):
            tags = tag_places(text)
            spots = self._spots(_without(text, tags), also)
            merged = _merged(text, spots, tags) if spots else None
            if not merged:
                break
            text = _replaced(text, merged, self._tags.tag)
        return text

    def _spots(self, text: str, also: KnownValues | None) -> list[Spot]:
        spots = [*self._known.spots(text), *self._later.spots(text)]
        if also is not None:
            spots += also.spots(text)
        spots += key_block_spots(text, _BLOCK)
        spots += _rule_spots(text)
        if self._own is not None:
            spots += self._own.spots(text)
        return spots

    def counts(self) -> Mapping[str, int]:
        """How many different secrets were masked so far, by kind."""
        found = self._tags.counts()
        return {KINDS[rank]: found[rank] for rank in sorted(found)}

    @property
    def troubles(self) -> list[str]:
        """What a report has to say of the masking: lines masked as a whole, secrets that are not counted."""
        given_up = self._own.given_up if self._own is not None else {}
        out = [
            f"redact {pattern!r} took too long on {count:,} line(s), which are masked as a whole"
            for pattern, count in given_up.items()
        ]
        if self._tags.uncounted:
            out.append("there were too many different secrets to count them all: `redacted` says how many at least")
        return out


_COARSE = (
    *("pass", "pwd", "pw", "secret", "token", "key", "cred", "psk", "auth", "cookie", "sess", "sid"),
    *("://", "</", "$", "{", "543", ":6", "hook", "snmp", "community", "sql"),
)


def _by_guard() -> tuple[tuple[str, tuple[int, ...]], ...]:
    """What is looked for in a text first, and the numbers of the rules that may then find something."""
    found: dict[str, dict[int, None]] = {}
    for number, rule in enumerate(RULES):
        common = [next((text for text in _COARSE if text in hint), hint) for hint in rule.hints]
        for guard in rule.guards if rule.guards or rule.token else common:
            found.setdefault(guard, {})[number] = None
    return tuple((guard, tuple(numbers)) for guard, numbers in found.items())


_GUARDS = _by_guard()


def _by_beginning() -> dict[str, tuple[tuple[str, int], ...]]:
    """The hints of tokens with which a word begins, by their first two characters."""
    found: dict[str, list[tuple[str, int]]] = {}
    for number, rule in enumerate(RULES):
        for hint in rule.hints if rule.token else ():
            if "." not in hint:
                found.setdefault(hint[:2], []).append((hint, number))
    return {first: tuple(hints) for first, hints in found.items()}


_BEGINNINGS = _by_beginning()
_BEFORE = tuple((hint, number) for number, rule in enumerate(RULES) if rule.token for hint in rule.hints if "." in hint)
"""The hints of tokens that stand before a word and end in a dot."""
_LONG_WORD = re.compile(r"[A-Za-z0-9_-]{12,}+")
_CUT_WORD = re.compile(r"[A-Za-z0-9_-]++(?=\0)")
_PLAIN_WORD = re.compile(r"[0-9a-f_-]+|[A-Za-z_-]{12,19}|[A-Z]?[a-z_-]+|[A-Z_-]+|\d{4}-?\d\d-?\d\d[T_-]\d*Z?")
_PARTS = re.compile(r"[_-]++")
_AROUND = 3
"""Lines before and after one with a hint that a pattern which goes over lines is tried on."""


def _rule_spots(text: str) -> Iterator[Spot]:
    low = _lower(text)
    lines: dict[tuple[int, int], set[int]] = {}
    for guard, numbers in _GUARDS:
        if guard in low:
            for place in _lines_with(low, guard):
                lines.setdefault(place, set()).update(numbers)
    for (start, end), guarded in lines.items():
        line = low[start:end]
        for number in guarded:
            if RULES[number].token or _has_any(line, RULES[number].hints):
                yield from _tried(number, text, low, start, end)
    tried: set[tuple[int, int]] = set()
    words = [word.span() for word in _LONG_WORD.finditer(text) if _PLAIN_WORD.fullmatch(word.group()) is None]
    if GAP in text:
        words += [word.span() for word in _CUT_WORD.finditer(text)]
    for word in words:
        for number in _tokens_at(low, *word):
            start, end = _line_at(text, word[0])
            if (start, number) not in tried:
                tried.add((start, number))
                yield from _tried(number, text, low, start, end)


def _tokens_at(low: str, start: int, end: int) -> set[int]:
    """The rules for tokens that may fit the word there."""
    parts = [start, *(part.end() for part in _PARTS.finditer(low, start, end))]
    found = {
        number for at in parts for hint, number in _BEGINNINGS.get(low[at : at + 2], ()) if low.startswith(hint, at)
    }
    if low[start - 1 : start] == ".":
        found.update(number for hint, number in _BEFORE if low.endswith(hint, 0, start))
    return found


def _tried(number: int, text: str, low: str, start: int, end: int) -> Iterator[Spot]:
    rule = RULES[number]
    if rule.near is not None and rule.near.search(low, start, end) is None:
        return
    if rule.across:
        for _ in range(_AROUND):
            start = text.rfind("\n", 0, max(start - 1, 0)) + 1
            end = after if (after := text.find("\n", end + 1)) >= 0 else len(text)
    for match in rule.pattern.finditer(text[start:end]):
        for first, last in rule.find(match):
            yield Spot(start + first, start + last, _FIRST_RULE + number)


def _has_any(text: str, hints: Iterable[str]) -> bool:
    for hint in hints:  # noqa: SIM110 - any() takes three times as long, and this is where the time goes
        if hint in text:
            return True
    return False


def _lines_with(text: str, hint: str) -> Iterator[tuple[int, int]]:
    at = text.find(hint)
    while at >= 0:
        start, end = _line_at(text, at)
        yield start, end
        at = text.find(hint, end)


def _line_at(text: str, at: int) -> tuple[int, int]:
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    return start, end if end >= 0 else len(text)


def _lower(text: str) -> str:
    """In lower case, and of the same length."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _without(text: str, tags: Iterable[tuple[int, int]]) -> str:
    """The text with tags as something of the same length that is no word, so that nothing is found in them."""
    out: list[str] = []
    done = 0
    for start, end in tags:
        out += (text[done:start], _OPAQUE * (end - start))
        done = end
    return "".join(out) + text[done:] if out else text


def _merged(text: str, spots: Iterable[Spot], tags: Sequence[tuple[int, int]]) -> list[Spot]:
    """The spots in order, those that overlap as one; without what is masked already, and none ends within a tag."""
    found: list[Spot] = []
    for spot in sorted(spots):
        spot = _around_tags(spot, tags) if tags else spot
        spot = _over_gap(text, spot) if GAP in text else spot
        if is_spent(text[spot.start : spot.end]):
            continue
        last = found[-1] if found else None
        if last is None or spot.start >= last.end:
            found.append(spot)
        elif spot.end > last.end:
            value = spot.value if spot.start == last.start else ""
            found[-1] = Spot(last.start, spot.end, min(last.rank, spot.rank), value)
        else:
            value = spot.value if spot[:2] == last[:2] else ""
            found[-1] = last._replace(rank=min(last.rank, spot.rank), value=last.value or value)
    return found


_REST = re.compile(r"\0[^\s\"'`,;&<>|)\]}]+")


def _over_gap(text: str, spot: Spot) -> Spot:
    """A secret that is cut goes on after the gap, to the end of the word there."""
    rest = _REST.match(text, spot.end)
    return spot._replace(end=rest.end()) if rest else spot


def _around_tags(spot: Spot, tags: Iterable[tuple[int, int]]) -> Spot:
    start, end = spot.start, spot.end
    for low, high in tags:
        if low < end and start < high:
            start, end = min(start, low), max(end, high)
    return spot if (start, end) == spot[:2] else Spot(start, end, spot.rank)


def _replaced(text: str, spots: Iterable[Spot], tag: Callable[[str, int], str]) -> str:
    out: list[str] = []
    done = 0
    for spot in spots:
        secret = spot.value or text[spot.start : spot.end]
        out += (text[done : spot.start], tag(secret, spot.rank))
        done = spot.end
    return "".join(out) + text[done:]
