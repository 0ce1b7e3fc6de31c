"""The asset `band_keys`: one key per band and document of a shard."""

from corpus_assets.dedup.shared import FEATURELESS, takes_part
from corpus_assets.dedup.signatures.bands import band_keys as make_band_keys
from corpus_assets.dedup.signatures.minhash import featureless
from resources.hashing import content_digest
from resources.stage.settings import band_key
from resources.stage.task import Task


def band_keys(task: Task) -> None:
    """Writes a shard's band keys, shape (bands, rows); documents that take no part have the key 0."""
    signed = task.input("minhashes")
    signatures = signed.array(".signatures.npy")
    taking_part = takes_part(task, task.input("short_documents"))
    if not task[FEATURELESS]:
        taking_part &= ~featureless(signatures)
    keys = make_band_keys(signatures, task["minhash.bands"], task["minhash.rows"], taking_part)
    path = f"minhashes/{task.shard.source}/{task.shard.name}"
    scheme = {key: value for key, value in signed.json(".scheme.json").items() if key != "sketch"}
    layout = {"bands": task["minhash.bands"], "rows": task["minhash.rows"]}
    task.save_array(f"{path}.bands.npy", keys)
    task.save_json(f"{path}.bands.scheme.json", scheme | layout, rows=1)
    for band, row in enumerate(keys):
        task.segments[band_key(band)] = content_digest(row.tobytes())
    task.count(rows_in=len(signatures), rows_out=len(signatures), take_part=int(taking_part.sum()))
