"""What the index of MDS says of each shard."""

from collections.abc import Collection

import msgspec


class Part(msgspec.Struct, frozen=True):
    """A file of a shard, as samples or compressed."""

    basename: str
    bytes: int
    hashes: dict[str, str] = {}


class Shard(msgspec.Struct, frozen=True):
    """A shard. column_sizes: bytes of a column in each sample, None where each sample says it."""

    column_names: list[str]
    column_encodings: list[str]
    column_sizes: list[int | None]
    samples: int
    raw_data: Part
    zip_data: Part | None = None
    compression: str | None = None
    format: str = "mds"

    def file(self, there: Collection[str]) -> Part:
        """Returns the file to be read: the compressed one, unless only the other is there."""
        if self.zip_data is None:
            return self.raw_data
        if self.zip_data.basename not in there and self.raw_data.basename in there:
            return self.raw_data
        return self.zip_data


class Index(msgspec.Struct, frozen=True):
    """The content of `index.json`."""

    shards: list[Shard]
    version: int
