"""Near-duplicates: signatures, band keys, candidate pairs per band, components, and the duplicates of each shard."""

from collections.abc import Mapping
from typing import Any

from corpus_assets.dedup.clustering import components, duplicates
from corpus_assets.dedup.pairing import duplicate_pairs, verified_pairs
from corpus_assets.dedup.report import broken_floors
from corpus_assets.dedup.scheme import CLEANING
from corpus_assets.dedup.shards import FEATURELESS, NEIGHBOURS, ORDER, SCHEME
from corpus_assets.dedup.signing import band_keys, exact_duplicates, minhashes
from resources.attributes import FLAGS
from resources.graph import Partitioning, Stage, every, same, segment
from resources.rows import NAMES, SIGNATURES, SKETCH, TEXTS


def cleaning_version(_: Mapping[str, Any]) -> dict[str, Any]:
    """Signatures of differently cleaned texts must not be compared."""
    return {"cleaning": CLEANING}


def source_order(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The order of sources decides which document of a cluster comes first."""
    return {ORDER: [source["name"] for source in settings["sources"]]}


def pairing_rule(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Neighbours are paired too where pairs are checked: the first of a bucket may turn out unlike a later one."""
    return source_order(settings) | {NEIGHBOURS: settings["dedup"]["verify"] != "none"}


def featureless_rule(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Documents without a shingle pair in the reference; a check would find nothing to compare."""
    dedup = settings["dedup"]
    return {FEATURELESS: dedup["short_documents"] == "include" and dedup["verify"] == "none"}


def retention(statistics: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
    """Sources that lose more documents than `dedup.max_loss` allows, and clusters that nobody could look at."""
    faults = broken_floors(statistics["sources"], settings["dedup"]["max_loss"])
    if count := statistics["unexamined_clusters"]:
        faults.append(
            f"{count:,} clusters hold documents unlike the one that is kept and have more than "
            f"dedup.guard.max_examined ({settings['dedup']['guard']['max_examined']:,}) documents"
        )
    return faults


STAGES = [
    Stage(
        name="minhashes",
        group="dedup",
        description="MinHash signature of every document, over the shingles of its cleaned text, and the sketch that "
        "candidates are checked with.",
        partitioning=Partitioning.SHARD,
        compute=minhashes,
        code_version="2",
        kind="arrays",
        inputs=(same("normalized_documents", part=TEXTS),),
        parameters=(*SCHEME, "minhash.sketch"),
        extra_parameters=cleaning_version,
        columns={"signature": "uint32[permutations]", "sketch": "uint8[bits / 8]"},
        tools=("numba",),
    ),
    Stage(
        name="exact_duplicates",
        group="dedup",
        description="Documents with equal texts, found by digest: each later one with the first of its kind.",
        partitioning=Partitioning.NONE,
        compute=exact_duplicates,
        code_version="1",
        kind="arrays",
        inputs=(every("normalized_documents", part=TEXTS), every("short_documents", part=FLAGS)),
        parameters=("dedup.exact_first", "dedup.short_documents"),
        extra_parameters=source_order,
        columns={"first": "uint32", "later": "uint32"},
        tools=("numpy",),
    ),
    Stage(
        name="band_keys",
        group="dedup",
        description="One 64-bit key per band and document; short and featureless documents take no part.",
        partitioning=Partitioning.SHARD,
        compute=band_keys,
        code_version="2",
        kind="arrays",
        inputs=(same("minhashes", part=SIGNATURES), same("short_documents", part=FLAGS)),
        parameters=("minhash.bands", "minhash.rows", "dedup.short_documents"),
        extra_parameters=featureless_rule,
        columns={"key": "uint64[bands]"},
        tools=("numpy",),
    ),
    Stage(
        name="duplicate_pairs",
        group="dedup",
        description="Candidate pairs of one band over all shards: documents with equal keys, as a star per key; later "
        "copies of equal texts take no part.",
        partitioning=Partitioning.BAND,
        compute=duplicate_pairs,
        code_version="2",
        kind="arrays",
        inputs=(segment("band_keys"), same("exact_duplicates")),
        extra_parameters=pairing_rule,
        columns={"first": "uint32", "later": "uint32"},
        tools=("numba",),
    ),
    Stage(
        name="verified_pairs",
        group="dedup",
        description="Candidate pairs of all bands, each once, whose signatures or texts are similar enough.",
        partitioning=Partitioning.NONE,
        compute=verified_pairs,
        code_version="1",
        kind="arrays",
        inputs=(
            every("duplicate_pairs"),
            every("minhashes", part=SKETCH),
            every("normalized_documents", part=TEXTS),
        ),
        parameters=("dedup.verify", "dedup.threshold"),
        columns={"first": "uint32", "later": "uint32"},
        tools=("numba",),
    ),
    Stage(
        name="components",
        group="dedup",
        description="Clusters of near-duplicates: every member, the document kept in its stead, and the cluster size.",
        partitioning=Partitioning.NONE,
        compute=components,
        code_version="2",
        kind="arrays",
        inputs=(
            same("exact_duplicates"),
            same("verified_pairs"),
            every("minhashes", part=SKETCH),
            every("normalized_documents", part=NAMES),
            every("short_documents", part=FLAGS),
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
        extra_parameters=source_order,
        gate=retention,
        columns={"member": "uint32", "kept": "uint32", "size": "uint32"},
        tools=("numba", "networkit"),
    ),
    Stage(
        name="duplicates",
        group="dedup",
        description="Which documents of a shard are duplicates, of which kept document, in a cluster of what size.",
        partitioning=Partitioning.SHARD,
        compute=duplicates,
        code_version="2",
        kind="documents",
        inputs=(segment("components"), same("short_documents")),
        columns={"id": "string", "attributes": "json", "source": "string", "kept": "json"},
        tools=("jsonl", "dolma"),
    ),
]
