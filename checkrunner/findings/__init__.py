"""Verdicts to report: slicing, redaction, folding, ranking, tokens. Pure."""
