"""checkrunner: declarative diagnostic checks over persistent remote sessions."""

__version__ = "0.1.0"
