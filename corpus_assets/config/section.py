"""The base of every section of `corpus.yaml`: the strict model, and types for names and sizes."""

import os
import re
from contextlib import suppress
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from corpus_assets.config.ready_templates import template_in_place
from resources.raw_places.addresses import check_location, scheme_of

_UNITS = {
    "": 1,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
}


def _byte_count(value: Any) -> Any:
    """Returns a size such as `4 GiB` as a number of bytes; anything else unchanged for the type check."""
    if not isinstance(value, str):
        return value
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", value)
    unit = _UNITS.get(match[2].lower()) if match else None
    if match is None or unit is None:
        raise ValueError(f"a size such as 512 MiB or 4 GiB (units: {', '.join(u for u in _UNITS if u)})")
    return int(float(match[1]) * unit)


def _share(value: Any) -> Any:
    """Returns a share such as `2%` as a number, and anything else unchanged for the type check."""
    if not isinstance(value, str):
        return value
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*%\s*", value)
    if match is None:
        raise ValueError("a share such as 0.02 or 2%")
    return float(Decimal(match[1]) / 100)


def written_day(value: Any) -> Any:
    """Returns a day as its text, since YAML reads an unquoted one as a date, and anything else unchanged."""
    return value.isoformat() if isinstance(value, date) else value


def local_path(value: str) -> str:
    """Returns a path; `ValueError` for an address that is not on this machine."""
    if scheme := scheme_of(value):
        raise ValueError(f"a path of this machine or of a mounted file system; {scheme}: is not read")
    return value


def _template(value: str) -> str:
    return value if template_in_place(value) else local_path(value)


def below(folder: Path, location: str) -> str:
    """Returns a location; a relative path is resolved below the folder, an address is returned unchanged."""
    return location if scheme_of(location) else str(folder / expanded(location))


def expanded(path: str) -> str:
    """Returns a path with `~` and environment variables such as `$HOME` replaced; unknown ones stay."""
    path = os.path.expandvars(path)
    with suppress(RuntimeError):  # No such user or home: the error about the missing folder will name it as given.
        return str(Path(path).expanduser()) if path.startswith("~") else path
    return path


def _name(value: str) -> str:
    if not re.fullmatch(r"[a-z0-9](?:[a-z0-9._]|-(?!-))*", value) or value.endswith(("-", ".")):
        raise ValueError("a name of a-z, 0-9, '.', '_' and single '-', starting with a letter or digit")
    return value


Bytes = Annotated[int, BeforeValidator(_byte_count), Field(gt=0)]
Name = Annotated[str, Field(min_length=1, max_length=48), AfterValidator(_name)]
LocalPath = Annotated[str, Field(min_length=1), AfterValidator(local_path)]
Template = Annotated[str, AfterValidator(_template)]
Location = Annotated[str, Field(min_length=1), AfterValidator(check_location)]
Share = Annotated[float, BeforeValidator(_share)]


class Section(BaseModel):
    """Base of every section: strict types, no unknown keys, immutable."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)
