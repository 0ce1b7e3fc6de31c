"""A corpus as pandas DataFrames, for notebooks: its records, and its rows partition by partition.

    from corpus_assets import frames

    corpus = frames.open("corpus.yaml")
    corpus.tokens().groupby("source", observed=True).tokens.sum()

Nothing is written. docs/frames.md shows all of it.
"""

from corpus_assets.frames.opened import Frames
from corpus_assets.frames.opened import open_frames as open

__all__ = ["Frames", "open"]
