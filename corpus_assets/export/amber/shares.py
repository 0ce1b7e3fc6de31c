"""Distributes windows to files: validation windows are drawn from each set, the others go round robin."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.amber_exports import AmberExport
from corpus_assets.tokenize.rows.shuffle import row_keys
from resources.errors import ConfigError
from resources.hashing import keyed_hash

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Share:
    """How the windows of one set are distributed.

    windows: how many it has.
    files: of training.
    validation: numbers of the windows for validation, ascending.
    used: windows from this one on are in no file.
    """

    source: str
    windows: int
    files: int
    validation: Ids
    used: int

    @property
    def unused(self) -> int:
        """Returns how many windows are in no file."""
        return self.windows - self.used

    def of_file(self, number: int) -> Ids:
        """Returns the windows of a training file, ascending: every `files`-th of those not for validation."""
        places = np.arange(number, self.used - len(self.validation), self.files)
        return places + np.searchsorted(self._left_before, places, side="right")

    @cached_property
    def _left_before(self) -> Ids:
        """Returns for each validation window how many others come before it."""
        return self.validation - np.arange(len(self.validation))


def shares(windows: Mapping[str, int], section: AmberExport, dataset: str) -> list[Share]:
    """Returns how the windows of all sets are distributed; `ConfigError` for a set with too few.

    windows: how many each set has, in the order of the sets.
    """
    generator = random.Random(section.seed)
    found = []
    for source, many in windows.items():
        if many < section.validation:
            raise ConfigError(
                f"datasets.{dataset}.validation: source {source!r} has {many:,} windows of {section.window:,} ids; "
                f"valid: at most that, received {section.validation:,}"
            )
        even = (many - section.validation) // section.chunks * section.chunks + section.validation
        used = many if section.uneven_chunks else even
        drawn = (
            generator.sample(range(used), section.validation)
            if section.draw == "python"
            else _keyed(source, section.seed, used, section.validation)
        )
        found.append(Share(source, many, section.chunks, np.array(sorted(drawn), np.int64), used))
    return found


def _keyed(source: str, seed: int, most: int, wanted: int) -> set[int]:
    """Returns `wanted` different numbers below `most`; at least half of them are left over, or are drawn to be."""
    few = min(wanted, most - wanted)
    drawn: set[int] = set()
    step = 0
    while len(drawn) < few:
        drawn.add(keyed_hash("amber validation", seed, source, step) % most)
        step += 1
    return drawn if few == wanted else set(range(most)) - drawn


@dataclass(frozen=True)
class OutputFile:
    """A file of windows: number of the set and of the window in it (lines,) for each line."""

    name: str
    sets: Ids
    windows: Ids

    def __len__(self) -> int:
        return len(self.sets)


def output_files(found: list[Share], section: AmberExport, turn: int, turns: int) -> Iterator[OutputFile]:
    """Yields every `turns`-th file from number `turn` on, those for training first."""
    many = section.chunks + (len(found) if section.has_valid_files else 0)
    for number in range(turn, many, turns):
        if number < section.chunks:
            yield _training_file(found, number, section)
        else:
            kind = number - section.chunks
            windows = found[kind].validation
            yield OutputFile(f"valid/{found[kind].source}", np.full(len(windows), kind), windows)


def _training_file(found: list[Share], number: int, section: AmberExport) -> OutputFile:
    parts = [share.of_file(number) for share in found]
    sets = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    windows = np.concatenate(parts) if parts else np.empty(0, np.int64)
    name = f"train/train_{number}"
    if section.shuffle:
        order = np.argsort(row_keys(section.seed, "amber", name, len(sets)))
        sets, windows = sets[order], windows[order]
    return OutputFile(name, sets, windows)
