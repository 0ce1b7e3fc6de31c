"""Stages of templates, which `dedup.template_share` asks for."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from typing_extensions import override

from corpus_assets.dedup.compiled import TEMPLATES as KERNELS
from corpus_assets.dedup.hooks import MinhashesHooks
from corpus_assets.dedup.templates.reading import SHARE, TEMPLATES
from corpus_assets.dedup.templates.stages import (
    TOO_LONG,
    template_buckets,
    template_candidates,
    template_counts,
    templates,
)
from resources.formats.row_tables import TEXTS
from resources.stage.declaration import Input, Partitioning, Stage, every, own_segment, same
from resources.stage.hooks import Hooks, Values
from resources.stage.partition import Partition

_SHINGLES = ("minhash.unit", "minhash.width")


class TemplateHooks(MinhashesHooks):
    """Hooks of stages that cut texts into shingles."""

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        return KERNELS


class CandidatesHooks(Hooks):
    """Hooks of the buckets of each source."""

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterator[str]:
        """Yields the sources of which no template is looked for."""
        for partition in partitions:
            for source in partition.counters(TOO_LONG)["sources"]:
                yield f"source {source}: its documents are so long that no template is looked for ({SHARE})"


STAGES = (
    Stage(
        name="template_buckets",
        group="deduplication",
        unit_in="documents",
        unit_out="buckets",
        description="Buckets of hashes in which many of a shard's documents have a shingle.",
        partitioning=Partitioning.SHARD,
        compute=template_buckets,
        code_version="1",
        io="arrays",
        inputs=(same("normalized_documents", segment=TEXTS),),
        parameters=(SHARE, *_SHINGLES),
        hooks=TemplateHooks(),
        columns={"bucket": "uint32: by the hash of a shingle", "documents": "uint32: that have a shingle in it"},
        kinds=("numba",),
    ),
    Stage(
        name="template_candidates",
        group="deduplication",
        unit_out="sources",
        description="Buckets in which shingles of each source's template lie.",
        partitioning=Partitioning.NONE,
        compute=template_candidates,
        code_version="1",
        io="arrays",
        inputs=(every("template_buckets"),),
        parameters=(SHARE,),
        hooks=CandidatesHooks(),
        columns={"bits": "uint8: a bit for each bucket"},
        kinds=("numpy",),
    ),
    Stage(
        name="template_counts",
        group="deduplication",
        unit_in="documents",
        unit_out="shingles",
        description="Shingles of a shard in the buckets of its source, and how many documents have each.",
        partitioning=Partitioning.SHARD,
        compute=template_counts,
        code_version="1",
        io="arrays",
        inputs=(same("normalized_documents", segment=TEXTS), own_segment("template_candidates")),
        parameters=_SHINGLES,
        hooks=TemplateHooks(),
        columns={"hash": "uint64: of a shingle", "documents": "uint32: that have it"},
        kinds=("numba",),
    ),
    Stage(
        name=TEMPLATES,
        group="deduplication",
        unit_out="shingles",
        description="The template of each source: the shingles that a share of its documents have.",
        partitioning=Partitioning.NONE,
        compute=templates,
        code_version="1",
        io="arrays",
        inputs=(every("template_buckets"), every("template_counts")),
        parameters=(SHARE,),
        columns={"hash": "uint64: of a shingle"},
        kinds=("numpy",),
    ),
)

_OF_SHARDS = {"minhashes", "shingle_samples"}
_OF_TEXTS = {"verified_pairs", "guarded_clusters", "contained_pairs", "components"}
_BY_RANGE = "guarded_clusters"
"""A stage that reads it has the texts compared by it."""


def without_templates(stages: Iterable[Stage]) -> Iterator[Stage]:
    """Yields the stages of templates, and then the others, which leave templates out."""
    yield from STAGES
    for stage in stages:
        edges: tuple[Input, ...] = ()
        if stage.name in _OF_SHARDS:
            edges = (own_segment(TEMPLATES),)
        elif stage.name in _OF_TEXTS and all(edge.asset != _BY_RANGE for edge in stage.inputs):
            edges = (every(TEMPLATES),)
        yield replace(stage, inputs=(*stage.inputs, *edges)) if edges else stage
