"""`checkrunner checks`: what a playbook would look at."""

from __future__ import annotations

import typer

from checkrunner.cli.options import PlaybookName, SkipTags, Tags, split_words

__all__ = ["checks"]


def checks(playbook: PlaybookName, tags: Tags = None, skip_tags: SkipTags = None) -> int:
    """List a playbook's checks: id, severity, tags, and what each is for.

    Example: checkrunner checks linux-health -t disk
    """
    from checkrunner.app.listing import list_checks
    from checkrunner.render.safe import safe

    for line in list_checks(playbook, split_words(tags), split_words(skip_tags)):
        typer.echo(safe(line))
    return 0
