"""Stages of documents that mean the same: vectors, centers of clusters, members by range, and the attribute."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from typing_extensions import override

from corpus_assets import dataset_names as names
from corpus_assets.attributes.dedupers.unmatched import unmatched
from corpus_assets.attributes.semantic.alike import KEEP, alike
from corpus_assets.attributes.semantic.centers import centers
from corpus_assets.attributes.semantic.embedding import embedder
from corpus_assets.attributes.semantic.marks import marks
from corpus_assets.attributes.semantic.members import RANGES, members
from corpus_assets.attributes.semantic.models import model_version
from corpus_assets.attributes.semantic.vectors import MODEL, place_of, vectors
from corpus_assets.config.selection.kinds.semantic import Semantic
from corpus_assets.dedup.shared import ORDER
from resources.formats.row_tables import NAMES
from resources.stage.declaration import Partitioning, Stage, every, own_segment, same
from resources.stage.hooks import Hooks, Values
from resources.stage.partition import Partition


def semantic_stages(rules: Iterable[Semantic]) -> Iterator[Stage]:
    """Yields the five stages of each entry of `dedupers` with `kind: semantic`."""
    for rule in rules:
        yield _vectors(rule)
        yield _centers(rule)
        yield _members(rule)
        yield _alike(rule)
        yield _marks(rule)


def _vectors(rule: Semantic) -> Stage:
    return Stage(
        name=f"{rule.name}_vectors",
        group=names.repetitions(rule.name),
        unit_in="documents",
        unit_out="documents",
        description=f"Static embeddings of documents, as unit vectors of whole numbers, by {rule.model}.",
        partitioning=Partitioning.SHARD,
        compute=partial(vectors, rule=rule),
        code_version="1",
        io="arrays",
        inputs=(same("normalized_documents", segment=NAMES),),
        hooks=VectorsHooks(rule),
        columns={
            "row": "uint32: of the document in its shard",
            "characters": "uint32: code points of its text",
            "key": "uint64: keyed hash of its id",
            "vector": "int16[dimensions]: direction of its text",
        },
        kinds=("tokenizers",),
    )


def _centers(rule: Semantic) -> Stage:
    return Stage(
        name=f"{rule.name}_centers",
        group=names.repetitions(rule.name),
        unit_in="documents",
        unit_out="clusters",
        description="Centers of the clusters in which documents are compared: k-means over a keyed sample.",
        partitioning=Partitioning.NONE,
        compute=partial(centers, rule=rule),
        code_version="1",
        io="arrays",
        inputs=(every(f"{rule.name}_vectors"),),
        hooks=SemanticHooks(rule, ("clusters",)),
        columns={"center": "int16[dimensions]: direction of a cluster"},
        kinds=("numpy",),
    )


def _members(rule: Semantic) -> Stage:
    return Stage(
        name=f"{rule.name}_members",
        group=names.repetitions(rule.name),
        unit_in="documents",
        unit_out="documents",
        description="The documents of a shard with their clusters, by range of these.",
        partitioning=Partitioning.SHARD,
        compute=partial(members, rule=rule),
        code_version="1",
        io="arrays",
        inputs=(
            same("normalized_documents", segment=NAMES),
            same(f"{rule.name}_vectors"),
            same(f"{rule.name}_centers"),
        ),
        parameters=(RANGES,),
        columns={
            "cluster": "uint32: of the document",
            "row": "uint32: of the document in its shard",
            "bytes": "uint32: of its text",
            "created": "int64: microseconds",
            "vector": "int16[dimensions]: direction of its text",
        },
        kinds=("numpy",),
    )


def _alike(rule: Semantic) -> Stage:
    return Stage(
        name=f"{rule.name}_alike",
        group=names.repetitions(rule.name),
        unit_in="documents",
        unit_out="documents",
        description=f"Documents of a range of clusters whose cosine with a kept one is {rule.threshold} or more.",
        partitioning=Partitioning.RANGE,
        compute=partial(alike, rule=rule),
        code_version="1",
        io="arrays",
        inputs=(
            own_segment(f"{rule.name}_members", folded=True),
            same(f"{rule.name}_centers"),
            every("normalized_documents", segment=NAMES, folded=True),
        ),
        parameters=(RANGES, "dedup.priority"),
        hooks=AlikeHooks(rule, ("threshold",)),
        columns={
            "row": "uint32: of the document in its shard",
            "score": "uint32: cosine in millionths",
            "kept": "uint64: number of the document that it resembles",
        },
        kinds=("numpy",),
    )


def _marks(rule: Semantic) -> Stage:
    return Stage(
        name=f"{rule.name}_attributes",
        group=names.repetitions(rule.name),
        unit_in="documents",
        unit_out="documents",
        description=f"Documents that mean the same as one that is kept: cosine {rule.threshold} or more.",
        partitioning=Partitioning.SHARD,
        compute=partial(marks, rule=rule),
        code_version="1",
        io="documents",
        inputs=(
            same("normalized_documents", segment=NAMES),
            same(f"{rule.name}_vectors"),
            own_segment(f"{rule.name}_alike", folded=True),
        ),
        hooks=SemanticHooks(rule, ()),
        columns={
            "id": "string: of the document in the same row",
            "attributes": "json: the whole text with the cosine, [start, end, cosine]",
            "source": "string: of the document",
            "kept": "json: the kept document that it resembles",
        },
        kinds=("jsonl", "dolma"),
    )


@dataclass(frozen=True)
class SemanticHooks(Hooks):
    """The hooks of a stage of an entry. keys: those that its content depends on."""

    rule: Semantic
    keys: tuple[str, ...]

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return {f"dedupers.{self.rule.name}.{key}": getattr(self.rule, key) for key in self.keys}


class AlikeHooks(SemanticHooks):
    """The hooks of the comparison: the order of sources, and what `keep` says, decide what stays."""

    @override
    def derived_parameters(self, settings: Values) -> Values:
        keep = self.rule.keep or settings["dedup"]["keep"]
        order = [source["name"] for source in settings["sources"]]
        return {**super().derived_parameters(settings), f"dedupers.{self.rule.name}.{KEEP}": keep, ORDER: order}


class VectorsHooks(SemanticHooks):
    """The hooks of vectors: the digest of the model, and patterns that no file matches."""

    def __init__(self, rule: Semantic) -> None:
        super().__init__(rule, ("sources", "glob"))

    @override
    def derived_parameters(self, settings: Values) -> Values:
        """Returns what vectors depend on; `ConfigError` names a model that cannot be read."""
        found = dict(super().derived_parameters(settings))
        place = f"dedupers.{self.rule.name}.sources"
        found[place] = found[place] and sorted(found[place])
        return {**found, place_of(self.rule): model_version(self._model(settings), place_of(self.rule))}

    @override
    def run_options(self, settings: Values) -> Values:
        return {MODEL: self._model(settings)}

    def _model(self, settings: Values) -> str:
        found: str = next(one["model"] for one in settings["dedupers"] if one["name"] == self.rule.name)
        return found

    @override
    def check_before(self, settings: Values) -> None:
        model = self._model(settings)
        embedder(model, place_of(self.rule), model_version(model, place_of(self.rule)))

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterator[str]:
        """Yields sentences on patterns of an entry that no file matches, and on documents without a known token."""
        yield from unmatched(self.rule, partitions)
        unknown = sum(_left_out(one).get("unknown", 0) for one in partitions)
        known = sum(one.record.statistics["rows_out"] for one in partitions)
        if unknown and not known:
            yield f"dedupers.{self.rule.name}: none of {unknown:,} documents has a token that the model knows"


def _left_out(partition: Partition) -> Mapping[str, int]:
    found: Mapping[str, int] = partition.record.statistics.get("left_out", {})
    return found
