"""How long partitions took and how large they are stored: numbers that differ from build to build."""

from collections.abc import Sequence
from heapq import nlargest
from typing import NamedTuple

from corpus_assets.report.records import Built
from resources.ledger.ledger import Record, partition_name

SLOWEST = 20


class Timing(NamedTuple):
    """The work of one asset. seconds: of all its partitions, as if one after the other. stored: bytes as compressed."""

    asset: str
    partitions: int
    seconds: float
    cpu_seconds: float
    compile_seconds: float
    text_bytes: int
    stored: int

    @property
    def rate(self) -> float | None:
        """Bytes of text per second of a worker, without compiling; None where none were counted or it took no time."""
        worked = self.seconds - self.compile_seconds
        return self.text_bytes / worked if self.text_bytes and worked > 0 else None


class Slow(NamedTuple):
    """A partition that took long."""

    name: str
    seconds: float
    text_bytes: int | None


class Timings(NamedTuple):
    """All that depends on the machine. made: from when to when the partitions were made. versions: of programs."""

    assets: list[Timing]
    slowest: list[Slow]
    made: tuple[str, str]
    versions: dict[str, list[str]]


def timings(built: Built) -> Timings:
    """Returns what the records say of work and sizes."""
    of_assets = {asset: [partition.record for partition in partitions] for asset, partitions in built.items()}
    named = ((asset, record) for asset, found in of_assets.items() for record in found)
    created = [record.created for found in of_assets.values() for record in found]
    # Thousands of records hold one object between them.
    versions = {id(record.versions): record.versions for found in of_assets.values() for record in found}
    programs = sorted({program for held in versions.values() for program in held})
    return Timings(
        assets=[_timing(asset, found) for asset, found in of_assets.items()],
        slowest=[_slow(asset, record) for asset, record in nlargest(SLOWEST, named, key=lambda one: _seconds(one[1]))],
        made=(min(created, default=""), max(created, default="")),
        versions={name: sorted({held[name] for held in versions.values() if name in held}) for name in programs},
    )


def _timing(asset: str, records: Sequence[Record]) -> Timing:
    seconds = cpu_seconds = compile_seconds = 0.0
    text_bytes = stored = 0
    for record in records:
        numbers = record.statistics
        seconds += numbers.get("seconds", 0)
        cpu_seconds += numbers.get("cpu_seconds", 0)
        compile_seconds += numbers.get("compile_seconds", 0)
        text_bytes += numbers.get("text_bytes") or 0
        for file in record.files:
            stored += file.bytes
    return Timing(asset, len(records), seconds, cpu_seconds, compile_seconds, text_bytes, stored)


def _slow(asset: str, record: Record) -> Slow:
    text_bytes = record.statistics.get("text_bytes")
    return Slow(
        partition_name(asset, record.partition), _seconds(record), None if text_bytes is None else int(text_bytes)
    )


def _seconds(record: Record) -> float:
    return float(record.statistics.get("seconds", 0))
