"""Every HDF5 file is what its record says: shape, range of ids, counts."""

import dagster as dg

from corpus_assets.corpus import Corpus
from corpus_assets.stage import asset_key
from corpus_assets.tokenize.hdf5 import LM_FEATURES, read_hdf5
from corpus_assets.tokenize.statistics import Statistics, recount
from resources.task import Part

TOKEN_FILES = "token_files"


def faults_of(part: Part, sequence_length: int, inverted: bool) -> list[str]:
    """What is wrong with one token file, in words."""
    faults: list[str] = []
    counters = Statistics.from_dict(part.record.statistics["counters"])
    with part.open(".h5") as raw, read_hdf5(raw, str(part.partition)) as rows:
        vocabulary = int(rows.attributes["vocab_size"])
        shape = (rows.n, len(rows.features), rows.sequence_length)
        if shape != (counters.n_examples, len(LM_FEATURES), sequence_length):
            faults.append(f"shape {shape}, expected ({counters.n_examples}, {len(LM_FEATURES)}, {sequence_length})")
        found = recount(rows.blocks(), inverted)
        for block in rows.blocks():
            ids = block[:, (0, 2)]
            if ids.min() < 0 or ids.max() >= vocabulary:
                faults.append(f"ids {ids.min()}..{ids.max()}, vocabulary has {vocabulary}")
        if rows.digest() != rows.attributes["content_digest"]:
            faults.append("content differs from its own digest")
    for name in ("n_examples", "num_tokens", "loss_valid_tokens", "num_pad_tokens", "non_pad_tokens"):
        if getattr(found, name) != getattr(counters, name):
            faults.append(f"{name} is {getattr(found, name)}, recorded {getattr(counters, name)}")
    if counters.unaccounted_tokens:
        faults.append(f"{counters.unaccounted_tokens} tokens are in no row and not counted as dropped")
    return [f"{part.partition}: {fault}" for fault in faults]


def token_files(corpus: Corpus, dataset: str) -> dg.AssetChecksDefinition:
    """Shape, range of ids, counts and digest of every HDF5 file, recomputed from its arrays."""
    settings = next(entry for entry in corpus.config.datasets if entry.name == dataset)

    @dg.asset_check(asset=asset_key(f"tokens/{dataset}"), name=TOKEN_FILES, description=token_files.__doc__)
    def check() -> dg.AssetCheckResult:
        records = corpus.ledger.records(f"tokens/{dataset}").values()
        parts = [Part(corpus.storage, record) for record in records]
        faults = [
            fault for part in parts for fault in faults_of(part, settings.sequence_length, settings.inverted_mask)
        ]
        rows = sum(part.record.statistics["rows_out"] for part in parts)
        metadata = {"files": len(parts), "rows": rows, "faults": faults[:20]}
        return dg.AssetCheckResult(passed=bool(parts) and not faults, metadata=metadata)

    return check
