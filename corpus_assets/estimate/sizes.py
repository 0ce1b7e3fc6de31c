"""The sizes of samples and of the whole: bytes of text by source, and the input of stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from corpus_assets import dataset_names
from corpus_assets.config.tokenizers import TrainedTokenizer
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.estimate.extrapolation import Point, in_proportion
from corpus_assets.estimate.sample_builds import SOURCES, Measured
from resources.shards.listing import Listing
from resources.stage.declaration import Stage


@dataclass(frozen=True)
class Samples:
    """The sample builds. cold: a small one with new workers. small: one as large with the same workers. blocks: larger.

    factors: by source or dataset, how many times as many raw bytes the whole has as the files that were read.
    """

    cold: Measured
    small: Measured
    blocks: Sequence[Measured]
    factors: Mapping[str, float] = field(default_factory=dict)


class Sizes:
    """Bytes of text by source or dataset, in samples and in the whole."""

    def __init__(self, corpus: Corpus, samples: Samples) -> None:
        self._own = {one["name"] for one in corpus.settings.inputs()}
        self._groups = {dataset_names.group(name): name for name in self._own}
        self.samples = samples
        self._factors = samples.factors
        self._caps = dict(_trained(corpus))

    def of(self, stage: Stage) -> str:
        """Returns the name under which the texts that a stage is made of are counted."""
        found: str = self._groups.get(stage.group, SOURCES)
        return found

    def text(self, measured: Measured, name: str) -> float:
        """Returns the bytes of text in a sample. A sample without any counts as one byte."""
        return max(1.0, sum(read.text for source, read in measured.read.items() if self.is_of(source, name)))

    def whole(self, name: str) -> float:
        """Returns the bytes of text in the whole."""
        read = self.samples.cold.read.items()
        return max(1.0, sum(one.all_text * self.factor(source) for source, one in read if self.is_of(source, name)))

    def share(self, measured: Measured) -> float:
        """Returns the share of the rows of all sources that a sample has."""
        read = [(one, self.factor(source)) for source, one in measured.read.items() if self.is_of(source, SOURCES)]
        return sum(one.rows for one, _ in read) / max(1.0, sum(one.all_rows * factor for one, factor in read))

    def factor(self, source: str) -> float:
        """Returns how many times as many raw bytes a source has as the files of it that were read."""
        return self._factors.get(source, 1.0)

    def is_of(self, source: str, name: str) -> bool:
        """Returns whether the texts of a source, or of a dataset's own files, are counted under a name."""
        return source == name or (name == SOURCES and source not in self._own)

    def at(self, measured: Measured, stage: Stage) -> float:
        """Returns the bytes of text that a stage worked on in a sample."""
        cap = self._caps.get(stage.name)
        return self.text(measured, self.of(stage)) if cap is None else max(1.0, min(cap, measured.train_text))

    def whole_at(self, stage: Stage) -> float:
        """Returns the bytes of text that a stage works on in the whole; a tokenizer is trained on some of it."""
        cap = self._caps.get(stage.name)
        if cap is None:
            return self.whole(self.of(stage))
        blocks = [Point(self.text(one, SOURCES), one.train_text) for one in self.samples.blocks]
        return max(1.0, min(cap, in_proportion(blocks, self.whole(SOURCES)).value))


def _trained(corpus: Corpus) -> Iterator[tuple[str, int]]:
    """Yields the stages that train a tokenizer, each with the most bytes of text that it looks at."""
    chosen = [(dataset_names.tokenizer(one.name), one.tokenizer) for one in corpus.config.datasets]
    for name, tokenizer in [(dataset_names.SHARED_TOKENIZER, corpus.config.tokenizer), *chosen]:
        if isinstance(tokenizer, TrainedTokenizer):
            yield name, tokenizer.sample


def factors_of(listing: Listing, read: frozenset[str]) -> dict[str, float]:
    """Returns by source or dataset how many times as many raw bytes it has as those of its files that were read."""
    whole: dict[str, int] = {}
    taken: dict[str, int] = {}
    for shard in listing.shards:
        whole[shard.source] = whole.get(shard.source, 0) + shard.bytes
        taken[shard.source] = taken.get(shard.source, 0) + (shard.bytes if shard.key in read else 0)
    return {name: size / taken[name] if taken[name] else 1.0 for name, size in whole.items()}
