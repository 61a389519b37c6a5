"""Values that templates meet and that are not plain data: secrets, text that came from a host, registered results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, SupportsIndex

from checkrunner.model.comparing import Comparing
from checkrunner.model.metadata import ValueNames, result_names
from checkrunner.model.plan import CheckOutcome
from checkrunner.model.results import Execution, VerdictState
from checkrunner.model.sources import Secret

__all__ = [
    "OMIT",
    "Hidden",
    "Lazy",
    "NotANumberError",
    "Omit",
    "OmittedError",
    "Registered",
    "Remote",
    "RemoteBytes",
    "RemotePieces",
    "RemoteText",
    "SecretInTextError",
    "UnsafeTextError",
    "hide",
]


class SecretInTextError(Exception):
    """A secret was about to become part of a text that is not secret."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class UnsafeTextError(Exception):
    """A text from a host was about to stand in a command where it might be more than text."""


class NotANumberError(ValueError):
    """A value that must be a number is none."""

    def __init__(self, value: object) -> None:
        super().__init__(f"{value!r} is not a number")
        self.value = value


class Hidden(Comparing):
    """A Secret as templates see it: it can be tested and compared, and passed on whole, but not made a text.

    Within a rendering that may be secret itself (`revealed` is then a list), text is given and noted there.
    """

    __slots__ = ("_name", "_secret")

    revealed: list[str] | None = None

    def __init__(self, secret: Secret, name: str) -> None:
        self._secret = secret
        self._name = name

    def secret(self) -> Secret:
        """The Secret itself. (Templates cannot call this: see `unsafe_callable`.)"""
        return self._secret

    secret.unsafe_callable = True  # type: ignore[attr-defined]  # the sandbox's marker

    def __str__(self) -> str:
        if Hidden.revealed is None:
            raise SecretInTextError(self._name)
        Hidden.revealed.append(self._name)
        return self._secret.reveal()

    def __repr__(self) -> str:
        return repr(self._secret)

    def __int__(self) -> int:
        return int(str(self))  # without it, the filter `int` would quietly make 0 of every secret

    def __float__(self) -> float:
        return float(str(self))

    def __bool__(self) -> bool:
        return bool(self._secret.reveal())

    def _compared(self, other: object, compare: Callable[[Any, Any], bool]) -> bool:
        """As a number with a number, else as a text."""
        text = self._secret.reveal()
        if isinstance(other, Hidden):
            return compare(text, other.secret().reveal())
        if isinstance(other, int | float) and not isinstance(other, bool):
            try:
                return compare(float(text), other)
            except ValueError:
                pass
        return compare(text, other)

    def __hash__(self) -> int:
        return hash(self._secret)


class Remote:
    """What a host chose: a text of any kind."""

    __slots__ = ()


class RemoteText(str, Remote):
    """Text that a host chose (an output, a working directory). It is never read as a template, and quoted in a
    command."""

    __slots__ = ()

    def __str__(self) -> str:
        return self

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        return RemoteText(str.__getitem__(self, key))

    def __iter__(self) -> Iterator[str]:
        return map(RemoteText, str.__iter__(self))


class RemotePieces(RemoteText):
    """Text that was put together: `pieces` are those of hosts (a RemoteText each) and those of our own, which stay what
    they are in a command. Whatever is made of it is a host's text as a whole."""

    pieces: tuple[str, ...]

    @classmethod
    def of(cls, parts: Iterable[str]) -> RemotePieces:
        """The parts, one after another."""
        flat = [piece for part in parts for piece in (part.pieces if isinstance(part, RemotePieces) else (part,))]
        made = cls("".join(flat))
        made.pieces = tuple(flat)
        return made


class RemoteBytes(bytes, Remote):
    """Text of a host as bytes."""

    def __str__(self) -> str:
        return RemoteText(bytes.__str__(self))

    def __getitem__(self, key: Any) -> Any:
        found = bytes.__getitem__(self, key)
        return found if isinstance(found, int) else RemoteBytes(found)


class Omit:
    """Stands for a value that is not to be given at all (``default(omit)``)."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<omit>"


OMIT = Omit()
"""The only one."""


class OmittedError(ValueError):
    """`OMIT` was about to become a text."""

    def __init__(self) -> None:
        super().__init__("omit stands for a whole value, and this one cannot be left out")


class Lazy:
    """What is nobody's text and is not looked into as a whole: its values are made when they are read."""

    __slots__ = ()


class Registered:
    """The result of an earlier check, as templates see it: `REGISTERED_NAMES`, metadata only, and the values that it
    took from its output.

    That of a loop has the results of its items in `results`, each with its `item`; `rc` is then the first that is not
    0, `ok` that all are, and `failed` that any is.
    """

    def __init__(self, outcome: CheckOutcome) -> None:
        result, state = outcome.result, outcome.verdict.state
        names: Mapping[str, Any] = _NOTHING if result is None else result_names(result)
        self.__dict__.update(names)
        self.rc: int | None = names["rc"]
        self.execution: str = names["execution"]
        self.truncated: bool = names["truncated"]
        self.cwd = RemoteText(names["cwd"])
        self.values = ValueNames(outcome.values, RemoteText)
        self.verdict = str(state)
        self.ok = state is VerdictState.OK
        self.failed = state in (VerdictState.WARN, VerdictState.CRIT)
        self.skipped = state is VerdictState.SKIPPED or names["execution"] == Execution.NOT_RUN
        self.missing = [] if result is None else [RemoteText(word) for word in result.missing]
        self.attempts = outcome.attempts
        self.item = outcome.planned.item
        self.results = [Registered(item) for item in outcome.items]
        if outcome.items:
            self._sum_up(self.results, state)

    def _sum_up(self, results: Sequence[Registered], state: VerdictState) -> None:
        self.rc = next((one.rc for one in results if one.rc), 0 if any(one.rc == 0 for one in results) else None)
        self.ok = all(one.ok for one in results)
        self.failed = any(one.failed for one in results)
        self.skipped = state is VerdictState.SKIPPED
        self.execution = next((one.execution for one in results if one.execution != "done"), "done")
        self.truncated = any(one.truncated for one in results)
        for name in _SUMS:
            setattr(self, name, sum(getattr(one, name) for one in results))

    def __repr__(self) -> str:
        return f"<result: {self.verdict}>"


_SUMS = ("stdout_lines", "stderr_lines", "stdout_bytes", "stderr_bytes", "elapsed_s", "cpu_s", "answered")


_NOTHING: Mapping[str, Any] = {
    "rc": None,
    "stdout_lines": 0,
    "stderr_lines": 0,
    "stdout_bytes": 0,
    "stderr_bytes": 0,
    "elapsed_s": 0.0,
    "cpu_s": 0.0,
    "cwd": "",
    "execution": str(Execution.NOT_RUN),
    "truncated": False,
    "answered": 0,
    "samples": [],
    "values": None,
}


def hide(value: Any, name: str) -> Any:
    """`value` with each Secret in it wrapped for templates; the same object where there is none."""
    if isinstance(value, Secret):
        return Hidden(value, name)
    if isinstance(value, Mapping):
        hidden = {key: hide(item, name) for key, item in value.items()}
        return hidden if any(hidden[key] is not value[key] for key in hidden) else value
    if isinstance(value, (list, tuple)):
        items = [hide(item, name) for item in value]
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value
