"""Which sweep it is: the same playbooks over the same hosts are one, wherever they are started from."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from hashlib import sha256

from checkrunner.app.prepare import Request

__all__ = ["absolute", "sweep_name"]


def absolute(path: str) -> str:
    """The absolute path of a file or folder; names of shipped playbooks, lists of hosts and the like as they are."""
    return os.path.abspath(path) if os.path.exists(path) else path


def sweep_name(requests: Sequence[Request]) -> str:
    """A name for files and units: the first playbook's, and a digest of all that says what is looked at. What is looked
    at is neither when nor how fast nor what is made of it."""
    first = requests[0]
    what = {
        "playbooks": sorted(absolute(request.playbook) for request in requests),
        "inventory": [absolute(source) for source in first.settings.inventory],
        "limit": first.limit,
        "tags": first.tags,
        "skip_tags": first.skip_tags,
        "extra_vars": first.extra_vars,
    }
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", os.path.splitext(os.path.basename(first.playbook))[0]).strip("-")[:40]
    digest = sha256(json.dumps(what).encode()).hexdigest()[:8]
    return f"{stem}-{digest}" if stem else digest
