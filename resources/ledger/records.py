"""Commit records: what a partition was made from and what it holds, and how a record is written as a file."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from resources.errors import LedgerError
from resources.hashing import content_digest
from resources.ledger.packed_digests import digests_named, pack

FOLDER = "ledger"
UNPARTITIONED = "_"
ALL = "*"
"""All partitions of an asset together, in the place of a partition's key."""


SET = "--set"
_LONGEST_SET = 500
"""The entry of `Record.versions` that names changes of the configuration for one build, and its most characters."""


class FileRecord(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One file of a partition. `digest` is over the uncompressed content, so the codec does not matter.

    A `derived` file repeats what other files of the partition say, to spare readers work; it is no part of the content
    digest. `stored` is over the bytes as they are stored (`StoredDigest`), and no part of any other digest.
    """

    path: str
    bytes: int
    digest: str
    rows: int | None = None
    derived: bool = False
    stored: str = ""


class Record(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The commit record of one partition.

    `recipe` is the digest of everything the content depends on; `digest` is that of the content itself. `segments`
    holds the digests of named pieces of the content (a band, a chunk) that downstream partitions may read alone.
    `counters` are numbers that a stage or a gate reads, each with a digest in `segments`; `statistics` are numbers for
    people, which no stage reads. `seen` is the size and modification token of a raw file when it was digested; the plan
    compares them with the file. `versions` is who made it: programs, and under `SET` what one build changed.
    """

    asset: str
    partition: str | None
    recipe: str
    digest: str
    inputs: Mapping[str, str]
    parameters: dict[str, Any]
    code_version: str
    files: list[FileRecord]
    segments: Mapping[str, str] = {}
    counters: dict[str, Any] = {}
    seen: dict[str, Any] = {}
    statistics: dict[str, Any] = {}
    created: str = ""
    versions: dict[str, str] = {}

    def digest_of(self, segment: str | None) -> str:
        """Returns the digest of a segment (empty when there is none of that name), or of the whole for None."""
        return self.digest if segment is None else self.segments.get(segment, "")

    def with_seen(self, seen: dict[str, Any]) -> "Record":
        """Returns the record with another size and modification token of its raw file."""
        return msgspec.structs.replace(self, seen=seen)

    def packed(self) -> "Record":
        """Returns the record with many digests in little memory; it is written the same."""
        inputs, segments = pack(self.inputs), pack(self.segments)
        if inputs is self.inputs and segments is self.segments:
            return self
        return msgspec.structs.replace(self, inputs=inputs, segments=segments)

    @property
    def numbers(self) -> dict[str, Any]:
        """The statistics and, over them, the counters."""
        return {**self.statistics, **self.counters}

    def counters_of(self, name: str) -> Any:
        """Returns the counters under a name; `LedgerError` when there are none."""
        nothing: dict[str, Any] | None = {} if name in self.segments else None
        found = self.counters.get(name, nothing)
        if found is None:
            raise LedgerError(f"{partition_name(self.asset, self.partition)} has no counters {name!r}; build it again")
        return found


def with_set(versions: dict[str, str], changes: Iterable[str]) -> dict[str, str]:
    """Returns the versions of a record that a build with these `KEY=VALUE` commits."""
    words = set_words(changes)
    return {**versions, SET: words} if words else versions


def set_words(changes: Iterable[str]) -> str:
    """Returns the changes of one build on one line, cut to a readable length."""
    words = " ".join(", ".join(changes).split())
    return words if len(words) <= _LONGEST_SET else f"{words[: _LONGEST_SET - 3]}..."


def partition_name(asset: str, partition: str | None) -> str:
    """Returns a partition as messages and recipes name it: `asset/partition`, or the asset alone."""
    return asset if partition is None else f"{asset}/{partition}"


def folded(asset: str, digests: Mapping[str, str]) -> dict[str, str]:
    """Returns the content digests of an asset's partitions, by `asset/partition`, as one entry, `asset/*`.

    Its digest is over names and digests in the order in which the partitions are read.
    """
    return {f"{asset}/{ALL}": content_digest(msgspec.json.encode(list(digests.items())))}


def digests_of(records: Iterable[Record], segment: str | None) -> list[str]:
    """Returns `Record.digest_of` of many records."""
    if segment is None:
        return [record.digest for record in records]
    return digests_named(segment, (record.segments for record in records))


def absent_segment(record: Record, segment: str | None) -> str:
    """Returns in words that a record has no segment of a name, and which it has; empty if it has it, or for None."""
    if segment is None or segment in record.segments:
        return ""
    names = sorted(record.segments)
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    held = ", ".join(map(repr, names[:10])) + more if names else "none"
    return f"segment {segment!r} of {partition_name(record.asset, record.partition)}, whose segments are: {held}"


def recipe_digest(asset: str, code_version: str, parameters: Mapping[str, Any], inputs: Mapping[str, str]) -> str:
    """Returns the digest of (asset, code version, parameters, content digests of the inputs).

    Equal recipes mean equal content. The order of the parameters does not matter; the order of the inputs does, since
    they are read in it.
    """
    return RecipeMaker(asset, code_version, parameters).digest(inputs)


class RecipeMaker:
    """Makes the recipes of partitions that differ in their inputs alone; see `recipe_digest`."""

    def __init__(self, asset: str, code_version: str, parameters: Mapping[str, Any]) -> None:
        own = msgspec.json.encode([asset, code_version, parameters], order="deterministic")
        self._own = own.removesuffix(b"]") + b","

    def digest(self, inputs: Mapping[str, str]) -> str:
        """Returns the recipe of a partition with these content digests of its inputs."""
        return content_digest(self._own + msgspec.json.encode([*inputs.items()]) + b"]")


def partition_digest(files: Iterable[FileRecord], segments: Mapping[str, str]) -> str:
    """Returns the content digest of a whole partition: its files in order without the derived, and its segments."""
    lines = [f"{file.digest} {file.rows}" for file in files if not file.derived]
    lines += [f"{name}={digest}" for name, digest in sorted(segments.items())]
    return content_digest(*(line.encode() for line in lines))


def record_path(asset: str, partition: str | None) -> str:
    """Returns the path of the record of a partition."""
    return f"{FOLDER}/{asset}/{partition or UNPARTITIONED}.json"


def lease_name(asset: str, partition: str | None) -> str:
    """Returns the name of the lease of a partition."""
    return f"{asset}/{partition or UNPARTITIONED}"


_ENCODER = msgspec.json.Encoder(enc_hook=dict)  # msgspec knows every type in a record except packed digests.
_RECORD = msgspec.json.Decoder(Record)
_CHECK = re.compile(rb',\n "check": "([0-9a-f]{32})"\n}')
_CHECK_BYTES = len(b',\n "check": ""\n}') + 32


class DamageError(ValueError):
    """A record or snapshot is not as it was written."""


DAMAGE = (DamageError, msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def encode_record(record: Record) -> bytes:
    """Returns a record as JSON, whose last value `check` is the digest of all bytes before it."""
    head = msgspec.json.format(_ENCODER.encode(record), indent=1).removesuffix(b"\n}")
    return head + b',\n "check": "' + content_digest(head).encode() + b'"\n}'


def decode_record(content: bytes) -> Record:
    """Returns the record of a file; raises one of `DAMAGE` if it is not what was written."""
    tail = _CHECK.fullmatch(content[-_CHECK_BYTES:])
    if tail is None or content_digest(content[:-_CHECK_BYTES]) != tail[1].decode():
        raise DamageError("its check does not match")
    return _RECORD.decode(content).packed()
