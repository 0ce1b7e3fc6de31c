"""What `corpus doctor` finds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One line. advice: what to do about it; nothing if all is well. broken: no build can succeed before that."""

    subject: str
    found: str
    advice: str = ""
    broken: bool = False
