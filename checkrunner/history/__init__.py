"""The store of runs: what came of each check on each host, the evidence, and what people said of it."""
