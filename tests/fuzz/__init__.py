"""Hostile inputs for everything that reads what comes from outside: `python -m tests.fuzz --help`."""
