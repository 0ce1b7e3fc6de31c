"""What can be on a disk after a power cut, from the log of what reached it.

All that was written before the last flush is there. Of each later write a disk may have all, nothing, or some of its
sectors: it keeps them in a cache of its own, and writes them in an order of its own.
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import BinaryIO, Literal, NamedTuple

HEAD = struct.Struct("<BQQ")
WRITE, FLUSH, MARK = range(3)
"""As in `disk.py`, which is a script of its own."""

SECTOR = 512
How = Literal["nothing", "some", "all"]
HOWS: tuple[How, ...] = ("nothing", "some", "all")
"""How much of what was not flushed is there after the cut."""


class Entry(NamedTuple):
    """What reached the disk. offset and data: of a write; data: of a mark, its text."""

    kind: int
    offset: int = 0
    data: bytes = b""


def entries(log: BinaryIO) -> Iterator[Entry]:
    """Yields the entries of a log; one that was cut off at its end is none."""
    while len(head := log.read(HEAD.size)) == HEAD.size:
        kind, offset, size = HEAD.unpack(head)
        data = log.read(size)
        if len(data) == size:
            yield Entry(kind, offset, data)


@dataclass
class Cut:
    """A power cut. marks: texts of the marks before it. pending: writes that no flush followed."""

    place: int
    marks: list[str] = field(default_factory=list)
    pending: list[Entry] = field(default_factory=list)

    def lost(self, how: How, seed: int | str) -> Iterator[Entry]:
        """Yields what of the pending writes is there, in the order in which it was written."""
        chance = Random(f"{seed} {self.place} {how}")
        for write in self.pending if how != "nothing" else ():
            yield from [write] if how == "all" else some_sectors(write, chance)


def some_sectors(write: Entry, chance: Random) -> Iterator[Entry]:
    """Yields all, nothing, or the sectors before or after some place of a write."""
    kept = chance.randrange(4)
    sectors = -(-len(write.data) // SECTOR)
    middle = chance.randint(0, sectors) * SECTOR
    if kept == 0:
        yield write
    elif kept == 1:
        yield Entry(WRITE, write.offset, write.data[:middle])
    elif kept == 2:
        yield Entry(WRITE, write.offset + middle, write.data[middle:])


def cuts(log: BinaryIO, durable: BinaryIO, places: Sequence[int]) -> Iterator[Cut]:
    """Yields a cut before each of these entries (ascending), and leaves what was flushed until then in `durable`."""
    now, wanted = Cut(0), iter(places)
    goal = next(wanted, None)
    for place, entry in enumerate(entries(log)):
        while goal == place:
            durable.flush()
            yield Cut(place, now.marks, now.pending)
            goal = next(wanted, None)
        if entry.kind == WRITE:
            now.pending.append(entry)
        elif entry.kind == FLUSH:
            apply(now.pending, durable)
            now.pending.clear()
        else:
            now.marks.append(entry.data.decode())


def apply(writes: Iterable[Entry], image: BinaryIO) -> None:
    """Writes them to an image of the disk."""
    for write in writes:
        image.seek(write.offset)
        image.write(write.data)
    image.flush()


def between(log: Path, begin: str, count: int, seed: int | str) -> list[int]:
    """Returns `count` places for cuts after the mark `begin`, ascending; half of them beside a flush or a mark."""
    started = place = -1
    beside: list[int] = []
    with log.open("rb") as file:
        for place, entry in enumerate(entries(file)):
            if started < 0:
                started = place if entry == Entry(MARK, 0, begin.encode()) else started
            elif entry.kind != WRITE:
                beside += [place, place + 1]
    chance, anywhere = Random(f"{seed} places"), range(started + 1, place + 1)
    chosen = chance.sample(beside, min(len(beside), count // 2))
    return sorted({*chosen, *chance.sample(anywhere, min(len(anywhere), count - len(chosen)))})
