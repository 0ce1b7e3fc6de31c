"""Faults that checks find in built files; workers look for them too, so Dagster is not loaded here."""

MAX_FAULTS = 20
UNREADABLE = Exception
"""The exceptions of reading a damaged file: libraries raise almost anything. A check reports them as faults."""
