"""The weights of a dataset, those in a file read, and checked against the units that there can be."""

from collections.abc import Mapping, Sequence
from typing import Any

from corpus_assets.config.datasets.weights import Weights
from corpus_assets.config.selection.mixing import MixUnit
from corpus_assets.export.weights.shares import shares_of
from corpus_assets.export.weights.targets import require_whole
from corpus_assets.mix.units.dimensions import known_buckets
from resources.errors import ConfigError
from resources.stage.graph import did_you_mean

_COLUMNS = {"shares": "weight", "tokens": "tokens"}
_SHOWN = 30


def weights_of(given: Mapping[str, Any], content: bytes | None, where: str, parts: Sequence[str] = ()) -> Weights:
    """Returns the weights of a dataset. content: of the file that they name. parts: names of the parts of units."""
    values = dict(given)
    if content is not None:
        key = file_key(given)
        assert key is not None, "a file that is read is named"
        values[key] = shares_of(content, f"{where}.{key}", _COLUMNS[key], parts)
    return Weights.model_construct(None, **values)


def file_key(given: Mapping[str, Any]) -> str | None:
    """Returns which key of weights, as plain values, names a file; None if none does."""
    return next((key for key in _COLUMNS if isinstance(given.get(key), str)), None)


def require_units(weights: Weights, units: Sequence[Mapping[str, Any]], sources: Sequence[str], where: str) -> None:
    """Raises `ConfigError` for a unit that cannot be, and for shares that do not add up to 1.

    units: `mix.units` as plain values. sources: names of the sources of the corpus. where: of the weights.
    """
    parts = [MixUnit.model_validate(unit) for unit in units]
    known = [[*sources] if part.by == "source" else known_buckets(part.quantiles, part.ranges) for part in parts]
    key = "tokens" if weights.tokens is not None else "shares"
    for unit in (unit for unit, share in weights.given().items() if share):
        buckets = [unit] if len(parts) == 1 else unit.split("/")
        if len(buckets) != len(parts):
            form = "/".join(part.called for part in parts)
            raise ConfigError(f"{where}.{key}: received {unit!r}; valid: a unit is named {form}")
        for part, valid, bucket in zip(parts, known, buckets, strict=True):
            if valid is not None and bucket not in valid:
                some = ", ".join(valid[:_SHOWN]) + (" and others" if len(valid) > _SHOWN else "")
                raise ConfigError(
                    f"{where}.{key} {unit!r}: {part.called} has no bucket {bucket!r}{did_you_mean(bucket, valid)}; "
                    f"valid: {some}"
                )
    if weights.shares is not None:
        require_whole(weights.given(), f"{where}.{key}")
