"""The index files of a run: which there are, what megatron-core calls them, and what they hold.

Files are those of megatron-core 0.16.1 and 0.19.2 (`GPTDataset`, `BlendedDataset`, `BlendedMegatronDatasetBuilder`).
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from corpus_assets.megatron_cache import indices
from corpus_assets.megatron_cache.blends import PARTS, Blend, Bounds, normalized, samples_of, split_bounds
from corpus_assets.megatron_cache.folder import CacheFolder
from corpus_assets.megatron_cache.indices import order_of
from corpus_assets.megatron_cache.sequences import Sequences, sequences
from resources.errors import ConfigError

_MOST_PREFIXES = 32_766
_BLOCK = 1 << 22


@dataclass(frozen=True)
class Run:
    """What a run of Megatron asks for.

    split: `--split` of one blend for all parts; None where each part has a blend of its own, `part` then is whose.
    sizes: samples of train, valid and test. surplus: share of samples that prefixes of a blend have to spare.
    tokenizer: the `unique_identifiers` of Megatron's tokenizer. files: where the files of a prefix lie here.
    """

    blend: Blend
    sequence_length: int
    seed: int
    split: str | None
    part: str
    sizes: Sequence[int]
    surplus: float
    tokenizer: Mapping[str, Any]
    files: Callable[[str], Path] = Path


class Cache(NamedTuple):
    """One dataset of a run.

    base: what its files are called. prefix: None for a blend. asked: samples; None is an epoch.
    """

    base: str
    part: str
    prefix: str | None
    samples: int
    epochs: int | None
    asked: int | None


def write_caches(run: Run, folder: CacheFolder) -> Iterator[Cache]:
    """Writes the index files of every dataset of a run, and yields what each holds.

    `ConfigError` for a run that Megatron would not begin, or never; `BadFileError` for a damaged dataset.
    """
    prefixes, weights = run.blend
    if not 1 <= len(prefixes) <= _MOST_PREFIXES:
        raise ConfigError(f"{len(prefixes):,} prefixes were named; valid: 1 to {_MOST_PREFIXES:,}")
    opened = [sequences(prefix, run.files(prefix)) for prefix in prefixes]
    for part, bounds in _parts(run):
        writing = _Part(run, folder, part, bounds, run.sizes[PARTS.index(part)])
        if len(prefixes) == 1 and (weights is None or run.split is None):
            yield writing.one(opened[0], writing.size)[1]
        else:
            yield from writing.blend(opened)


def _parts(run: Run) -> Iterator[tuple[str, Bounds]]:
    """Yields each part that there is, and its documents as shares of all."""
    if run.split is None:
        yield run.part, (0.0, 1.0)
        return
    for part, bounds in zip(PARTS, split_bounds(run.split), strict=True):
        if bounds is not None:
            yield part, bounds


class _Part(NamedTuple):
    """One of train, valid and test. bounds: its documents as shares of all. size: its samples."""

    run: Run
    folder: CacheFolder
    part: str
    bounds: Bounds
    size: int

    def one(self, opened: Sequences, asked: int | None) -> tuple[dict[str, Any], Cache]:
        """Writes the files of one prefix; returns its identifiers too, which those of a blend repeat."""
        run = self.run
        identity = {
            "class": "GPTDataset",
            "dataset_path": opened.prefix,
            "num_samples": asked,
            "index_split": self.part,
            "random_seed": run.seed,
            "sequence_length": run.sequence_length,
            "split": run.split,
            "split_matrix": None if run.split is None else split_bounds(run.split),
            "tokenizer": run.tokenizer,
        }
        first, last = (round(share * float(len(opened.lengths))) for share in self.bounds)
        order = order_of(opened, (first, last), run.sequence_length, asked)
        base = self._described(identity)
        indices.write(order, run.seed, lambda name, shape, dtype: self.folder.array(base, name, shape, dtype))
        self.folder.finish(base)
        return identity, Cache(base, self.part, opened.prefix, order.samples, order.epochs, asked)

    def blend(self, opened: Sequence[Sequences]) -> Iterator[Cache]:
        """Writes the files of all prefixes, then those of their blend."""
        given = self.run.blend.weights
        shares = None if given is None else normalized(given)
        members, lengths = [], list[int]()
        for number, one in enumerate(opened):
            asked = None if shares is None else samples_of(shares[number], self.size, self.run.surplus)
            described, written = self.one(one, asked)
            members.append(described)
            lengths.append(written.samples)
            yield written
        if shares is None:
            if not all(lengths):
                empty = opened[lengths.index(0)].prefix
                raise ConfigError(f"{empty}: too few ids in {self.part} for one sample of {self.run.sequence_length:,}")
            size, weights = min(self.size, sum(lengths)), normalized(lengths)
        else:
            size = sum(samples_of(share, self.size, 0.0) for share in shares)
            # Megatron normalizes weights once for the prefixes and again for their blend.
            weights = normalized(shares)
        identity = {
            "class": "BlendedDataset",
            "datasets": members,
            "split": self.part,
            "weights": weights,
            "size": size,
        }
        base = self._described(identity)
        for one, used, there in zip(opened, self._draws(base, weights, size), lengths, strict=True):
            if used > there:
                raise ConfigError(
                    f"{one.prefix}: the blend draws {used:,} samples and it gives {there:,}; Megatron stops over that, "
                    "unless --mid-level-dataset-surplus is larger"
                )
        self.folder.finish(base)
        yield Cache(base, self.part, None, size, None, self.size)

    def _draws(self, base: str, weights: Sequence[float], size: int) -> list[int]:
        """Writes from which prefix each sample of a blend is; returns how many samples each gives."""
        from corpus_assets.megatron_cache.blending import blend

        drawn = np.zeros(len(weights), np.int64)
        datasets = self.folder.array(base, "dataset_index", (size,), np.int16)
        samples = self.folder.array(base, "dataset_sample_index", (size,), np.int64)
        for at in range(0, size, _BLOCK):
            blend(np.array(weights), at, drawn, datasets[at : at + _BLOCK], samples[at : at + _BLOCK])
        return [int(number) for number in drawn]

    def _described(self, identity: Mapping[str, Any]) -> str:
        """Writes the description that Megatron makes of a dataset, and returns the name that follows from it."""
        text = json.dumps(identity, indent=4)
        base = f"{hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()}-{identity['class']}-{self.part}"
        self.folder.text(base, "description.txt", text)
        return base
