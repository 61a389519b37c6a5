"""Results to verdicts. Pure."""
