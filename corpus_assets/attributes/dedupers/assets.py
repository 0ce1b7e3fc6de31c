"""Stages of deduplication: hashes of each shard, which of them occurred earlier in the corpus, and the attribute."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from typing_extensions import override

from corpus_assets import dataset_names as names
from corpus_assets.attributes.dedupers import compiled
from corpus_assets.attributes.dedupers.earlier import seen
from corpus_assets.attributes.dedupers.hashes import HASHES, hashes, is_compared
from corpus_assets.attributes.dedupers.marks import is_scored_in_integers, marks
from corpus_assets.attributes.dedupers.subjects import PARTS
from corpus_assets.attributes.dedupers.unmatched import unmatched
from corpus_assets.config.selection.dedupers import Deduper
from resources.documents.looked_for import absent_names
from resources.formats.row_tables import NAMES, TEXTS
from resources.stage.declaration import Partitioning, Stage, every, own_segment, same
from resources.stage.hooks import Hooks, Values
from resources.stage.partition import Partition


def deduper_stages(rules: Iterable[Deduper]) -> Iterator[Stage]:
    """Yields the three stages of each entry of `dedupers`."""
    for rule in rules:
        yield _hashes(rule)
        yield _seen(rule)
        yield _marks(rule)


def _hashes(rule: Deduper) -> Stage:
    whole = rule.by != "text" and rule.by not in PARTS
    return Stage(
        name=f"{rule.name}_hashes",
        group=names.repetitions(rule.name),
        unit_in="documents",
        unit_out="parts",
        description=f"Hashes of what is compared by {rule.by}: "
        + ("each different one of a shard once, sorted." if rule.against is None else "all of a shard, in ranges."),
        partitioning=Partitioning.SHARD,
        compute=partial(hashes, rule=rule),
        code_version="1",
        io="arrays",
        inputs=(same("normalized_documents", segment=None if whole else TEXTS),),
        hooks=HashesHooks(rule),
        columns={"hash": "uint64[2]: of a document, paragraph or n-gram"},
        kinds=("numba",),
    )


def _seen(rule: Deduper) -> Stage:
    return Stage(
        name=f"{rule.name}_seen",
        group=names.repetitions(rule.name),
        unit_in="hashes",
        unit_out="hashes",
        description="Which hashes of each shard "
        + ("an earlier shard has too." if rule.against is None else f"those of {', '.join(rule.against)} have too."),
        partitioning=Partitioning.NONE,
        compute=partial(seen, rule=rule),
        code_version="1",
        io="arrays",
        inputs=(every(f"{rule.name}_hashes", segment=HASHES),),
        hooks=SeenHooks(rule),
        columns={"seen": "bit: whether an earlier shard has the hash"},
        kinds=("numba",),
    )


def _marks(rule: Deduper) -> Stage:
    return Stage(
        name=f"{rule.name}_attributes",
        group=names.repetitions(rule.name),
        unit_in="documents",
        unit_out="documents",
        description=f"Repetitions by {rule.by}: "
        + (
            "all but the first copy in the order of sources, shards and rows."
            if rule.against is None
            else f"what {', '.join(rule.against)} have too."
        ),
        partitioning=Partitioning.SHARD,
        compute=partial(marks, rule=rule),
        code_version="1",
        io="documents",
        inputs=(
            same("normalized_documents", segment=NAMES),
            same(f"{rule.name}_hashes"),
            own_segment(f"{rule.name}_seen"),
        ),
        hooks=MarksHooks(rule),
        columns={
            "id": "string: of the document in the same row",
            "attributes": "json: spans that are repeated, [start, end, value] in code points",
            "source": "string: of the document",
        },
        kinds=("jsonl", "dolma"),
    )


def hashed_values(rule: Deduper) -> dict[str, Any]:
    """Returns the values that parts and hashes depend on."""
    found: dict[str, Any] = {"by": rule.by, "skip_empty": rule.skip_empty, "min_length": rule.min_length}
    found |= {"min_words": rule.min_words, "compat": rule.compat}
    if rule.against is not None:
        found["all copies"] = True
    found |= _narrowed(rule)
    if _narrowed(rule) and rule.against is not None:
        found["against"] = sorted(rule.against)
    if rule.by in PARTS:
        found["separator"] = rule.separator
    if rule.by == "ngrams":
        ngram = rule.ngram
        found |= {"ngram.length": ngram.length, "ngram.stride": ngram.stride, "ngram.skip_short": ngram.skip_short}
        if rule.compat:
            found["ngram.whitespace"] = "Unicode"
    return found


def marked_values(rule: Deduper) -> dict[str, Any]:
    """Returns the values that rows of attributes depend on."""
    found: dict[str, Any] = {"attribute": rule.key, "compat": rule.compat}
    if rule.by in PARTS:
        found["flag_share"] = rule.flag_share
    if rule.by == "ngrams":
        found["ngram.threshold"] = rule.ngram.threshold
    if is_scored_in_integers(rule):
        found["score"] = "integer"
    return found | _narrowed(rule)


def _narrowed(rule: Deduper) -> dict[str, Any]:
    """Returns the values that restrict its documents; empty if it uses all."""
    given = {"sources": rule.sources and sorted(rule.sources), "glob": rule.glob}
    return {key: value for key, value in given.items() if value is not None}


@dataclass(frozen=True)
class HashesHooks(Hooks):
    """The hooks of the hashes of a deduper."""

    rule: Deduper

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return _named(self.rule, hashed_values(self.rule))

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        return compiled.of_hashes(self.rule)

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterator[str]:
        """Yields sentences on patterns of an entry that no file matches, and on values that no document has."""
        yield from unmatched(self.rule, partitions)
        yield from absent_names(
            [one for one in partitions if one.shard and is_compared(one.shard, self.rule)], settings
        )


@dataclass(frozen=True)
class SeenHooks(Hooks):
    """The hooks of the stage that finds earlier hashes."""

    rule: Deduper

    @override
    def derived_parameters(self, settings: Values) -> Values:
        """Returns the orders, which decide the first copy, the Bloom filter, and the known sources."""
        rule, key = self.rule, f"dedupers.{self.rule.name}"
        size, functions = (rule.bloom.bytes, rule.bloom.functions) if rule.bloom else (None, None)
        order = [source["name"] for source in settings["sources"]]
        against = {} if rule.against is None else {f"{key}.against": sorted(rule.against)}
        paths = {f"{key}.order of shards": "paths"} if rule.compat and rule.against is None else {}
        bloom = {f"{key}.bloom.bytes": size, f"{key}.bloom.functions": functions}
        return {"order of sources": order, **bloom, **against, **paths}

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        return compiled.of_seen(self.rule)

    @override
    def foretells(self, settings: Values) -> Iterator[str]:
        if self.rule.bloom:
            yield self.rule.bloom.described(self.rule.name)


@dataclass(frozen=True)
class MarksHooks(Hooks):
    """The hooks of the attributes of a deduper."""

    rule: Deduper

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return _named(self.rule, marked_values(self.rule))

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        return compiled.of_marks(self.rule)


def _named(rule: Deduper, values: Values) -> Values:
    return {f"dedupers.{rule.name}.{key}": value for key, value in values.items()}
