"""All stages of the corpus in one list, folder by folder, and those of the user's own modules."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from corpus_assets.attributes.assets import attribute_stages
from corpus_assets.attributes.registry import known_taggers
from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.contamination.assets import contamination_stages
from corpus_assets.dedup.assets import STAGES as DEDUP
from corpus_assets.mix.assets import mix_stages
from corpus_assets.normalize.assets import STAGES as NORMALIZE
from corpus_assets.raw.assets import STAGES as RAW
from corpus_assets.raw.assets import example_stages
from corpus_assets.raw.items import item_stages
from corpus_assets.split.assets import STAGES as SPLIT
from corpus_assets.tokenize.assets import token_stages
from resources.errors import ConfigError
from resources.own_code import own_module
from resources.stage.declaration import Stage
from resources.tagger import Tagger


def corpus_stages(config: CorpusConfig, folder: Path) -> Iterator[Stage]:
    """Yields every built-in stage, in the order the data flows, then those of each configured dataset.

    folder: that of corpus.yaml, where modules with taggers of the user's own may lie.
    """
    tagged = [entry.model_dump() for entry in config.attributes]
    attributes = attribute_stages(tagged, known_taggers(_own_taggers(config.taggers, folder)))
    benchmarks = [benchmark.model_dump() for benchmark in config.benchmarks]
    contamination = (*item_stages(benchmarks), *contamination_stages(benchmarks))
    datasets = [dataset.model_dump() for dataset in config.datasets]
    corpus = (*RAW, *NORMALIZE, *attributes, *contamination, *DEDUP, *mix_stages(config.mix.leave_out), *SPLIT)
    yield from corpus if config.sources else (stage for stage in RAW if stage.lists_shards)
    yield from example_stages(datasets)
    yield from token_stages(datasets, config.tokenizer.kind)


def _own_taggers(modules: Sequence[str], folder: Path) -> Iterator[Tagger]:
    for name in modules:
        taggers = getattr(own_module(name, "taggers", folder), "TAGGERS", None)
        if not isinstance(taggers, list | tuple) or not all(isinstance(tagger, Tagger) for tagger in taggers):
            raise ConfigError(f"taggers: module {name!r} needs a list TAGGERS of resources.Tagger")
        yield from taggers


def own_stages(modules: Sequence[str], folder: Path) -> Iterator[Stage]:
    """Yields the stages of the user's own modules, each of which has a list STAGES.

    folder: that of corpus.yaml, where the modules may lie.
    """
    for name in modules:
        stages = getattr(own_module(name, "stages", folder), "STAGES", None)
        if not isinstance(stages, list | tuple) or not all(isinstance(stage, Stage) for stage in stages):
            raise ConfigError(f"stages: module {name!r} needs a list STAGES of resources.Stage")
        yield from stages
