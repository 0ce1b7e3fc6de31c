"""In which split the documents are that the corpus keeps, by the rule that the stored splits were made with."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.numbering import shard_source
from corpus_assets.split.decontaminate import contaminated
from corpus_assets.split.holdout import held_out, is_validation
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.tables import TEXTS, count_of
from resources.formats.row_tables import digests
from resources.stage.partition import Partition

TRAIN, VALIDATION, TEST, NEITHER = "train", "validation", "test", "text in holdout"
SPLITS = (TRAIN, VALIDATION, TEST, NEITHER)
"""`NEITHER`: a document for training whose text another source holds out."""

NOT_KNOWN, NONE = "not known", "none"


def splits_of(look: Look, documents: Partition, kept: NDArray[np.bool_], after: NDArray[np.integer]) -> Sequence[str]:
    """Returns the split of each of some documents of a shard: one of `SPLITS`, `NONE`, or `NOT_KNOWN`.

    kept: (documents,) which are kept; the others are in no split. after: (documents,) the row of each among those that
    the filter kept. It is not known before the splits are built, nor where their method goes by places in chunks.
    """
    found = np.where(kept, NOT_KNOWN, NONE).astype(object)
    texts, rows = look.partition(look.documents, documents.key), np.flatnonzero(kept)
    if texts is not None and len(rows) and int(after[rows].max()) < count_of(texts):
        found[rows] = _of_texts(look, shard_source(documents.key or ""), digests(texts.array(TEXTS)[after[rows]]))
    words: list[str] = found.tolist()
    return words


def _of_texts(look: Look, source: str, sha256: Sequence[bytes]) -> NDArray[np.object_]:
    """Returns the split of each text of a source by its digest."""
    found = np.full(len(sha256), NOT_KNOWN, object)
    selection, hashes = look.partition("holdout_selection", None), look.partition("holdout_hashes", None)
    train, validation = _parameters(look, "train"), _parameters(look, "validation")
    thresholds = selection.json() if selection is not None else {}
    if source not in thresholds or train.get("split.method", "slimpajama") == "slimpajama":
        return found
    sources = [source] * len(sha256)
    held = held_out(sources, sha256, train["split.seed"], thresholds)
    if hashes is not None:
        found[~held] = np.where(contaminated(sha256, hashes.array(".npy")), NEITHER, TRAIN)[~held]
    if validation:
        first = is_validation(sources, sha256, validation["split.seed"], validation["split.validation"])
        found[held] = np.where(first, VALIDATION, TEST)[held]
    return found


def _parameters(look: Look, asset: str) -> Mapping[str, Any]:
    """Returns the parameters of an asset that is built; all of its records have the same, unless a build is due."""
    return next((record.parameters for record in look.records(asset).values()), {})
