"""Near-duplicates: signatures, band keys, candidate pairs per band, components, and the duplicates of each shard."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from corpus_assets.dedup.bands import band_keys as make_band_keys
from corpus_assets.dedup.clusters import Numbering, cluster_digest
from corpus_assets.dedup.components import UnionFind
from corpus_assets.dedup.pairs import star_pairs
from corpus_assets.dedup.signatures import SignatureScheme, featureless, sign
from resources.attributes import CLUSTER_SIZE, DUPLICATE, SHORT, attribute_line, attribute_rows, flags
from resources.errors import LedgerError
from resources.graph import Partitioning, Stage, every, same, segment
from resources.hashing import content_digest
from resources.settings import band_key
from resources.task import Task

_BLOCK = 1024


def minhashes(task: Task) -> None:
    """Write the MinHash signature of every document of a shard."""
    scheme = SignatureScheme(
        task["minhash.family"], task["minhash.permutations"], task["minhash.seed"], task["minhash.width"]
    )
    part = task.input("normalized_documents")
    path = f"minhashes/{task.shard.source}/{task.shard.name}.signatures.npy"
    text_bytes = int(part.array(".texts.npy")["bytes"].sum(dtype=np.uint64))
    with task.array(path, np.uint32, (scheme.permutations,)) as out:
        held: list[np.ndarray] = []
        for signature in sign((document.text for document in part.documents()), scheme):
            held.append(signature)
            if len(held) == _BLOCK:
                out.append(np.stack(held))
                held.clear()
        if held:
            out.append(np.stack(held))
    task.count(rows_in=task.files[-1].rows, rows_out=task.files[-1].rows, text_bytes=text_bytes)


def band_keys(task: Task) -> None:
    """Write the band keys of a shard, shape (bands, rows); documents that take no part have key 0."""
    signatures = task.input("minhashes").array(".signatures.npy")
    takes_part = None
    if task["dedup.short_documents"] == "exclude":
        lines = task.input("short_documents").lines()
        short = np.fromiter(flags(lines, SHORT), dtype=np.bool_, count=len(signatures))
        takes_part = ~short & ~featureless(signatures)
    keys = make_band_keys(signatures, task["minhash.bands"], task["minhash.rows"], takes_part)
    task.save_array(f"minhashes/{task.shard.source}/{task.shard.name}.bands.npy", keys)
    for band, row in enumerate(keys):
        task.segments[band_key(band)] = content_digest(row.tobytes())
    part = len(signatures) if takes_part is None else int(takes_part.sum())
    task.count(rows_in=len(signatures), rows_out=len(signatures), take_part=part)


def duplicate_pairs(task: Task) -> None:
    """Write the candidate pairs of one band over all shards, as document numbers, and the numbering they use."""
    band = task.key
    row = int(band.removeprefix("band-"))
    parts = task.inputs("band_keys")
    # One shard is mapped at a time: a map holds a file descriptor.
    numbering = Numbering.of((part.partition or "", part.array(".bands.npy").shape[1]) for part in parts)
    edges = 0
    with task.array(f"duplicate_pairs/{band}.npy", np.uint32, (2,)) as out:
        rows = (part.array(".bands.npy")[row] for part in parts)
        for block in star_pairs(rows, memory=task.memory, spill=task.pending.scratch):
            out.append(block)
            edges += len(block)
    task.save_json(f"duplicate_pairs/{band}.shards.json", numbering.table(), rows=len(parts))
    task.count(rows_in=numbering.total, rows_out=edges, pairs=edges)


def components(task: Task) -> None:
    """Join the pairs of all bands into clusters; write every member with the document kept in its stead."""
    parts = task.inputs("duplicate_pairs")
    tables = [part.json(".shards.json") for part in parts]
    if any(table != tables[0] for table in tables[1:]):
        raise LedgerError("bands were paired over different sets of shards; run `corpus build` to renew them")
    numbering = Numbering.of((row["shard"], row["rows"]) for row in tables[0])
    sets = UnionFind(numbering.total)
    for part in parts:
        sets.add(part.array(".npy"))
    members, kept, sizes = sets.clusters()
    clusters = np.stack([members, kept, sizes], axis=1).astype(np.uint32)
    task.save_array("components/clusters.npy", clusters)
    task.save_json("components/shards.json", numbering.table(), rows=len(tables[0]))
    for shard, block in numbering.blocks(clusters):
        task.segments[shard] = cluster_digest(numbering, block)
    removed = len(members) - len(np.unique(kept))
    largest = int(sizes.max()) if len(sizes) else 0
    task.count(rows_in=numbering.total, rows_out=len(members), clusters=len(members) - removed, largest=largest)
    task.count(duplicates=removed)


def duplicates(task: Task) -> None:
    """Mark the duplicates of a shard, as a row-aligned Dolma attribute that names the document kept instead."""
    part = task.input("components")
    numbering = Numbering.of((row["shard"], row["rows"]) for row in part.json("shards.json"))
    block = numbering.block(part.array("clusters.npy"), task.shard.key)
    first = numbering.first(task.shard.key)
    removed = {int(member) - first: (int(kept), int(size)) for member, kept, size in block if member != kept}
    rows = 0
    with task.lines(f"attributes/duplicates/{task.shard.source}/{task.shard.name}.jsonl.gz") as out:
        for row, document in enumerate(attribute_rows(task.input("short_documents").lines())):
            rows += 1
            if row not in removed:
                out.write(attribute_line(document.id, document.source, {}))
                continue
            kept, size = removed[row]
            _, end, _ = document.attributes[SHORT][0]
            spans = {DUPLICATE: [(0, end, 1.0)], CLUSTER_SIZE: [(0, end, float(size))]}
            shard, kept_row = numbering.locate(kept)
            out.write(attribute_line(document.id, document.source, spans, {"shard": shard, "row": kept_row}))
    task.count(rows_in=rows, rows_out=rows, duplicates=len(removed))
    task.count(duplicate_share=round(len(removed) / max(1, rows), 6))


def source_order(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The order of sources decides which document of a cluster is kept."""
    return {"order of sources": [source["name"] for source in settings["sources"]]}


STAGES = [
    Stage(
        name="minhashes",
        group="dedup",
        description="MinHash signature of every document: uint32 values over character shingles of the cleaned text.",
        partitioning=Partitioning.SHARD,
        compute=minhashes,
        code_version="1",
        kind="arrays",
        inputs=(same("normalized_documents"),),
        parameters=("minhash.family", "minhash.permutations", "minhash.seed", "minhash.width"),
        columns={"signature": "uint32[permutations]"},
        tools=("numpy",),
    ),
    Stage(
        name="band_keys",
        group="dedup",
        description="One 64-bit key per band and document; short and featureless documents take no part.",
        partitioning=Partitioning.SHARD,
        compute=band_keys,
        code_version="1",
        kind="arrays",
        inputs=(same("minhashes"), same("short_documents")),
        parameters=("minhash.bands", "minhash.rows", "dedup.short_documents"),
        columns={"key": "uint64[bands]"},
        tools=("numpy",),
    ),
    Stage(
        name="duplicate_pairs",
        group="dedup",
        description="Candidate pairs of one band over all shards: documents with equal keys, as a star per key.",
        partitioning=Partitioning.BAND,
        compute=duplicate_pairs,
        code_version="1",
        kind="arrays",
        inputs=(segment("band_keys"),),
        extra_parameters=source_order,
        columns={"first": "uint32", "later": "uint32"},
        tools=("numpy",),
    ),
    Stage(
        name="components",
        group="dedup",
        description="Clusters of near-duplicates: every member, the document kept in its stead, and the cluster size.",
        partitioning=Partitioning.NONE,
        compute=components,
        code_version="1",
        kind="arrays",
        inputs=(every("duplicate_pairs"),),
        columns={"member": "uint32", "kept": "uint32", "size": "uint32"},
        tools=("numpy",),
    ),
    Stage(
        name="duplicates",
        group="dedup",
        description="Which documents of a shard are duplicates, of which kept document, in a cluster of what size.",
        partitioning=Partitioning.SHARD,
        compute=duplicates,
        code_version="1",
        kind="documents",
        inputs=(segment("components"), same("short_documents")),
        columns={"id": "string", "attributes": "json", "source": "string", "kept": "json"},
        tools=("jsonl", "dolma"),
    ),
]
