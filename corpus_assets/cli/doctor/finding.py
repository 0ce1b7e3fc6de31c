"""A finding of `corpus doctor`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One line. advice: what to do; empty if all is well. broken: no build can succeed until it is done."""

    subject: str
    found: str
    advice: str = ""
    broken: bool = False
