"""Names in corpus.yaml: each stands for one thing, and what is named is there."""

import re

from corpus_assets.config.datasets.masked_modes import MixedDataset
from corpus_assets.config.own_files import OwnFiles
from corpus_assets.config.selection.attribute_files import AttributeFiles
from corpus_assets.config.selection.dedupers import Deduper
from corpus_assets.config.whole.schema import Schema


def unique_names(config: Schema) -> None:
    """No two things of a kind have one name, or names that become one."""
    for what, names in (
        ("sources", [s.name for s in config.sources]),
        ("datasets", [d.name for d in config.datasets]),
        ("streams", [s.name for s in config.streams]),
        ("benchmarks", [b.name for b in config.benchmarks]),
    ):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{what}: {', '.join(map(repr, twice))} named twice; names must differ")
    if both := sorted(
        {s.name for s in config.sources} & {d.name for d in config.datasets if isinstance(d.input, OwnFiles)}
    ):
        raise ValueError(f"datasets: {both[0]!r} reads files of its own and is named like a source; rename one")
    folded: dict[str, str] = {}
    for name in (dataset.name for dataset in config.datasets):
        if (other := folded.setdefault(re.sub("[-.]", "_", name), name)) != name:
            raise ValueError(f"datasets: {other!r} and {name!r} differ by '-', '.' and '_' only; rename one")


def unlike_attributes(config: Schema) -> None:
    """Entries of attributes and dedupers write different keys."""
    known: dict[str, str] = {}
    named = [("attributes", entry.prefix, entry.name) for entry in config.attributes]
    for section, prefix, name in [*named, *(("dedupers", entry.prefix, entry.name) for entry in config.dedupers)]:
        if other := known.get(prefix):
            raise ValueError(f"{section}: {other!r} and {name!r} have the same keys; names must differ")
        known[prefix] = name
        if not config.sources:
            raise ValueError(f"{section}: there are no sources whose documents they could describe; give a source")


def beside_known_sources(config: Schema) -> None:
    """Files of attributes lie beside sources that are there."""
    names = [source.name for source in config.sources]
    for place, entry in enumerate(config.attributes):
        named = (entry.of_sources() if isinstance(entry, AttributeFiles) else None) or []
        if unknown := sorted(set(named) - set(names)):
            raise ValueError(f"attributes.{place}: no source named {unknown[0]!r}; valid: {', '.join(names)}")


def against_known_sources(config: Schema) -> None:
    """Dedupers look at sources that are there."""
    names = [source.name for source in config.sources]
    for place, entry in enumerate(config.dedupers):
        against = entry.against if isinstance(entry, Deduper) else None
        for key, given in (("against", against), ("sources", entry.sources)):
            if unknown := sorted(set(given or ()) - set(names)):
                raise ValueError(
                    f"dedupers.{place}.{key}: no source named {unknown[0]!r}; valid: {', '.join(names) or 'none'}"
                )


def examples_of_known_sources(config: Schema) -> None:
    """Classifiers learn from sources that are there."""
    names, known = [source.name for source in config.sources], dict[str, str]()
    for place, entry in enumerate(config.classifiers):
        if not names:
            raise ValueError("classifiers: there are no sources whose documents they could judge; give a source")
        if other := known.get(entry.prefix):
            raise ValueError(f"classifiers: {other!r} and {entry.name!r} have the same keys; names must differ")
        known[entry.prefix] = entry.name
        for label, examples in entry.classes.items():
            for number, one in enumerate(examples):
                if one.source is not None and one.source not in names:
                    raise ValueError(
                        f"classifiers.{place}.{label}.{number}: no source named {one.source!r}; valid: "
                        f"{', '.join(names)}, or a path with a `/`, or that ends in .jsonl"
                    )


def models_of_known_sources(config: Schema) -> None:
    """Language models learn from sources that are there."""
    names, known = [source.name for source in config.sources], dict[str, str]()
    for place, entry in enumerate(config.language_models):
        if other := known.get(entry.prefix):
            raise ValueError(f"language_models: {other!r} and {entry.name!r} have the same keys; names must differ")
        known[entry.prefix] = entry.name
        for number, source in enumerate(entry.sources):
            if source not in names:
                raise ValueError(
                    f"language_models.{place}.sources.{number}: no source named {source!r}; valid: "
                    f"{', '.join(names) or 'none'}"
                )


def unlike_benchmarks(config: Schema) -> None:
    """Benchmarks are named like nothing else, and have documents to be found in."""
    others = {d.name: "dataset" for d in config.datasets} | {s.name: "source" for s in config.sources}
    known: dict[str, str] = {}
    for entry in config.benchmarks:
        if entry.name in others:
            raise ValueError(f"benchmarks: {entry.name!r} is named like a {others[entry.name]}; rename one")
        if (other := known.setdefault(entry.key_part, entry.name)) is not entry.name:
            raise ValueError(f"benchmarks: {other!r} and {entry.name!r} have the same keys; names must differ")
    if config.benchmarks and not config.sources:
        raise ValueError("benchmarks: there are no sources that could hold their items; give a source")
    prefixes = {entry.prefix for entry in config.attributes} | {entry.prefix for entry in config.dedupers}
    if config.benchmarks and "contamination" in prefixes:
        raise ValueError("benchmarks: what is found is named 'contamination'; rename the entry of that name")
    if config.on_contamination != "report" and not config.benchmarks:
        raise ValueError(f"on_contamination: received {config.on_contamination!r}, but there are no benchmarks")


def known_weights(config: Schema) -> None:
    """Weights are of sources, and follow datasets, that are there."""
    names, before = [source.name for source in config.sources], list[str]()
    by_source = config.mix.units == "source"
    for place, dataset in enumerate(config.datasets):
        weights = getattr(dataset, "weights", None)
        if weights is None or not isinstance(dataset.input, str) or isinstance(dataset, MixedDataset):
            continue
        if weights.after not in (None, *before):
            valid = f"a dataset with weights that stands before: {', '.join(before) or 'none'}"
            raise ValueError(f"datasets.{place}.weights.after: received {weights.after!r}; valid: {valid}")
        before.append(dataset.name)
        unknown = sorted({name for name, share in weights.given().items() if share} - set(names))
        if by_source and unknown:
            raise ValueError(
                f"datasets.{place}.weights: no source named {unknown[0]!r}; valid: {', '.join(names) or 'none'}"
            )


def known_names(config: Schema) -> None:
    """The card and the sample name sources and datasets that are there."""
    own = [dataset.name for dataset in config.datasets if isinstance(dataset.input, OwnFiles)]
    names = [*(source.name for source in config.sources), *own]
    for key, given in (
        ("card.sources", config.card.sources if config.card else {}),
        ("sample.shares", config.sample.shares if config.sample else {}),
    ):
        if unknown := sorted(set(given) - set(names)):
            raise ValueError(
                f"{key}: no source or dataset with files of its own is named {unknown[0]!r}; valid: "
                f"{', '.join(names) or 'none'}"
            )


def known_priorities(config: Schema) -> None:
    """`dedup.priority` names each source once."""
    names = [source.name for source in config.sources]
    if unknown := [name for name in config.dedup.priority if name not in names]:
        raise ValueError(f"dedup.priority: no source named {unknown[0]!r}; valid: {', '.join(names)}")
    if len(set(config.dedup.priority)) < len(config.dedup.priority):
        raise ValueError("dedup.priority: a source is named twice")


CHECKS = (
    unique_names,
    unlike_attributes,
    beside_known_sources,
    against_known_sources,
    examples_of_known_sources,
    models_of_known_sources,
    unlike_benchmarks,
    known_weights,
    known_names,
    known_priorities,
)
