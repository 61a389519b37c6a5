"""The JSON Schema of the report document."""

from __future__ import annotations

from checkrunner.model.report import REPORT_SCHEMA
from checkrunner.model.results import CaptureState, Execution, HostState, VerdictState
from checkrunner.render.schema_drift import drift_schemas
from checkrunner.render.schema_finding import finding_schemas
from checkrunner.render.schema_parts import (
    Schema,
    array_of,
    axis_of,
    count_of,
    enum_of,
    number_of,
    object_of,
    text_of,
    time_of,
)

__all__ = ["Schema", "report_schema"]


def report_schema() -> Schema:
    """JSON Schema 2020-12 for what `to_document` returns. Every field has a description."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{REPORT_SCHEMA.replace('/', ':')}",
        "title": "checkrunner report",
        **_report(),
        "$defs": {
            **finding_schemas(),
            **drift_schemas(),
            "metrics": _metrics(),
            "message": _message(),
            "incomplete": _incomplete(),
            "omission": _omission(),
            "suppressed": _suppressed(),
        },
    }


def _report() -> Schema:
    return object_of(
        "The findings of one run. Its size follows the number of different findings, not the number of hosts.",
        {
            "schema": {"const": REPORT_SCHEMA, "description": "Name and version of this format."},
            "run": _run(),
            "totals": _totals(),
            "play": text_of("The play of all findings that name none; absent where they are of several."),
            "findings": array_of("What was found, the most important first.", {"$ref": "#/$defs/finding"}),
            "incomplete": array_of(
                "Hosts that could not be looked at, or not to the end, folded by state and reason.",
                {"$ref": "#/$defs/incomplete"},
            ),
            "suppressed": array_of(
                "Checks that were not run on hosts where they do harm: they got stuck beyond what can be ended, or cost"
                " their session.",
                {"$ref": "#/$defs/suppressed"},
            ),
            "drift": {"$ref": "#/$defs/drift"},
            "metrics": array_of("Values of each check that takes some, over all hosts.", {"$ref": "#/$defs/metrics"}),
            "messages": array_of("What tasks had to say, in their order.", {"$ref": "#/$defs/message"}),
            "warnings": array_of("What was odd about inventory, settings or hosts.", text_of("One warning.")),
            "omissions": array_of(
                "What a limit left out: nothing leaves the report silently.", {"$ref": "#/$defs/omission"}
            ),
            "redacted": {
                "type": "object",
                "description": "How many different secrets were masked, by the kind of what gave them away.",
                "additionalProperties": count_of("How many of this kind."),
            },
            "budget": _budget(),
        },
        optional=("play", "suppressed", "drift", "metrics", "messages", "redacted"),
    )


def _run() -> Schema:
    return object_of(
        "The run as a whole.",
        {
            "id": text_of("Names the run."),
            "version": text_of("The version of checkrunner."),
            "playbook": text_of("The playbook as it was named."),
            "playbook_digest": text_of("The first 16 digits of the SHA-256 of the playbook file, hexadecimal."),
            "inventory": array_of("The inventory sources.", text_of("One source.")),
            "limit": text_of("The pattern that hosts were limited to."),
            "started_at": {"type": "string", "format": "date-time", "description": "Start of the run, UTC."},
            "elapsed_s": number_of("Seconds from start to end."),
            "ended": {
                "enum": ["normal", "deadline", "interrupted", "error"],
                "description": "How the run ended.",
            },
            "complete": {"type": "boolean", "description": "False when any planned check could not be looked at."},
            "exit_code": count_of("What the command exits with."),
            "error": text_of("The message, when the run ended with an error."),
            "waits": array_of("Jump hosts and servers that hosts waited for before they were reached.", _wait()),
            "stay": _stay(),
        },
        optional=("playbook_digest", "inventory", "limit", "error", "waits", "stay"),
    )


def _stay() -> Schema:
    return object_of(
        "Outputs that stay on the hosts for a while.",
        {
            "until": {"type": "string", "format": "date-time", "description": "When they are removed, UTC."},
            "directory": text_of("Where they are; UID and HOST stand for the login's number and the host's name."),
        },
    )


def _wait() -> Schema:
    return object_of(
        "A jump host, or a server that drops connections when there are too many.",
        {
            "place": text_of("What was waited for."),
            "hosts": count_of("Hosts that had to wait for a noticeable time."),
            "longest_s": number_of("Seconds that the host waited that waited longest."),
            "waited_s": number_of("Seconds during which any host waited."),
            "dropped": count_of("Connections that the server dropped; absent when it dropped none."),
            "connections": count_of("Connections that were made to a jump host."),
            "channels": count_of("Hosts that one connection to a jump host takes; absent where no limit was met."),
        },
        optional=("dropped", "connections", "channels"),
    )


def _totals() -> Schema:
    return object_of(
        "Counts on all axes; a key that is absent counts 0. planned = done + skipped + not_run = sum of verdict ="
        " sum of execution; done = sum of capture; hosts = sum of host.",
        {
            "hosts": count_of("Hosts selected."),
            "planned": count_of("Checks planned, over all hosts."),
            "done": count_of("Checks that were run, however they ended."),
            "skipped": count_of("Checks that were not to be run: their condition was false or a tool is missing."),
            "not_run": count_of("Checks that should have been run and were not."),
            "verdict": axis_of("Checks by verdict.", VerdictState),
            "execution": axis_of("Checks by how their command ended; a skipped check is not_run.", Execution),
            "host": axis_of("Hosts by how far we got with them.", HostState),
            "capture": axis_of("Checks that were run by the worse state of their two captured streams.", CaptureState),
        },
    )


def _metrics() -> Schema:
    return object_of(
        "The values of one check over all hosts.",
        {
            "check": text_of("Key of the check."),
            "items": count_of("Of a loop with many items, whose values are given together: how many they are."),
            "values": array_of("Its values.", {"$ref": "#/$defs/value"}),
        },
        optional=("items",),
    )


def _message() -> Schema:
    return object_of(
        "What a task had to say (`debug`, `assert`), on hosts where it said the same.",
        {
            "check": text_of("Key of the check."),
            "name": text_of("Its name, where that is not the key."),
            "hosts": text_of("The hosts, folded."),
            "host_count": count_of("How many hosts; absent for one."),
            "text": text_of("What it said; lines are kept."),
        },
        optional=("name", "host_count"),
    )


def _incomplete() -> Schema:
    return object_of(
        "Hosts that could not be looked at for one reason.",
        {
            "hosts": text_of("The hosts, folded."),
            "host_count": count_of("How many hosts; absent for one."),
            "state": enum_of("How far we got.", HostState),
            "phase": text_of("Where it failed: connect, bootstrap, session or run."),
            "reason": text_of("What happened. <host> stands for each host's own name."),
            "hint": text_of("What to do."),
            "since": time_of(
                "When the first of the runs began in which it was so without a break, UTC; the earliest of"
                " the hosts'. Absent where no earlier run is known."
            ),
            "silenced": {"$ref": "#/$defs/silenced"},
        },
        optional=("host_count", "hint", "since", "silenced"),
    )


def _suppressed() -> Schema:
    return object_of(
        "A check that is not run on hosts for a while.",
        {
            "check": text_of("Key of the check."),
            "hosts": text_of("The hosts, folded."),
            "host_count": count_of("How many hosts; absent for one."),
            "until": time_of("The earliest time at which it is run again on one of them, UTC."),
            "strikes": count_of("How many times in a row it did harm, on the host where it was most often."),
            "reason": text_of("What happened the last time, on the first host."),
        },
        optional=("host_count",),
    )


def _omission() -> Schema:
    return object_of(
        "Something that is not in the report.",
        {
            "what": text_of("What kind of thing."),
            "count": count_of("How many."),
            "why": text_of("Which limit, or what failed."),
            "where": text_of("The finding, check or host it belongs to."),
            "tokens": count_of("What it would have taken, about, where the budget was the limit."),
        },
        optional=("where", "tokens"),
    )


def _budget() -> Schema:
    return object_of(
        "The size of this document in tokens.",
        {
            "limit": count_of("What it was limited to; absent when it was not."),
            "used": count_of("Its size, this entry included."),
            "counter": text_of("How it was counted."),
        },
        optional=("limit",),
    )
