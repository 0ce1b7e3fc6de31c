"""Looks at raw files: samples of every family, what each is, and why some cannot be read."""

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from corpus_assets.beginning.looking.contents import UnreadError
from corpus_assets.beginning.looking.copies import copies_in
from corpus_assets.beginning.looking.families import KEPT, Family, families_of
from corpus_assets.beginning.looking.places import ALL, Left, Place
from corpus_assets.beginning.looking.readings import Reading, id_key, reading_of, why_none
from corpus_assets.beginning.looking.rows import Sample, sample_of
from corpus_assets.beginning.looking.values import Row
from corpus_assets.raw.readers import NO_OPTIONS
from corpus_assets.raw.rows.rules import FormatOptions
from resources.raw_places import RawPlace
from resources.raw_places.data_suffixes import data_suffix
from resources.raw_places.files import FoundFile, printable
from resources.shards.left_out import is_unread

NO_ROWS: Final = "no_rows"
MOST_SAMPLED: Final = 200
MOST_ELSEWHERE: Final = 50
"""Files that are looked at, of this machine and of others."""
MOST_OF_A_FILE: Final = 1 << 20
"""Bytes of values that are looked at in a file."""
_MOST_TOGETHER: Final = 64 << 20
_SOME: Final = 10
"""So many texts of one unknown suffix are data, whatever lies beside them."""
_MAY_BE_DATA: Final = (".md", ".py", ".sh")
_DESCRIBES: Final = re.compile(r"(?i)(readme|licen[cs]e|notice|copying|change(log|s)|contributing|citation|authors)\b")


@dataclass(frozen=True)
class Shape:
    """How the files of a family are read. Families of one shape may be one source."""

    reading: Reading
    format: str
    options: FormatOptions = NO_OPTIONS


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
    """What was seen of a place.

    sampled: how many files were read. left: what was left out of the listing. copies: files with the same bytes, a list
    for each content, among those that may be looked at on this machine.
    """

    place: Place
    families: Sequence[Looked]
    sampled: int
    left: Left
    copies: Sequence[Sequence[str]] = ()

    @property
    def files(self) -> int:
        """Returns the number of files."""
        return sum(one.family.files for one in self.families)

    @property
    def bytes(self) -> int:
        """Returns the bytes of all files."""
        return sum(one.family.bytes for one in self.families)


def look_at(place: Place, most_files: int | None = None, say: Callable[[int, int], None] | None = None) -> Look:
    """Returns what was seen of a place; reads up to `most_files` files, of each family at least one, if it can.

    Files beside data, such as READMEs, are looked at if nothing else can be read. most_files: by default `MOST_SAMPLED`
    of this machine, and `MOST_ELSEWHERE` of others. say: is told how many files of how many were looked at.
    """
    left = Left()
    most_files = most_files or (MOST_SAMPLED if place.is_local else MOST_ELSEWHERE)
    families = families_of(place.files(left))
    named = place.glob != ALL
    seen = _seen(place, [family for family in families if named or not _is_beside(family)], most_files, say)
    beside = [family for family in families if not named and _is_beside(family)]
    if any(looked.shape for looked in seen):
        _without_notes(seen)
        seen += map(_passed_over, beside)
    else:
        seen += _seen(place, [family for family in beside if _may_be_data(family)], most_files, say)
        seen += [_passed_over(family) for family in beside if not _may_be_data(family)]
    sampled = sum(len(looked.samples) + len(looked.bad) for looked in seen if not looked.is_beside)
    families = [one.family for one in seen if one.shape is not None] if place.is_local else []
    copies = copies_in(place.opened(), (file for family in families for file in family.samples))
    return Look(place, sorted(seen, key=lambda one: (one.family.folder, one.family.glob)), sampled, left, copies)


def _is_beside(family: Family) -> bool:
    """Returns whether files describe data, and are none."""
    samples = family.samples
    return bool(samples) and data_suffix(samples[0].path) is None and not is_unread(samples[0])


def _may_be_data(family: Family) -> bool:
    """Returns whether files that usually describe data may be the data, where there are no others."""
    name = family.samples[0].path.rpartition("/")[2]
    return name.lower().endswith(_MAY_BE_DATA) and not _DESCRIBES.match(name)


def _without_notes(seen: Sequence[Looked]) -> None:
    """Takes a few texts of no known suffix for notes beside data, if there are other files that can be read."""
    notes = [one for one in seen if one.shape and one.shape.format == "txt" and data_suffix(one.family.suffix) is None]
    if len(notes) == sum(one.shape is not None for one in seen):
        return
    for one in notes:
        if sum(other.family.files for other in notes if other.family.suffix == one.family.suffix) < _SOME:
            path = printable(one.family.samples[0].path)
            one.bad.append(Unread(path, one.family.files, "beside", "is a text of no known suffix, beside data"))
            one.shape, one.samples, one.is_beside = None, [], True


def _passed_over(family: Family) -> Looked:
    unread = Unread(printable(family.samples[0].path), family.files, "beside", "describes data, by its name")
    return Looked(family, bad=[unread], is_beside=True)


def _seen(
    place: Place, families: Sequence[Family], most_files: int, say: Callable[[int, int], None] | None
) -> list[Looked]:
    chosen = _chosen(families, most_files, KEPT if place.is_local and len(families) < KEPT else 3)
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


def _chosen(families: Sequence[Family], most: int, turns: int) -> dict[int, list[FoundFile]]:
    """Returns the files to look at, by number of family: one of each, the largest families first, then further ones.

    turns: most files of a family.
    """
    order = sorted(range(len(families)), key=lambda number: (-families[number].bytes, number))
    chosen: dict[int, list[FoundFile]] = {}
    left = most
    for turn in range(turns):
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
        reason, words = ("bad_rows", sample.example) if sample.bad else (NO_ROWS, "has no rows")
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
    if reading is None or _is_one_object(sample, reading):
        return None
    return Shape(reading, sample.format, sample.options)


def _is_one_object(sample: Sample, reading: Reading) -> bool:
    """Returns whether a file of no known suffix is one object, as settings are, and no row with a text."""
    lone = len(sample.rows) == 1 and not sample.is_long and sample.format.startswith("jsonl")
    return lone and data_suffix(sample.path) is None and reading.is_text and reading.text not in ("text", "content")


def _guess_unsampled(seen: Sequence[Looked]) -> None:
    """Gives families that were not looked at the shape of those with their suffix, the nearest first."""
    for looked in seen:
        if looked.shape is None and not looked.bad and looked.family.samples:
            alike = [one for one in seen if one.samples and one.family.suffix == looked.family.suffix]
            nearest = max(alike, key=lambda one: _nearness(one.family, looked.family), default=None)
            looked.shape = None if nearest is None else nearest.shape


def _nearness(one: Family, other: Family) -> int:
    return len(os.path.commonprefix([one.folder.split("/"), other.folder.split("/")]))  # noqa: RUF071 -- of lists
