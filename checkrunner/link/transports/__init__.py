"""How a host is reached: `local` and `ssh`."""
