"""Per shard: signatures and band keys; over all shards: the exact duplicates, which take no part in pairing."""

from collections.abc import Iterator

import numpy as np

from corpus_assets.dedup.bands import band_keys as make_band_keys
from corpus_assets.dedup.candidates import unique_pairs
from corpus_assets.dedup.clusters import ShardMarks, removal_rows
from corpus_assets.dedup.exact import exact_pairs
from corpus_assets.dedup.pairs import Edges
from corpus_assets.dedup.shards import FEATURELESS, numbering_of, scheme_of, takes_part
from corpus_assets.dedup.signatures import featureless, sign_and_sketch
from resources.hashing import content_digest
from resources.rows import SIGNATURES, SKETCH
from resources.settings import band_key
from resources.task import Task

_RANGE = 1 << 20


def minhashes(task: Task) -> None:
    """Write the MinHash signature and the sketch of every document of a shard, and the scheme they are made by."""
    wanted = scheme_of(task)
    scheme, bits = wanted.scheme, wanted.bits
    part = task.input("normalized_documents")
    path = f"minhashes/{task.shard.source}/{task.shard.name}"
    text_bytes = int(part.array(".texts.npy")["bytes"].sum(dtype=np.uint64))
    texts = (document.text for document in part.documents())
    with (
        task.array(f"{path}.sketch.npy", np.uint8, (bits // 8,)) as sketches,
        task.array(f"{path}.signatures.npy", np.uint32, (scheme.permutations,)) as signatures,
    ):
        for signed, sketched in sign_and_sketch(texts, scheme, bits):
            signatures.append(signed)
            sketches.append(sketched)
    task.save_json(f"{path}.scheme.json", wanted.described(), rows=1)
    *arrays, described = task.files
    for name, file in zip((SIGNATURES, SKETCH), arrays, strict=True):
        made_by = repr(scheme) if name == SIGNATURES else described.digest
        task.segments[name] = content_digest(file.digest.encode(), made_by.encode())
    rows = arrays[0].rows
    task.count(rows_in=rows, rows_out=rows, text_bytes=text_bytes)


def exact_duplicates(task: Task) -> None:
    """Write the pairs of documents with equal texts, each with the first of its kind; by shard, who is a later one."""
    documents, short = task.inputs("normalized_documents"), task.inputs("short_documents")
    numbering = numbering_of(documents)
    half, spill = task.memory // 2, task.pending.scratch
    shards = (
        (np.ascontiguousarray(part.array(".texts.npy")["digest"]), takes_part(task, attribute))
        for part, attribute in zip(documents, short, strict=True)
    )
    found: Iterator[Edges] = iter(())
    if task["dedup.exact_first"]:
        found = exact_pairs(shards, memory=half, spill=spill, dtype=numbering.dtype)
    marks = ShardMarks(numbering)
    with task.array("exact_duplicates/pairs.npy", numbering.dtype, (2,)) as out:
        for _, pairs in unique_pairs(found, numbering.total, _RANGE, memory=half, spill=spill):
            out.append(pairs)
            marks.add(pairs[:, 1], removal_rows(numbering, pairs[:, 1], pairs[:, 0]))
    task.segments.update(marks.digests())
    count = task.files[0].rows
    task.save_json("exact_duplicates/shards.json", numbering.table(), rows=len(documents))
    task.count(rows_in=numbering.total, rows_out=count, exact_duplicates=count)


def band_keys(task: Task) -> None:
    """Write a shard's band keys, shape (bands, rows); documents that take no part have key 0."""
    part = task.input("minhashes")
    signatures = part.array(".signatures.npy")
    taking_part = takes_part(task, task.input("short_documents"))
    if not task[FEATURELESS]:
        taking_part &= ~featureless(signatures)
    keys = make_band_keys(signatures, task["minhash.bands"], task["minhash.rows"], taking_part)
    path = f"minhashes/{task.shard.source}/{task.shard.name}"
    scheme = {key: value for key, value in part.json(".scheme.json").items() if key != "sketch"}
    layout = {"bands": task["minhash.bands"], "rows": task["minhash.rows"]}
    task.save_array(f"{path}.bands.npy", keys)
    task.save_json(f"{path}.bands.scheme.json", scheme | layout, rows=1)
    for band, row in enumerate(keys):
        task.segments[band_key(band)] = content_digest(row.tobytes())
    task.count(rows_in=len(signatures), rows_out=len(signatures), take_part=int(taking_part.sum()))
