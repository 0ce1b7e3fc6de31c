"""The similarity of two documents, measured as in the search for near-duplicates."""

from tempfile import TemporaryFile
from typing import Any

import numpy as np

from corpus_assets.dedup.documents.numbering import shard_source
from corpus_assets.dedup.shared import stored_scheme
from corpus_assets.dedup.signatures.scheme import Sketched
from corpus_assets.dedup.signatures.sketches import estimate
from corpus_assets.dedup.similarity.jaccard import OfDocument, exact_similarities
from corpus_assets.dedup.templates.reading import TEMPLATES, template_of_source
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.tables import TEXTS, text_at
from resources.stage.partition import Partition

_MEMORY = 1 << 26
_LONGEST = 1 << 25
"""Bytes of both texts up to which their shingles are compared; of longer ones the sketches say how alike they are."""


def resemblance(look: Look, left: tuple[Partition, int], right: tuple[Partition, int]) -> dict[str, Any]:
    """Returns how alike two documents are, each given as partition and row.

    `equal` says whether the texts are the same. Else `resemblance` is the Jaccard similarity of their shingles, 0 to 1,
    and `by` says what it was measured with: the texts, or the sketches, which estimate it. Templates are left out.
    """
    rows = [documents.array_rows(TEXTS, row, row + 1)[0] for documents, row in (left, right)]
    if rows[0]["digest"].tobytes() == rows[1]["digest"].tobytes():
        return {"equal": True, "resemblance": 1.0, "by": "digests"}
    hashes = [look.partition("minhashes", documents.key) for documents, _ in (left, right)]
    if hashes[0] is None or hashes[1] is None:
        return {"equal": False}
    scheme = Sketched.read(stored_scheme([one for one in hashes if one is not None]))
    if sum(int(row["bytes"]) for row in rows) > _LONGEST:
        places = zip((hashes[0], hashes[1]), (left[1], right[1]), strict=True)
        sketches = [one.array_rows(".sketch.npy", row, row + 1)[0] for one, row in places]
        differing = int(np.unpackbits(sketches[0] ^ sketches[1]).sum())
        found = float(estimate(scheme.bits - differing, scheme.bits))
        return {"equal": False, "resemblance": round(max(0.0, found), 4), "by": "sketches"}
    texts = enumerate(text_at(*one) for one in (left, right))
    pair = np.array([[0, 1]], np.uint32)
    ((_, similar),) = exact_similarities(
        [pair], texts, scheme.scheme, memory=_MEMORY, spill=TemporaryFile, template=_templates(look, left[0], right[0])
    )
    return {"equal": False, "resemblance": round(float(similar[0]), 4), "by": "texts"}


def _templates(look: Look, left: Partition, right: Partition) -> OfDocument | None:
    """Returns the template of the source of each of two documents, 0 and 1; None if there are no templates."""
    whole = look.partition(TEMPLATES, None)
    if whole is None:
        return None
    found = [template_of_source(whole, shard_source(one.key or "")) for one in (left, right)]
    return lambda number: found[number]
