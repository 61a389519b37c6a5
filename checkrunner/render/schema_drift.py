"""The JSON Schema of what changed between two runs."""

from __future__ import annotations

from checkrunner.model.drift import DIFF_SCHEMA, ChangeKind
from checkrunner.render.schema_parts import Schema, array_of, count_of, enum_of, object_of, text_of, time_of

__all__ = ["diff_schema", "drift_schemas"]

_OPTIONAL = ("unlike", "changes", "unchanged", "left_out")


def drift_schemas() -> dict[str, Schema]:
    """By name, as other schemas refer to them."""
    return {"drift": _drift(), "change": _change()}


def diff_schema() -> Schema:
    """JSON Schema 2020-12 for what `diff --format json` prints."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{DIFF_SCHEMA.replace('/', ':')}",
        "title": "checkrunner diff",
        **object_of(
            "Two runs compared.",
            {
                "schema": {"const": DIFF_SCHEMA, "description": "Name and version of this format."},
                "before": _run("The run that is compared with."),
                "after": _run("The run that is compared."),
                **_facts(),
            },
            optional=_OPTIONAL,
        ),
        "$defs": {"change": _change()},
    }


def _run(description: str) -> Schema:
    return object_of(
        description,
        {
            "number": count_of("Its number in the store."),
            "id": text_of("Names the run."),
            "started_at": time_of("Start of the run, UTC."),
            "playbook": text_of("The playbook: the path of a file, the name of a shipped one."),
            "playbook_digest": text_of("The first 16 digits of the SHA-256 of the playbook file, hexadecimal."),
            "limit": text_of("The pattern that hosts were limited to."),
            "tags": array_of("The tags that checks were chosen by.", text_of("A tag.")),
            "skip_tags": array_of("The tags of checks that were left out.", text_of("A tag.")),
            "ended": text_of("How the run ended: normal, deadline, interrupted or error."),
            "complete": {"type": "boolean", "description": "False when any planned check could not be looked at."},
            "exit_code": count_of("What the run exited with."),
            "hosts": count_of("How many hosts."),
            "checks": count_of("How many checks, over all hosts."),
        },
        optional=("number", "playbook_digest", "limit", "tags", "skip_tags"),
    )


def _drift() -> Schema:
    return object_of(
        "What changed against an earlier run of the same checks.",
        {
            "against": text_of("The id of the earlier run."),
            "against_started_at": time_of("When that began, UTC."),
            **_facts(),
        },
        optional=_OPTIONAL,
    )


def _facts() -> dict[str, Schema]:
    return {
        "worse": count_of(
            "How many of all changes somebody is to be told of: what got worse, silenced things and what changes all"
            " the time aside."
        ),
        "unlike": array_of("In what the two runs cannot be compared.", text_of("A sentence.")),
        "changes": array_of("What changed, the worst first.", {"$ref": "#/$defs/change"}),
        "unchanged": count_of(
            "Checks that are in trouble as before, for the same reasons, and hosts that are still not reached."
        ),
        "left_out": count_of("How many changes are not listed."),
    }


def _change() -> Schema:
    return object_of(
        "An equal change of a check on hosts.",
        {
            "kind": enum_of(
                "regression: it is worse than it was. unseen: it could be looked at, and no longer can. changed: it is"
                " in trouble for other reasons. flapping: it changed so often that it is not told each time any more."
                " recovery: it is better. seen: it could not be looked at, and now can. dropped: nobody looks at it any"
                " more.",
                ChangeKind,
            ),
            "check": text_of("Key of the check; absent for what became of the host itself."),
            "name": text_of("Its name, where that is not the key."),
            "hosts": text_of("The hosts, folded."),
            "host_count": count_of("How many hosts; absent for one."),
            "items": array_of("Labels of the items of a loop that it is about, if several.", text_of("A label.")),
            "item_count": count_of("How many items; the list may be shorter."),
            "before": text_of("The verdict before, or the state of the host; absent where there was none."),
            "after": text_of("The same now; absent where it is not there any more."),
            "since": time_of("When what is so now began, UTC."),
            "before_since": time_of("When what was so before began, UTC."),
            "finding": text_of("The id of the finding that shows it."),
            "flapping": {"type": "boolean", "description": "True where it was known to change all the time."},
            "silenced": {"type": "boolean", "description": "True where nobody wants to be told of it for now."},
            "note": text_of("What else changed."),
        },
        optional=(
            *("check", "name", "host_count", "items", "item_count", "before", "after", "since", "before_since"),
            *("finding", "flapping", "silenced", "note"),
        ),
    )
