"""The asset `minhashes`: signature and sketch of every document of a shard."""

import numpy as np

from corpus_assets.dedup.shared import scheme_of
from corpus_assets.dedup.signatures.minhash import sign_and_sketch
from corpus_assets.dedup.templates.reading import template_of_shard
from resources.formats.row_tables import SIGNATURES, SKETCH
from resources.hashing import content_digest
from resources.stage.task import Task


def minhashes(task: Task) -> None:
    """Writes the MinHash signature and the sketch of every document of a shard, and the scheme of both."""
    wanted = scheme_of(task)
    scheme, bits = wanted.scheme, wanted.bits
    documents = task.input("normalized_documents")
    path = f"minhashes/{task.shard.source}/{task.shard.name}"
    text_bytes = int(documents.array(".texts.npy")["bytes"].sum(dtype=np.uint64))
    with (
        task.array(f"{path}.sketch.npy", np.uint8, (bits // 8,)) as sketches,
        task.array(f"{path}.signatures.npy", np.uint32, (scheme.permutations,)) as signatures,
    ):
        for signed, sketched in sign_and_sketch(documents.texts(), scheme, bits, template_of_shard(task)):
            signatures.append(signed)
            sketches.append(sketched)
    described = task.save_json(f"{path}.scheme.json", wanted.described(), rows=1)
    task.segments[SIGNATURES] = content_digest(signatures.written.digest.encode(), repr(scheme).encode())
    task.segments[SKETCH] = content_digest(sketches.written.digest.encode(), described.digest.encode())
    rows = signatures.written.rows
    task.count(rows_in=rows, rows_out=rows, text_bytes=text_bytes)
