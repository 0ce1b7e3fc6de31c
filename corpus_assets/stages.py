"""All stages of the corpus in one list, folder by folder."""

from collections.abc import Iterator

from corpus_assets.config import CorpusConfig
from corpus_assets.dedup.assets import STAGES as DEDUP
from corpus_assets.mix.assets import STAGES as MIX
from corpus_assets.normalize.assets import STAGES as NORMALIZE
from corpus_assets.raw.assets import STAGES as RAW
from corpus_assets.raw.assets import example_stages
from corpus_assets.split.assets import STAGES as SPLIT
from corpus_assets.tokenize.assets import token_stages
from resources.graph import Stage


def corpus_stages(config: CorpusConfig) -> Iterator[Stage]:
    """Every built-in stage, in the order the data flows, then one per configured dataset."""
    datasets = [dataset.model_dump() for dataset in config.datasets]
    corpus = (*RAW, *NORMALIZE, *DEDUP, *MIX, *SPLIT)
    yield from corpus if config.sources else (stage for stage in RAW if stage.name == "inventory")
    yield from example_stages(datasets)
    yield from token_stages(datasets, config.tokenizer.kind)
