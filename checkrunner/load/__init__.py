"""Files to model: YAML/INI/JSON with line and column, inventory, patterns, playbook. The only user of pydantic and yaml."""
