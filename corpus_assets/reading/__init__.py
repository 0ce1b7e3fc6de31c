"""Readers of token streams for trainers: documents, windows in a keyed order, batches that a run can continue.

They know neither Dagster nor, unless a stream is opened by its corpus.yaml, the asset graph (docs/reading.md).
"""

from corpus_assets.reading.errors import ReadingError
from corpus_assets.reading.of_state import batches_of_state
from corpus_assets.reading.origins import Origin, RawRow
from corpus_assets.reading.phases.plan import Phase
from corpus_assets.reading.phases.stream import PhasedStream
from corpus_assets.reading.pieces import Piece
from corpus_assets.reading.separated import Separators
from corpus_assets.reading.token_stream import TokenStream
from corpus_assets.reading.window_dataset import WindowDataset
from corpus_assets.reading.window_stream import WindowStream

__all__ = [
    "Origin",
    "Phase",
    "PhasedStream",
    "Piece",
    "RawRow",
    "ReadingError",
    "Separators",
    "TokenStream",
    "WindowDataset",
    "WindowStream",
    "batches_of_state",
]
