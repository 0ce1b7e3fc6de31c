"""Stages that find clusters by ranges, for `dedup.rule: similar`."""

from collections.abc import Sequence

from typing_extensions import override

from corpus_assets.dedup.by_range.guarded import guarded_clusters
from corpus_assets.dedup.by_range.members import cluster_members
from corpus_assets.dedup.by_range.roots import cluster_roots
from corpus_assets.dedup.compiled import FOREST, of_guarded
from corpus_assets.dedup.hooks import GuardedHooks, OrderedHooks
from resources.formats.row_tables import NAMES, SKETCH, TEXTS
from resources.stage.declaration import Partitioning, Stage, every, own_segment, same
from resources.stage.hooks import Values


class RootsHooks(OrderedHooks):
    """Hooks of the union-find."""

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        return FOREST


class RangeHooks(GuardedHooks):
    """Hooks of the guard of a range."""

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        return of_guarded(settings)


GUARD = ("dedup.guard.action", "dedup.guard.max_cluster", "dedup.guard.resemblance", "dedup.guard.max_examined")
STAGES = (
    Stage(
        name="cluster_roots",
        group="deduplication",
        unit_in="pairs",
        unit_out="documents",
        description="The first document of the cluster of every document, by union-find over the pairs of all ranges.",
        partitioning=Partitioning.NONE,
        compute=cluster_roots,
        code_version="1",
        io="arrays",
        inputs=(every("exact_duplicates"), every("verified_pairs")),
        parameters=("dedup.ranges",),
        hooks=RootsHooks(),
        columns={"root": "uint32: number of the first document of the cluster; the largest value for one in none"},
        kinds=("numba",),
    ),
    Stage(
        name="cluster_members",
        group="deduplication",
        unit_in="documents",
        unit_out="cluster members",
        description="Members of clusters of one range of documents, by range of the cluster, each with its sketch, a "
        "hash of its id, and what is compared to choose the kept one; and the pairs that begin in the range.",
        partitioning=Partitioning.RANGE,
        compute=cluster_members,
        code_version="1",
        io="arrays",
        inputs=(
            own_segment("cluster_roots"),
            same("verified_pairs"),
            every("exact_duplicates"),
            every("minhashes", segment=SKETCH, folded=True),
            every("normalized_documents", segment=NAMES, folded=True),
        ),
        parameters=("dedup.keep", "dedup.ranges"),
        hooks=OrderedHooks(),
        columns={
            "root": "uint32: number of the first document of the cluster",
            "member": "uint32: number of the document",
            "id": "uint64: hash of its id",
            "sketch": "uint64[bits / 64]: of the document",
            "pair": "uint32[2]: numbers of two documents of a cluster",
        },
        kinds=("numpy",),
    ),
    Stage(
        name="guarded_clusters",
        group="deduplication",
        unit_in="cluster members",
        unit_out="cluster members",
        description="Clusters whose first document lies in one range: every member, the document kept instead, and the "
        "cluster size, after the guard.",
        partitioning=Partitioning.RANGE,
        compute=guarded_clusters,
        code_version="1",
        io="arrays",
        inputs=(
            own_segment("cluster_members"),
            every("minhashes", segment=SKETCH, folded=True),
            every("normalized_documents", segment=TEXTS, folded=True),
        ),
        parameters=(
            "dedup.keep",
            "dedup.priority",
            *GUARD,
            "dedup.ranges",
        ),
        hooks=RangeHooks(),
        columns={
            "member": "uint32: number of a document of the cluster",
            "kept": "uint32: number of the document that is kept instead",
            "size": "uint32: documents of the cluster",
        },
        kinds=("numba", "networkit"),
    ),
)
