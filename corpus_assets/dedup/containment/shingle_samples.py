"""The asset `shingle_samples`: a sample of the shingles of each document of a shard, by range of hash."""

import numpy as np

from corpus_assets.dedup.containment.samples import range_of, rows_of_batch, sample_rows, sampled
from corpus_assets.dedup.containment.shared import shingling_of
from corpus_assets.dedup.shared import save_by_range
from corpus_assets.dedup.signatures.bands import NO_KEY
from corpus_assets.dedup.templates.reading import template_of_shard
from resources.spill import Buckets
from resources.stage.settings import band_key
from resources.stage.task import Task


def shingle_samples(task: Task) -> None:
    """Writes the samples of the documents of a shard that take part in the search for near-duplicates."""
    documents, keys = task.input("normalized_documents"), task.input("band_keys").array(".bands.npy")
    takes_part = np.array(keys[0] != NO_KEY)
    kind, ranges = sample_rows(len(takes_part)), task["dedup.ranges"]
    first = without = 0
    with Buckets(ranges, kind, task.memory // 4, task.scratch) as by_range:
        for hashes, sizes in sampled(documents.texts(), shingling_of(task), template_of_shard(task)):
            rows = rows_of_batch(hashes, sizes, first, kind)
            rows = rows[takes_part[rows["row"]]]
            by_range.append(range_of(rows["hash"], ranges), rows)
            without += int((takes_part[first : first + len(sizes)] & (sizes == 0)).sum())
            first += len(sizes)
        found = save_by_range(task, f"shingle_samples/{task.shard.source}/{task.shard.name}.npy", by_range, kind)
    task.count(rows_in=first, rows_out=found, without_sample=without)


BAND = band_key(0)
"""The segment of `band_keys` that says which documents take part."""
