"""Faults that checks find in built files; workers look for them too, so Dagster is not loaded here."""

from resources.errors import is_of_the_machine
from resources.system_errors import error_words

MAX_FAULTS = 20
UNREADABLE = Exception
"""The exceptions of reading a damaged file: libraries raise almost anything. A check reports them as faults."""


def unread(error: Exception) -> str:
    """Returns in words that a file cannot be read: now, if the machine or the store failed, not the file."""
    now = " now" if is_of_the_machine(error) else ""
    return f"cannot be read{now}: {error_words(error) or type(error).__name__}"
