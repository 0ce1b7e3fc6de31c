"""What an audit found, as it is kept in the store for the pages: no record names the file, and no stage reads it."""

import msgspec

from corpus_assets.report.audit.judged import Judged, Share, wrong_share
from resources.ledger.records import Record
from resources.storage.interface import Storage

FILE = "audit/dedup.json"
BARS = 40
"""Bars of a histogram of similarity over 0 to 1."""

MOST_BYTES = 1 << 24


class Band(msgspec.Struct):
    """Removed documents of a source and band of similarity, how many were judged, how many of these were wrong.

    unsure: documents about which nobody could say; they are not among the judged ones.
    """

    removed: int
    judged: int = 0
    wrong: int = 0
    unsure: int = 0


class Source(msgspec.Struct):
    """The removed documents of a source: all, and those with the text of the kept one, which nobody need judge.

    bands: the others by band. bars: the others by estimated similarity, in bars of equal width from 0 to 1. nearest:
    kept documents by the similarity of the nearest other kept one, in the same bars. held: documents that went because
    the kept one holds them, by the share that it has, in the same bars.
    """

    removed: int
    equal: int
    bands: dict[str, Band]
    bars: list[int]
    nearest: list[int] = []
    held: list[int] = []

    @property
    def judged(self) -> int:
        """Documents that were judged."""
        return sum(band.judged for band in self.bands.values())

    @property
    def wrong(self) -> int:
        """Judged documents that were removed wrongly."""
        return sum(band.wrong for band in self.bands.values())

    @property
    def unsure(self) -> int:
        """Documents about which nobody could say."""
        return sum(band.unsure for band in self.bands.values())

    def share(self) -> Share | None:
        """Returns the share of the removed documents with other texts that should have stayed."""
        return wrong_share({name: Judged(one.removed, one.judged, one.wrong) for name, one in self.bands.items()})


class Result(msgspec.Struct):
    """What is known of the removed documents of a build, by source. build: of the clusters."""

    build: str
    sources: dict[str, Source]

    @property
    def judged(self) -> int:
        """Documents that were judged."""
        return sum(source.judged for source in self.sources.values())


def build_of(components: Record) -> str:
    """Returns what identifies the clusters of a record: the first digits of the digest of their content."""
    return components.digest[:16]


def keep(storage: Storage, result: Result) -> None:
    """Writes a result, over an earlier one."""
    storage.write(FILE, msgspec.json.encode(result))


def kept(storage: Storage, build: str) -> Result | None:
    """Returns the result that is kept for a build; None if there is none, or it is damaged or of another build."""
    stat = storage.stat(FILE)
    if stat is None or stat.bytes > MOST_BYTES:
        return None
    try:
        with storage.open(FILE) as file:
            return decoded(file.read(), build)
    except FileNotFoundError:  # No other error: a drawn sheet would take the place of what was judged.
        return None


def decoded(content: bytes, build: str) -> Result | None:
    """Returns the result in a file; None if it is damaged or of another build."""
    try:
        found = msgspec.json.decode(content, type=Result)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if found.build == build else None
