"""The configuration as stages see it: only the values that they declare."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from resources.errors import ConfigError
from resources.hashing import content_digest
from resources.shards.listing import Shard
from resources.stage.declaration import Stage
from resources.stage.hooks import Hooks, gives


class Settings:
    """Plain values of `corpus.yaml` by dotted key."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self._sources = {source["name"]: source for source in values["sources"]}

    def get(self, key: str, source: str | None = None) -> Any:
        """Returns the value under a dotted key; `source.<key>` is read from the named source."""
        head, _, rest = key.partition(".")
        value: Any = self._sources[source] if head == "source" and source is not None else self.values.get(head)
        for name in rest.split(".") if rest else []:
            if not isinstance(value, Mapping) or name not in value:
                raise ConfigError(f"no configuration value named {key!r}")
            value = value[name]
        return value

    def parameters(self, stage: Stage, shard: Shard | None) -> dict[str, Any]:
        """Returns the values that the content of one partition depends on."""
        chosen = {key: self.get(key, shard.source if shard else None) for key in stage.parameters}
        return chosen | self._source_parameters(stage, shard) | self.derived_parameters(stage)

    def _source_parameters(self, stage: Stage, shard: Shard | None) -> dict[str, Any]:
        if shard is None or stage.shard_set is not None:
            return {}
        return dict(stage.hooks.source_parameters(self._sources[shard.source]))

    def digest(self, stages: Iterable[Stage]) -> str:
        """Returns a digest of the values that stages declare: builders that share a store must have the same.

        Derived values are left out: they may require reading large files, and follow from these values and those files.
        """
        found = [[stage.name, stage.code_version, *self._values(stage)] for stage in stages]
        return content_digest(msgspec.json.encode(found, order="deterministic"))

    def _values(self, stage: Stage) -> Iterator[Any]:
        for key in stage.parameters:
            of_each = key.startswith("source.")
            yield [key, [self.get(key, source) for source in self._sources] if of_each else self.get(key)]
        if gives(stage.hooks, Hooks.source_parameters):
            yield [dict(stage.hooks.source_parameters(source)) for source in self._sources.values()]

    def derived_parameters(self, stage: Stage) -> dict[str, Any]:
        """Returns the parameters that a stage derives; `ConfigError` if a file that it needs for that is missing."""
        return dict(stage.hooks.derived_parameters(self.values))

    def require_own_keys(self, stages: Iterable[Stage]) -> None:
        """Raises `ConfigError` for a value of section `own` that no stage declares: it would have no effect."""
        declared = {key for stage in stages for key in stage.parameters if key.startswith("own.")}
        for name, section in self.values["own"].items():
            if f"own.{name}" in declared:
                continue
            for key in (f"own.{name}.{entry}" for entry in section):
                if key not in declared:
                    valid = ", ".join(sorted(declared)) or "none: no stage of your own declares any"
                    raise ConfigError(f"{key}: no stage reads it; declared are {valid}")

    def sources(self) -> list[str]:
        """Returns the source names in configured order, which is the order of priority."""
        return list(self._sources)

    def inputs(self) -> list[dict[str, Any]]:
        """Returns the `input` sections of the datasets that have files of their own, by name of the dataset."""
        datasets = (dataset for dataset in self.values["datasets"] if isinstance(dataset["input"], Mapping))
        return [{**dataset["input"], "name": dataset["name"]} for dataset in datasets]

    def benchmarks(self) -> list[dict[str, Any]]:
        """Returns the sections of the benchmarks, which have files of their own."""
        return list(self.values.get("benchmarks", ()))

    def bands(self) -> list[str]:
        """Returns the partition keys of the bands."""
        return [band_key(band) for band in range(self.get("minhash.bands"))]

    def ranges(self) -> list[str]:
        """Returns the partition keys of the ranges."""
        return [range_key(number) for number in range(self.get("dedup.ranges"))]

    def chunks(self) -> list[str]:
        """Returns the partition keys of the chunks."""
        return [chunk_key(chunk) for chunk in range(self.get("mix.chunks"))]


def band_key(band: int) -> str:
    """Returns the partition key of a band."""
    return f"band-{band:02d}"


def range_key(number: int) -> str:
    """Returns the partition key of a range."""
    return f"range-{number:03d}"


def chunk_key(chunk: int) -> str:
    """Returns the partition key of a chunk."""
    return f"chunk-{chunk:04d}"
