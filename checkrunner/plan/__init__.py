"""Model to per-host plan: templates, conditions, what depends on what. Pure."""
