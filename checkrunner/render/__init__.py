"""Report to terminal and JSON, and the live view of a run."""
