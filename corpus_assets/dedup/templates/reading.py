"""The templates of a corpus, as later stages read them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.numbering import Numbering, shard_source
from corpus_assets.dedup.signatures.template import NOTHING
from corpus_assets.dedup.similarity.jaccard import OfDocument
from resources.stage.partition import Partition
from resources.stage.task import Task

TEMPLATES = "templates"
SHARE = "dedup.template_share"
SHINGLES, SOURCES = "shingles.npy", "sources.json"

Template = NDArray[np.uint64]
"""The hashes of the shingles of a source's template, ascending."""


def template_of_shard(task: Task) -> Template:
    """Returns the template of the source of a shard; none if no templates are looked for."""
    if not task.reads(TEMPLATES):
        return NOTHING
    return template_of_source(task.input(TEMPLATES), shard_source(task.key))


def templates_of(task: Task, numbering: Numbering) -> OfDocument | None:
    """Returns the templates of all documents; None if no templates are looked for."""
    return of_documents(task.inputs(TEMPLATES), numbering) if task.reads(TEMPLATES) else None


def of_documents(templates: Sequence[Partition], numbering: Numbering) -> OfDocument:
    """Returns the templates of all documents. templates: the one partition that has them."""
    (whole,) = templates
    by_source = {source: template_of_source(whole, source) for source in set(numbering.sources)}
    found = [by_source[source] for source in numbering.sources]
    firsts = numbering.bounds[1:]
    return lambda document: found[int(np.searchsorted(firsts, np.uint64(document), side="right"))]


def template_of_source(templates: Partition, source: str) -> Template:
    """Returns the template of a source; none if it has none. templates: the one partition that has all."""
    places: dict[str, Any] = templates.json(SOURCES)
    if source not in places:
        return NOTHING
    start, stop = places[source]["from"], places[source]["to"]
    return np.array(templates.array(SHINGLES)[start:stop], dtype=np.uint64)
