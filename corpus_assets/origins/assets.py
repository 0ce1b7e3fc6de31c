"""Stages of origins: counts of each chunk of train, and the sums of all; present with `origins`."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from corpus_assets import dataset_names as names
from corpus_assets.config.selection.attributes import key_prefix
from corpus_assets.origins.counting import TRAIN, origin_counts
from corpus_assets.origins.hooks import CountsHooks, LanguageHooks
from corpus_assets.origins.languages import LANGUAGE_SCORES, LANGUAGES, language_scores, languages
from corpus_assets.origins.sums import COUNTS, origins
from resources.errors import ConfigError
from resources.stage.declaration import Partitioning, Stage, every, same
from resources.stage.graph import did_you_mean
from resources.stage.hooks import Values

NAME = "origins"


def tokenizers_of_train(datasets: Iterable[Mapping[str, Any]], known: Collection[str]) -> list[str]:
    """Returns the tokenizers of the datasets that are made of train, of those that exist, in order."""
    of_train = (entry["name"] for entry in datasets if entry["input"] == TRAIN)
    wanted = (one for name in of_train for one in (names.tokenizer(name), names.SHARED_TOKENIZER))
    return [name for name in wanted if name in known]


def origin_stages(settings: Values, tokenizers: Sequence[str]) -> Iterator[Stage]:
    """Yields the two stages; none without the section. tokenizers: assets, of which the first tokenizes, if any."""
    section = settings["origins"]
    if section is None or not settings["sources"]:
        return
    tokenizer = tokenizers[0] if tokenizers and section["tokens"] else ""
    yield Stage(
        name=COUNTS,
        group="origins",
        unit_in="documents",
        unit_out="hosts",
        description="Documents, text and tokens of one chunk of train by source, domain and host.",
        partitioning=Partitioning.CHUNK,
        compute=partial(origin_counts, tokenizer=tokenizer),
        code_version="1",
        io="records",
        inputs=(same(TRAIN), *([same(tokenizer)] if tokenizer else ())),
        parameters=("origins.url_keys",),
        hooks=CountsHooks(tokenizer),
        kinds=("jsonl",),
    )
    yield Stage(
        name=NAME,
        group="origins",
        unit_in="hosts",
        unit_out="domains",
        description="Domains, hosts, suffixes and years of all documents of train, the largest of each source first.",
        partitioning=Partitioning.NONE,
        compute=partial(origins, has_tokens=bool(tokenizer)),
        code_version="1",
        io="records",
        inputs=(every(COUNTS),),
        parameters=("origins.most",),
        kinds=("json",),
    )


def language_stages(language: str | None, entries: Sequence[str]) -> Iterator[Stage]:
    """Yields the two stages of scores by language; none without an attribute of languages.

    language: ENTRY.TAGGER. entries: all of `attributes`. `ConfigError` for an entry that there is not.
    """
    if language is None:
        return
    entry, _, tagger = language.rpartition(".")
    if entry not in entries:
        known = f"attributes are: {', '.join(entries)}" if entries else "`attributes` has no entry"
        raise ConfigError(f"origins.language: no attribute named {entry!r}{did_you_mean(entry, entries)}; {known}")
    read = tuple(map(names.attributes, entries))
    yield Stage(
        name=LANGUAGE_SCORES,
        group=NAME,
        unit_in="documents",
        unit_out="languages",
        description="Histograms of the scores of one shard's documents, by their language.",
        partitioning=Partitioning.SHARD,
        compute=partial(language_scores, assets=read),
        code_version="1",
        io="records",
        inputs=tuple(map(same, read)),
        hooks=LanguageHooks(f"{key_prefix(entry)}__{key_prefix(tagger)}__"),
        kinds=("json",),
    )
    yield Stage(
        name=LANGUAGES,
        group=NAME,
        unit_in="languages",
        unit_out="languages",
        description="Histograms of the scores of all documents, by source and language.",
        partitioning=Partitioning.NONE,
        compute=languages,
        code_version="1",
        io="records",
        inputs=(every(LANGUAGE_SCORES),),
        kinds=("json",),
    )
