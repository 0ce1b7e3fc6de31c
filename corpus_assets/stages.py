"""All stages of the corpus in one list, folder by folder, and those of the user's own modules."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from corpus_assets.attributes.assets import asset_name, attribute_stages
from corpus_assets.attributes.buckets.stages import BUCKET, Read, bucket_stages
from corpus_assets.attributes.dedupers.assets import deduper_stages
from corpus_assets.attributes.files.stages import given_stages
from corpus_assets.attributes.registry import AnyTagger, known_taggers
from corpus_assets.attributes.semantic.assets import semantic_stages
from corpus_assets.attributes.semantic.vectors import place_of
from corpus_assets.attributes.substrings.assets import substring_stages
from corpus_assets.card.assets import card_stages
from corpus_assets.classifiers.assets import classifier_stages, classifier_taggers
from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.config.selection.attribute_files import AttributeFiles
from corpus_assets.config.selection.attributes import key_prefix
from corpus_assets.config.selection.dedupers import Deduper
from corpus_assets.config.selection.kinds.semantic import Semantic, is_function
from corpus_assets.config.selection.kinds.substrings import Substrings
from corpus_assets.config.selection.learned.score_buckets import ScoreBuckets
from corpus_assets.contamination.assets import contamination_stages
from corpus_assets.contamination.contamination_attributes import ANY_TYPES, ATTRIBUTE, ITEM_TYPES
from corpus_assets.contamination.removal import contamination_rules
from corpus_assets.dedup.assets import dedup_stages
from corpus_assets.dedup.left_out import beside_left_out
from corpus_assets.export.assets import export_stages
from corpus_assets.export.texts.assets import text_stages
from corpus_assets.filter.assets import after_filter, filter_stages, own_after_filter
from corpus_assets.filter.rules.configured import filter_rules
from corpus_assets.filter.rules.entries import Entries, Entry, labels_of, source_of
from corpus_assets.filter.rules.section import RuleSection
from corpus_assets.language_models.assets import language_model_stages, language_model_taggers
from corpus_assets.licences.gate import licence_rules, require_allowed
from corpus_assets.mix.assets import mix_stages
from corpus_assets.mix.units.dimensions import dimensions_of
from corpus_assets.mix.units.uses import uses_of
from corpus_assets.normalize.assets import NORMALIZED_DOCUMENTS, SHORT_DOCUMENTS
from corpus_assets.origins.assets import language_stages, origin_stages, tokenizers_of_train
from corpus_assets.raw.assets import STAGES as RAW
from corpus_assets.raw.assets import example_stages
from corpus_assets.raw.items import item_stages
from corpus_assets.report.assets import report_stages
from corpus_assets.split.assets import STAGES as SPLIT
from corpus_assets.streams.assets import stream_stages
from corpus_assets.takedown.assets import LIST_STAGE, examples_with_takedown, with_takedown
from corpus_assets.text_index.assets import SEARCH_INDEX
from corpus_assets.tokenize.assets import token_stages
from resources.documents.row_rule import RuleSet
from resources.errors import ConfigError
from resources.stage.declaration import Partitioning, Stage
from resources.user.modules import named, own_module


def corpus_stages(config: CorpusConfig, folder: Path) -> list[Stage]:
    """Returns every stage in the order the data flows: built-in ones, those of datasets, those of the user's own.

    folder: that of corpus.yaml, where modules of the user's own may lie.
    """
    own = list(_own_stages(config.stages, folder))
    _require_extractors(config, folder)
    # First, so that a wrong name of a tagger is reported where it is given, and not in a rule that uses it.
    tagged = [entry.model_dump() for entry in config.attributes]
    names = [source.name for source in config.sources]
    classifiers = [classifier.model_dump() for classifier in config.classifiers]
    models = [model.model_dump() for model in config.language_models]
    learned = (*classifier_taggers(classifiers), *language_model_taggers(models))
    taggers = known_taggers([*_own_taggers(config.taggers, folder), *learned])
    attributes = [
        *classifier_stages(classifiers),
        *language_model_stages(models),
        *attribute_stages(tagged, taggers),
        *given_stages(tagged, names),
    ]
    entries = _entries(config, own, taggers)
    attributes += bucket_stages(tagged, _reading(config, entries))
    filters = filter_stages(_rule_sets(config, entries)) if config.sources else []
    datasets = [dataset.model_dump() for dataset in config.datasets]
    require_allowed(config.licences.model_dump(), datasets)
    sections = [stream.model_dump() for stream in config.streams]
    streams = list(stream_stages(sections, entries, names))
    # Repetitions are found among filtered documents, unless a rule of the filter uses them.
    found_again = deduper_stages(one for one in config.dedupers if isinstance(one, Deduper))
    substrings = substring_stages(one for one in config.dedupers if isinstance(one, Substrings))
    alike = _meanings([one for one in config.dedupers if isinstance(one, Semantic)], folder)
    dedupers = own_after_filter([*found_again, *substrings, *alike], filters, streams)
    listed = (stage for stage in RAW if stage.lists_shards)
    found = [
        *([LIST_STAGE] if config.remove else ()),
        *(_corpus(config, [*attributes, *dedupers], filters, entries) if config.sources else listed),
        *(examples_with_takedown(example_stages(datasets)) if config.remove else example_stages(datasets)),
        *token_stages(datasets, config.tokenizer.kind),
        *export_stages(datasets, by_unit=config.mix.units != "source"),
        *text_stages(datasets),
        *streams,
        *own_after_filter(own, filters, streams),
    ]
    known = {stage.name for stage in found}
    if config.origins:
        found += origin_stages(config.model_dump(), tokenizers_of_train(datasets, known))
        found += language_stages(config.origins.language, [entry.name for entry in config.attributes])
    found = beside_left_out(found, config.mix.leave_out)
    papers = card_stages(config.model_dump(), found)
    return [*found, *report_stages(config, found), *papers]


def _corpus(
    config: CorpusConfig, described: Iterable[Stage], filters: Sequence[Stage], entries: Entries
) -> Iterator[Stage]:
    """Yields the stages from raw files to splits. described: attributes. filters: the stage of the filter, if any."""
    yield from RAW
    yield from with_takedown(NORMALIZED_DOCUMENTS) if config.remove else [NORMALIZED_DOCUMENTS]
    benchmarks = [benchmark.model_dump() for benchmark in config.benchmarks]
    yield from (*item_stages(benchmarks), *contamination_stages(benchmarks))
    yield from [SEARCH_INDEX] if config.search_index else ()
    yield from described
    yield from filters
    units, uses = dimensions_of(config.mix.units, entries), uses_of(config.mix, entries)
    mix = mix_stages(config.mix.leave_out, units, uses)
    dedup = dedup_stages(config.dedup.rule, config.dedup.template_share)
    yield from after_filter((SHORT_DOCUMENTS, *dedup, *mix, *SPLIT), filters)


def _rule_sets(config: CorpusConfig, entries: Entries) -> list[RuleSet]:
    """Returns all sets of row rules that the filter asks, in that order."""
    section = config.filter and RuleSection(config.filter.model_dump(), entries)
    asked = filter_rules(section) if section else ()
    licences = licence_rules(config.licences.model_dump())
    return [*licences, *asked, *contamination_rules(config.on_contamination)]


def _entries(config: CorpusConfig, own: Iterable[Stage], taggers: Mapping[str, AnyTagger]) -> dict[str, Entry]:
    """Returns the attributes that rules may name: of taggers, of dedupers, and of stages of the user's own."""
    described = (stage.name for stage in own if (stage.partitioning, stage.io) == (Partitioning.SHARD, "documents"))
    entries = {name: Entry(name) for name in described}
    for entry in config.attributes:
        if isinstance(entry, AttributeFiles):
            entries[entry.name] = Entry(asset_name(entry.name))
            continue
        if isinstance(entry, ScoreBuckets):
            entries[entry.name] = Entry(asset_name(entry.name), {BUCKET: tuple(entry.buckets)})
            continue
        types = {key_prefix(name): taggers[name].types for name in entry.taggers}
        entries[entry.name] = Entry(asset_name(entry.name), types)
    for one in config.dedupers:
        if isinstance(one, Substrings):
            entries[one.name] = Entry(asset_name(one.name), {"substrings": one.types})
        elif isinstance(one, Semantic):
            entries[one.name] = Entry(asset_name(one.name), {"semantic": ("duplicate",)})
        else:
            entries[one.name] = Entry(asset_name(one.name), {key_prefix(one.by): ()}, one.key)
    if config.benchmarks:
        of_items = {key_prefix(benchmark.name): ITEM_TYPES for benchmark in config.benchmarks}
        entries[ATTRIBUTE] = Entry(asset_name(ATTRIBUTE), {**ANY_TYPES, **of_items})
    return entries


def _reading(config: CorpusConfig, entries: Entries) -> dict[str, Read]:
    """Returns what each entry with buckets reads; `ConfigError` for an attribute that does not exist.

    These are entries of `attributes` without buckets: they describe all documents, before the filter.
    """
    known = {entry.name: entries[entry.name] for entry in config.attributes if not isinstance(entry, ScoreBuckets)}
    found = {}
    for place, entry in enumerate(config.attributes):
        if isinstance(entry, ScoreBuckets):
            for key, name in (("score", entry.score.rsplit(".", 2)[0]), ("by", (entry.by or "").rpartition(".")[0])):
                if name in entries and name not in known:
                    raise ConfigError(
                        f"attributes.{place}.{key}: {name!r} has buckets itself, or marks what is repeated; valid: "
                        f"entries with taggers or files: {', '.join(known)}"
                    )
            score = source_of(entry.score, known, f"attributes.{place}.score")
            labels = labels_of(entry.by, known, f"attributes.{place}.by") if entry.by else None
            found[entry.name] = Read(score.asset, score.key, (labels.asset, labels.key) if labels else None)
    return found


def _own_taggers(modules: Sequence[str], folder: Path) -> Iterator[AnyTagger]:
    for name in modules:
        taggers = getattr(own_module(name, "taggers", folder), "TAGGERS", None)
        if not isinstance(taggers, list | tuple) or not all(isinstance(tagger, AnyTagger) for tagger in taggers):
            raise ConfigError(f"taggers: module {name!r} needs a list TAGGERS of resources.Tagger or BatchTagger")
        yield from taggers


def _require_extractors(config: CorpusConfig, folder: Path) -> None:
    """Imports the extractors of the user's own; `ConfigError` names the section of one that cannot be imported."""
    inputs = [(f"datasets.{one.name}.input", one.input) for one in config.datasets]
    for place, section in [*((f"sources.{one.name}", one) for one in config.sources), *inputs]:
        names = getattr(section, "extractor", None) or []
        for name in [names] if isinstance(names, str) else names:
            if ":" in name and not callable(named({}, name, f"{place}.extractor", folder)):
                raise ConfigError(f"{place}.extractor: {name!r} is no function")


def _meanings(rules: Sequence[Semantic], folder: Path) -> Iterator[Stage]:
    """Yields the stages of documents that mean the same; `ConfigError` names an entry whose module cannot be used."""
    for rule in rules:
        if is_function(rule.model):
            own_module(rule.model.partition(":")[0], place_of(rule), folder)
    yield from semantic_stages(rules)


def _own_stages(modules: Sequence[str], folder: Path) -> Iterator[Stage]:
    """Yields the stages of the user's own modules, each of which has a list STAGES."""
    for name in modules:
        stages = getattr(own_module(name, "stages", folder), "STAGES", None)
        if not isinstance(stages, list | tuple) or not all(isinstance(stage, Stage) for stage in stages):
            raise ConfigError(f"stages: module {name!r} needs a list STAGES of resources.Stage")
        yield from stages
