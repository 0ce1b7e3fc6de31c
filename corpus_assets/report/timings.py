"""How long partitions took and how large they are stored: numbers that differ from build to build."""

from heapq import nlargest
from typing import Any, NamedTuple

from corpus_assets.report.records import Built
from resources.ledger import partition_name

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
    slow = (
        Slow(partition_name(asset, partition.key), _seconds(partition.record.statistics), _bytes(partition))
        for asset, partitions in built.items()
        for partition in partitions
    )
    created = [partition.record.created for partitions in built.values() for partition in partitions]
    versions: dict[str, set[str]] = {}
    for partitions in built.values():
        for held in {tuple(sorted(partition.record.versions.items())) for partition in partitions}:
            for program, version in held:
                versions.setdefault(program, set()).add(version)
    return Timings(
        assets=[_timing(built, asset) for asset in built],
        slowest=nlargest(SLOWEST, slow, key=lambda one: one.seconds),
        made=(min(created, default=""), max(created, default="")),
        versions={program: sorted(found) for program, found in sorted(versions.items())},
    )


def _timing(built: Built, asset: str) -> Timing:
    numbers = [partition.record.statistics for partition in built[asset]]
    return Timing(
        asset=asset,
        partitions=len(numbers),
        seconds=sum(map(_seconds, numbers)),
        cpu_seconds=sum(float(one.get("cpu_seconds", 0)) for one in numbers),
        compile_seconds=sum(float(one.get("compile_seconds", 0)) for one in numbers),
        text_bytes=sum(one.get("text_bytes") or 0 for one in numbers),
        stored=sum(file.bytes for partition in built[asset] for file in partition.record.files),
    )


def _seconds(statistics: dict[str, Any]) -> float:
    return float(statistics.get("seconds", 0))


def _bytes(partition: Any) -> int | None:
    found = partition.record.statistics.get("text_bytes")
    return None if found is None else int(found)
