"""Files to model: YAML/INI/JSON with line and column, inventory, patterns, playbook. Only user of pydantic and yaml."""
