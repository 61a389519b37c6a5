"""What planted outputs are made of: noise, and in it a few lines that are the answer, known by number and words.

A generator is registered under its name with the command whose output it imitates and its usual number of lines. The
same name, seed and size give the same bytes everywhere.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

__all__ = ["OUTPUTS", "Decisive", "Generator", "Output", "Page", "Place", "Plant", "make", "output", "seen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A line (from 1 on) and the words of it that a reader has to see."""

    line: int
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisive:
    """One thing to find. Any of its places will do: a disk that complains twice has told it twice."""

    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a command printed."""

    name: str
    command: str
    data: bytes
    decisive: tuple[Decisive, ...]

    @property
    def lines(self) -> list[str]:
        return self.data.decode("utf-8").removesuffix("\n").split("\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """A decisive line to be put at `at` of a log: 0 is the first line, 1 the last."""

    at: float
    text: str
    words: tuple[str, ...]
    of: str = ""


class _Words(Mapping[str, str]):
    """A random word for each name that a template asks for."""

    def __init__(self, rng: random.Random) -> None:
        r = rng.random
        self._makers: dict[str, Callable[[], str]] = {
            "pid": lambda: str(300 + int(r() * 64000)),
            "ip": lambda: f"10.{int(r() * 4)}.{int(r() * 250)}.{1 + int(r() * 250)}",
            "net": lambda: f"{rng.choice(('203.0.113', '198.51.100', '192.0.2'))}.{1 + int(r() * 250)}",
            "port": lambda: str(32768 + int(r() * 28000)),
            "n": lambda: str(int(r() * 10000)),
            "big": lambda: str(int(r() * 10_000_000)),
            "few": lambda: str(1 + int(r() * 9)),
            "ms": lambda: f"{0.2 + r() * 180:.3f}",
            "hex": lambda: f"{rng.getrandbits(32):08x}",
            "long": lambda: f"{rng.getrandbits(64):016x}",
            "tag": lambda: "".join(rng.choices(string.ascii_lowercase + string.digits, k=5)),
            "user": lambda: rng.choice(("deploy", "alice", "bob", "backup", "jenkins", "ops")),
            "host": lambda: f"{rng.choice(('web', 'db', 'app', 'cache'))}-{1 + int(r() * 40):02d}",
            "disk": lambda: f"sd{rng.choice('abcdef')}",
            "word": lambda: rng.choice(_NOUNS),
        }

    def __getitem__(self, name: str) -> str:
        return self._makers[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


_NOUNS = [
    "orders",
    "invoices",
    "sessions",
    "customers",
    "payments",
    "products",
    "carts",
    "reports",
    "exports",
    "images",
    "events",
    "accounts",
    "audit",
    "search",
    "mailer",
    "metrics",
    "ledger",
    "catalog",
    "billing",
    "stock",
    "returns",
    "coupons",
    "profiles",
    "reviews",
    "shipments",
]


class Page:
    """An output under way."""

    def __init__(self, rng: random.Random, size: int) -> None:
        self.rng = rng
        self.size = size
        self.now = datetime(2026, 3, 9, 0, 0, 7, tzinfo=UTC)
        self._words = _Words(rng)
        self._rows: list[str] = []
        self._found: dict[str, list[Place]] = {}

    def say(self, *rows: str) -> None:
        self._rows += rows

    def plant(self, row: str, *words: str, of: str = "") -> None:
        """A decisive line; those with the same `of` are places of one thing."""
        self._rows.append(row)
        places = self._found.setdefault(of or f"{len(self._found)}: {row}", [])
        places.append(Place(line=len(self._rows), words=words))

    def fill(self, template: str) -> str:
        """``{pid}``, ``{ip}``, ... replaced by random ones."""
        return template.format_map(self._words) if "{" in template else template

    def any(self, templates: Sequence[str]) -> str:
        return self.fill(self.rng.choice(templates))

    def between(self, least: float, most: float) -> float:
        return least + self.rng.random() * (most - least)

    def tick(self, most_s: float = 20.0) -> datetime:
        self.now += timedelta(seconds=self.rng.random() * most_s)
        return self.now

    def log(self, stamp: Callable[[], str], templates: Sequence[str], *plants: Plant) -> None:
        """`size` lines of noise, stamped, with the plants where they belong."""
        where: dict[int, list[Plant]] = {}
        last = self.size - 1
        for plant in plants:
            where.setdefault(min(last, int(plant.at * self.size)), []).append(plant)
        for index in range(self.size):
            planted = where.get(index, ())
            if not planted or index not in {0, last}:
                self.say(stamp() + self.any(templates))
            for plant in planted:
                self.plant(stamp() + self.fill(plant.text), *plant.words, of=plant.of)

    def spots(self, count: int) -> list[int]:
        """That many different indexes below `size`, none of them at an end, in order."""
        return sorted(self.rng.sample(range(1, self.size - 1), count))

    def finish(self, name: str, command: str, end: str) -> Output:
        data = "".join(row + end for row in self._rows).encode()
        decisive = tuple(Decisive(places=tuple(places)) for places in self._found.values())
        return Output(name=name, command=command, data=data, decisive=decisive)


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """`size` counts what the generator repeats: mostly lines, else rows or blocks."""

    name: str
    command: str
    size: int
    write: Callable[[Page], None]
    end: str = "\n"


OUTPUTS: dict[str, Generator] = {}


def output(
    name: str, command: str, size: int, *, end: str = "\n"
) -> Callable[[Callable[[Page], None]], Callable[[Page], None]]:
    """Register a generator."""

    def register(write: Callable[[Page], None]) -> Callable[[Page], None]:
        assert name not in OUTPUTS, name
        OUTPUTS[name] = Generator(name=name, command=command, size=size, write=write, end=end)
        return write

    return register


def make(name: str, seed: int = 1, most: int | None = None) -> Output:
    """The output of that name; `most` bounds its size. Cost: about 3 s for the largest."""
    generator = OUTPUTS[name]
    size = generator.size if most is None else min(most, generator.size)
    page = Page(random.Random(f"{name}:{seed}"), size)
    generator.write(page)
    return page.finish(name, generator.command, generator.end)


def seen(decisive: Decisive, texts: Sequence[str]) -> bool:
    """Whether one of the texts holds all words of one of the places; spaces and case do not count."""
    flat = [" ".join(text.split()).lower() for text in texts]
    return any(
        all(" ".join(word.split()).lower() in text for word in p.words) for p in decisive.places for text in flat
    )
