"""Looks at raw files: samples of every family, what each is, and why some cannot be read."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from corpus_assets.beginning.contents import UnreadError
from corpus_assets.beginning.families import KEPT, Family, families_of
from corpus_assets.beginning.places import Left, Place
from corpus_assets.beginning.readings import Reading, id_key, reading_of, why_none
from corpus_assets.beginning.rows import Row, Sample, sample_of
from corpus_assets.raw.rows.rules import FormatOptions
from resources.raw_places import RawPlace
from resources.raw_places.files import FoundFile, printable
from resources.shard_names import data_suffix
from resources.shards.left_out import is_unread

MOST_SAMPLED: Final = 200
"""Files that are looked at."""
MOST_OF_A_FILE: Final = 1 << 20
"""Bytes of values that are looked at in a file."""
_MOST_TOGETHER: Final = 64 << 20


@dataclass(frozen=True)
class Shape:
    """How the files of a family are read. Families of one shape may be one source."""

    reading: Reading
    format: str
    options: FormatOptions = FormatOptions()


@dataclass(frozen=True)
class Unread:
    """A file that is not read, or files of a family: the reason as a stable word, and in words."""

    path: str
    files: int
    reason: str
    words: str


@dataclass
class Looked:
    """What was seen of a family.

    shape: None if no file of it can be read. samples: of the files that were read. bad: files that cannot be read.
    is_beside: files describe data, and were not looked at.
    """

    family: Family
    shape: Shape | None = None
    samples: list[Sample] = field(default_factory=list)
    bad: list[Unread] = field(default_factory=list)
    is_beside: bool = False

    @property
    def rows(self) -> list[Row]:
        """Returns all sampled rows."""
        return [row for sample in self.samples for row in sample.rows]

    @property
    def bad_rows(self) -> Counter[str]:
        """Returns how many sampled rows cannot be read, by reason."""
        return sum((Counter(sample.bad) for sample in self.samples), Counter[str]())


@dataclass(frozen=True)
class Look:
    """What was seen of a place. sampled: how many files were read. left: what was left out of the listing."""

    place: Place
    families: Sequence[Looked]
    sampled: int
    left: Left

    @property
    def files(self) -> int:
        """Returns the number of files."""
        return sum(one.family.files for one in self.families)

    @property
    def bytes(self) -> int:
        """Returns the bytes of all files."""
        return sum(one.family.bytes for one in self.families)


def look_at(place: Place, most_files: int = MOST_SAMPLED, say: Callable[[int, int], None] | None = None) -> Look:
    """Returns what was seen of a place; reads up to `most_files` files, of each family at least one, if it can.

    Files beside data, such as READMEs, are looked at if nothing else can be read. say: is told how many files of how
    many were looked at.
    """
    left = Left()
    families = families_of(place.files(left))
    data = [family for family in families if not _is_beside(family)]
    seen = _seen(place, data, most_files, say)
    beside = [family for family in families if _is_beside(family)]
    if any(looked.shape for looked in seen):
        seen += map(_passed_over, beside)
    else:
        seen += _seen(place, beside, most_files, say)
    sampled = sum(len(looked.samples) + len(looked.bad) for looked in seen if not looked.is_beside)
    return Look(place, sorted(seen, key=lambda one: (one.family.folder, one.family.glob)), sampled, left)


def _is_beside(family: Family) -> bool:
    """Returns whether files describe data, and are none."""
    samples = family.samples
    return bool(samples) and data_suffix(samples[0].path) is None and not is_unread(samples[0])


def _passed_over(family: Family) -> Looked:
    unread = Unread(printable(family.samples[0].path), family.files, "beside", "describes data, by its name")
    return Looked(family, bad=[unread], is_beside=True)


def _seen(
    place: Place, families: Sequence[Family], most_files: int, say: Callable[[int, int], None] | None
) -> list[Looked]:
    chosen = _chosen(families, most_files)
    count = sum(map(len, chosen.values()))
    most_bytes = min(MOST_OF_A_FILE, _MOST_TOGETHER // max(1, count))
    opened, done, seen = place.opened(), 0, []
    for number, family in enumerate(families):
        looked = Looked(family)
        for file in chosen.get(number, ()):
            _look(looked, opened, file, most_bytes)
            done += 1
            if say is not None:
                say(done, count)
        _settle(looked)
        seen.append(looked)
    _guess_unsampled(seen)
    return seen


def _chosen(families: Sequence[Family], most: int) -> dict[int, list[FoundFile]]:
    """Returns the files to look at, by number of family: one of each, the largest families first, then further ones."""
    order = sorted(range(len(families)), key=lambda number: (-families[number].bytes, number))
    chosen: dict[int, list[FoundFile]] = {}
    left = most
    for turn in range(KEPT if len(families) < KEPT else 3):
        for number in order:
            samples = families[number].samples
            if turn < len(samples) and left:
                chosen.setdefault(number, []).append(samples[turn])
                left -= 1
    return chosen


def _look(looked: Looked, place: RawPlace, file: FoundFile, most_bytes: int) -> None:
    path = printable(file.path)
    try:
        sample = sample_of(place, file, most_bytes)
    except UnreadError as error:
        looked.bad.append(Unread(path, 1, error.reason, str(error)))
        return
    if sample.needs:
        words = f"holds HTML, and no extractor is installed: pip install 'corpus-assets[{sample.needs}]'"
        looked.bad.append(Unread(path, 1, "no_extractor", words))
    elif not sample.rows:
        reason, words = ("bad_rows", sample.example) if sample.bad else ("no_rows", "has no rows")
        looked.bad.append(Unread(path, 1, reason, words))
    else:
        looked.samples.append(sample)


def _settle(looked: Looked) -> None:
    """Gives a family the shape of most of its samples; samples of another one become files that cannot be read."""
    shapes = [(sample, _shape(sample)) for sample in looked.samples]
    known = Counter(shape for _, shape in shapes if shape is not None)
    best = max(known, key=lambda shape: known[shape], default=None)
    looked.samples = [sample for sample, shape in shapes if shape is not None and shape == best]
    for sample, shape in shapes:
        if shape is None:
            looked.bad.append(Unread(sample.path, 1, "no_text", why_none(sample.rows)))
        elif shape != best:
            keys = ", ".join(map(str, sample.rows[0]))[:200]
            looked.bad.append(Unread(sample.path, 1, "other_keys", f"has other keys than files of like names: {keys}"))
    if best is not None:
        reading = replace(best.reading, id=id_key(looked.rows, best.reading))
        looked.shape = replace(best, reading=reading)


def _shape(sample: Sample) -> Shape | None:
    """Returns how a file is read, without the key of ids, in which files may differ."""
    reading = reading_of(sample.rows)
    return reading and Shape(reading, sample.format, sample.options)


def _guess_unsampled(seen: Sequence[Looked]) -> None:
    """Gives families that were not looked at the shape of those with their suffix, the nearest first."""
    for looked in seen:
        if looked.shape is None and not looked.bad and looked.family.samples:
            alike = [one for one in seen if one.samples and one.family.suffix == looked.family.suffix]
            nearest = max(alike, key=lambda one: _nearness(one.family, looked.family), default=None)
            looked.shape = nearest and nearest.shape


def _nearness(one: Family, other: Family) -> int:
    return len(os.path.commonprefix([one.folder.split("/"), other.folder.split("/")]))  # noqa: RUF071 -- of lists
