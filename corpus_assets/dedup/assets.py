"""Near-duplicates: signatures, band keys, candidate pairs per band, components, and the duplicates of each shard."""

from collections.abc import Iterator
from dataclasses import replace

from corpus_assets.dedup.band_keys import band_keys
from corpus_assets.dedup.by_range.assets import GUARD
from corpus_assets.dedup.by_range.assets import STAGES as BY_RANGE
from corpus_assets.dedup.by_range.merged import components_of_ranges
from corpus_assets.dedup.candidate_pairs import candidate_pairs
from corpus_assets.dedup.components import components
from corpus_assets.dedup.containment.assets import STAGES as CONTAINMENT
from corpus_assets.dedup.containment.shared import HOLDING, RULE, SHINGLES
from corpus_assets.dedup.duplicate_pairs import duplicate_pairs
from corpus_assets.dedup.duplicates import duplicates
from corpus_assets.dedup.exact_duplicates import exact_duplicates
from corpus_assets.dedup.hooks import (
    BandKeysHooks,
    CandidatesHooks,
    ComponentsHooks,
    ContainedClustersHooks,
    MinhashesHooks,
    OrderedHooks,
    PairsHooks,
    VerifiedHooks,
)
from corpus_assets.dedup.minhashes import minhashes
from corpus_assets.dedup.shared import SCHEME
from corpus_assets.dedup.templates.assets import without_templates
from corpus_assets.dedup.verified_pairs import verified_pairs
from resources.formats.attributes import FLAGS
from resources.formats.row_tables import NAMES, SIGNATURES, SKETCH, TEXTS
from resources.stage.declaration import Partitioning, Stage, every, own_segment, same

PAIRS = {"first": "uint32: number of the earlier document", "later": "uint32: number of the other"}

STAGES = [
    Stage(
        name="minhashes",
        group="deduplication",
        unit_in="documents",
        unit_out="documents",
        description="MinHash signature of every document, over the shingles of its cleaned text, and the sketch "
        "for checking candidates.",
        partitioning=Partitioning.SHARD,
        compute=minhashes,
        code_version="2",
        io="arrays",
        inputs=(same("normalized_documents", segment=TEXTS),),
        parameters=(*SCHEME, "minhash.sketch"),
        hooks=MinhashesHooks(),
        columns={
            "signature": "uint32[permutations]: smallest hash of its shingles under each permutation",
            "sketch": "uint8[bits / 8]: one bit per bin of its shingles",
        },
        kinds=("numba",),
    ),
    Stage(
        name="band_keys",
        group="deduplication",
        unit_in="documents",
        unit_out="documents",
        description="Keys for pairing documents: 64 bits per band and document, and the digest of each text. "
        "Short documents have none; featureless ones have none in any band.",
        partitioning=Partitioning.SHARD,
        compute=band_keys,
        code_version="3",
        io="arrays",
        inputs=(
            same("minhashes", segment=SIGNATURES),
            same("short_documents", segment=FLAGS),
            same("normalized_documents", segment=TEXTS),
        ),
        parameters=("minhash.bands", "minhash.rows", "dedup.short_documents", "dedup.ranges"),
        hooks=BandKeysHooks(),
        columns={
            "key": "uint64[bands]: hash of the rows of each band of the signature",
            "digest": "uint8[32]: SHA-256 of a text; texts lie by range of digest",
            "row": "uint32: of the document that has the text",
        },
        kinds=("numpy",),
    ),
    Stage(
        name="exact_duplicates",
        group="deduplication",
        unit_in="documents",
        unit_out="pairs",
        description="Documents with equal texts of one range of digests: each later one with the first of its kind.",
        partitioning=Partitioning.RANGE,
        compute=exact_duplicates,
        code_version="2",
        io="arrays",
        inputs=(own_segment("band_keys", folded=True), every("short_documents", segment=FLAGS, folded=True)),
        parameters=("dedup.exact_first", "dedup.ranges"),
        hooks=OrderedHooks(),
        columns=PAIRS,
        kinds=("numpy",),
    ),
    Stage(
        name="duplicate_pairs",
        group="deduplication",
        unit_in="documents",
        unit_out="pairs",
        description="Candidate pairs of one band over all shards: documents with equal keys, as a star per key, "
        "without later copies of equal texts.",
        partitioning=Partitioning.BAND,
        compute=duplicate_pairs,
        code_version="3",
        io="arrays",
        inputs=(own_segment("band_keys"), every("exact_duplicates")),
        parameters=("dedup.ranges",),
        hooks=PairsHooks(),
        columns=PAIRS,
        kinds=("numba",),
    ),
    Stage(
        name="candidate_pairs",
        group="deduplication",
        unit_in="pairs",
        unit_out="pairs",
        description="Candidate pairs of all bands, each once, of one range of later documents; each with the sketch of "
        "its later document, for the check.",
        partitioning=Partitioning.RANGE,
        compute=candidate_pairs,
        code_version="1",
        io="arrays",
        inputs=(own_segment("duplicate_pairs"), every("minhashes", segment=SKETCH, folded=True)),
        parameters=("dedup.ranges",),
        hooks=CandidatesHooks(),
        columns={
            "pair": "uint32[2]: numbers of the earlier and the later document",
            "sketch": "uint64[bits / 64]: of the later document",
        },
        kinds=("numpy",),
    ),
    Stage(
        name="verified_pairs",
        group="deduplication",
        unit_in="pairs",
        unit_out="pairs",
        description="Candidate pairs of one range of first documents whose sketches or texts are similar enough.",
        partitioning=Partitioning.RANGE,
        compute=verified_pairs,
        code_version="2",
        io="arrays",
        inputs=(
            own_segment("candidate_pairs"),
            every("minhashes", segment=SKETCH, folded=True),
            every("normalized_documents", segment=TEXTS, folded=True),
        ),
        parameters=("dedup.verify", "dedup.threshold", "dedup.ranges"),
        hooks=VerifiedHooks(),
        columns=PAIRS,
        kinds=("numba",),
    ),
    *BY_RANGE,
    Stage(
        name="components",
        group="deduplication",
        unit_in="documents",
        unit_out="cluster members",
        description="Clusters of near-duplicates: every member, the document kept instead, and the cluster size.",
        partitioning=Partitioning.NONE,
        compute=components_of_ranges,
        code_version="3",
        io="arrays",
        inputs=(
            every("guarded_clusters"),
            every("cluster_members"),
            every("normalized_documents", segment=TEXTS, folded=True),
            every("short_documents", segment=FLAGS),
        ),
        parameters=("dedup.short_documents",),
        shape={RULE: "similar"},
        hooks=ComponentsHooks(),
        columns={
            "member": "uint32: number of a document of the cluster",
            "kept": "uint32: number of the document that is kept instead",
            "size": "uint32: documents of the cluster",
        },
        kinds=("numpy",),
    ),
    Stage(
        name="duplicates",
        group="deduplication",
        unit_in="documents",
        unit_out="documents",
        description="The duplicates of a shard, each with its kept document and the size of its cluster.",
        partitioning=Partitioning.SHARD,
        compute=duplicates,
        code_version="2",
        io="documents",
        inputs=(own_segment("components"), same("short_documents")),
        columns={
            "id": "string: of the document in the same row",
            "attributes": "json: `duplicate` if it goes, with the size of its cluster",
            "source": "string: of the document",
            "kept": "json: the document that is kept instead",
        },
        kinds=("jsonl", "dolma"),
    ),
]

_PAIRS_BY_SIMILARITY = {"duplicate_pairs", "candidate_pairs", "verified_pairs"}
_BY_RANGE = {stage.name for stage in BY_RANGE}
_OF_SIMILARITY = {*_PAIRS_BY_SIMILARITY, "minhashes"}
_WHOLE = (
    every("exact_duplicates"),
    every("verified_pairs"),
    every("minhashes", segment=SKETCH),
    every("normalized_documents", segment=NAMES),
    every("normalized_documents", segment=TEXTS, folded=True),
    every("short_documents", segment=FLAGS),
    every("contained_pairs"),
)
"""What `components` reads where documents within others go too: of these all clusters are looked at together."""


def dedup_stages(rule: str, template_share: float | None = None) -> Iterator[Stage]:
    """Yields the stages that `dedup.rule` and `dedup.template_share` ask for."""
    asked = _by_rule(rule)
    return asked if template_share is None else without_templates(asked)


def _by_rule(rule: str) -> Iterator[Stage]:
    for stage in STAGES:
        if rule == "contained" and stage.name in _PAIRS_BY_SIMILARITY:
            continue
        if rule != "similar" and stage.name in _BY_RANGE:
            continue
        if rule != "similar" and stage.name == "components":
            yield from CONTAINMENT
            yield _with_contained(stage, similar=rule == "either")
        else:
            yield stage


def _with_contained(stage: Stage, *, similar: bool) -> Stage:
    """Returns the stage of clusters, reading contained pairs. similar: whether it reads similar ones too."""
    edges = tuple(edge for edge in _WHOLE if similar or edge.asset not in _OF_SIMILARITY)
    keys = ("dedup.keep", "dedup.priority", *(GUARD if similar else ()), *stage.parameters, RULE, HOLDING, *SHINGLES)
    hooks = stage.hooks if similar else ContainedClustersHooks()
    kinds = ("numba", "networkit")
    return replace(stage, compute=components, inputs=edges, parameters=keys, hooks=hooks, kinds=kinds)
