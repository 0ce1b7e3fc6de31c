"""Every HDF5 file is what its record says: shape, range of ids, counts."""

from collections.abc import Iterator

import dagster as dg

from corpus_assets.corpus import Corpus
from corpus_assets.evaluation import UNREADABLE, current_parts, result
from corpus_assets.stage import asset_key
from corpus_assets.tokenize.hdf5 import LM_FEATURES, HDF5Rows, read_hdf5
from corpus_assets.tokenize.statistics import Statistics, recount
from resources.task import Part

TOKEN_FILES = "token_files"


def faults_of(part: Part, sequence_length: int, inverted: bool) -> list[str]:
    """What is wrong with one token file, in words."""
    try:
        with part.open(".h5") as raw, read_hdf5(raw, str(part.partition)) as rows:
            faults = list(_faults(part, rows, sequence_length, inverted))
    except UNREADABLE as error:
        faults = [f"cannot be read: {error}"]
    return [f"{part.partition}: {fault}" for fault in faults]


def _faults(part: Part, rows: HDF5Rows, sequence_length: int, inverted: bool) -> Iterator[str]:
    counters = Statistics.from_dict(part.record.statistics["counters"])
    expected = (counters.n_examples, len(LM_FEATURES), sequence_length)
    if (shape := (rows.n, len(rows.features), rows.sequence_length)) != expected:
        yield f"shape {shape}, expected {expected}"
    vocabulary = int(rows.attributes["vocab_size"])
    for block in rows.blocks():
        ids = block[:, (0, 2)]
        if ids.min() < 0 or ids.max() >= vocabulary:
            yield f"ids {ids.min()}..{ids.max()}, vocabulary has {vocabulary}"
    if rows.digest() != part.file(".h5").digest:
        yield "content differs from what was recorded"
    found = recount(rows.blocks(), inverted)
    for name in ("n_examples", "num_tokens", "loss_valid_tokens", "num_pad_tokens", "non_pad_tokens"):
        if getattr(found, name) != getattr(counters, name):
            yield f"{name} is {getattr(found, name)}, recorded {getattr(counters, name)}"
    if counters.unaccounted_tokens:
        yield f"{counters.unaccounted_tokens} tokens are in no row and not counted as dropped"


def token_files(corpus: Corpus, dataset: str) -> dg.AssetChecksDefinition:
    """Shape, range of ids, counts and digest of every HDF5 file, recomputed from its arrays."""
    settings = next(entry for entry in corpus.config.datasets if entry.name == dataset)

    @dg.asset_check(asset=asset_key(f"tokens/{dataset}"), name=TOKEN_FILES, description=token_files.__doc__)
    def check() -> dg.AssetCheckResult:
        parts = current_parts(corpus, f"tokens/{dataset}")
        faults = [
            fault for part in parts for fault in faults_of(part, settings.sequence_length, settings.inverted_mask)
        ]
        rows = sum(part.record.statistics["rows_out"] for part in parts)
        return result(faults, {"files": len(parts), "rows": rows})

    return check
