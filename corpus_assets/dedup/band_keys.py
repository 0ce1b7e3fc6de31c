"""The asset `band_keys`: a key per band by which the documents of a shard are paired, and their digests."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.ranges import by_digest
from corpus_assets.dedup.left_out import is_left_out
from corpus_assets.dedup.shared import DIGESTS, FEATURELESS, save_starts, takes_part
from corpus_assets.dedup.signatures.bands import band_keys as make_band_keys
from corpus_assets.dedup.signatures.minhash import featureless
from resources.hashing import content_digest
from resources.stage.settings import band_key, range_key
from resources.stage.task import Task


def band_keys(task: Task) -> None:
    """Writes a shard's band keys, shape (bands, rows), and the digests of its texts by range.

    Excluded documents have the key 0, and no digest.
    """
    signed = task.input("minhashes")
    signatures = signed.array(".signatures.npy")
    eligible = takes_part(task, task.input("short_documents")) & ~is_left_out(task, len(signatures))
    taking_part = eligible if task[FEATURELESS] else eligible & ~featureless(signatures)
    keys = make_band_keys(signatures, task["minhash.bands"], task["minhash.rows"], taking_part)
    path = f"minhashes/{task.shard.source}/{task.shard.name}"
    scheme = {key: value for key, value in signed.json(".scheme.json").items() if key != "sketch"}
    layout = {"bands": task["minhash.bands"], "rows": task["minhash.rows"]}
    task.save_array(f"{path}.bands.npy", keys)
    task.save_json(f"{path}.bands.scheme.json", scheme | layout, rows=1)
    for band, row in enumerate(keys):
        task.segments[band_key(band)] = content_digest(row.tobytes())
    _save_digests(task, path, eligible)
    task.count(rows_in=len(signatures), rows_out=len(signatures), take_part=int(taking_part.sum()))


def _save_digests(task: Task, path: str, eligible: NDArray[np.bool_]) -> None:
    digests = task.input("normalized_documents").array(".texts.npy")["digest"]
    table, starts = by_digest(digests, eligible, task["dedup.ranges"])
    task.save_array(f"{path}{DIGESTS}", table)
    save_starts(task, starts)
    for number, (start, stop) in enumerate(pairwise(starts)):
        task.segments[range_key(number)] = content_digest(table[start:stop].tobytes())
