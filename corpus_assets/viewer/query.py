"""Parameters of requests: each has a type and a limit; anything else is refused in words."""

import re
from collections.abc import Mapping, Sequence
from math import isfinite

MOST_TEXT = 500
MOST_NUMBER = 10**15
MOST_NAME = 8000
"""Characters of the name of a document: one as it is printed, with every character an escape."""

_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)


class RefusedError(Exception):
    """A request that cannot be answered. status: of HTTP; the message is for a person."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def missing(what: str) -> RefusedError:
    """Returns the error for a request of something that does not exist."""
    return RefusedError(404, what)


class Query:
    """The parameters of a request after the question mark; of several with one name the last counts."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = given

    def number(self, name: str, default: int = 0, *, low: int = 0, high: int = MOST_NUMBER) -> int:
        """Returns a whole number; `RefusedError` for anything else, and outside of `low` to `high`."""
        text = self._given.get(name, "").strip()
        if not text:
            return default
        digits = text.replace(",", "")
        if not (len(digits) <= 16 and digits.isascii() and digits.isdigit() and low <= int(digits) <= high):
            raise RefusedError(400, f"{name}={text[:40]}: valid is a whole number from {low:,} to {high:,}")
        return int(digits)

    def decimal(self, name: str) -> float | None:
        """Returns a number, None if it is not given; `RefusedError` for anything else."""
        text = self._given.get(name, "").strip().replace(",", "")
        if not text:
            return None
        if len(text) > 30 or not _DECIMAL.fullmatch(text) or not isfinite(float(text)):
            raise RefusedError(400, f"{name}={text[:40]}: valid is a number, such as 0.25")
        return float(text)

    def text(self, name: str, most: int = MOST_TEXT) -> str:
        """Returns a text, empty if it is not given; `RefusedError` for a longer one."""
        found = self._given.get(name, "")
        if len(found) > most:
            raise RefusedError(400, f"{name} has {len(found):,} characters; valid are up to {most:,}")
        return found

    def one_of(self, name: str, valid: Sequence[str]) -> str:
        """Returns one of the valid values, the first if none is given; `RefusedError` for any other."""
        found = self._given.get(name) or valid[0]
        if found not in valid:
            raise RefusedError(400, f"{name}={found[:40]}: valid are {', '.join(filter(None, valid[:20]))}")
        return found
