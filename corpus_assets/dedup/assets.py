"""Near-duplicates: signatures, band keys, candidate pairs per band, components, and the duplicates of each shard."""

from collections.abc import Iterator, Mapping, Sequence
from math import isinf
from typing import Any

from corpus_assets.dedup import compiled
from corpus_assets.dedup.band_keys import band_keys
from corpus_assets.dedup.candidate_pairs import candidate_pairs
from corpus_assets.dedup.clusters.worst import MIN_JUDGED, broken_floors
from corpus_assets.dedup.components import components
from corpus_assets.dedup.duplicate_pairs import duplicate_pairs
from corpus_assets.dedup.duplicates import duplicates
from corpus_assets.dedup.exact_duplicates import exact_duplicates
from corpus_assets.dedup.minhashes import minhashes
from corpus_assets.dedup.shared import FEATURELESS, LOSSES, NEIGHBOURS, ORDER, PAIR_THRESHOLD, SCHEME, SKETCHED, SURE
from corpus_assets.dedup.signatures.scheme import CLEANING
from corpus_assets.dedup.similarity.check import surely_above
from corpus_assets.dedup.verified_pairs import verified_pairs
from resources.formats.attributes import FLAGS
from resources.formats.row_tables import NAMES, SIGNATURES, SKETCH, TEXTS
from resources.stage.declaration import Partitioning, Stage, every, own_segment, same
from resources.stage.partition import Partition


def cleaning_version(_: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the version of the cleaning: signatures of differently cleaned texts must not be compared."""
    return {"cleaning": CLEANING}


def source_order(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the order of sources, which decides which document of a cluster comes first."""
    return {ORDER: [source["name"] for source in settings["sources"]]}


def pairing_rule(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the order of sources, and whether neighbours in a bucket are paired too.

    They are if pairs are checked, since the first document of a bucket may turn out unlike a later one.
    """
    return source_order(settings) | {NEIGHBOURS: settings["dedup"]["verify"] != "none"}


def sketched_rule(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns whether candidates are checked, for which they carry a sketch."""
    return {SKETCHED: settings["dedup"]["verify"] != "none"}


def checking_rule(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns whether candidates carry a sketch; and that no sketch says that a pair counts, where none can."""
    by_texts = settings["dedup"]["verify"] == "two_sided" and _sketches_cannot_say(settings)
    return sketched_rule(settings) | ({SURE: False} if by_texts else {})


def guard_rule(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the order of sources, and the threshold of pairs if the guard holds documents to it."""
    dedup = settings["dedup"]
    if dedup["guard"]["resemblance"] is not None:
        return source_order(settings)
    held_to = {PAIR_THRESHOLD: dedup["threshold"]} | ({SURE: False} if _sketches_cannot_say(settings) else {})
    return source_order(settings) | held_to


def _sketches_cannot_say(settings: Mapping[str, Any]) -> bool:
    return isinf(surely_above(settings["dedup"]["threshold"], settings["minhash"]["sketch"]))


def featureless_rule(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns whether documents without a shingle may pair.

    They do in the reference; but a check would find nothing to compare.
    """
    dedup = settings["dedup"]
    return {FEATURELESS: dedup["short_documents"] == "include" and dedup["verify"] == "none"}


def retention(counters: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
    """Returns the sources that lose more than `dedup.max_loss` allows, and how many clusters could not be examined."""
    losses = counters[LOSSES]
    faults = broken_floors(losses["sources"], settings["dedup"]["max_loss"])
    if count := losses["unexamined_clusters"]:
        faults.append(
            f"{count:,} clusters hold documents unlike the one that is kept and have more than "
            f"dedup.guard.max_examined ({settings['dedup']['guard']['max_examined']:,}) documents"
        )
    return faults


def loss_notes(partitions: Sequence[Partition], settings: Mapping[str, Any]) -> Iterator[str]:
    """Yields the sources that lose more than allowed but have too few documents to stop a build."""
    allowed = settings["dedup"]["max_loss"]
    for partition in partitions:
        for source, loss in partition.counters(LOSSES)["sources"].items():
            if loss["documents"] < MIN_JUDGED and loss["removed"] > allowed * loss["documents"]:
                removed, documents = f"{loss['removed']:,}", f"{loss['documents']:,}"
                yield f"source {source}: {removed} of {documents} documents are duplicates of others"


PAIRS = {"first": "uint32: number of the earlier document", "later": "uint32: number of the other"}

STAGES = [
    Stage(
        name="minhashes",
        group="dedup",
        unit_in="documents",
        unit_out="documents",
        description="MinHash signature of every document, over the shingles of its cleaned text, and the sketch that "
        "candidates are checked with.",
        partitioning=Partitioning.SHARD,
        compute=minhashes,
        code_version="2",
        io="arrays",
        inputs=(same("normalized_documents", segment=TEXTS),),
        parameters=(*SCHEME, "minhash.sketch"),
        derived_parameters=cleaning_version,
        kernels=compiled.of_minhashes,
        columns={
            "signature": "uint32[permutations]: smallest hash of its shingles under each permutation",
            "sketch": "uint8[bits / 8]: one bit per bin of its shingles",
        },
        kinds=("numba",),
    ),
    Stage(
        name="band_keys",
        group="dedup",
        unit_in="documents",
        unit_out="documents",
        description="Keys by which documents meet: one of 64 bits per band and document, and the digest of each text. "
        "Short documents take no part, featureless ones in no band.",
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
        derived_parameters=featureless_rule,
        columns={
            "key": "uint64[bands]: hash of the rows of each band of the signature",
            "digest": "uint8[32]: SHA-256 of a text; texts lie by range of digest",
            "row": "uint32: of the document that has the text",
        },
        kinds=("numpy",),
    ),
    Stage(
        name="exact_duplicates",
        group="dedup",
        unit_in="documents",
        unit_out="pairs",
        description="Documents with equal texts of one range of digests: each later one with the first of its kind.",
        partitioning=Partitioning.RANGE,
        compute=exact_duplicates,
        code_version="2",
        io="arrays",
        inputs=(own_segment("band_keys", folded=True), every("short_documents", segment=FLAGS, folded=True)),
        parameters=("dedup.exact_first", "dedup.ranges"),
        derived_parameters=source_order,
        columns=PAIRS,
        kinds=("numpy",),
    ),
    Stage(
        name="duplicate_pairs",
        group="dedup",
        unit_in="documents",
        unit_out="pairs",
        description="Candidate pairs of one band over all shards: documents with equal keys, as a star per key; later "
        "copies of equal texts take no part.",
        partitioning=Partitioning.BAND,
        compute=duplicate_pairs,
        code_version="3",
        io="arrays",
        inputs=(own_segment("band_keys"), every("exact_duplicates")),
        parameters=("dedup.ranges",),
        derived_parameters=pairing_rule,
        columns=PAIRS,
        kinds=("numba",),
    ),
    Stage(
        name="candidate_pairs",
        group="dedup",
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
        derived_parameters=sketched_rule,
        columns={
            "pair": "uint32[2]: numbers of the earlier and the later document",
            "sketch": "uint64[bits / 64]: of the later document",
        },
        kinds=("numpy",),
    ),
    Stage(
        name="verified_pairs",
        group="dedup",
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
        derived_parameters=checking_rule,
        kernels=compiled.of_verified_pairs,
        columns=PAIRS,
        kinds=("numba",),
    ),
    Stage(
        name="components",
        group="dedup",
        unit_in="documents",
        unit_out="cluster members",
        description="Clusters of near-duplicates: every member, the document kept in its stead, and the cluster size.",
        partitioning=Partitioning.NONE,
        compute=components,
        code_version="2",
        io="arrays",
        inputs=(
            every("exact_duplicates"),
            every("verified_pairs"),
            every("minhashes", segment=SKETCH),
            every("normalized_documents", segment=NAMES),
            every("short_documents", segment=FLAGS),
        ),
        parameters=(
            "dedup.keep",
            "dedup.priority",
            "dedup.guard.action",
            "dedup.guard.max_cluster",
            "dedup.guard.resemblance",
            "dedup.guard.max_examined",
            "dedup.short_documents",
        ),
        derived_parameters=guard_rule,
        gate=retention,
        notes=loss_notes,
        kernels=compiled.of_components,
        columns={
            "member": "uint32: number of a document of the cluster",
            "kept": "uint32: number of the document kept in its stead",
            "size": "uint32: documents of the cluster",
        },
        kinds=("numba", "networkit"),
    ),
    Stage(
        name="duplicates",
        group="dedup",
        unit_in="documents",
        unit_out="documents",
        description="Which documents of a shard are duplicates, of which kept document, in a cluster of what size.",
        partitioning=Partitioning.SHARD,
        compute=duplicates,
        code_version="2",
        io="documents",
        inputs=(own_segment("components"), same("short_documents")),
        columns={
            "id": "string: of the document in the same row",
            "attributes": "json: `duplicate` if it goes, with the size of its cluster",
            "source": "string: of the document",
            "kept": "json: the document kept in its stead",
        },
        kinds=("jsonl", "dolma"),
    ),
]
