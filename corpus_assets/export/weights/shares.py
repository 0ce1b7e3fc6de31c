"""Shares of sources in a CSV."""

import csv
from collections.abc import Iterator

from resources.errors import BadFileError


def shares_of(content: bytes, path: str) -> dict[str, float]:
    """Returns the weights of a CSV with the columns `domain` and `weight`; `BadFileError` for anything else."""
    try:
        shares = dict(_rows(content.decode("utf-8-sig"), path))
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadFileError(path, f"is no CSV in UTF-8: {error}") from None
    if not any(shares.values()):
        raise BadFileError(path, "has no weight above 0")
    return shares


def _rows(text: str, path: str) -> Iterator[tuple[str, float]]:
    reader = csv.DictReader(text.splitlines())
    if not {"domain", "weight"} <= set(reader.fieldnames or ()):
        found = ", ".join(reader.fieldnames or ()) or "none"
        raise BadFileError(path, f"columns are {found}; valid: domain, weight")
    seen: set[str] = set()
    for number, row in enumerate(reader, 2):
        domain, given = row["domain"], row["weight"]
        try:
            weight = float(given)
        except (TypeError, ValueError):
            weight = -1.0
        if not domain or domain in seen or not 0 <= weight < float("inf"):
            raise BadFileError(
                path, f"line {number}: {domain!r}, {given!r}; valid: each domain once, a weight from 0 up"
            )
        seen.add(domain)
        yield domain, weight
