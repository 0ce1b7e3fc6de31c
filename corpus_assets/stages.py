"""All stages of the corpus in one list, folder by folder, and those of the user's own modules."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from corpus_assets.attributes.assets import asset_name, attribute_stages
from corpus_assets.attributes.dedupers.assets import deduper_stages
from corpus_assets.attributes.registry import known_taggers
from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.contamination.assets import contamination_stages
from corpus_assets.contamination.contamination_attributes import ATTRIBUTE
from corpus_assets.contamination.removal import contamination_rules
from corpus_assets.dedup.assets import STAGES as DEDUP
from corpus_assets.filter.assets import after_filter, filter_stages, own_after_filter
from corpus_assets.filter.rules.configured import configured_rules
from corpus_assets.filter.rules.entries import Entry
from corpus_assets.mix.assets import mix_stages
from corpus_assets.normalize.assets import NORMALIZED_DOCUMENTS, SHORT_DOCUMENTS
from corpus_assets.raw.assets import STAGES as RAW
from corpus_assets.raw.assets import example_stages
from corpus_assets.raw.items import item_stages
from corpus_assets.split.assets import STAGES as SPLIT
from corpus_assets.tokenize.assets import token_stages
from resources.errors import ConfigError
from resources.own_code import own_module
from resources.row_rule import RuleSet
from resources.stage.declaration import Partitioning, Stage
from resources.tagger import Tagger


def corpus_stages(config: CorpusConfig, folder: Path) -> list[Stage]:
    """Returns every stage in the order the data flows: built-in ones, those of datasets, those of the user's own.

    folder: that of corpus.yaml, where modules of the user's own may lie.
    """
    own = list(_own_stages(config.stages, folder))
    filters = filter_stages(_rule_sets(config, own)) if config.sources else []
    datasets = [dataset.model_dump() for dataset in config.datasets]
    return [
        *(_corpus(config, folder, filters) if config.sources else (stage for stage in RAW if stage.lists_shards)),
        *example_stages(datasets),
        *token_stages(datasets, config.tokenizer.kind),
        *own_after_filter(own, filters),
    ]


def _corpus(config: CorpusConfig, folder: Path, filters: Sequence[Stage]) -> Iterator[Stage]:
    """Yields the stages from raw files to splits. filters: the stage of the filter, if there is one."""
    tagged = [entry.model_dump() for entry in config.attributes]
    yield from (*RAW, NORMALIZED_DOCUMENTS)
    yield from attribute_stages(tagged, known_taggers(_own_taggers(config.taggers, folder)))
    yield from deduper_stages(config.dedupers)
    benchmarks = [benchmark.model_dump() for benchmark in config.benchmarks]
    yield from (*item_stages(benchmarks), *contamination_stages(benchmarks))
    yield from filters
    yield from after_filter((SHORT_DOCUMENTS, *DEDUP, *mix_stages(config.mix.leave_out), *SPLIT), filters)


def _rule_sets(config: CorpusConfig, own: Iterable[Stage]) -> list[RuleSet]:
    """Returns all sets of row rules that the configuration asks for, in the order in which the filter asks them."""
    return [
        *configured_rules(config.filter.model_dump() if config.filter else None, _entries(config, own)),
        *contamination_rules(config.on_contamination),
    ]


def _entries(config: CorpusConfig, own: Iterable[Stage]) -> dict[str, Entry]:
    """Returns the attributes that rules may name: entries of `attributes`, and attribute stages of the user's own."""
    described = (stage.name for stage in own if (stage.partitioning, stage.io) == (Partitioning.SHARD, "documents"))
    entries = {entry.name: Entry(asset_name(entry.name), entry.taggers) for entry in config.attributes}
    if config.benchmarks:
        entries[ATTRIBUTE] = Entry(asset_name(ATTRIBUTE))
    return {name: Entry(name) for name in described} | entries


def _own_taggers(modules: Sequence[str], folder: Path) -> Iterator[Tagger]:
    for name in modules:
        taggers = getattr(own_module(name, "taggers", folder), "TAGGERS", None)
        if not isinstance(taggers, list | tuple) or not all(isinstance(tagger, Tagger) for tagger in taggers):
            raise ConfigError(f"taggers: module {name!r} needs a list TAGGERS of resources.Tagger")
        yield from taggers


def _own_stages(modules: Sequence[str], folder: Path) -> Iterator[Stage]:
    """Yields the stages of the user's own modules, each of which has a list STAGES."""
    for name in modules:
        stages = getattr(own_module(name, "stages", folder), "STAGES", None)
        if not isinstance(stages, list | tuple) or not all(isinstance(stage, Stage) for stage in stages):
            raise ConfigError(f"stages: module {name!r} needs a list STAGES of resources.Stage")
        yield from stages
