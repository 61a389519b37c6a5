"""Many hosts: the engine and its limits."""
