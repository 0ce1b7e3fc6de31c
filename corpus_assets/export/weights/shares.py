"""Tables of weights: a CSV with the shares or tokens of sources or units, and of what content it was made."""

import csv
from collections.abc import Iterator, Sequence

from corpus_assets.mix.units.dimensions import unit_name
from resources.errors import BadFileError

FITTED_ON = "# fitted on "
"""How the first lines of a table begin that say with an asset and its digest on what content weights were fitted."""


def shares_of(content: bytes, path: str, column: str = "weight", parts: Sequence[str] = ()) -> dict[str, float]:
    """Returns the weights of a CSV by the names of sources or units; `BadFileError` for anything else.

    column: with the weights: `weight` or `tokens`. parts: names of the parts of units, which may have a column each;
    else the first one is `domain` or `unit`.
    """
    try:
        shares = dict(_rows(_text(content), path, column, parts))
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadFileError(path, f"is no CSV in UTF-8: {error}") from None
    if not any(shares.values()):
        raise BadFileError(path, f"has no {column} above 0")
    return shares


def fitted_on(content: bytes) -> dict[str, str]:
    """Returns on what content the weights of a CSV were fitted: digests by asset, of its first lines."""
    found = {}
    for line in content.decode("utf-8-sig", "replace").splitlines():
        if not line.startswith(FITTED_ON):
            break
        asset, _, digest = line.removeprefix(FITTED_ON).strip().partition(" ")
        found[asset] = digest.strip()
    return found


def _text(content: bytes) -> list[str]:
    lines = content.decode("utf-8-sig").splitlines()
    return ["" if line.startswith(FITTED_ON) else line for line in lines]


def _rows(lines: list[str], path: str, column: str, parts: Sequence[str]) -> Iterator[tuple[str, float]]:
    above = next((number for number, line in enumerate(lines) if line), 0)
    reader = csv.DictReader(lines[above:])
    columns = reader.fieldnames or ()
    named = _named_by(columns, column, parts)
    if named is None:
        found = ", ".join(columns) or "none"
        by_part = f", or {', '.join([*parts, column])}" if parts else ""
        whole = "unit" if parts else "domain"
        raise BadFileError(path, f"columns are {found}; valid: {whole}, {column}{by_part}")
    seen: set[str] = set()
    for row in reader:
        given, where = row[column], f"line {above + reader.line_num}"
        name = row[named[0]] if len(named) == 1 else unit_name([row[part] or "" for part in named])
        weight = _number(given, whole=column == "tokens")
        if not name or name in seen or weight is None:
            number = "a whole number" if column == "tokens" else "a weight"
            what = "unit" if parts else "domain"
            raise BadFileError(path, f"{where}: {name!r}, {given!r}; valid: each {what} once, {number} from 0 up")
        seen.add(name)
        yield name, weight


def _named_by(columns: Sequence[str], column: str, parts: Sequence[str]) -> Sequence[str] | None:
    """Returns the columns that name what has a weight; None if there are none, or no weights."""
    if column not in columns:
        return None
    if parts and set(parts) <= set(columns):
        return parts
    return next(([name] for name in ("domain", "unit") if name in columns), None)


def _number(given: str | None, *, whole: bool) -> float | None:
    """Returns a weight; None for anything else than a number from 0 up."""
    try:
        weight = int(given or "") if whole else float(given or "")
    except ValueError:
        return None
    return weight if 0 <= weight < float("inf") else None
