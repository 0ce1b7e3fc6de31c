"""Stages of containment, which `dedup.rule` asks for."""

from collections.abc import Iterator, Sequence

from typing_extensions import override

from corpus_assets.dedup.compiled import EXACT, of_samples
from corpus_assets.dedup.containment.candidates import MOST
from corpus_assets.dedup.containment.contained_pairs import contained_pairs
from corpus_assets.dedup.containment.containment_candidates import containment_candidates
from corpus_assets.dedup.containment.shared import HOLDING, SHINGLES
from corpus_assets.dedup.containment.shingle_samples import BAND, shingle_samples
from corpus_assets.dedup.hooks import MinhashesHooks, OrderedHooks
from resources.formats.row_tables import TEXTS
from resources.stage.declaration import Partitioning, Stage, every, own_segment, same
from resources.stage.hooks import Values
from resources.stage.partition import Partition


class SamplesHooks(MinhashesHooks):
    """Hooks of samples, which depend on how texts are cleaned too."""

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        return of_samples(settings)


class ContainedHooks(MinhashesHooks):
    """Hooks of pairs whose texts are compared."""

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        return EXACT

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterator[str]:
        """Yields how many pairs were not compared, because too many documents may hold the same one."""
        if count := sum(found.record.statistics.get("not_compared", 0) for found in partitions):
            yield f"containment: {count:,} pairs were not compared, since a document is compared with {MOST} at most"


STAGES = (
    Stage(
        name="shingle_samples",
        group="deduplication",
        unit_in="documents",
        unit_out="shingles",
        description="A sample of the shingles of every document that takes part: the same shingle is in all samples, "
        "or in none.",
        partitioning=Partitioning.SHARD,
        compute=shingle_samples,
        code_version="1",
        io="arrays",
        inputs=(same("normalized_documents", segment=TEXTS), same("band_keys", segment=BAND)),
        parameters=(*SHINGLES, "dedup.ranges"),
        hooks=SamplesHooks(),
        columns={
            "hash": "uint64: of a shingle, by range",
            "row": "uint32: of the document that has it",
            "size": "uint32: shingles in the sample of the document",
            "slot": "uint8: how many of them have smaller hashes, at most 255",
        },
        kinds=("numba",),
    ),
    Stage(
        name="containment_candidates",
        group="deduplication",
        unit_in="shingles",
        unit_out="pairs",
        description="Documents with a shingle of one range of hashes, each with larger ones that have it too.",
        partitioning=Partitioning.RANGE,
        compute=containment_candidates,
        code_version="2",
        io="arrays",
        inputs=(own_segment("shingle_samples", folded=True), every("exact_duplicates")),
        parameters=("dedup.ranges",),
        hooks=OrderedHooks(),
        columns={
            "pair": "uint32[2]: numbers of a document and a larger one",
            "slot": "uint8: which shingle of the document both have, plus 128 if others have it too",
            "asked": "uint8: shingles for which larger documents were looked for",
        },
        kinds=("numpy",),
    ),
    Stage(
        name="contained_pairs",
        group="deduplication",
        unit_in="pairs",
        unit_out="pairs",
        description="Documents of one range that stand in another: it has enough of their shingles.",
        partitioning=Partitioning.RANGE,
        compute=contained_pairs,
        code_version="2",
        io="arrays",
        inputs=(own_segment("containment_candidates"), every("normalized_documents", segment=TEXTS, folded=True)),
        parameters=(HOLDING, *SHINGLES, "dedup.ranges"),
        hooks=ContainedHooks(),
        columns={"contained": "uint32: number of a document", "holder": "uint32: number of one that holds it"},
        kinds=("numba",),
    ),
)
