"""YAML that a program on a host wrote, as plain values; and plain values as YAML.

The second door to pyyaml, beside `load.documents`, and for a reason: files that people wrote are read there, with the
place of every value, with tags that run programs and open secrets, by code that load alone may import. What a host
wrote must never get near those tags, and is read by judge and plan.
"""

from __future__ import annotations

from typing import Any

__all__ = ["MAX_DEPTH", "read_plain", "write_plain"]

MAX_DEPTH = 100
_LONGEST_NUMBER = 1000
_INTEGER = "tag:yaml.org,2002:int"
_TIMESTAMP = "tag:yaml.org,2002:timestamp"


def read_plain(text: str) -> list[Any]:
    """Every document of the text: mappings, lists, texts, numbers, booleans, None; times stay texts.

    Aliases and unknown tags are refused: nothing in it is run, opened or multiplied. Raises ValueError with one line.
    """
    import yaml  # lazy: few runs need it after their playbook is read

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    constructors = {**loader.yaml_constructors, _INTEGER: _integer}
    resolvers = _resolvers(yaml.SafeLoader.yaml_implicit_resolvers)
    plain = type("_Plain", (loader,), {"yaml_implicit_resolvers": resolvers, "yaml_constructors": constructors})
    depth = 0
    try:
        for event in yaml.parse(text, Loader=loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH or isinstance(event, yaml.AliasEvent):
                break
        else:
            return list(yaml.load_all(text, Loader=plain))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ValueError(f"line {line} is not YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise ValueError(" ".join(str(error).split())[:200]) from error
    line = event.start_mark.line + 1 if event.start_mark else 1
    what = "an alias (*)" if isinstance(event, yaml.AliasEvent) else f"more than {MAX_DEPTH} levels"
    raise ValueError(f"line {line} has {what}, which is not read")


def _integer(loader: Any, node: Any) -> Any:
    """A whole number. One to the base 60 (``1:30``) may be as long as a text, and takes the square of that."""
    if len(node.value) > _LONGEST_NUMBER:
        raise ValueError(f"line {node.start_mark.line + 1} has a number of {len(node.value):,} characters")
    return loader.construct_yaml_int(node)


def _resolvers(rules: dict[str, list[tuple[str, Any]]]) -> dict[str, list[tuple[str, Any]]]:
    return {first: [rule for rule in some if rule[0] != _TIMESTAMP] for first, some in rules.items()}


_OPTIONS = frozenset(
    {
        "allow_unicode",
        "canonical",
        "default_flow_style",
        "default_style",
        "explicit_end",
        "explicit_start",
        "indent",
        "line_break",
        "sort_keys",
        "width",
    }
)


def write_plain(value: Any, **options: Any) -> str:
    """Plain values as YAML; the options are those of pyyaml that say how it looks. Raises ValueError."""
    import yaml

    if unknown := sorted(options.keys() - _OPTIONS):
        raise ValueError(f"no option is called {unknown[0]!r}: {', '.join(sorted(_OPTIONS))}")
    dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    shown: dict[str, Any] = {"allow_unicode": True, "default_flow_style": None, **options}
    try:
        text = str(yaml.dump(value, Dumper=dumper, **shown))
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())[:200]) from error
    # The mark of an end that nothing follows.
    return text if options.get("explicit_end") else text.removesuffix("...\n")
